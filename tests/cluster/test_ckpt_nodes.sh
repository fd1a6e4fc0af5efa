#!/bin/bash
# RUN: timeout=240
# Nodes lose their storage: any one with copy and xor, any two with rs:2, and the step comes back bit for bit without the
# global copy; one more is a clear error, or the global copy is used where there is one.
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cluster_require
program=$(cluster_program test_ckpt_nodes)
name=ckpt-$$
state=${SAGO_CLUSTER_STATE:-/run/sago-vcluster}/$name
trap '"$VCLUSTER" down "$name" >/dev/null 2>&1' EXIT
"$VCLUSTER" up "$name" 4 --memory 1G --owner $$

run() { # what, hints
    local status=0
    "$VCLUSTER" run "$name" --mpi "$SAGO_MPI" --ranks-per-node 2 -- "$program" "$1" @GLOBAL@/ckpt \
        "sago_local_dirs=@SCRATCH@ $2" || status=$?
    [ $status = 0 ] || cluster_fail "$1 with $2: status $status"
}

lose() { # nodes...
    local node
    for node; do
        "$VCLUSTER" exec "$name" "$node" -- sh -c "rm -rf $state/node/scratch/sago-ckpt-*"
    done
}

afresh() {
    "$VCLUSTER" exec "$name" 1 -- rm -rf "$state/global/ckpt"
    lose 1 2 3 4
}

try() { # hints, what after the loss, nodes lost...
    local hints=$1 what=$2
    shift 2
    echo "# $hints: without $*: $what"
    afresh
    run save "$hints"
    lose "$@"
    run "$what" "$hints"
}

none="sago_ckpt_global_every=0"
try "$none sago_ckpt_redundancy=copy" restore 1
try "$none sago_ckpt_redundancy=xor" restore 3
try "$none sago_ckpt_redundancy=xor sago_ckpt_files=8" restore 2
try "$none sago_ckpt_redundancy=rs:2" restore 2 4
try "$none sago_ckpt_redundancy=rs:2" restore 1 2
try "$none sago_ckpt_redundancy=xor" lost 1 2
try "sago_ckpt_redundancy=xor" restore 1 2 3

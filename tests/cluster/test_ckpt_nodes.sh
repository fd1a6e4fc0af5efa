#!/bin/bash
# RUN: timeout=270
# RUN-LONG: all
#     test_ckpt_nodes.sh [all]
# Nodes lose their storage: any one with copy and xor, any two with rs:2, and the step comes back bit for bit without the
# global copy; one more is a clear error, or the global copy is used where there is one.  After a crash `sago ckpt drain`
# collects from the nodes that are left.  Without "all" some of the losses are tried (all of them, on one node, in
# mpi/test_ckpt_redundancy.c).
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cluster_require
program=$(cluster_program test_ckpt_nodes)
sago=$(cluster_program sago)
name=ckpt-$$
state=${SAGO_CLUSTER_STATE:-/run/sago-vcluster}/$name
trap '"$VCLUSTER" down "$name" >/dev/null 2>&1' EXIT
"$VCLUSTER" up "$name" 4 --memory 1G --owner $$

dir=ckpt

run() { # what, hints [local directory, options of vcluster run]
    local status=0 what=$1 hints=$2 local=${3:-@SCRATCH@}
    shift $(($# < 3 ? 2 : 3))
    "$VCLUSTER" run "$name" --mpi "$SAGO_MPI" --ranks-per-node 2 "$@" -- "$program" "$what" "@GLOBAL@/$dir" \
        "sago_local_dirs=$local $hints" || status=$?
    [ $status = 0 ] || cluster_fail "$what with $hints: status $status"
}

lose() { # nodes...
    local node
    for node; do
        "$VCLUSTER" exec "$name" "$node" -- sh -c "rm -rf $state/node/scratch/sago-ckpt-*"
    done
}

afresh() {
    "$VCLUSTER" exec "$name" 1 -- rm -rf "$state/global/ckpt" "$state/global/moved" "$state/global/copy"
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

every_loss() {
    local scheme first second
    for scheme in copy xor "xor sago_ckpt_files=8"; do
        for first in 1 2 3 4; do
            try "$none sago_ckpt_redundancy=$scheme" restore $first
        done
    done
    for first in 1 2 3; do
        for ((second = first + 1; second <= 4; second++)); do
            try "$none sago_ckpt_redundancy=rs:2" restore $first $second
            try "$none sago_ckpt_redundancy=xor" lost $first $second
        done
    done
}

some_losses() {
    try "$none sago_ckpt_redundancy=copy" restore 1
    try "$none sago_ckpt_redundancy=xor" restore 3
    try "$none sago_ckpt_redundancy=xor sago_ckpt_files=8" restore 2
    try "$none sago_ckpt_redundancy=rs:2" restore 2 4
    try "$none sago_ckpt_redundancy=rs:2" restore 1 2
    try "$none sago_ckpt_redundancy=xor" lost 1 2
}

# The job dies with node 2; the others have all that is needed, or say what is missing.
drain_after_crash() { # redundancy, expected status
    local status=0
    echo "# $1: the job dies with node 2, and the others drain"
    afresh
    "$VCLUSTER" run "$name" --mpi "$SAGO_MPI" --ranks-per-node 2 -- "$program" die @GLOBAL@/ckpt \
        "sago_local_dirs=@SCRATCH@ $none sago_ckpt_redundancy=$1" >/dev/null 2>&1 && cluster_fail "it did not die"
    "$VCLUSTER" run "$name" --mpi "$SAGO_MPI" --ranks-per-node 1 --on 1,3,4 -- "$sago" ckpt drain @GLOBAL@/ckpt 5 \
        --hint sago_local_dirs=@SCRATCH@ || status=$?
    [ $status = "$2" ] || cluster_fail "draining with $1: status $status"
    [ $status = 0 ] || return 0
    lose 1 2 3 4
    run restore "sago_ckpt_redundancy=$1"
}

# What a rack shares outlives its nodes: without parity, and without a global copy, one node of each rack has all.
racks() {
    echo "# storage of racks: without nodes 1 and 4"
    afresh
    run save "$none" @RACK@
    run restore "$none" @RACK@ --on 2,3 --ranks-per-node 4
}

# Of a directory that was moved and copied, nodes 1 and 2 remember the copy, whose the steps on them are, and node 4
# where both come from, which nobody can look at.
named_by_nodes() {
    echo "# nodes name different places"
    afresh
    run save ""
    "$VCLUSTER" exec "$name" 1 -- sh -c "cd '$state/global' && mv ckpt moved && cp -a moved copy"
    dir=copy run open "" @SCRATCH@ --on 1,2
    dir=moved run open "" @SCRATCH@ --on 3
    "$VCLUSTER" exec "$name" 1 -- ln -s ckpt "$state/global/ckpt"
    dir=moved run copy ""
    dir=copy run open ""
}

racks
named_by_nodes
if [ "${1:-}" = all ]; then
    every_loss
else
    some_losses
fi
try "sago_ckpt_redundancy=xor" restore 1 2 3
drain_after_crash xor 0
drain_after_crash none 1

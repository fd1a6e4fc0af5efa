#!/bin/bash
# Storage neighbourhoods on several nodes, with directories seen by all, by a rack and by one node: every mode
# gives what is true, or what its paper says, and nothing is left behind; blocks and fields go through local storage.
#     test_cluster_storage.sh [LAYOUTS]
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cluster_require
CLUSTER=storage-$$
trap '"$VCLUSTER" down $CLUSTER' EXIT
trap 'exit 143' INT TERM HUP
"$VCLUSTER" up $CLUSTER 4 --owner $$

run() { # program, args...
    local program seconds=100
    [ -z "${SAGO_SANITIZE:-}" ] || seconds=300
    program=$(cluster_program "$1")
    "$VCLUSTER" run $CLUSTER --timeout $seconds --mpi "$SAGO_MPI" --ranks-per-node 2 -x SAGO_TEST_DIR=@GLOBAL@ -x SAGO_TEST_SMALL -- "$program" "${@:2}" ||
        cluster_fail "status $? from $*"
}

# With a node's own storage a block is local exactly when both ends are on one node; with a rack's, on two.
exchange() { # local directory, neighbourhoods
    local told
    told=$(run sago bench exchange --dir @GLOBAL@ --local "$1" --block 20000 --blocks 6 --repeat 2)
    echo "$told"
    grep -q " $2 storage neighbourhoods" <<<"$told" || cluster_fail "sago bench exchange --local $1"
}

layouts=200
[ -z "${SAGO_SANITIZE:-}" ] || layouts=30 # each takes several times as long
run test_storage "${1:-$layouts}"
exchange @SCRATCH@ 4
exchange @RACK@ 2
# The local tier, on nodes of which the first has little local storage.
STATE=${SAGO_CLUSTER_STATE:-/run/sago-vcluster}/$CLUSTER
for node in 1 2 3 4; do
    "$VCLUSTER" exec $CLUSTER $node -- mkdir "$STATE/node/scratch/small"
done
"$VCLUSTER" exec $CLUSTER 1 -- mount -t tmpfs -o size=256k small "$STATE/node/scratch/small"
export SAGO_TEST_SMALL=$STATE/node/scratch/small
run test_tier 3

run "$SAGO_BUILD/bin/examples/insitu" @RACK@
[ -z "$("$VCLUSTER" exec $CLUSTER n1 -- sh -c 'find "$0" -name ".sago*" -o -name "insitu*"' \
    "$STATE")" ] || cluster_fail "files are left"

#!/bin/bash
# RUN: timeout=240
# A job keeps a file's data on its nodes, in private or rack-shared directories, and is killed after sago_sync_local: jobs on
# the same nodes, with another number of ranks, find all of it, bit for bit; without one of the nodes it is a clear error.
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cluster_require
program=$(cluster_program test_tier_found)
sago=$(cluster_program sago)
name=tier-$$
trap '"$VCLUSTER" down "$name" >/dev/null 2>&1' EXIT
trap 'exit 143' INT TERM HUP
"$VCLUSTER" up "$name" 4 --owner $$
log=$(mktemp)
trap '"$VCLUSTER" down "$name" >/dev/null 2>&1; rm -f "$log"' EXIT

run() { # ranks a node, nodes, program, args...
    "$VCLUSTER" run "$name" --mpi "$SAGO_MPI" --ranks-per-node "$1" --on "$2" -x SAGO_TEST_DIR=@GLOBAL@ -- "${@:3}" \
        >"$log" 2>&1
}

fail() {
    cat "$log"
    cluster_fail "$*"
}

die() { # directory, seed: on 4 nodes, 2 ranks each
    run 2 1,2,3,4 "$program" leave @GLOBAL@/data "$1" "$2" && fail "it did not die"
    ! grep -q "failed: " "$log" || fail "before it died"
}

seed=20
for run in "@SCRATCH@ 3" "@RACK@ 1"; do
    read -r dir per_node <<<"$run"
    seed=$((seed + 1))
    echo "# $dir: 2 ranks a node, then $per_node"
    die "$dir" $seed
    run "$per_node" 1,2,3,4 "$program" take @GLOBAL@/data "$dir" $seed 8 || fail "$dir, $per_node ranks a node"
done

# A rack's storage is seen from any of its nodes; a node's own from there alone.
echo "# fewer nodes"
die @RACK@ 30
run 2 2,3 "$program" take @GLOBAL@/data @RACK@ 30 8 || fail "one node of each rack"
die @SCRATCH@ 31
! run 1 1,2,4 "$sago" tier merge @GLOBAL@/data --local @SCRATCH@ || fail "merged without node 3"
grep -q "left in local storage on n3 is not in sight" "$log" || fail "which node is missing"
run 1 1,2,3,4 "$sago" tier ls @SCRATCH@ || fail "sago tier ls"
[ "$(grep -c "left by a job, to be merged" "$log")" = 4 ] || fail "sago tier ls"
run 1 4,3,2,1 "$program" take @GLOBAL@/data @SCRATCH@ 31 8 || fail "all nodes, in another order"

#!/bin/bash
# RUN: timeout=600
# RUN-LONG: 600 10000
# The oracle, nonblocking calls and the progress test on several nodes, under both ways of moving data between them.
#     test_cluster_oracle.sh [SEEDS [FIRST]]
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SEEDS=${1:-20}
FIRST=${2:-1}
cluster_require
export SAGO_CLUSTER_TIMEOUT=$((60 + SEEDS * 4))

# Hints in the environment take the place of those that the oracle would draw.
PROGRAM=test_oracle
MORE=
oracle() { # nodes, ranks a node, hints in the environment...
    local hint
    CLUSTER_OPTIONS=(--memory 1G)
    for hint in "${@:3}"; do
        CLUSTER_OPTIONS+=(-x "$hint")
    done
    echo "# ${*:3}"
    cluster_mpi_test "$1" "$2" $PROGRAM --seeds "$SEEDS" --first "$FIRST" $MORE
    FIRST=$((FIRST + SEEDS))
    CLUSTER_OPTIONS=(--memory 1G)
}

oracle 3 2
oracle 3 2 SAGO_STRATEGY=aggregated SAGO_MOVE=packed SAGO_MESSAGES=1 SAGO_MESSAGE_SIZE=64K
oracle 3 2 SAGO_STRATEGY=aggregated SAGO_MOVE=rma
oracle 4 2 SAGO_STRATEGY=aggregated SAGO_MERGE=on SAGO_GROUP_SIZE=4K SAGO_DOMAIN_WRITE=16K SAGO_DOMAIN_READ=16K
oracle 2 3 SAGO_STRATEGY=aggregated SAGO_WINDOW=4K SAGO_MESSAGE_SIZE=64K SAGO_PLACEMENT=memory
machine=$(mktemp)
trap 'rm -f "$machine"' EXIT
printf '%s\n' 'name switches' 'topology fat-tree 2 2' 'level 0 latency 50us bandwidth 1GB/s' \
    'level 1 latency 50us bandwidth 1GB/s' 'ranks-per-node 2' 'memory 1GiB' >"$machine"
SEEDS=$(((SEEDS + 2) / 3))
oracle 4 2 SAGO_STRATEGY=aggregated SAGO_LAYERS=3 SAGO_MACHINE="$machine" SAGO_MESSAGE_SIZE=64K
PROGRAM=test_started
oracle 3 2
oracle 3 2 SAGO_STRATEGY=aggregated SAGO_MOVE=rma SAGO_WINDOW=8K
oracle 2 3 SAGO_STRATEGY=aggregated SAGO_MESSAGES=1 SAGO_MESSAGE_SIZE=64K
PROGRAM=test_oracle MORE=--subfiles
oracle 4 2
cluster_mpi_test 3 2 test_progress direct aggregated
cluster_mpi_test 3 2 test_apart --nodes --seeds 1 --dir @GLOBAL@

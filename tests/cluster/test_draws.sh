#!/bin/bash
# RUN: timeout=240 10 2
# RUN-LONG: timeout=900 10 32
# Memory that differs from node to node: fewer rounds than with an aggregator on every node.  See tests/mpi/test_draws.c.
#     test_draws.sh DRAWS MIB
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cluster_require
export SAGO_CLUSTER_TIMEOUT=800
cluster_mpi_test 4 2 test_draws "$1" "$2"

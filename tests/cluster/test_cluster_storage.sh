#!/bin/bash
# Storage neighbourhoods on several nodes, with directories seen by all, by a rack and by one node: every mode
# gives what is true, or what its paper says, and nothing is left behind.
#     test_cluster_storage.sh [LAYOUTS]
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cluster_require
CLUSTER_OPTIONS=(-x SAGO_TEST_DIR=@GLOBAL@)
cluster_mpi_test 4 2 test_storage "${1:-200}"

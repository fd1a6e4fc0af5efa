#!/bin/bash
# RUN: timeout=300
# Writes with holes on storage behind links: where the job alone has the file they are sieved, else not, and the oracle's bytes
# are right either way.
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cluster_require
[ -c /dev/fuse ] || cluster_skip "no /dev/fuse"
[ -x "$SAGO_BUILD/tests/linkfs/linkfs" ] || cluster_skip "linkfs was not built: libfuse3 is missing"
CLUSTER_OPTIONS=(--storage linked:2:20:0)
cluster_mpi_test 2 2 test_sieve @GLOBAL@
cluster_mpi_test 3 1 test_sieve @GLOBAL@
CLUSTER_OPTIONS+=(-x SAGO_STRATEGY=aggregated -x SAGO_TEST_DIR=@GLOBAL@ -x SAGO_SIEVE=auto)
cluster_mpi_test 2 2 test_oracle --seeds 6 --first 1

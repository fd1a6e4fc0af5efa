#!/bin/bash
# RUN: timeout=300
# The drop-in on several nodes: programs that know only MPI, with Sago preloaded.
set -euo pipefail
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cluster_require
[ -z "${SAGO_SANITIZE:-}" ] || cluster_skip "the sanitizer's library does not like to be preloaded behind others"

# Their files have no directories in their names, so each rank begins in the one that all nodes see.
with_dropin() { # nodes, ranks a node, program of tests/dropin, args...
    local program
    program=$(readlink -f "$SAGO_BUILD/tests/dropin/$3")
    CLUSTER_OPTIONS=(-x LD_PRELOAD="$(readlink -f "$SAGO_BUILD/lib/libsago-mpiio.so")" -x SAGO_TEST_DROPIN=1
        -x SAGO_STATS=json:stats.json)
    # shellcheck disable=SC2016 # for the ranks' shells
    cluster_mpi_test "$1" "$2" /bin/sh -c 'cd "$SAGO_CLUSTER_GLOBAL" && exec "$@"' sh "$program" "${@:4}"
}

with_dropin 2 2 test_nonblocking
with_dropin 2 2 test_random 10
with_dropin 3 1 test_random 10 11
with_dropin 2 2 test_crossed
with_dropin 3 1 test_open_fails

# Helpers for tests on the virtual cluster; to be sourced by bash scripts that use set -eu.
#
# In:  SAGO_MPI (mpich or openmpi; default mpich), SAGO_BUILD (the build tree; default build/$SAGO_MPI),
#      SAGO_CLUSTER_TIMEOUT (seconds a run may take; default 100).
# shellcheck shell=bash

CLUSTER_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
VCLUSTER=$CLUSTER_DIR/vcluster
export SAGO_MPI=${SAGO_MPI:-mpich}
export SAGO_BUILD=${SAGO_BUILD:-$CLUSTER_DIR/../../build/$SAGO_MPI}
export SAGO_CLUSTER_TIMEOUT=${SAGO_CLUSTER_TIMEOUT:-100}

# More options of `vcluster with` for the runs that follow: CLUSTER_OPTIONS=(-x KEY=VALUE --mca KEY VALUE)
CLUSTER_OPTIONS=()

cluster_skip() { # reason: ends the test as skipped
    echo "SKIP: $*"
    exit 77
}

cluster_fail() { # reason: ends the test as failed
    echo "FAIL: $*" >&2
    exit 1
}

# The first thing a test does.
cluster_require() {
    local reason
    reason=$("$VCLUSTER" supported) || cluster_skip "$reason"
    command -v "mpiexec.$SAGO_MPI" >/dev/null || cluster_skip "no mpiexec.$SAGO_MPI"
}

# A program of the build tree by its name; a path is left alone.
cluster_program() { # name
    local dir
    case $1 in */*)
        echo "$1"
        return
        ;;
    esac
    for dir in bin tests/mpi tests; do
        if [ -x "$SAGO_BUILD/$dir/$1" ]; then
            readlink -f "$SAGO_BUILD/$dir/$1"
            return
        fi
    done
    echo "no program '$1' in $SAGO_BUILD" >&2
    return 1
}

# Runs a program on a fresh cluster; the status is the program's, 124 after the timeout.
# @GLOBAL@, @SCRATCH@ and @RACK@ in args become the cluster's directories.
cluster_run() { # nodes, ranks a node, program, args...
    local nodes=$1 per_node=$2 program
    program=$(cluster_program "$3") || return 1
    shift 3
    "$VCLUSTER" with "$nodes" --mpi "$SAGO_MPI" --ranks-per-node "$per_node" \
        ${CLUSTER_OPTIONS[@]+"${CLUSTER_OPTIONS[@]}"} -- "$program" "$@"
}

# The same; a status other than 0 ends the test as failed.
cluster_mpi_test() { # nodes, ranks a node, program, args...
    local status=0
    echo "# $SAGO_MPI, $1 nodes x $2 ranks: ${*:3}"
    cluster_run "$@" || status=$?
    [ $status = 0 ] || cluster_fail "status $status from $SAGO_MPI, $1 nodes x $2 ranks: ${*:3}"
}

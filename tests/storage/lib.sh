# Helpers for tests on real distributed file systems; to be sourced by bash scripts that use set -eu.
#
# A test runs again inside namespaces of its own (network, mounts, processes): what it starts and mounts is gone when
# it ends, however it ends, and nothing of the machine is touched but the packages.
# shellcheck shell=bash

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
SAGO_MPI=${SAGO_MPI:-mpich}
SAGO_BUILD=$(readlink -f "${SAGO_BUILD:-$SOURCE/build/$SAGO_MPI}")
export SAGO_MPI SAGO_BUILD
AREA=/mnt # a tmpfs of the test's own

storage_skip() { # reason: ends the test as skipped
    echo "SKIP: $*"
    exit 77
}

storage_fail() { # reason: ends the test as failed
    echo "FAIL: $*" >&2
    exit 1
}

# Starts this script again in namespaces of its own, and returns there; needs root and /dev/fuse.
storage_enter() { # "$0" "$@"
    [ -z "${SAGO_STORAGE_INSIDE:-}" ] || {
        mount -t tmpfs -o size=3g storage "$AREA"
        ip link set lo up
        return 0
    }
    [ "$(id -u)" = 0 ] || storage_skip "not root"
    [ -c /dev/fuse ] || storage_skip "no /dev/fuse"
    unshare --net --mount --pid --uts --ipc --fork --propagation private true 2>/dev/null ||
        storage_skip "namespaces are not allowed"
    SAGO_STORAGE_INSIDE=1 exec timeout -k 5 "${SAGO_STORAGE_TIMEOUT:-600}" \
        unshare --net --mount --pid --uts --ipc --fork --kill-child --mount-proc --propagation private "$@"
}

# Waits until a command succeeds.
storage_wait() { # seconds, command...
    local i
    for ((i = 0; i < $1 * 5; i++)); do
        if "${@:2}" >/dev/null 2>&1; then return 0; fi
        sleep 0.2
    done
    storage_fail "not ready after $1 seconds: ${*:2}"
}

# mpiexec with 4 ranks on this one node, in a directory.  The loopback device is all the network there is, and Open MPI
# takes it only when told to.
storage_run() { # directory, program, args...
    local dir=$1
    shift
    case $SAGO_MPI in
    openmpi) set -- mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 \
        --mca oob_tcp_if_include lo --mca btl self,vader --mca pml ob1 -n 4 "$@" ;;
    *) set -- mpiexec.mpich -n 4 "$@" ;;
    esac
    (cd "$dir" && SAGO_TEST_DIR=$dir timeout 400 "$@" </dev/null)
}

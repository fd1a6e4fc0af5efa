#!/bin/sh
# run.sh [BUILD | --build-only]
#
# On a machine with an NVIDIA GPU, with any C compiler: builds and runs check_cuda.c, and, where a build of Sago with
# its tests is named (build/mpich, say), runs the tests of the made-up GPU on the real one.  Exits with 1 if one fails.
# --build-only: builds check_cuda.c, which needs no GPU.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
only=
[ "${1:-}" != --build-only ] || { only=yes && shift; }
build=${1:+$(cd "$1" && pwd)}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$root"
cc="${CC:-cc} -std=gnu11 -O2 -D_GNU_SOURCE"
status=0

$cc -Iinclude -Isrc -o "$out/check_cuda" tests/device/check_cuda.c src/base/device.c src/base/loaded.c src/base/status.c \
    src/base/budget.c src/extent/copy.c src/extent/staging.c src/extent/cursor.c src/extent/pattern.c \
    src/extent/repeat.c -lpthread -ldl
[ -z "$only" ] || exit 0
"$out/check_cuda" || status=1
[ -n "$build" ] || exit $status

# The tests look for the GPU's library below SAGO_BUILD.
mkdir -p "$out/build/tests"
$cc -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$out/build/tests/libfake_cuda.so" tests/device/real_cuda.c -ldl
export SAGO_BUILD="$out/build" SAGO_MPI="${SAGO_MPI:-$(basename "$build")}"
SAGO_TEST_LIBCUDA=${SAGO_TEST_LIBCUDA:-$(ldconfig -p | awk '/libcuda\.so\.1 / { print $NF; exit }')}
export SAGO_TEST_LIBCUDA

# RANKS PROGRAM [ARGUMENTS].  Preloaded, since others may load CUDA's driver before the test does (hwloc's plugins).
try() {
    ranks=$1
    shift
    if tests/run-mpi.sh "$ranks" env LD_PRELOAD="$out/build/tests/libfake_cuda.so${preload:-}" "$@"; then
        echo "$ranks ranks, $1: passed"
    else
        echo "$ranks ranks, $1: failed"
        status=1
    fi
}
try 1 "$build/tests/mpi/test_device" cuda
try 4 "$build/tests/mpi/test_device" cuda
try 4 "$build/tests/mpi/test_device" cuda nodes
try 2 "$build/tests/mpi/test_ckpt_device" cuda
preload=:$build/lib/libsago-mpiio.so
export SAGO_TEST_DROPIN=1 SAGO_STATS=json:stats.json
try 1 "$build/tests/dropin/test_device"
try 2 "$build/tests/dropin/test_device"
exit $status

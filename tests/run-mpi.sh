#!/bin/sh
# run-mpi.sh [-t SECONDS] RANKS PROGRAM [ARGUMENTS]
#
# Runs a program under the MPI that SAGO_MPI names (mpich or openmpi), in a time limit, in a scratch folder of its
# own, SAGO_TEST_DIR, which is removed at the end.  Exits as the program does; 124 or 137 when it ran out of time.
# More options for mpiexec come in SAGO_TEST_MPI_OPTIONS.
set -u

seconds=110
if [ "$1" = -t ]; then
    seconds=$2
    shift 2
fi
ranks=$1
program=$(command -v "$2") || { echo "$2: not found"; exit 1; }
program=$(realpath "$program")
shift 2
set -- "$program" "$@"

root=${TMPDIR:-/tmp}
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    root=/dev/shm
fi

# Folders of runs that were killed: nobody holds their lock any more.
find "$root" -maxdepth 1 -name 'sago-test.*' -mmin +5 2>/dev/null | while read -r old; do
    flock -n "$old" rm -rf "$old" 2>/dev/null
done

own=$(mktemp -d "$root/sago-test.XXXXXX") || exit 1
exec 9<"$own" # the lock is inherited by the ranks
flock -n 9
log=$own/log
export SAGO_TEST_DIR="$own/scratch"
mkdir "$SAGO_TEST_DIR"

launcher=0
finish() {
    trap '' HUP INT TERM
    if [ "$launcher" -ne 0 ]; then
        kill "$launcher" 2>/dev/null && wait "$launcher"
    fi
    cd /
    cat "$log"
    rm -rf "$own"
}
trap finish EXIT
trap 'exit 130' HUP INT TERM
cd "$SAGO_TEST_DIR" || exit 1

mpi=${SAGO_MPI:-mpich}
mpiexec=${SAGO_MPIEXEC:-mpiexec.$mpi}
case $mpi in
openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    set -- "$mpiexec" --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 \
        --mca btl_base_warn_component_unused 0 ${SAGO_TEST_MPI_OPTIONS:-} -n "$ranks" "$@"
    ;;
*)
    yield=${SAGO_BUILD:-}/lib/libsago_mpich_yield.so
    if [ -f "$yield" ]; then
        export LD_PRELOAD="$yield${LD_PRELOAD:+:$LD_PRELOAD}"
    fi
    set -- "$mpiexec" ${SAGO_TEST_MPI_OPTIONS:-} -n "$ranks" "$@"
    ;;
esac

# In the background, so that a signal is dealt with at once; ended also when this shell is killed.
launch() {
    setpriv --pdeathsig TERM timeout --kill-after=5 "$seconds" "$@" </dev/null >"$log" 2>&1 &
    launcher=$!
    wait "$launcher"
    code=$?
    launcher=0
}
launch "$@"

# The leak checker stops the process to look at it, and now and then crashes itself (why is not known; a thread that is
# just ending is a guess): then it has found nothing out, and is asked again.
tries=1
while [ "$code" -ne 0 ] && [ $tries -lt 3 ] && grep -q '^==.*LeakSanitizer has encountered a fatal error' "$log"; do
    find "$SAGO_TEST_DIR" -mindepth 1 -delete
    launch "$@"
    tries=$((tries + 1))
done

case $code in
124) echo "run-mpi.sh: ran out of time ($seconds s)" >>"$log" ;;
137) echo "run-mpi.sh: killed: out of time ($seconds s) or out of memory" >>"$log" ;;
esac
exit "$code"

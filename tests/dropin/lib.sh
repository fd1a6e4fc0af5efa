# What the scripts here share.  They run programs in a folder of their own, $run, empty at each start.
#
#   plain N PROGRAM...      with the MPI library alone
#   with_sago N PROGRAM...  with the drop-in preloaded; what it counted is in $run/stats.json
#   stat_of NAME, stat_is NAME NUMBER: counted by all ranks together
#
# $preload holds the libraries that with_sago preloads, $settings more variables.

if [ -n "${SAGO_SANITIZE:-}" ]; then
    echo "SKIP: the sanitizer's library does not like to be preloaded behind others"
    exit 77
fi
root=${TMPDIR:-/tmp}
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    root=/dev/shm
fi
tmp=$(mktemp -d "$root/sago-dropin.XXXXXX")
run=$tmp/run
preload=$SAGO_BUILD/lib/libsago-mpiio.so
yield=$SAGO_BUILD/lib/libsago_mpich_yield.so # see mpich_yield.c
[ -f "$yield" ] || yield=
settings=
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "FAIL: $*"
    exit 1
}
skip() {
    echo "SKIP: $*"
    exit 77
}
launch() { # ranks, program...
    n=$1
    shift
    rm -rf "$run"
    mkdir "$run"
    case $SAGO_MPI in
    openmpi)
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        set -- --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca btl_base_warn_component_unused 0 \
            -n "$n" "$@"
        ;;
    *) set -- -genv LD_PRELOAD "$yield" -n "$n" "$@" ;;
    esac
    (cd "$run" && timeout 60 "$SAGO_MPIEXEC" "$@" </dev/null)
}
plain() {
    launch "$@" || fail "without Sago: exit code $?: $*"
}
try_sago() { # as with_sago, but may fail
    ranks=$1
    shift
    # shellcheck disable=SC2086
    launch "$ranks" env LD_PRELOAD="$preload $yield" SAGO_STATS=json:stats.json $settings "$@"
}
with_sago() {
    try_sago "$@" || fail "with Sago: exit code $?: $*"
}
stat_of() {
    sed -n "/\"all_ranks\"/,\$s/.*\"$1\": \([0-9]*\).*/\1/p" "$run/stats.json"
}
stat_is() {
    [ "$(stat_of "$1")" = "$2" ] || { cat "$run/stats.json"; fail "$1 is $(stat_of "$1"), not $2"; }
}

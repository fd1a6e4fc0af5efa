#!/bin/sh
# test_app.sh NAME LIBRARY: the program NAME_app writes and reads files with LIBRARY, with the drop-in and without.
#
# What was written with the drop-in is the same, byte by byte, as what was written without, whatever the number of
# ranks and the strategy, and can be read without it; and the other way round.  The library's own tool finds no
# difference either.  The statistics of the drop-in say that it served all collective calls.
set -u
name=$1 library=$2
here=$(cd "$(dirname "$0")" && pwd)
sago=$SAGO_BUILD/bin/sago
app=$SAGO_BUILD/tests/dropin/libs/${name}_app
failures=0

skip() {
    echo "SKIP: $*"
    exit 77
}
[ -x "$app" ] || skip "$library for $SAGO_MPI was not there when the tests were built"

root=${TMPDIR:-/tmp}
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    root=/dev/shm
fi
work=$(mktemp -d "$root/sago-test.XXXXXX") || exit 1
exec 8<"$work" # run-mpi.sh removes folders that nobody has locked any more
flock -n 8
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

plain() { # ranks, write or read, file
    SAGO_DISABLE=1 "$here/../../run-mpi.sh" -t 50 "$1" "$app" "$2" "$work/$3" || fail "without Sago, $1 ranks: $2 $3"
}

# With Sago; then looks at what it did.
dropped() { # ranks, write or read, file, hints...
    ranks=$1 verb=$2 file=$3
    shift 3
    rm -f "$work/stats"
    with_sago "$*" "$here/../../run-mpi.sh" -t 50 "$ranks" "$app" "$verb" "$work/$file" ||
        fail "with Sago, $ranks ranks: $verb $file ($*)"
    python3 - "$work/stats" "$verb" "$ranks" <<'END' || fail "not served by Sago, $ranks ranks: $verb $file ($*)"
import json, sys
stats = json.load(open(sys.argv[1]))
assert stats["ranks"] == int(sys.argv[3]), stats
assert stats["files_taken"] == stats["files"] > 0, stats
assert stats[sys.argv[2] + "s"] > 0 and stats[sys.argv[2] + "_bytes"] > 0, stats
assert not any(stats["handed"].values()), stats["handed"]
END
}

# With a sanitizer the program is linked with the drop-in.
with_sago() ( # hints, command...
    hints=$1
    shift
    options=
    for hint in $hints; do
        options="$options --hint $hint"
        [ -z "${SAGO_SANITIZE:-}" ] || export "$(echo "${hint%%=*}" | tr a-z A-Z)=${hint#*=}"
    done
    if [ -n "${SAGO_SANITIZE:-}" ]; then
        SAGO_STATS="json:$work/stats" "$@"
    else
        # shellcheck disable=SC2086
        "$sago" run --stats "json:$work/stats" $options -- "$@"
    fi
)

same() { # two files: byte by byte
    cmp "$work/$1" "$work/$2" || fail "$1 and $2 are not the same"
}

same_contents() { # two files: by the tool of the library
    case $name in
    mpiio) tool=cmp ;;
    pnetcdf) tool=ncmpidiff ;;
    *) tool=h5diff ;;
    esac
    command -v $tool >/dev/null || { echo "no $tool: contents are compared by ${name}_app only" && return; }
    $tool "$work/$1" "$work/$2" >"$work/log" 2>&1 || { cat "$work/log" && fail "$tool $1 $2"; }
}

# ROMIO fills holes between pieces of a collective call, which HDF5 leaves in its metadata, with whatever its buffer
# held: to compare bytes it is told to write the pieces alone.
printf 'romio_cb_write disable\nromio_ds_write disable\n' >"$work/romio"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # for the tool, should it use MPI

# Where HDF5 places things depends on the number of ranks.
export ROMIO_HINTS=$work/romio
plain 4 write plain-4
plain 2 write plain-2
unset ROMIO_HINTS
plain 3 write plain-3

dropped 4 write sago-4
same plain-4 sago-4
same_contents plain-3 sago-4
plain 3 read sago-4
dropped 3 read plain-4

dropped 2 write aggregated sago_strategy=aggregated sago_window=4K
same plain-2 aggregated
dropped 2 read plain-3 sago_strategy=aggregated sago_window=4K
dropped 2 write direct sago_strategy=direct
same plain-2 direct
export APP_SYNC=1
dropped 2 write deferred sago_defer=on
same_contents plain-2 deferred
dropped 4 write deferred sago_defer=on
same_contents plain-4 deferred
[ "$name" = hdf5 ] || [ "$name" = netcdf ] || same plain-4 deferred
unset APP_SYNC
dropped 1 write alone
same_contents plain-3 alone

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))

#!/bin/sh
# `sago run` and programs with GIO: from a library, linked statically, hidden, and of another MPI library.
set -u

if [ -n "${SAGO_SANITIZE:-}" ]; then
    echo "SKIP: the sanitizer's library does not like to be preloaded"
    exit 77
fi
sago=$SAGO_BUILD/bin/sago
here=$SAGO_SOURCE/tests/gio
work=$(mktemp -d "${TMPDIR:-/tmp}/sago-gio.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
failures=0
unset PNETCDF_HINTS SAGO_DISABLE SAGO_STATS

case $SAGO_MPI in
openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    options="--oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca btl_base_warn_component_unused 0"
    ;;
*) options= ;;
esac

fail() {
    echo "FAIL: $*"
    cat log
    failures=$((failures + 1))
}
says() { # words in the output, then a command
    words=$1
    shift
    timeout 60 "$@" </dev/null >log 2>&1 || fail "exit code $?: $*"
    grep -q -- "$words" log || fail "no '$words': $*"
}
silent() { # words that are not to be in the last output
    ! grep -q -- "$1" log || fail "it says '$1'"
}
run() { # words, program: with Sago, two ranks
    # shellcheck disable=SC2086
    says "$1" "$sago" run --stats off -- "$SAGO_MPIEXEC" $options -n 2 "$2"
}

cc="$SAGO_MPICC -I$SAGO_SOURCE/dropin/gio"
{
    $cc -fPIC -shared -o libgio.so "$here/stub.c" &&
        $cc -o shared "$here/app.c" -L. -lgio -Wl,-rpath,"$work" &&
        $cc -o static "$here/app.c" "$here/stub.c" &&
        $cc -DWITHOUT_GIO -o without "$here/app.c"
} || exit 1
strip -o stripped static

# From a library: Sago serves it, and PnetCDF may use GIO.
# shellcheck disable=SC2086
says "opened by GIO, hints ''" "$SAGO_MPIEXEC" $options -n 2 ./shared
run "opened by Sago, hints ''" ./shared
silent statically
SAGO_DISABLE=1 run "opened by GIO, hints ''" ./shared
says "opened by Sago" env LD_PRELOAD="$SAGO_BUILD/lib/libsago-gio.so" ./shared # a rank without a launcher
PATH=$PATH:$work run "opened by Sago" shared

# In the program itself: the user is told, and PnetCDF is led to MPI-IO.
for program in static stripped; do
    run "opened by GIO, hints 'nc_driver=mpiio'" ./$program
    says "GIO is linked to ./$program statically" "$sago" run --stats off -- ./$program
done
PATH=$PATH:$work run "GIO is linked to static statically" static
SAGO_DISABLE=1 run "hints ''" ./static

# Nowhere to be seen, as in PnetCDF's library by default.
run "opened by nobody, hints 'nc_driver=mpiio'" ./without
silent statically
PNETCDF_HINTS=cb_nodes=1 run "hints 'cb_nodes=1;nc_driver=mpiio'" ./without
PNETCDF_HINTS=nc_driver=gio run "hints 'nc_driver=gio'" ./without
says "hints ''" env LD_PRELOAD="$SAGO_BUILD/lib/libsago-gio.so" ./without # nobody would serve MPI-IO

# A program of the other MPI library has its own GIO.
other=mpich
[ "$SAGO_MPI" = mpich ] && other=openmpi
cc="mpicc.$other -I$SAGO_SOURCE/dropin/gio"
mkdir other
if command -v mpicc.$other >/dev/null && $cc -fPIC -shared -o other/libgio.so "$here/stub.c" &&
    $cc -o other/shared "$here/app.c" -Lother -lgio -Wl,-rpath,"$work/other"; then
    says "opened by GIO" "$sago" run -- ./other/shared
    grep -q "another MPI library" log || fail "it does not say that the MPI library is another one"
fi

[ $failures -eq 0 ]

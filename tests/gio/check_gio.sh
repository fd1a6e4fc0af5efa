#!/bin/sh
# check_gio.sh: PnetCDF's own test programs, with its GIO and with Sago (`make check-gio`).
#
# Builds PnetCDF with GIO in it, outside of this tree, from the sources in PNETCDF_SOURCE and GIO_SOURCE, which stay as
# they are, and runs its programs (run_pnetcdf.sh).  What was built stays in GIO_WORK, a folder in TMPDIR if it is not
# given, and is used again.  GIO_PROGRAMS (grep -E): only some programs.
#
# PnetCDF hides GIO in its library, where nobody can stand in front of it; -fvisibility=default undoes that.  With
# PNETCDF_CFLAGS=-O2 (and another GIO_WORK) it stays hidden, and `sago run` leads PnetCDF to MPI-IO.
set -eu

: "${GIO_SOURCE:?a folder with the sources of GIO}" "${PNETCDF_SOURCE:?a folder with the sources of PnetCDF}"
flags=${PNETCDF_CFLAGS--O1 -g -fvisibility=default}
work=${GIO_WORK:-${TMPDIR:-/tmp}/sago-check-gio}
build=$work/$SAGO_MPI
here=$(dirname "$0")
tested=e347282655c8387eebc3449045e84202a5b74a13
mkdir -p "$work"

commit=$(git -C "$GIO_SOURCE" rev-parse HEAD 2>/dev/null) || commit=unknown
[ "$commit" = $tested ] || echo "note: GIO's commit is $commit; Sago's interface was written for $tested"

if [ ! -x "$work/source/configure" ]; then
    rm -rf "$work/source"
    mkdir "$work/source"
    (cd "$PNETCDF_SOURCE" && tar cf - --exclude=.git .) | tar xf - -C "$work/source"
    mkdir -p "$work/source/gio"
    (cd "$GIO_SOURCE" && tar cf - --exclude=.git .) | tar xf - -C "$work/source/gio"
    # They ask for a newer libtool than they need.
    sed -i 's/^LT_PREREQ(.*/LT_PREREQ([2.4])/' "$work/source/configure.ac" "$work/source/gio/configure.ac"
    (cd "$work/source" && autoreconf -fi) >"$work/autoreconf.log" 2>&1 || { tail "$work/autoreconf.log"; exit 1; }
fi
if [ ! -e "$build/built" ]; then
    echo "building PnetCDF for $SAGO_MPI in $build"
    mkdir -p "$build"
    (
        cd "$build"
        "$work/source/configure" --enable-shared --disable-fortran --disable-cxx MPICC="$SAGO_MPICC" CFLAGS="$flags"
        make -j "${JOBS:-2}"
        make -j "${JOBS:-2}" tests
    ) >"$work/$SAGO_MPI.log" 2>&1 || { tail "$work/$SAGO_MPI.log"; exit 1; }
    touch "$build/built"
fi
exec "$here/run_pnetcdf.sh" "$build" "$work/source" "${GIO_PROGRAMS:-.}"

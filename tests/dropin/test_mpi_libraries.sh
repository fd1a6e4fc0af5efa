#!/bin/sh
# Programs that bring their MPI library late, by dlopen(), and only for some of their libraries, as Python does: with
# the MPI library that Sago was built for they are served, with the other one they are told so, by the names of both,
# and run as without Sago.  The preloaded library itself brings none.
set -eu

. "$SAGO_SOURCE/tests/dropin/lib.sh"
here=$SAGO_SOURCE/tests/dropin/tools
python=/usr/bin/python3 # Debian's, with Debian's packages
own=$SAGO_MPI own_exec=$SAGO_MPIEXEC
yield= # it wants MPICH to be there from the beginning
case $own in
mpich) other=openmpi own_name=MPICH other_name="Open MPI" ;;
*) other=mpich own_name="Open MPI" other_name=MPICH ;;
esac

use() { # MPI: what the programs that follow run on
    SAGO_MPI=$1 SAGO_MPIEXEC=$own_exec
    [ "$1" = "$own" ] || SAGO_MPIEXEC=mpiexec.$1
}
# The same file with Sago and without, and what Sago says.
check() { # MPI, program...
    use "$1"
    shift
    plain 2 "$@" >"$tmp/said" 2>&1
    cp "$run/out" "$tmp/out"
    with_sago 2 "$@" >"$tmp/said" 2>&1
    cmp "$run/out" "$tmp/out" || fail "$*: another file"
    if [ "$SAGO_MPI" = "$own" ]; then
        stat_is files_taken 2
        [ "$(stat_of writes)" -gt 0 ] || fail "$*: not served"
        ! grep -i "sago:" "$tmp/said" || fail "$*: there was nothing to say"
        return
    fi
    [ ! -e "$run/stats.json" ] || fail "$*: served on the wrong library"
    [ "$(grep -c "^sago: .*$other_name.*$own_name" "$tmp/said")" -eq 1 ] || { cat "$tmp/said"; fail "$*: not told once"; }
    settings=SAGO_STATS=off
    with_sago 2 "$@" >"$tmp/said" 2>&1
    settings=
    ! grep -i "sago:" "$tmp/said" || fail "$*: told though nobody wants to know"
}

echo "== needs no MPI library"
if readelf -d "$preload" | grep NEEDED | grep -v 'libc\.\|libdl\.\|libpthread\.\|ld-linux'; then
    fail "the preloaded library brings others"
fi

cc=${CC:-cc}
"$cc" "$here/loader.c" -o "$tmp/loader" -ldl
for mpi in "$own" "$other"; do
    compiler=$SAGO_MPICC
    [ "$mpi" = "$own" ] || compiler=mpicc.$mpi
    if ! command -v "$compiler" >/dev/null; then
        echo "no $compiler: the wrong library is not tried"
        continue
    fi
    "$compiler" -shared -fPIC "$here/plugin.c" -o "$tmp/plugin.$mpi.so"
    for scope in local global; do
        echo "== a plug-in on $mpi, loaded with RTLD_$scope"
        check "$mpi" "$tmp/loader" "$tmp/plugin.$mpi.so" $scope
    done
    "$compiler" "$here/program.c" -o "$tmp/program.$mpi"
    echo "== a program on $mpi"
    check "$mpi" "$tmp/program.$mpi"
done

# What Debian's Python runs on.
version=$("$python" -c 'from mpi4py import MPI; print(MPI.Get_library_version())' 2>/dev/null) || version=
case $version in
*"Open MPI"*) mpi=openmpi ;;
*MPICH*) mpi=mpich ;;
*) skip "no mpi4py for $python; the programs in C passed" ;;
esac
use $mpi
launch 2 "$python" -c 'from mpi4py import MPI; print("size", MPI.COMM_WORLD.size)' | grep -q 'size 2' ||
    skip "mpi4py for $python is on another version of $mpi than its launcher; the programs in C passed"
echo "== mpi4py on $mpi"
check $mpi "$python" "$here/file_io.py"
H5PY_ALWAYS_USE_MPI=1 "$python" -c 'import sys, h5py; sys.exit(not h5py.get_config().mpi)' 2>/dev/null ||
    skip "no parallel h5py for $python (make check-python installs it); everything else passed"
echo "== h5py on $mpi"
check $mpi "$python" "$here/hdf5_io.py"

#!/bin/sh
# RUN: timeout=240
# The Python package: slices without MPI, structs beside the headers', files and checkpoints on 1 to 4 ranks, and
# installed by pip.  Needs numpy and mpi4py on the MPI library that Sago was built with: `make check-python` installs them.
set -eu

skip() {
    echo "SKIP: $*"
    exit 77
}
[ -z "${SAGO_SANITIZE:-}" ] || skip "Python is not built with the sanitizer"
python=${SAGO_PYTHON:-/usr/bin/python3} # Debian's, with Debian's packages
export PYTHONPATH="$SAGO_SOURCE/bindings/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
export SAGO_LIBRARY="$SAGO_BUILD/lib/libsago.so"
tests=$SAGO_SOURCE/tests/python

"$python" -c 'import numpy' 2>/dev/null || skip "no numpy for $python (make check-python installs it)"
echo "== slices"
"$python" "$tests/select_runs.py"
version=$("$python" -c 'from mpi4py import MPI; print(MPI.Get_library_version())' 2>/dev/null) ||
    skip "no mpi4py for $python (make check-python installs it); slices passed"
case $SAGO_MPI:$version in
openmpi:*"Open MPI"* | mpich:*MPICH*) ;;
*) skip "mpi4py of $python is not on $SAGO_MPI (SAGO_PYTHON names another Python); slices passed" ;;
esac
"$SAGO_SOURCE/tests/run-mpi.sh" -t 60 2 "$python" -c 'from mpi4py import MPI; print("size", MPI.COMM_WORLD.size)' | grep -q 'size 2' ||
    skip "mpi4py of $python is on another version of $SAGO_MPI than its launcher, so that each rank is alone; slices passed"
echo "== structs"
"$python" "$tests/structs.py" "$SAGO_MPICC" -I"$SAGO_SOURCE/include" -I"$SAGO_BUILD/include"
for ranks in 1 2 4; do
    for program in file_io checkpoints; do
        echo "== $program on $ranks"
        "$SAGO_SOURCE/tests/run-mpi.sh" -t 60 $ranks "$python" "$tests/$program.py" || exit
    done
done

echo "== checkpoints as an xarray dataset"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
"$SAGO_SOURCE/tests/run-mpi.sh" -t 60 2 "$SAGO_BUILD/bin/examples/waveguide" --cells 8 --length 4 --steps 40 --every 20 \
    --reference 0 --dir "$tmp/ckpt" >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
if "$python" -c 'import dask.array, xarray' 2>/dev/null; then
    "$python" "$SAGO_SOURCE/examples/xarray_checkpoint.py" "$tmp/ckpt" Ey Hx >"$tmp/log" || { cat "$tmp/log"; exit 1; }
    grep -q 'step: 2' "$tmp/log" && grep -q '^Hx: mean of each step \[' "$tmp/log" || { cat "$tmp/log"; exit 1; }
else
    echo "no xarray or dask: left out"
fi

echo "== HDF5 and netCDF"
reader="$python $SAGO_SOURCE/bindings/python/sago/reader.py"
if "$python" -c 'import h5py, netCDF4' 2>/dev/null; then
    $reader "$tmp/ckpt" 40 all "$tmp/all.h5" && $reader "$tmp/ckpt" 40 Ey "$tmp/one.nc" || exit 1
    "$python" - "$tmp" <<'END' || exit 1
import sys
import h5py, netCDF4, numpy
import sago.reader
step = sago.reader.Directory(sys.argv[1] + "/ckpt")[40]
with h5py.File(sys.argv[1] + "/all.h5") as file:
    assert len(file) == 6 and file.attrs["step"] == 40
    assert all(numpy.array_equal(file[name], step[name]) and file[name].dtype == step[name].dtype for name in file)
with netCDF4.Dataset(sys.argv[1] + "/one.nc") as file:
    assert list(file.variables) == ["Ey"] and numpy.array_equal(file["Ey"][...], step["Ey"]) and step["Ey"][...].any()
END
    $reader "$tmp/ckpt" 40 all "$tmp/all.nc" || exit 1
    "$python" - "$tmp" <<'END' || exit 1
import sys
import netCDF4
with netCDF4.Dataset(sys.argv[1] + "/all.nc") as file:
    assert len(file.variables) == 6 and len({v.dimensions for v in file.variables.values()}) == 1, file.dimensions
END
    if $reader "$tmp/ckpt" 40 nonsense "$tmp/no.h5"; then exit 1; fi
    for ending in nc h5; do
        if $reader "$tmp/ckpt" 40 all "$tmp/nowhere/all.$ending" 2>"$tmp/log"; then exit 1; fi
        grep -q "^$tmp/nowhere/all.$ending: $tmp/nowhere is no directory" "$tmp/log" || { cat "$tmp/log"; exit 1; }
    done
else
    echo "no h5py or netCDF4: left out"
fi

echo "== installed by pip without the network, found from there"
cp -r "$SAGO_SOURCE/bindings/python" "$tmp/source"
"$python" -m pip install --quiet --no-deps --no-index --target "$tmp/site" "$tmp/source" >"$tmp/log" 2>&1 || {
    cat "$tmp/log"
    grep -q "No module named pip" "$tmp/log" || exit 1
    skip "no pip for $python; everything else passed"
}
PYTHONPATH=$tmp/site "$SAGO_SOURCE/tests/run-mpi.sh" -t 60 2 "$python" "$tests/file_io.py"
(cd / && SAGO_LIBRARY= PATH=$SAGO_BUILD/bin:$PATH PYTHONPATH=$tmp/site "$python" -c 'import sago; print(sago.library_version())')
if (cd / && SAGO_LIBRARY=/nowhere/libsago.so PYTHONPATH=$tmp/site "$python" -c 'import sago; sago.File') 2>"$tmp/log"; then
    exit 1
fi
grep -q 'SAGO_LIBRARY=/path/to' "$tmp/log" || { cat "$tmp/log"; exit 1; }

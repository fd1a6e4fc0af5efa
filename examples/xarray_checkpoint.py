#!/usr/bin/env python3
"""A directory of checkpoints as an xarray dataset: time is the steps, and data is read when it is used.

    xarray_checkpoint.py DIR [NAME...]

Needs numpy, xarray and dask, but no MPI and no libsago: PYTHONPATH=PREFIX/share/sago/python, or pip install
bindings/python.
"""
import sys

import dask.array
import xarray
from sago import reader


def dataset(path, names=None):
    """Arrays that all steps have with one shape, stacked along the dimension `step`."""
    steps = reader.Directory(path)
    if not len(steps):
        raise SystemExit(f"{path}: no complete step")
    last = steps.latest()
    missing = [name for name in names or [] if name not in last.names]
    if missing:
        raise SystemExit(f"{path}: no array {', '.join(missing)}; there are {', '.join(last.names)}")
    found = {}
    for name in names or last.names:
        variables = [steps[number][name] for number in steps if name in steps[number].names]
        if last[name].kind != "array" or {v.shape for v in variables} != {last[name].shape} or len(variables) != len(steps):
            continue
        lazy = [dask.array.from_array(variable, chunks=variable.shape) for variable in variables]
        found[name] = (["step", *reader.dimension_names(last[name].shape)], dask.array.stack(lazy))
    return xarray.Dataset(found, coords={"step": steps.numbers})


def main(path, *names):
    data = dataset(path, names)
    print(data)
    for name, array in data.items():
        print(f"{name}: mean of each step", array.mean(dim=array.dims[1:]).values)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(f"{sys.argv[1]}: {error.strerror}")

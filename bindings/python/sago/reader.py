#!/usr/bin/env python3
"""Reads a directory of checkpoints without MPI and without libsago: the format of docs/checkpoint-format.md.

    reader.py DIR                      lists the steps
    reader.py DIR STEP                 lists what is in a step
    reader.py DIR STEP NAME OUT.npy    writes an array (numpy.load reads it), or OUT, the bytes alone
    reader.py DIR STEP all OUT.h5      writes all arrays, or the one named, as HDF5 (module h5py), OUT.nc: netCDF (netCDF4)

For those, which a copy of this one file does, Python's own library is enough.  In a program, with numpy:

    steps = sago.reader.Directory("ckpt")
    steps.numbers                      [20, 40, 60]
    variable = steps[60]["Ey"]         or steps.latest()["Ey"]; .shape, .dtype, .ndim as of an array
    variable[10:20, :, 0]              reads the blocks that are in it, no others
    numpy.asarray(variable)            all of it; so do xarray and dask, when they need it

Checksums are checked if the module xxhash is installed: of a slice, those of the pieces of a file that it touches.
"""
import importlib
import os
import re
import struct
import sys

try:
    import xxhash
except ImportError:
    xxhash = None
try:
    import numpy
except ImportError:
    numpy = None

INTENT, PART, FOUND = 2, 3, 8  # kinds of records
ARRAY, LOCAL, SHARED = range(3)  # kinds of data
KINDS = ("array", "local", "shared")
NUMPY = {"float": "f", "int": "i", "uint": "u", "complex": "c"}


class Damaged(Exception):
    """A file is not what its record or checksum says."""


# ---- Records ----

class Record:
    """A file with magic, kind, version, length, body and checksum; the body is read number by number."""

    def __init__(self, path, kind):
        if not os.path.isfile(path):  # a device or a pipe may have no end
            raise Damaged(f"{path} is no file")
        with open(path, "rb") as file:
            data = file.read()
        if len(data) < 40:
            raise Damaged(f"{path} is too short")
        magic, found, version, length = struct.unpack_from("<8sIIq", data)
        if magic != b"SAGOCKPT" or found != kind or length != len(data):
            raise Damaged(f"{path} is not the record it should be")
        if version != 1:
            raise Damaged(f"{path} has format version {version}")
        low, high = struct.unpack_from("<QQ", data, length - 16)
        if xxhash and xxhash.xxh3_128_intdigest(data[:-16]) != high << 64 | low:
            raise Damaged(f"{path}: its checksum is wrong")
        self.data, self.at = data, 24

    def ints(self, count):
        values = struct.unpack_from(f"<{count}q", self.data, self.at)
        self.at += 8 * count
        return values

    def int(self):
        return self.ints(1)[0]

    def text(self):
        length = self.int()
        self.at += length
        return self.data[self.at - length:self.at].decode()


class Intent:
    """What a save consists of."""

    def __init__(self, folder):
        record = Record(os.path.join(folder, "intent"), INTENT)
        self.id = record.ints(2)
        record.ints(2)  # the directory's id
        (self.step, self.time, self.ranks, _nodes, self.files, self.piece, _data, _parity) = record.ints(8)
        self.arrays = []
        for _ in range(record.int()):
            array = {"name": record.text(), "type": record.text()}
            array["kind"], array["element"], array["bytes"], ndims = record.ints(4)
            array["shape"] = record.ints(ndims)
            self.arrays.append(array)
        fields = ("bytes", "file", "base", "set", "member")
        self.writers = [dict(zip(fields, record.ints(5))) for _ in range(record.int())]


class Part:
    """What one writer wrote: blocks one after the other, and a checksum for every piece."""

    def __init__(self, folder, intent, writer):
        record = Record(os.path.join(folder, f"writer-{writer:06}.part"), PART)
        if record.ints(2) != intent.id:
            raise Damaged(f"the part of writer {writer} belongs to another save")
        record.ints(4)  # step, writer, bytes, piece: as in the intent
        self.sums = record.ints(record.int())
        self.blocks = []
        for _ in range(record.int()):
            array, rank, offset, length, ndims = record.ints(5)
            self.blocks.append((array, rank, offset, length, record.ints(ndims), record.ints(ndims)))


# ---- Data ----

def put_block(out, shape, element, start, count, data):
    """Copies a block into the bytes of an array, row by row; the last index moves fastest."""
    row = count[-1] * element
    index = [0] * (len(count) - 1)
    for begin in range(0, len(data), row):
        at = 0
        for i, length in enumerate(shape):
            at = at * length + start[i] + (index[i] if i < len(index) else 0)
        out[at * element:at * element + row] = data[begin:begin + row]
        for axis in reversed(range(len(index))):
            index[axis] += 1
            if index[axis] < count[axis]:
                break
            index[axis] = 0


def spans(shape, key):
    """(first, count, step) for every dimension, and the shape of the result: numbers drop their dimension."""
    key = key if isinstance(key, tuple) else (key,)
    dots = [i for i, part in enumerate(key) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index has one ellipsis at most")
    key, at = (key, dots[0]) if dots else (key + (Ellipsis,), len(key))
    missing = len(shape) - (len(key) - 1)
    if missing < 0:
        raise IndexError(f"{len(key) - 1} indices for {len(shape)} dimensions")
    found, result = [], []
    for length, part in zip(shape, key[:at] + (slice(None),) * missing + key[at + 1:]):
        first, count, step = _span(length, part)
        found.append((first, count, step))
        if isinstance(part, slice):
            result.append(count)
    return found, tuple(result)


def _span(length, part):
    if isinstance(part, slice):
        first, end, step = part.indices(length)
        if step < 0:
            raise IndexError("steps must be positive")
        return first, len(range(first, end, step)), step
    first = part.__index__()
    if not -length <= first < length:
        raise IndexError(f"index {first} of a dimension of {length}")
    return first % length, 1, 1


def _overlap(start, count, span):
    """Of a block's dimension and what was asked for: (slice of the block, slice of the result), or None."""
    first, wanted, step = span
    low = max(0, -(-(start - first) // step))
    high = min(wanted, -(-(start + count - first) // step))
    if low >= high:
        return None
    begin = first + low * step - start
    return slice(begin, begin + (high - low - 1) * step + 1, step), slice(low, high)


class Variable:
    """One name in a step.  Arrays can be sliced; bytes() gives shared data, by_rank() local data."""

    def __init__(self, step, number):
        self.step, self._number, self._array = step, number, step.intent.arrays[number]
        self.name, self.kind, self.type = self._array["name"], KINDS[self._array["kind"]], self._array["type"]
        self.nbytes, self.itemsize = self._array["bytes"], self._array["element"]
        self.shape = tuple(self._array["shape"])
        self.ndim = len(self.shape)

    @property
    def dtype_text(self):
        """numpy's name of the type."""
        kind, bits = re.fullmatch(r"([a-z]+)(\d*)", self.type).groups()
        return f"<{NUMPY[kind]}{int(bits) // 8}" if kind in NUMPY else f"V{self.itemsize}"

    @property
    def dtype(self):
        return numpy.dtype(self.dtype_text)

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        return f"<{self.name}: {self.kind} {self.type} {' x '.join(map(str, self.shape))}>"

    def _blocks(self):
        """(writer, block) of all that is not empty."""
        for writer, part in enumerate(self.step.parts()):
            for block in part.blocks:
                if block[0] == self._number and block[3] > 0:
                    yield writer, block

    def bytes(self):
        """All of an array, or of shared data."""
        out = bytearray(self.nbytes)
        for writer, (_, _, offset, length, start, count) in self._blocks():
            data = self.step.read_stream(writer, offset, length)
            if self._array["kind"] == ARRAY and start:
                put_block(out, self.shape, self.itemsize, start, count, data)
            else:
                out[:] = data
        return bytes(out)

    def by_rank(self):
        """Local data: a list of bytes."""
        found = [b""] * self.step.intent.ranks
        for writer, (_, rank, offset, length, _, _) in self._blocks():
            found[rank] = self.step.read_stream(writer, offset, length)
        return found

    def __getitem__(self, key):
        if self._array["kind"] != ARRAY:
            raise TypeError(f"{self.name} is {self.kind} data, no array")
        chosen, shape = spans(self.shape, key)
        out = numpy.zeros([count for _, count, _ in chosen], self.dtype)
        for writer, (_, _, offset, length, start, count) in self._blocks():
            both = [_overlap(*place) for place in zip(start, count, chosen)]
            if None in both:
                continue
            data = numpy.frombuffer(self.step.read_stream(writer, offset, length), self.dtype).reshape(count)
            out[tuple(into for _, into in both)] = data[tuple(of for of, _ in both)]
        return out.reshape(shape) if shape else out.reshape(())[()]

    def __array__(self, dtype=None, copy=None):
        return self[...] if dtype is None else self[...].astype(dtype)


class Step:
    """One complete save: names to Variables."""

    def __init__(self, folder):
        self.folder, self.intent = folder, Intent(folder)
        self.number, self.time, self.ranks = self.intent.step, self.intent.time, self.intent.ranks
        self._parts = [Part(folder, self.intent, i) for i in range(len(self.intent.writers))]
        for place in self.intent.writers:
            if place["bytes"] and os.path.getsize(self._data_of(place)) < place["base"] + place["bytes"]:
                raise Damaged(f"{self._data_of(place)} is too short")

    @property
    def names(self):
        return [array["name"] for array in self.intent.arrays]

    @property
    def nbytes(self):
        return sum(writer["bytes"] for writer in self.intent.writers)

    def __getitem__(self, name):
        if name not in self.names:
            raise KeyError(name)
        return Variable(self, self.names.index(name))

    def __iter__(self):
        return iter(self.names)

    def parts(self):
        return self._parts

    def _data_of(self, place):
        return os.path.join(self.folder, f"file-{place['file']:06}.data")

    def read_stream(self, writer, offset, length):
        """Bytes of what a writer wrote, from whole pieces, which are checked."""
        place, piece = self.intent.writers[writer], self.intent.piece
        first, last = offset // piece, -(-(offset + length) // piece)
        if not xxhash:
            first, last, piece = offset, offset + length, 1  # nothing can be checked
        with open(self._data_of(place), "rb") as file:
            file.seek(place["base"] + first * piece)
            data = file.read(min(last * piece, place["bytes"]) - first * piece)
        if len(data) < offset - first * piece + length:
            raise Damaged(f"writer {writer}: the data file is too short")
        if xxhash:
            self._check(writer, first, data)
        return data[offset - first * piece:offset - first * piece + length]

    def _check(self, writer, first, data):
        piece = self.intent.piece
        for i in range(-(-len(data) // piece)):
            wanted = self.parts()[writer].sums[first + i]
            if xxhash.xxh3_64_intdigest(data[i * piece:(i + 1) * piece]) != wanted & (1 << 64) - 1:
                raise Damaged(f"writer {writer}: piece {first + i} is damaged")


class Found:
    """What the newest owner found: of saves by earlier ones, only those count."""

    def __init__(self, path, names):
        lists = sorted(name for name in names if re.fullmatch(r"found\.\d{8}", name))
        self.generation, self.saves = 0, set()
        try:
            if lists:
                record = Record(os.path.join(path, lists[-1]), FOUND)
                self.generation, count = record.ints(2)
                self.saves = {(step, save_id & (1 << 64) - 1) for step, save_id in (record.ints(2) for _ in range(count))}
        except (OSError, Damaged):
            self.generation = 0  # everything counts

    def has(self, step, save_id):
        generation = save_id >> 24 & 0xffffff if save_id >> 48 == 0x5347 else 0
        return generation >= self.generation or (step, save_id) in self.saves


class Directory:
    """A directory of checkpoints: the numbers of its complete steps to Steps."""

    def __init__(self, path):
        self.path, self._steps = path, {}
        names = sorted(os.listdir(path))
        found = Found(path, names)
        for name in names:
            match = re.fullmatch(r"step-(\d{19})-([0-9a-f]{16})", name)
            if not match or not found.has(int(match[1]), int(match[2], 16)):
                continue
            try:
                step = Step(os.path.join(path, name))
                if (step.number, step.intent.id[0] & (1 << 64) - 1) == (int(match[1]), int(match[2], 16)):
                    self._steps[step.number] = step
            except (OSError, Damaged):
                pass  # unfinished, or damaged: not there

    @property
    def numbers(self):
        return sorted(self._steps)

    def latest(self):
        """The newest step; None if there is none."""
        return self._steps[max(self._steps)] if self._steps else None

    def __getitem__(self, number):
        return self._steps[number]

    def __iter__(self):
        return iter(self.numbers)

    def __len__(self):
        return len(self._steps)


# ---- As a command ----

def npy_header(variable):
    """numpy's own file format: a text that says type and shape, padded."""
    text = repr({"descr": variable.dtype_text, "fortran_order": False, "shape": variable.shape})
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def write_out(variable, output):
    with open(output, "wb") as file:
        if output.endswith(".npy") and variable.kind == "array":
            file.write(npy_header(variable))
        file.writelines(variable.by_rank() if variable.kind == "local" else [variable.bytes()])


def need(module, what):
    """The module that writes such files, or an error that tells how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ValueError(f"writing {what} needs the Python module {module}: pip install {module}, or Debian's "
                         f"python3-{module.lower()} ({error})") from None


def write_hdf5(step, names, output):
    """A dataset for each array, block by block of its first dimension; attributes: step and time of saving."""
    h5py = need("h5py", "HDF5")
    with h5py.File(output, "w") as file:
        file.attrs["step"], file.attrs["time"] = step.number, step.time
        for name in names:
            variable = step[name]
            target = file.create_dataset(name, variable.shape, variable.dtype)
            for rows in row_slices(variable):
                target[rows] = variable[rows]


def write_netcdf(step, names, output):
    """netCDF-4: a variable for each array; complex types are not netCDF's."""
    netcdf = need("netCDF4", "netCDF")
    with netcdf.Dataset(output, "w") as file:
        file.step, file.time = step.number, step.time
        for name in names:
            variable = step[name]
            dimensions = dimension_names(variable.shape)
            for dimension, length in zip(dimensions, variable.shape):
                if dimension not in file.dimensions:
                    file.createDimension(dimension, length)
            target = file.createVariable(name, variable.dtype, dimensions)
            for rows in row_slices(variable):
                target[rows] = variable[rows]


def dimension_names(shape):
    """Arrays of one shape share their dimensions, so that xarray computes with them point by point."""
    return [f"dim{axis}_{length}" for axis, length in enumerate(shape)]


def row_slices(variable, most=64 << 20):
    """Slices of the first dimension of at most so many bytes."""
    length = variable.shape[0]
    rows = max(1, most * length // max(1, variable.nbytes))
    return [slice(first, min(first + rows, length)) for first in range(0, length, rows)]


def write_file(step, name, output):
    """HDF5 or netCDF, by the ending of the file's name."""
    names = [name] if name != "all" else [one for one in step.names if step[one].kind == "array" and step[one].type != "opaque"]
    if any(one not in step.names or step[one].kind != "array" for one in names):
        print(f"no array {name} in step {step.number}", file=sys.stderr)
        return 1
    try:
        (write_netcdf if output.endswith(".nc") else write_hdf5)(step, names, output)
    except (ImportError, OSError) as error:
        folder = os.path.dirname(output) or "."
        print(f"{output}: {error if os.path.isdir(folder) else folder + ' is no directory'}", file=sys.stderr)
        return 1
    return 0


def main(path, number=None, name=None, output=None):
    steps = Directory(path)
    if number is None:
        for step in map(steps.__getitem__, steps):
            print(f"step {step.number}: {step.nbytes} bytes, {step.ranks} rank{'' if step.ranks == 1 else 's'}")
        return 0
    if not number.isdigit() or int(number) not in steps.numbers:
        print(f"{path} has no complete step {number}", file=sys.stderr)
        return 1
    step = steps[int(number)]
    if name is None:
        for variable in map(step.__getitem__, step):
            print(variable.name, variable.kind, variable.type, *variable.shape)
        return 0
    if output is not None and output.endswith((".h5", ".nc")):
        return write_file(step, name, output)
    if name == "all" and name not in step.names:
        print(f"{output or 'all'}: all arrays go to a file that ends in .h5 or .nc", file=sys.stderr)
        return 1
    if name not in step.names or output is None:
        print(__doc__ if name in step.names else f"no array {name} in step {number}", file=sys.stderr)
        return 1
    write_out(step[name], output)
    return 0


if __name__ == "__main__":
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(__doc__)
        sys.exit(0)
    if not 2 <= len(sys.argv) <= 5 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(main(*sys.argv[1:]))
    except OSError as error:
        sys.exit(f"{error.filename or sys.argv[1]}: {error.strerror}")
    except (Damaged, ValueError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")

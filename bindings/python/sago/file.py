"""Files that all ranks of a communicator write and read together: by bytes, by slices of arrays, declared.

Names and rules are those of <sago/sago.h>.  Calls that end in `_all`, access to an Array, and everything about a Series but
`write` and `read` are collective: all ranks make them, each for its own part, which may be empty.  Offsets are bytes
from the start of the file.
"""
import ctypes
import os
from ctypes import byref, c_int, c_int64, c_void_p

import numpy
from mpi4py import MPI

from . import library, select
from .library import call, handle

MODES = {
    "r": MPI.MODE_RDONLY,
    "r+": MPI.MODE_RDWR,
    "w": MPI.MODE_RDWR | MPI.MODE_CREATE,  # and cut to nothing
    "x": MPI.MODE_RDWR | MPI.MODE_CREATE | MPI.MODE_EXCL,
    "a": MPI.MODE_RDWR | MPI.MODE_CREATE,
}


class _Buffer:
    """Contiguous memory for a call: the caller's own where it is contiguous, else a copy."""

    def __init__(self, data, into=False):
        self.theirs = data if isinstance(data, numpy.ndarray) else numpy.asarray(data)
        if into and (self.theirs is not data or not data.flags.writeable):
            raise TypeError("what is read into must be a numpy array that can be written to")
        self.memory = numpy.ascontiguousarray(self.theirs).reshape(self.theirs.shape)
        self.copied = into and not numpy.shares_memory(self.memory, self.theirs)

    @property
    def address(self):
        return c_void_p(self.memory.ctypes.data)

    @property
    def nbytes(self):
        return self.memory.nbytes

    def done(self):
        """What was read is where the caller wants it."""
        if self.copied:
            self.theirs[...] = self.memory


def _extents(extents, nbytes):
    rows = numpy.ascontiguousarray(extents, dtype=numpy.int64).reshape(-1, 2)
    if int(rows[:, 1].sum()) != nbytes:
        raise ValueError(f"the extents have {int(rows[:, 1].sum())} bytes, the buffer has {nbytes}")
    return rows, (len(rows), rows.ctypes.data_as(c_void_p))


def _one(offset, buffer):
    return [[offset, buffer.nbytes]]


class File:
    """A file, opened by all ranks of `comm`.  mode: "r", "r+", "w" (made or cut to nothing), "x" (made; must not exist),
    "a" (made if it does not exist), or MPI.MODE_... together.  hints: a dictionary or an MPI.Info."""

    def __init__(self, comm, path, mode="r", hints=None):
        amode = MODES.get(mode, mode)
        if not isinstance(amode, int):
            raise ValueError(f"mode {mode!r}: one of {', '.join(MODES)}, or MPI.MODE_...")
        self.path = os.fspath(path)
        self._file = c_void_p()
        self._pending = {}  # requests whose buffers Sago may still use
        self._series = []
        library.with_info(hints, lambda info: call("open", handle(comm), os.fsencode(path), amode, info,
                                                   byref(self._file)))
        if mode == "w":
            self.set_size(0)

    # ---- As a whole ----

    def close(self):
        """Collective.  Waits for what was started."""
        if self._file:
            try:
                call("close", byref(self._file))
            finally:
                if not self._file:
                    for series in self._series:
                        series._series = c_void_p()
                    self._pending.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def size(self):
        size = c_int64()
        call("get_size", self._file, byref(size))
        return size.value

    def set_size(self, size):
        """Collective."""
        call("set_size", self._file, size)

    def preallocate(self, size):
        """Collective."""
        call("preallocate", self._file, size)

    def sync(self):
        """Collective: data is on the device."""
        call("sync", self._file)

    def sync_local(self):
        """Collective: data is on the device of local storage (hint sago_tier)."""
        call("sync_local", self._file)

    def flush_all(self):
        """Collective: what is deferred (hint sago_defer) is in the file."""
        call("flush_all", self._file)

    @property
    def hints(self):
        """The hints in force, by name."""
        info = MPI.Info.Create()
        try:
            call("get_hints", self._file, handle(info))
            return dict(info.items())
        finally:
            info.Free()

    def stats(self):
        """What Sago counted on this rank, by the names of sago_stats; "phases" has times and bytes by phase."""
        stats = library.sized(library.Stats)
        call("get_stats", self._file, byref(stats))
        found = library.as_dict(stats)
        found["decision"] = stats.decision.decode()
        found["phases"] = {name: library.as_dict(phase) for name, phase in zip(library.PHASES, stats.phase)}
        return found

    # ---- By bytes ----

    def write_extents_all(self, extents, data):
        """Rows (offset, length), ascending; the data has their bytes one after another."""
        buffer = _Buffer(data)
        _rows, arguments = _extents(extents, buffer.nbytes)
        call("write_extents_all", self._file, *arguments, buffer.address)

    def read_extents_all(self, extents, out):
        """Returns the bytes read: fewer than asked for where the file ends."""
        buffer, count = _Buffer(out, into=True), c_int64()
        _rows, arguments = _extents(extents, buffer.nbytes)
        call("read_extents_all", self._file, *arguments, buffer.address, byref(count))
        buffer.done()
        return count.value

    def write_at_all(self, offset, data):
        self.write_extents_all(_one(offset, _Buffer(data)), data)

    def read_at_all(self, offset, out):
        return self.read_extents_all(_one(offset, _Buffer(out, into=True)), out)

    def write_at(self, offset, data):
        """Independent."""
        buffer = _Buffer(data)
        _rows, arguments = _extents(_one(offset, buffer), buffer.nbytes)
        _piece, pieces = _extents(_one(0, buffer), buffer.nbytes)
        call("write_pieces", self._file, *arguments, buffer.address, *pieces)

    def read_at(self, offset, out):
        """Independent.  Returns the bytes read."""
        buffer, count = _Buffer(out, into=True), c_int64()
        _rows, arguments = _extents(_one(offset, buffer), buffer.nbytes)
        _piece, pieces = _extents(_one(0, buffer), buffer.nbytes)
        call("read_pieces", self._file, *arguments, buffer.address, *pieces, byref(count))
        buffer.done()
        return count.value

    def iwrite_extents_all(self, extents, data):
        """Starts the call and returns a Request; the data must not change until it is done."""
        return self._start("iwrite_extents_all", extents, _Buffer(data))

    def iread_extents_all(self, extents, out):
        """Starts the call and returns a Request; `out` has the data when it is done."""
        return self._start("iread_extents_all", extents, _Buffer(out, into=True))

    def iwrite_at_all(self, offset, data):
        return self.iwrite_extents_all(_one(offset, _Buffer(data)), data)

    def iread_at_all(self, offset, out):
        return self.iread_extents_all(_one(offset, _Buffer(out, into=True)), out)

    def _start(self, name, extents, buffer):
        _rows, arguments = _extents(extents, buffer.nbytes)
        request = Request(self, buffer)
        call(name, self._file, *arguments, buffer.address, byref(request._request))
        self._pending[id(request)] = request
        return request

    # ---- By arrays ----

    def array(self, dtype, shape, offset=0):
        """An array in C order that is, or will be, in the file from `offset` on.  Local: nothing is written."""
        return Array(self, dtype, shape, offset)

    def declare(self, variables):
        """Collective.  Announces what a step consists of: {name: (array, index)}, the same names on all ranks, e.g.
        {"mass": (mass, numpy.s_[10:20])}."""
        series = Series(self, variables)
        self._series.append(series)
        return series


class Request:
    """A call that was started."""

    def __init__(self, file, buffer):
        self._file, self._buffer = file, buffer
        self._request = c_void_p()
        self._bytes = 0

    def wait(self):
        """Returns the bytes moved."""
        if self._request:
            count = c_int64()
            try:
                call("wait", byref(self._request), byref(count))
            finally:
                self._finish(count.value)
        return self._bytes

    def test(self):
        """Is it done?  Lets it go on."""
        if self._request:
            done, count = c_int(), c_int64()
            try:
                call("test", byref(self._request), byref(done), byref(count))
            finally:
                if not self._request:
                    self._finish(count.value)
        return not self._request

    def _finish(self, count):
        self._bytes = count
        self._buffer.done()
        self._file._pending.pop(id(self), None)
        self._buffer = None


class Array:
    """An array in a file.  `array[10:20, ::2] = block` writes and `array[10:20, ::2]` reads, collectively, each rank its own
    part; a rank without one uses an empty slice."""

    def __init__(self, file, dtype, shape, offset=0):
        self.file, self.dtype, self.offset = file, numpy.dtype(dtype), offset
        self.shape = (shape,) if isinstance(shape, int) else tuple(int(length) for length in shape)
        if self.dtype.hasobject:
            raise TypeError("Python objects cannot be kept in a file")

    @property
    def nbytes(self):
        """Where the next array may begin: offset + nbytes."""
        size = self.dtype.itemsize
        for length in self.shape:
            size *= length
        return size

    def _extents(self, key):
        chosen, shape = select.spans(self.shape, key)
        return select.runs(self.shape, self.dtype.itemsize, chosen, self.offset), shape

    def _data(self, data, shape):
        return numpy.ascontiguousarray(numpy.broadcast_to(numpy.asarray(data, self.dtype), shape))

    def _out(self, out, shape):
        if out is None:
            return numpy.zeros(shape, self.dtype)
        if out.dtype != self.dtype or out.shape != shape:
            raise ValueError(f"{out.dtype}{list(out.shape)} given for {self.dtype}{list(shape)}")
        return out

    def __setitem__(self, key, data):
        extents, shape = self._extents(key)
        self.file.write_extents_all(extents, self._data(data, shape))

    def __getitem__(self, key):
        return self.read(key)

    def read(self, key=Ellipsis, out=None):
        """Beyond the end of the file: zeros, or what `out` had."""
        extents, shape = self._extents(key)
        out = self._out(out, shape)
        self.file.read_extents_all(extents, out)
        return out

    def iwrite(self, key, data):
        """Starts writing; the data must not change until the Request is done."""
        extents, shape = self._extents(key)
        return self.file.iwrite_extents_all(extents, self._data(data, shape))

    def iread(self, key, out):
        """Starts reading into `out`."""
        extents, shape = self._extents(key)
        return self.file.iread_extents_all(extents, self._out(out, shape))

    def _file_type(self, chosen):
        """(offset, datatype) of a selection; the datatype is to be freed."""
        offset, stride = self.offset, self.dtype.itemsize
        kind = MPI.BYTE.Create_contiguous(self.dtype.itemsize)
        for extent, (first, count, step) in zip(reversed(self.shape), reversed(chosen)):
            inner, kind = kind, kind.Create_hvector(count, 1, step * stride)
            inner.Free()
            offset, stride = offset + first * stride, stride * extent
        kind.Commit()
        return offset, kind


class Series:
    """Variables declared together, written or read step after step: see File.declare()."""

    def __init__(self, file, variables):
        self._series = c_void_p()
        self._places, self._buffers, kinds = {}, {}, []
        declared = (library.Var * len(variables))()
        for number, (name, (array, key)) in enumerate(variables.items()):
            chosen, shape = select.spans(array.shape, key)
            offset, kind = array._file_type(chosen)
            kinds.append(kind)
            self._places[name] = (number, array, shape)
            count = int(numpy.prod(shape, dtype=numpy.int64)) * array.dtype.itemsize
            declared[number] = library.Var(ctypes.sizeof(library.Var), offset, count, handle(MPI.BYTE), handle(kind))
        try:
            call("declare", file._file, len(variables), declared, byref(self._series))
        finally:
            for kind in kinds:
                kind.Free()

    def _give(self, name, call_name, buffer):
        call(call_name, self._series, self._places[name][0], buffer.address)
        self._buffers[name] = buffer

    def write(self, name, data):
        """Local.  The data must not change before complete()."""
        _number, array, shape = self._places[name]
        self._give(name, "series_write", _Buffer(array._data(data, shape)))

    def read(self, name, out):
        """Local.  `out` has the data after complete()."""
        _number, array, shape = self._places[name]
        self._give(name, "series_read", _Buffer(array._out(out, shape), into=True))

    def complete(self):
        """Collective.  Returns the bytes this rank moved."""
        count = c_int64()
        call("series_complete", self._series)
        for buffer in self._buffers.values():
            buffer.done()
        self._buffers.clear()
        call("series_bytes", self._series, byref(count))
        return count.value

    def next(self, displacement):
        """Collective.  The same again, so many bytes further on than declared."""
        call("series_next", self._series, displacement)

    def free(self):
        """Collective; closing the file does it, too."""
        if self._series:
            call("series_free", byref(self._series))

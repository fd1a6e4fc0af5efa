"""Checkpoints: a program saves its state and goes on computing.  Names and rules are those of <sago/ckpt.h>.

    with sago.Checkpoint(comm, "ckpt") as ckpt:
        ckpt.protect("temperature", block, shape, start)
        step = ckpt.restore_latest()                     # None: there is none, begin at the beginning
        ...
        ckpt.save(step)
"""
import os
from ctypes import byref, c_int, c_int64, c_void_p

import numpy
from mpi4py import MPI

from . import library
from .library import CkptInfo, CkptReport, CkptStats, CkptStep, LEVELS, call, handle


def _numbers(values):
    return (c_int64 * len(values))(*[int(value) for value in values])


def _level(level):
    if level not in LEVELS:
        raise ValueError(f"level {level!r}: one of {', '.join(LEVELS)}")
    return LEVELS.index(level)


def _in_place(data):
    if not isinstance(data, numpy.ndarray) or not data.flags.c_contiguous or not data.flags.writeable:
        raise TypeError("what is protected must be a numpy array in C order that can be written to")
    return data


def _element(dtype):
    """MPI's type for an element, and whether it is to be freed."""
    known = getattr(MPI, "_typedict", {}).get(dtype.char)
    if known is not None and dtype.isnative:
        return known, False
    return MPI.BYTE.Create_contiguous(dtype.itemsize).Commit(), True


class Checkpoint:
    """A directory of checkpoints, opened by all ranks of `comm`."""

    def __init__(self, comm, directory, hints=None):
        self._ckpt = c_void_p()
        self._protected = {}  # what the library has the addresses of
        library.with_info(hints, lambda info: call("ckpt_open", handle(comm), os.fsencode(directory), info,
                                                   byref(self._ckpt)))

    def close(self):
        """Collective.  Waits until everything is written; raises what failed in the background."""
        if self._ckpt:
            try:
                call("ckpt_close", byref(self._ckpt))
            finally:
                if not self._ckpt:
                    self._protected.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- What is saved ----

    def protect(self, name, data, shape, start, interior=Ellipsis):
        """Local.  `data` holds this rank's block of a global array of this shape, from index `start` on.  With ghost cells
        around it, `interior` is where the block is in `data`, e.g. numpy.s_[1:-1, 1:-1]."""
        self.protect_blocks(name, data.dtype, shape, [(data, start, interior)])

    def protect_blocks(self, name, dtype, shape, blocks):
        """Local.  As protect(), with any number of blocks, none too: (data, start) or (data, start, interior) each."""
        dtype, kept = numpy.dtype(dtype), []
        described = (library.Block * len(blocks))()
        for number, block in enumerate(blocks):
            data, start, interior = block if len(block) == 3 else (*block, Ellipsis)
            if data.dtype != dtype or data.ndim != len(shape):
                raise ValueError(f"a block of {name} is {data.dtype}{list(data.shape)}, the array {dtype}{list(shape)}")
            chosen = _in_place(data)[interior]
            first = (chosen.__array_interface__["data"][0] - data.ctypes.data) // dtype.itemsize
            within = numpy.unravel_index(first, data.shape) if data.size and chosen.size else (0,) * data.ndim
            if chosen.strides != data.strides:
                raise IndexError("an interior has slices without steps, for every dimension")
            numbers = [_numbers(values) for values in (start, chosen.shape, data.shape, within)]
            described[number] = library.Block(*numbers, c_void_p(data.ctypes.data))
            kept += [data, *numbers]
        element, own = _element(dtype)
        try:
            call("ckpt_protect", self._ckpt, name.encode(), handle(element), len(shape), _numbers(shape), len(blocks),
                 described)
        finally:
            if own:
                element.Free()
        self._protected[name] = kept

    def protect_local(self, name, data):
        """Local.  Every rank's own bytes; restored only by as many ranks as have saved."""
        call("ckpt_protect_local", self._ckpt, name.encode(), c_void_p(_in_place(data).ctypes.data), data.nbytes)
        self._protected[name] = data

    def protect_shared(self, name, data):
        """Local.  The same bytes on all ranks, saved once."""
        call("ckpt_protect_shared", self._ckpt, name.encode(), c_void_p(_in_place(data).ctypes.data), data.nbytes)
        self._protected[name] = data

    def unprotect(self, name):
        """Local."""
        call("ckpt_unprotect", self._ckpt, name.encode())
        del self._protected[name]

    # ---- Saving and restoring ----

    def save(self, step):
        """Returns when the arrays may be changed again."""
        call("ckpt_save", self._ckpt, step)

    def wait(self, step, level="global"):
        """Until the step is complete at this level or a safer one."""
        call("ckpt_wait", self._ckpt, step, _level(level))

    def progress(self):
        call("ckpt_progress", self._ckpt)

    def restore(self, step):
        call("ckpt_restore", self._ckpt, step)

    def restore_latest(self):
        """The step that was restored; None if there is none."""
        step = c_int64()
        call("ckpt_restore_latest", self._ckpt, byref(step))
        return None if step.value < 0 else step.value

    def due(self):
        """(is it time for a save, is the job about to end)"""
        due, leave = c_int(), c_int()
        call("ckpt_due", self._ckpt, byref(due), byref(leave))
        return bool(due.value), bool(leave.value)

    # ---- What is there ----

    def latest(self, at_least="local"):
        """The newest step that is complete at this level or a safer one; None if there is none."""
        step = c_int64()
        call("ckpt_latest", self._ckpt, _level(at_least), byref(step))
        return None if step.value < 0 else step.value

    def steps(self):
        """What is known of every step, unfinished and damaged ones included, as dictionaries."""
        count = c_int64()
        call("ckpt_list", self._ckpt, byref(count), None)
        found = (CkptStep * count.value)()
        call("ckpt_list", self._ckpt, byref(count), found)
        return [dict(library.as_dict(step), complete=dict(zip(LEVELS, map(bool, step.complete))),
                     parts=dict(zip(LEVELS, step.parts)), damaged=bool(step.damaged), late=bool(step.late))
                for step in found[:count.value]]

    def inquire(self, step, name):
        """Kind, type and shape of one name (or number, from 0) in a step, as a dictionary."""
        info = library.sized(CkptInfo)
        if isinstance(name, int):
            call("ckpt_inquire_index", self._ckpt, step, name, byref(info))
        else:
            call("ckpt_inquire", self._ckpt, step, name.encode(), byref(info))
        return {"name": info.name.decode(), "kind": library.KINDS[info.kind], "type": info.type.decode(),
                "element_size": info.element_size, "shape": tuple(info.global_[:info.ndims]), "bytes": info.bytes,
                "ranks": info.ranks}

    def report(self):
        """Local.  What the last restore or verify found; before the first, what opening did."""
        report = library.sized(CkptReport)
        report.step = -1
        call("ckpt_get_report", self._ckpt, byref(report))
        found = {name: dict(zip(LEVELS, getattr(report, name))) for name in ("bytes_from", "damaged", "missing")}
        return dict(found, text=report.text.decode(), step=None if report.step < 0 else report.step,
                    passed_over=report.passed_over)

    def stats(self):
        """Times and counts of this job, by the names of sago_ckpt_stats; "recent": the last saves, newest first."""
        stats = library.sized(CkptStats)
        call("ckpt_get_stats", self._ckpt, byref(stats))
        return dict(library.as_dict(stats), recent=[library.as_dict(save) for save in stats.recent[:stats.nrecent]])

    # ---- Looking after a directory ----

    def verify(self, step):
        call("ckpt_verify", self._ckpt, step)

    def drain(self, step):
        call("ckpt_drain", self._ckpt, step)

    def repair(self, step):
        call("ckpt_repair", self._ckpt, step)

    def remove(self, step):
        call("ckpt_remove", self._ckpt, step)

    def remove_damaged(self, step=None):
        call("ckpt_remove_damaged", self._ckpt, -1 if step is None else step)

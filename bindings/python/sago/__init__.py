"""Collective I/O and checkpoints on MPI.

    File, Array, Request, Series    files that all ranks of a communicator access together
    Checkpoint                      the state of a program, saved while it goes on computing
    Error                           what every call raises; it has the status and the message of the C library
    reader                          checkpoints read without MPI

All but `reader` need mpi4py, on the MPI library that libsago was built with, and are loaded when they are first used.
"""
import importlib

__version__ = "0.2.0"
__all__ = ["Array", "Checkpoint", "Error", "File", "Request", "Series", "library_version", "reader"]

_HOME = {"File": "file", "Array": "file", "Request": "file", "Series": "file", "Checkpoint": "checkpoint",
         "Error": "library", "library_version": "library"}


def __getattr__(name):
    if name == "reader":
        return importlib.import_module(".reader", __name__)
    if name in _HOME:
        return getattr(importlib.import_module("." + _HOME[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

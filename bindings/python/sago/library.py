"""libsago by ctypes: where it is, the functions of its headers, their errors."""
import ctypes
import os
import shutil
from ctypes import POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p

from mpi4py import MPI

LEVELS = ("memory", "local", "redundant", "global")
KINDS = ("array", "local", "shared")
PHASES = ("flatten", "plan", "gather", "exchange", "store", "wait")
DIMS_MAX, NAME_MAX, RECENT = 8, 128, 8
FLUSHES = 12

# A handle of MPI is a number or an address, as the MPI library has it.
HANDLE = c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(c_int) else c_void_p


class Error(Exception):
    """A call of Sago failed: on all ranks of a collective call, with the same status."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status
        self.name = _library.sago_status_string(status).decode()


# ---- Structs of the headers, member by member ----

class Var(Structure):
    _fields_ = [("size", c_size_t), ("offset", c_int64), ("count", c_int64), ("type", HANDLE), ("filetype", HANDLE)]


class Block(Structure):
    _fields_ = [("start", POINTER(c_int64)), ("count", POINTER(c_int64)), ("mem_shape", POINTER(c_int64)),
                ("mem_start", POINTER(c_int64)), ("data", c_void_p)]


class PhaseStats(Structure):
    _fields_ = [("seconds", c_double), ("bytes", c_int64), ("runs", c_int64), ("messages", c_int64)]


class Stats(Structure):
    _fields_ = [("size", c_size_t), ("phase", PhaseStats * len(PHASES)),
                ("collective_writes", c_int64), ("collective_reads", c_int64), ("deferred_writes", c_int64),
                ("flushes", c_int64 * FLUSHES), ("flush_steps", c_int64), ("bytes_written", c_int64),
                ("bytes_read", c_int64), ("metadata_bytes", c_int64), ("wire_bytes", c_int64), ("plan_hits", c_int64),
                ("plan_misses", c_int64), ("direct_calls", c_int64), ("mapped_calls", c_int64),
                ("aggregated_calls", c_int64), ("separate_calls", c_int64), ("memory_now", c_int64),
                ("memory_peak", c_int64), ("memory_budget", c_int64), ("decision", c_char * 2048),
                ("local_writes", c_int64), ("local_merges", c_int64), ("local_refused", c_int64),
                ("nonblocking_calls", c_int64), ("rounds", c_int64), ("separate_failures", c_int64)]


class CkptStep(Structure):
    _fields_ = [("step", c_int64), ("time", c_int64), ("bytes", c_int64), ("files", c_int64), ("writers", c_int64),
                ("ranks", c_int64), ("arrays", c_int64), ("complete", c_int * len(LEVELS)),
                ("parts", c_int64 * len(LEVELS)), ("save_id", c_uint64 * 2), ("damaged", c_int), ("late", c_int)]


class CkptInfo(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char * NAME_MAX), ("kind", c_int), ("type", c_char * 32),
                ("element_size", c_int64), ("ndims", c_int), ("global_", c_int64 * DIMS_MAX), ("bytes", c_int64),
                ("ranks", c_int64)]


class CkptReport(Structure):
    _fields_ = [("size", c_size_t), ("bytes_from", c_int64 * len(LEVELS)), ("damaged", c_int64 * len(LEVELS)),
                ("missing", c_int64 * len(LEVELS)), ("text", c_char * 1024), ("step", c_int64),
                ("passed_over", c_int64)]


class CkptSaveStats(Structure):
    _fields_ = [("step", c_int64), ("bytes", c_int64), ("written", c_int), ("level", c_int)] + [
        (name, c_double) for name in ("held", "copy", "queue", "write", "redundancy", "drain", "perceived", "raw")]


class CkptStats(Structure):
    _fields_ = ([("size", c_size_t)] + [(name, c_int64) for name in (
        "saves", "failed", "skipped", "replaced", "restores", "bytes_saved")] + [(name, c_double) for name in (
            "held", "copy", "queue", "write", "redundancy", "drain", "thread_cpu", "restore")] + [
                ("pool_bytes", c_int64), ("nrecent", c_int64), ("recent", CkptSaveStats * RECENT)] + [
                    (name, c_int64) for name in ("damaged", "damaged_bytes", "passed_over", "hung_calls", "hung_bytes")])


def sized(kind):
    """What SAGO_..._INIT of the headers makes."""
    return kind(size=ctypes.sizeof(kind))


def as_dict(record):
    """The plain members of a struct, by name."""
    return {name: getattr(record, name) for name, kind in record._fields_
            if name != "size" and not issubclass(kind, (Structure, ctypes.Array))}


# ---- The functions ----

_P, _OUT = c_void_p, POINTER(c_void_p)
_LIST = (c_void_p, c_int64, c_void_p, c_void_p)  # file, extents, buffer
_PIECES = _LIST + (c_int64, c_void_p)
_BYTES, _TEXT = POINTER(c_int64), c_char_p
_ARGUMENTS = {
    "open": (HANDLE, _TEXT, c_int, HANDLE, _OUT), "close": (_OUT,), "delete": (_TEXT, HANDLE),
    "get_hints": (_P, HANDLE), "sync": (_P,), "sync_local": (_P,), "get_size": (_P, _BYTES),
    "set_size": (_P, c_int64), "preallocate": (_P, c_int64), "flush_all": (_P,), "get_stats": (_P, POINTER(Stats)),
    "write_extents_all": _LIST, "read_extents_all": _LIST + (_BYTES,), "write_pieces": _PIECES,
    "read_pieces": _PIECES + (_BYTES,), "iwrite_extents_all": _LIST + (_OUT,), "iread_extents_all": _LIST + (_OUT,),
    "wait": (_OUT, _BYTES), "test": (_OUT, POINTER(c_int), _BYTES),
    "declare": (_P, c_int64, POINTER(Var), _OUT), "series_write": (_P, c_int64, _P), "series_read": (_P, c_int64, _P),
    "series_complete": (_P,), "series_bytes": (_P, _BYTES), "series_next": (_P, c_int64), "series_free": (_OUT,),
    "ckpt_open": (HANDLE, _TEXT, HANDLE, _OUT), "ckpt_close": (_OUT,),
    "ckpt_protect": (_P, _TEXT, HANDLE, c_int, _BYTES, c_int64, POINTER(Block)),
    "ckpt_protect_local": (_P, _TEXT, _P, c_int64), "ckpt_protect_shared": (_P, _TEXT, _P, c_int64),
    "ckpt_unprotect": (_P, _TEXT), "ckpt_save": (_P, c_int64), "ckpt_progress": (_P,),
    "ckpt_wait": (_P, c_int64, c_int), "ckpt_latest": (_P, c_int, _BYTES),
    "ckpt_list": (_P, _BYTES, POINTER(CkptStep)), "ckpt_inquire": (_P, c_int64, _TEXT, POINTER(CkptInfo)),
    "ckpt_inquire_index": (_P, c_int64, c_int64, POINTER(CkptInfo)), "ckpt_restore": (_P, c_int64),
    "ckpt_restore_latest": (_P, _BYTES), "ckpt_due": (_P, POINTER(c_int), POINTER(c_int)),
    "ckpt_get_report": (_P, POINTER(CkptReport)), "ckpt_verify": (_P, c_int64), "ckpt_drain": (_P, c_int64),
    "ckpt_repair": (_P, c_int64), "ckpt_remove": (_P, c_int64), "ckpt_remove_damaged": (_P, c_int64),
    "ckpt_get_stats": (_P, POINTER(CkptStats)),
}


def _places():
    """Where libsago may be: as the environment says, in the prefix of this package, as the loader and PATH find it."""
    if os.environ.get("SAGO_LIBRARY"):
        return [os.environ["SAGO_LIBRARY"]]
    name = "libsago.so"
    prefixes = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..")]
    command = shutil.which("sago")
    if command:
        prefixes.append(os.path.join(os.path.dirname(os.path.realpath(command)), ".."))
    folders = [os.path.join(prefix, lib) for prefix in prefixes for lib in ("lib", "lib64")]
    folders += [os.path.join(prefix, "lib", os.uname().machine + "-linux-gnu") for prefix in prefixes]
    found = [os.path.join(folder, name) for folder in folders if os.path.exists(os.path.join(folder, name))]
    return found + ["libsago.so.0"]


def _load():
    tried = []
    for place in _places():
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            tried.append(str(error))
    raise ImportError("libsago cannot be loaded; SAGO_LIBRARY=/path/to/libsago.so names it.  " + "; ".join(tried))


_library = _load()
for _name, _kinds in _ARGUMENTS.items():
    _function = getattr(_library, "sago_" + _name)
    _function.argtypes, _function.restype = _kinds, c_int
_library.sago_status_string.restype = c_char_p
_library.sago_error_message.restype = c_char_p
_library.sago_version.restype = c_char_p


def call(name, *arguments):
    """Calls sago_NAME; raises Error where that fails."""
    status = getattr(_library, "sago_" + name)(*arguments)
    if status:
        raise Error(status, _library.sago_error_message().decode(errors="replace"))


def library_version():
    """The version of the libsago that runs, as text."""
    return _library.sago_version(None, None, None).decode()


# ---- MPI's objects ----

def handle(thing):
    """What C has for a communicator, info or datatype of mpi4py."""
    return HANDLE.from_address(MPI._addressof(thing)).value


def as_info(hints):
    """An info object of a dictionary, and whether it is to be freed."""
    if hints is None or isinstance(hints, MPI.Info):
        return hints or MPI.INFO_NULL, False
    info = MPI.Info.Create()
    for name, value in hints.items():
        info.Set(name, {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value))
    return info, True


def with_info(hints, use):
    """use(info handle), with an info object for the time of the call."""
    info, own = as_info(hints)
    try:
        return use(handle(info))
    finally:
        if own:
            info.Free()

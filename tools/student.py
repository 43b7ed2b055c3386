"""Run a student's answer in a process without tests, files, network and further processes.

The process comes from one that has read no test (grade.py). What leaves it names no class: the
judge makes numbers, texts, collections, arrays and tables of it, never an object of a student.
"""

import ctypes
import io
import os
import pickle
import resource
import struct
import sys
import warnings
from contextlib import suppress
from functools import partial
from numbers import Real
from pathlib import Path

import course
import numpy as np
import pandas as pd

from anonpaper.files import cache_folder, raw_folder

READABLE = [sys.prefix, sys.base_prefix, course.ROOT / "anonpaper", raw_folder(), "/usr", "/lib"]
READABLE += ["/lib64", "/etc"]
READABLE += map(cache_folder().joinpath, ("parquet", "official", "package-index"))
MEMORY = 2 << 30
PLAIN = (bool, int, float, str, list, tuple, set, frozenset, dict)
# sockets, processes, signals, the memory of others, what outlives the process (memory, messages,
# keys), rights of files, orders to open files, and limits; 452 is fchmodat2
REFUSED = """
socket connect socketpair clone fork vfork clone3 execve execveat unshare setns kill tkill tgkill
rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal pidfd_open pidfd_getfd ptrace process_vm_readv
process_vm_writev bpf perf_event_open io_uring_setup shmget semget msgget mq_open add_key
request_key keyctl chmod fchmod fchmodat 452 chown fchown lchown fchownat utime utimes futimesat
utimensat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr fcntl ioctl setrlimit
prlimit64
"""
ALL_OF_FILES, READ = 0x7FFF, 0x1 | 0x4 | 0x8  # read: map a library, read a file, list a folder
ALLOWED, NOT_PERMITTED = 0x7FFF0000, 0x00050001

# ---- values that cross the border -------------------------------------------------------------


class Writer(pickle.Pickler):
    """Write plain values as they are, arrays and tables as plain values, all else as a text."""

    def persistent_id(self, value):
        """Return what stands for a value; None for one that stands for itself."""
        if value is None or type(value) in PLAIN:
            return None
        match value:
            case np.ndarray():
                return "array", str(value.dtype), value.shape, value.ravel().tolist()
            case pd.Series():
                return "series", value.to_frame(), value.name
            case pd.DataFrame():
                return "frame", value.to_dict("tight")
            case np.generic() | pd.Index():
                return "plain", value.tolist()
            case Real():
                return "plain", float(value)
        kind = next((kind for kind in PLAIN if isinstance(value, kind)), "{!r:.200}".format)
        return "plain", kind(value)


MADE = {
    "plain": lambda value: value,
    "array": lambda dtype, shape, items: np.fromiter(items, "O").astype(dtype).reshape(shape),
    "series": lambda frame, name: frame.iloc[:, 0].rename(name),
    "frame": partial(pd.DataFrame.from_dict, orient="tight"),
}


class Reader(pickle.Unpickler):
    """Read what a Writer has written, and nothing that names a class or a function."""

    def find_class(self, module, name):
        """Refuse it."""
        raise pickle.UnpicklingError(f"{module}.{name} is no plain value")

    def persistent_load(self, said):
        """Return the value that something stands for."""
        return MADE[said[0]](*said[1:])


def written(value) -> bytes:
    """Return a value as it crosses the border."""
    Writer(content := io.BytesIO()).dump(value)
    return content.getvalue()


# ---- the process of an answer -----------------------------------------------------------------


def serve(channel, names: dict) -> None:
    """Do what the judge asks: run an answer among names, look up one, call a function."""
    orders = {
        "run": partial(course.run, names=names),
        "value": names.__getitem__,
        "call": lambda name, *given, **named: names[name](*given, **named),
    }
    with suppress(BaseException):
        os.closerange(3, channel.fileno())  # pipes of the judge and of other answers
        os.closerange(channel.fileno() + 1, 1 << 16)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        warnings.simplefilter("ignore")
        shut_in()
        said = b"ready"
        while True:
            kind, given, named = told(channel, said)
            try:
                said = written({"value": orders[kind](*given, **named)})
            except BaseException as error:  # students' code may raise anything, and is told so
                said = written({"error": f"{type(error).__name__}: {error!s:.500}"})
    os._exit(0)


def told(channel, said: bytes):
    """Say something to the judge; return what comes back, with functions that are asked there."""
    channel.send_bytes(said)
    reader = pickle.Unpickler(io.BytesIO(channel.recv_bytes()))  # the judge is trusted
    reader.persistent_load = lambda number: (
        lambda *given: told(channel, written({"ask": (number, *given)}))
    )
    return reader.load()


# ---- what the process may do ------------------------------------------------------------------


def limit_memory() -> None:
    """Let this process use no more than `MEMORY` on top of what it uses."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY,) * 2)


def shut_in() -> None:
    """Take from this process all files but libraries and data, and what `REFUSED` lists.

    Landlock and seccomp do so, which Linux offers to everybody. OSError if one of them is missing.
    """
    limit_memory()
    libc, seccomp = ctypes.CDLL(None, use_errno=True), ctypes.CDLL("libseccomp.so.2")
    libc.capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())  # where root grades
    libc.prctl(38, 1, 0, 0, 0)  # no process below has more rights
    rules = libc.syscall(444, ctypes.byref(ctypes.c_uint64(ALL_OF_FILES)), 8, 0)
    for path in filter(os.path.isdir, READABLE):
        libc.syscall(445, rules, 1, struct.pack("=Qi", READ, os.open(path, os.O_PATH)), 0)
    if libc.syscall(446, rules, 0):
        raise OSError("no Landlock, or too old a one: grade on Linux 6.2 or newer")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    calls = ctypes.c_void_p(seccomp.seccomp_init(ALLOWED))
    for name in REFUSED.split():
        number = name if name.isdigit() else seccomp.seccomp_syscall_resolve_name(name.encode())
        seccomp.seccomp_rule_add(calls, NOT_PERMITTED, int(number), 0)
    if seccomp.seccomp_load(calls):
        raise OSError("this kernel has no seccomp filters")

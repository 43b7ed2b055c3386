"""Run students' answers, each in a process of its own without tests, files and network in reach.

The judge, grade.py, forks `attend` before it has read a single test, so no test is in the memory
of these processes. `shut_in` takes away files, sockets and further processes. Values come back as
JSON that `decode` rebuilds: numbers, texts, collections, arrays and tables, no class of a student.
"""

import base64
import contextlib
import ctypes
import io
import json
import os
import pickle
import platform
import re
import resource
import signal
import socket
import struct
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

MOST_BYTES = 1 << 27
PLAIN_TYPE = re.compile(r"[<>|=][biufc]\d{1,2}")


class SandboxError(Exception):
    """The kernel does not offer what shuts students' answers in."""


# ---- values that cross the border -------------------------------------------------------------


@dataclass(frozen=True)
class Other:
    """A value of a type that is not handed over: its type's name, and its text."""

    type: str
    text: str

    def __repr__(self):
        return self.text


def encode(value, depth: int = 0):
    """Return a value as what JSON can say; subclasses as their base, unknown types as `Other`."""
    if depth > 20:
        return {"other": ["too deep", ""]}

    def inner(one):
        return encode(one, depth + 1)

    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return {"list": [inner(one) for one in value]}
    match value:
        case np.generic() if PLAIN_TYPE.fullmatch(value.dtype.str):
            return {"scalar": [value.dtype.str, base64.b64encode(value.tobytes()).decode()]}
        case int():
            return int.__pos__(value)
        case float():
            return float.__pos__(value)
        case complex():
            return {"complex": [value.real, value.imag]}
        case str():
            return "".join(str.__iter__(value))
        case pd.Series():
            return {"series": [inner(value.array), inner(value.index), inner(value.name)]}
        case pd.DataFrame():
            columns = [inner(value.iloc[:, place].array) for place in range(value.shape[1])]
            return {"frame": [columns, inner(value.columns), inner(value.index)]}
        case pd.MultiIndex():
            return {"index": [inner(list(value)), inner(list(value.names)), True]}
        case pd.Index():
            return {"index": [inner(value.array), inner(list(value.names)), False]}
        case pd.Categorical():
            parts = [value.codes, value.categories.array, bool(value.ordered)]
            return {"categorical": [*map(inner, parts)]}
        case pd.arrays.NumpyExtensionArray():
            return inner(value.to_numpy())
        case pd.api.extensions.ExtensionArray():
            known = "str" if isinstance(value.dtype, pd.StringDtype) else "O"
            items = [inner(one) for one in np.asarray(value, dtype=object)]
            return {"objects": [known, [len(items)], items]}
        case np.ndarray() if PLAIN_TYPE.fullmatch(value.dtype.str):
            content = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
            return {"array": [value.dtype.str, list(value.shape), content]}
        case np.ndarray():
            kind = "U" if value.dtype.kind == "U" else "O"
            return {"objects": [kind, list(value.shape), [inner(one) for one in value.flat]]}
        case dict():
            return {"dict": [[inner(key), inner(one)] for key, one in dict.items(value)]}
        case list() | tuple() | set() | frozenset():
            kind = next(k for k in (list, tuple, set, frozenset) if isinstance(value, k))
            return {kind.__name__: [inner(one) for one in kind.__iter__(value)]}
    return {"other": [type(value).__name__[:80], repr(value)[:200]]}


def decode(plain):
    """Return the value that `encode` describes; ValueError or TypeError if it describes none."""
    if not isinstance(plain, dict):
        return plain
    ((kind, said),) = plain.items()
    match kind:
        case "complex":
            return complex(*said)
        case "scalar" | "array" if PLAIN_TYPE.fullmatch(said[0]):
            found = np.frombuffer(base64.b64decode(said[-1]), dtype=said[0])
            return found[0] if kind == "scalar" else found.reshape(said[1]).copy()
        case "objects":
            items = np.empty(len(said[2]), dtype=object)
            items[:] = [decode(one) for one in said[2]]
            if said[0] == "str":
                return pd.array(items, dtype="str")
            return items.reshape(said[1]).astype(str if said[0] == "U" else object)
        case "series":
            return pd.Series(decode(said[0]), index=decode(said[1]), name=decode(said[2]))
        case "frame":
            columns, index = decode(said[1]), decode(said[2])
            made = pd.DataFrame(dict(enumerate(map(decode, said[0]))), index=index)
            return made.set_axis(columns, axis=1)
        case "index" if said[2]:
            return pd.MultiIndex.from_tuples(decode(said[0]), names=decode(said[1]))
        case "index":
            return pd.Index(decode(said[0]), name=decode(said[1])[0])
        case "categorical":
            codes, categories, ordered = map(decode, said)
            return pd.Categorical.from_codes(codes, categories, ordered=ordered)
        case "dict":
            return {decode(key): decode(one) for key, one in said}
        case "list" | "tuple" | "set" | "frozenset":
            kinds = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
            return kinds[kind](decode(one) for one in said)
        case "other":
            return Other(str(said[0]), str(said[1]))
    raise ValueError(f"no value is described by {kind!r}")


def send(channel: socket.socket, content: bytes) -> None:
    """Send a message, its length first."""
    channel.sendall(struct.pack("<Q", len(content)) + content)


def receive(channel: socket.socket) -> bytes:
    """Return the next message; EOFError if there is none, ValueError if it is too long."""
    (length,) = struct.unpack("<Q", _exactly(channel, 8))
    if length > MOST_BYTES:
        raise ValueError("the answer is too large to hand over")
    return _exactly(channel, length)


def _exactly(channel: socket.socket, length: int) -> bytes:
    """Return so many bytes of a channel."""
    parts = []
    while length:
        part = channel.recv(min(length, 1 << 20))
        if not part:
            raise EOFError("the process has ended")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


# ---- the process of an answer -----------------------------------------------------------------


def attend(
    control: socket.socket, places: dict[str, dict], readable: list[Path], **limits
) -> None:
    """Fork a process for every channel that the judge sends, one at a time, until it hangs up."""
    for handle in map(int, os.listdir("/proc/self/fd")):
        if handle > 2 and handle != control.fileno():  # pipes of the judge and of its results
            with contextlib.suppress(OSError):
                os.close(handle)
    while True:
        message, handles, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            os._exit(0)
        child = os.fork()
        if not child:
            with contextlib.suppress(BaseException):
                control.close()
                _answer(socket.socket(fileno=handles[0]), places, readable, limits)
            os._exit(0)
        os.close(handles[0])
        control.send(b"%d" % child)
        control.recv(1)  # the judge has done with it
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        control.send(b"e")


class _Unpickler(pickle.Unpickler):
    """Reads what the judge sends; its functions become questions back to the judge."""

    def __init__(self, content: bytes, channel: socket.socket):
        super().__init__(io.BytesIO(content))
        self.channel = channel

    def persistent_load(self, number):
        def ask(*given):
            said = {"ask": encode([number, *given])}
            send(self.channel, json.dumps(said).encode())
            is_error, answer = pickle.loads(receive(self.channel))  # the judge is trusted
            if is_error:
                raise RuntimeError(answer)
            return answer

        return ask


def _answer(channel: socket.socket, places: dict, readable: list[Path], limits: dict) -> None:
    """Run an answer where its exercise stands, then call its functions as the judge asks."""
    exercise, source, scratch = pickle.loads(receive(channel))
    names = places[exercise]
    places.clear()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.chdir(scratch)
    shut_in(readable, Path(scratch), **limits)
    lines = [line for line in source.splitlines() if not re.match(r"\s*[%!]", line)]
    request = ("run",)
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                reply = _reply(request, "\n".join(lines), names)
        except BaseException as error:  # students' code may raise anything, and is told so
            reply = {"error": f"{type(error).__name__}: {str(error)[:500]}"}
        send(channel, json.dumps(reply).encode())
        request = _Unpickler(receive(channel), channel).load()


def _reply(request: tuple, source: str, names: dict) -> dict:
    """Do what the judge asks for: run the cell, hand over a value, or call a function."""
    match request:
        case ["run"]:
            exec(compile(source, "<answer>", "exec"), names)
            return {"value": None}
        case ["value", name]:
            return {"value": encode(names[name])}
        case ["call", name, given, named]:
            return {"value": encode(names[name](*given, **named))}
    raise ValueError(request)


# ---- what a process may do --------------------------------------------------------------------

_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# numbers of system calls on the two machines: sockets, processes, signals, the memory of others,
# what outlives the process (memory, messages, keys), and rights of files, which Landlock ignores
_REFUSED = """
socket 41 198, connect 42 203, socketpair 53 199, fork 57 -, vfork 58 -, execve 59 221,
execveat 322 281, unshare 272 97, setns 308 268, kill 62 129, tkill 200 130, tgkill 234 131,
rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, pidfd_send_signal 424 424, pidfd_open 434 434,
pidfd_getfd 438 438, ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271,
bpf 321 280, perf_event_open 298 241, io_uring_setup 425 425, shmget 29 194, semget 64 190,
msgget 68 186, mq_open 240 180, add_key 248 217, request_key 249 218, keyctl 250 219, chmod 90 -,
fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55, lchown 94 -,
fchownat 260 54, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88, setxattr 188 5,
lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16
"""
_OWNED = {(72, 25): (8, 10, 15), (16, 29): (0x8901, 0x8902)}  # fcntl, ioctl: who gets a signal
_CLONE, _CLONE3, _PRLIMIT = (56, 220), 435, (302, 261)
_FILES = {1: 0x1FFF, 2: 0x3FFF}  # all rights on files that a version of Landlock knows
_READ = 0x1 | 0x4 | 0x8  # execute (libraries are mapped so), read a file, list a folder
_libc = ctypes.CDLL(None, use_errno=True)


def shut_in(readable: list[Path], writable: Path, *, seconds: int, megabytes: int) -> None:
    """Take from this process all files but these, sockets, further processes, time and memory.

    Landlock and seccomp, which Linux offers to everybody from version 5.13 on, do the first three.

    Raises
    ------
    SandboxError
        The kernel lacks one of the two.
    """
    with contextlib.suppress(ImportError):
        from numba.core import caching

        caching.Cache.save_overload = lambda *given: None  # the folder of the cache is closed
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 20),) * 2)
    spent = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    resource.setrlimit(resource.RLIMIT_CPU, (spent + seconds,) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50 << 20,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nothing = (ctypes.c_uint32 * 6)()
    _libc.capset((ctypes.c_uint32 * 2)(0x20080522, 0), nothing)  # also where root grades
    _libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    _close_files(readable, writable)
    _close_calls()


def _close_files(readable: list[Path], writable: Path) -> None:
    """Close all files to this process but those below the given folders."""
    version = _libc.syscall(444, None, 0, 1)
    if version < 1:
        raise SandboxError("this kernel has no Landlock: grade on Linux 5.13 or newer")
    files = _FILES.get(version, 0x7FFF)
    rules = _libc.syscall(444, ctypes.byref(ctypes.c_uint64(files)), 8, 0)
    for path, rights in [*((path, _READ) for path in readable), (writable, files)]:
        if path.exists():
            handle = os.open(path, os.O_PATH)
            rule = struct.pack("=Qi", rights if path.is_dir() else rights & 0x4, handle)
            if _libc.syscall(445, rules, 1, rule, 0):
                raise SandboxError(f"{path}: Landlock refuses a rule")
            os.close(handle)
    if _libc.syscall(446, rules, 0):
        raise SandboxError("Landlock is switched off on this machine")
    os.close(rules)


def _close_calls() -> None:
    """Refuse system calls that reach out of the process, or leave something behind."""
    machine = platform.machine()
    if machine not in _MACHINES:
        raise SandboxError("answers are shut in on x86_64 and aarch64 only")
    here = [*_MACHINES].index(machine)
    refuse, allow = (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)  # with EPERM
    # a step: what to do, how many steps to leave out if so and if not, and a number
    steps = [(0x20, 0, 0, 4), (0x15, 1, 0, _MACHINES[machine]), (0x06, 0, 0, 0x80000000)]
    steps += [(0x20, 0, 0, 0), (0x35, 0, 1, 0x40000000), refuse]
    for call in _REFUSED.split(","):
        number = call.split()[1 + here]
        if number != "-":
            steps += [(0x15, 0, 1, int(number)), refuse]
    steps += [(0x15, 0, 1, _CLONE3), (0x06, 0, 0, 0x00050026)]  # ENOSYS: clone is tried instead
    for numbers, orders in _OWNED.items():  # the order is the second argument
        steps += [(0x15, 0, 2 + 2 * len(orders), numbers[here]), (0x20, 0, 0, 24)]
        steps += [step for order in orders for step in ((0x15, 0, 1, order), refuse)] + [allow]
    steps += [(0x15, 0, 4, _PRLIMIT[here]), (0x20, 0, 0, 16), (0x15, 0, 1, 0), allow, refuse]
    steps += [(0x15, 0, 3, _CLONE[here]), (0x20, 0, 0, 16), (0x45, 1, 0, 0x10000), refuse, allow]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    filtered = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program))
    if _libc.prctl(22, 2, filtered, 0, 0):
        raise SandboxError("this kernel has no seccomp filters")

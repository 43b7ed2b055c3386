"""Run one command, and say how it ended: `watched.py SECONDS COMMAND ...` prints JSON.

A process of its own, and a small one: a child's peak memory begins at that of its parent. On Linux
it adopts what the command starts, daemons too. The limit is for the processor time of all of them
together, and all are ended when the command has ended. Memory is the largest sum of what they had
at one look, 10 times a second. Pages that two processes share count twice. A process is not
counted if it lives less than 0.1 seconds and its parent ignores how its children end. Elsewhere
each process has the limit for itself, and only the command's process group is ended.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time

LINUX = sys.platform == "linux"
TICKS, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


def adopt() -> None:
    """Become the parent of descendants whose own parent ends (PR_SET_CHILD_SUBREAPER)."""
    if LINUX:
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def alive() -> dict[int, tuple[int, float, float, int]]:
    """Return each descendant's start, seconds, those of children it waited for, and bytes."""
    about, found, parents = {}, {}, {os.getpid()}
    for name in filter(str.isdigit, os.listdir("/proc") if LINUX else []):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat") as file:
            about[int(name)] = [int(part) for part in file.read().rpartition(")")[2].split()[1:22]]
    while parents := {pid for pid, of in about.items() if of[0] in parents}:
        for pid in parents:
            own, waited = (sum(about[pid][at : at + 2]) / TICKS for at in (10, 12))
            found[pid] = about[pid][18], own, waited, about[pid][20] * PAGE
    return found


def end(which: set[int]) -> None:
    """Kill processes, and take leave of those that are this process's children."""
    for pid in which:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, os.WNOHANG)


def ended() -> tuple[float, int]:
    """Return seconds of all that ended and was waited for, and bytes of the largest."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 2**10
    return used.ru_utime + used.ru_stime, used.ru_maxrss * unit


def watch(seconds: int, command: list[str]) -> dict[str, float]:
    """Return the command's exit code, the seconds and the memory in MiB of all its processes."""
    adopt()
    tool = subprocess.Popen(
        command, stdout=sys.stderr, start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
    )  # fmt: skip
    code, most, last, seen, until = None, 0, 0.0, {}, time.monotonic() + 20 * seconds
    with contextlib.suppress(ChildProcessError):  # raised when no descendant is left
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == tool.pid and code is None:
                code = os.waitstatus_to_exitcode(status)
            if pid:
                continue
            now = alive()
            seen |= {(pid, start): own for pid, (start, own, _, _) in now.items()}
            most = max(most, sum(size for *_, size in now.values()))
            # a child that ends during a look can be in the sum twice, so two looks have to agree
            spent = ended()[0] + sum(own + waited for _, own, waited, _ in now.values())
            over = max(sum(seen.values()), min(spent, last)) > seconds
            last = spent
            if code is None and (over or time.monotonic() > until):
                code = -signal.SIGKILL
            if code is not None:
                end({*now} if LINUX else {tool.pid})
            time.sleep(0.1 if code is None else 0.001)
    if not LINUX:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(tool.pid, signal.SIGKILL)
    spent, largest = ended()
    return {
        "code": code, "memory": max(most, largest) / 2**20,
        "seconds": max(spent, sum(seen.values())),  # more was seen if nobody waited for some
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(watch(int(sys.argv[1]), sys.argv[2:])))

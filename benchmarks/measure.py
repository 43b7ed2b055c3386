"""How benchmarks measure: the best of several runs, and the peak of memory, in one process."""

import ctypes
import gc
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

import anonpaper as ap


def best_seconds(function: Callable[[], object], *, repeat: int = 3) -> float:
    """Return the shortest of `repeat` runs, in seconds of processor time.

    A first run compiles and fills caches, and is not counted. Processor time leaves out what else
    runs on the machine, but not that it takes caches: the shortest run was disturbed least.
    """
    function()
    seconds = []
    for _ in range(repeat):
        gc.collect()
        began = time.process_time()
        function()
        seconds.append(time.process_time() - began)
    return min(seconds)


def ungrouped(algorithm: Callable, m: ap.Microdata, *given: object, **options: object) -> object:
    """Run an algorithm on a coded table, with nothing grouped before."""
    m.__dict__.pop("cells", None)
    return algorithm(m, *given, **options)


def groupby_seconds(m: ap.Microdata) -> float:
    """Return the seconds of a common yardstick: pandas groups the coded quasi-identifiers."""
    coded = pd.DataFrame(m.codes, columns=m.qi)
    return best_seconds(lambda: coded.groupby(m.qi, sort=False).ngroup(), repeat=5)


def peak_bytes(function: Callable[[], object]) -> int:
    """Return by how many bytes the process grew at most while the function ran, on Linux.

    The allocator first gives back what it kept, and the kernel's high-water mark is reset: unlike
    tracemalloc this also sees what compiled code allocates.
    """
    function()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    function()
    return _resident("VmHWM") - before


def _resident(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith(f"{field}:"))
    return int(kilobytes) * 1024


def against(what: str, value: float, yardstick: str, unit: float, limit: float | None) -> dict:
    """Return one row of a benchmark's table: a measurement beside its yardstick's, in one unit.

    Their ratio may be at most the limit; without one it is only reported.
    """
    return {
        "what": what,
        "measured": value,
        "yardstick": yardstick,
        "unit": unit,
        "ratio": value / unit,
        "limit": limit,
    }

"""Grids of runs: one function for every setting, in parallel, resumed after an interruption."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
from tqdm import tqdm

from anonpaper.compendium.tables import notebooks_folder
from anonpaper.compiled import at_once
from anonpaper.errors import ParameterError, check_integer
from anonpaper.files import cache_folder

PACKAGE = Path(__file__).parents[1]
_SOURCES = {".csv", ".json", ".py", ".toml"}
_JUDGES = {"claims.py", "intervals.py", "paper.toml"}


def run_grid(
    function: Callable, grid: Iterable[Mapping[str, Any]], *, workers: int | None = None,
    name: str | None = None, common: Mapping[str, Any] | None = None, timing: bool = False,
) -> pd.DataFrame:  # fmt: skip
    """Call a function for every setting of a grid and return all rows as one tidy table.

    The function, at the top level of a module (else ParameterError), gets a setting and the
    objects of `common` as keyword arguments, and returns one row (a mapping) or several (mappings
    or a DataFrame). Rows are in the order of the grid. They are the same for any number of
    processes if the function depends only on its parameters: include a seed for random steps. By
    default `workers` is $ANONPAPER_WORKERS, or one per core; 1 is this process. Each finished
    setting is kept in the cache for equal code of the project, common objects and setting, also if
    another one fails. With `timing`, for a function that measures by :func:`timed`, settings run
    one after the other in this process, each time again. `name` is shown beside the progress bar.

    >>> import json, os, tempfile
    >>> os.environ["ANONPAPER_CACHE"] = tempfile.mkdtemp()
    >>> run_grid(json.loads, [{"s": '{"stars": 8}'}, {"s": '{"stars": 5}'}], workers=1)
                  s  stars
    0  {"stars": 8}      8
    1  {"stars": 5}      5
    >>> del os.environ["ANONPAPER_CACHE"]
    """
    settings, common, call = [dict(setting) for setting in grid], dict(common or {}), _rows
    of = sys.modules.get(function.__module__)
    if function.__module__ == "__main__" or getattr(of, function.__name__, None) is not function:
        raise ParameterError(f"workers cannot import {function!r}: define it in a module's top")
    given = os.environ.get("ANONPAPER_WORKERS") or joblib.cpu_count()
    workers = 1 if timing else check_integer("workers", workers or int(given), 1)
    if not timing:
        call = joblib.Memory(cache_folder() / "grids", verbose=0).cache(_rows, ignore=["common"])
    key = [code_digest(), joblib.hash(common)]
    with joblib.parallel_config("loky", inner_max_num_threads=None if workers == 1 else 1):
        pool = joblib.Parallel(workers, batch_size=1, return_as="generator")
        found = pool(joblib.delayed(call)(function, one, key, common=common) for one in settings)
        bar = tqdm(found, total=len(settings), desc=name or function.__name__)
        lines = [{**of, **row} for of, rows in zip(settings, bar, strict=True) for row in rows]
    return pd.DataFrame(lines)


def timed(
    call: Callable[..., Any], repeats: int = 3, *, fresh: Callable[[], Any] | None = None
) -> tuple[float, Any]:
    """Return the shortest of several runs in processor seconds, and what the last one returned.

    The first run may compile and fill caches, and other work of the machine can only add to a
    run: the least is the time of the work. `fresh` makes the argument of each run before the clock
    starts, such as a table that has cached nothing. A grid that measures has ``timing=True``.

    >>> seconds, total = timed(sum, fresh=lambda: range(1000))
    >>> total, 0 <= seconds < 1
    (499500, True)
    """
    check_integer("repeats", repeats, 2)
    spent = []
    with at_once():  # also loops that would be interpreted on few rows
        for _ in range(repeats):
            given = [fresh()] if fresh else []
            began = time.process_time()
            returned = call(*given)
            spent.append(time.process_time() - began)
    return min(spent), returned


def _rows(function: Callable, setting: dict, key: list[str], common: dict) -> list[dict]:
    """Call the function for a setting, which an exception names."""
    try:
        found = function(**setting, **common)
    except Exception as error:
        error.add_note(f"in the setting {setting}")
        raise
    if isinstance(found, pd.DataFrame):
        found = found.to_dict("records")
    return [dict(row) for row in ([found] if isinstance(found, Mapping) else found)]


def code_digest() -> str:
    """Return one digest of what a grid can run: package and notebooks, without their judges."""
    files = [
        (file.relative_to(folder.parent).as_posix(), file.read_bytes())
        for folder in filter(None, (PACKAGE, notebooks_folder()))
        for file in sorted(folder.rglob("*.*"))
        if file.suffix in _SOURCES and file.name not in _JUDGES
    ]
    return joblib.hash(files)

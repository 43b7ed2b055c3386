"""Grids of runs: one function for every setting, in parallel, resumed after an interruption."""

from __future__ import annotations

import importlib
import json
import os
import tempfile
import time
import timeit
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from anonpaper.compendium.provenance import code_digest
from anonpaper.compiled import at_once
from anonpaper.errors import ParameterError, check_integer
from anonpaper.files import cache_folder, sha256, write_whole
from anonpaper.microdata import Microdata

__all__ = ["Row", "plain_values", "run_grid", "timed"]

Row = Mapping[str, Any]
_may_time = True  # not in a grid whose settings may run side by side or be kept


def run_grid(
    function: Callable[..., Row | Iterable[Row] | pd.DataFrame],
    grid: Iterable[Row],
    *,
    workers: int | None = None,
    name: str | None = None,
    common: Mapping[str, Any] | None = None,
    timing: bool = False,
) -> pd.DataFrame:
    """Call a function for every setting of a grid and return all rows as one tidy table.

    Rows are in the order of the grid, and the same for any number of workers if the function
    depends only on its parameters: include a seed for every random step. Each finished setting is
    kept in the cache for equal code (with the project's modules it imports), common objects and
    setting, also if another one fails. ParameterError if workers cannot import the function, or
    a value has another type than listed.

    Parameters
    ----------
    function : callable
        A function at the top level of a module. Called with the setting and the common objects as
        keyword arguments, it returns one row (a mapping), or several (mappings or a DataFrame).
    grid : iterable of mapping
        The settings. Their values, like those of rows, are numbers, texts, booleans or None.
    workers : int, optional
        Processes; by default $ANONPAPER_WORKERS, or one per core. 1 computes in this process.
    name : str, optional
        Shown beside the progress bar (``TQDM_DISABLE=1`` hides it).
    common : mapping, optional
        Objects for every call, such as a Microdata; sent once to each worker.
    timing : bool, optional
        Whether the function measures run times by :func:`timed`: settings then run one after
        the other in this process, each time again.

    Examples
    --------
    >>> import os, tempfile
    >>> os.environ["ANONPAPER_CACHE"] = tempfile.mkdtemp()
    >>> cells = [{"s": '{"stars": 8}'}, {"s": '{"stars": 5}'}]
    >>> run_grid(json.loads, cells, workers=1)
                  s  stars
    0  {"stars": 8}      8
    1  {"stars": 5}      5
    >>> del os.environ["ANONPAPER_CACHE"]
    """
    settings = [dict(setting) for setting in grid]
    common = dict(common or {})
    _check_importable(function)
    if timing:
        workers = 1
    if workers is None:
        cores = (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
        workers = int(os.environ.get("ANONPAPER_WORKERS") or cores)
    check_integer("workers", workers, 1)

    label = name or function.__name__
    inputs = [code_digest(function.__module__), _fingerprint(common)]
    folder = cache_folder() / "grids" / f"{function.__module__}.{function.__qualname__}"
    files = [folder / f"{sha256(_as_json([*inputs, setting]))}.json" for setting in settings]

    rows: list[list[dict] | None] = [
        None if timing or not file.exists() else json.loads(file.read_text()) for file in files
    ]
    missing = [number for number, found in enumerate(rows) if found is None]
    # tqdm's notebook bar does not read this variable itself
    hidden = os.environ.get("TQDM_DISABLE", "0") not in ("", "0")
    found = len(settings) - len(missing)
    with tqdm(total=len(settings), initial=found, desc=label, disable=hidden) as bar:
        todo = [(number, settings[number]) for number in missing]
        workers = min(workers, len(missing))
        for number, result in _compute(function, todo, common, workers, timing):
            content = _as_json(_as_rows(result))
            rows[number] = json.loads(content)  # fresh and kept results look the same
            if not timing:
                write_whole(files[number], content)
            bar.update()
    return _tidy(settings, rows)


def timed(
    call: Callable[..., Any], repeats: int = 3, *, fresh: Callable[[], Any] | None = None
) -> tuple[float, Any]:
    """Return the shortest of several runs in processor seconds, and what the last one returned.

    The first run may compile and fill caches, and what else the machine does can only add to a
    run: the least of them is what the work takes. Seconds are those of this process, of all its
    threads; a grid that measures them has ``timing=True``.

    Parameters
    ----------
    call : callable
        What is measured.
    repeats : int, optional
        Runs, at least 2.
    fresh : callable, optional
        Makes the argument of each run, outside of the clock: a table that has cached nothing.

    Raises
    ------
    ParameterError
        There are fewer than two runs, or a grid without `timing` measures them.

    Examples
    --------
    >>> seconds, total = timed(sum, fresh=lambda: range(1000))
    >>> total, 0 <= seconds < 1
    (499500, True)
    """
    check_integer("repeats", repeats, 2)
    if not _may_time:
        raise ParameterError("run times are measured alone: call run_grid(..., timing=True)")
    given, result = (), None

    def prepare() -> None:
        nonlocal given
        given = () if fresh is None else (fresh(),)

    def run() -> None:
        nonlocal result
        result = call(*given)

    clock = timeit.Timer(run, prepare, time.process_time)
    with at_once():  # also loops that would be interpreted on few rows
        return min(clock.repeat(repeats, number=1)), result


def _compute(
    function: Callable, todo: Sequence[tuple[int, dict]], common: dict, workers: int, timing: bool
) -> Iterator[tuple[int, Any]]:
    """Yield (number, result) of each setting as it is finished."""
    if workers <= 1:
        for number, setting in todo:
            yield number, _call(function, setting, common, timing)
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        joblib.parallel_config("loky", inner_max_num_threads=1),
    ):
        (file,) = joblib.dump(common, Path(folder, "common"))
        pool = joblib.Parallel(workers, batch_size=1, return_as="generator_unordered")
        try:
            yield from pool(joblib.delayed(_numbered)(*task, function, file) for task in todo)
        finally:  # also after an interruption; the next grid's workers import other code
            from joblib.externals.loky import get_reusable_executor  # not where no process starts

            get_reusable_executor().shutdown(kill_workers=True)


def _numbered(number: int, setting: dict, function: Callable, file: str) -> tuple[int, Any]:
    """Call the function in a worker, with the common objects of a file."""
    return number, _call(function, setting, _loaded(file))


@cache
def _loaded(file: str) -> dict:
    """Read the common objects, once in each worker."""
    return joblib.load(file)


def _call(function: Callable, setting: dict, common: dict, timing: bool = False) -> Any:
    """Call the function for one setting, which an exception then names."""
    global _may_time
    before, _may_time = _may_time, timing
    try:
        return function(**setting, **common)
    except Exception as error:
        error.add_note(f"in the setting {setting}")
        raise
    finally:
        _may_time = before


def _tidy(settings: Sequence[dict], rows: Sequence[list[dict]]) -> pd.DataFrame:
    """Return settings and their rows side by side, one line per row."""
    for setting, found in zip(settings, rows, strict=True):
        double = sorted(set(setting).intersection(*[set().union(*found)]))
        if double:
            raise ParameterError(f"columns {double} are in setting and result: rename one of them")
    return pd.DataFrame(
        [
            {**setting, **row}
            for setting, found in zip(settings, rows, strict=True)
            for row in found
        ]
    )


def _as_rows(result: Row | Iterable[Row] | pd.DataFrame) -> list[dict]:
    if isinstance(result, pd.DataFrame):
        return result.to_dict("records")
    if isinstance(result, Mapping):
        return [dict(result)]
    rows = list(result) if isinstance(result, Iterable) else [result]
    if not all(isinstance(row, Mapping) for row in rows):
        raise ParameterError(
            f"function must return mappings or a DataFrame, got {type(result).__name__}"
        )
    return [dict(row) for row in rows]


def _check_importable(function: Callable) -> None:
    """Raise ParameterError unless workers can import the function by its name."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if module not in (None, "__main__"):
        found = getattr(importlib.import_module(module), name, None)
        if found is function:
            return
    raise ParameterError(
        f"run_grid cannot hand {name or function!r} to its workers: define it at the top level of "
        "a module (a file beside the notebook will do), not in a notebook or in a function"
    )


def _fingerprint(common: Mapping[str, Any]) -> str:
    return joblib.hash(_content(common), "sha1")


def _content(value: Any) -> Any:
    """Return the content of a table without its caches; also in collections."""
    if isinstance(value, Microdata):
        roles = [value.attribute(name) for name in [*value.qi, *value.sensitives]]
        domains = [(a.name, list(a.values), a.numeric, a.ordered) for a in roles]
        codes = value.codes, [value.codes_of(name) for name in value.sensitives]
        marks = value.missing, value.dropped, value.synthetic, str(value.origin)
        others = value.frame.drop(columns=[a.name for a in roles])
        return value.qi, value.sensitive, value.person, domains, codes, marks, _content(others)
    if isinstance(value, pd.DataFrame):
        # lists have no hash
        texts = {name: str for name, kind in value.dtypes.items() if kind.kind == "O"}
        rows = pd.util.hash_pandas_object(value.astype(texts)).to_numpy()
        return list(value.columns), [str(dtype) for dtype in value.dtypes], rows
    if isinstance(value, Mapping):
        return {name: _content(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_content(item) for item in value]
    return value


def _as_json(content: Any) -> str:
    """Return numbers, texts, booleans, None and lists of them as JSON, each float exactly."""
    try:
        return json.dumps(content, default=plain_values)
    except TypeError as error:
        raise ParameterError(
            f"settings and results are numbers, texts, booleans, None or lists of them: {error}; "
            "pass other objects by `common`"
        ) from None


def plain_values(value: Any) -> Any:
    """Return numpy and pandas values as JSON types."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, pd.Index | pd.Series):
        return value.tolist()
    raise TypeError(f"got {type(value).__name__}")

"""Grids of runs, and the results a notebook leaves behind.

`run_grid` calls one function for every setting of a grid: in parallel, resumed where an earlier
run was cut off, and with the same rows in the same order however many workers there are.
`Results` saves a notebook's figures and tables, notes beside them what they were made from, and
judges the paper's claims from them.

Three variables of the environment say where things go: ``ANONPAPER_PROFILE`` (``quick`` or
``paper``), ``ANONPAPER_FIGURES`` (the folder of all results; figures/<profile> of the project by
default) and ``ANONPAPER_CACHE`` (finished cells of a grid; data/cache by default).
"""

import importlib
import json
import multiprocessing
import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from tqdm.auto import tqdm

from anonpaper import claims, plots
from anonpaper.datasets.places import cache_folder
from anonpaper.errors import ParameterError, check_integer
from anonpaper.microdata import Microdata
from anonpaper.provenance import (
    code_digest,
    figures_root,
    profile,
    sha256,
    write_whole,
)

# packages whose version may change a number or a picture
RECORDED_PACKAGES = (
    "ctgan", "matplotlib", "networkx", "numba", "numpy", "pandas", "pyarrow", "pymoo",
    "scikit-learn", "scipy", "sdv", "torch",
)
# libraries read these once, when they are loaded: workers get them in their environment
THREAD_LIMITS = ("MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")

Row = Mapping[str, Any]


class Results:
    """The figures and tables of one notebook, each saved with what it was made from.

    Files go to <root>/<paper>/, where <root> is $ANONPAPER_FIGURES or figures/<profile>. What they
    were made from goes to <root>/manifest/<paper>/<notebook>.json, which is written anew after
    each of them; `make` merges these into <root>/manifest.json.

    Parameters
    ----------
    paper : str
        Key of the paper and name of its folder, e.g. ``"xiao2010"``.
    notebook : str
        Name of the notebook's file without folder and ending, e.g. ``"3_star_minimization"``.
    parameters : mapping, optional
        The notebook's parameters as they were used, e.g. ``dict(levels=levels, seed=seed)``.
    microdata : sequence of Microdata, optional
        The tables the results come from. Figures made from a stand-in are stamped "stand-in data";
        a table that stands for another one is named under the figure.

    Raises
    ------
    ParameterError
        If a name is not made of lower-case letters, digits, ``_``, ``-`` and ``.``.

    Examples
    --------
    >>> import os, tempfile
    >>> os.environ["ANONPAPER_FIGURES"] = folder = tempfile.mkdtemp()
    >>> results = Results("xiao2010", notebook="1_example", parameters={"l": 2})
    >>> frame = pd.DataFrame({"l": [2, 4], "stars": [8, 12]})
    >>> _ = results.table(frame, "stars", caption="Stars by l", of="Table 3")
    >>> sorted(path.name for path in Path(folder, "xiao2010").iterdir())
    ['stars.csv', 'stars.tex']
    >>> del os.environ["ANONPAPER_FIGURES"]
    """

    def __init__(self, paper: str, *, notebook: str, parameters: Mapping | None = None,
                 microdata: Sequence[Microdata] = ()):
        self.paper = _check_name("paper", paper)
        self.notebook = _check_name("notebook", notebook)
        self.parameters = dict(parameters or {})
        self.microdata = tuple(microdata)
        self.root = figures_root()
        self._outputs: dict[str, dict] = {}

    def figure(self, figure: Figure, name: str, *, data: pd.DataFrame, of: str = "",
               timing: bool = False, microdata: Sequence[Microdata] | None = None) -> None:
        """Save a figure as svg and png, and the numbers it shows as csv.

        The picture files are the same byte for byte from run to run, given the same numbers.

        Parameters
        ----------
        figure : Figure
        name : str
            Name of the files, without ending; unique within the paper.
        data : DataFrame
            The plotted numbers.
        of : str, optional
            Which of the paper's figures this is, e.g. ``"Figure 2a"``; empty for one of our own.
        timing : bool, optional
            Whether it shows run times, so that no two runs give the same picture.
        microdata : sequence of Microdata, optional
            The tables behind this figure, where they are not all of the notebook's.

        Raises
        ------
        ParameterError
            If the name is malformed or was used for another output of this notebook.
        """
        tables = self.microdata if microdata is None else tuple(microdata)
        if any(getattr(table.origin, "stand_in", False) for table in tables):
            plots.stamp(figure)
        substitutes = [_in_place_of(table) for table in tables]
        if any(substitutes):
            plots.footer(figure, "data: " + "; ".join(dict.fromkeys(filter(None, substitutes))))
        files = {
            "svg": plots.render(figure, "svg"),
            "png": plots.render(figure, "png"),
            "csv": _csv(data),
        }
        self._save(files, name, tables, kind="figure", of=of, timing=timing)

    def table(self, frame: pd.DataFrame, name: str, *, caption: str, of: str = "",
              timing: bool = False, microdata: Sequence[Microdata] | None = None) -> pd.DataFrame:
        """Save a table as csv with all digits, and as LaTeX (booktabs) with four of them.

        Parameters
        ----------
        frame : DataFrame
            Its index is written where it has a name or is not just 0, 1, 2, ...
        name, of, timing, microdata
            As for `figure`.
        caption : str
            Plain text; characters that are special to LaTeX are escaped, here and in the cells.

        Returns
        -------
        DataFrame
            The frame given, so that the last line of a cell can show it.

        Raises
        ------
        ParameterError
            If the name is malformed or was used for another output of this notebook.
        """
        tables = self.microdata if microdata is None else tuple(microdata)
        latex = frame.to_latex(
            index=_index_matters(frame), escape=True, na_rep="", float_format="{:.4g}".format,
            caption=_escape_latex(caption), label=f"tab:{self.paper}-{name}", position="htbp",
        )
        files = {"csv": _csv(frame), "tex": latex}
        self._save(files, name, tables, kind="table", of=of, timing=timing, caption=caption)
        return frame

    def claims(self, *, timing: bool = False) -> pd.DataFrame:
        """Judge the claims that this notebook measures, from the tables it has saved.

        Nothing is written: the report judges the same claims from the same files.

        Parameters
        ----------
        timing : bool, optional
            Whether to judge the claims that rest on run times, so that no two runs give the same
            table, instead of all others.

        Returns
        -------
        DataFrame
            For the end of the notebook: where, claim, published, measured, verdict and reason.

        Raises
        ------
        ParameterError
            If :mod:`anonpaper.claims` has no such claims of this notebook.
        """
        timed = {Path(path).stem for path, about in self._outputs.items() if about["timing"]}
        chosen = [claim.id for claim in claims.of_paper(self.paper)
                  if claim.notebook == self.notebook
                  and timing == (not timed.isdisjoint(claim.tables))]
        if not chosen:
            raise ParameterError(
                f"anonpaper/claims/{self.paper}.py has no claims of {self.notebook!r} that rest "
                f"on {'run times' if timing else 'other tables than run times'}"
            )
        judged = claims.judge(self.paper, self.root / self.paper).set_index("id").loc[chosen]
        return judged[["where", "claim", "published", "measured", "verdict", "reason"]]

    def _save(self, files: Mapping[str, bytes | str], name: str, tables: Sequence[Microdata],
              **about) -> None:
        """Write the files of one output, and the manifest with them in it."""
        _check_name("name", name)
        taken = {Path(path).stem for path in self._outputs}
        if name in taken:
            raise ParameterError(f"two outputs of {self.notebook} are named {name!r}")
        data = [_describe(table) for table in tables]
        for ending, content in files.items():
            write_whole(self.root / self.paper / f"{name}.{ending}", content)
            self._outputs[f"{self.paper}/{name}.{ending}"] = {
                "sha256": sha256(content), **about, "data": data,
            }
        self._write_manifest()

    def _write_manifest(self) -> None:
        """Write the notebook's share of the manifest."""
        manifest = {
            "paper": self.paper,
            "notebook": f"notebooks/{self.paper}/{self.notebook}.ipynb",
            "profile": profile(),
            "parameters": self.parameters,
            "code": code_digest(),
            "python": platform.python_version(),
            "packages": _package_versions(),
            "outputs": self._outputs,
        }
        path = self.root / "manifest" / self.paper / f"{self.notebook}.json"
        write_whole(path, json.dumps(manifest, indent=1, default=_plain) + "\n")


def run_grid(function: Callable[..., Row | Iterable[Row] | pd.DataFrame], grid: Iterable[Row], *,
             workers: int | None = None, name: str | None = None, resume: bool = True,
             common: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Call a function for every setting of a grid and return all rows as one tidy table.

    The rows stand in the order of the grid and are the same for any number of workers, as long as
    the function's result depends on its parameters alone: give every random step a seed among
    them. Each finished setting is kept in the cache, so that a run that was cut off, or repeated
    with a larger grid, computes only what is missing. A kept result is used only while the
    function's code (and that of the modules of anonpaper it imports), the common objects and the
    setting are the same.

    Parameters
    ----------
    function : callable
        A function of a module, found there by its name: workers import it. Called with the
        setting and the common objects as keyword arguments, it returns one row (a mapping), or
        several (an iterable of mappings or a DataFrame). Values are numbers, texts, booleans or
        None.
    grid : iterable of mapping
        The settings: keyword arguments that are numbers, texts, booleans, None, or lists of them.
    workers : int, optional
        Processes, at least 1; by default one per core that this process may use. Each worker runs
        its libraries with one thread, so that workers do not fight for cores; 1 computes in this
        process. Measure run times with 1.
    name : str, optional
        Shown beside the progress bar, which goes to standard error (``TQDM_DISABLE=1`` hides it).
    resume : bool, optional
        Whether kept results are used. Results are kept either way.
    common : mapping, optional
        Objects that every call gets, such as a Microdata or a dict of them; sent once to each
        worker.

    Returns
    -------
    DataFrame
        The columns of the settings, then those of the function's rows.

    Raises
    ------
    ParameterError
        If workers cannot import the function, a value is of another type than those above, or a
        result's column is also a setting's.

    Notes
    -----
    An exception in the function ends the run and names the setting; what was finished is kept.

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
    if workers is None:
        workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") \
            else os.cpu_count() or 1
    check_integer("workers", workers, 1)

    label = name or function.__name__
    inputs = [code_digest(function.__module__), _fingerprint(common)]
    folder = cache_folder() / "grids" / f"{function.__module__}.{function.__qualname__}"
    files = [folder / f"{sha256(_as_json([*inputs, setting]))}.json" for setting in settings]

    rows: list[list[dict] | None] = [
        json.loads(file.read_text()) if resume and file.exists() else None for file in files
    ]
    missing = [number for number, found in enumerate(rows) if found is None]
    # tqdm's notebook bar does not read this variable itself
    hidden = os.environ.get("TQDM_DISABLE", "0") not in ("", "0")
    found = len(settings) - len(missing)
    with tqdm(total=len(settings), initial=found, desc=label, disable=hidden) as bar:
        todo = [(number, settings[number]) for number in missing]
        for number, result in _compute(function, todo, common, min(workers, len(missing))):
            content = _as_json(_as_rows(result))
            write_whole(files[number], content)
            rows[number] = json.loads(content)   # fresh and kept results look the same
            bar.update()
    return _tidy(settings, rows)


def _compute(function: Callable, todo: Sequence[tuple[int, dict]], common: dict,
             workers: int) -> Iterator[tuple[int, Any]]:
    """Yield (number, result) of each setting as it is finished."""
    if workers <= 1:
        for number, setting in todo:
            yield number, _call(function, setting, common)
        return
    # spawned, not forked: a forked copy of a kernel can hang in the threads it does not have
    context = multiprocessing.get_context("spawn")
    with _one_thread_each(), ProcessPoolExecutor(
        workers, context, initializer=_keep, initargs=(function, common)
    ) as pool:
        numbers = {pool.submit(_call_kept, setting): number for number, setting in todo}
        try:
            for future in as_completed(numbers):
                yield numbers[future], future.result()
        except BaseException:   # an interruption too: leave nothing behind that still computes
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_kept: dict[str, Any] = {}   # what a worker process was given when it started


def _keep(function: Callable, common: dict) -> None:
    """Keep, in a new worker, what every call needs."""
    _kept.update(function=function, common=common)


def _call_kept(setting: dict) -> Any:
    """Call the function that a worker keeps."""
    return _call(_kept["function"], setting, _kept["common"])


def _call(function: Callable, setting: dict, common: dict) -> Any:
    """Call the function for one setting; an exception says for which."""
    try:
        return function(**setting, **common)
    except Exception as error:
        error.add_note(f"in the setting {setting}")
        raise


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes started meanwhile use one thread for each numerical library."""
    before = {variable: os.environ.get(variable) for variable in THREAD_LIMITS}
    os.environ.update(dict.fromkeys(THREAD_LIMITS, "1"))
    try:
        yield
    finally:
        for variable, value in before.items():
            if value is None:
                del os.environ[variable]
            else:
                os.environ[variable] = value


def _tidy(settings: Sequence[dict], rows: Sequence[list[dict]]) -> pd.DataFrame:
    """Return settings and their rows side by side, one line per row."""
    for setting, found in zip(settings, rows, strict=True):
        double = sorted(set(setting).intersection(*[set().union(*found)]))
        if double:
            raise ParameterError(
                f"columns {double} are in the setting and in the result: name one otherwise"
            )
    return pd.DataFrame([
        {**setting, **row} for setting, found in zip(settings, rows, strict=True) for row in found
    ])


def _as_rows(result: Row | Iterable[Row] | pd.DataFrame) -> list[dict]:
    """Return a function's result as a list of rows."""
    if isinstance(result, pd.DataFrame):
        return result.to_dict("records")
    if isinstance(result, Mapping):
        return [dict(result)]
    rows = list(result) if isinstance(result, Iterable) else [result]
    if not all(isinstance(row, Mapping) for row in rows):
        raise ParameterError(
            "a grid's function returns a mapping, an iterable of mappings or a DataFrame, "
            f"got {type(result).__name__}"
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
    """Return a digest of the common objects' content."""
    return joblib.hash(_content(common), "sha1")


def _content(value: Any) -> Any:
    """Return what makes a table what it is, not what it has cached; also in collections."""
    if isinstance(value, Microdata):
        roles = value.attributes
        if value.sensitive is not None:
            roles = (*roles, value.sensitive_attribute)
        domains = [(a.name, list(a.values), a.numeric, a.ordered) for a in roles]
        codes = value.codes, None if value.sensitive is None else value.sensitive_codes
        others = value.frame.drop(columns=[a.name for a in roles])
        return value.qi, value.sensitive, value.missing, domains, codes, _content(others)
    if isinstance(value, pd.DataFrame):
        texts = {name: str for name in value.select_dtypes(object).columns}  # lists have no hash
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
        return json.dumps(content, default=_plain)
    except TypeError as error:
        raise ParameterError(
            f"settings and results are numbers, texts, booleans, None or lists of them: {error}; "
            "pass other objects by `common`"
        ) from None


def _plain(value: Any) -> Any:
    """Return numpy and pandas values as what JSON knows."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, pd.Index | pd.Series):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is none of these")


def _check_name(what: str, name: str) -> str:
    """Return a name that can be part of a file's name, or raise ParameterError."""
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", name):
        raise ParameterError(
            f"{what} becomes part of a file name: lower-case letters, digits, '_', '-' and '.', "
            f"got {name!r}"
        )
    return name


def _describe(table: Microdata) -> dict:
    """Return what the manifest says of a table."""
    origin = table.origin
    about = {"origin": None if origin is None else str(origin)}
    if is_dataclass(origin):
        about |= asdict(origin)
    return {**about, "rows": table.n, "qi": list(table.qi), "sensitive": table.sensitive}


def _in_place_of(table: Microdata) -> str | None:
    """Return "occ, in place of ..." for a table that stands for another one.

    What stands in brackets is left out: the line has to fit under a figure of one column.
    """
    theirs = getattr(table.origin, "substitute_for", None)
    return f"{table.origin.dataset}, in place of {theirs.partition(' (')[0]}" if theirs else None


def _package_versions() -> dict[str, str]:
    """Return the versions of the packages that may change a result, where installed."""
    found = {}
    for package in RECORDED_PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _index_matters(frame: pd.DataFrame) -> bool:
    """Return whether the index says more than the number of the row."""
    return frame.index.name is not None or not frame.index.equals(pd.RangeIndex(len(frame)))


def _csv(frame: pd.DataFrame) -> str:
    """Return a frame as csv with all digits."""
    return frame.to_csv(index=_index_matters(frame), lineterminator="\n")


def _escape_latex(text: str) -> str:
    """Return plain text with the characters that are special to LaTeX escaped."""
    special = {character: f"\\{character}" for character in "&%$#_{}"}
    special |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
                "\\": r"\textbackslash{}"}
    return text.translate(str.maketrans(special))

"""What papers claim, as functions of saved tables, and what the tables say.

A claim is a function in notebooks/<paper>/claims.py. Its arguments are tables that notebooks
saved, its docstring is the claim in our words, and it returns a finding of one of the helpers
below. CONTRIBUTING.md, "Claims", explains the rules.
"""

from __future__ import annotations

import inspect
import math
import runpy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.compendium import intervals
from anonpaper.compendium.intervals import LEVEL, level_of_each
from anonpaper.compendium.tables import notebooks_folder, read_table
from anonpaper.errors import ParameterError

REPRODUCED, IN_PART, NOT_REPRODUCED = "reproduced", "in part", "not reproduced"
UNDECIDED, CANNOT_BE_TESTED = "undecided", "cannot be tested"
VERDICTS = (NOT_REPRODUCED, UNDECIDED, CANNOT_BE_TESTED, IN_PART, REPRODUCED)  # the worst first
MOSTLY = 0.8  # share of the settings from which "everywhere" holds in part
FEWEST_RUNS = 6  # with fewer nearly any number could be another run


@dataclass(frozen=True)
class Finding:
    """What tables say about a claim: verdict, number, interval, why, and other readings."""

    verdict: str
    measured: str = ""
    interval: str = ""
    why: str = ""
    otherwise: str = ""

    def read_as(self, reading: str, other: Finding) -> Finding:
        """Return this finding with another way to read the paper, if its verdict differs."""
        if other.verdict in (self.verdict, UNDECIDED, CANNOT_BE_TESTED):
            return self
        told = f"{self.otherwise} Read as {reading}, it is {other.verdict}."
        return replace(self, otherwise=told.strip())


@dataclass(frozen=True)
class Claim:
    """A function that judges a claim of a paper, where the paper says it, and in which words.

    `text` is the claim in our words, without a full stop, and `note` how this differs from the
    paper. `tables` are the arguments of `judge`: tables that the paper's notebooks saved.
    """

    where: str
    quote: str
    judge: Callable[..., Finding]
    name: str
    text: str
    note: str
    tables: tuple[str, ...]


def claim(where: str, *, quote: str = "") -> Callable[[Callable], Claim]:
    """Make a function of saved tables a claim: where a paper says it, and in which words."""

    def made(judge: Callable[..., Finding]) -> Claim:
        text, *notes = (" ".join(part.split()) for part in inspect.getdoc(judge).split("\n\n"))
        about = judge.__name__, text.removesuffix("."), " ".join(notes)
        return Claim(where, quote, judge, *about, tuple(inspect.signature(judge).parameters))

    return made


def claims_of(paper: str) -> list[Claim]:
    """Return the claims of a paper, in the order of its claims.py; none without such a file."""
    return [value for value in _module(paper).values() if isinstance(value, Claim)]


def about(paper: str) -> str:
    """Return what differs from the paper's setting: the docstring of its claims.py."""
    return inspect.cleandoc(_module(paper).get("__doc__") or "")


@cache
def _module(paper: str) -> dict[str, object]:
    file = notebooks_folder() / paper / "claims.py"
    return runpy.run_path(str(file), run_name=f"{paper}_claims") if file.is_file() else {}


def judged(paper: str, folder: Path) -> list[tuple[Claim, Finding]]:
    """Judge the claims of a paper from the csv files in its folder of results."""
    read = cache(read_table)

    def finding(one: Claim) -> Finding:
        files = [folder / f"{name}.csv" for name in one.tables]
        for file in files:
            if not file.is_file():
                return cannot_be_tested(f"{file.name} is not there: its notebook has not run")
            if read(file).empty:
                return cannot_be_tested(f"{file.name} has no rows")
        return one.judge(*(read(file).copy() for file in files))

    return [(one, finding(one)) for one in claims_of(paper)]


# ---- numbers in words --------------------------------------------------------------------------


def in_words(value: float, show: str = "{:.3g}") -> str:
    """Return a number in words, thousands in full."""
    text = show.format(value)
    return f"{value:,.0f}" if "e+" in text else text


def span(values, show: str = "{:.3g}") -> str:
    """Return the least and the largest number in words, once where they look alike."""
    values = np.asarray(values, dtype=float)
    ends = (in_words(end, show) for end in (np.nanmin(values), np.nanmax(values)))
    return " to ".join(dict.fromkeys(ends))


def listed(values: pd.Series, show: str = "{:.3g}") -> str:
    """Return the numbers of a Series by their index: "a: 1, b: 2"."""
    told = zip(settings(values.index), values, strict=True)
    return ", ".join(f"{name}: {in_words(value, show)}" for name, value in told)


def settings(index: pd.Index) -> list[str]:
    """Return the entries of an index in words, each number with the name of its level."""

    def told(value, level) -> str:
        return f"{level} = {value}" if level and not isinstance(value, str) else str(value)

    parts = (at if isinstance(at, tuple) else (at,) for at in index)
    return [" ".join(map(told, at, index.names)) for at in parts]


def _reach(ends, show: str = "{:.3g}") -> str:
    """Return intervals in words, several by their outer ends."""
    return f"{len(ends)} intervals, " * (len(ends) > 1) + span(ends, show)


# ---- findings ---------------------------------------------------------------------------------
# `why` says why a claim is not reproduced. Otherwise a helper tells at how many settings it is.


def holds(*conditions, in_part: bool = False, measured: str = "", why: str = "") -> Finding:
    """Judge exact numbers: every condition is true, a Series of them in each row."""
    each = [np.ravel(np.asarray(condition, dtype=bool)) for condition in conditions]
    if not all(map(len, each)):
        return cannot_be_tested("there are no rows to judge", measured)
    true, number = sum(map(np.sum, each)), sum(map(len, each))
    told = f"true in {true:,} of {number:,} rows" if true < number > len(each) else ""
    return _finding(true == number, in_part, measured, "", why, told)


def holds_everywhere(condition, *, in_part=MOSTLY, measured: str = "", why: str = "") -> Finding:
    """Judge exact numbers at several settings: in part if true at the share `in_part` of them."""
    true, n = np.sum(np.ravel(condition)), np.size(condition)
    measured = measured or f"at {true} of {n} settings"
    return holds(condition, in_part=true >= in_part * n - 1e-9, measured=measured, why=why)


def means(draws, *, within=(-np.inf, np.inf), **options) -> Finding:
    """Judge means over draws at each setting, by Student's t; equal ones by bounds on both sides.

    `draws` is a DataFrame or a list of arrays, settings x draws, or a pair of them with
    independent draws, whose difference, second - first, is judged. No draw lies outside of
    `within`. Other options go to `by_intervals`.
    """
    pair = draws if isinstance(draws, tuple) else (draws,)
    rows = [*zip(*map(_rows, pair), strict=True)]
    alone = partial(intervals.mean_interval, within=within)
    one = alone if len(pair) == 1 else intervals.welch_interval
    if rows and "measured" not in options:
        centres = [row[-1].mean() - (row[0].mean() if len(row) > 1 else 0) for row in rows]
        options["measured"] = f"{span(centres, options.get('show', '{:.3g}'))} on average"
    return by_intervals(lambda level: [one(*row, level=level) for row in rows], **options)


def share(condition, **options) -> Finding:
    """Judge the share of independent runs that satisfy a condition, by an exact interval."""
    true, n = int(np.sum(np.ravel(condition))), np.size(condition)
    told = {"measured": f"{true} of {n}", "show": "{:.0%}"}
    return by_intervals([intervals.share_interval(true, n)] if n else [], **(told | options))


def shown_once(shows, measured: str = "") -> Finding:
    """Judge what a paper shows of one run, or of one setting that it does not print.

    Reproduced if at least half of our draws show it, in part if one in twenty does.
    """
    often = np.mean(np.ravel(shows))
    return _finding(often >= 0.5, often >= 0.05, measured, "", "", "")


def by_intervals(
    ends, *, above: float = -np.inf, below: float = np.inf, in_part: float = MOSTLY,
    show: str = "{:.3g}", measured: str = "", why: str = "",
) -> Finding:  # fmt: skip
    """Judge intervals, one for each setting, that have to lie from `above` to `below`.

    `ends` is an array or a function of their level, and `show` the format of a number. A claim is
    reproduced if all n settings support it, and in part if m do, the share `in_part`; each by an
    interval at the level 1 - 0.05 / (n - m + 1). One setting that contradicts it by an interval at
    the level 1 - 0.05 / n refutes it. Else it is undecided.
    """
    at = ends if callable(ends) else lambda level: ends
    if not (n := len(at(LEVEL))):
        return cannot_be_tested("there are no settings to judge", measured)
    for held in (n, math.ceil(in_part * n - 1e-9), 0):
        level = level_of_each(n - held + 1 if held else n)
        low, high = np.transpose(at(level))
        support, against = (low >= above) & (high <= below), (low > below) | (high < above)
        if support.sum() >= held:
            break
    counts = f"supported at {support.sum()}, contradicted at {against.sum()} of {n} settings"
    together = level == level_of_each(n)
    how = f"{100 * (LEVEL if together else level):.3g} %"
    how += (" together" if together else " each") * (n > 1)
    interval = f"{_reach(at(level), show)} ({how})"
    found = _finding(held == n, held, measured, interval, why, counts * (n > 1))
    return found if held or against.any() else replace(found, verdict=UNDECIDED)


def one_more_run(runs: pd.DataFrame, published) -> Finding:
    """Judge published single runs, one for each row: whether each could be another of our runs."""
    rows, published = _rows(runs), np.asarray(published, dtype=float)
    if published.shape != (len(rows),) or np.isnan(published).any():
        raise ParameterError(f"one published number for each of {len(rows)} settings: {published}")

    def inside(level: float) -> np.ndarray:
        low, high = np.transpose([intervals.prediction_interval(row, level=level) for row in rows])
        return (low <= published) & (published <= high)

    fit, ends = inside(LEVEL), _reach([intervals.prediction_interval(row) for row in rows])
    most, told = fit.mean() >= MOSTLY, f"{fit.sum()} of {len(fit)} published numbers fit"
    interval = f"of one run, {ends} (95 % each)"
    if most and min(map(len, rows)) < FEWEST_RUNS:
        return Finding(UNDECIDED, told, interval, told)
    whole = most and inside(level_of_each(len(rows))).all()
    return _finding(whole, most, told, interval, "", told)


def cannot_be_tested(reason: str, measured: str = "") -> Finding:
    """Return that a claim cannot be tested here, and what the test lacks."""
    return Finding(CANNOT_BE_TESTED, measured, why=reason)


def all_of(*findings: Finding) -> Finding:
    """Return one finding for several parts of a claim: the worst verdict, with its reason."""
    worst = min(findings, key=lambda found: VERDICTS.index(found.verdict))
    joined = {"measured": "; ", "interval": "; ", "otherwise": " "}
    told = {name: [getattr(one, name) for one in findings] for name in joined}
    return replace(worst, **{name: joined[name].join(filter(None, told[name])) for name in joined})


def _finding(whole, part, measured: str, interval: str, why: str, told: str) -> Finding:
    verdict = REPRODUCED if whole else IN_PART if part else NOT_REPRODUCED
    return Finding(verdict, measured, interval, why if why and not whole else told)


def _rows(draws) -> list[np.ndarray]:
    """Return settings x draws as one array for each setting."""
    rows = draws.to_numpy() if isinstance(draws, pd.DataFrame) else draws
    rows = [np.asarray(row, dtype=float) for row in rows]
    if any(row.ndim != 1 or not row.size or np.isnan(row).any() for row in rows):
        raise ParameterError("draws are settings x draws, and no measurement is missing")
    return rows


def steps(values: pd.Series | pd.DataFrame, along: str) -> pd.Series | pd.DataFrame:
    """Return how much values change from each place along a level of the index to the next."""
    others = [name for name in values.index.names if name != along]
    ordered = values.sort_index(level=along, sort_remaining=False)
    groups = ordered.groupby(level=others, sort=False) if others else ordered.groupby(lambda _: 0)
    return groups.diff()[groups.cumcount() > 0]

"""What the papers claim, and how each claim is judged from measured tables.

A claim that does not replicate is as publishable as one that does, so every paper has a module
here with one entry per claim: the statement in our words, where the paper makes it, the tables of
our notebooks it is judged from, and a function that reads a verdict off these tables. Notebooks
and report both judge by `judge`, from the csv files that the notebooks save, so that they cannot
disagree, and a verdict follows from measured numbers, never from typed-in ones.

A published number stands in the entry, or comes from data/reference where the paper's table or
figure is kept there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from inspect import getdoc
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.errors import ParameterError

__all__ = [
    "COLUMNS",
    "DIRECTION",
    "EVERYWHERE",
    "EXACT",
    "MOSTLY",
    "NOT_REPRODUCED",
    "NOT_RUN",
    "NOT_TESTABLE",
    "REPRODUCED",
    "VERDICTS",
    "Claim",
    "Finding",
    "judge",
    "judge_order",
    "judge_rising",
    "judge_statement",
    "judge_value",
    "of_paper",
    "over_seeds",
    "read_table",
]

REPRODUCED = "reproduced"
DIRECTION = "reproduced in direction"
NOT_REPRODUCED = "not reproduced"
NOT_TESTABLE = "not testable here"
NOT_RUN = "not run"
VERDICTS = (REPRODUCED, DIRECTION, NOT_REPRODUCED, NOT_TESTABLE, NOT_RUN)

MOSTLY = 0.8  # share of the settings from which an order counts as reproduced in direction
EVERYWHERE = f"at every setting; in direction: at {100 * MOSTLY:g} % of them"
EXACT = "exact"
COLUMNS = (
    "id",
    "paper",
    "notebook",
    "where",
    "claim",
    "tables",
    "how",
    "published",
    "measured",
    "tolerance",
    "spread",
    "verdict",
    "reason",
)


@dataclass(frozen=True)
class Finding:
    """What the measured tables say about a claim.

    Parameters
    ----------
    measured : str or float
        What was measured. Numbers are shown with three significant digits.
    verdict : {"reproduced", "reproduced in direction", "not reproduced", "not testable here"}
    reason : str, optional
        Why it differs, where the numbers tell more than the reason of the claim.
    spread : str, optional
        How much it varies over seeds, where the tables hold several; see `over_seeds`.

    Raises
    ------
    ParameterError
        If the verdict is none of the four.
    """

    measured: str | float
    verdict: str
    reason: str = ""
    spread: str = ""

    def __post_init__(self):
        if self.verdict not in VERDICTS or self.verdict == NOT_RUN:
            raise ParameterError(
                f"a verdict is one of {', '.join(map(repr, VERDICTS[:-1]))}, got {self.verdict!r}"
            )


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, and how it is judged.

    Parameters
    ----------
    id : str
        Short and unique within the paper, e.g. ``"stars-l"``.
    paper : str
        Key of the paper, e.g. ``"xiao2010"``.
    notebook : str
        The notebook that measures it, e.g. ``"3_star_minimization"``.
    where : str
        Where the paper says it, e.g. ``"Section 6.1, Figure 2"``.
    claim : str
        What the paper says, in our words.
    tables : tuple of str
        The measured tables it is judged from: names of csv files that the notebook saves.
    judge : callable
        Given these tables as DataFrames, in their order, it returns a `Finding`. It is also
        given ``published`` and ``tolerance`` by these names where they are numbers. The first
        line of its docstring says how it judges.
    reason : str
        What explains a difference: other data, another machine, a smaller grid, a slip of the
        paper. Shown unless the claim is reproduced.
    published : str, float or callable, optional
        The paper's own number, where it prints one; a callable reads it from data/reference.
    tolerance : str or float, optional
        How far the measurement may be off, as `judge` applies it; a number is the largest
        relative difference from the published one.
    spread : str, optional
        Said in place of a spread over seeds where `judge` gives none.

    Raises
    ------
    ParameterError
        If a text is empty or no table is named.

    Examples
    --------
    >>> claim = Claim("fewer-stars", "xiao2010", "3_star_minimization", "Figure 3",
    ...     "TP+ keeps more values than TP", ("figure_3",), reason="other data",
    ...     judge=lambda stars: Finding("means", judge_order(stars["TP+"], stars["TP"])))
    >>> claim.judge(pd.DataFrame({"TP": [8, 9], "TP+": [6, 7]})).verdict
    'reproduced'
    """

    id: str
    paper: str
    notebook: str
    where: str
    claim: str
    tables: tuple[str, ...]
    judge: Callable[..., Finding]
    reason: str
    published: str | float | Callable[[], str | float] = ""
    tolerance: str | float = EVERYWHERE
    spread: str = "one run"

    def __post_init__(self):
        for field in (
            "id",
            "paper",
            "notebook",
            "where",
            "claim",
            "reason",
            "tolerance",
            "spread",
        ):
            if not str(getattr(self, field)).strip():
                raise ParameterError(f"claim {self.id!r}: {field} is empty")
        if not self.tables or isinstance(self.tables, str):
            raise ParameterError(
                f"claim {self.id!r}: tables is a tuple of names of csv files, got {self.tables!r}"
            )

    @property
    def how(self) -> str:
        """How it is judged from the tables: the first line of the judge's docstring."""
        function = self.judge.func if isinstance(self.judge, partial) else self.judge
        return (getdoc(function) or "").partition("\n")[0]


def of_paper(paper: str) -> tuple[Claim, ...]:
    """Return the claims of a paper, in its notebooks' order; none if it has no entries.

    Parameters
    ----------
    paper : str

    Raises
    ------
    ParameterError
        If two claims share an id, or one says it is another paper's.

    Examples
    --------
    >>> of_paper("xiao2010")[0].where
    'Table 2'
    """
    if not Path(__file__).parent.joinpath(paper, "claims.py").is_file():
        return ()
    entries = tuple(import_module(f"anonpaper.papers.{paper}.claims").CLAIMS)
    ids = [entry.id for entry in entries]
    twice = sorted({id for id in ids if ids.count(id) > 1})
    if twice:
        raise ParameterError(f"claims of {paper} share ids: {', '.join(twice)}")
    strangers = [entry.id for entry in entries if entry.paper != paper]
    if strangers:
        raise ParameterError(f"claims of another paper in the module of {paper}: {strangers}")
    return entries


def judge(paper: str, folder: Path, *, notebook: str | None = None) -> pd.DataFrame:
    """Judge the claims of a paper from the measured tables in a folder.

    Parameters
    ----------
    paper : str
    folder : Path
        The folder of the paper's csv files, e.g. figures/paper/xiao2010.
    notebook : str, optional
        Judge only the claims that this notebook measures.

    Returns
    -------
    DataFrame
        One row per claim, in the order of the entries; `COLUMNS`, all text. The reason is empty
        for a reproduced claim. A claim with a missing table is "not run", and the reason names
        the table.

    Raises
    ------
    ParameterError
        If a claim's judge gives none of the verdicts.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as empty:
    ...     set(judge("xiao2010", Path(empty))["verdict"])
    {'not run'}
    """
    entries = [entry for entry in of_paper(paper) if notebook in (None, entry.notebook)]
    return pd.DataFrame([_judged(entry, Path(folder)) for entry in entries], columns=COLUMNS)


def read_table(path: Path) -> pd.DataFrame:
    """Return a saved table with its numbers exactly as they were and its texts as texts.

    Only empty cells are missing values: "none" and "NA" are words.

    Parameters
    ----------
    path : Path
        A csv file written by :class:`anonpaper.papers.results.Results`.
    """
    return pd.read_csv(path, float_precision="round_trip", keep_default_na=False, na_values=[""])


def judge_value(measured: float, published: float, tolerance: float) -> str:
    """Return the verdict on a published number.

    Parameters
    ----------
    measured, published : float
        Finite; `published` not 0.
    tolerance : float
        Largest relative difference that still counts as reproduced, above 0.

    Returns
    -------
    str
        "reproduced" within the tolerance, else "not reproduced".

    Raises
    ------
    ParameterError
        If a number is not finite, `published` is 0 or `tolerance` is not above 0.

    Examples
    --------
    >>> judge_value(0.97, published=1.0, tolerance=0.05)
    'reproduced'
    """
    if not np.isfinite([measured, published]).all() or published == 0 or not tolerance > 0:
        raise ParameterError(
            "judge_value needs finite numbers, published != 0 and tolerance > 0; "
            f"got measured={measured}, published={published}, tolerance={tolerance}"
        )
    return REPRODUCED if abs(measured / published - 1) <= tolerance else NOT_REPRODUCED


def judge_order(lower, higher, *, mostly: float = MOSTLY) -> str:
    """Return the verdict on "this is never above that", from paired measurements.

    Parameters
    ----------
    lower, higher : array-like of float, equal shapes with at least one element
        Measurements at the same settings; the paper claims ``lower <= higher``.
    mostly : float, optional
        Share of the settings, in (0, 1], from which the direction counts as reproduced.

    Returns
    -------
    str
        "reproduced" if the order holds at every setting, "reproduced in direction" if it holds
        at a share `mostly` of them, else "not reproduced".

    Raises
    ------
    ParameterError
        If the shapes differ or are empty, a value is missing, or `mostly` is out of range.

    Examples
    --------
    >>> judge_order([1, 2, 3, 4, 9], [2, 3, 4, 5, 6])
    'reproduced in direction'
    """
    lower, higher = np.asarray(lower, dtype=float), np.asarray(higher, dtype=float)
    if lower.shape != higher.shape or lower.size == 0 or np.isnan([lower, higher]).any():
        raise ParameterError(
            "judge_order compares paired numbers: equal shapes, not empty, none missing; "
            f"got shapes {lower.shape} and {higher.shape}"
        )
    if not 0 < mostly <= 1:
        raise ParameterError(f"mostly is a share in (0, 1], got {mostly}")
    share = np.mean(lower <= higher)
    if share == 1:
        return REPRODUCED
    return DIRECTION if share >= mostly else NOT_REPRODUCED


def judge_rising(curves, *, mostly: float = MOSTLY) -> str:
    """Return the verdict on "this never falls", from one curve or several.

    Parameters
    ----------
    curves : array-like of float, at least two rows
        Rows are settings in rising order, columns are curves.
    mostly : float, optional
        As for `judge_order`, a share of the steps.

    Returns
    -------
    str
        As `judge_order` of each value and the next.

    Examples
    --------
    >>> judge_rising([[1, 5], [2, 5], [2, 6]])
    'reproduced'
    """
    curves = np.asarray(curves, dtype=float)
    return judge_order(curves[:-1], curves[1:], mostly=mostly)


def judge_statement(holds: bool, *, in_direction: bool = False) -> str:
    """Return the verdict on a statement that measured numbers bear out, or partly, or do not.

    Parameters
    ----------
    holds, in_direction : bool
        Whether the statement holds, and if not, whether its direction does.

    Examples
    --------
    >>> judge_statement(False, in_direction=True)
    'reproduced in direction'
    """
    return REPRODUCED if holds else DIRECTION if in_direction else NOT_REPRODUCED


def over_seeds(values, show: str = "{:.3g}") -> str:
    """Return the range of a number over seeds, in words.

    Parameters
    ----------
    values : array-like of float, at least one
        One per seed.
    show : str, optional
        Format of a number.

    Examples
    --------
    >>> over_seeds([0.82, 0.79, 0.9])
    '0.79 to 0.9 over 3 seeds'
    """
    values = np.asarray(values, dtype=float)
    return (
        f"{show.format(values.min())} to {show.format(values.max())} "
        f"over {len(values)} seed{'s' if len(values) > 1 else ''}"
    )


def _judged(claim: Claim, folder: Path) -> dict[str, str]:
    """Return a claim with what was found, as a row of `judge`."""
    published = claim.published() if callable(claim.published) else claim.published
    about = {
        "id": claim.id,
        "paper": claim.paper,
        "notebook": claim.notebook,
        "where": claim.where,
        "claim": claim.claim,
        "tables": " ".join(claim.tables),
        "how": claim.how,
        "published": _three_digits(published),
        "tolerance": _relative(claim.tolerance),
    }
    files = [folder / f"{table}.csv" for table in claim.tables]
    missing = [file.name for file in files if not file.exists()]
    if missing:
        reason = f"{' and '.join(missing)} not there: make paper-{claim.paper}"
        return about | {"measured": "", "spread": "", "verdict": NOT_RUN, "reason": reason}
    given = {"published": published, "tolerance": claim.tolerance}
    numbers = {name: value for name, value in given.items() if isinstance(value, Real)}
    try:
        found = claim.judge(*map(read_table, files), **numbers)
    except Exception as error:
        error.add_note(f"in claim {claim.id!r} of {claim.paper}, judged from {claim.tables}")
        raise
    reason = "" if found.verdict == REPRODUCED else found.reason or claim.reason
    return about | {
        "measured": _three_digits(found.measured),
        "spread": found.spread or claim.spread,
        "verdict": found.verdict,
        "reason": reason,
    }


def _three_digits(value: str | float) -> str:
    """Return text as it is and a number with three significant digits."""
    return f"{value:.3g}" if isinstance(value, Real) else str(value)


def _relative(tolerance: str | float) -> str:
    """Return text as it is and a relative difference in percent."""
    return f"within {100 * tolerance:g} %" if isinstance(tolerance, Real) else tolerance

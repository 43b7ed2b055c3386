"""What the papers claim, and how each claim is judged from measured tables.

A claim that does not replicate is as publishable as one that does, so every paper has a module
with one entry per claim: the statement in our words, where the paper makes it, the tables of our
notebooks it is judged from, and a function that reads a verdict off these tables
(:mod:`anonpaper.papers.judging`). Notebooks and report both judge by `judge`, from the csv files
that the notebooks save, so that they cannot disagree, and a verdict follows from measured numbers,
never from typed-in ones.

A published number stands in the entry, or comes from data/reference where the paper's table or
figure is kept there. Only what was measured counts as replicated or not: theorems, arithmetic of
the paper's own numbers, and questions that the paper never answers are of other kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from inspect import getdoc
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.errors import ParameterError
from anonpaper.papers.judging import (
    DEPENDS,
    DIRECTION,
    EVERYWHERE,
    NOT_REPRODUCED,
    NOT_RUN,
    NOT_TESTABLE,
    REPRODUCED,
    UNDECIDED,
    VERDICTS,
    intervals_in_words,
    judge_intervals,
    mean_intervals,
    of_draws,
)

__all__ = [
    "ARITHMETIC",
    "COLUMNS",
    "FAILS",
    "HOLDS",
    "KINDS",
    "MEASURED",
    "OURS",
    "PARTLY",
    "PROOF",
    "READING",
    "Claim",
    "Finding",
    "Tested",
    "above_zero",
    "judge",
    "of_paper",
    "read_table",
]

MEASURED, PROOF, ARITHMETIC, OURS = "measured", "proof", "arithmetic", "ours"
#: Kind of claim -> what a heading calls it.
KINDS = {
    MEASURED: "measured",
    PROOF: "by proof or construction",
    ARITHMETIC: "arithmetic of the paper's own numbers",
    OURS: "asked by us",
}
#: Nothing is reproduced where nothing random or foreign was measured, or nobody claimed it.
HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"
#: What the readings of a claim are readings of, if it is the paper's text.
READING = "reading"
_STRONGEST_FIRST = (REPRODUCED, DIRECTION, UNDECIDED, NOT_REPRODUCED, NOT_TESTABLE)
_OF_OTHER_KINDS = {REPRODUCED: HOLDS, DIRECTION: PARTLY, NOT_REPRODUCED: FAILS}

COLUMNS = (
    "id",
    "paper",
    "kind",
    "notebook",
    "where",
    "claim",
    "tables",
    "how",
    "published",
    "measured",
    "interval",
    "spread",
    "tolerance",
    "verdict",
    "readings",
    "varied",
    "detail",
    "reason",
    "tested in",
    "differs",
)


@dataclass(frozen=True)
class Finding:
    """What the measured tables say about a claim.

    Parameters
    ----------
    measured : str or float
        What was measured. Numbers are shown with three significant digits.
    verdict : str
        One of `anonpaper.papers.judging.VERDICTS` that a judge can give: not "not run" and not
        "depends on the reading".
    detail : str, optional
        Where it differs, as the numbers tell: at which settings, by how much.
    spread : str, optional
        How much it varies over seeds, where the tables hold several; see `over_seeds`.
    interval : tuple of float or str, optional
        The confidence interval of what was measured, or in words where there are several.

    Raises
    ------
    ParameterError
        If the verdict is none of these.
    """

    measured: str | float
    verdict: str
    detail: str = ""
    spread: str = ""
    interval: tuple[float, float] | str = ""

    def __post_init__(self):
        given = [verdict for verdict in VERDICTS if verdict not in (NOT_RUN, DEPENDS)]
        if self.verdict not in given:
            raise ParameterError(
                f"a verdict is one of {', '.join(map(repr, given))}, got {self.verdict!r}"
            )


def above_zero(
    draws: pd.DataFrame,
    measured: str,
    names: Sequence[str],
    *,
    within: tuple[float, float] = (-np.inf, np.inf),
) -> Finding:
    """Judge by their intervals together whether the means over draws all lie above 0.

    Parameters
    ----------
    draws : DataFrame or array of float
        A row per mean, a column per draw.
    measured : str
        What the finding says was measured.
    names : sequence of str
        Of the rows.
    within : tuple of float, optional
        As for `judging.mean_interval`.
    """
    ends = mean_intervals(draws, within=within)
    words = intervals_in_words(ends, names, over=of_draws(np.shape(draws)[1]))
    return Finding(measured, judge_intervals(ends), interval=words)


@dataclass(frozen=True)
class Tested:
    """A reason for a difference that an experiment in a notebook tests.

    Parameters
    ----------
    text : str
        The reason, as a statement that could be wrong.
    tables : tuple of str
        The experiment's tables: names of csv files that the notebook saves.
    by : callable
        Given these tables it returns whether they bear the reason out, and what was measured:
        ``(bool, str)``.
    notebook : str, optional
        The notebook with the experiment, if it is not the claim's own.

    Raises
    ------
    ParameterError
        If the text is empty or no table is named.
    """

    text: str
    tables: tuple[str, ...]
    by: Callable[..., tuple[bool, str]]
    notebook: str = ""

    def __post_init__(self):
        if not self.text.strip() or not self.tables or isinstance(self.tables, str):
            raise ParameterError(
                f"a tested reason has a text and a tuple of tables, got {self.text!r} and "
                f"{self.tables!r}"
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
        given ``published`` and ``tolerance`` by these names where they are numbers, and
        ``reading`` where there are readings. The first line of its docstring says how it judges.
    reason : Tested, optional
        What explains a difference, as an experiment tests it: nothing that is merely likely is
        said. Shown where the claim is reproduced in direction or not.
    missing : str, optional
        What a test would need that only the authors have. Shown where the claim is not testable.
    kind : {"measured", "proof", "arithmetic", "ours"}, optional
        "proof": it holds by a theorem, or of an example that was built from the statement.
        "arithmetic": it follows from numbers that the paper prints. "ours": the paper never says
        so, and we ask. Only "measured" claims are counted as reproduced or not.
    readings : tuple of str, optional
        The readings that the paper's text allows, the default first. The claim is judged under
        each of them; where verdicts differ it "depends on the reading".
    varied : str, optional
        What the readings differ in, if it is not what the text says but a choice of ours that it
        leaves open, such as an order or a program. Then the weakest of the verdicts counts.
    differs : str, optional
        Every difference between our data or setting and the paper's that could turn the verdict.
    published : str, float or callable, optional
        The paper's own number, where it prints one; a callable reads it from data/reference.
    tolerance : str or float, optional
        How far the measurement may be off, as `judge` applies it, written before the result is
        known; a number is the largest relative difference from the published one.
    spread : str, optional
        Said in place of a spread over seeds where `judge` gives none.

    Raises
    ------
    ParameterError
        If a text is empty, no table is named, a reason is not `Tested`, the kind is unknown, or
        one reading stands alone.

    Examples
    --------
    >>> from anonpaper.papers.judging import judge_order
    >>> claim = Claim("fewer-stars", "xiao2010", "3_star_minimization", "Figure 3",
    ...     "TP+ keeps more values than TP", ("figure_3",),
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
    reason: Tested | None = None
    missing: str = ""
    published: str | float | Callable[[], str | float] = ""
    tolerance: str | float = EVERYWHERE
    spread: str = "one run"
    kind: str = MEASURED
    readings: tuple[str, ...] = ()
    varied: str = READING
    differs: str = ""

    def __post_init__(self):
        texts = ["id", "paper", "notebook", "where", "claim", "tolerance", "spread", "varied"]
        for name in texts:
            if not str(getattr(self, name)).strip():
                raise ParameterError(f"claim {self.id!r}: {name} is empty")
        if not (self.reason is None or isinstance(self.reason, Tested)):
            raise ParameterError(
                f"claim {self.id!r}: a reason is Tested by an experiment or left out, "
                f"got {self.reason!r}"
            )
        if not self.tables or isinstance(self.tables, str):
            raise ParameterError(
                f"claim {self.id!r}: tables is a tuple of names of csv files, got {self.tables!r}"
            )
        if self.kind not in KINDS:
            raise ParameterError(
                f"claim {self.id!r}: kind is one of {', '.join(KINDS)}, got {self.kind!r}"
            )
        if isinstance(self.readings, str) or len(self.readings) == 1:
            raise ParameterError(
                f"claim {self.id!r}: readings is a tuple of two or more names, the default first, "
                f"got {self.readings!r}"
            )

    @property
    def how(self) -> str:
        """How it is judged from the tables: the first line of the judge's docstring."""
        function = self.judge.func if isinstance(self.judge, partial) else self.judge
        return (getdoc(function) or "").partition("\n")[0]

    def found(self, *tables: pd.DataFrame) -> list[Finding]:
        """Return what the tables say, in their order: one finding, or one for each reading."""
        given = {"published": _published(self), "tolerance": self.tolerance}
        numbers = {name: value for name, value in given.items() if isinstance(value, Real)}
        if not self.readings:
            return [self.judge(*tables, **numbers)]
        return [self.judge(*tables, **numbers, reading=reading) for reading in self.readings]


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
    others = [entry.id for entry in entries if entry.paper != paper]
    if others:
        raise ParameterError(f"claims of another paper in the module of {paper}: {others}")
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
        One row per claim, in the order of the entries, with `COLUMNS`. All are text, but for
        "readings": a list of (reading, measured, verdict), empty where the text allows one only.
        A claim with a missing table is "not run", and the reason names the table.

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


def _judged(claim: Claim, folder: Path) -> dict[str, object]:
    """Return a claim with what was found, as a row of `judge`."""
    about = dict.fromkeys(COLUMNS, "") | {
        "id": claim.id,
        "paper": claim.paper,
        "kind": claim.kind,
        "notebook": claim.notebook,
        "where": claim.where,
        "claim": claim.claim,
        "tables": " ".join(claim.tables),
        "how": claim.how,
        "published": _three_digits(_published(claim)),
        "tolerance": _relative(claim.tolerance),
        "differs": claim.differs,
        "readings": [],
        "varied": claim.varied,
    }
    missing = [f"{table}.csv" for table in claim.tables if not _there(folder, table)]
    if missing:
        reason = f"{' and '.join(missing)} not there: make paper-{claim.paper}"
        return about | {"verdict": NOT_RUN, "reason": reason}
    try:
        findings = claim.found(*_tables(claim.tables, folder))
        default = findings[0]
        verdicts = {finding.verdict for finding in findings}
        verdicts = verdicts - {NOT_TESTABLE} or verdicts  # what tells nothing turns nothing
        depends = claim.varied == READING and len(verdicts) > 1
        verdict = DEPENDS if depends else max(verdicts, key=_STRONGEST_FIRST.index)
        explained = _explained(claim, verdict, folder)
    except Exception as error:
        error.add_note(f"in claim {claim.id!r} of {claim.paper}, judged from {claim.tables}")
        raise
    return (
        about
        | explained
        | {
            "measured": _three_digits(default.measured),
            "interval": _ends(default.interval),
            "spread": default.spread or claim.spread,
            "detail": default.detail,
            "verdict": _named(verdict, claim.kind),
            "readings": [
                (reading, _three_digits(finding.measured), _named(finding.verdict, claim.kind))
                for reading, finding in zip(claim.readings, findings, strict=False)
            ],
        }
    )


def _explained(claim: Claim, verdict: str, folder: Path) -> dict[str, str]:
    """Return the reason of a difference with what its experiment found, or what is missing."""
    reason = claim.reason
    if verdict == NOT_TESTABLE:
        return {"reason": claim.missing}
    if verdict not in (DIRECTION, NOT_REPRODUCED) or reason is None:
        return {}
    notebook = {"tested in": reason.notebook or claim.notebook}
    if not all(_there(folder, table) for table in reason.tables):
        where = notebook["tested in"]
        return notebook | {"reason": f"Its experiment, in {where}, was not run here"}
    borne_out, measured = reason.by(*_tables(reason.tables, folder))
    found = "Tested" if borne_out else "Tested and not borne out"
    return notebook | {"reason": f"{found}: {reason.text} ({measured})"}


def _tables(names: tuple[str, ...], folder: Path) -> list[pd.DataFrame]:
    return [read_table(folder / f"{name}.csv") for name in names]


def _there(folder: Path, table: str) -> bool:
    return (folder / f"{table}.csv").exists()


def _published(claim: Claim) -> str | float:
    return claim.published() if callable(claim.published) else claim.published


def _named(verdict: str, kind: str) -> str:
    """Return a verdict in the words of its kind of claim."""
    return verdict if kind == MEASURED else _OF_OTHER_KINDS.get(verdict, verdict)


def _ends(interval: tuple[float, float] | str) -> str:
    """Return an interval in words."""
    if isinstance(interval, str):
        return interval
    low, high = interval
    return f"{low:.3g} each time" if low == high else f"{low:.3g} to {high:.3g}"


def _three_digits(value: str | float) -> str:
    """Return text as it is and a number with three significant digits."""
    return f"{value:.3g}" if isinstance(value, Real) else str(value)


def _relative(tolerance: str | float) -> str:
    """Return text as it is and a relative difference in percent."""
    return f"within {100 * tolerance:g} %" if isinstance(tolerance, Real) else tolerance

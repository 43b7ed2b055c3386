"""What the papers claim, read from notebooks/<paper>/claims.toml and judged from saved tables.

A claim is about ten lines of TOML: what the paper says and where, the table that a notebook saved,
and the statement that its numbers have to satisfy. Notebooks and report call the same `judge`, so
that they cannot disagree. CONTRIBUTING.md, "Claims", lists all fields and forms.
"""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from numbers import Real
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd

from anonpaper.compendium import intervals
from anonpaper.compendium.intervals import (
    DEPENDS,
    DIRECTION,
    MOSTLY,
    NOT_REPRODUCED,
    NOT_RUN,
    NOT_TESTABLE,
    REPRODUCED,
    TOGETHER,
    UNDECIDED,
    VERDICTS,
    difference_intervals,
    intervals_in_words,
    judge_intervals,
    judge_mean,
    judge_order,
    judge_share,
    judge_statement,
    judge_value,
    mean_intervals,
    of_draws,
    share_interval,
)
from anonpaper.compendium.tables import notebooks_folder, read_table, reference
from anonpaper.errors import ParameterError

__all__ = ["COLUMNS", "KINDS", "Claim", "Finding", "above_zero", "judge", "of_paper", "span"]

MEASURED, PROOF, ARITHMETIC, OURS = "measured", "proof", "arithmetic", "ours"
#: Kind of claim -> what a heading calls it.
KINDS = {
    MEASURED: "measured",
    PROOF: "by proof or construction",
    ARITHMETIC: "arithmetic of the paper's own numbers",
    OURS: "asked by us",
}
#: Verdicts on claims of other kinds: nothing random or foreign was measured, or nobody claimed it.
HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"
_OTHER_KINDS = {REPRODUCED: HOLDS, DIRECTION: PARTLY, NOT_REPRODUCED: FAILS}
_STRONGEST_FIRST = (REPRODUCED, DIRECTION, UNDECIDED, NOT_REPRODUCED, NOT_TESTABLE)

COLUMNS = [*(
    "id paper kind notebook where claim tables how published measured interval spread tolerance "
    "verdict readings varied detail reason".split()
), "tested in", "differs"]  # fmt: skip
#: The fields of an entry of claims.toml.
_FIELDS = set(
    "where claim line notebook kind published tolerance readings joined varied differs missing "
    "reason like table tables join rows let value at by seeds says order gaps paired within "
    "mostly direction measured detail interval spread check with".split()
)


@dataclass(frozen=True)
class Finding:
    """What measured tables say: what was measured, the verdict, where it differs, how sure."""

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


@dataclass(frozen=True)
class Claim:
    """One entry of claims.toml; its fields are those of CONTRIBUTING.md, "Claims"."""

    id: str
    paper: str
    fields: Mapping[str, object]
    readings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.fields.get(name, _DEFAULTS.get(name, ""))

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the csv files of all readings, each once."""
        return _tables(self.fields, self.readings)

    @property
    def how(self) -> str:
        """How it is judged: the check's first line, or the statement and its settings."""
        if "check" in self.fields:
            return (_check(self.paper, self.fields["check"]).__doc__ or "").partition("\n")[0]
        parts = [str(self.says), *(f"{name} {self.fields[name]}" for name in ("at", "by", "rows")
                                   if name in self.fields)]  # fmt: skip
        return re.sub(r"[\[\]']", "", "; ".join(parts)) + "."

    def found(self, *tables: pd.DataFrame) -> list[Finding]:
        """Return what the tables say, in their order: one finding, or one for each reading."""
        by_name = dict(zip(self.tables, tables, strict=True))
        return [
            _finding(self.paper, _filled(self.fields, given), by_name)
            for given in self.readings.values() or [{}]
        ]


_DEFAULTS = {
    "kind": MEASURED,
    "varied": "reading",
    "spread": "one run",
    "tolerance": f"at every setting; in direction: at {100 * MOSTLY:g} % of them",
}


def of_paper(paper: str) -> tuple[Claim, ...]:
    """Return the claims of a paper, in the order of its claims.toml; none without such a file.

    Raises
    ------
    ParameterError
        An entry has an unknown field, an unknown kind, or lacks a field that every claim has.
    """
    folder = notebooks_folder()
    file = None if folder is None else folder / paper / "claims.toml"
    if file is None or not file.is_file():
        return ()
    return _of_file(file, file.stat().st_mtime_ns)


@cache
def _of_file(file: Path, changed: int) -> tuple[Claim, ...]:
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    paper, texts = file.parent.name, content.get("texts", {})
    entries = content.get(paper, {})
    if strangers := set(content) - {paper, "texts"}:
        raise ParameterError(f"{paper}/claims.toml has entries of {sorted(strangers)}")
    return tuple(
        _claim(paper, id, _inherited(entries, id), texts) for id in entries if id[0] != "_"
    )


def _inherited(entries: Mapping[str, Mapping], id: str) -> dict:
    """Return an entry with what it takes from the entry that `like` names."""
    if id not in entries:
        raise ParameterError(f"claims.toml: `like` names {id!r}, which is no entry")
    above = entries[id].get("like")
    return {**(_inherited(entries, above) if above else {}), **entries[id]}


def _claim(paper: str, id: str, entry: Mapping, texts: Mapping[str, str]) -> Claim:
    """Return an entry as a claim, with texts put in and readings combined."""
    readings = _combined(entry.get("readings", {}), entry.get("joined", "; "))
    fields = {key: value for key, value in _filled(entry, texts).items() if key != "readings"}
    lacking = [name for name in ("where", "claim", "notebook") if not fields.get(name)]
    unknown = sorted(set(fields) - _FIELDS)
    if lacking or unknown or not ("says" in fields) ^ ("check" in fields):
        raise ParameterError(
            f"claim {id!r} of {paper}: a claim has where, claim, notebook, and either says or "
            f"check; missing {lacking}, unknown {unknown}"
        )
    kind = fields.get("kind", MEASURED)
    if kind not in KINDS:
        raise ParameterError(f"claim {id!r}: kind is one of {', '.join(KINDS)}, got {kind!r}")
    if len(readings) == 1:
        raise ParameterError(f"claim {id!r}: one reading stands alone: {[*readings]}")
    return Claim(id, paper, fields, readings)


def _combined(readings: Mapping[str, Mapping], joined: str) -> dict[str, dict]:
    """Return every combination of readings by its name, the default first."""
    combined = {}
    for chosen in product(*(part.items() for part in readings.values())):
        given = {}
        for place, (_, value) in zip(readings, chosen, strict=True):
            given |= value if isinstance(value, Mapping) else {place: value}
        combined[joined.join(name for name, _ in chosen)] = given
    return combined if readings else {}


def _filled(value, given: Mapping[str, object]):
    """Return a field with its placeholders filled in; one that stands alone keeps its type."""
    if isinstance(value, Mapping):
        return {key: _filled(part, given) for key, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, given) for part in value]
    if not isinstance(value, str) or not given:
        return value
    alone = re.fullmatch(r"\{(\w+)\}", value)
    if alone and alone[1] in given:
        return given[alone[1]]
    known = "|".join(map(re.escape, given))
    return re.sub(rf"\{{({known})\}}", lambda found: str(given[found[1]]), value)


def _tables(fields: Mapping, readings: Mapping = {}) -> tuple[str, ...]:
    """Return the tables that an entry names, under every reading, each once."""
    named = [
        name
        for given in readings.values() or [{}]
        for name in _filled(fields.get("tables") or [fields["table"]], given)
    ]
    return tuple(dict.fromkeys(named))


def judge(paper: str, folder: Path, *, notebook: str | None = None) -> pd.DataFrame:
    """Judge the claims of a paper, or of one notebook, from the csv files in a folder.

    Returns
    -------
    DataFrame
        One row per claim, in the order of claims.toml, with `COLUMNS`. All are texts, except
        "readings": a list of (reading, measured, verdict), empty where there is only one. The
        verdict is "not run" where a table is missing, and the reason names that table.
    """
    entries = [entry for entry in of_paper(paper) if notebook in (None, entry.notebook)]
    return pd.DataFrame([_judged(entry, Path(folder)) for entry in entries], columns=COLUMNS)


def _judged(claim: Claim, folder: Path) -> dict[str, object]:
    """Return a claim with what was found, as a row of `judge`."""
    copied = {name: getattr(claim, name) for name in COLUMNS if name in _FIELDS}
    about = dict.fromkeys(COLUMNS, "") | copied | {"id": claim.id, "paper": claim.paper}
    about |= {"tables": " ".join(claim.tables), "how": claim.how, "readings": [], "detail": ""}
    about |= {"published": _three_digits(_published(claim.fields)), "measured": "", "reason": ""}
    about |= {"tolerance": _relative(claim.tolerance), "interval": "", "spread": ""}
    missing = [f"{table}.csv" for table in claim.tables if not (folder / f"{table}.csv").exists()]
    if missing:
        reason = f"{' and '.join(missing)} not there: make paper-{claim.paper}"
        return about | {"verdict": NOT_RUN, "reason": reason}
    try:
        findings = claim.found(*(read_table(folder / f"{name}.csv") for name in claim.tables))
        verdict = _verdict(findings, claim.varied)
        explained = _explained(claim, verdict, folder)
    except Exception as error:
        error.add_note(f"in claim {claim.id!r} of {claim.paper}, judged from {claim.tables}")
        raise
    named = _OTHER_KINDS if claim.kind != MEASURED else {}
    default = findings[0]
    return (
        about
        | explained
        | {
            "measured": _three_digits(default.measured),
            "interval": _ends(default.interval),
            "spread": default.spread or claim.spread,
            "detail": default.detail,
            "verdict": named.get(verdict, verdict),
            "readings": [
                (reading, _three_digits(found.measured), named.get(found.verdict, found.verdict))
                for reading, found in zip(claim.readings, findings, strict=False)
            ],
        }
    )


def _verdict(findings: list[Finding], varied: str) -> str:
    """Return one verdict for all readings; one that tells nothing turns nothing.

    Readings of the paper's text that disagree leave it open. Of choices that are ours, the
    weakest verdict counts.
    """
    verdicts = {finding.verdict for finding in findings}
    verdicts = verdicts - {NOT_TESTABLE} or verdicts
    if varied == _DEFAULTS["varied"] and len(verdicts) > 1:
        return DEPENDS
    return max(verdicts, key=_STRONGEST_FIRST.index)


def _explained(claim: Claim, verdict: str, folder: Path) -> dict[str, str]:
    """Return the reason of a difference with what its experiment found, or what is missing."""
    reason = claim.fields.get("reason")
    if verdict == NOT_TESTABLE:
        return {"reason": claim.missing}
    if verdict not in (DIRECTION, NOT_REPRODUCED) or reason is None:
        return {}
    notebook = {"tested in": reason.get("notebook", claim.notebook)}
    names = _tables(reason)
    if not all((folder / f"{table}.csv").exists() for table in names):
        where = notebook["tested in"]
        return notebook | {"reason": f"Its experiment, in {where}, was not run here"}
    tables = {name: read_table(folder / f"{name}.csv") for name in names}
    found = _finding(claim.paper, reason, tables)
    said = "Tested" if found.verdict == REPRODUCED else "Tested and not borne out"
    return notebook | {"reason": f"{said}: {reason['text']} ({found.measured})"}


# ---- statements -------------------------------------------------------------------------------


def _finding(paper: str, entry: Mapping, tables: Mapping[str, pd.DataFrame]) -> Finding:
    """Return what tables say of one statement."""
    chosen = [tables[name] for name in _tables(entry)]
    published, tolerance = _published(entry), entry.get("tolerance")
    numbers = {"published": published, "tolerance": tolerance}
    if "check" in entry:
        given = {name: value for name, value in numbers.items() if isinstance(value, Real)}
        return _check(paper, entry["check"])(*chosen, **given, **entry.get("with", {}))
    statement = _Statement(entry, chosen, {**tables, **numbers})
    verdict = statement.judged(entry["says"])
    texts = {
        name: statement.told(entry[name]) if name in entry else getattr(statement, name)
        for name in ("measured", "detail", "interval", "spread")
    }
    return Finding(verdict=verdict, **texts)


class _Statement:
    """A table, what was derived from it, and the words for what is found."""

    def __init__(self, entry: Mapping, tables: list[pd.DataFrame], given: Mapping) -> None:
        self.entry, self.measured, self.detail, self.interval, self.spread = entry, "", "", "", ""
        self.given, self.df, self.names = {**_VOCABULARY, **given}, tables[0], {}
        for other in tables[1:] if "join" in entry else ():
            self.df = self.df.merge(other, on=entry["join"])
        if "rows" in entry:
            self.df = self.df.query(entry["rows"], engine="python", local_dict=self.given)
        for name, text in entry.get("let", {}).items():
            self.names[name] = value = self.value(text)
            if isinstance(value, pd.Series) and value.index.equals(self.df.index):
                self.df = self.df.assign(**{name: value})
        if "value" in entry:
            self.df = self.df.assign(value=self.value(entry["value"]))

    def value(self, text: str, frame: pd.DataFrame | None = None):
        """Evaluate a Python expression; a name in backticks, or a plain one, is a column."""
        return eval(_with_columns(text), self._namespace(self.df if frame is None else frame))

    def told(self, text: str) -> str:
        """Fill in a text whose braces hold expressions and formats, as an f-string does."""
        if not isinstance(text, str) or "{" not in text:
            return text
        return eval(f"f'''{_with_columns(text)}'''", self._namespace(self.df))

    def _namespace(self, frame: pd.DataFrame) -> dict:
        """Return what expressions can name: what was derived, then columns, then all else."""
        columns = {name: frame[name] for name in frame if str(name).isidentifier()}
        return {**self.given, **columns, **self.names, "df": self.df, "_of": frame}

    def judged(self, says: str) -> str:
        """Return the verdict on a statement, by its form."""
        mostly = self.entry.get("mostly", MOSTLY)
        word, _, rest = says.partition(": ")
        if says == "not testable":
            return NOT_TESTABLE
        if word == "is":
            direction = self.entry.get("direction", "False")
            return judge_statement(
                bool(self.value(rest)), in_direction=bool(self.value(direction))
            )
        if word in ("all", "some", "none"):
            return self._cases(word, rest)
        if word.startswith("share "):
            return self._share(word.removeprefix("share "), rest)
        if word == "above 0":
            return judge_intervals(self._above_zero(self.value(rest)), mostly=mostly)
        if word == "intervals above 0":
            return judge_intervals(np.atleast_2d(self.value(rest)), mostly=mostly)
        if along := re.fullmatch(r"(rises|falls) along (.+)", says):
            sides = self._steps(along[2].strip("`"))
            return self._compared(*(sides if along[1] == "rises" else sides[::-1]))
        if says == "value = published":
            return self._as_published()
        lower, sign, higher = re.fullmatch(r"(.+?) (<=|<) (.+)", says).groups()
        return self._compared(*self._sides(lower, higher), strict=sign == "<")

    def _cases(self, word: str, condition: str) -> str:
        holds = self._holds(condition)
        self.measured = f"{holds.sum()} of {len(holds)}"
        self.names["holds"] = holds
        if word != "all":
            return judge_statement(holds.any() == (word == "some") and len(holds) > 0)
        mostly = self.entry.get("direction")
        return judge_statement(
            holds.all() and len(holds) > 0,
            in_direction=mostly is not None and holds.mean() >= mostly,
        )

    def _holds(self, condition: str) -> pd.Series:
        given = self.given | self.names
        return self.df.eval(condition, engine="python", local_dict=given).astype(bool)

    def _share(self, bounds: str, condition: str) -> str:
        """Judge "share >= 0.5: ...", "share <= 0.1: ..." or "share in [0.25, 0.75]: ..."."""
        holds = self._holds(condition)
        number, trials = int(holds.sum()), len(holds)
        sign, value = bounds.split(" ", 1)
        ends = {"in": value, ">=": f"[{value}, 1]", "<=": f"[0, {value}]"}[sign]
        at_least, at_most = self.value(ends)
        self.names["holds"] = holds
        self.measured, self.spread = f"{number} of {trials}", f"{trials} runs"
        self.interval = share_interval(number, trials)
        return judge_share(number, trials, at_least=at_least, at_most=at_most)

    def _as_published(self) -> str:
        values = np.asarray(self.df["value"], dtype=float)
        self.measured = float(values.mean())
        published, tolerance = self.given["published"], self.given["tolerance"]
        if "seeds" not in self.entry:
            return judge_value(values.item(), published, tolerance)
        self.interval = intervals.mean_interval(values)
        self.spread = of_draws(len(values), "seeds")
        return judge_mean(values, published, tolerance)

    def _by_draw(self, *sides: pd.Series) -> list[pd.DataFrame]:
        """Return numbers by setting (rows) and draw (columns), gaps closed as the entry says."""
        seeds, gaps = self.entry.get("seeds"), self.entry.get("gaps")
        if not seeds:
            return [side.to_frame("value") for side in sides]
        if self.entry.get("at"):
            wide = [side.unstack(seeds) for side in sides]
        else:
            wide = [side.to_frame("all").T for side in sides]
        if gaps == "stand for":  # a method that draws nothing was run once
            return [side.ffill(axis=1) for side in wide]
        if gaps:
            axis = {"settings": 1, "seeds": 0}[gaps]
            full = np.logical_and.reduce([side.notna().all(axis=axis) for side in wide])
            wide = [side.loc[full] if axis else side.loc[:, full] for side in wide]
        return wide

    def _means(self, keys: list[str]) -> pd.DataFrame | pd.Series:
        """Return the value, or all columns, by keys in the order of the table."""
        columns = (
            "value"
            if "value" in self.entry
            else [name for name in self.df.select_dtypes(["number", "bool"]) if name not in keys]
        )
        return self.df.groupby(keys, sort=False)[columns].mean() if keys else self.df[columns]

    def _sides(self, *sides: str) -> list[pd.DataFrame]:
        """Return the two sides of a comparison, settings x draws."""
        at, by = _listed(self.entry.get("at")), self.entry.get("by")
        keys = [*at, *_listed(self.entry.get("seeds"))]
        means = self._means([*keys, by] if by else keys)
        frame = means.unstack(by) if by else means
        frame = frame.to_frame() if isinstance(frame, pd.Series) else frame
        self.names["wide"] = frame
        self.names |= {
            "least_but": lambda *names: frame.drop(columns=[*names]).min(axis=1),
            "most_but": lambda *names: frame.drop(columns=[*names]).max(axis=1),
        }
        values = [self.value(side, frame) for side in sides]
        like = next(value for value in values if isinstance(value, pd.Series))
        return self._by_draw(
            *(value if isinstance(value, pd.Series) else 0 * like + value for value in values)
        )

    def _steps(self, along: str) -> list[pd.DataFrame]:
        """Return each value and the next along a column, settings x draws."""
        keys = [*_listed(self.entry.get("at")), *_listed(self.entry.get("seeds"))]
        (wide,) = self._by_draw(self._means(keys))
        places = self.entry.get("order") or sorted(wide.index.unique(along))
        if wide.index.nlevels == 1:
            parts = {"": wide.loc[places]}
        else:
            parts = {
                at: part.droplevel([n for n in part.index.names if n != along]).reindex(places)
                for at, part in wide.groupby([n for n in wide.index.names if n != along],
                                             sort=False)
            }  # fmt: skip
        steps = {
            " ".join(map(str, [*_listed(at), f"{one} to {other}"])): (
                part.loc[one],
                part.loc[other],
            )
            for at, part in parts.items()
            for one, other in zip(places, places[1:], strict=False)
        }
        self.names["wide"] = wide
        return [pd.DataFrame({k: s[side] for k, s in steps.items()}).T for side in (0, 1)]

    def _compared(self, lower: pd.DataFrame, higher: pd.DataFrame, *, strict=False) -> str:
        """Judge lower <= higher: exactly, or over draws by intervals of their differences."""
        lower, higher = lower.astype(float), higher.astype(float)
        mostly = self.entry.get("mostly", MOSTLY)
        self.names |= {"lower": lower, "higher": higher, "n": len(lower)}
        if "seeds" not in self.entry:
            holds = lower < higher if strict else lower <= higher
            self.measured = f"at {int(holds.to_numpy().sum())} of {holds.size} settings"
            self.names["holds"] = holds.iloc[:, 0]
            return judge_order(lower, higher, mostly=mostly, strict=strict)
        paired = self.entry.get("paired", True)
        within = tuple(self.entry.get("within", (-np.inf, np.inf)))
        ends = difference_intervals(lower, higher, paired=paired, within=within)
        self._told_by(ends, lower.index, (higher.to_numpy() - lower.to_numpy()).mean(axis=1))
        self.names["draws"] = of_draws([lower.shape[1], higher.shape[1]])
        self.spread = of_draws([lower.shape[1], higher.shape[1]], "seeds")
        return judge_intervals(ends, mostly=mostly)

    def _above_zero(self, draws: pd.DataFrame) -> np.ndarray:
        """Return the intervals of means that have to lie above 0, settings x draws."""
        within = tuple(self.entry.get("within", (-np.inf, np.inf)))
        ends = mean_intervals(draws, within=within)
        self._told_by(ends, draws.index, np.asarray(draws).mean(axis=1))
        self.names["draws"] = self.spread = of_draws(np.shape(draws)[1])
        return ends

    def _told_by(self, ends: np.ndarray, index: pd.Index, means: np.ndarray) -> None:
        """Say what intervals tell, and keep them for the texts of the entry."""
        low, high = ends.T
        self.names |= {"ends": ends, "low": low, "high": high, "means": means}
        self.measured = (
            f"{span(means)} on average; supported at {(low >= 0).sum()} and refuted at "
            f"{(high < 0).sum()} of {len(ends)} settings"
        )
        names = [", ".join(map(str, _listed(at))) for at in index]
        self.interval = (
            intervals_in_words(ends, names)
            if len(ends) <= 8
            else f"{TOGETHER}, {len(ends)} intervals between {low.min():.3g} and {high.max():.3g}"
        )


def above_zero(draws, measured: str, names, *, within=(-np.inf, np.inf)) -> Finding:
    """Judge by their intervals together whether the means over draws all lie above 0."""
    ends = mean_intervals(draws, within=within)
    words = intervals_in_words(ends, names, over=of_draws(np.shape(draws)[1]))
    return Finding(measured, judge_intervals(ends), interval=words)


def span(values, show: str = "{:.3g}") -> str:
    """Return the least and the largest number in words, once where they look alike."""
    values = np.asarray(values, dtype=float)
    ends = show.format(np.nanmin(values)), show.format(np.nanmax(values))
    return " to ".join(dict.fromkeys(ends))


def listed(values: pd.Series, show: str = "{:.3g}") -> str:
    """Return the numbers of a Series by their index: "a: 1, b: 2"."""
    return ", ".join(
        f"{' '.join(map(str, _listed(at)))}: {show.format(value)}" for at, value in values.items()
    )


_VOCABULARY = {
    **{name: getattr(intervals, name) for name in intervals.__all__ if name.islower()},
    **{"np": np, "pd": pd, "span": span, "listed": listed, "reference": reference},
}


def _with_columns(text: str) -> str:
    """Return an expression with names in backticks as columns."""
    return re.sub(r"`([^`]+)`", lambda found: f"_of[{found[1]!r}]", str(text))


def _listed(value) -> list:
    """Return a value that may be missing, one, or several, as a list."""
    if value is None or isinstance(value, str) and value == "":
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


@cache
def _checks(file: Path, changed: int) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{file.parent.name}_checks", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _check(paper: str, name: str) -> Callable[..., Finding]:
    """Return a function of the paper's checks.py."""
    file = notebooks_folder() / paper / "checks.py"
    return getattr(_checks(file, file.stat().st_mtime_ns), name)


def _published(entry: Mapping) -> str | float:
    """Return the published number; a text that starts with "=" is an expression for it."""
    published = entry.get("published", "")
    if isinstance(published, str) and published.startswith("="):
        return eval(published[1:], dict(_VOCABULARY))
    return published


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

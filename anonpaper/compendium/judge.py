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
from dataclasses import dataclass, field, replace
from functools import cache
from numbers import Real
from pathlib import Path
from types import ModuleType

import pandas as pd

from anonpaper.compendium import claims
from anonpaper.compendium.intervals import (
    AVERAGE,
    DIRECTION,
    EVERYWHERE,
    MOST,
    MOSTLY,
    NOT_REPRODUCED,
    NOT_RUN,
    NOT_TESTABLE,
    QUANTIFIERS,
    REPRODUCED,
    SOMEWHERE,
    UNDECIDED,
    VERDICTS,
)
from anonpaper.compendium.statements import VOCABULARY, Statement, as_list, listed, span
from anonpaper.compendium.tables import made_by, notebooks_folder, read_table
from anonpaper.errors import ParameterError

__all__ = ["COLUMNS", "KINDS", "Claim", "Finding", "judge", "listed", "of_paper", "span"]

MEASURED, PROOF, ARITHMETIC = "measured", "proof", "arithmetic"
OURS, SOFTWARE = "ours", "software"
#: Kind of claim -> what a heading calls it.
KINDS = {
    MEASURED: "measured",
    PROOF: "by proof or construction",
    ARITHMETIC: "arithmetic of printed numbers and public files",
    OURS: "our question",
    SOFTWARE: "tests of our software",
}
#: Verdicts on claims of other kinds: nothing random or foreign was measured, or nobody claimed it.
HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"
_OTHER_KINDS = {REPRODUCED: HOLDS, DIRECTION: PARTLY, NOT_REPRODUCED: FAILS}
MEAN, SHARE, EXACT = "mean", "share", "exact"
#: Estimand -> what a card calls the number that is judged.
ESTIMANDS = {
    MEAN: "a mean over draws",
    "single run": "one published run",
    "equality": "two equal numbers",
    SHARE: "a share of runs",
    EXACT: "the saved numbers themselves",
}

COLUMNS = [*(
    "id paper kind notebook where claim tables how estimand published measured interval spread "
    "tolerance verdict robust needed readings lines detail reason".split()
), "tested in", "differs", "drawn by"]  # fmt: skip
#: The fields of an entry of claims.toml.
_FIELDS = set(
    "where claim notebook kind estimand quantifier published tolerance margin readings "
    "differs missing reason like table tables join rows let value at by seeds says order gaps "
    "paired within mostly direction also lines measured detail interval spread check with "
    "drawn_by".split()
)


@dataclass(frozen=True)
class Finding:
    """What measured tables say: what was measured, the verdict, where it differs, how sure."""

    measured: str | float
    verdict: str
    detail: str = ""
    spread: str = ""
    interval: tuple[float, float] | str = ""
    settings: int = 0  # at which it was judged, 0 where nobody counted them
    #: Returns how many draws there were, how many would decide, and what they are called.
    needed: Callable[[], tuple] | None = None

    def __post_init__(self):
        given = [verdict for verdict in VERDICTS if verdict != NOT_RUN]
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
        first = _filled(self.fields, next(iter(self.readings.values()), {}))
        told = [first["says"]]
        for name in ("at", "by", "rows"):
            if name in first:
                told.append(f"{name} {', '.join(map(str, as_list(first[name])))}")
        return "; ".join(told) + "."

    @property
    def estimand(self) -> str:
        """The number that is judged, a key of `ESTIMANDS`."""
        first = _filled(self.fields, next(iter(self.readings.values()), {}))
        says = first.get("says", "")
        drawn = "seeds" in first or "check" in first or says.startswith(("above 0", "intervals"))
        by_form = SHARE if says.startswith("share") else MEAN if drawn else EXACT
        return first.get("estimand") or (EXACT if self.kind in (PROOF, ARITHMETIC) else by_form)

    def found(self, *tables: pd.DataFrame) -> list[Finding]:
        """Return what the tables say: a finding for each reading."""
        by_name = dict(zip(self.tables, tables, strict=True))
        return [
            _finding(self.paper, _filled(self.fields, given), by_name)
            for given in self.readings.values() or [{}]
        ]


_LARGE = re.compile(r"([+-]?)\d(\.\d+)?e\+0\d")  # 3.5e+03 takes longer to read than 3,500
_DEFAULTS = {
    "kind": MEASURED,
    "quantifier": EVERYWHERE,
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
    fields = _filled(entry, texts)
    places = fields.pop("readings", {})
    readings = _readings(places)
    cited = {part.get("line", ""): None for part in places.values()}
    if not all(re.search("'.+'", line) for line in cited):
        raise ParameterError(f"claim {id!r}: the `line` of a reading quotes the paper, as 'words'")
    fields |= {"lines": "; ".join(cited)} if cited else {}
    lacking = [name for name in ("where", "claim", "notebook") if not fields.get(name)]
    unknown = sorted(set(fields) - _FIELDS)
    if lacking or unknown or not ("says" in fields) ^ ("check" in fields):
        raise ParameterError(
            f"claim {id!r} of {paper}: a claim has where, claim, notebook, and either says or "
            f"check; missing {lacking}, unknown {unknown}"
        )
    if reason := fields.get("reason"):  # of the claim's notebook and tables, if it names no others
        same = (
            {"notebook"} if {"table", "tables"} & set(reason) else {"notebook", "table", "tables"}
        )
        fields["reason"] = {name: fields[name] for name in same if name in fields} | reason
    claim = Claim(id, paper, fields, readings)
    for name, known in (("kind", KINDS), ("estimand", ESTIMANDS), ("quantifier", QUANTIFIERS)):
        if (given := getattr(claim, name)) not in known and "{" not in given:
            raise ParameterError(
                f"claim {id!r}: {name} is one of {', '.join(known)}, got {given!r}"
            )
    return claim


def _readings(places: Mapping) -> dict[str, dict]:
    """Return every combination of readings by its name, the default first."""
    combined = {"": {}}
    for place, part in places.items():
        combined = {
            f"{above}; {name}".removeprefix("; "): given
            | (dict(value) if isinstance(value, Mapping) else {place: value})
            for above, given in combined.items()
            for name, value in part.items()
            if name != "line"
        }
    return combined if places else {}


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
        "readings": a list of (name, measured, verdict), empty where there is one.
        "robust" is yes, no or unknown over the readings. "needed" holds how many draws there were
        of an undecided claim, and how many would decide. The verdict is "not run" where a table
        is missing, and the reason names that table.
    """
    if not of_paper(paper) and claims.claims_of(paper):
        return _of_functions(paper, Path(folder), notebook)
    entries = [entry for entry in of_paper(paper) if notebook in (None, entry.notebook)]
    return pd.DataFrame([_judged(entry, Path(folder)) for entry in entries], columns=COLUMNS)


def _of_functions(paper: str, folder: Path, notebook: str | None) -> pd.DataFrame:
    """Return claims that are functions as rows of `judge`, until all papers have them."""
    old = {claims.IN_PART: DIRECTION, claims.CANNOT_BE_TESTED: NOT_TESTABLE}
    rows = []
    for one, found in claims.judged(paper, folder):
        tables = [Path(name).stem for name in one.tables.values()]
        row = {"id": one.name, "paper": paper, "kind": MEASURED, "where": one.where}
        row |= {"claim": one.text, "tables": " ".join(tables), "lines": one.quote}
        row |= {"measured": found.measured, "interval": found.interval, "detail": found.otherwise}
        row |= {"reason": found.why, "verdict": old.get(found.verdict, found.verdict)}
        row |= {"notebook": made_by(f"{paper}/{tables[0]}"), "readings": [], "needed": ()}
        row["drawn by"] = f"{paper}/{row['notebook']}"
        rows.append(dict.fromkeys(COLUMNS, "") | row)
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table if notebook is None else table[table["notebook"] == notebook]


def _judged(claim: Claim, folder: Path) -> dict[str, object]:
    """Return a claim with what was found, as a row of `judge`."""
    tolerance = claim.tolerance
    if isinstance(tolerance, Real):
        tolerance = f"within {100 * tolerance:g} %"
    about = dict.fromkeys(COLUMNS, "")
    about |= {name: getattr(claim, name) for name in COLUMNS if name in _FIELDS}
    about |= {"id": claim.id, "paper": claim.paper, "tables": " ".join(claim.tables)}
    tested = claim.says != "not testable"
    about |= {"how": claim.how, "estimand": ESTIMANDS[claim.estimand] if tested else ""}
    about |= {"published": _shown(_published(claim.fields)), "tolerance": tolerance}
    about |= dict.fromkeys(("measured", "interval", "spread", "detail", "reason"), "")
    about |= {"readings": []}
    about["drawn by"] = claim.drawn_by or f"{claim.paper}/{claim.notebook}"
    missing = [f"{table}.csv" for table in claim.tables if not (folder / f"{table}.csv").exists()]
    if missing:
        reason = f"{' and '.join(missing)} not there: make paper-{claim.paper}"
        return about | {"verdict": NOT_RUN, "reason": reason}
    try:
        findings = claim.found(*(read_table(folder / f"{name}.csv") for name in claim.tables))
        verdict, robust = _verdict(findings)
        explained = _explained(claim, verdict, robust, folder)
        needed = findings[0].needed() if verdict == UNDECIDED and findings[0].needed else ()
    except Exception as error:
        error.add_note(f"in claim {claim.id!r} of {claim.paper}, judged from {claim.tables}")
        raise
    named = _OTHER_KINDS if claim.kind != MEASURED else {}
    default = findings[0]
    if tested and claim.estimand not in (EXACT, SHARE):
        about["estimand"] += _where(claim, default.settings)
    told = [
        (name, _shown(found.measured), named.get(found.verdict, found.verdict))
        for name, found in zip(claim.readings, findings, strict=False)
    ]
    return (
        about
        | explained
        | {
            "measured": _shown(default.measured),
            "interval": _shown(default.interval),
            "spread": default.spread or claim.spread,
            "detail": _shown(default.detail),
            "verdict": named.get(verdict, verdict),
            "robust": robust,
            "needed": needed,
            "readings": told if len(told) > 1 else [],
        }
    )


def _where(claim: Claim, settings: int) -> str:
    """Return at how many settings a claim has to hold, in words."""
    if claim.quantifier == AVERAGE:
        return f", {AVERAGE}"
    most = f"{100 * claim.fields.get('mostly', MOSTLY):g} %"
    share = {EVERYWHERE: "each", MOST: most, SOMEWHERE: "one"}[claim.quantifier]
    return f", at {share} of {settings} settings" * (settings > 1)


def _verdict(findings: list[Finding]) -> tuple[str, str]:
    """Return the verdict of the default reading, and whether other decided readings share it."""
    default, *others = (finding.verdict for finding in findings)
    open_ = {UNDECIDED, NOT_TESTABLE}
    decided = set(others) - open_
    if not others:
        return default, ""
    if default in open_ or not decided:
        return default, "unknown"
    return default, "yes" if decided == {default} else "no"


def _explained(claim: Claim, verdict: str, robust: str, folder: Path) -> dict[str, str]:
    """Return the reason of a difference with what its experiment found, or what is missing."""
    reason = claim.reason
    if verdict == NOT_TESTABLE:
        return {"reason": claim.missing}
    if not reason or (verdict == REPRODUCED and robust != "no"):
        return {}
    notebook = {"tested in": reason["notebook"]}
    names = _tables(reason)
    if not all((folder / f"{table}.csv").exists() for table in names):
        where = notebook["tested in"]
        return notebook | {"reason": f"Its experiment, in {where}, was not run here"}
    tables = {name: read_table(folder / f"{name}.csv") for name in names}
    found = _finding(claim.paper, reason, tables)
    said = "Tested" if found.verdict == REPRODUCED else "Tested and not supported"
    return notebook | {"reason": f"{said}: {reason['text']} ({_shown(found.measured)})"}


# ---- statements -------------------------------------------------------------------------------


def _finding(paper: str, entry: Mapping, tables: Mapping[str, pd.DataFrame]) -> Finding:
    """Return what tables say about one statement."""
    chosen = [tables[name] for name in _tables(entry)]
    published, tolerance = _published(entry), entry.get("tolerance")
    numbers = {"published": published, "tolerance": tolerance}
    if "check" in entry:
        given = {name: value for name, value in numbers.items() if isinstance(value, Real)}
        found = _check(paper, entry["check"])(*chosen, **given, **entry.get("with", {}))
        said = Statement({}, chosen, {**tables, **numbers})
        own = {name: said.told(entry[name]) for name in ("detail", "spread") if name in entry}
        return replace(found, **own)
    statement = Statement(entry, chosen, {**tables, **numbers})
    verdict = statement.judged(entry["says"])
    if verdict == REPRODUCED and not statement.value(entry.get("also", "True")):
        verdict = DIRECTION
    texts = {
        name: statement.told(entry[name]) if name in entry else getattr(statement, name)
        for name in ("measured", "detail", "interval", "spread")
    }
    return Finding(verdict=verdict, settings=statement.settings, needed=statement.needed, **texts)


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
        return eval(published[1:], dict(VOCABULARY))
    return published


def _shown(value: str | float | tuple[float, float]) -> str:
    """Return text, a number with three significant digits, or an interval, thousands in full."""
    if isinstance(value, tuple):
        low, high = value
        value = f"{low:.3g} each time" if low == high else f"{low:.3g} to {high:.3g}"
    text = f"{value:.3g}" if isinstance(value, Real) else str(value)
    return _LARGE.sub(lambda found: f"{float(found[0]):{'+' * (found[1] == '+')},.0f}", text)

"""How exposed a table is, and how a release changed it: numbers for its owner only."""

from __future__ import annotations

import itertools
import json
import math
import shlex
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from anonpaper import measure
from anonpaper.errors import AnonpaperError, ParameterError, is_among
from anonpaper.groups import Entries
from anonpaper.microdata import MISSING, Microdata
from anonpaper.partition.mondrian import mondrian
from anonpaper.principles import GroupCounts
from anonpaper.publish import Release, generalize, recode
from anonpaper.recoding import Recoding

__all__ = [
    "as_json",
    "as_text",
    "attackers_tried",
    "audit",
    "levels",
    "loss",
    "risks",
    "short",
    "suggested",
    "summary",
]

_ROWS_NAMED = 5  # of a group, when the riskiest are listed
_MOST_TABLES = 200  # on which a report repeats the method
_MOST_REPEATED = 8_000  # rows of them together, and of the table
_MOST_BELIEFS = 10_000_000  # rows times values, for deFinetti's attack
_MINIMALITY = "repeats the method (minimality)"
_DEFINETTI = "learns from all groups (deFinetti)"


def levels(rel: Release) -> list[dict]:
    """Return every ``principle`` with the ``level`` that the file reaches, and its ``meaning``."""
    told = measure.attackers(rel)
    told = told.loc[told["meaning"] != "", ["principle", "file", "meaning"]]
    return told.rename(columns={"file": "level"}).to_dict("records")


# -- the original table ------------------------------------------------------------------------


def audit(m: Microdata, top: int, population: Microdata | None = None) -> dict:
    """Report how exposed the rows of an original table are; list the `top` riskiest groups.

    A group has equal quasi-identifiers. Rows are numbered from 1, without the header, or named.
    """
    classes = Entries.of_cells(m, m.cells.tuple_of_cell)
    original = recode(m, Recoding.identity(m.attributes))
    found = {
        "table": {
            "rows": m.n,
            **({} if m.people is None else {"people": m.n_people}),
            "quasi-identifiers": list(m.qi),
            "sensitive": m.sensitive,
            "rows dropped": m.dropped,
            "groups": len(m.cells),
        },
        "uniqueness": _uniqueness(classes),
        "risk": risks(original, population),
        "levels": levels(original),
    }
    several = len(m.sensitives) > 1
    for name in m.sensitives:
        whole = GroupCounts.of(classes.in_groups(np.zeros_like(classes.group)), name)
        frequent = int(whole.counts.argmax())
        found[f"feasible for {name}" if several else "feasible"] = {
            "values": len(whole.counts),
            "most frequent": m.attribute(name).values[whole.sensitive[frequent]],
            "its rows" if m.people is None else "its people": int(whole.counts[frequent]),
            "largest frequency l": int(m.n_people // whole.counts[frequent]),
        }
    for name in m.sensitives or [None]:
        title = f"riskiest groups by {name}" if several else "riskiest groups"
        found[title] = _riskiest(classes, name, top)
    return found


def _uniqueness(classes: Entries) -> dict:
    def in_groups_below(size: int, classes: Entries) -> int:
        return classes.people((GroupCounts.of(classes).sizes < size)[classes.group])

    def alone_without(name: object) -> int:
        table = m.with_roles([other for other in m.qi if other != name], None)
        return in_groups_below(2, Entries.of_cells(table, table.cells.tuple_of_cell))

    m, alone = classes.m, in_groups_below(2, classes)
    whose = "rows" if m.people is None else "people"
    return {
        f"unique {whose}": alone,
        "share": alone / m.n_people,
        "in groups below 5": in_groups_below(5, classes),
        "distinct values": {a.name: a.size for a in m.attributes},
        f"unique {whose} without": {n: alone_without(n) for n in (m.qi if m.d > 1 else [])},
    }


def _riskiest(classes: Entries, name: object, top: int) -> list[dict]:
    """Groups in which a sensitive value has the largest share; smaller groups first if equal."""
    m, cells, counts = classes.m, classes.m.cells, GroupCounts.of(classes, name)
    share = counts.largest() / counts.sizes
    if name is None:  # then the risk is to be found at all
        share = 1 / counts.sizes
    found = []
    for g in np.lexsort((counts.sizes, -share))[:top]:
        values = zip(m.attributes, cells.tuples[g], strict=True)
        about = {
            "values": {a.name: a.values[code] for a, code in values},
            "rows": int(cells.tuple_sizes[g]),
            **({} if m.people is None else {"people": int(counts.sizes[g])}),
        }
        if name is not None:
            entries = slice(counts.start[g], counts.start[g + 1])
            likeliest = counts.sensitive[entries][counts.counts[entries].argmax()]
            about["likeliest value"] = m.attribute(name).values[likeliest]
            about["its share"] = float(share[g])
        if m.has_rows:
            rows = np.sort(cells.rows[cells.tuple_start[g] : cells.tuple_start[g + 1]])
            named = m.frame.index[rows[:_ROWS_NAMED]]
            named = named + 1 if pd.api.types.is_integer_dtype(named) else named
            about["in rows"] = [*map(str, named), *(["..."] if len(rows) > _ROWS_NAMED else [])]
        found.append(about)
    return found


# -- a release ---------------------------------------------------------------------------------


def summary(rel: Release) -> dict:
    """Report the result for a table with at least one published row."""
    m = rel.microdata
    withheld, share = rel.withheld
    return {
        "published as": rel.method,
        "rows": {
            "in the table": m.n + m.dropped,
            "published": m.n - withheld,
            "withheld": withheld,
            **({"of one sensitive value": share} if share == share else {}),
            "dropped for missing values": m.dropped,
            "groups": rel.classes.n_groups,
        },
        "levels": levels(rel),
        "loss": loss(rel),
        **({"warnings": list(rel.warnings)} if rel.warnings else {}),
    }


def loss(rel: Release) -> dict[str, float]:
    """How much detail was lost; a withheld row has lost all of it."""
    return {
        "stars": measure.stars(rel),
        "rows with a star": measure.suppressed_rows(rel),
        "share of detail lost (GCP)": measure.gcp(rel),
        "discernibility": measure.discernibility(rel),
        "mean group size": measure.average_class_size(rel) if rel.shown.any() else math.nan,
    }


def risks(rel: Release, population: Microdata | None = None) -> dict[str, str]:
    """Risks of being identified, from the quasi-identifiers as they are published.

    Without a `population` the prosecutor's risk is an upper bound of the journalist's.
    See K. El Emam, *Guide to the de-identification of personal health information*, 2013, ch. 16.
    """
    found = measure.identification(rel, population, rows=False)
    people, sizes = found.pop("people"), found["prosecutor"]
    whose = "rows" if rel.microdata.people is None else "people"
    told = {
        "rows": f"{rel.entries.rows(rel.shown):,}",
        f"{whose} that are unique": f"{people[sizes == 1].sum():,}",
        f"{whose} in classes below 5": f"{people[sizes > 1 / 5].sum():,}",
    }
    for who, risk in found.items():
        told |= {
            f"{who}: average risk": f"{np.average(risk, weights=people):.2%}",
            f"{who}: highest risk": f"{risk.max():.2%}",
            f"{who}: rows above one in five": f"{people[risk > 1 / 5].sum() / people.sum():.2%}",
        }
    if population is None:
        told["journalist: highest risk, at most"] = told["prosecutor: highest risk"]
    return told | {"marketer: links that are right": told[f"{who}: average risk"]}


def suggested(m: Microdata, command: Sequence[str]) -> dict[str, str]:
    """Return one command that protects a table, and how much detail it costs."""
    counts = [GroupCounts.of(Entries.of_rows(m, np.zeros(m.n, int)), s) for s in m.sensitives]
    k, l = min(5, m.n_people), 2
    if k < 2:
        return {}
    diverse = len(counts) == 1 and bool(2 * counts[0].counts.max() <= m.n_people)
    p = mondrian(m, k, l=l) if diverse else mondrian(m, k)
    rel, asked = generalize(m, p), ["--method", "mondrian", "--k", str(k)]
    asked += ["--l", str(l)] * diverse + ["--publish", "generalize", "-o", "safe.csv"]
    files, flags = {"--risks", "--save-schema", "--population"}, {"--json", "--force", "-q"}
    pairs = itertools.pairwise(["", *command[2:]])
    own = [a for before, a in pairs if before not in files and a not in files | flags]
    return {
        "command": shlex.join(["python", "-m", "anonpaper", "anonymize", *own, *asked]),
        "share of detail lost (GCP)": f"{measure.gcp(rel):.1%}",
    }


#: Every named attacker, and why one was not played.
_NOT_PLAYED = {
    "counts the file": "there is no sensitive value",
    "takes missing values as unknown": "no sensitive value is missing",
    "sees which rows are synthetic": "no row is synthetic",
    "is told the values of a withheld class": "no class was withheld for its values",
    "is told the values of other withheld people": "nobody is withheld, except in such classes",
    "knows the secrets of 1 in the group": "people have several rows or no sensitive value",
    _MINIMALITY: "the method looks at no sensitive value",
    _DEFINETTI: "the release shows no groups",
}


def attackers_tried(rel: Release) -> list[dict]:
    """Report every named attacker: the surest guess of a sensitive value, or why it is not known.

    ``sure`` is the largest share of a value in a group of people whom the attacker tells apart;
    for minimality, the largest posterior; for deFinetti's attack, the share of right guesses.
    ``played`` says what it is: exactly what the attacker concludes, at least, on average.
    """
    m, found, reasons = rel.microdata, {}, dict(_NOT_PLAYED)
    tables = [measure.attackers(rel)]
    tables += [measure.attackers(rel, knows=1)] if m.people is None else []
    thetas = [t[t["principle"].str.startswith("theta")]["each"] for t in tables]
    for who, share in (told for each in pd.concat(thetas) for told in each.items()):
        note = "who infers them can be more or less sure" if who.startswith("is told") else ""
        found[who] = max(found.get(who, (0,)), (share, "exactly", note))
    values = [value for name in m.sensitives for value in m.attribute(name).values]
    if not is_among(MISSING, values):
        found.pop("takes missing values as unknown", None)
    if not m.synthetic.any():
        found.pop("sees which rows are synthetic", None)
    if rel.method == "another tool":
        reasons |= dict.fromkeys(("is told the values of a withheld class", _MINIMALITY),
                                 "the method is not known")  # fmt: skip
    try:
        if any(text.startswith("minimality") for text in rel.warnings):
            found[_MINIMALITY] = _repeated(rel)
    except AnonpaperError as error:
        reasons[_MINIMALITY] = str(error)
    if rel.shows_groups and m.n * m.sensitive_attribute.size > _MOST_BELIEFS:
        reasons[_DEFINETTI] = f"rows times values are above {_MOST_BELIEFS:,}"
    elif rel.shows_groups:
        right = measure.definetti(rel)
        note = f"guesses are right; by counting the group, {right['counted']:.3f}"
        found[_DEFINETTI] = right["learned"], "on average", note
    found = {who: found.get(who, (math.nan, "no", reason)) for who, reason in reasons.items()}
    names = ("attacker", "sure", "played", "note")
    return [dict(zip(names, (who, *told), strict=True)) for who, told in found.items()]


def _repeated(rel: Release) -> tuple[float, str, str]:
    """The result of repeating the method: how sure, the kind of number, and what it covers."""
    n = rel.microdata.n
    most = max(1, min(_MOST_TABLES, _MOST_REPEATED // n))
    if n > _MOST_REPEATED:
        raise ParameterError(f"the method is repeated on tables of up to {_MOST_REPEATED:,} rows")
    seen = measure.minimality(rel, most=most)
    sure = float(seen["concluded"].max())
    if seen["exact"].all():
        return sure, "exactly", ""
    note = f"the groups allow more than {most} tables; the method was not run on them"
    return sure, "at least", note


# -- as text -----------------------------------------------------------------------------------


def as_json(found: Mapping) -> str:
    """Return a report as JSON in ASCII; an infinite level is null."""
    return json.dumps(_plain(found), indent=2, allow_nan=False)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def as_text(found: Mapping) -> str:
    """Return a report as text: a title and indented lines per part."""
    simple = {title: part for title, part in found.items() if not _is_block(part)}
    blocks = [_lines(simple)] if simple else []
    for title, part in found.items():
        if _is_block(part) and part:
            told = _lines(part) if isinstance(part, Mapping) else _table(part)
            blocks.append("\n  ".join([title, *told.split("\n")]))
    return "\n\n".join(blocks)


def _is_block(part: object) -> bool:
    rows = isinstance(part, list) and len(part) > 0 and isinstance(part[0], Mapping)
    return rows or isinstance(part, Mapping)


def _lines(part: Mapping) -> str:
    width = max(len(str(key)) for key in part)
    return "\n".join(f"{key!s:<{width}}  {short(value)}" for key, value in part.items())


def short(value: object) -> str:
    """Return a value as a report shows it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {short(item)}" for key, item in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(short, value))
    if value is None:
        return "none"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{value:,}" if abs(value) > 9999 else str(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _table(rows: Sequence[Mapping]) -> str:
    """Write rows below their column names."""
    flat = []
    for row in rows:
        flat.append({})
        for key, value in row.items():
            flat[-1] |= value if isinstance(value, Mapping) else {key: value}
    columns = []
    for name in flat[0]:
        cells = [str(name), *(short(row[name]) for row in flat)]
        columns.append([f"{cell:<{max(map(len, cells))}}" for cell in cells])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))

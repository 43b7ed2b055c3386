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
from anonpaper.errors import AnonpaperError, is_among
from anonpaper.groups import Entries
from anonpaper.microdata import MISSING, Microdata
from anonpaper.partition.mondrian import mondrian
from anonpaper.principles import GroupCounts
from anonpaper.publish import Release, generalize, recode
from anonpaper.recoding import Recoding

__all__ = ["as_json", "as_text", "attackers_tried", "audit", "levels", "loss", "risks", "short",
           "suggested", "summary"]  # fmt: skip

_ROWS_NAMED = 5  # of a group, when the riskiest are listed
_MOST_TABLES = 200  # on which a report repeats the method
_MOST_REPEATED = 8_000  # rows of them together, and of the table
_MOST_BELIEFS = 10_000_000  # rows times values, for deFinetti's attack
_MINIMALITY = "repeats the method (minimality)"
_DEFINETTI = "learns from all groups (deFinetti)"


def levels(rel: Release) -> list[dict]:
    """Return every ``principle`` with the ``level`` that the file reaches, and its ``meaning``."""
    told = measure.attackers(rel).rename(columns={"file": "level"})
    return told.loc[told["meaning"] != "", ["principle", "level", "meaning"]].to_dict("records")


def audit(m: Microdata, top: int, population: Microdata | None = None) -> dict:
    """Report how exposed the rows of an original table are; list the `top` riskiest groups.

    A group has equal quasi-identifiers. Rows are numbered from 1, without the header, or named.
    """
    classes = Entries.of_cells(m, m.cells.tuple_of_cell)
    original = recode(m, Recoding.identity(m.attributes))
    whose = "rows" if m.people is None else "people"
    alone, others = _in_groups_below(2, m), {n: [q for q in m.qi if q != n] for n in m.qi}
    without = {n: _in_groups_below(2, m.with_roles(qi, None)) for n, qi in others.items() if qi}
    found = {
        "table": {
            "rows": m.n,
            **({} if m.people is None else {"people": m.n_people}),
            "quasi-identifiers": list(m.qi),
            "sensitive": m.sensitive,
            "rows dropped": m.dropped,
            "groups": len(m.cells),
        },
        "uniqueness": {
            f"unique {whose}": alone,
            "share": alone / m.n_people,
            "in groups below 5": _in_groups_below(5, m),
            "distinct values": {a.name: a.size for a in m.attributes},
            f"unique {whose} without": without,
        },
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
            f"its {whose}": int(whole.counts[frequent]),
            "largest frequency l": int(m.n_people // whole.counts[frequent]),
        }
    for name in m.sensitives or [None]:
        title = f"riskiest groups by {name}" if several else "riskiest groups"
        found[title] = _riskiest(classes, name, top)
    return found


def _in_groups_below(size: int, m: Microdata) -> int:
    classes = Entries.of_cells(m, m.cells.tuple_of_cell)
    return classes.people((GroupCounts.of(classes).sizes < size)[classes.group])


def _riskiest(classes: Entries, name: object, top: int) -> list[dict]:
    """Groups in which a sensitive value has the largest share; smaller groups first if equal."""
    m, cells, counts = classes.m, classes.m.cells, GroupCounts.of(classes, name)
    # without sensitive values, the risk is to be found at all
    share = (1 if name is None else counts.largest()) / counts.sizes
    found = []
    for g in np.lexsort((counts.sizes, -share))[:top]:
        values = zip(m.attributes, cells.tuples[g], strict=True)
        about = {"values": {a.name: a.values[code] for a, code in values}}
        about["rows"] = int(cells.tuple_sizes[g])
        if m.people is not None:
            about["people"] = int(counts.sizes[g])
        if name is not None:
            entries = slice(counts.start[g], counts.start[g + 1])
            likeliest = counts.sensitive[entries][counts.counts[entries].argmax()]
            about["likeliest value"] = m.attribute(name).values[likeliest]
            about["its share"] = float(share[g])
        if m.has_rows:
            rows = np.sort(cells.rows[cells.tuple_start[g] : cells.tuple_start[g + 1]])
            named = m.frame.index[rows[:_ROWS_NAMED]]
            named = named + 1 if pd.api.types.is_integer_dtype(named) else named
            about["in rows"] = [*map(str, named), *["..."] * (len(rows) > _ROWS_NAMED)]
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
    if m.n_people < 2:
        return {}
    k = min(5, m.n_people)
    try:
        p, l = mondrian(m, k, l=2), ["--l=2"]
    except AnonpaperError:  # no secret, several, or one that more than half of the people share
        p, l = mondrian(m, k), []
    asked = ["--method=mondrian", f"--k={k}", *l, "--publish=generalize", "-o", "safe.csv"]
    files, flags = {"--risks", "--save-schema", "--population"}, {"--json", "--force", "-q"}
    pairs = itertools.pairwise(["", *command[2:]])
    own = [a for before, a in pairs if before not in files and a not in files | flags]
    return {
        "command": shlex.join(["python", "-m", "anonpaper", "anonymize", *own, *asked]),
        "share of detail lost (GCP)": f"{measure.gcp(generalize(m, p)):.1%}",
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


def attackers_tried(rel: Release) -> pd.DataFrame:
    """Report every named attacker: the surest guess of a sensitive value, or why it is not known.

    ``sure`` is the largest share of a value in a group of people whom the attacker tells apart;
    for minimality, the largest posterior; for deFinetti's attack, the share of right guesses.
    ``played`` says what it is: exactly what the attacker concludes, at least, on average, or no.
    """
    m, told = rel.microdata, measure.attackers(rel)
    if m.people is None:
        told = pd.concat([told, measure.attackers(rel, knows=True)])
    each = pd.DataFrame([*told.loc[told["principle"].str.startswith("theta"), "each"]]).max()
    note = "who infers them can be more or less sure"
    found = {
        who: (share, "exactly", note if who.startswith("is told") else "")
        for who, share in each.items()
    }
    values = [value for name in m.sensitives for value in m.attribute(name).values]
    if not is_among(MISSING, values):
        found.pop("takes missing values as unknown", None)
    if not m.synthetic.any():
        found.pop("sees which rows are synthetic", None)
    if any(text.startswith("minimality") for text in rel.warnings):
        found[_MINIMALITY] = _repeated(rel)
    if rel.shows_groups:
        found[_DEFINETTI] = _learned(rel)
    reasons = dict(_NOT_PLAYED)
    if rel.method == "another tool":
        reasons["is told the values of a withheld class"] = "the method is not known"
        reasons[_MINIMALITY] = "the method is not known"
    rows = [(who, *found.get(who, (math.nan, "no", reason))) for who, reason in reasons.items()]
    return pd.DataFrame(rows, columns=["attacker", "sure", "played", "note"])


def _repeated(rel: Release) -> tuple[float, str, str]:
    """The result of repeating the method: how sure, the kind of number, and what it covers."""
    n = rel.microdata.n
    most = max(1, min(_MOST_TABLES, _MOST_REPEATED // n))
    if n > _MOST_REPEATED:
        why = f"the method is repeated on tables of up to {_MOST_REPEATED:,} rows"
        return math.nan, "no", why
    try:
        seen = measure.minimality(rel, most=most)
    except AnonpaperError as error:
        return math.nan, "no", str(error)
    note = f"the groups allow more than {most} tables; the method was not run on them"
    found = ("exactly", "") if seen["exact"].all() else ("at least", note)
    return float(seen["concluded"].max()), *found


def _learned(rel: Release) -> tuple[float, str, str]:
    """The result of deFinetti's attack."""
    if rel.microdata.n * rel.microdata.sensitive_attribute.size > _MOST_BELIEFS:
        return math.nan, "no", f"rows times values are above {_MOST_BELIEFS:,}"
    right = measure.definetti(rel)
    note = f"guesses are right; by counting the group, {right['counted']:.3f}"
    return right["learned"], "on average", note


# -- as text -----------------------------------------------------------------------------------


def as_json(found: Mapping) -> str:
    """Return a report as JSON in ASCII; an infinite level is null."""
    text = json.dumps(found, default=lambda v: v.item() if isinstance(v, np.generic) else str(v))
    return json.dumps(json.loads(text, parse_constant=lambda _: None), indent=2)


def as_text(found: Mapping) -> str:
    """Return a report as text: short values, then a title and indented lines per part."""
    short_ones, parts = [], {}
    for title, part in found.items():
        if isinstance(part, Mapping):
            parts[title] = [*part.items()]
        elif isinstance(part, list) and part and isinstance(part[0], Mapping):
            flat = [_flat(row) for row in part]
            parts[title] = [flat[0].keys(), *(row.values() for row in flat)]
        else:
            short_ones.append((title, part))
    blocks = ["\n".join(_aligned(short_ones))] if short_ones else []
    blocks += ["\n  ".join([title, *_aligned(rows)]) for title, rows in parts.items() if rows]
    return "\n\n".join(blocks)


def _flat(row: Mapping) -> dict:
    """Return a row with the items of its mappings in their place."""
    items = (v.items() if isinstance(v, Mapping) else [(key, v)] for key, v in row.items())
    return dict(itertools.chain.from_iterable(items))


def _aligned(rows: Sequence) -> list[str]:
    cells = [[short(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (zip(row, widths, strict=True) for row in cells)
    return ["  ".join(f"{cell:<{width}}" for cell, width in line).rstrip() for line in lines]


def short(value: object) -> str:
    """Return a value as a report shows it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {short(item)}" for key, item in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(short, value))
    if isinstance(value, (bool, np.bool_)) or value is None:
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, (int, np.integer)):
        return f"{value:,}" if abs(value) > 9999 else str(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)

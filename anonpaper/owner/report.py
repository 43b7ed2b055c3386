"""What a table or a release shows its owner: facts by name, as text, as JSON, or as a page."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper import measure
from anonpaper.errors import AnonpaperError
from anonpaper.files import check_place
from anonpaper.groups import Entries, are_in_several_tuples
from anonpaper.microdata import Microdata
from anonpaper.principles import GroupCounts
from anonpaper.publish import Release, recode
from anonpaper.recoding import Recoding

_ROWS_NAMED = 5  # of a group, when the riskiest are listed
_MOST_TABLES = 200  # on which a report repeats the method
_MOST_REPEATED = 8_000  # rows of them together, and of the table
_MOST_BELIEFS = 10_000_000  # rows times values, for deFinetti's attack
#: Raises FileError if a page cannot be written to a path.
check_page_place = partial(check_place, endings=(".html", ".htm"),
                           of="a report is a page of HTML, .html or .htm")  # fmt: skip
#: Every attacker who counts, and why one was not played.
_NOT_PLAYED = {
    "counts the file": "there is no sensitive value",
    "takes missing values as unknown": "there is no sensitive value",
    "sees which rows are synthetic": "there is no sensitive value",
    "is told the values of a withheld class": "no class is known to be withheld for its values",
    "is told the values of other withheld people": "nobody is withheld, except in such classes",
    "knows the secrets of 1 in the group": "people have several rows or no sensitive value",
}


def audit(m: Microdata, top: int, population: Microdata | None = None) -> dict:
    """Report how exposed the rows of an original table are; list the `top` riskiest groups.

    A group has equal quasi-identifiers. Rows are numbered from 1, without the header.
    """
    classes = Entries.of_cells(m, m.cells.tuple_of_cell)
    original = recode(m, Recoding.identity(m.attributes))
    whose = "rows" if m.people is None else "people"
    others = {name: [other for other in m.qi if other != name] for name in m.qi}
    without = {n: _in_groups_below(2, m.with_roles(qi, None)) for n, qi in others.items() if qi}
    feasible, riskiest = {}, [] if m.sensitives else _riskiest(classes, None, top)
    for name in m.sensitives:
        riskiest += _riskiest(classes, name, top)
        whole = GroupCounts.of(classes.in_groups(np.zeros_like(classes.group)), name)
        feasible[name] = {
            "values": len(whole.counts),
            "most frequent": m.attribute(name).values[whole.sensitive[whole.counts.argmax()]],
            f"its {whose}": int(whole.counts.max()),
        }
        if m.people is None or not are_in_several_tuples(m):  # otherwise no method promises it
            feasible[name]["largest frequency l"] = int(m.n_people // whole.counts.max())
    table = {"rows": m.n, "people": m.n_people, "rows dropped": m.dropped, "groups": len(m.cells)}
    table |= {"quasi-identifiers": list(m.qi), "sensitive": m.sensitives}
    alone = _in_groups_below(2, m)
    return {
        "table": table,
        "uniqueness": {
            f"unique {whose}": alone,
            "share": alone / m.n_people,
            "in groups below 5": _in_groups_below(5, m),
            "distinct values": {a.name: a.size for a in m.attributes},
            f"unique {whose} without": without,
        },
        "risk": _risks(original, population),
        "levels": _levels(original),
        "feasible": feasible,
        "riskiest groups": riskiest,
    }


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
        about["rows" if m.people is None else "people"] = int(counts.sizes[g])
        if name is not None:
            entries = slice(counts.start[g], counts.start[g + 1])
            likeliest = counts.sensitive[entries][counts.counts[entries].argmax()]
            about |= {"sensitive": name, "likeliest value": m.attribute(name).values[likeliest]}
            about["its share"] = float(share[g])
        if m.has_rows:
            rows = m.frame.index[np.sort(cells.rows[slice(*cells.tuple_start[g : g + 2])])] + 1
            named = map(str, rows[:_ROWS_NAMED])
            about["in rows"] = [*named, *["..."] * (len(rows) > _ROWS_NAMED)]
        found.append(about)
    return found


# -- a release ---------------------------------------------------------------------------------


def summary(rel: Release, population: Microdata | None = None) -> dict:
    """Report on a release, for its owner; EmptyTableError without a published row."""
    m, (withheld, share) = rel.microdata, rel.withheld
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
        "levels": _levels(rel),
        "loss": {  # a withheld row has lost all of its detail
            "stars": measure.stars(rel),
            "rows with a star": measure.suppressed_rows(rel),
            "share of detail lost (GCP)": measure.gcp(rel),
            "discernibility": measure.discernibility(rel),
            "mean group size": measure.average_class_size(rel),
        },
        "risk": _risks(rel, population),
        **({"warnings": list(rel.warnings)} if rel.warnings else {}),
    }


def _levels(rel: Release) -> list[dict]:
    """Every ``principle`` with the ``level`` that the file reaches, and its ``meaning``."""
    told = measure.attackers(rel).rename(columns={"file": "level"})
    return told.loc[told["meaning"] != "", ["principle", "level", "meaning"]].to_dict("records")


def _risks(rel: Release, population: Microdata | None = None) -> dict[str, str]:
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


def attackers_tried(rel: Release) -> pd.DataFrame:
    """Report every named attacker: the surest guess of a sensitive value, or why it is not known.

    ``sure`` is the largest share of a value in a group of people whom the attacker tells apart;
    for minimality, the largest posterior; for deFinetti's attack, the share of right guesses.
    ``played`` says what it is: exactly what the attacker concludes, at least, on average, or no.
    """
    told = measure.attackers(rel)
    if rel.microdata.people is None:
        told = pd.concat([told, measure.attackers(rel, knows=True)])
    sure, rows = pd.DataFrame([*told["each"][told["principle"].str.startswith("theta")]]).max(), []
    for who, why in _NOT_PLAYED.items():
        note = "who infers them can be more or less sure" * who.startswith("is told")
        rows.append((sure[who], "exactly", note) if who in sure else (math.nan, "no", why))
    names = [*_NOT_PLAYED, "repeats the method (minimality)", "learns from all groups (deFinetti)"]
    rows += [_repeated(rel), _learned(rel)]
    found = pd.DataFrame(rows, columns=["sure", "played", "note"])
    found.insert(0, "attacker", names)
    return found


def _repeated(rel: Release) -> tuple[float, str, str]:
    """The result of repeating the method: how sure, the kind of number, and what it covers."""
    n = rel.microdata.n
    most = max(1, min(_MOST_TABLES, _MOST_REPEATED // n))
    if rel.method == "another tool":
        return math.nan, "no", "the method is not known"
    if not any(text.startswith("minimality") for text in rel.warnings):
        return math.nan, "no", "the method looks at no sensitive value"
    if n > _MOST_REPEATED:
        return math.nan, "no", f"repeated on tables of up to {_MOST_REPEATED:,} rows"
    try:
        seen = measure.minimality(rel, most=most)
    except AnonpaperError as error:
        return math.nan, "no", str(error)
    sure = float(seen["concluded"].max())
    if seen["exact"].all():
        return sure, "exactly", ""
    note = f"the groups allow more than {most} tables; the method was not run on them"
    return sure, "at least", note


def _learned(rel: Release) -> tuple[float, str, str]:
    """The result of deFinetti's attack."""
    if not rel.shows_groups:
        return math.nan, "no", "the release shows no groups"
    if rel.microdata.n * rel.microdata.sensitive_attribute.size > _MOST_BELIEFS:
        return math.nan, "no", f"rows times values are above {_MOST_BELIEFS:,}"
    right = measure.definetti(rel)
    note = f"guesses are right; by counting the group, {right['counted']:.3f}"
    return right["learned"], "on average", note


# -- as text, JSON, and a page -----------------------------------------------------------------


def as_json(found: Mapping) -> str:
    """Return a report as JSON in ASCII; an infinite level is null."""
    text = json.dumps(found, default=lambda v: v.item() if isinstance(v, np.generic) else str(v))
    return json.dumps(json.loads(text, parse_constant=lambda _: None), indent=2)


def as_text(found: Mapping) -> str:
    """Return a report as text: single values, then a title and indented lines per part."""
    blocks = []
    for title, rows in _tables(found).items():
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        cells = (zip(row, widths, strict=True) for row in rows)
        lines = ["  ".join(f"{cell:<{width}}" for cell, width in row).rstrip() for row in cells]
        blocks.append("\n  ".join([title, *lines]) if title else "\n".join(lines))
    return "\n\n".join(blocks)


def _tables(found: Mapping) -> dict[str, list[list[str]]]:
    """The rows of every part, a header first if a part has columns; first the single values."""
    tables = {"": []}
    for title, part in found.items():
        if isinstance(part, Mapping):
            tables[title] = [*part.items()]
        elif isinstance(part, list) and part and isinstance(part[0], Mapping):
            tables[title] = [list(part[0]), *(row.values() for row in part)]
        else:
            tables[""].append((title, part))
    return {title: [[*map(_short, row)] for row in rows] for title, rows in tables.items() if rows}


def _short(value: object) -> str:
    """A value as a report shows it; a number that is not known is empty."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_short(item)}" for key, item in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_short, value)) or "none"
    if isinstance(value, (bool, np.bool_)) or value is None:
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, (int, np.integer)):
        return f"{value:,}" if abs(value) > 9999 else str(value)
    return f"{value:.4g}".replace("nan", "") if isinstance(value, float) else str(value)


def page(rel: Release, call: str | None = None) -> str:
    r"""Return the page, for the table's owner. Half of a surrogate pair is shown as ``\ud800``."""
    import jinja2

    m = rel.microdata
    people = m.take(~m.synthetic) if m.synthetic.any() else m
    sides = {"before": recode(people, Recoding.identity(people.attributes)), "after": rel}
    if m.synthetic.any():
        sides["after, real people only"] = rel.without_synthetic()
    shown = {name: summary(side) for name, side in sides.items() if side.shown.any()}
    for told in shown.values():
        told["levels"] = {f"{one['principle']} ({one['meaning']})": one["level"]
                          for one in told["levels"]}  # fmt: skip
    found = {"what was done": _done(rel, call)}
    if "after" in shown:
        found["attackers tried"] = attackers_tried(rel).to_dict("records")
    for title in ("rows", "risk", "levels", "loss"):
        beside = {name: pd.Series(told[title], dtype=object) for name, told in shown.items()}
        found[title] = pd.concat(beside, axis=1).reset_index(names="").to_dict("records")
    of_groups = "Quasi-identifiers are unchanged, so everybody sees who is in it."
    source = Path(__file__).with_name("page.html.jinja").read_text(encoding="utf-8")
    template = jinja2.Environment(autoescape=True, trim_blocks=True).from_string(source)
    text = template.render(
        promise=_promise(rel),
        found=found,
        tables=_tables(found),
        warnings=[*rel.warnings, *([of_groups] if rel.shows_groups else [])],
    )
    return f"{text}\n".encode(errors="backslashreplace").decode()


def _promise(rel: Release) -> str:
    if rel.is_seeded:
        return "Do not publish the table either: it was swapped with a seed."
    if not rel.promised:
        return "The promise of the method is not known here: judge the levels below."
    words = {True: "holds", False: "DOES NOT HOLD"}
    found = ", ".join(f"{p} {words[level is None]}" for p, level in rel.kept().items())
    accepted = f" Written all the same: {rel.accepted}." if rel.accepted else ""
    return f"Promised for real people, against who counts rows of the file: {found}.{accepted}"


def _done(rel: Release, call: str | None) -> dict[str, object]:
    m = rel.microdata
    facts = {
        "call": call or rel.call,
        "input": m.origin,
        "quasi-identifiers": list(m.qi),
        "sensitive": list(m.sensitives),
        "people": "" if m.people is None else f"{m.n_people:,}, by {m.person}",
        "synthetic rows": int(m.synthetic.sum()),
        "published as": rel.method,
        "versions": f"anonpaper {version('anonpaper')}, Python {platform.python_version()}, "
        f"numpy {np.__version__}, pandas {pd.__version__}",
    }
    return {name: fact for name, fact in facts.items() if fact}

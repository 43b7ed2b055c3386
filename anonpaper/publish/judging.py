"""What a release keeps of its promises, what attackers conclude beyond them, and its audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from anonpaper import principles
from anonpaper.coding import near_equal
from anonpaper.errors import ParameterError, PromiseError, check_choice
from anonpaper.groups import Partition, dense_labels
from anonpaper.principles import Principle
from anonpaper.publish.conclusions import attackers, check_release, promises_on, withheld_groups

if TYPE_CHECKING:
    from anonpaper.publish.release import Release

__all__ = ["audit", "broken", "check_promise", "has_residue", "kept", "uncounted", "warnings",
           "withheld"]  # fmt: skip

_SEEDED = (
    "swapped with a seed: an attacker who guesses it undoes the swaps, so this table must not be "
    "published; swap without a seed instead"
)
_REPEATED = (
    "people have several rows: an attacker who knows how many rows somebody has, or in which "
    "classes, can conclude more than the levels say; they judge each class separately"
)
_SEVERAL = (
    "a row has several sensitive values: an attacker who knows one of them can be surer of the "
    "others than the levels say; they judge each attribute separately"
)
_MINIMALITY = (
    "minimality attack: {algorithm} looks at sensitive values{removed}, so who repeats it on all "
    "tables that fit can conclude more than the levels say: see ap.measure.minimality"
)
_DEFINETTI = (
    "deFinetti's attack: who learns from all groups which sensitive values go with which "
    "quasi-identifiers can guess better than the levels say"
)


def warnings(rel: Release) -> tuple[str, ...]:
    """Attackers who conclude more than was promised, and attacks that no level covers."""
    beyond = [f"{row.principle} {row.concluded:.3g} ({_by_whom(row)})" for row in broken(rel)]
    told = f"attackers conclude more than promised: {'; '.join(beyond)}"
    return (*[told][: len(beyond)], *rel._uncounted)


def concluded(rel: Release) -> pd.DataFrame:
    """The table of :func:`attackers`; written files are read each time."""
    if rel._attacked is None or rel._written:
        rel._attacked = attackers(rel)
    return rel._attacked


def broken(rel: Release) -> list:
    """The rows of `concluded` whose promise an attacker breaks."""
    rows = concluded(rel).itertuples() if rel.shown.any() else ()
    return [row for row in rows if row.people and row.promised == row.promised]


def uncounted(rel: Release) -> list[str]:
    """Attacks that no level covers."""
    m, p = rel.microdata, rel._partition
    found = [_SEEDED] if rel.is_seeded else []
    found += [_DEFINETTI] if rel.method == "anatomize" else []
    found += [] if m.people is None else [_REPEATED]
    found += [_SEVERAL] if len(m.sensitives) > 1 else []
    for name, codes in zip(m.sensitives, m.cells.secrets.T, strict=True):
        found += [
            f"{texts} of {name!r} may be one value: they count as different sensitive values"
            for texts in near_equal(m.attribute(name).values[np.unique(codes)])
        ]
    by_tp = p is not None and has_residue(p)
    if by_tp or (m.sensitives and any(one.needs_sensitive for one in rel.promised)):
        removed = f" and removed {p.info['residue_size']} rows" if by_tp else ""
        made_by = (rel.recoding or p).algorithm
        found.append(_MINIMALITY.format(algorithm=made_by, removed=removed))
    return found


def withheld(rel: Release) -> tuple[int, float]:
    """Withheld rows, and the largest share of one sensitive value in a group of them.

    A group is a class that was withheld for its values, or all others together; who is told the
    values of the group guesses right with this probability. The share, of people, is nan if no
    real row is withheld or there is no sensitive attribute.
    """
    labels = withheld_groups(rel)
    rows = rel.entries.rows(~rel.shown)
    if not (labels >= 0).any() or not rel.microdata.sensitives:
        return rows, float("nan")
    return rows, float(principles.Theta(1).level(rel.entries.in_groups(labels)))


def audit(rel: Release) -> pd.DataFrame:
    """Report which level of each principle the release reaches, and what levels do not cover.

    A DataFrame with the columns ``principle``, ``level`` and ``meaning``. Each level is the worst
    equivalence class, for each sensitive attribute; t-closeness treats all values as equally far
    apart. Where people have several rows, levels count people, and the rows of the smallest class
    follow. Then come `withheld`; a row ``..., concluded`` for each level that an attacker makes
    worse; and a row ``warning`` for each attack that no level covers. After ``write``, the levels
    of a table of counts are read from the files.

    >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
    >>> audit(rel)["level"][0].item()
    2.0
    """
    told = list(concluded(check_release(rel)).itertuples())
    found = [(row.principle, row.file, row.meaning) for row in told if row.meaning]
    if rel.microdata.people is not None:
        fewest = float(rel.classes.sizes().min())
        found.insert(1, ("rows in a class", fewest, "fewest; several may be of one"))
    rows, share = rel.withheld
    if rows:
        found.append(("rows withheld", float(rows), "in the table but not in the release"))
    if share == share:
        whose = "" if rel.microdata.people is None else ", of people"
        found.append(("theta of them", share, f"largest share of one sensitive value{whose}"))
    found += [(f"{row.principle}, concluded", row.concluded, _by_whom(row))
              for row in told if row.people or row.concluded != row.file]  # fmt: skip
    found += [("warning", float("nan"), text) for text in rel._uncounted]
    return pd.DataFrame(found, columns=["principle", "level", "meaning"])


def check_promise(
    rel: Release, against: Literal["file", "register"] = "file", accept: str | None = None
) -> None:
    """Raise PromiseError if the rows of real people keep less than was promised.

    `against` and `accept` are as for :meth:`write`; everything that publishes calls this first.
    """
    check_choice("against", against, ("file", "register"))
    if accept is not None and not (isinstance(accept, str) and accept.strip()):
        raise ParameterError(f"accept must be a reason in words, got {accept!r}")
    rel.accepted = accept or rel.accepted
    if accept is not None or not rel.shown.any():
        return
    found = [
        f"{promise} is promised, but the rows of real people reach {level:.4g}"
        for promise, level in kept(rel).items()
        if level is not None
    ]
    remedy = "Run the algorithm on this table, " if found else ""
    if rel.recoding is not None:
        remedy += (
            "withhold failing classes by r.withhold = r.promised before ap.recode(m, r), "
            if found
            else "Use a smaller suppression (--suppression), "
        )
    if against == "register" and broken(rel):
        found.append(warnings(rel)[0])
    if found:
        raise PromiseError(
            f"{'; '.join(found)}: nothing was published. "
            f'{remedy}or pass accept="the reason" (--accept), which the report prints'
        )


def kept(rel: Release) -> dict[Principle, float | None]:
    """Return each promise: None if it holds for the rows of real people, or their level."""
    shown = rel.audited()
    real = shown.in_groups(dense_labels(np.where(shown.is_real, shown.group, -1)))
    none = (real.group < 0).all()
    asked = [p for name in (None, *rel.microdata.sensitives) for p in promises_on(rel, name)]
    return {p: None if none or p.holds(real) else p.level(real) for p in asked}


def _by_whom(row) -> str:
    """Who concludes a row of `concluded`, and of how many people."""
    bound = "the level of the file" if row.promised != row.promised else f"{row.promised:.4g}"
    return f"{row.attacker}: {row.people:,} of {row.of:,} people beyond {bound}"


def has_residue(p: Partition) -> bool:
    """Whether TP or TP+ made the groups and removed rows."""
    return "removed_by_phase" in p.info and p.info["residue_size"] > 0

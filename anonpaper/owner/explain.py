"""Why a row of a release looks as it does: its group, conflicting values, finer choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anonpaper.display import html, html_table
from anonpaper.errors import ColumnError, check_sequence
from anonpaper.principles import KAnonymity, Principle

__all__ = ["Explanation", "explain"]

_OTHERS_NAMED = 5
_COLUMNS = ["attribute", "value", "published", "in the way", "finer", "breaks"]


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a row is published as it is. For the table's owner: it names values of other rows.

    ``attributes`` has a row per quasi-identifier: its ``value`` and ``published`` value; ``in the
    way``, other values in its group; ``finer``, the next finer choice for this column; and
    ``breaks``, which of the `promised` principles that choice would break, and for which groups.
    """

    row: object  # its label
    rows: int  # published alike, itself included; 0 if it is withheld
    sensitive: dict  # their values of each sensitive attribute with numbers of rows
    promised: tuple[Principle, ...]
    attributes: pd.DataFrame

    def _facts(self) -> list[tuple[str, str]]:
        if not self.rows:
            return [("withheld", "the row is in the table, but not in the release")]
        facts = [("for the owner of the table", "do not pass it on")]
        facts.append(("rows published alike", f"{self.rows:,}"))
        for name, values in self.sensitive.items():
            held = ", ".join(f"{value} ({rows:,})" for value, rows in values.items())
            facts.append((f"their {name}", held))
        return [*facts, ("tested against", ", ".join(map(str, self.promised)))]

    def __str__(self) -> str:
        lines = [f"{self.row!r}", *(f"{name}: {text}" for name, text in self._facts())]
        for entry in self.attributes.to_dict("records"):
            lines.append(f"{entry['attribute']}: {entry['value']} -> {entry['published']}")
            lines += [f"    {name}: {entry[name]}" for name in _COLUMNS[3:] if entry[name]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        table = html_table(self.attributes, index=False, rows=len(self.attributes))
        return html(f"Why {self.row!r} looks as it does", self._facts(), table)


def explain(rel, row: object, require: Sequence[Principle] | None = None) -> Explanation:
    """Say why a row looks as it does; :meth:`Release.explain` documents it."""
    m, labels = rel.audited()
    places = np.flatnonzero(m.frame.index == row) if np.ndim(row) == 0 else []
    if len(places) != 1:
        raise ColumnError(
            f"{len(places)} rows of the table have the index label {row!r}: give the label of "
            f"exactly one row, such as {m.frame.index[0]!r}"
        )
    place = int(places[0])
    if require is None:
        smallest = KAnonymity(1).level(m, labels) if rel.is_published.any() else 1
        principles = rel.promised or (KAnonymity(smallest),)
    else:
        principles = tuple(check_sequence("require", require, Principle))
    if labels[place] < 0:
        return Explanation(row, 0, {}, principles, pd.DataFrame(columns=_COLUMNS))
    alike = np.flatnonzero(labels == labels[place])
    sensitive = {
        name: pd.Series(m.attribute(name).values[m.codes_of(name)[alike]]).value_counts().to_dict()
        for name in m.sensitives
    }
    entries = [_entry(rel, m, labels, place, alike, j, principles) for j in range(m.d)]
    attributes = pd.DataFrame(entries, columns=_COLUMNS)
    return Explanation(row, len(alike), sensitive, principles, attributes)


def _entry(rel, m, labels, place: int, alike: np.ndarray, j: int, principles) -> tuple:
    """One row of the table: attribute j of the row at `place`."""
    published, attribute = rel.published[j], m.attributes[j]
    value, shown = attribute.values[m.codes[place, j]], published.labels[published.index[place]]
    others = m.codes[alike, j][m.codes[alike, j] != m.codes[place, j]]
    codes, rows = np.unique(others, return_counts=True)
    order = np.argsort(-rows, kind="stable")[:_OTHERS_NAMED]
    named = [f"{attribute.values[codes[i]]} ({rows[i]:,})" for i in order]
    more = ", ..." if len(codes) > _OTHERS_NAMED else ""
    finer = breaks = ""
    if not published.sub_domains.is_kept[published.index[place]]:
        finer, scope, ids = _finer(rel, m, place, alike, j)
        split = labels * (int(ids.max()) + 2) + np.where(scope, ids + 1, 0)
        split[labels < 0] = -1
        split[labels >= 0] = pd.factorize(split[labels >= 0])[0]
        found = [_broken(rel, m, split, j, principle) for principle in principles]
        breaks = "; ".join(filter(None, found)) or (
            "no promise: the method chose another column, or stopped its search"
        )
        if rel.recoding is not None and rel.withheld[0]:
            breaks += f"; besides the {rel.withheld[0]:,} rows withheld now"
    return attribute.name, value, shown, ", ".join(named) + more, finer, breaks


def _finer(rel, m, place: int, alike: np.ndarray, j: int) -> tuple[str, np.ndarray, np.ndarray]:
    """The next finer choice for attribute j: in words, rows it would change, their new values.

    It is the values themselves, or the next level down of a recoding's hierarchy. It concerns the
    whole column if every column has one level, otherwise this group or sub-domain.
    """
    attribute, codes, r = m.attributes[j], m.codes[:, j], rel.recoding
    if r is None:
        scope = np.zeros(m.n, dtype=bool)
        scope[alike] = True
        return "the values themselves in this group", scope, codes
    index = rel.published[j].index
    scope = index == index[place]
    tree = r.trees.get(attribute.name)
    if tree is None:
        return "the values themselves in this sub-domain", scope, codes
    maps, level = tree.maps(attribute), r.info.get("levels", {}).get(attribute.name)
    if level is None:
        held, where = np.unique(codes[scope]), "in this sub-domain"
        splits = (i for i in range(tree.height, 0, -1) if len(np.unique(maps[i][held])) > 1)
        below = next(splits, 0)
    else:
        below, scope, where = level - 1, np.ones(m.n, dtype=bool), "in the whole column"
    name = tree.written(attribute.values[codes[place]], below)
    return f"level {below} {where}, here {name}", scope, maps[below][codes]


def _broken(rel, m, labels: np.ndarray, j: int, principle: Principle) -> str:
    """Name the groups in which a principle fails, and the smallest of them."""
    failing = principle.failing(m, labels)
    if len(failing) == 0:
        return ""
    sizes = np.bincount(labels[labels >= 0])
    smallest = failing[sizes[failing].argmin()]
    row = int(np.flatnonzero(labels == smallest)[0])
    shown = [f"{p.attribute.name} {p.labels[p.index[row]]}" for p in rel.published]
    del shown[j]
    own = f"{m.qi[j]} {m.attributes[j].values[m.codes[row, j]]}"
    return (
        f"{principle} in {len(failing):,} groups of {sizes[failing].sum():,} rows, the smallest "
        f"({sizes[smallest]:,}) of {', '.join([own, *shown])}"
    )

"""Attackers: what each of them concludes, beside what was promised and what the file shows.

* *counts the file*: knows a person's class and counts its rows;
* *takes missing values as unknown*: also counts without them;
* *sees which rows are synthetic*: counts real people. A register tells how many there are in a
  class, so the other rows are invented;
* *has the register and knows the method*: looks up the classes of withheld people in the
  recoding. A class that is large enough was withheld because its sensitive values fail;
* *knows the value counts* of the table: subtracts the published ones. The rest are the values
  of all other withheld people together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from anonpaper import principles
from anonpaper.errors import is_among
from anonpaper.groups import dense_labels
from anonpaper.microdata import MISSING, Microdata
from anonpaper.principles import DistinctLDiversity, GroupCounts, KAnonymity, Principle, Theta
from anonpaper.publish.release import LEVELS, GroupRelease, Release, check_release

__all__ = ["attackers"]

_PUBLISHED, _WITHHELD, _REST = range(3)  # the kinds of groups, in this order
_FILE, _UNKNOWN = "counts the file", "takes missing values as unknown"
_SYNTHETIC = "sees which rows are synthetic"
_REGISTER, _COUNTS = "has the register and knows the method", "knows the value counts"
_ON_VALUES = (DistinctLDiversity, principles.FrequencyLDiversity, principles.EntropyLDiversity,
              principles.RecursiveLDiversity, Theta)  # fmt: skip


def attackers(rel: Release) -> pd.DataFrame:
    """Which level of each principle the strongest attacker concludes for real people.

    That attacker is told the sensitive values of every group of people that can be told apart: the
    real people of each published class, of each withheld class whose values must fail, and all
    other withheld people together. The other attackers guess no better on average.

    Parameters
    ----------
    rel : Release
        With at least one published row.

    Returns
    -------
    pandas.DataFrame
        A row per principle: k-anonymity, the levels of ``audit`` for each sensitive attribute, and
        further promises. Columns: ``promised`` (nan for none), ``file`` (by counting its rows),
        ``concluded``, ``attacker`` (the weakest who concludes it), ``exact`` (else at most that is
        concluded), ``people`` (real people in groups beyond the promise; without a promise, beyond
        ``file``), ``of`` (real people in the table) and ``meaning`` of the level.

    Raises
    ------
    ParameterError
        `rel` is no release, or has no published row.

    Notes
    -----
    The values of a withheld class must fail if as many people with the most even values would
    meet the principles. They are not known, so ``concluded`` is not exact, unless two distinct
    values were required: then there is one. O(n log n): at most six times an audit of the file.

    Examples
    --------
    >>> m = ap.Microdata(pd.DataFrame({"age": list("uuvv"), "ill": list("abcc")}), ["age"], "ill")
    >>> rel = ap.recode(m, ap.full_domain(m, k=2, l=2, suppression=0.5))
    >>> found = attackers(rel).set_index("principle")
    >>> level = found.loc["distinct l-diversity"]
    >>> level[["promised", "file", "concluded", "people"]].astype(int).tolist()
    [2, 2, 1, 2]
    """
    (m, shown), own = check_release(rel, weights=True).audited(), rel.microdata
    labels, kind = _told_apart(rel)
    exact = {_REGISTER: _has_one_value(rel), _COUNTS: _WITHHELD not in kind}
    found, of = [], _number(own, ~own.synthetic)
    for place, name in enumerate(own.sensitives or [None]):
        of_file, table = m.about(name), own.about(name)
        file, people = GroupCounts.of(of_file, shown), GroupCounts.of(table, labels)
        known = _known(file, of_file), _known(people, table)
        for title, meaning, promised, principle in _asked(rel, name):
            if isinstance(principle, KAnonymity) and place:
                continue
            sign = 1 if principle.larger_is_safer else -1  # so the least is the worst
            on_values = isinstance(principle, _ON_VALUES)
            about = kind if on_values else kind[kind == _PUBLISHED]  # others are of those shown
            sides = [(file, people), known] if on_values else [(file, _first(people, len(about)))]
            levels = sign * np.array([principle.levels(groups) for _, groups in sides], float)
            read = [sign * principle.level(counts) for counts, _ in sides]
            shown_levels = levels[:, about == _PUBLISHED]
            seen = {
                _FILE: read[0],
                _UNKNOWN: min(read),
                _SYNTHETIC: shown_levels[0].min(initial=np.inf),
                f"{_SYNTHETIC} and {_UNKNOWN}": shown_levels.min(initial=np.inf),
                _REGISTER: levels[:, about == _WITHHELD].min(initial=np.inf),
                _COUNTS: levels[:, about == _REST].min(initial=np.inf),
            }
            who = min(seen, key=seen.get)  # the first, if equal
            beyond = levels.min(axis=0) < read[0] - 1e-9
            if promised is not None:
                met = [principle.satisfied(groups) for _, groups in sides]
                beyond = ~np.logical_and.reduce(met)
            beyond = np.r_[beyond, np.zeros(len(kind) - len(about) + 1, bool)]  # last for -1
            found.append({
                "principle": title, "promised": promised, "file": sign * read[0],
                "concluded": sign * seen[who], "attacker": who,
                "exact": exact.get(who, True), "people": _number(own, beyond[labels]), "of": of,
                "meaning": meaning,
            })  # fmt: skip
    return pd.DataFrame(found).astype({"promised": float})


def _number(m: Microdata, rows: np.ndarray) -> int:
    """The number of people who have the rows under a mask."""
    return m.count(rows) if m.people is None else len(np.unique(m.people[rows]))


def _asked(rel: Release, name: object) -> Iterator[tuple[str, str, float | None, Principle]]:
    """Yield titles, meanings, promised bounds if any, and principles; standard ones first."""
    of, promised = f" of {name}" if len(rel.microdata.sensitives) > 1 else "", []
    for p in rel.promised_of(name):
        both = isinstance(p, principles.AlphaKAnonymity)
        promised += [KAnonymity(p.k), Theta(p.alpha)] if both else [p]
    whose = "rows" if rel.microdata.people is None else "people"
    size = ("k-anonymity", KAnonymity(1), f"smallest class, {whose}")
    if isinstance(rel, GroupRelease):
        meaning = "rows in the smallest group; who is in the table stays visible"
        size = ("group size", KAnonymity(1), meaning)
    levels = [(title + of, kind, meaning) for title, kind, meaning in LEVELS if name is not None]
    for title, kind, meaning in (size, *levels):
        same = [p for p in promised if _kind(p) == _kind(kind)]
        promised = [p for p in promised if p not in same]
        for p in sorted(same, key=lambda p: p.bound, reverse=kind.larger_is_safer)[:1]:
            yield title, meaning, p.bound, p
        if not same:
            yield title, meaning, None, kind
    yield from ((f"{p!r}{of}", "", p.bound, p) for p in promised)


def _kind(principle: Principle) -> tuple:
    return type(principle), getattr(principle, "distance", None)


# -- groups of people -------------------------------------------------------------------------


def _told_apart(rel: Release) -> tuple[np.ndarray, np.ndarray]:
    """The group of every row, -1 for synthetic ones, and the kind of every group."""
    m, labels = rel.microdata, rel.classes.labels.copy()
    classes, rest = rel.classes.n_groups, rel.classes.n_groups + len(labels)
    labels[labels < 0] = rest
    if rel.failing is not None and (rel.failing >= 0).any():
        rows = np.r_[_must_fail(rel), False][rel.failing]  # the last is for -1
        labels[rows] = classes + rel.failing[rows]
    labels[m.synthetic] = -1
    groups = np.unique(labels[labels >= 0])
    return dense_labels(labels), np.searchsorted([classes, rest], groups, "right")


def withheld_groups(rel: Release) -> np.ndarray:
    """Return the group of every withheld person, -1 for everybody else, shape (n,)."""
    labels, kind = _told_apart(rel)
    return dense_labels(np.where(np.r_[kind != _PUBLISHED, False][labels], labels, -1))


def _must_fail(rel: Release) -> np.ndarray:
    """Whether withheld classes fail for their values: the most even ones would not, bool, (G,)."""
    tell = True
    for principle in rel.recoding.withhold:
        for table in principle.tables(rel.microdata):
            sizes, place = np.unique(GroupCounts.of(table, rel.failing).sizes, return_inverse=True)
            of = 1 if table.sensitive is None else np.count_nonzero(table.sensitive_counts)
            even = sizes[:, None] // of + (np.arange(of) < sizes[:, None] % of)
            tell = tell & principle.satisfied(GroupCounts.of_table(even))[place]
    return tell


def _has_one_value(rel: Release) -> bool:
    """Whether a withheld class must have one value, as two distinct ones were required."""
    found = [] if rel.recoding is None else [p for p in rel.recoding.withhold if p.needs_sensitive]
    return len(rel.microdata.sensitives) == 1 and found == [DistinctLDiversity(2)]


def _first(counts: GroupCounts, groups: int) -> GroupCounts:
    """Return the counts of the first groups."""
    end = counts.start[groups]
    held = counts.sensitive[:end], counts.counts[:end]
    return GroupCounts(counts.sizes[:groups], counts.start[: groups + 1], *held)


def _known(counts: GroupCounts, m: Microdata) -> GroupCounts:
    """Return the counts without missing values, except in groups that have no other."""
    values = [] if m.sensitive is None else m.sensitive_attribute.values
    codes = [code for code, value in enumerate(values) if is_among(value, [MISSING])]
    return counts.without(next(iter(codes), None))

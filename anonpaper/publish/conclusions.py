"""Attackers: what each of them concludes, beside what was promised and what the file shows.

* *counts the file*: knows a person's class and counts its rows;
* *takes missing values as unknown*: also counts without them;
* *sees which rows are synthetic*: counts real people. A register tells how many there are in a
  class, so the other rows are invented;
* *is told the values of a withheld class*: looks up the classes of withheld people in the
  recoding. A class that is large enough was withheld because its sensitive values fail;
* *is told the values of other withheld people*: these are what is left of the table's values;
* *knows some secrets*: has asked other people of the class, and leaves them out.

Who only infers what others are told can be more or less sure of somebody: no better on average.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from anonpaper import principles
from anonpaper.errors import ParameterError, check_integer, is_among
from anonpaper.groups import Entries, dense_labels
from anonpaper.microdata import MISSING, Microdata
from anonpaper.principles import DistinctLDiversity, GroupCounts, KAnonymity, Principle, Theta

if TYPE_CHECKING:
    from anonpaper.publish.release import Release

__all__ = ["LEVELS", "attackers", "check_release", "promises_on", "withheld_groups"]

#: Standard principles on sensitive values: name, principle and meaning of the level.
LEVELS = [
    ("distinct l-diversity", principles.DistinctLDiversity(1), "fewest sensitive values"),
    ("frequency l-diversity", principles.FrequencyLDiversity(1), "smallest size / largest count"),
    ("entropy l-diversity", principles.EntropyLDiversity(1), "smallest exp(entropy)"),
    ("theta", principles.Theta(1), "largest share of one sensitive value"),
    ("t-closeness", principles.TCloseness(1), "largest distance from the table's distribution"),
]

_PUBLISHED, _WITHHELD, _REST = range(3)  # the kinds of groups, in this order
_FILE, _UNKNOWN = "counts the file", "takes missing values as unknown"
_SYNTHETIC = "sees which rows are synthetic"
_CLASS = "is told the values of a withheld class"
_OTHERS = "is told the values of other withheld people"
_COUNTING = (_FILE, _SYNTHETIC)  # who sees classes alone
_ON_VALUES = (DistinctLDiversity, principles.FrequencyLDiversity, principles.EntropyLDiversity,
              principles.RecursiveLDiversity, Theta)  # fmt: skip


def attackers(rel: Release, *, knows: int = 0) -> pd.DataFrame:
    """Which level of each principle the strongest attacker concludes for real people.

    That attacker is told the sensitive values of every group of people that can be told apart: the
    real people of each published class, of each withheld class whose values must fail (the most
    even ones of as many people would meet the principles), and all other withheld people together.
    With `knows`, also those of so many other people in a person's group, rarest first: no method
    promises anything against this. ParameterError without a published row, or for `knows` where
    people have several rows. O(n log n).

    The DataFrame has a row per principle: the levels of ``audit``, and further promises. Columns:
    ``promised`` (nan for none), ``file`` (by counting its rows), ``concluded``, ``attacker`` (the
    weakest who concludes it), ``people`` (real people in groups beyond the promise or, without
    one, beyond ``file``), ``of`` (real people), ``meaning``, and ``each``, a dict of the level of
    every attacker who has something to conclude from.

    Four people and a register. v and w are published. The two of age u are in the register, so
    they are a class of two, and were withheld because they have the same illness:

    >>> people = pd.DataFrame({"age": list("uuvvww"), "ill": list("aabcbc")})
    >>> m = ap.Microdata(people, ["age"], "ill")
    >>> rel = ap.recode(m, ap.full_domain(m, k=2, l=2, suppression=0.4))
    >>> found = attackers(rel).set_index("principle").loc["distinct l-diversity"]
    >>> found["attacker"], found[["promised", "file", "concluded", "people"]].astype(int).tolist()
    ('is told the values of a withheld class', [2, 2, 1, 2])
    """
    m, e = check_release(rel).microdata, rel.entries
    knows = check_integer("knows", knows, 0)
    if knows and m.people is not None:
        raise ParameterError("knows must be 0 where people have several rows and several values")
    # The file has published secrets, perhaps swapped; attackers are told those of the table.
    shown, own = rel.audited(), replace(e, secrets=m.cells.secrets[e.cell])
    labels, kind = _told_apart(rel)
    found, of = [], own.people(own.is_real)
    for place, name in enumerate(m.sensitives or [None]):
        told = _told(own, name, labels, kind)
        judged = tuple(_without(counts, knows) for counts in told["everything"])
        file = GroupCounts.of(shown, name)
        seers = {_FILE: [file], _UNKNOWN: [file, _known(file, shown.m, name)]} | told
        real = seers[_SYNTHETIC]
        del seers["everything"]
        if knows:
            seers[f"knows the secrets of {knows} in the group"] = judged
        for title, meaning, promised, principle in _asked(rel, name):
            if isinstance(principle, KAnonymity) and place:
                continue
            sign = 1 if principle.larger_is_safer else -1  # so the least is the worst
            on_values = isinstance(principle, _ON_VALUES)
            seen = {
                who: np.concatenate(
                    [[np.inf], *(sign * principle.levels(c) for c in counts)]
                ).min()
                for who, counts in seers.items()
                if on_values or who in _COUNTING
            }
            who = min(seen, key=seen.get)  # the weakest, if equal
            groups = judged if on_values else real
            if promised is None:  # then the level of the file is what people can expect
                met = [sign * principle.levels(c) >= seen[_FILE] - 1e-9 for c in groups]
            else:
                met = [principle.satisfied(counts) for counts in groups]
            # Groups that were not judged, and rows without one (-1), are beyond nothing.
            beyond = np.r_[~np.logical_and.reduce(met), np.zeros(labels.max() + 2, bool)]
            found.append({
                "principle": title, "promised": promised, "file": sign * seen[_FILE],
                "concluded": sign * seen[who], "attacker": who,
                "people": own.people(beyond[labels]), "of": of, "meaning": meaning,
                "each": {name: sign * at for name, at in seen.items() if at < np.inf},
            })  # fmt: skip
    return pd.DataFrame(found).astype({"promised": float})


def check_release(rel: object) -> Release:
    """Return `rel` if it is a Release; else ParameterError."""
    if not hasattr(rel, "published"):
        raise ParameterError(
            f"expected a Release, got {type(rel).__name__}: make one by ap.suppress(m, p), "
            "ap.recode(m, r) or another form of publication"
        )
    return rel


def promises_on(rel: Release, name: object = None) -> list[Principle]:
    """Return the promises on classes and on the sensitive attribute `name`."""
    return [p for p in rel.promised if not p.needs_sensitive
            or (name is not None and p.of in (None, name))]  # fmt: skip


def _asked(rel: Release, name: object) -> Iterator[tuple[str, str, float | None, Principle]]:
    """Yield titles, meanings, promised bounds if any, and principles; standard ones first."""
    of = f" of {name}" if len(rel.microdata.sensitives) > 1 else ""
    promised = promises_on(rel, name)
    whose = "rows" if rel.microdata.people is None else "people"
    size = ("k-anonymity", KAnonymity(1), f"smallest class, {whose}")
    if rel.shows_groups:
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
    """The group of every entry, -1 for synthetic ones, and the kind of every group."""
    labels, classes = rel.classes.group.copy(), rel.classes.n_groups
    withheld = labels < 0
    labels[withheld] = classes + len(labels)  # the rest, after all others
    if rel.failing is not None:
        apart = rel.failing >= 0
        labels[apart] = classes + rel.failing[apart]
    labels[~rel.entries.is_real] = -1
    groups = np.unique(labels[labels >= 0])
    kind = np.searchsorted([classes, classes + len(labels)], groups, "right")
    return dense_labels(labels), kind


def withheld_groups(rel: Release) -> np.ndarray:
    """Return the group of every entry of withheld people, -1 for all others."""
    labels, kind = _told_apart(rel)
    return dense_labels(np.where(np.r_[kind != _PUBLISHED, False][labels], labels, -1))


def _told(own: Entries, name: object, labels: np.ndarray, kind: np.ndarray) -> dict:
    """The real people of whose groups an attacker is told, the weakest attacker first."""

    def of(wanted: np.ndarray) -> list[GroupCounts]:  # a missing value is a value, and unknown
        groups = dense_labels(np.where(np.r_[wanted, False][labels], labels, -1))
        counts = GroupCounts.of(own.in_groups(groups), name)
        return [counts, _known(counts, own.m, name)]

    shown, withheld, rest = (of(kind == one) for one in (_PUBLISHED, _WITHHELD, _REST))
    told = {_SYNTHETIC: shown[:1], f"{_SYNTHETIC} and {_UNKNOWN}": shown}
    return told | {_CLASS: withheld, _OTHERS: rest, "everything": of(kind >= 0)}


def _without(counts: GroupCounts, known: int) -> GroupCounts:
    """Return groups without people whose values are known: all but one person, rarest first.

    What is left is as uneven as it can be, so no other choice of people gives a worse level.
    """
    if not known:
        return counts
    group = counts.group_of_entry
    rarest_first = np.lexsort((counts.counts, group))
    total = np.cumsum(counts.counts[rarest_first])
    before = np.r_[0, total][counts.start[:-1]][group]  # in earlier groups
    gone = np.minimum(min(known, counts.sizes.max(initial=0)), counts.sizes - 1)
    left = np.empty_like(counts.counts)
    held = counts.counts[rarest_first]
    left[rarest_first] = np.clip(total - before - gone[group], 0, held)
    return _left(counts, left, counts.sizes - gone)


def _known(counts: GroupCounts, m: Microdata, name: object) -> GroupCounts:
    """Return the people whose value is not missing, or all of a group that has no other."""
    values = [] if name is None else m.attribute(name).values
    codes = [code for code, value in enumerate(values) if is_among(value, [MISSING])]
    group = counts.group_of_entry
    lost = np.isin(counts.sensitive, codes) & (counts.distinct()[group] > 1)
    if not lost.any():
        return counts
    gone = np.bincount(group[lost], counts.counts[lost], len(counts.sizes)).astype(np.intp)
    kept = _left(counts, np.where(lost, 0, counts.counts), counts.sizes)
    # people with several rows can have both
    return replace(kept, sizes=np.maximum(counts.sizes - gone, kept.largest()))


def _left(counts: GroupCounts, left: np.ndarray, sizes: np.ndarray) -> GroupCounts:
    """Return groups of which only so many people of each entry are left."""
    kept = left > 0
    held = np.bincount(counts.group_of_entry[kept], minlength=len(sizes))
    return GroupCounts(sizes, np.r_[0, np.cumsum(held)], counts.sensitive[kept], left[kept])

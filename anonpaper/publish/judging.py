"""Attackers: what each of them concludes, beside what was promised and what the file shows.

Whoever only infers what an attacker is told is no better on average.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from anonpaper import errors, principles
from anonpaper.coding import near_equal
from anonpaper.errors import ParameterError
from anonpaper.groups import Entries, GroupCounts, Partition, dense_labels
from anonpaper.microdata import MISSING
from anonpaper.principles import Principle, TCloseness, Theta
from anonpaper.recoding import Recoding

__all__ = ["Published", "attackers", "audit", "check_promise", "check_release", "kept",
           "warnings", "withheld"]  # fmt: skip

#: Standard principles on sensitive values: name, principle and meaning of the level.
LEVELS = [
    ("distinct l-diversity", principles.DistinctLDiversity(1), "fewest sensitive values"),
    ("frequency l-diversity", principles.FrequencyLDiversity(1), "smallest size / largest count"),
    ("entropy l-diversity", principles.EntropyLDiversity(1), "smallest exp(entropy)"),
    ("theta", principles.Theta(1), "largest share of one sensitive value"),
    ("t-closeness", principles.TCloseness(1), "largest distance from the table's distribution"),
]

_FILE, _UNKNOWN = "counts the file", "takes missing values as unknown"
_SYNTHETIC = "sees which rows are synthetic"
_REAL = f"{_SYNTHETIC} and {_UNKNOWN}"
_CLASS = "is told the values of a withheld class"
_OTHERS = "is told the values of other withheld people"
_KNOWS = "knows the secrets of 1 in the group"


class Published:
    """The data by which a release is judged; all are :class:`anonpaper.publish.Release`."""


def attackers(rel: Published, *, knows: bool = False) -> pd.DataFrame:
    """Which level of each principle the strongest attacker concludes for real people.

    That attacker is told the sensitive values of every group of people that can be told apart: the
    real people of each published class, of each withheld class whose values must fail (the most
    even ones of as many people would meet the principles), and all other withheld people together.
    With `knows`, also the rarest value of another person in the group, against which no method
    promises anything; ParameterError where people have several rows.

    A row per principle: the levels of ``audit``, and further promises. Columns: ``promised`` (nan
    for none), ``file`` (by counting its rows), ``concluded``, ``attacker`` (the weakest who
    concludes it), ``people`` (real ones in groups beyond the promise or, without one, beyond
    ``file``), ``of`` (all real ones), ``meaning``, and ``each`` attacker's level.

    >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
    >>> attackers(rel)["attacker"].unique().tolist()  # nobody concludes more than the file says
    ['counts the file']
    """
    m, own = check_release(rel).microdata, rel.audited()
    if errors.check_choice("knows", knows, (False, True)) and m.people is not None:
        raise ParameterError("knows must be False where people have several rows")
    groups, found, of = _told(rel), [], own.people(own.is_real)
    for name in [None, *m.sensitives]:
        judged = {who: _counted(own.in_groups(labels), name) for who, labels in groups.items()}
        file = judged[_REAL] if own.is_real.all() else _counted(own, name)
        seers = {_FILE: file[:1], _UNKNOWN: file, _SYNTHETIC: judged[_REAL][:1], **judged}
        if knows:
            judged = {who: [*map(_without_one, counts)] for who, counts in judged.items()}
            seers[_KNOWS] = sum(judged.values(), [])
        for title, meaning, promised, principle in _asked(rel, name):
            sign = 1 if principle.larger_is_safer else -1  # so the least is the worst
            sees, judges = seers, judged
            if name is None or isinstance(principle, TCloseness):  # classes alone are seen
                sees, judges = [_FILE, _SYNTHETIC], {_REAL: seers[_SYNTHETIC]}
            levels = {who: [sign * principle.levels(c) for c in seers[who]] for who in sees}
            seen = {who: np.concatenate([[np.inf], *levels[who]]).min() for who in sees}
            who = min(seen, key=seen.get)  # the weakest, if equal
            beyond = np.zeros(len(own.cell), bool)
            for kind, each in judges.items():
                met = [principle.satisfied(c) for c in each]
                if promised is None:  # then the level of the file is what people can expect
                    met = [sign * principle.levels(c) >= seen[_FILE] - 1e-9 for c in each]
                beyond |= ~np.append(np.logical_and.reduce(met), True)[groups[kind]]
            found.append({
                "principle": title, "promised": promised, "file": sign * seen[_FILE],
                "concluded": sign * seen[who], "attacker": who, "people": own.people(beyond),
                "of": of, "meaning": meaning,
                "each": {name: sign * at for name, at in seen.items() if at < np.inf},
            })  # fmt: skip
    return pd.DataFrame(found).astype({"promised": float})


def check_release(rel: object, *, shown: bool = False) -> Published:
    """Return `rel` if it is a Release, `shown` if it has a row; else an error."""
    if not isinstance(rel, Published):
        got = type(rel).__name__
        raise ParameterError(f"expected a Release, got {got}: make one by ap.suppress(m, p)")
    if shown and not rel.shown.any():
        raise errors.EmptyTableError("no row is published")
    return rel


def _asked(rel: Published, name: object) -> Iterator[tuple[str, str, float | None, Principle]]:
    """Yield titles, meanings, promised bounds if any, and principles; standard ones first."""
    m, standard = rel.microdata, LEVELS
    of = f" of {name}" if name is not None and len(m.sensitives) > 1 else ""
    promised = [p for p in rel.promised if p.needs_sensitive != (name is None)]
    promised = [p for p in promised if p.of in (None, name)]
    if name is None:
        size = "k-anonymity", f"smallest class, {'rows' if m.people is None else 'people'}"
        if rel.shows_groups:
            size = "group size", "rows in the smallest group; who is in the table stays visible"
        standard = [(size[0], principles.KAnonymity(1), size[1])]
    for title, kind, meaning in standard:
        alike = type(kind), getattr(kind, "distance", None)
        same = [p for p in promised if (type(p), getattr(p, "distance", None)) == alike]
        promised = [p for p in promised if p not in same]
        best = sorted(same, key=lambda p: p.bound, reverse=kind.larger_is_safer)[:1]
        yield title + of, meaning, *((best[0].bound, best[0]) if best else (None, kind))
    yield from ((f"{p!r}{of}", "", p.bound, p) for p in promised)


def _told(rel: Published) -> dict[str, np.ndarray]:
    """The groups of real people whose values attackers are told, by entry, -1 for all others."""
    rest = (rel.classes.group < 0) & (rel.failing < 0)
    groups = {_REAL: rel.classes.group, _CLASS: rel.failing, _OTHERS: np.where(rest, 0, -1)}
    real = rel.entries.is_real
    return {who: dense_labels(np.where(real, labels, -1)) for who, labels in groups.items()}


def _counted(groups: Entries, name: object) -> list[GroupCounts]:
    """Count groups with missing values as a value, and without them unless all are missing."""
    counts = GroupCounts.of(groups, name)
    if name is None:
        return [counts]
    missing = np.flatnonzero(groups.m.attribute(name).values == MISSING)
    group = counts.group_of_entry
    lost = np.isin(counts.sensitive, missing) & (counts.distinct()[group] > 1)
    known = _left(counts, np.where(lost, 0, counts.counts))
    # people with several rows can have both
    return [counts, replace(known, sizes=np.maximum(known.sizes, known.largest()))]


def _without_one(counts: GroupCounts) -> GroupCounts:
    """Groups without somebody of the rarest value: they are as uneven as without any one."""
    left = counts.counts.copy()
    rarest = np.lexsort((left, counts.group_of_entry))[counts.start[:-1]]
    left[rarest] -= counts.sizes > 1
    return _left(counts, left)


def _left(counts: GroupCounts, left: np.ndarray) -> GroupCounts:
    """Return groups of which only so many people of each entry are left."""
    group, kept = counts.group_of_entry, left > 0
    gone = np.bincount(group, counts.counts - left, len(counts.sizes)).astype(np.intp)
    return GroupCounts(counts.sizes - gone, group[kept], counts.sensitive[kept], left[kept])


def warnings(rel: Published) -> tuple[str, ...]:
    """Attackers who conclude more than was promised, and attacks that no level covers."""
    return (*_broken(rel), *_uncounted(rel))


def _broken(rel: Published) -> list[str]:
    """Who breaks the promises, in one text."""
    rows = attackers(rel).itertuples() if rel.shown.any() else ()
    beyond = [f"{row.principle} {row.concluded:.3g} ({_by_whom(row)})"
              for row in rows if row.people and row.promised == row.promised]  # fmt: skip
    return [f"attackers conclude more than promised: {'; '.join(beyond)}"] if beyond else []


def _uncounted(rel: Published) -> list[str]:
    """Attacks that no level covers."""
    m, made_by, by_tp = rel.microdata, rel.made_by, has_residue(rel.made_by)
    removed = f" and removed {made_by.info['residue_size']} rows" if by_tp else ""
    told = [
        (rel.is_seeded,
         "swapped with a seed: an attacker who guesses it undoes the swaps, so this table must "
         "not be published; swap without a seed instead"),
        (rel.method == "anatomize",
         "deFinetti's attack: who learns from all groups which sensitive values go with which "
         "quasi-identifiers can guess better than the levels say"),
        (m.people is not None,
         "people have several rows: an attacker who knows how many rows somebody has, or in which "
         "classes, can conclude more than the levels say; they judge each class separately"),
        (len(m.sensitives) > 1,
         "a row has several sensitive values: an attacker who knows one of them can be surer of "
         "the others than the levels say; they judge each attribute separately"),
        *((True, f"{texts} of {name!r} may be one value: they count as different sensitive values")
          for name, codes in zip(m.sensitives, m.cells.secrets.T, strict=True)
          for texts in near_equal(m.attribute(name).values[np.unique(codes)])),
        (by_tp or (rel.failing >= 0).any() or any(p.needs_sensitive for p in rel.promised),
         f"minimality attack: {made_by.algorithm} looks at sensitive values{removed}, "
         "so who repeats it on all tables that fit can conclude more than the levels say: see "
         "ap.measure.minimality"),
    ]  # fmt: skip
    return [text for applies, text in told if applies]


def withheld(rel: Published) -> tuple[int, float]:
    """Withheld rows, and the largest share of one sensitive value in a group that attackers see.

    The share, of people, is nan if no real row is withheld or there is no sensitive attribute.
    """
    groups = [labels for who, labels in _told(rel).items() if who != _REAL and labels.max() >= 0]
    sensitive = bool(rel.microdata.sensitives)
    shares = [Theta(1).level(rel.entries.in_groups(labels)) for labels in groups * sensitive]
    return rel.entries.rows(~rel.shown), max(shares, default=float("nan"))


def audit(rel: Published) -> pd.DataFrame:
    """Report which level of each principle the release reaches, and what levels do not cover.

    Columns are ``principle``, ``level`` and ``meaning``. Each level is the worst class, for each
    sensitive attribute; of people, where they have several rows. Then come `withheld`; a row
    ``..., concluded`` for each level that an attacker makes worse; and a row ``warning`` for each
    attack that no level covers. After ``write``, a table of counts is read from its files.

    >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
    >>> audit(rel)["level"][0].item()
    2.0
    """
    told = list(attackers(rel).itertuples())
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
    found += [("warning", float("nan"), text) for text in _uncounted(rel)]
    return pd.DataFrame(found, columns=["principle", "level", "meaning"])


def check_promise(rel: Published, against: str = "file", accept: str | None = None) -> None:
    """Raise PromiseError if real people's rows keep less than promised; see :meth:`write`."""
    errors.check_choice("against", against, ("file", "register"))
    if accept is not None and not (isinstance(accept, str) and accept.strip()):
        raise ParameterError(f"accept must be a reason in words, got {accept!r}")
    rel.accepted = accept or rel.accepted
    if accept is not None or not rel.shown.any():
        return
    found = [f"{promise} is promised, but the rows of real people reach {level:.4g}"
             for promise, level in kept(rel).items() if level is not None]  # fmt: skip
    found += _broken(rel) if against == "register" else []
    of_recoding = ", set r.withhold = r.promised, use a smaller suppression (--suppression)"
    if found:
        raise errors.PromiseError(
            f"{'; '.join(found)}: nothing was published. Run the algorithm on this table"
            f"{of_recoding if rel.recoding is not None else ''}, or pass "
            'accept="the reason" (--accept), which the report prints'
        )


def kept(rel: Published) -> dict[Principle, float | None]:
    """Return each promise: None if it holds for the rows of real people, or their level."""
    own = rel.audited()
    real = own.in_groups(dense_labels(np.where(own.is_real, own.group, -1)))
    return {p: None if p.holds(real) else p.level(real) for p in rel.promised}


def _by_whom(row) -> str:
    """Who concludes a row of :func:`attackers`, and of how many people."""
    bound = "the level of the file" if row.promised != row.promised else f"{row.promised:.4g}"
    return f"{row.attacker}: {row.people:,} of {row.of:,} people beyond {bound}"


def has_residue(made_by: Partition | Recoding) -> bool:
    """Whether TP or TP+ made the groups and removed rows."""
    return "removed_by_phase" in made_by.info and made_by.info["residue_size"] > 0

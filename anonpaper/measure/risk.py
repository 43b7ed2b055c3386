"""Risk: what an attacker who knows a person's quasi-identifiers can still learn.

Measures of a release need one sensitive attribute (ColumnError) and a published row
(EmptyTableError). Attackers are assumed to know groups, though a swapped table does not show them:
boger2020, sections 2.1 and 5.

>>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
>>> [round(disclosure_risk(rel, reading), 3) for reading in ("values", "own", "largest")]
[0.433, 0.45, 0.5]
>>> disclosure_confidence(rel)["Adam"].item(), undiverse_rows(rel), exposure(rel, "majority")
(0.5, 0, 0.0)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.cells import distinct
from anonpaper.groups import Entries, checked_labels
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.principles import GroupCounts
from anonpaper.publish import Release, check_release
from anonpaper.published_values import SubDomains, codes_in, fitting, rows_at
from anonpaper.randomness import generator
from anonpaper.roles import only_one

__all__ = [
    "definetti", "disclosure_confidence", "disclosure_risk", "exposure", "guessing",
    "identification", "membership", "plausible_values", "reconstruction",
    "ruled_out", "undiverse_rows",
]  # fmt: skip

_ROUNDS = 10  # of learning, and of fitting


def _learned(rel: Release, known: Sequence | None = None) -> tuple[GroupCounts, np.ndarray]:
    """The sensitive values of each class, and the place of a published entry's among them."""
    sensitive = only_one(check_microdata(check_release(rel).microdata).sensitive)
    e = check_release(rel, shown=True).audited()
    if known is not None:
        if rel.shows_groups:
            raise errors.ParameterError("leave known out: the classes of this release are groups")
        places = map(rel.microdata.attribute_index, errors.check_sequence("known", known))
        e = e.in_groups(rel.numbered([rel.published[place] for place in sorted({*places})]))
    sets, codes = GroupCounts.of(e, sensitive), e.codes_of(sensitive)
    sizes = [len(sets.sizes) + 1, e.m.attribute(sensitive).size]
    number, first, _ = distinct([e.group + 1, codes], sizes)  # withheld rows are the first
    return sets, np.maximum(number + len(sets.counts) - len(first), 0)


def disclosure_confidence(rel: Release) -> pd.Series:
    """How sure an attacker is of the likeliest sensitive value of a row: above 0, up to 1.

    The share of the most frequent value in the class, indexed like the published rows; 1 is the
    homogeneity attack of Machanavajjhala et al. (2007).
    """
    (sets, place), shown = _learned(rel), rel.is_published
    largest = (sets.largest() / sets.sizes)[sets.group_of_entry[place]][rel.entries.of_row[shown]]
    return pd.Series(largest, index=rel.microdata.frame.index[shown], name="confidence")


def disclosure_risk(
    rel: Release, reading: str = "values", targets: str = "all", known: Sequence | None = None
) -> float:
    """Average chance to learn a target's sensitive value, from 0 to 1 (majeed2024, Eq. 5 and 6).

    `reading` is the interpretation, the chance of a target in class C. ``"values"``, as printed:
    the mean over the distinct values y in C of max(1/size of C, Pr_C(y)), which is 1 / (number of
    distinct values). ``"own"``: the share of the target's own value in C; only so can 2-diverse
    releases reach Tables 6 to 9. ``"largest"``: the largest share in C. `targets` are ``"all"``
    rows, or ``"real"`` people. A withheld row counts 0. Who has `known` some quasi-identifiers, by
    default all, sees classes of their published values.
    """
    (sets, place), e = _learned(rel, known), rel.entries
    real_only = errors.check_choice("targets", targets, ("all", "real")) == "real"
    target, group = e.counts * (e.is_real if real_only else 1), sets.group_of_entry
    if not target.any():
        raise errors.EmptyTableError("no row is a target: all rows are synthetic")
    largest = (sets.largest() / sets.sizes)[group]
    chances = {"values": 1 / sets.distinct()[group], "own": sets.shares, "largest": largest}
    chance = chances[errors.check_choice("reading", reading, chances)][place]
    return float(np.average(np.where(rel.shown, chance, 0.0), weights=target))


def exposure(rel: Release, reading: str = "surplus", value: object = None) -> float:
    """Share of the rows of the dominant sensitive value that are exposed: from 0 to 1.

    Eq. 7 of majeed2024 divides "the most occurring value in a cluster" by the value's frequency;
    no interpretation of its numerator reproduces Table 10. With n_y rows of the dominant `value`
    y, by default the most frequent one, in class C, ``"surplus"`` counts max(0, 2 n_y - size of
    C), the rows left when every other row hides one of them (Table 11 has the least value over all
    groupings); ``"single"`` the rows in classes whose only value is y; ``"majority"`` those in
    classes where more than half of the rows have y.
    """
    (sets, _), m = _learned(rel), rel.microdata
    dominant = m.sensitive_counts.argmax() if value is None else m.sensitive_attribute.code(value)
    if not m.sensitive_counts[dominant]:
        raise errors.EmptyTableError(f"no row has {m.sensitive!r} = {value!r}")
    theirs = sets.sensitive == dominant
    held, size = sets.counts[theirs], sets.sizes[sets.group_of_entry[theirs]]
    surplus = np.maximum(2 * held - size, 0)
    exposed = {"surplus": surplus, "single": held[held == size], "majority": held[surplus > 0]}
    exposed = exposed[errors.check_choice("reading", reading, exposed)]
    return float(exposed.sum() / m.sensitive_counts[dominant])


def identification(
    rel: Release, population: Microdata | None = None, *, rows: bool = True
) -> pd.DataFrame:
    """Risk that a published row's person is found by the quasi-identifiers: above 0, up to 1.

    ``prosecutor``, who knows that the person is in the table: 1 / people of the class. Its mean is
    the marketer's risk, the share of right links if everybody is linked. ``journalist``, with a
    `population` of which the people are a part, else ParameterError: 1 / people of the population
    whom the published values fit, at least those of the class. A number fits an interval, any
    value a star, and other new values nothing. Indexed like the published `rows`, or one line per
    class and its ``people``. O(c·t·d) for c classes and t tuples of the population.

    >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
    >>> identification(rel)["prosecutor"].mean().item()
    0.3
    """
    m = check_release(rel, shown=True).microdata
    errors.check_choice("rows", rows, (True, False))
    classes = rel.entries.in_groups(rel.numbered(rel.published))
    people = GroupCounts.of(classes).sizes
    found = pd.DataFrame({"people": people, "prosecutor": 1 / people})
    if population is not None:
        if check_microdata(population).qi != m.qi:
            raise errors.ColumnError(f"population must have the quasi-identifiers {m.qi}")
        cells, whole = population.cells, Entries.whole(m)
        real = whole.in_groups(np.where(whole.is_real, whole.tuples, -1))
        own = _by_values(m, GroupCounts.of(real).sizes)
        if lacking := own - _by_values(population, cells.tuple_sizes):
            told = f"{lacking.total():,} of the table's people, such as {[*lacking][0]}"
            way = f"it must have all {m.n_people:,}, written as in the table"
            raise errors.ParameterError(f"population (--population) lacks {told}: {way}")
        first = np.unique(classes.group, return_index=True)[1][-len(people) :]
        fits = list(map(fitting, rel.published, population.attributes))
        reached = []
        for box in zip(*(column.index[first] for column in rel.published), strict=True):
            each = zip(fits, box, cells.tuples.T, strict=True)
            fit = np.all([f[i, codes] for f, i, codes in each], axis=0)
            reached.append(cells.tuple_sizes[fit].sum())
        found["journalist"] = 1 / np.maximum(people, reached)
    if not rows:
        return found
    shown = rel.is_published
    found = found.drop(columns="people").iloc[classes.group[rel.entries.of_row[shown]]]
    return found.set_axis(m.frame.index[shown])


def _by_values(m: Microdata, people: np.ndarray) -> Counter:
    """People of every tuple, by its values."""
    columns = (a.values[codes] for a, codes in zip(m.attributes, m.cells.tuples.T, strict=True))
    return Counter(dict(zip(zip(*columns, strict=True), people.tolist(), strict=False)))


def undiverse_rows(rel: Release, l: int = 2) -> int:
    """Number of published rows in classes with fewer than l sensitive values, from 0 to n."""
    (sets, _), l = _learned(rel), errors.check_integer("l", l, 1)
    return int(sets.sizes[sets.distinct() < l].sum())


def reconstruction(rel: Release, known: float = 0.1, seed: int | np.random.Generator = 0) -> float:
    """Share of unknown people's quasi-identifier values that an attacker restores: 0 to 1.

    Eq. 8 of majeed2024 defines no number. In this simulation, the attacker has the release and the
    true rows of a random share `known` of the real people, at least one and never all. The guess
    for a sub-domain is its most frequent value among the known people, or else its first value.

    >>> m = ap.examples.hospital()
    >>> reconstruction(ap.suppress(m, ap.Partition(m.cells.tuple_of_row)), known=0.5)
    1.0
    """
    known = errors.check_number("known", known, 0, 1, open_low=True)
    m = check_release(rel).microdata
    real = generator(seed).permutation(np.flatnonzero(~m.synthetic))
    if len(real) < 2:
        raise errors.EmptyTableError("reconstruction needs at least two rows of real people")
    n_known = min(max(round(known * len(real)), 1), len(real) - 1)
    theirs, unknown = np.split(real, [n_known])
    right = 0
    for p, codes in zip(rel.published, m.codes.T, strict=True):
        counts, values = np.bincount(codes[theirs], minlength=p.attribute.size), p.sub_domains
        members = map(values.members, range(len(values)))
        guess = [held[counts[held].argmax()] for held in members]
        guess = np.append(guess, counts.argmax())  # the last is for withheld rows
        index = np.where(rel.shown, p.index, -1)[rel.entries.of_row[unknown]]
        right += np.count_nonzero(guess[index] == codes[unknown])
    return float(right / (len(unknown) * m.d))


def plausible_values(
    m: Microdata, known: Sequence, least_share: float, people: Microdata | None = None
) -> np.ndarray:
    """Which sensitive values an attacker considers possible for every row, shape (n, m), bool.

    The attacker knows the quasi-identifiers `known` of a row, and learns from `people`, by default
    those of the table. A value is implausible if none of those who agree on `known` has it, or a
    smaller share of them than `least_share`, in [0, 1]. If nobody agrees, every value is
    plausible.

    >>> m = ap.examples.hospital()
    >>> plausible_values(m, ["Gender"], 0.2).sum(axis=1).tolist()
    [3, 3, 3, 3, 2, 2, 2, 2, 2, 2]
    """
    least_share = errors.check_number("least_share", least_share, 0, 1)
    check_microdata(m)
    known = errors.check_sequence("known", known)
    if not [m.attribute_index(name) for name in known]:
        raise errors.ParameterError("known is empty: name at least one quasi-identifier")
    people = m if people is None else check_microdata(people)
    theirs = [codes_in(m.attribute(n), people.attribute(n))[people.codes_of(n)] for n in known]
    alike = np.min(theirs, axis=0) >= 0  # others agree with nobody
    both = np.hstack([[m.codes_of(n) for n in known], np.compress(alike, theirs, axis=1)])
    kind = distinct(list(both), [m.attribute(n).size for n in known])[0]
    # a value that the table lacks still counts among similar people, in the last column
    codes = codes_in(m.sensitive_attribute, people.sensitive_attribute)[people.sensitive_codes]
    counts = np.zeros((kind.max() + 1, m.sensitive_attribute.size + 1), np.intp)
    np.add.at(counts, (kind[m.n :], codes[alike]), 1)
    total = counts.sum(axis=1, keepdims=True)
    plausible = ((counts > 0) & (counts / np.maximum(total, 1) >= least_share)) | (total == 0)
    return plausible[kind[: m.n], :-1]


def guessing(m: Microdata, labels: np.ndarray, plausible: np.ndarray | None = None) -> np.ndarray:
    """Probability that an attacker guesses the sensitive value of a row: from 0 to 1.

    The attacker names a most frequent value of the person's group, among the `plausible` values of
    the person (:func:`plausible_values`; all by default), or all of the group if none is. Ties are
    drawn at random. `labels` are the groups of rows, -1 for unpublished ones, whose result is NaN.

    >>> m, p = ap.examples.hospital(), ap.examples.hospital_two_diverse()
    >>> plausible = plausible_values(m, ["Age"], 0.3)
    >>> [round(guessing(m, p.labels, given).mean(), 3).item() for given in (None, plausible)]
    [0.5, 0.55]
    """
    labels, of_row, plausible = _counts_of_group(m, labels, plausible)
    considered = np.where(plausible, of_row, 0)
    considered = np.where(considered.any(axis=1, keepdims=True), considered, of_row)
    named = considered == considered.max(axis=1, keepdims=True)
    right = named[np.arange(m.n), m.sensitive_codes]
    return np.where(labels >= 0, right / named.sum(axis=1), np.nan)


def ruled_out(m: Microdata, labels: np.ndarray, plausible: np.ndarray) -> np.ndarray:
    """Share of a row's group whose values are implausible for the row, as in :func:`guessing`."""
    labels, of_row, plausible = _counts_of_group(m, labels, plausible)
    return np.where(labels >= 0, (of_row * ~plausible).sum(axis=1) / of_row.sum(axis=1), np.nan)


def _counts_of_group(m: Microdata, labels: np.ndarray, plausible: np.ndarray | None) -> tuple:
    """The labels, and for each row the counts of values in its group and what is plausible."""
    shape = check_microdata(m).n, m.sensitive_attribute.size
    labels = checked_labels(labels, m.n)
    plausible = np.ones(shape, bool) if plausible is None else np.asarray(plausible)
    if plausible.shape != shape or plausible.dtype != bool:
        wanted = f"bools of shape {shape}, got shape {plausible.shape}"
        raise errors.ParameterError(f"plausible must be {wanted}")
    counts = np.zeros((labels.max(initial=-1) + 2, shape[1]), np.intp)  # -1 is the last group
    np.add.at(counts, (labels, m.sensitive_codes), 1)
    return labels, counts[labels], plausible


def definetti(release: Release) -> dict[str, float]:
    """Shares of people whose sensitive value is guessed from the groups: each from 0 to 1.

    deFinetti's attack learns by naive Bayes from all groups of a swapped or anatomized table which
    sensitive values go with which quasi-identifiers. Each of ten rounds learns from the last
    round's beliefs, and then fits them to the counts of every group. ``learned`` is the share of
    right guesses, ``counted`` that of who names a most frequent value of the group. O(n·m·d).
    Source: D. Kifer, *Attacks on privacy and deFinetti's theorem*, SIGMOD 2009, with the
    permutations of a group replaced by fitting to its counts.

    >>> definetti(ap.anatomize(ap.examples.hospital(), ap.examples.hospital_two_diverse()))
    {'learned': 0.6, 'counted': 0.5}
    """
    if not getattr(release, "shows_groups", False):
        raise errors.ParameterError("definetti needs a release of ap.swap or ap.anatomize")
    m, shown = check_release(release, shown=True).microdata, release.is_published
    group, of_row, _ = _counts_of_group(m, release.partition.labels, None)
    group, counts, codes = group[shown], of_row[shown], m.codes[shown].T
    belief = counts / counts.sum(axis=1, keepdims=True)
    for _ in range(_ROUNDS):
        score = np.log(belief.sum(axis=0) + 1)
        for attribute, of_row in zip(m.attributes, codes, strict=True):
            held = np.ones((attribute.size, counts.shape[1]))  # one of each, so none is ruled out
            np.add.at(held, of_row, belief)
            score = score + np.log(held / held.sum(axis=0))[of_row]
        belief = np.exp(score - score.max(axis=1, keepdims=True)) * (counts > 0) + 1e-12 * counts
        for _ in range(_ROUNDS):
            belief = belief / belief.sum(axis=1, keepdims=True)
            reached = np.zeros((group.max() + 1, counts.shape[1]))
            np.add.at(reached, group, belief)
            belief = belief * (counts / np.maximum(reached, 1e-300)[group])
    real, counted = ~m.synthetic[shown], guessing(m, release.partition.labels)[shown]
    right = belief.argmax(axis=1) == m.sensitive_codes[shown]
    return {"learned": float(right[real].mean()), "counted": float(counted[real].mean())}


def membership(release: Release, outsiders: Microdata) -> dict[str, float]:
    """Shares of people for whom some published row fits: a membership test.

    `outsiders` are people who are not in the table. A value that the table lacks fits a star, and
    an interval of numbers around it. ``advantage`` is the difference of both shares.

    >>> m = ap.examples.hospital()
    >>> release = ap.suppress(m.take([0, 1, 2, 3]), ap.Partition([0, 0, 1, 1]))
    >>> membership(release, m.take([4, 5, 6, 7, 8, 9]))
    {'members': 1.0, 'outsiders': 0.0, 'advantage': 1.0}
    """
    m, outsiders = check_release(release).microdata, check_microdata(outsiders)
    if outsiders.qi != m.qi:
        raise errors.ParameterError(f"outsiders must have the quasi-identifiers {m.qi}")
    inside, outside = (_share_that_fits(release, people) for people in (m, outsiders))
    return {"members": inside, "outsiders": outside, "advantage": inside - outside}


def _share_that_fits(release: Release, people: Microdata) -> float:
    """Share of people whom a published row covers; weighs each distinct tuple once."""
    shown, domains = np.flatnonzero(release.shown), []
    for p, theirs in zip(release.published, people.attributes, strict=True):
        fits = fitting(p, theirs)
        possible = fits.any(axis=1)
        shown = shown[possible[p.index[shown]]]
        domains.append(SubDomains.sets(theirs, *np.nonzero(fits | ~possible[:, None])))
    index = [p.index[shown] for p in release.published]
    rows = rows_at(people.cells.tuples, domains, index, release.entries.counts[shown])
    return float(people.cells.tuple_sizes[rows > 0].sum() / people.n)

"""Risk: what an attacker who knows a person's quasi-identifiers can still learn.

Every measure of a release needs one sensitive attribute, else ColumnError, and a published row,
else EmptyTableError. Attackers on groups are assumed to know them, though a swapped table does not
show them: boger2020, sections 2.1 and 5.

>>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
>>> [round(disclosure_risk(rel, reading), 3) for reading in ("values", "own", "largest")]
[0.433, 0.45, 0.5]
>>> disclosure_confidence(rel)["Adam"].item(), undiverse_rows(rel), exposure(rel, "majority")
(0.5, 0, 0.0)
>>> records_at_risk([4861, 249])
4612
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.groups import Entries, checked_labels, dense_labels
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.principles import GroupCounts
from anonpaper.publish import Release, check_release
from anonpaper.published_values import SubDomains, codes_in, fitting, rows_at
from anonpaper.randomness import generator
from anonpaper.roles import only_one

__all__ = [
    "definetti", "disclosure_confidence", "disclosure_risk", "exposure", "guessing",
    "identification", "membership", "plausible_values", "reconstruction", "records_at_risk",
    "ruled_out", "undiverse_rows",
]  # fmt: skip

_ROUNDS = 10  # of learning, and of fitting
_MOST_PAIRS = 1_000_000_000  # of a class and different people of a population


def _classes(rel: Release, known: Sequence | None = None) -> pd.DataFrame:
    """The class and sensitive value of each entry, its rows, and the rows of both in the class."""
    sensitive = only_one(check_microdata(check_release(rel).microdata).sensitive)
    e = check_release(rel, shown=True).audited()
    if known is not None:
        if rel.shows_groups:
            raise errors.ParameterError("leave known out: the classes of this release are groups")
        places = map(rel.microdata.attribute_index, errors.check_sequence("known", known))
        e = e.in_groups(rel.numbered([rel.published[place] for place in sorted({*places})]))
    columns = {"class": e.group, "value": e.codes_of(sensitive), "rows": e.counts}
    table = pd.DataFrame(columns | {"real": e.is_real})
    table["size"] = table.groupby("class")["rows"].transform("sum")
    table["alike"] = table.groupby(["class", "value"])["rows"].transform("sum")
    table["share"] = (table["alike"] / table["size"]).where(table["class"] >= 0, 0.0)
    return table


def disclosure_confidence(rel: Release) -> pd.Series:
    """How sure an attacker is of the likeliest sensitive value of a row: above 0, up to 1.

    The share of the most frequent value in the class, indexed like the published rows. 1 is the
    homogeneity attack of Machanavajjhala et al. (2007).
    """
    table, shown = _classes(rel), rel.is_published
    largest = table.groupby("class")["share"].transform("max").to_numpy()
    index = rel.microdata.frame.index[shown]
    return pd.Series(largest[rel.entries.of_row[shown]], index=index, name="confidence")


def disclosure_risk(
    rel: Release, reading: str = "values", targets: str = "all", known: Sequence | None = None
) -> float:
    """Average chance to learn a target's sensitive value, from 0 to 1 (majeed2024, Eq. 5 and 6).

    `reading` is the interpretation, the chance of a target in class C. ``"values"``, as printed:
    the mean over the distinct values y in C of max(1/size of C, Pr_C(y)), which is 1 / (number of
    distinct values). ``"own"``: the share of the target's own value in C; only so can 2-diverse
    releases reach Tables 6 to 9. ``"largest"``: the largest share in C, for an attacker who bets
    on it. `targets` are ``"all"`` rows, or ``"real"`` people. A withheld row counts 0. Who has
    `known` some quasi-identifiers, by default all, sees classes of their published values.
    """
    errors.check_choice("reading", reading, ("values", "own", "largest"))
    errors.check_choice("targets", targets, ("all", "real"))
    table = _classes(rel, known)
    target = table["rows"] * (table["real"] if targets == "real" else 1)
    if not target.any():
        raise errors.EmptyTableError("no row is a target: all rows are synthetic")
    chance, classes = table["share"], table.groupby("class")
    if reading == "largest":
        chance = classes["share"].transform("max")
    elif reading == "values":
        chance = (1 / classes["value"].transform("nunique")).where(table["class"] >= 0, 0.0)
    return float(np.average(chance, weights=target))


def exposure(rel: Release, reading: str = "surplus", value: object = None) -> float:
    """Share of the rows of the dominant sensitive value that are exposed: from 0 to 1.

    Eq. 7 of majeed2024 divides "the most occurring value in a cluster" by the value's frequency.
    None of three interpretations of its numerator reproduces Table 10. With n_y rows of the
    dominant `value` y, by default the most frequent one, in class C, ``"surplus"`` counts max(0, 2
    n_y - size of C), the rows left when every other row hides one of them (Table 11 has the least
    value over all groupings); ``"single"`` the rows in classes whose only value is y;
    ``"majority"`` those in classes where more than half of the rows have y.
    """
    errors.check_choice("reading", reading, ("surplus", "single", "majority"))
    table, m = _classes(rel), rel.microdata
    top = m.sensitive_counts.argmax()
    dominant = top if value is None else m.sensitive_attribute.code(value)
    frequency = int(m.sensitive_counts[dominant])
    if frequency == 0:
        raise errors.EmptyTableError(f"no row has {m.sensitive!r} = {value!r}")
    theirs = table[(table["value"] == dominant) & (table["class"] >= 0)].drop_duplicates("class")
    held, surplus = theirs["alike"], (2 * theirs["alike"] - theirs["size"]).clip(0)
    single = theirs["share"] == 1
    exposed = {"surplus": surplus, "single": held[single], "majority": held[surplus > 0]}
    return float(exposed[reading].sum() / frequency)


def identification(
    rel: Release, population: Microdata | None = None, *, rows: bool = True
) -> pd.DataFrame:
    """Risk that a published row's person is found by the quasi-identifiers: above 0, up to 1.

    ``prosecutor``, who knows that the person is in the table: 1 / people of the class. Its mean is
    the marketer's risk, the share of right links if everybody is linked. ``journalist``, with a
    `population` of which the people are a part: 1 / people of the population whom the published
    values fit, at least those of the class. A number fits an interval, any value a star, and other
    new values nothing, so the risk is never too low. Indexed like the published `rows`, or one
    line per class and its ``people``. O(c·t·d) for c classes and t tuples of the population.

    >>> m = ap.examples.hospital()
    >>> rel = ap.suppress(m, ap.examples.hospital_two_diverse())
    >>> identification(rel)["prosecutor"].mean().item()
    0.3
    """
    m = check_release(rel, shown=True).microdata
    errors.check_choice("rows", rows, (True, False))
    classes = rel.entries.in_groups(rel.classes.group)
    if rel.shows_groups:
        classes = classes.in_groups(dense_labels(np.where(rel.shown, classes.tuples, -1)))
    people = GroupCounts.of(classes).sizes
    found = pd.DataFrame({"people": people, "prosecutor": 1 / people})
    if population is not None:
        if check_microdata(population).qi != m.qi:
            raise errors.ColumnError(f"population must have the quasi-identifiers {m.qi}")
        cells = population.cells
        among = GroupCounts.of(Entries.of_cells(population, cells.tuple_of_cell)).sizes
        if len(people) * len(among) > _MOST_PAIRS:
            raise errors.SizeLimitError("too many classes times different people: take a sample")
        first = np.unique(classes.group, return_index=True)[1][-len(people) :]
        fits = list(map(fitting, rel.published, population.attributes))
        reached = []
        for box in zip(*(column.index[first] for column in rel.published), strict=True):
            each = zip(fits, box, cells.tuples.T, strict=True)
            fit = np.logical_and.reduce([f[i, codes] for f, i, codes in each])
            reached.append(among[fit].sum())
        found["journalist"] = 1 / np.maximum(people, reached)
    if not rows:
        return found
    shown = rel.is_published
    found = found.drop(columns="people").iloc[classes.group[rel.entries.of_row[shown]]]
    return found.set_axis(m.frame.index[shown])


def records_at_risk(counts: Sequence[int]) -> int:
    """Rows of the most frequent value left when each is paired with another value: 0 to n.

    These are the numbers in Table 11 of majeed2024 from its `counts` of sensitive values, exactly
    for Stroke, Census and Diabetes; its number for Adult has no such rule.
    """
    given = errors.check_sequence("counts", counts)
    counts = [errors.check_integer("a count", count, 0) for count in given]
    return max(0, 2 * max(counts, default=0) - sum(counts))


def undiverse_rows(rel: Release, l: int = 2) -> int:
    """Number of published rows in classes with fewer than l sensitive values, from 0 to n."""
    table, l = _classes(rel), errors.check_integer("l", l, 1)
    values = table.groupby("class")["value"].transform("nunique")
    return int(table["rows"][(values < l) & (table["class"] >= 0)].sum())


def reconstruction(rel: Release, known: float = 0.1, seed: int | np.random.Generator = 0) -> float:
    """Share of unknown people's quasi-identifier values that an attacker restores: 0 to 1.

    Eq. 8 of majeed2024 states that two distributions are nearly equal, but defines no number. In
    this simulation, the attacker has the release and the true rows of a random share `known` of
    the real people, at least one and never all. For every published sub-domain the guess is its
    most frequent value among the known people, or otherwise its first value.

    >>> m = ap.examples.hospital()
    >>> kept = ap.Partition(m.cells.tuple_of_row)
    >>> reconstruction(ap.suppress(m, kept), known=0.5)
    1.0
    """
    known = errors.check_number("known", known, 0, 1, open_low=True)
    m = check_release(rel).microdata
    real = np.flatnonzero(~m.synthetic)
    if len(real) < 2:
        raise errors.EmptyTableError("reconstruction needs at least two rows of real people")
    n_known = min(max(round(known * len(real)), 1), len(real) - 1)
    shuffled = generator(seed).permutation(real)
    theirs, unknown = shuffled[:n_known], shuffled[n_known:]
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

    The attacker knows the quasi-identifiers `known` of a row, and learns from `people` with the
    same columns: by default the table itself. A value is implausible if none of the people who
    agree on `known` has it, or a smaller share of them than `least_share`, in [0, 1]. If nobody
    agrees, every value is plausible.

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
    rows = [
        [*zip(*(t.attribute(name).values[t.codes_of(name)] for name in known), strict=True)]
        for t in (m, people)
    ]
    kind = pd.factorize(pd.Index(rows[0] + rows[1], tupleize_cols=False))[0]
    # a value that the table lacks still counts among similar people, in the last column
    values = m.sensitive_attribute.size
    known_codes = codes_in(m.sensitive_attribute, people.sensitive_attribute)
    counts = np.zeros((kind.max() + 1, values + 1), np.intp)
    np.add.at(counts, (kind[m.n :], known_codes[people.sensitive_codes]), 1)
    alike = counts.sum(axis=1, keepdims=True)
    plausible = ((counts > 0) & (counts / np.maximum(alike, 1) >= least_share)) | (alike == 0)
    return plausible[kind[: m.n], :values]


def guessing(m: Microdata, labels: np.ndarray, plausible: np.ndarray | None = None) -> np.ndarray:
    """Probability that an attacker guesses the sensitive value of a row: from 0 to 1.

    The attacker names a most frequent value of the person's group, among the `plausible` values of
    the person (:func:`plausible_values`; all by default), or all of the group if none is. Ties are
    drawn at random. `labels` are the groups of the rows of `m`, -1 for rows that are not
    published, whose result is NaN. O(n·m).

    >>> m = ap.examples.hospital()
    >>> labels = ap.examples.hospital_two_diverse().labels
    >>> float(guessing(m, labels).mean().round(3))
    0.5
    >>> float(guessing(m, labels, plausible_values(m, ["Age"], 0.3)).mean().round(3))
    0.55
    """
    shown, of_row, plausible = _counts_of_group(m, labels, plausible)
    considered = np.where(plausible, of_row, 0)
    considered = np.where(considered.any(axis=1, keepdims=True), considered, of_row)
    named = considered == considered.max(axis=1, keepdims=True)
    right = named[np.arange(len(shown)), m.sensitive_codes[shown]]
    success = np.full(m.n, np.nan)
    success[shown] = right / named.sum(axis=1)
    return success


def ruled_out(m: Microdata, labels: np.ndarray, plausible: np.ndarray) -> np.ndarray:
    """Share of a row's group whose values are implausible for the row: from 0 to 1.

    The parameters are those of :func:`guessing`.
    """
    shown, of_row, plausible = _counts_of_group(m, labels, plausible)
    share = np.full(m.n, np.nan)
    share[shown] = (of_row * ~plausible).sum(axis=1) / of_row.sum(axis=1)
    return share


def _counts_of_group(m: Microdata, labels: np.ndarray, plausible: np.ndarray | None) -> tuple:
    """The published rows, the counts of values in their groups, and their plausible values."""
    values = check_microdata(m).sensitive_attribute.size
    labels = checked_labels(labels, m.n)
    shown = np.flatnonzero(labels >= 0)
    plausible = np.ones((m.n, values), bool) if plausible is None else np.asarray(plausible)
    if plausible.shape != (m.n, values) or plausible.dtype != bool:
        raise errors.ParameterError(
            f"plausible must be bools of shape ({m.n}, {values}), got shape {plausible.shape}"
        )
    counts = np.zeros((labels.max(initial=-1) + 1, values), np.intp)
    np.add.at(counts, (labels[shown], m.sensitive_codes[shown]), 1)
    return shown, counts[labels[shown]], plausible[shown]


def definetti(release: Release) -> dict[str, float]:
    """Shares of people whose sensitive value is guessed from the groups: each from 0 to 1.

    deFinetti's attack learns by naive Bayes from all groups of a swapped or anatomized table which
    sensitive values go with which quasi-identifiers. Each of ten rounds learns from the last
    round's beliefs, and then fits them to the counts of every group. ``learned`` is the share of
    right guesses, ``counted`` that of who names a most frequent value of the group. O(n·m·d).
    Source: D. Kifer, *Attacks on privacy and deFinetti's theorem*, SIGMOD 2009, with the
    permutations of a group replaced by fitting to its counts.

    >>> m = ap.examples.hospital()
    >>> definetti(ap.anatomize(m, ap.examples.hospital_two_diverse()))
    {'learned': 0.6, 'counted': 0.5}
    """
    if not getattr(release, "shows_groups", False):
        raise errors.ParameterError("definetti needs a release of ap.swap or ap.anatomize")
    m, labels = release.microdata, release.partition.labels
    shown, counts, _ = _counts_of_group(m, labels, None)
    group, codes, belief = labels[shown], m.codes[shown].T, counts / counts.sum(1, keepdims=True)
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
    right, real = belief.argmax(axis=1) == m.sensitive_codes[shown], ~m.synthetic[shown]
    counted = guessing(m, labels)[shown]
    return {"learned": float(right[real].mean()), "counted": float(counted[real].mean())}


def membership(release: Release, outsiders: Microdata) -> dict[str, float]:
    """Shares of people for whom some published row fits: a membership test.

    `outsiders` are people who are not in the table. A value that the table lacks fits a star, and
    an interval of numbers around it. ``members`` and ``outsiders`` are the shares whom the test
    places in the release, ``advantage`` is their difference, 1 for a perfect test.

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

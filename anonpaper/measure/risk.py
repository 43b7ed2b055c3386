"""Risk: what an attacker who knows a person's quasi-identifiers can still learn.

Every measure of a release needs one sensitive attribute, else ColumnError, and a published row,
else EmptyTableError.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.groups import Entries, dense_labels
from anonpaper.measure.boxes import fitting
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.principles import GroupCounts, Theta
from anonpaper.publish import Release, check_release
from anonpaper.randomness import generator
from anonpaper.roles import only_one

__all__ = [
    "disclosure_confidence", "disclosure_risk", "exposure", "identification", "records_at_risk",
    "reconstruction", "undiverse_rows",
]  # fmt: skip

_MOST_PAIRS = 1_000_000_000  # of a class and different people of a population


def disclosure_confidence(rel: Release) -> pd.Series:
    """How sure an attacker is of the likeliest sensitive value of a row: above 0, up to 1.

    The share of the most frequent value in the class, indexed like the published rows. 1 is the
    homogeneity attack of Machanavajjhala et al. (2007).

    >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_anonymous())
    >>> disclosure_confidence(rel)["Adam"].item()
    1.0
    """
    counts, classes = _classes(rel)
    shown = rel.is_published
    of_rows = Theta(1).levels(counts)[classes.group[rel.entries.of_row[shown]]]
    return pd.Series(of_rows, index=rel.microdata.frame.index[shown], name="confidence")


def disclosure_risk(rel: Release, reading: str = "values", targets: str = "all") -> float:
    """Average chance to learn a target's sensitive value, from 0 to 1 (majeed2024, Eq. 5 and 6).

    `reading` is the interpretation, the chance of a target in class C. ``"values"``, as printed:
    the mean over the distinct values y in C of max(1/size of C, Pr_C(y)). This is 1 / (number of
    distinct values), so every 2-diverse class of a binary attribute has exactly 0.5. ``"own"``:
    the share of the target's own value in C; only so can 2-diverse releases reach Tables 6 to 9.
    ``"largest"``: the largest share in C, for an attacker who bets on it. `targets` are ``"all"``
    rows, or ``"real"`` people in the same classes. A withheld row counts 0.

    >>> release = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
    >>> [round(disclosure_risk(release, name), 3) for name in ("values", "own", "largest")]
    [0.433, 0.45, 0.5]
    """
    errors.check_choice("reading", reading, ("values", "own", "largest"))
    errors.check_choice("targets", targets, ("all", "real"))
    counts, classes = _classes(rel)
    labels, sensitive = classes.group, classes.m.sensitive_attribute
    target = classes.counts * (classes.is_real if targets == "real" else 1)
    if not target.any():
        raise errors.EmptyTableError("no row is a target: all rows are synthetic")
    if reading == "own":
        of_entry = counts.group_of_entry
        own = labels * sensitive.size + classes.codes_of(sensitive.name)
        place = np.searchsorted(of_entry * sensitive.size + counts.sensitive, own)
        chance = (counts.counts / counts.sizes[of_entry])[place]
    elif reading == "values":
        chance = (1 / counts.distinct())[labels]
    else:
        chance = Theta(1).levels(counts)[labels]
    return float(np.average(np.where(labels >= 0, chance, 0.0), weights=target))


def exposure(rel: Release, reading: str = "surplus", value: object = None) -> float:
    """Share of the rows of the dominant sensitive value that are exposed: from 0 to 1.

    Eq. 7 of majeed2024 divides "the most occurring value in a cluster" by the value's frequency.
    None of three interpretations of its numerator reproduces Table 10. With n_y rows of the
    dominant value y in class C, ``"surplus"`` counts max(0, 2 n_y - size of C), the rows left when
    every other row hides one of them (Table 11 has the least value over all groupings);
    ``"single"`` the rows in classes whose only value is y; ``"majority"`` those in classes where
    more than half of the rows have y. The `value` y is by default the most frequent one (the
    first in the domain if tied).

    >>> release = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_anonymous())
    >>> [exposure(release, reading, "HIV") for reading in ("surplus", "single", "majority")]
    [1.0, 1.0, 1.0]
    """
    errors.check_choice("reading", reading, ("surplus", "single", "majority"))
    counts, _ = _classes(rel)
    m, top = rel.microdata, rel.microdata.sensitive_counts.argmax()
    dominant = top if value is None else m.sensitive_attribute.code(value)
    frequency = int(m.sensitive_counts[dominant])
    if frequency == 0:
        raise errors.EmptyTableError(f"no row has {m.sensitive!r} = {value!r}")
    theirs = counts.sensitive == dominant
    held, sizes = counts.counts[theirs], counts.sizes[counts.group_of_entry[theirs]]
    if reading == "surplus":
        exposed = np.maximum(0, 2 * held - sizes)
    else:
        exposed = held[held == sizes if reading == "single" else 2 * held > sizes]
    return float(exposed.sum() / frequency)


def identification(
    rel: Release, population: Microdata | None = None, *, rows: bool = True
) -> pd.DataFrame:
    """Risk that a published row's person is found by the quasi-identifiers: above 0, up to 1.

    ``prosecutor``, who knows that the person is in the table: 1 / people of the class. Its mean is
    also the marketer's risk, the share of right links if everybody is linked. ``journalist``, only
    with a `population` of which the people are a part: 1 / people of the population whom the
    published values fit, at least those of the class. A number fits an interval, any value a star,
    and other new values nothing, so the risk is never too low. O(c·t·d) for c classes and t tuples
    of the population. Indexed like the published `rows`, or one line per class and its ``people``.

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

    >>> records_at_risk([4861, 249])
    4612
    """
    given = errors.check_sequence("counts", counts)
    counts = [errors.check_integer("a count", count, 0) for count in given]
    return max(0, 2 * max(counts, default=0) - sum(counts))


def undiverse_rows(rel: Release, l: int = 2) -> int:
    """Number of published rows in classes with fewer than l sensitive values, from 0 to n.

    >>> undiverse_rows(ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_anonymous()))
    2
    """
    counts, _ = _classes(rel)
    return int(counts.sizes[counts.distinct() < errors.check_integer("l", l, 1)].sum())


def reconstruction(rel: Release, known: float = 0.1, seed: int | np.random.Generator = 0) -> float:
    """Share of unknown people's quasi-identifier values that an attacker restores: 0 to 1.

    Eq. 8 of majeed2024 states that two distributions are nearly equal, but defines no number. This
    is a simulation: the attacker has the release and the true rows of a random share `known` of
    the real people, at least one and never all. For every published sub-domain the guess is its
    most frequent value among the known people, or otherwise its first value. Withheld rows count
    as suppressed.

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


def _classes(rel: Release) -> tuple[GroupCounts, Entries]:
    """Count the sensitive values of the classes that an attacker sees; also return these."""
    sensitive = only_one(check_microdata(check_release(rel).microdata).sensitive)
    classes = check_release(rel, shown=True).audited()
    return GroupCounts.of(classes, sensitive), classes

"""Attacks on swapped and anatomized tables: guessing a sensitive value, and testing membership.

The attacker knows a person's quasi-identifiers and is assumed to know the person's group, though a
swapped table does not show it. Source: boger2020, sections 2.1 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonpaper.cells import distinct
from anonpaper.errors import ParameterError, check_number, check_sequence
from anonpaper.groups import checked_labels
from anonpaper.measure.boxes import codes_in, fitting, rows_at
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.publish import GroupRelease, Release, check_release
from anonpaper.published_values import SubDomains

__all__ = ["definetti", "guessing", "membership", "plausible_values", "ruled_out"]

_ROUNDS = 10  # of learning, and of fitting


def plausible_values(
    m: Microdata, known: Sequence, least_share: float, people: Microdata | None = None
) -> np.ndarray:
    """Which sensitive values an attacker considers possible for every row, shape (n, m), bool.

    The attacker knows the quasi-identifiers `known` of a row, at least one, and learns from
    `people` with the same columns: by default the table itself, the best possible knowledge. A
    value is implausible if none of the people who agree on `known` has it, or a smaller share of
    them than `least_share`, in [0, 1]. If nobody agrees, every value is plausible.

    >>> m = ap.examples.hospital()
    >>> plausible_values(m, ["Gender"], 0.2).sum(axis=1).tolist()
    [3, 3, 3, 3, 2, 2, 2, 2, 2, 2]
    """
    least_share = check_number("least_share", least_share, 0, 1)
    check_microdata(m)
    mine = [m.attributes[m.attribute_index(name)] for name in check_sequence("known", known)]
    if not mine:
        raise ParameterError("known is empty: name at least one quasi-identifier")
    people = m if people is None else check_microdata(people)
    theirs = np.column_stack([
        codes_in(a, people.attribute(a.name))[people.codes_of(a.name)] for a in mine
    ])  # fmt: skip
    learned = (theirs >= 0).all(axis=1)  # others resemble nobody in the table
    codes = np.concatenate([np.column_stack([m.codes_of(a.name) for a in mine]), theirs[learned]])
    kind, *_ = distinct(codes.T, [a.size for a in mine])
    # a value that the table lacks still counts among similar people, in the last column
    values = m.sensitive_attribute.size
    known_codes = codes_in(m.sensitive_attribute, people.sensitive_attribute)
    counts = np.zeros((kind.max() + 1, values + 1), np.intp)
    np.add.at(counts, (kind[m.n :], known_codes[people.sensitive_codes[learned]]), 1)
    alike = counts.sum(axis=1, keepdims=True)
    plausible = ((counts > 0) & (counts / np.maximum(alike, 1) >= least_share)) | (alike == 0)
    return plausible[kind[: m.n], :values]


def guessing(m: Microdata, labels: np.ndarray, plausible: np.ndarray | None = None) -> np.ndarray:
    """Probability that an attacker guesses the sensitive value of a row: from 0 to 1.

    The attacker names a most frequent value of the person's group, among the `plausible` values of
    the person (:func:`plausible_values`, shape (n, m); all by default). Ties are drawn at random.
    If no value of the group is plausible, all are. `labels` are the groups of the rows of the
    original table, -1 for rows that are not published, whose result is NaN. O(n·m).

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

    Parameters, result, errors and cost are as for :func:`guessing`; `plausible` is required.

    >>> m = ap.examples.hospital()
    >>> plausible = plausible_values(m, ["Gender"], 0.3)
    >>> ruled_out(m, ap.examples.hospital_two_diverse().labels, plausible).tolist()
    [0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5]
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
        found = f"{plausible.shape} and {plausible.dtype}"
        raise ParameterError(f"plausible must have shape ({m.n}, {values}) and bools, got {found}")
    counts = np.zeros((labels.max(initial=-1) + 1, values), np.intp)
    np.add.at(counts, (labels[shown], m.sensitive_codes[shown]), 1)
    return shown, counts[labels[shown]], plausible[shown]


def definetti(release: Release) -> dict[str, float]:
    """Shares of people whose sensitive value is guessed from the groups: each from 0 to 1.

    deFinetti's attack learns by naive Bayes from all groups which sensitive values go with which
    quasi-identifiers. Each of ten rounds learns from the last round's beliefs, and then fits
    them to the counts of every group. `release` is a swapped or anatomized table. ``learned`` is
    the share of right guesses, and ``counted`` the expected share of who names a most frequent
    value of the group. O(n·m·d). Source: D. Kifer, *Attacks on privacy and deFinetti's theorem*,
    SIGMOD 2009, with the permutations of a group replaced by fitting to its counts.

    >>> m = ap.examples.hospital()
    >>> definetti(ap.anatomize(m, ap.examples.hospital_two_diverse()))
    {'learned': 0.6, 'counted': 0.5}
    """
    if not isinstance(release, GroupRelease):
        raise ParameterError("deFinetti's attack needs a release of ap.swap or ap.anatomize")
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

    `outsiders` are people who are not in the table, with the same quasi-identifiers. A value that
    the table lacks fits a star, and an interval of numbers around it. ``members`` and
    ``outsiders`` are the shares whom the test places in the release, ``advantage`` is their
    difference: 0 for a useless test, 1 for a perfect one.

    >>> m = ap.examples.hospital()
    >>> release = ap.suppress(m.take([0, 1, 2, 3]), ap.Partition([0, 0, 1, 1]))
    >>> membership(release, m.take([4, 5, 6, 7, 8, 9]))
    {'members': 1.0, 'outsiders': 0.0, 'advantage': 1.0}
    """
    m, outsiders = check_release(release).microdata, check_microdata(outsiders)
    if outsiders.qi != m.qi:
        raise ParameterError(f"outsiders have other quasi-identifiers: {outsiders.qi}, not {m.qi}")
    found = [_share_that_fits(release, people) for people in (m, outsiders)]
    return {"members": found[0], "outsiders": found[1], "advantage": found[0] - found[1]}


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

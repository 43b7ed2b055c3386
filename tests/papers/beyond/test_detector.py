"""Risk against a detector: padded classes, and attackers who know the algorithm."""

import itertools

import beyond_detector as detector
import majeed2024
import numpy as np
import pytest

import anonpaper as ap


def people(rows):
    return majeed2024.prepare("adult")[0].sample(rows, 0)


def padded(m, pad, k=4):
    groups = ap.k_member(m.with_roles(sensitive=None), k, seed=0)
    trees = ap.datasets.trees.hierarchies("adult", m)
    return detector.padded(m, groups, trees, pad, seed=0), ap.shallow_generalize(m, groups, trees)


def two(real):
    return detector.even(real, 2)


@pytest.mark.parametrize("l", [1.25, 1.5, 2, 3])
def test_even_invents_as_few_rows_as_an_exhaustive_search(l):
    for counts in itertools.product(range(4), repeat=3):
        if not sum(counts):
            continue
        real = np.array([counts])
        full = real + detector.even(real, l)
        assert (full >= real).all()
        assert full.max() * l <= full.sum() + 1e-9
        fewest = min(
            sum(more) for more in itertools.product(range(4), repeat=3)
            if max(real[0] + more) * l <= sum(real[0] + more) + 1e-9
        )  # fmt: skip
        assert full.sum() - real.sum() == fewest


@pytest.mark.parametrize("pad", [two, detector.complement])
def test_padded_rows_are_written_like_their_group_and_change_no_persons_row(pad):
    m = people(90)
    rel, plain = padded(m, pad)
    looks = rel.frame[m.qi].astype(str).groupby(rel.partition.labels).nunique()
    assert (looks == 1).all(axis=None)
    mine = rel.frame[~rel.is_synthetic]
    assert (mine.astype(str).to_numpy() == plain.frame.astype(str).to_numpy()).all()
    real, invented = detector.counts(rel)
    assert real.sum(axis=1).min() >= 4
    assert invented.sum() == rel.is_synthetic.sum() > 0
    assert rel.audit().set_index("principle")["level"]["theta"] <= 0.5


def by_all_worlds(real, pad, prior):
    """Own-value risk by listing everybody's value: Bayes' rule with nothing left out."""
    risk = 0.0
    for counts in real:
        n, shown = counts.sum(), counts + pad(counts[None])[0]
        belief = np.zeros(2)
        for world in itertools.product([0, 1], repeat=n):
            theirs = np.bincount(world, minlength=2)
            if (theirs + pad(theirs[None])[0] == shown).all():
                chance = np.prod(prior[list(world)])
                belief[world[0]] += chance  # the target is the first of the group
        risk += counts @ (belief / belief.sum())
    return risk / real.sum()


@pytest.mark.parametrize("pad", [two, lambda r: detector.even(r, 1.5), detector.complement])
def test_the_informed_believe_what_all_worlds_say(pad):
    rel, _ = padded(people(40), pad)
    real, _ = detector.counts(rel, rel.partition.labels)
    for prior in (np.array([0.5, 0.5]), np.array([0.8, 0.2])):
        found = detector.informed_risk(rel, pad, prior)
        assert found == pytest.approx(by_all_worlds(real, pad, prior))

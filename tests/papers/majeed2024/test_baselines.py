"""The baselines: what all promise, and what each does in particular."""

import majeed2024_noise as noise
import numpy as np
import pandas as pd
import pytest
from majeed2024_baselines import BASELINES

import anonpaper as ap
from anonpaper.errors import InfeasibleError
from anonpaper.randomness import generator


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(17, 60, n)
    frame = pd.DataFrame({
        "age": age,
        "work": rng.choice(list("abcd"), n, p=[0.7, 0.1, 0.1, 0.1]),
        "land": rng.choice(["us", "de", "fr"], n, p=[0.9, 0.05, 0.05]),
        "weeks": rng.integers(0, 53, n),
        "ill": np.where(rng.random(n) < np.where(age > 40, 0.4, 0.1), "yes", "no"),
    })  # fmt: skip
    return ap.Microdata(frame, ["age", "work", "land", "weeks"], "ill")


def published(name, m, k, l, seed=3):
    trees = {a.name: ap.Hierarchy.balanced(a.values, fan_out=3) for a in m.attributes}
    return BASELINES[name](m, k, l, trees, seed=seed)


@pytest.mark.parametrize("k", [2, 7, 30])
@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_keeps_what_it_promises(name, k):
    m = people()
    for l in (2, None):
        release = published(name, m, k, l)
        assert release.is_published.all()
        sensitive = release.microdata.frame["ill"].to_numpy()
        if name == "AFA-core":
            groups = pd.Series(sensitive).groupby(release.classes.labels)
        else:  # as somebody would check who has the published table only
            groups = release.frame.groupby(m.qi, observed=True, sort=False)["ill"]
        assert groups.size().min() >= k
        assert groups.nunique().min() >= (l or 1)
        pd.testing.assert_frame_equal(release.frame, published(name, m, k, l).frame)


@pytest.mark.parametrize("name", [n for n in BASELINES if n not in ("LD", "LoPub")])
def test_a_table_of_one_value_is_refused_when_diversity_is_asked_for(name):
    m = people()
    m = ap.Microdata(m.frame.assign(ill="no"), m.qi, "ill")
    with pytest.raises(InfeasibleError):
        published(name, m, 5, 2)
    assert published(name, m, 5, None).classes.sizes().min() >= 5


def test_slicing_keeps_every_column_of_a_bucket():
    m = people()
    release = published("AFA-core", m, 10, 2, seed=1)
    moved = False
    for p, codes, attribute in zip(release.published, m.codes.T, m.attributes, strict=True):
        if attribute.ordered:
            assert p.sub_domains.contains(p.index, codes).all()
            continue
        shown = p.sub_domains.low[p.index]
        moved |= (shown != codes).any()
        for rows in release.partition.groups():
            assert sorted(shown[rows]) == sorted(codes[rows])
    assert moved


def test_the_channel_of_two_clusters_is_the_best_on_a_grid():
    joint = np.array([[0.35, 0.1], [0.15, 0.4]])
    distances, weight, steps = 1 - np.eye(2), joint.sum(axis=0), np.linspace(0, 1, 101)
    for bound in (0.05, 0.2, 0.4):
        channel = noise.obfuscation_channel(joint, distances, bound)
        assert np.allclose(channel.sum(axis=1), 1)
        assert (weight[:, None] * channel * distances).sum() <= bound + 1e-6
        best = min(
            noise.mutual_information(joint @ np.array([[1 - a, a], [b, 1 - b]]))
            for a in steps for b in steps if weight @ [a, b] <= bound + 1e-9
        )  # fmt: skip
        assert noise.mutual_information(joint @ channel) <= best + 1e-3
    assert np.array_equal(noise.obfuscation_channel(joint, distances, 0), np.eye(2))
    assert noise.mutual_information(joint @ noise.obfuscation_channel(joint, distances, 1)) < 1e-6


def test_joint_distributions_are_found_again():
    rng, n = generator(1), 30_000
    a = rng.integers(0, 3, n)
    b = np.where(rng.random(n) < 0.7, a, rng.integers(0, 3, n))
    filters = np.eye(3, dtype=np.uint8)
    found = noise.estimate_joint(
        *(noise.randomized_bits(filters[x], rng) for x in (a, b)), filters, filters
    )
    assert found.sum() == pytest.approx(1) and found.min() >= 0
    assert np.abs(found - np.bincount(a * 3 + b, minlength=9).reshape(3, 3) / n).max() < 0.06

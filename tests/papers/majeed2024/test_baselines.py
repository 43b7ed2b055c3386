"""The baselines: what all promise, and what each does in particular."""

import numpy as np
import pandas as pd
import pytest
from majeed2024_baselines import BASELINES
from majeed2024_baselines.afa import afa_core
from majeed2024_baselines.hyobscure import obfuscation_channel
from majeed2024_baselines.lopub import estimate_joint, randomized_bits
from majeed2024_baselines.sdda import sdda_classes
from majeed2024_baselines.simple import mutual_information

import anonpaper as ap
from anonpaper.errors import InfeasibleError
from anonpaper.randomness import generator


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(17, 60, n)
    frame = pd.DataFrame(
        {
            "age": age,
            "work": rng.choice(list("abcd"), n, p=[0.7, 0.1, 0.1, 0.1]),
            "land": rng.choice(["us", "de", "fr"], n, p=[0.9, 0.05, 0.05]),
            "weeks": rng.integers(0, 53, n),
            "ill": np.where(rng.random(n) < np.where(age > 40, 0.4, 0.1), "yes", "no"),
        }
    )
    return ap.Microdata(frame, ["age", "work", "land", "weeks"], "ill")


def trees_of(m):
    return {a.name: ap.Hierarchy.balanced(a.values, fan_out=3) for a in m.attributes}


@pytest.mark.parametrize("k", [2, 7, 30])
@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_keeps_what_it_promises(name, k):
    m = people()
    for l in (2, None):
        release = BASELINES[name](m, k, l, trees_of(m), seed=3)
        assert release.is_published.all()
        classes = release.classes.labels
        sensitive = release.microdata.frame["ill"].to_numpy()
        if name == "AFA-core":
            groups = pd.Series(sensitive).groupby(classes)
        else:  # as somebody would check who has the published table only
            groups = release.frame.groupby(m.qi, observed=True, sort=False)["ill"]
        assert groups.size().min() >= k
        assert groups.nunique().min() >= (l or 1)
        again = BASELINES[name](m, k, l, trees_of(m), seed=3)
        pd.testing.assert_frame_equal(release.frame, again.frame)


@pytest.mark.parametrize("name", [n for n in BASELINES if n not in ("LD", "LoPub")])
def test_a_table_of_one_value_is_refused_when_diversity_is_asked_for(name):
    m = people()
    m = ap.Microdata(m.frame.assign(ill="no"), m.qi, "ill")
    with pytest.raises(InfeasibleError):
        BASELINES[name](m, 5, 2, trees_of(m), seed=0)
    assert BASELINES[name](m, 5, None, trees_of(m), seed=0).classes.sizes().min() >= 5


def test_no_class_of_sdda_crosses_a_fragment():
    m = people()
    fragments = sdda_classes(m, k=5, fragments=4)
    assert fragments.info["fragments"] == 4
    # the column of most entropy is cut at its quartiles
    shares = {name: m.frame[name].value_counts(normalize=True) for name in m.qi}
    entropy = {name: -(s * np.log(s)).sum() for name, s in shares.items()}
    best = max(entropy, key=entropy.get)
    edges = np.quantile(m.frame[best], [0.25, 0.5, 0.75], method="higher")
    of_row = np.searchsorted(edges, m.frame[best], side="right")
    assert pd.Series(of_row).groupby(fragments.labels).nunique().max() == 1


def test_slicing_keeps_every_column_of_a_bucket():
    m = people()
    release = afa_core(m, 10, 2, trees_of(m), seed=1)
    for p, codes, attribute in zip(release.published, m.codes.T, m.attributes, strict=True):
        if attribute.ordered:
            assert p.sub_domains.contains(p.index, codes).all()
            continue
        shown = p.sub_domains.low[p.index]
        for rows in release.partition.groups():
            assert sorted(shown[rows]) == sorted(codes[rows])
    moved = [j for j, a in enumerate(m.attributes) if not a.ordered]
    assert any((release.published[j].index != m.codes[:, j]).any() for j in moved)


def test_the_channel_of_two_clusters_is_the_best_on_a_grid():
    joint = np.array([[0.35, 0.1], [0.15, 0.4]])
    distances = 1 - np.eye(2)
    weight = joint.sum(axis=0)
    for bound in (0.05, 0.2, 0.4):
        channel = obfuscation_channel(joint, distances, bound)
        assert np.allclose(channel.sum(axis=1), 1)
        assert (weight[:, None] * channel * distances).sum() <= bound + 1e-6
        steps = np.linspace(0, 1, 101)
        best = min(
            mutual_information(joint @ np.array([[1 - a, a], [b, 1 - b]]))
            for a in steps
            for b in steps
            if weight @ [a, b] <= bound + 1e-9
        )
        assert mutual_information(joint @ channel) <= best + 1e-3
    assert np.array_equal(obfuscation_channel(joint, distances, 0), np.eye(2))
    assert mutual_information(joint @ obfuscation_channel(joint, distances, 1)) < 1e-6


def test_joint_distributions_are_found_again():
    rng = generator(1)
    a = rng.integers(0, 3, 30_000)
    b = np.where(rng.random(30_000) < 0.7, a, rng.integers(0, 3, 30_000))
    real = np.bincount(a * 3 + b, minlength=9).reshape(3, 3) / 30_000
    filters = np.eye(3, dtype=np.uint8)
    for flip, tolerance in ((0.0, 0.01), (0.5, 0.06)):
        first = randomized_bits(filters[a], flip, rng)
        second = randomized_bits(filters[b], flip, rng)
        found = estimate_joint(first, second, filters, filters, flip)
        assert found.sum() == pytest.approx(1) and found.min() >= 0
        assert np.abs(found - real).max() < tolerance
    assert np.allclose(estimate_joint(first, second, filters, filters, 1), 1 / 9)

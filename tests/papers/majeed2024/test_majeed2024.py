"""The measurements of the notebooks, and the promise of the method on all four tables."""

import itertools

import majeed2024
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import anonpaper as ap
from anonpaper.repair.cleaning import find_imbalance
from anonpaper.repair.synthesis import fuse

DATASETS = ("adult", "stroke", "census", "diabetes")


def repaired(name, rows, seed=0):
    """Real rows and, instead of a model's, rare ones whose values are shuffled per column."""
    real, _ = majeed2024.prepare(name, rows, seed)
    rng = np.random.default_rng(seed)
    ((value, needed),) = find_imbalance(real).needed.items()
    rare = real.frame[real.frame[real.sensitive] == value]
    added = {c: rare[c].to_numpy()[rng.integers(len(rare), size=needed)] for c in real.qi}
    return {"real": real, "fused": fuse(real, pd.DataFrame(added | {real.sensitive: value}))}


@pytest.fixture(scope="module")
def cases():
    return {name: repaired(name, 3000) for name in DATASETS}


@pytest.mark.parametrize("k", [2, 5, 10, 20, 30, 50, 75, 100])
@pytest.mark.parametrize("name", DATASETS)
def test_every_release_is_k_anonymous_and_2_diverse_and_keeps_everybody(cases, name, k):
    found = majeed2024.check_proposed(cases, name, k, seed=1)
    assert found["smallest class"] >= k and found["fewest values"] >= 2
    assert found["real rows"] == 3000 and found["real rows lost"] == 0
    assert k <= found["smallest group"] <= found["largest group"] <= 2 * k - 1


@pytest.mark.parametrize("seed", range(100))
def test_equations_and_the_bound_on_random_releases(seed):
    """A small random table of two sensitive values, published in random classes."""
    rng = np.random.default_rng(seed)
    n, qi = int(rng.integers(4, 40)), ["q0", "q1", "q2"][: rng.integers(1, 4)]
    frame = pd.DataFrame({q: rng.choice(list("abc"), n) for q in qi})
    frame["s"] = rng.choice(["no", "yes"], n, p=[0.7, 0.3])
    m = ap.Microdata(frame, qi, "s")
    trees = {a.name: ap.Hierarchy.flat(a.values) for a in m.attributes}
    _, labels = np.unique(rng.integers(0, n // 3 + 1, n), return_inverse=True)
    release = ap.shallow_generalize(m, ap.Partition(labels), trees)
    shown = release.frame.astype(str)
    of_class = shown.groupby(qi)["s"]
    own = shown.groupby([*qi, "s"])["s"].transform("size") / of_class.transform("size")
    # Equations 5 and 6: one over the number of values, whatever their shares
    values = of_class.transform("nunique")
    assert ap.measure.disclosure_risk(release, "values") == pytest.approx((1 / values).mean())
    # The best classifier reaches the bound
    bound = ap.measure.disclosure_risk(release, "largest")
    features = pd.get_dummies(shown[qi])
    tree = DecisionTreeClassifier(random_state=0).fit(features, shown["s"])
    assert tree.score(features, shown["s"]) == pytest.approx(bound)
    # Lemma 1 and an accuracy above one half exclude each other
    assert own.mean() > 0.5 or bound == pytest.approx(0.5)


@pytest.mark.parametrize("values", ["aaaaab", "aaabbb", "aabbcc"])
def test_no_grouping_is_below_the_bound_and_one_reaches_it(values):
    risks = []
    for labels in itertools.product(range(len(values)), repeat=len(values)):
        pairs = list(zip(labels, values, strict=True))  # of every row: who shares group and value
        risks.append(sum(pairs.count(pair) / labels.count(pair[0]) for pair in pairs))
    bound = majeed2024.least_own_value_risk([values.count(v) for v in set(values)])
    assert min(risks) / len(values) == pytest.approx(bound)

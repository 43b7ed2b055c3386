"""The Gaussian copula for teaching: margins, dependence and refusals, beside plain rejection."""

import numpy as np
import pandas as pd
from scipy.stats import norm

import anonpaper as ap


def people(n=4000, seed=0):
    """A number, an ordered column that grows with it, one of its own, and a secret that does."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    school = pd.Categorical(
        np.array(list("abcd"))[np.clip(age // 20 - 1 + rng.integers(0, 2, n), 0, 3)],
        list("abcde"),
        ordered=True,
    )
    frame = pd.DataFrame({"age": age, "school": school, "coin": rng.choice(["h", "t"], n)})
    ill = np.where(rng.random(n) < (age - 15) / 80, "yes", "no")
    return ap.Microdata(frame.assign(ill=ill), ["age", "school", "coin"], "ill")


def by_rejection(m, secret, rows, rng):
    """Draw from the copula without conditional distributions: draw all, keep what fits."""
    codes = np.column_stack([m.codes, m.sensitive_codes])
    order = np.argsort(codes, axis=0, kind="stable")
    shares = np.empty(codes.shape)
    for j in range(codes.shape[1]):  # mid-ranks, one value at a time
        for value in np.unique(codes[:, j]):
            of = codes[:, j] == value
            shares[of, j] = (np.mean(codes[:, j] < value) + np.mean(codes[:, j] <= value)) / 2
    correlation = np.corrcoef(norm.ppf(shares), rowvar=False)
    ranks = norm.cdf(
        rng.standard_normal((rows, len(correlation))) @ np.linalg.cholesky(correlation).T
    )
    places = (ranks * m.n).astype(int).clip(max=m.n - 1)
    drawn = np.column_stack([codes[order[:, j], j][places[:, j]] for j in range(codes.shape[1])])
    return drawn[drawn[:, -1] == m.sensitive_attribute.code(secret), :-1]


def test_rows_are_drawn_as_by_rejection_and_only_with_values_that_occur():
    m, rng = people(), np.random.default_rng(1)
    expected = by_rejection(m, "yes", 800_000, rng)
    rows = ap.gaussian_copula(m, {"yes": len(expected)}, seed=1)
    assert set(rows["ill"]) == {"yes"}
    assert set(rows["school"]) <= set("abcd"), "e is in the domain and occurs in no row"
    codes = [
        [attribute.code(value) for value in rows[attribute.name]] for attribute in m.attributes
    ]
    for mine, theirs in zip(codes, expected.T, strict=True):
        size = max(*mine, *theirs) + 1
        gap = (np.bincount(mine, minlength=size) - np.bincount(theirs, minlength=size)).cumsum()
        assert np.abs(gap).max() / len(expected) < 0.02
    mine, theirs = np.corrcoef(codes), np.corrcoef(expected, rowvar=False)
    assert np.abs(mine - theirs).max() < 0.02
    assert theirs[0, 1] > 0.5, "there is dependence to find"


def test_a_seed_repeats_rows_and_fresh_entropy_does_not():
    m, needed = people(300), {"no": 3, "yes": 30}
    once, again = (ap.gaussian_copula(m, needed, seed=5) for _ in range(2))
    pd.testing.assert_frame_equal(once, again)
    assert not once.equals(ap.gaussian_copula(m, needed))
    assert list(once["ill"]) == ["no"] * 3 + ["yes"] * 30
    fused = ap.synthesis.fuse(m, once)
    assert (fused.n, fused.synthetic.sum()) == (333, 33)

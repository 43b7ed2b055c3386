"""Synthetic rows by models and by a copula: values, seeds, cache, refusals; fusion."""

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import anonpaper as ap
from anonpaper import errors
from anonpaper.repair import synthesis


@pytest.fixture(autouse=True)
def cache_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("ANONPAPER_CACHE", str(tmp_path))
    return tmp_path


def people(n=240):
    """Ages, weights with digits, a job that nobody has, and a secret that grows with age."""
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, n)
    frame = pd.DataFrame({
        "age": age, "weight": rng.choice([50.5, 60.25, 70.0], n),
        "job": pd.Categorical(np.where(rng.random(n) < age / 60, "a", "b"), list("abc")),
        "ill": np.where(rng.random(n) < age / 140, "yes", "no"),
    })  # fmt: skip
    return ap.Microdata(frame, ["age", "weight", "job"], "ill")


def test_models_are_trained_in_one_thread_with_the_instructions_of_every_processor():
    """AVX-512 adds up in another order than AVX2, and two threads of BLAS led to another model."""
    script = """
import threadpoolctl
from anonpaper.repair import synthesis
with threadpoolctl.threadpool_limits(2), synthesis._quiet_and_seeded(0):
    import torch
    pools = threadpoolctl.threadpool_info()
print(torch.backends.cpu.get_cpu_capability())
print(*sorted({(pool["user_api"], pool["num_threads"]) for pool in pools}))
"""
    kept = {k: v for k, v in os.environ.items() if k != "ATEN_CPU_CAPABILITY"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=kept)
    if "NotInstalledError" in done.stderr or "threadpoolctl" in done.stderr:
        pytest.skip(done.stderr)
    assert done.stdout == "DEFAULT\n('blas', 1) ('openmp', 1)\n", done.stderr


@pytest.mark.parametrize("call", [
    lambda: synthesis.synthesize(people(), {"yes": 3}),
    lambda: synthesis.quality(people(), people().frame),
])  # fmt: skip
def test_without_sdv_a_synthesizer_says_what_to_install(monkeypatch, call):
    def not_there(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(synthesis, "version", not_there)
    monkeypatch.setitem(sys.modules, "sdv", None)
    with pytest.raises(errors.NotInstalledError, match=r"\.\[synthesis\]"):
        call()


def test_added_rows_are_rare_in_range_and_repeatable(cache_elsewhere, monkeypatch):
    m, settings = people(), dict(epochs=2, seed=3)
    needed = ap.find_imbalance(m).needed
    np.random.seed(7)  # noqa: NPY002 - the caller's global state must stay
    expected = np.random.RandomState(7).random()
    rows = synthesis.synthesize(m, needed, **settings)
    assert np.random.random() == expected  # noqa: NPY002
    fused = synthesis.fuse(m, rows)
    assert len(set(fused.sensitive_counts)) == 1
    real, added = fused.frame[~fused.synthetic], fused.frame[fused.synthetic]
    assert np.array_equal(real[m.qi].astype(str), m.frame[m.qi].astype(str))
    assert set(added["ill"]) == {"yes"} and added["age"].between(20, 59).all()
    assert pd.api.types.is_integer_dtype(fused.frame["age"])
    assert set(added["weight"]) <= {50.5, 60.25, 70.0} and set(added["job"]) <= set("ab")
    assert [path.suffix for path in (cache_elsewhere / "models").iterdir()] == [".parquet"]
    pd.testing.assert_frame_equal(rows, synthesis.synthesize(m, needed, **settings))
    monkeypatch.setenv("ANONPAPER_CACHE", str(cache_elsewhere / "another"))
    pd.testing.assert_frame_equal(rows, synthesis.synthesize(m, needed, **settings))
    report = synthesis.quality(m, m.frame.head(100)).set_index("property")["score"]
    assert {"Column Shapes", "Overall"} <= set(report.index)
    assert report.between(0, 1).all() and report["Column Shapes"] > 0.85


def test_a_model_that_never_yields_the_value_says_so(monkeypatch):
    m = people()
    m = m.replace(frame=m.frame.assign(ill=["yes"] + ["no"] * 239))
    monkeypatch.setattr(synthesis, "_ROUNDS", 1)
    with pytest.raises(errors.BudgetExceededError, match="more epochs"):
        synthesis.synthesize(m, {"yes": 200}, epochs=1)


def by_rejection(m, secret, rows, rng):
    """Draw from the copula without conditional distributions: draw all, keep what fits."""
    codes = np.column_stack([m.codes, m.sensitive_codes])
    shares = (pd.DataFrame(codes).rank() - 0.5) / m.n  # mid-ranks
    correlation = np.corrcoef(norm.ppf(shares), rowvar=False)
    scores = rng.multivariate_normal(np.zeros(len(correlation)), correlation, rows)
    places = (norm.cdf(scores) * m.n).astype(int).clip(max=m.n - 1)
    drawn = np.take_along_axis(np.sort(codes, axis=0), places, axis=0)
    return drawn[drawn[:, -1] == m.sensitive_attribute.code(secret), :-1]


def test_rows_are_drawn_as_by_rejection_and_only_with_values_that_occur():
    m = people(4000)
    expected = by_rejection(m, "yes", 800_000, np.random.default_rng(1))
    rows = ap.gaussian_copula(m, {"yes": len(expected)}, seed=1)
    assert set(rows["ill"]) == {"yes"}
    assert set(rows["job"]) <= set("ab"), "c is in the domain and occurs in no row"
    codes = [[a.code(value) for value in rows[a.name]] for a in m.attributes]
    for mine, theirs in zip(codes, expected.T, strict=True):
        size = max(*mine, *theirs) + 1
        gap = (np.bincount(mine, minlength=size) - np.bincount(theirs, minlength=size)).cumsum()
        assert np.abs(gap).max() / len(expected) < 0.02
    mine, theirs = np.corrcoef(codes), np.corrcoef(expected, rowvar=False)
    assert np.abs(mine - theirs).max() < 0.02
    assert theirs[0, 2] < -0.1, "there is dependence to find"


def test_a_seed_repeats_rows_and_fresh_entropy_does_not():
    m, needed = people(), {"no": 3, "yes": 30}
    once = ap.gaussian_copula(m, needed, seed=5)
    pd.testing.assert_frame_equal(once, ap.gaussian_copula(m, needed, seed=5))
    assert not once.equals(ap.gaussian_copula(m, needed))
    assert list(once["ill"]) == ["no"] * 3 + ["yes"] * 30
    fused = ap.synthesis.fuse(m, once)
    assert (fused.n, fused.synthetic.sum()) == (273, 33)

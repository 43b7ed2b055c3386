"""Balanced classes: the guarantees, the refusals, and cosine similarity against numpy."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper.errors import InfeasibleError
from anonpaper.partition.balanced import balanced_classes


@st.composite
def tables(draw, most_rows=60):
    n = draw(st.integers(4, most_rows))
    values = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    skew = rng.dirichlet(np.full(values, draw(st.sampled_from([0.3, 1.0, 10.0]))))
    frame = pd.DataFrame(
        {
            "age": rng.integers(17, 30, n),
            "job": rng.choice(list("abc"), n),
            "land": rng.choice(list("xy"), n, p=[0.9, 0.1]),
            "ill": rng.choice(list("stuv")[:values], n, p=skew),
        }
    )
    return ap.Microdata(frame, ["age", "job", "land"], "ill")


def classes_can_exist(counts, n, k, l):
    """Try every number of classes; a number works iff sizes and values allow it."""
    return any(
        k * g <= n <= (2 * k - 1) * g and sum(min(c, g) for c in counts) >= l * g
        for g in range(1, n + 1)
    )


@settings(max_examples=150)
@given(
    tables(), st.integers(2, 8), st.integers(2, 4), st.integers(0, 3), st.sampled_from([1.0, 0.5])
)
def test_every_class_is_balanced_and_diverse_or_none_exist(m, k, l, seed, share):
    assume(l <= k <= m.n)
    possible = classes_can_exist(m.sensitive_counts.tolist(), m.n, k, l)
    if not possible:
        with pytest.raises(InfeasibleError):
            balanced_classes(m, k, l, seed)
        return
    p = balanced_classes(m, k, l, seed, largest_share=share)
    assert len(p) == m.n and p.n_unpublished == 0
    assert k <= p.sizes().min() and p.sizes().max() <= 2 * k - 1
    by_class = m.frame.groupby(p.labels)["ill"].nunique()
    assert by_class.min() >= l
    assert np.array_equal(p.labels, balanced_classes(m, k, l, seed, largest_share=share).labels)


@settings(max_examples=100)
@given(st.data(), st.integers(2, 6), st.integers(1, 5), st.integers(0, 10_000))
def test_no_value_has_more_than_its_share_where_such_classes_exist(data, k, classes, seed):
    """The table is made of classes of k rows, in which no value has more than `most`."""
    most = data.draw(st.integers(1, k - 1))
    l = -(-k // most)
    held = np.repeat(np.arange(l + data.draw(st.integers(0, 2))), most)
    rng = np.random.default_rng(seed)
    ill = np.concatenate([rng.permutation(held)[:k] for _ in range(classes)])
    frame = pd.DataFrame({"age": rng.integers(0, 9, len(ill)), "ill": ill})
    p = balanced_classes(ap.Microdata(frame, ["age"], "ill"), k, l, largest_share=most / k)
    assert p.sizes().tolist() == [k] * classes
    assert frame.groupby([p.labels, "ill"]).size().max() <= most


def test_similarity_is_the_cosine_of_the_encoded_rows():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 9, 24),
            "job": rng.choice(list("abc"), 24),
            "ill": rng.choice(list("st"), 24),
        }
    )
    m = ap.Microdata(frame, ["age", "job"], "ill")
    p = balanced_classes(m, k=24, l=2)
    x = frame["age"].to_numpy() / frame["age"].max()
    job = pd.get_dummies(frame["job"]).to_numpy(dtype=float)
    encoded = np.column_stack([1 - x, x, job])
    encoded /= np.linalg.norm(encoded, axis=1)[:, None]
    # one class: its centre is some row, so the mean similarity is one of the row means
    alike = encoded @ encoded.T
    shares = (alike >= 0.88).mean(axis=0)[
        np.isclose(alike.mean(axis=0), p.info["mean_similarity"])
    ]
    assert p.info["similar_share"] in shares

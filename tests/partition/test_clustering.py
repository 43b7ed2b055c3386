import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from referees.clustering import k_member_rows
from referees.tables import tables

import anonpaper as ap
from anonpaper.errors import InfeasibleError
from anonpaper.partition.balanced import balanced_classes
from anonpaper.partition.klt import UnplacedRowsWarning, klt
from anonpaper.randomness import generator


@settings(max_examples=150)
@given(
    tables(max_rows=24, min_rows=5, max_qi=4, max_values=7), st.integers(2, 5), st.integers(0, 5)
)
def test_k_member_takes_the_choices_of_the_row_by_row_algorithm_and_oka_as_many_clusters(
    m, k, seed
):
    p, other = ap.k_member(m, k, seed), ap.oka(m, k, seed)
    expected = k_member_rows(m.codes, k, first=int(generator(seed).integers(m.n)))

    # Copies of a tuple are interchangeable: clusters are compared by the tuples in them.
    def tuples(groups):
        return [sorted(map(tuple, m.codes[list(rows)])) for rows in groups]

    assert tuples(p.groups()) == tuples(expected)
    assert other.n_groups == m.n // k and other.sizes().min() >= k and len(other) == m.n


@st.composite
def skewed(draw):
    n, values = draw(st.integers(4, 60)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    skew = rng.dirichlet(np.full(values, draw(st.sampled_from([0.3, 1.0, 10.0]))))
    frame = pd.DataFrame({
        "age": rng.integers(17, 30, n), "job": rng.choice(list("abc"), n),
        "land": rng.choice(list("xy"), n, p=[0.9, 0.1]),
        "ill": rng.choice(list("stuv")[:values], n, p=skew),
    })  # fmt: skip
    return ap.Microdata(frame, ["age", "job", "land"], "ill")


@settings(max_examples=150)
@given(
    skewed(), st.integers(2, 8), st.integers(2, 4), st.integers(0, 3), st.sampled_from([1.0, 0.5])
)
def test_every_class_is_balanced_and_diverse_or_none_exist(m, k, l, seed, share):
    assume(l <= k <= m.n)
    possible = any(
        k * g <= m.n <= (2 * k - 1) * g and np.minimum(m.sensitive_counts, g).sum() >= l * g
        for g in range(1, m.n + 1)
    )
    if not possible:
        with pytest.raises(InfeasibleError):
            balanced_classes(m, k, l, seed)
        return
    p = balanced_classes(m, k, l, seed, largest_share=share)
    assert len(p) == m.n and p.n_unpublished == 0
    assert k <= p.sizes().min() and p.sizes().max() <= 2 * k - 1
    assert m.frame.groupby(p.labels)["ill"].nunique().min() >= l
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


def test_rows_are_left_out_only_if_asked_for_and_with_a_warning():
    frame = pd.DataFrame({"age": range(60), "ill": ["flu"] * 40 + list("abcde" * 4)})
    m = ap.Microdata(frame, ["age"], "ill")
    with pytest.warns(UnplacedRowsWarning, match="60 rows.*100% .* have the same 'ill'") as told:
        p = klt(m, k=4, l=2, theta=0.5, withheld="drop")
    assert told[0].filename == __file__  # the line of the caller
    assert p.info["unplaced_rows"] == p.n_unpublished >= 20 and p.info["unplaced_share"] == 1
    assert ap.Theta(0.5).holds(m, p.labels) and ap.KAnonymity(4).holds(m, p.labels)
    with pytest.raises(InfeasibleError, match=r"40 of 60 rows have 'flu'. A theta of 0\.6667"):
        klt(m, k=4, l=2, theta=0.5)
    p = klt(m, k=4, l=2, theta=0.6667)
    assert p.info["unplaced_rows"] == 0 == p.info["unplaced_share"]
    assert ap.Theta(0.6667).holds(m, p.labels)

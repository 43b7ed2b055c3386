"""klt against a row-by-row version, pycanon and plain pandas; bad input; determinism."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycanon import anonymity
from referees.klt import RowByRow

import anonpaper as ap
from anonpaper.errors import ColumnError, InfeasibleError, ParameterError
from anonpaper.partition.klt import UnplacedRowsWarning, klt


def steps_apart(a, b):
    return abs(int(a) - int(b))


def not_both_even(a, b):
    return 0 if a == b else 1 + (int(a) + int(b)) % 2


@st.composite
def tables(draw):
    n = draw(st.integers(4, 36))

    def some_of(values):
        return st.lists(st.sampled_from(values), min_size=n, max_size=n)

    def column(size):
        return some_of(range(size))

    frame = pd.DataFrame(
        {
            "age": draw(column(draw(st.sampled_from([2, 9, 40])))),
            # Codes above 62, and sensitive codes 64 apart, share bits in the search.
            "race": pd.Categorical.from_codes(draw(some_of([0, 62, 63])), categories=range(70)),
            "sex": pd.Categorical(draw(column(2)), categories=[0, 1]),
            "town": pd.Categorical(draw(column(4)), categories=range(4)),
            "ill": pd.Categorical.from_codes(
                draw(
                    some_of(
                        draw(st.sampled_from([[0, 1], [0, 64, 65], [0, 1, 2, 64, 65, 66, 128]]))
                    )
                ),
                categories=range(130),
            ),
        }
    )
    return ap.Microdata(frame, qi=["age", "race", "sex", "town"], sensitive="ill")


rules = st.tuples(st.integers(1, 6), st.integers(1, 4), st.sampled_from([0.3, 0.34, 0.5, 0.75, 1]))
weights = st.dictionaries(
    st.sampled_from(["age", "race", "sex", "town"]), st.sampled_from([0, 0.5, 5])
)
distances = st.fixed_dictionaries(
    {},
    optional={
        "age": st.sampled_from(["set", steps_apart]),
        "race": st.sampled_from(["univariate", not_both_even]),
        "sex": st.just("set"),
        "town": st.sampled_from(["univariate", steps_apart]),
    },
)


@settings(max_examples=150)
@given(
    tables(), rules, weights, distances, st.integers(0, 3), st.sampled_from(["merge", "drop"])
)  # fmt: skip
def test_same_groups_as_row_by_row(m, rule, weights, distance, seed, withheld):
    k, l, theta = rule
    k = min(k, m.n)
    if withheld == "merge":  # else hardly any table would do
        theta = max(theta, m.sensitive_counts.max() / m.n)
    arguments = (m, k, l, theta, weights, distance, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnplacedRowsWarning)
        try:
            p = klt(*arguments, withheld=withheld)
        except InfeasibleError:
            assert not any_group_holds(m, k, l, theta, all_rows=withheld == "merge")
            return
    plain = RowByRow(*arguments, withheld)
    assert p.labels.tolist() == plain.run().tolist()
    assert (p.info["repeats"], p.info["formed"]) == (plain.repeats, plain.formed)
    if withheld == "merge":
        assert p.info["unplaced_rows"] == 0
    for g in range(p.n_groups):
        counts = np.bincount(m.sensitive_codes[p.labels == g])
        size = counts.sum()
        assert size >= k and (counts > 0).sum() >= l and counts.max() <= theta * size + 1e-6


def any_group_holds(m, k, l, theta, all_rows):
    """Take s rows as evenly as the counts allow, for every s; or all of them."""
    counts = np.sort(m.sensitive_counts[m.sensitive_counts > 0])
    for s in [m.n] if all_rows else range(max(k, l), m.n + 1):
        most = np.floor(theta * s + 1e-6)
        if len(counts) >= l and np.minimum(counts, most).sum() >= s:
            return True
    return False


def test_no_row_of_adult_is_lost_and_weights_keep_values_together():
    adult = ap.load("adult")
    p = klt(adult, k=10, l=5, theta=0.3, seed=0)
    assert p.n_unpublished == 0 and p.sizes().sum() == 32_561
    secrets = adult.frame["occupation"].astype(object).fillna("?").to_numpy()
    published = pd.DataFrame({"group": p.labels, "occupation": secrets})
    assert anonymity.k_anonymity(published, ["group"]) >= 10
    assert anonymity.l_diversity(published, ["group"], ["occupation"]) >= 5
    alpha, _ = anonymity.alpha_k_anonymity(published, ["group"], ["occupation"])
    assert alpha <= 0.3 + 1e-12

    def spread(p):
        return adult.frame.groupby(p.labels)["age"].std().mean()

    assert spread(klt(adult, weights={"age": 50})) < 0.9 * spread(p)


@pytest.fixture
def mostly_flu():
    frame = pd.DataFrame({"age": range(60), "ill": ["flu"] * 40 + list("abcde" * 4)})
    return ap.Microdata(frame, ["age"], "ill")


def test_the_papers_step_6_leaves_out_rows_and_says_what_they_share(mostly_flu):
    with pytest.warns(UnplacedRowsWarning, match="of 60 rows.*100% of them have the same 'ill'"):
        p = klt(mostly_flu, k=4, l=2, theta=0.5, withheld="drop")
    assert p.info["unplaced_rows"] == p.n_unpublished >= 20
    assert p.info["unplaced_share"] == 1
    assert ap.Theta(0.5).holds(mostly_flu, p.labels)
    assert ap.KAnonymity(4).holds(mostly_flu, p.labels)
    assert p.info["repeats"] > 0


def test_nobody_is_left_out_unless_asked_for(mostly_flu):
    with pytest.raises(InfeasibleError, match=r"40 of 60 rows have 'flu'. A theta of 0\.6667"):
        klt(mostly_flu, k=4, l=2, theta=0.5)
    p = klt(mostly_flu, k=4, l=2, theta=0.6667)
    assert p.info["unplaced_rows"] == 0 == p.info["unplaced_share"]
    assert ap.Theta(0.6667).holds(mostly_flu, p.labels)


def test_rows_that_the_paper_drops_are_merged_where_all_can_be():
    ills = ["flu"] * 6 + list("bcedcabebedacd")
    m = ap.Microdata(pd.DataFrame({"age": range(20), "ill": ills}), ["age"], "ill")
    with pytest.warns(UnplacedRowsWarning):
        dropped = klt(m, k=4, l=3, theta=0.3, withheld="drop")
    assert dropped.n_unpublished and dropped.info["unplaced_share"] == 1
    p = klt(m, k=4, l=3, theta=0.3)
    assert p.n_unpublished == 0
    assert ap.Theta(0.3).holds(m, p.labels) and ap.KAnonymity(4).holds(m, p.labels)


HOSPITAL = {"k": 4, "l": 2, "theta": 0.5}


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"withheld": "keep"}, ParameterError, "withheld must be"),
        ({"theta": 0}, ParameterError, "theta must be a number"),
        ({"theta": 1.01}, ParameterError, "theta must be a number"),
        ({"theta": float("nan")}, ParameterError, "theta must be a number"),
        ({"theta": "0.3"}, ParameterError, "theta must be a number"),
        ({"k": 0}, ParameterError, "must be an integer"),
        ({"k": 11}, ParameterError, "must be an integer"),
        ({"k": 2.5}, ParameterError, "must be an integer"),
        ({"l": "2"}, ParameterError, "must be an integer"),
        ({"k": 5, "l": 5}, InfeasibleError, "l = 5 is too large: 'Disease' has 4 values"),
        ({"theta": 0.2}, InfeasibleError, "at least 5 distinct values"),
        ({"weights": {"Age": -1}}, ParameterError, r"weights\['Age'\] must be a number"),
        ({"weights": {"Age": float("nan")}}, ParameterError, "must be a number"),
        ({"weights": {"Height": 1}}, ColumnError, r"weights names \['Height'\]"),
        ({"distance": {"Disease": "set"}}, ColumnError, r"distance names \['Disease'\]"),
        ({"distance": {"Age": "cosine"}}, ParameterError, "'univariate', 'set' or a function"),
        ({"distance": {"Age": lambda a, b: float(a < b)}}, ParameterError, "must be symmetric"),
        ({"distance": {"Age": lambda a, b: -1.0}}, ParameterError, "at least 0"),
        ({"weights": [1, 2, 3]}, ParameterError, "must map column names"),
        ({"seed": -1}, ParameterError, "seed"),
    ],
)
def test_bad_parameters_are_named(given, error, says):
    with pytest.raises(error, match=says):
        klt(ap.examples.hospital(), **HOSPITAL | given)

"""Risk, utility, attacks and workloads against plain readings and the paper."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.tables import grouped_tables, tables

import anonpaper as ap
from anonpaper import measure
from anonpaper.errors import ColumnError, ParameterError, SizeLimitError
from anonpaper.measure import classification, query_error
from anonpaper.measure.queries import places
from anonpaper.repair.synthesis import fuse


@settings(max_examples=80)
@given(grouped_tables())
def test_risk_and_exposure_are_the_formulas_row_by_row(case):
    m, p = case
    release = ap.suppress(m, p)
    found = Counter()
    everybody = Counter(m.frame["s"])
    top = max(everybody.values())
    dominant = min(v for v, c in everybody.items() if c == top)
    shown = m.frame["s"][release.is_published]
    for _, values in shown.groupby(release.frame[m.qi].astype(str).agg("|".join, axis=1)):
        counts, size = Counter(values), len(values)
        of_top = counts[dominant]
        chance = sum(max(1 / size, c / size) for c in counts.values()) / len(counts)
        found["values"] += size * chance
        found["own"] += sum(c * c / size for c in counts.values())
        found["largest"] += max(counts.values())
        found["surplus"] += max(0, 2 * of_top - size)
        found["single"] += of_top * (of_top == size)
        found["majority"] += of_top * (2 * of_top > size)
        found["lonely"] += size * (len(counts) < 2)
    for reading in ("values", "own", "largest"):
        assert measure.disclosure_risk(release, reading) == pytest.approx(found[reading] / m.n)
    for reading in ("surplus", "single", "majority"):
        assert measure.exposure(release, reading) == pytest.approx(found[reading] / top)
    assert measure.undiverse_rows(release) == found["lonely"]


def test_synthetic_rows_can_be_told_apart_in_every_measure():
    m = ap.Microdata(pd.DataFrame({"q": [1, 1, 1, 1], "s": list("aaab")}), ["q"], "s")
    fused = fuse(m, pd.DataFrame({"q": [1, 1], "s": ["b", "b"]}))
    release = ap.suppress(fused, ap.Partition([0] * 6))
    assert release.is_synthetic.tolist() == [False] * 4 + [True] * 2
    assert measure.disclosure_risk(release, "largest") == 0.5
    assert measure.disclosure_risk(release, "own", targets="real") == pytest.approx(0.5)
    assert measure.disclosure_risk(release.without_synthetic(), "largest") == 0.75
    two = ap.suppress(fused, ap.Partition([0, 0, 0, 0, 1, 1])).without_synthetic()
    assert two.partition.n_groups == 1


def test_a_forest_learns_from_a_release_and_is_judged_on_real_people():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, 3000)
    rare = rng.random(3000) < np.where(age > 40, 0.2, 0.02)
    frame = pd.DataFrame({"age": age, "noise": rng.choice(list("ab"), 3000),
                          "old": np.where(age > 40, "old", "young"), "rare": rare})  # fmt: skip
    m = ap.Microdata(frame, ["age", "noise"], "old")
    train, test = m.take(np.arange(2000)), m.take(np.arange(2000, 3000))
    kept = ap.suppress(train, alike(train))
    found = classification(kept, test, trees=10)
    assert found.accuracy > 0.95
    starred = classification(ap.suppress(train, ap.Partition([0] * 2000)), test, trees=10)
    assert starred.balanced_accuracy == 0.5
    assert found == classification(kept, test, trees=10)
    with pytest.raises(ParameterError, match="synthetic"):
        classification(kept, fuse(test, test.frame.head(1)))
    with pytest.raises(ColumnError):
        classification(kept, test.with_roles(qi=["age"]))
    train, test = (of.with_roles(qi=["age"], sensitive="rare") for of in (train, test))
    kept = ap.suppress(train, alike(train))
    plain, weighed = (classification(kept, test, trees=10, balanced=b) for b in (False, True))
    assert plain.balanced_accuracy < 0.55 and plain.accuracy > weighed.accuracy
    assert weighed.balanced_accuracy > plain.balanced_accuracy + 0.1


def test_a_forest_of_too_many_numbers_is_refused_before_it_is_grown():
    """Two people of one job each, of as many jobs as a register has, and many rows to judge."""
    jobs = {"job": [f"job {number}" for number in range(20_000)]}
    frame = pd.DataFrame({"job": ["job 0", "job 1"] * 12_501, "s": [0, 1] * 12_501})
    m = ap.Microdata(frame, ["job"], "s", domains=jobs)
    release = ap.suppress(m.take([0, 1]), ap.Partition([0, 0]))
    with pytest.raises(SizeLimitError, match="25,002 rows have 20,000 features.* 500,000,000"):
        classification(release, m)


def test_accuracy_penalizes_classes_below_k_and_is_1_at_the_optimum():
    m, ratio = ap.examples.patients(), measure.discernibility_ratio
    rel = ap.suppress(m, ap.Partition([0, 0, 0, 1, 1, 1, 1, 2, 2, -1]))
    assert ratio(rel, 3) == pytest.approx((9 + 9 + 16) / (9 + 16 + 20 + 10))
    assert ratio(rel, 1) == pytest.approx(10 / (9 + 16 + 4 + 10))
    best = ap.suppress(m, ap.examples.patients_diverse())
    worst = ap.suppress(m, ap.Partition([0] * 10))
    assert [ratio(best, 2, of) for of in ("ratio", "range", "log")] == [1, 1, 1]
    found = [ratio(worst, 2, of) for of in ("ratio", "range", "log", "stars")]
    assert found == pytest.approx([20 / 100, 0, 0, 0])
    assert ratio(worst, 10) == ratio(worst, 10, "log") == 1


def test_values_kept_counts_stars_and_shown_values_of_each_group():
    m = ap.examples.patients()
    rel = ap.suppress(m, ap.examples.patients_three_anonymous())
    kept = measure.values_kept(rel, "GEN").set_index("GEN")
    starred, gender = rel.frame == "*", m.frame["GEN"]
    assert kept["shown"].to_dict() == (~starred["GEN"]).groupby(gender).mean().to_dict()
    assert kept["stars_per_row"].to_dict() == starred.sum(axis=1).groupby(gender).mean().to_dict()
    assert kept["rows"].sum() == 10


def guess_one_by_one(m, labels, plausible):
    """Chance of a right guess, and share of values ruled out, of every row."""
    for row, label in enumerate(labels):
        values = m.sensitive_codes[labels == label].tolist()
        possible = [v for v in values if plausible[row, v]] or values
        most = max(possible.count(v) for v in possible)
        named = {v for v in possible if possible.count(v) == most}
        found = (m.sensitive_codes[row] in named) / len(named), np.mean(~plausible[row, values])
        yield found if label >= 0 else (np.nan, np.nan)


@settings(max_examples=80)
@given(grouped_tables(), st.sampled_from([0, 0.2, 0.5, 1]))
def test_guesses_are_those_made_one_by_one(grouped, least_share):
    m, labels = grouped[0], grouped[1].labels
    everything = np.ones((m.n, m.sensitive_attribute.size), dtype=bool)
    expected, _ = zip(*guess_one_by_one(m, labels, everything), strict=True)
    assert np.allclose(measure.guessing(m, labels), expected, equal_nan=True)
    plausible = measure.plausible_values(m, ["q0"], least_share)
    expected, out = zip(*guess_one_by_one(m, labels, plausible), strict=True)
    assert np.allclose(measure.guessing(m, labels, plausible), expected, equal_nan=True)
    assert np.allclose(measure.ruled_out(m, labels, plausible), out, equal_nan=True)


@settings(max_examples=50)
@given(tables(), tables(), st.sampled_from([0, 0.3, 0.6]))
def test_plausible_values_of_other_people_by_pandas(m, people, least_share):
    share = people.frame.groupby("q0")["s"].value_counts(normalize=True)
    expected = [
        [
            a not in share.index or ((a, s) in share.index and share[a, s] >= least_share)
            for s in m.sensitive_attribute.values
        ]
        for a in m.frame["q0"]
    ]
    assert measure.plausible_values(m, ["q0"], least_share, people).tolist() == expected
    own = measure.plausible_values(m, ["q0"], least_share)
    assert np.array_equal(measure.plausible_values(m, ["q0"], least_share, m), own)


def test_nobody_fits_where_every_row_is_withheld():
    m = ap.examples.hospital()
    for publish in (ap.suppress, ap.generalize, ap.swap, ap.anatomize):
        found = measure.membership(publish(m, ap.Partition([-1] * 10)), m)
        assert found == {"members": 0.0, "outsiders": 0.0, "advantage": 0.0}


SELECTIVITY = {"age": 35, "education": 8, "race": 3, "sex": 1}


@pytest.fixture(scope="module")
def adult():
    return ap.load("adult", rows=3000, seed=4)


@pytest.fixture(scope="module")
def groups(adult):
    return ap.klt(adult, seed=0)


def test_selectivity_is_what_was_asked_for(adult):
    queries = measure.workload(adult, SELECTIVITY, size=500, seed=0)
    included = {a.name: queries.included(a) for a in adult.attributes}
    for name in ("education", "race", "sex"):
        assert (included[name].sum(axis=1) == SELECTIVITY[name]).all()
    low, high = queries.asked["age"].T
    assert (high - low + 1 == 35).all() and low.min() == 17 and high.max() == 90
    # Every value is as likely as any other: 250 of 500 expected, standard deviation 11.2.
    assert np.all(np.abs(included["education"].sum(axis=0) - 250) < 56)
    assert [places(attribute) for attribute in adult.attributes] == [74, 16, 5, 2]


def test_errors_are_those_of_the_equations(adult, groups):
    queries = measure.workload(adult, SELECTIVITY, size=30, seed=2)
    releases = [ap.swap(adult, groups, seed=1), ap.suppress(adult, groups),
                ap.generalize(adult, groups), ap.anatomize(adult, groups)]  # fmt: skip
    truth, *answers = (of.tolist() for of in queries.answers(adult, *releases).reshape(5, -1))
    errors = [sum((a - b) ** 2 / (a + b) for a, b in zip(answer, truth, strict=True) if a + b)
              for answer in answers]  # fmt: skip
    assert measure.query_errors(queries, releases) == pytest.approx(errors)
    for release, answer in zip(releases, answers, strict=True):
        wrong = [abs(said - true) for true, said in zip(truth, answer, strict=True)]
        shares = [e / max(true, 0.001 * adult.n) for true, e in zip(truth, wrong, strict=True)]
        assert query_error(release, queries, of="absolute") == pytest.approx(np.mean(wrong))
        assert query_error(release, queries) == pytest.approx(np.mean(shares))
        assert query_error(release) > query_error(ap.suppress(adult, alike(adult)))


def alike(m):
    return ap.Partition(m.cells.tuple_of_row.astype(np.int64))

"""Risk, utility, attacks and workloads against plain readings, SQL and the paper."""

import sqlite3
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.tables import grouped_tables, tables

import anonpaper as ap
from anonpaper.errors import ColumnError, EmptyTableError, ParameterError, SizeLimitError
from anonpaper.measure import classification, disclosure_risk, exposure, undiverse_rows
from anonpaper.measure.attacks import guessing, membership, plausible_values, ruled_out
from anonpaper.measure.queries import places, query_error, query_errors, relative_errors, workload
from anonpaper.repair.synthesis import fuse


def classes_of(release):
    """Rows by published quasi-identifiers, withheld ones left out."""
    classes = defaultdict(list)
    m = release.microdata
    for row in np.flatnonzero(release.is_published):
        entry = release.entries.of_row[row]
        key = tuple(p.sub_domains.members(p.index[entry]).tobytes() for p in release.published)
        classes[key].append(m.frame[m.sensitive].iloc[row])
    return list(classes.values())


@settings(max_examples=80)
@given(grouped_tables())
def test_risk_and_exposure_are_the_formulas_row_by_row(case):
    m, p = case
    release = ap.suppress(m, p)
    literal = own = largest = 0.0
    surplus = single = majority = lonely = 0
    top = Counter(m.frame["s"]).most_common(1)[0][1]
    dominant = min(v for v, c in Counter(m.frame["s"]).items() if c == top)
    for values in classes_of(release):
        counts, size = Counter(values), len(values)
        chance = sum(max(1 / size, c / size) for c in counts.values()) / len(counts)
        literal += size * chance
        own += sum(c * c / size for c in counts.values())
        largest += max(counts.values())
        surplus += max(0, 2 * counts[dominant] - size)
        single += counts[dominant] if counts[dominant] == size else 0
        majority += counts[dominant] if 2 * counts[dominant] > size else 0
        lonely += size if len(counts) < 2 else 0
    assert disclosure_risk(release, "values") == pytest.approx(literal / m.n)
    assert disclosure_risk(release, "own") == pytest.approx(own / m.n)
    assert disclosure_risk(release, "largest") == pytest.approx(largest / m.n)
    assert exposure(release, "surplus") == pytest.approx(surplus / top)
    assert exposure(release, "single") == pytest.approx(single / top)
    assert exposure(release, "majority") == pytest.approx(majority / top)
    assert undiverse_rows(release) == lonely


def test_synthetic_rows_can_be_told_apart_in_every_measure():
    m = ap.Microdata(pd.DataFrame({"q": [1, 1, 1, 1], "s": list("aaab")}), ["q"], "s")
    fused = fuse(m, pd.DataFrame({"q": [1, 1], "s": ["b", "b"]}))
    release = ap.suppress(fused, ap.Partition([0] * 6))
    assert release.is_synthetic.tolist() == [False] * 4 + [True] * 2
    assert disclosure_risk(release, "largest") == 0.5
    assert disclosure_risk(release, "own", targets="real") == pytest.approx(0.5)
    alone = release.without_synthetic()
    assert alone.microdata.n == 4 and disclosure_risk(alone, "largest") == 0.75
    assert alone.frame.equals(release.frame.iloc[:4])
    m = ap.Microdata(pd.DataFrame({"q": [1, 1, 2], "s": list("aba")}), ["q"], "s")
    fused = fuse(m, pd.DataFrame({"q": [2, 2], "s": ["b", "b"]}))
    release = ap.suppress(fused, ap.Partition([0, 0, 0, 1, 1]))
    alone = release.without_synthetic()
    assert alone.partition.n_groups == 1
    everybody = ap.Microdata(fused.frame, ["q"], "s", synthetic=np.ones(5, dtype=bool))
    with pytest.raises(EmptyTableError):
        ap.suppress(everybody, ap.Partition([0] * 5)).without_synthetic()


def test_a_forest_learns_from_a_release_and_is_judged_on_real_people():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, 600)
    frame = pd.DataFrame(
        {"age": age, "noise": rng.choice(list("ab"), 600), "s": np.where(age > 40, "old", "young")}
    )
    m = ap.Microdata(frame, ["age", "noise"], "s")
    train, test = m.take(np.arange(400)), m.take(np.arange(400, 600))
    kept = ap.suppress(train, ap.Partition(np.asarray(train.cells.tuple_of_row)))
    found = classification(kept, test, trees=10)
    assert found.accuracy > 0.95 and found.confusion.to_numpy().sum() == 200
    starred = classification(ap.suppress(train, ap.Partition([0] * 400)), test, trees=10)
    assert starred.balanced_accuracy == 0.5
    pd.testing.assert_frame_equal(found.confusion, classification(kept, test, trees=10).confusion)
    with pytest.raises(ParameterError, match="synthetic"):
        classification(kept, fuse(test, test.frame.head(1)))
    with pytest.raises(ColumnError):
        classification(kept, test.with_roles(qi=["age"]))


def test_a_forest_of_too_many_numbers_is_refused_before_it_is_grown():
    """Two people of one job each, of as many jobs as a register has, and many rows to judge."""
    jobs = {"job": [f"job {number}" for number in range(20_000)]}
    frame = pd.DataFrame({"job": ["job 0", "job 1"] * 12_501, "s": [0, 1] * 12_501})
    m = ap.Microdata(frame, ["job"], "s", domains=jobs)
    release = ap.suppress(m.take([0, 1]), ap.Partition([0, 0]))
    with pytest.raises(SizeLimitError, match="25,002 rows have 20,000 features.* 500,000,000"):
        classification(release, m)


def test_a_balanced_forest_finds_more_people_of_the_rare_value():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, 3000)
    rare = rng.random(3000) < np.where(age > 40, 0.2, 0.02)
    m = ap.Microdata(pd.DataFrame({"age": age, "s": np.where(rare, "yes", "no")}), ["age"], "s")
    train, test = m.take(np.arange(2000)), m.take(np.arange(2000, 3000))
    kept = ap.suppress(train, ap.Partition(np.asarray(train.cells.tuple_of_row)))
    plain, weighed = (classification(kept, test, trees=10, balanced=b) for b in (False, True))
    assert [found.confusion.loc["yes", "yes"] / found.confusion.loc["yes"].sum() > 0.5
            for found in (plain, weighed)] == [False, True]  # fmt: skip
    assert weighed.accuracy < plain.accuracy


def test_accuracy_penalizes_classes_below_k_and_is_1_at_the_optimum():
    m, ratio = ap.examples.patients(), ap.measure.discernibility_ratio
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
    kept = ap.measure.values_kept(rel, "GEN").set_index("GEN")
    shown = (rel.frame["GEN"] != "*").groupby(m.frame["GEN"]).mean()
    stars = (rel.frame == "*").sum(axis=1).groupby(m.frame["GEN"]).mean()
    for value in ("Male", "Female"):
        assert kept.loc[value, "shown"] == pytest.approx(shown[value])
        assert kept.loc[value, "stars_per_row"] == pytest.approx(stars[value])
    by_diagnosis = ap.measure.values_kept(rel, "DIAG")
    assert list(by_diagnosis) == ["DIAG", "rows", "stars_per_row"]
    assert by_diagnosis["rows"].sum() == 10


def guess_one_by_one(m, labels, plausible):
    success = []
    for row, label in enumerate(labels):
        if label < 0:
            success.append(np.nan)
            continue
        values = m.sensitive_codes[labels == label].tolist()
        possible = [v for v in values if plausible[row, v]] or values
        most = max(possible.count(v) for v in possible)
        named = {v for v in possible if possible.count(v) == most}
        success.append((m.sensitive_codes[row] in named) / len(named))
    return success


@settings(max_examples=80)
@given(grouped_tables(), st.sampled_from([0, 0.2, 0.5, 1]))
def test_guesses_are_those_made_one_by_one(grouped, least_share):
    m, labels = grouped[0], grouped[1].labels
    everything = np.ones((m.n, m.sensitive_attribute.size), dtype=bool)
    assert np.allclose(
        guessing(m, labels), guess_one_by_one(m, labels, everything), equal_nan=True
    )
    plausible = plausible_values(m, ["q0"], least_share)
    assert np.allclose(
        guessing(m, labels, plausible), guess_one_by_one(m, labels, plausible), equal_nan=True
    )


@settings(max_examples=50)
@given(grouped_tables(), st.sampled_from([0, 0.3, 0.6]))
def test_values_ruled_out_are_counted_one_by_one(grouped, least_share):
    m, labels = grouped[0], grouped[1].labels
    plausible = plausible_values(m, ["q0"], least_share)
    expected = [
        np.mean([not plausible[row, v] for v in m.sensitive_codes[labels == labels[row]]])
        for row in range(m.n)
    ]
    found = ruled_out(m, labels, plausible)
    assert np.allclose(found[labels >= 0], np.array(expected)[labels >= 0])


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
    assert plausible_values(m, ["q0"], least_share, people).tolist() == expected
    assert np.array_equal(
        plausible_values(m, ["q0"], least_share, m), plausible_values(m, ["q0"], least_share)
    )


def test_nobody_fits_where_every_row_is_withheld():
    m = ap.examples.hospital()
    for publish in (ap.suppress, ap.generalize, ap.swap, ap.anatomize):
        found = membership(publish(m, ap.Partition([-1] * 10)), m)
        assert found == {"members": 0.0, "outsiders": 0.0, "advantage": 0.0}


SELECTIVITY = {"age": 35, "education": 8, "race": 3, "sex": 1}


@pytest.fixture(scope="module")
def adult():
    return ap.load("adult", rows=3000, seed=4)


@pytest.fixture(scope="module")
def groups(adult):
    return ap.klt(adult, seed=0)


def answers_of_sqlite(queries, frame, table="adult"):
    connection = sqlite3.connect(":memory:")
    missing_named = frame.apply(
        lambda c: c if c.notna().all() else c.astype(object).where(c.notna(), "?")
    )
    missing_named.to_sql(table, connection, index=False)
    answers = np.zeros((len(queries), queries.sensitive.size))
    for number, query in enumerate(queries.sql(table)):
        for value, total in connection.execute(query):
            answers[number, queries.sensitive.code(value)] = total
    return answers


def test_answers_are_those_of_sql(adult, groups):
    queries = workload(adult, SELECTIVITY, size=60, seed=3)
    release = ap.swap(adult, groups, seed=1)
    ours = queries.answers(adult, release)
    assert np.array_equal(
        ours[0], answers_of_sqlite(queries, adult.frame[[*adult.qi, "occupation"]])
    )
    assert np.array_equal(ours[1], answers_of_sqlite(queries, release.frame))
    assert not np.array_equal(ours[0], ours[1])


def test_selectivity_is_what_was_asked_for(adult):
    queries = workload(adult, SELECTIVITY, size=500, seed=0)
    included = {a.name: queries.included(a) for a in adult.attributes}
    assert (included["education"].sum(axis=1) == 8).all()
    assert (included["race"].sum(axis=1) == 3).all()
    assert (included["sex"].sum(axis=1) == 1).all()
    low, high = queries.asked["age"].T
    assert (high - low + 1 == 35).all() and low.min() == 17 and high.max() == 90
    # Every value is as likely as any other: 250 of 500 expected, standard deviation 11.2.
    assert np.all(np.abs(included["education"].sum(axis=0) - 250) < 56)
    assert [places(attribute) for attribute in adult.attributes] == [74, 16, 5, 2]


def test_errors_are_those_of_the_equations(adult, groups):
    queries = workload(adult, SELECTIVITY, size=30, seed=2)
    releases = [ap.swap(adult, groups, seed=seed) for seed in (1, 2)]
    truth = queries.answers(adult)[0]
    errors = []
    for release in releases:
        error = 0.0
        for x, y in zip(queries.answers(release)[0], truth, strict=True):
            error += sum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0)
        errors.append(error)
    assert np.allclose(query_errors(queries, releases), errors)
    assert np.allclose(
        relative_errors(queries, releases[:1], releases[1]), 100 * errors[0] / max(errors[1], 1)
    )
    assert relative_errors(queries, [releases[1]], releases[1]) == pytest.approx([100])


@pytest.mark.parametrize("publish", [ap.suppress, ap.generalize, ap.anatomize])
def test_the_error_of_counts_is_their_mean_distance(adult, groups, publish):
    release = publish(adult, groups)
    queries = workload(adult, SELECTIVITY, size=40, seed=5)
    truth, answers = (queries.answers(table)[0] for table in (adult, release))
    absolute = relative = 0.0
    for true, said in zip(truth.ravel(), answers.ravel(), strict=True):
        absolute += abs(said - true)
        relative += abs(said - true) / max(true, 0.001 * adult.n)
    assert query_error(release, queries, of="absolute") == pytest.approx(absolute / truth.size)
    assert query_error(release, queries) == pytest.approx(relative / truth.size)
    assert query_error(release) > query_error(ap.suppress(adult, alike(adult)))


def alike(m):
    return ap.Partition(m.cells.tuple_of_row.astype(np.int64))

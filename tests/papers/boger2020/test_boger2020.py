"""The experiments: what they return, from which settings, and that seeds decide everything."""

import boger2020
import numpy as np
import pandas as pd
import pytest
from scipy.stats.contingency import association
from sklearn.metrics import mutual_info_score

import anonpaper as ap
from anonpaper.partition.klt import UnplacedRowsWarning


@pytest.fixture(scope="module")
def adult():
    return ap.load("adult", qi=list(boger2020.QI), rows=1500, seed=1)


def test_rounds_of_the_figures(adult):
    rows = pd.DataFrame(boger2020.errors_by_selectivity(adult, queries=100, seed=3))
    rounds = rows.groupby("varied")["values"].nunique()
    assert rounds.to_dict() == {"none": 1, "race": 5, "education": 16, "sex": 2, "age": 14}
    assert (rows.groupby(["varied", "values"])["table"].nunique() == 5).all()
    base = rows.loc[rows["table"] == "BaseTable", "relative_error_pct"]
    assert np.allclose(base, 100)
    errors = rows.pivot(index=["varied", "values"], columns="table", values="chi_square")
    relative = rows.pivot(index=["varied", "values"], columns="table", values="relative_error_pct")
    assert np.allclose(100 * errors.div(errors["BaseTable"].clip(lower=1), axis=0), relative)
    published = ap.compendium.reference("boger2020_fig9-12_relative_error")
    for name, percents in published.groupby("varied_qi")["selectivity_pct"]:
        ours = rows.loc[rows["varied"] == name, "selectivity_pct"]
        assert np.allclose(np.unique(percents), np.unique(ours), atol=0.01)
    again = pd.DataFrame(boger2020.errors_by_selectivity(adult, queries=100, seed=3))
    pd.testing.assert_frame_equal(rows, again)


def test_searches_by_rows_make_the_same_groups(adult):
    few = adult.sample(600, 3)
    by_rows = ap.klt(boger2020.numbered(few), weights={"number": 0}, index=False, seed=5)
    assert np.array_equal(by_rows.labels, ap.klt(few, seed=5).labels)
    assert len(boger2020.numbered(few).cells) == few.n
    assert boger2020.time_klt(adult, 300, 2, 0, by_rows=True)["seconds"] > 0


def test_outcome_counts_what_step_6_leaves_out(adult):
    row = boger2020.outcome({"few": adult}, "few", k=10, l=5, theta=0.14, seed=0)
    with pytest.warns(UnplacedRowsWarning):
        p = ap.klt(adult, 10, 5, 0.14, seed=0, withheld="drop")
    assert p.n_unpublished > 0
    assert row == {
        "M": p.info["repeats"],
        "groups": p.n_groups,
        "left_out_pct": 100 * p.n_unpublished / adult.n,
    }


def test_program_rounds_every_term_down_and_never_starts_at_the_last_window(adult):
    partitions = boger2020.program_partitions(adult, ["file order"], ["BaseTable", "SexTable"])
    only = [("age", 70)]
    rows = pd.DataFrame(boger2020.program_errors(adult, partitions, 50, 1, only))
    about, asked, rng = next(boger2020._rounds(adult, 50, 1, only))
    asked = boger2020._without_last_window(adult, asked, rng)
    assert about["values"] == 70
    ages = adult.attribute("age").positions
    assert set(asked.windows["age"][:, 0]) <= set(range(int(ages[0]), int(ages[-1]) - 69))
    assert (np.diff(asked.windows["age"]) == 69).all()
    releases = [ap.swap(adult, p, 1) for p in partitions.values()]
    truth, *answers = asked.answers(adult, *releases)
    for column, rounded in (("relative_error_pct", np.floor), ("not_rounded_pct", lambda x: x)):
        sums = [
            sum(
                rounded((x - y) ** 2 / (x + y))
                for x, y in zip(answer.ravel(), truth.ravel(), strict=True)
                if x + y
            )
            for answer in answers
        ]
        assert rows[column].tolist() == pytest.approx([100, 100 * sums[1] / sums[0]])


def test_points_agree_only_where_the_whole_interval_does():
    published = ap.compendium.reference("boger2020_fig9-12_relative_error")
    names = {"varied_qi": "varied", "selectivity_pct": "selectivity, %"}
    exact = published.rename(columns={**names, "relative_error_pct": "relative error, %"})
    noise = {"agrees": [0.999, 1, 1.001], "open": [0.9, 1, 1.1], "differs": [1.2, 1.201, 1.199]}
    for expected, factors in noise.items():
        runs = [
            exact.assign(
                **{"relative error, %": factor * exact["relative error, %"], "seed": seed}
            )
            for seed, factor in enumerate(factors)
        ]
        points = boger2020.compare_points(pd.concat(runs), published)
        assert len(points) == 148
        assert set(points["point"]) == {expected}


@pytest.mark.parametrize("within", [None, [], ["sex", "education"]])
def test_permuting_keeps_the_values_of_people_alike(adult, within, monkeypatch):
    seen = []
    monkeypatch.setattr(boger2020, "errors_by_selectivity", lambda m, *_: seen.append(m))
    boger2020.errors_after_permuting(adult, within, 10, 0, [], [])
    (permuted,) = seen
    if within is None:
        assert permuted is adult
        return
    assert (permuted.frame["occupation"] != adult.frame["occupation"]).any()
    counts = [
        m.frame.astype(str).value_counts([*within, "occupation"]).sort_index()
        for m in (adult, permuted)
    ]
    pd.testing.assert_series_equal(*counts)


def test_association_is_that_of_the_contingency_table(adult):
    found = boger2020.association_with_sensitive(adult).set_index("attribute")
    for name, codes in zip(adult.qi, adult.codes.T, strict=True):
        counts = pd.crosstab(codes, adult.sensitive_codes)
        assert found.loc[name, "Cramer's V"] == pytest.approx(association(counts, "cramer"))
        assert found.loc[name, "mutual information"] == pytest.approx(
            mutual_info_score(codes, adult.sensitive_codes)
        )


def test_what_swapping_loses_of_correlation_is_counted_from_its_rows(adult):
    rows = pd.DataFrame(boger2020.compare_correlations(adult, seed=0))
    assert len(rows) == 2 * 3 * 4
    loss = rows.set_index(["groups", "method", "attribute"])["mutual information"]
    swapped = ap.swap(adult, ap.klt(adult, seed=0), 0)
    before, after = (
        mutual_info_score(adult.codes_of("age"), table.sensitive_codes)
        for table in (adult, swapped)
    )
    assert loss["klt", "swapping", "age"] == pytest.approx(abs(after - before))


def test_methods_are_asked_the_same_queries(adult):
    rows = pd.DataFrame(boger2020.compare_methods(adult, 40, 0, [("none", 0), ("sex", 1)]))
    assert len(rows) == 2 * 8
    assert (rows["chi_square"] > 0).all()
    swapped = rows[rows["method"] == "swapping"].groupby("groups").size()
    assert swapped.to_dict() == dict.fromkeys(
        ["arbitrary", "klt", "Mondrian", "Mondrian, k, l, theta"], 2
    )
    again = boger2020.compare_methods(adult, 40, 0, [("sex", 1)])
    pd.testing.assert_frame_equal(
        rows[rows["varied"] == "sex"].reset_index(drop=True), pd.DataFrame(again)
    )

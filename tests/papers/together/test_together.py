"""One person, one release, advice, and ranks of tools."""

import numpy as np
import pandas as pd
import pytest
import together

import anonpaper as ap

METHODS = ["TP+", "K,L,θ, swapped", "Mondrian, l", "k-member"]


def people(rows):
    return together.load_table("adult").sample(rows, 0)


def published(method, m, level=2):
    return together.METHODS[method].publish(m, level, ap.datasets.trees.hierarchies("adult", m), 0)


@pytest.mark.parametrize("method", METHODS)
def test_what_is_said_of_a_person_is_counted_from_the_published_frame(method):
    m = people(40)
    rel = published(method, m)
    frame = rel.frame.reset_index(drop=True)
    groups = rel.partition.labels
    for place in (0, 7, 39):
        said = together.of_person(rel, place)
        her, plain = frame.loc[place], m.frame.iloc[place]
        if method.endswith("swapped"):
            alike = frame[groups == groups[place]]
        else:
            alike = frame[(frame[m.qi] == her[m.qi]).all(axis=1)]
        shares = alike["occupation"].value_counts(normalize=True)
        assert said["rows alike"] == len(alike)
        assert said["probability"] == pytest.approx(shares.get(plain["occupation"], 0))
        assert said["best guess"] == pytest.approx(shares.max())
        assert said["her own secret"] == (her["occupation"] == plain["occupation"])
        assert said["exact"] == sum(str(her[name]) == str(plain[name]) for name in m.qi)
        assert said["star"] == sum(str(her[name]) == "*" for name in m.qi)
        can_be = [
            np.array([str(p.attribute.values[her_code]) in {
                str(v) for v in p.attribute.values[p.sub_domains.members(i)]}
                for i in p.index[rel.entries.of_row]])
            for p, her_code in zip(rel.published, m.codes[place], strict=True)
        ]  # fmt: skip
        assert said["rows that fit"] == np.all(can_be, axis=0).sum() >= 1
        assert said["exact"] + said["range"] + said["star"] == m.d


def test_levels_risk_and_true_rows_are_those_of_the_published_frame():
    m, test = together.split(people(90), 60, seed=0)
    rel = published("Mondrian, l", m)
    found = together.measure_release(rel, m, test, queries=20, trees=3, seed=0)
    table = pd.crosstab([rel.frame[name].astype(str) for name in m.qi], rel.frame["occupation"])
    sizes, shares = table.sum(axis=1), table.div(table.sum(axis=1), axis=0)
    assert found["k"] == found["k, all rows"] == sizes.min()
    assert found["l"] == pytest.approx(1 / shares.max().max())
    assert found["own risk"] == pytest.approx((table * shares).to_numpy().sum() / len(rel.frame))
    assert found["own risk"] == found["own risk, all rows"]
    assert found["true rows"] == 1
    assert found["NCP"] == ap.measure.gcp(rel)
    guessed = (test.frame["occupation"] != m.frame["occupation"].mode()[0]).mean()
    assert found["worse than guessing"] == pytest.approx(found["misclassified"] - guessed)


@pytest.mark.parametrize("method", together.METHODS)
def test_a_method_reaches_on_the_rows_it_publishes_what_it_is_asked_for(method):
    m = people(200)
    row = together.measure_point({"adult": m}, "adult", method, 3, 0, rows=120, queries=5, trees=2)
    about = together.METHODS[method]
    assert (row["paper"], row["asks"]) == (about.paper, about.asks)
    assert row["k, all rows" if about.asks == "k" else "l"] >= 3 - 1e-9


def test_advice_is_the_least_mean_loss_that_meets_the_need_on_every_seed():
    found = pd.DataFrame(
        [
            ("t", "A", "l", 2, 0, 2.0, 1.0), ("t", "A", "l", 2, 1, 1.5, 1.0),  # fails once
            ("t", "B", "l", 2, 0, 2.0, 4.0), ("t", "B", "l", 2, 1, 2.0, 6.0),
            ("t", "B", "l", 3, 0, 3.0, 8.0), ("t", "B", "l", 3, 1, 3.0, 8.0),
            ("t", "C", "k", 5, 0, 2.5, 7.0), ("t", "C", "k", 5, 1, 2.5, 9.0),
            ("t", "D", "k", 5, 0, np.nan, np.nan), ("t", "D", "k", 5, 1, 9.0, 0.0),  # infeasible
        ],
        columns=["data", "method", "asks", "level", "seed", "l", "lost"],
    )  # fmt: skip
    needs = [
        together.Need("bound", {"l": 2}, {}, "lost"),
        together.Need("x", {"l": 9}, {}, "lost"),
    ]
    assert together.in_words(together.advice(found, needs)) == [
        "use B with l = 2 (lost 5.000; C with k = 5 loses 3.000 more)",
        "none of these methods will do",
    ]
    close = found.assign(lost=[1, 1, 4, 6, 8, 8, 4, 7, np.nan, 9])
    assert together.in_words(together.advice(close, needs[:1])) == [
        "use B with l = 2 (lost 5.000; or C with k = 5: not told apart)"
    ]
    by_chance = together.advice(found[found["method"] == "C"], needs[:1])
    assert together.in_words(by_chance) == [
        "use C with k = 5 (lost 8.000, reached but not promised)"
    ]


def ranked(errors, tables, promises):
    """Return rank and its interval, method by method, for errors of tables x methods."""
    rows = pd.DataFrame(
        {"table": f"t{number // len(promises)}", "principle": "k", "level": "k = 5",
         "tool": "anonypy", "method": number % len(promises), "query error": error,
         "promise": promises[number % len(promises)]}
        for number, error in enumerate(errors * tables)
    )  # fmt: skip
    found = together.ranks(rows, "k", ["query error"]).set_index("method")
    return found[["rank", "low", "high"]].to_numpy().tolist()


def test_a_broken_promise_is_last_whatever_it_loses():
    found = ranked([0.1, 0.2, 0.3], 4, ["broken: k = 2", "kept", "kept"])
    assert found == [[3, 3, 3], [1, 1, 1], [2, 2, 2]]


def test_intervals_are_wide_where_tables_disagree():
    errors = np.random.default_rng(0).permutation(12).tolist()
    assert [ends for _, *ends in ranked(errors, 1, ["kept", "kept"])] == [[1, 2], [1, 2]]

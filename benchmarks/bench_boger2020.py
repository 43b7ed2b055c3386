"""boger2020: clustering for k = 10, l = 5, theta = 0.3, and 1,000 queries on five tables.

The yardsticks are the row-by-row version of the tests, which makes the same groups, and one
pandas groupby of the same columns.
"""

import measure
from referees.klt import RowByRow

import anonpaper as ap

SELECTED = {"race": 3, "education": 8, "sex": 2, "age": 35}  # values of a query, by default
VARIED = {
    "race": range(1, 6),
    "education": range(1, 17),
    "sex": range(1, 3),
    "age": range(5, 74, 5),
}
OCC_QI = ["Age", "Education", "Race", "Gender"]


def rows():
    adult = ap.load("adult", qi=list(SELECTED))

    few = adult.sample(1_000, seed=0)
    fast = measure.best_seconds(lambda: measure.ungrouped(ap.klt, few))
    plain = measure.best_seconds(lambda: RowByRow(few, 10, 5, 0.3).run(), repeat=1)
    yield measure.against("klt by rows (the paper's steps), Adult 1,000", plain, "klt", fast, None)

    whole = measure.best_seconds(lambda: measure.ungrouped(ap.klt, adult), repeat=5)
    groupby = measure.groupby_seconds(adult)
    yield measure.against("klt, Adult 32,561, seconds", whole, "pandas groupby", groupby, 300)

    # Step 4 repeats 1,500 times: quick only as long as rows that nobody can take are not queued.
    often = measure.best_seconds(
        lambda: measure.ungrouped(ap.klt, adult, l=8, theta=0.2), repeat=2
    )
    yield measure.against("klt, Adult, l = 8, theta = 0.2, seconds", often, "l = 5, theta = 0.3",
                          whole, 15)  # fmt: skip

    # By rows, 10 times as many take 100 times as long.
    for low, high, limit in ((10_000, 100_000, 15), (100_000, 1_000_000, 22)):
        small = measure.best_seconds(lambda: measure.ungrouped(ap.klt, occ(low)), repeat=2)  # noqa: B023
        large = measure.best_seconds(lambda: measure.ungrouped(ap.klt, occ(high)), repeat=1)  # noqa: B023
        yield measure.against(f"klt, occ {high:,}, seconds", large, f"{low:,}", small, limit)

    adult.cells  # noqa: B018 - grouped once, for the releases and the queries
    p = ap.klt(adult)
    releases = [ap.swap(adult, p, seed) for seed in range(5)]
    seconds = measure.best_seconds(lambda: ask(adult, releases))
    yield measure.against("1,000 queries x 5 tables x 38 selectivities", seconds,
                          "klt, Adult", whole, 12)  # fmt: skip


def occ(rows):
    """Return rows of occ, drawn with replacement where it has fewer."""
    return ap.load("occ", rows=rows, qi=OCC_QI)


def ask(adult, releases):
    """Ask the queries of Figures 8 to 12."""
    varied = [{name: values} for name in VARIED for values in VARIED[name]]
    for number, selectivity in enumerate([{}, *varied]):
        asked = ap.measure.workload(adult, SELECTED | selectivity, 1_000, seed=number)
        ap.measure.query_errors(asked, releases)

"""diva2021: DIVA and its components on census (299,285 rows, eight QI) and adult, k = 20 and 10.

A run takes the coded table and ends with the labels. The yardstick is a pandas groupby over the
same integer columns; a second of a common machine is about ten of them. Where anonypy is
installed, its Mondrian is timed and scored on the same table.
"""

import importlib.util

import measure
import numpy as np
from referees.clustering import k_member_rows, strict_mondrian_rows

import anonpaper as ap
from anonpaper.constraints import proportion_constraints

QI = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]


def rows():
    census = ap.load("census")
    yardstick = measure.groupby_seconds(census)

    def timed(algorithm, m=census):
        return measure.best_seconds(lambda: measure.ungrouped(algorithm, m))

    sigma = eight_constraints(census)
    for name, algorithm, limit in (
        ("diva, 8 constraints", lambda m: ap.diva(m, sigma, 20), 100),
        ("k_member", lambda m: ap.k_member(m, 20), 50),
        ("oka", lambda m: ap.oka(m, 20), None),
        ("mondrian", lambda m: ap.mondrian(m, 20), 5),
    ):
        yield measure.against(f"{name}, seconds", timed(algorithm), "pandas groupby", yardstick,
                              limit)  # fmt: skip

    table = census.codes.nbytes + census.sensitive_codes.nbytes
    peak = measure.peak_bytes(lambda: measure.ungrouped(lambda m: ap.diva(m, sigma, 20), census))
    yield measure.against("diva, peak memory, MB", peak / 1e6, "coded table", table / 1e6, 40)

    fifth = census.sample(60_000, seed=0)
    few = eight_constraints(fifth)
    large = timed(lambda m: ap.diva(m, sigma, 20))
    less = timed(lambda m: ap.diva(m, few, 20), fifth)
    yield measure.against("diva, 299,285 rows", large, "60,000 rows", less, 12)

    small = census.sample(500, seed=0)
    plain = measure.best_seconds(lambda: k_member_rows(small.codes, 20, 0), repeat=1)
    yield measure.against("k_member by rows (the paper's text), 500 rows", plain, "by tuples",
                          timed(lambda m: ap.k_member(m, 20), small), None)  # fmt: skip

    yield from against_other_mondrians(yardstick)


def eight_constraints(m):
    """Proportion constraints on both sexes, five races and the women of one."""
    return proportion_constraints(m, ["sex", "race", ("sex", "race")], m.n // 2)[:8]


def against_other_mondrians(yardstick):
    adult = ap.load("adult", qi=QI, sensitive="occupation", missing="drop")
    seconds = measure.best_seconds(lambda: ap.mondrian(adult, 10))
    yield measure.against("mondrian on adult, seconds", seconds, "pandas groupby of census",
                          yardstick, 2)  # fmt: skip
    loss = ap.measure.ncp(ap.generalize(adult, ap.mondrian(adult, 10)))
    positions = [attribute.positions for attribute in adult.attributes]
    plain = labels_of(strict_mondrian_rows(adult.codes, positions, 10), adult.n)
    plain_loss = ap.measure.ncp(ap.generalize(adult, ap.Partition(plain)))
    yield measure.against("mondrian on adult, NCP", loss, "plain strict Mondrian", plain_loss, 1.0)
    if importlib.util.find_spec("anonypy") is None:
        return
    from anonypy.mondrian import Mondrian

    frame = adult.frame[[*QI, "occupation"]].astype({name: "category" for name in QI[1:]})

    def theirs():
        return Mondrian(frame, QI, "occupation").partition(10)

    other = measure.best_seconds(theirs, repeat=1)
    yield measure.against("mondrian on adult, seconds", seconds, "anonypy", other, 0.05)
    theirs_labels = labels_of([np.asarray(rows) for rows in theirs()], adult.n)
    other_loss = ap.measure.ncp(ap.generalize(adult, ap.Partition(theirs_labels)))
    yield measure.against("mondrian on adult, NCP", loss, "anonypy", other_loss, 1.0)


def labels_of(groups, n):
    labels = np.empty(n, np.int64)
    for number, rows in enumerate(groups):
        labels[rows] = number
    return labels

"""dewri2009: evaluations of recodings and whole searches on Adult (nine QI, 105 bits) and sal.

The yardsticks are one pandas groupby over the generalized distinct tuples of Adult, which is what
an evaluation amounts to, and the number of distinct tuples, on which its cost should depend.
"""

import measure
import numpy as np
import pandas as pd
from referees import preference as referee
from referees.tables import adult_in_intervals

import anonpaper as ap
from anonpaper.recoders.evaluation import Evaluator

RECODINGS = 200


def rows():
    adult = adult_in_intervals()
    evaluator = Evaluator(adult)
    bits = random_bits(evaluator.n_bits)
    one = measure.best_seconds(lambda: evaluator.evaluate(bits), repeat=5) / RECODINGS
    r = ap.Recoding.decode(adult.attributes, bits[RECODINGS // 2].astype(int))
    cells = pd.DataFrame(
        {
            name: ids[codes]
            for name, ids, codes in zip(adult.qi, r.maps, adult.cells.tuples.T, strict=True)
        }
    )
    cells["rows"] = adult.cells.tuple_sizes
    groupby = measure.best_seconds(
        lambda: cells.groupby(adult.qi, sort=False)["rows"].sum().agg(["min", "max"]), repeat=5
    )
    yield measure.against("one recoding of adult, ms", 1000 * one, "groupby", 1000 * groupby,
                          0.25)  # fmt: skip

    for refine in (False, True):
        seconds = measure.best_seconds(
            lambda: ap.preference_search(adult, 5, seed=0, refine=refine),  # noqa: B023
            repeat=1,
        )
        name = "50,000 evaluations" + (", refined" if refine else "")
        yield measure.against(f"{name}, seconds", seconds, "50,000 groupbys", 50_000 * groupby,
                              0.25)  # fmt: skip

    few = adult.sample(300, seed=0)
    sizes = [attribute.size for attribute in few.attributes]
    chromosome = bits[RECODINGS // 2].astype(int).tolist()
    plain = measure.best_seconds(
        lambda: (referee.nwp(few.codes.tolist(), sizes, chromosome, [1 / 9] * 9),
                 referee.necd(few.codes.tolist(), sizes, chromosome)),
        repeat=1,
    )  # fmt: skip
    small = Evaluator(few)
    fast = measure.best_seconds(lambda: small.evaluate(bits)) / RECODINGS
    yield measure.against("one recoding by plain loops, 300 rows, ms", 1000 * plain, "compiled",
                          1000 * fast, None)  # fmt: skip

    large, small = ap.load("sal"), ap.load("sal", rows=75_000)
    seconds, tuples = zip(*(cost_of_one(table) for table in (large, small)), strict=True)
    yield measure.against("sal, time at 600,000 / at 75,000 rows", seconds[0] / seconds[1],
                          "cells", tuples[0] / tuples[1], 1.5)  # fmt: skip
    yield measure.against("sal, time at 600,000 / at 75,000 rows", seconds[0] / seconds[1],
                          "rows", large.n / small.n, 0.6)  # fmt: skip


def random_bits(n_bits):
    """Random chromosomes with shares of ones from 0 to 1."""
    share = np.linspace(0, 1, RECODINGS)[:, None]
    return np.random.default_rng(0).random((RECODINGS, n_bits)) < share


def cost_of_one(m):
    """Seconds of an evaluation, and the distinct tuples of the table."""
    evaluator = Evaluator(m)
    bits = random_bits(evaluator.n_bits)
    return measure.best_seconds(lambda: evaluator.evaluate(bits)) / RECODINGS, len(m.cells)

"""Ranks of the benchmark's methods, against tables whose order is known."""

import numpy as np
import pandas as pd
from together_tools import MEASURES, ranks


def releases(values, tables=4, **more):
    """A release per table and method, with these query errors; the advantage is the opposite."""
    rows = [
        {"table": f"t{number}", "principle": "k-anonymity", "level": "k = 5", "tool": "anonypy",
         "method": name, "promise": "kept", "query error": error, "advantage": 1 - error,
         **{key: value.get(name, value[""]) for key, value in more.items()}}
        for number in range(tables) for name, error in values.items()
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(
        **dict.fromkeys(set(MEASURES) - {"query error", "advantage"}, 1)
    )


def rank_of(found):
    return found.set_index("method")[["rank", "low", "high"]].to_numpy().tolist()


def test_a_broken_promise_is_last_whatever_it_loses():
    table = releases({"a": 0.1, "b": 0.2, "c": 0.3}, promise={"a": "broken: k = 2", "": "kept"})
    assert rank_of(ranks(table, "k-anonymity", ["query error"]))[0] == [3, 3, 3]


def test_intervals_are_wide_where_tables_disagree():
    rng = np.random.default_rng(0)
    table = releases({"a": 0.1, "b": 0.2}, tables=6)
    table["query error"] = rng.permutation(len(table))
    low, high = np.array(rank_of(ranks(table, "k-anonymity", ["query error"])))[:, 1:].T
    assert (low == 1).all() and (high == 2).all()

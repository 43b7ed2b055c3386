"""Ranks of the benchmark's methods, against tables whose order is known."""

import numpy as np
import pandas as pd
from together import ranks


def ranked(errors, tables, promises):
    """Return rank and its interval, method by method, for errors of tables x methods."""
    rows = pd.DataFrame(
        {"table": f"t{number // len(promises)}", "principle": "k", "level": "k = 5",
         "tool": "anonypy", "method": number % len(promises), "query error": error,
         "promise": promises[number % len(promises)]}
        for number, error in enumerate(errors * tables)
    )  # fmt: skip
    found = ranks(rows, "k", ["query error"]).set_index("method")
    return found[["rank", "low", "high"]].to_numpy().tolist()


def test_a_broken_promise_is_last_whatever_it_loses():
    found = ranked([0.1, 0.2, 0.3], 4, ["broken: k = 2", "kept", "kept"])
    assert found == [[3, 3, 3], [1, 1, 1], [2, 2, 2]]


def test_intervals_are_wide_where_tables_disagree():
    errors = np.random.default_rng(0).permutation(12).tolist()
    assert [ends for _, *ends in ranked(errors, 1, ["kept", "kept"])] == [[1, 2], [1, 2]]

"""What notebooks/beyond/stars_to_the_optimum measures of every projection."""

import beyond_stars

from anonpaper import examples


def test_a_projection_is_published_by_every_algorithm():
    tables = {"hospital": examples.hospital()}
    row = beyond_stars.stars_by_algorithm(
        table="hospital", qi=["Age", "Gender"], l=2, tables=tables
    )
    assert (row["n"], row["d"]) == (10, 2)
    assert set(beyond_stars.DIVERSE) <= set(row) and row["TP refined"] <= row["TP+"]

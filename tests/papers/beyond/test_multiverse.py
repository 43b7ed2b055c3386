"""What notebooks/beyond/ranking_multiverse counts: who is better, and which choice decides."""

import itertools

import beyond_multiverse as beyond
import numpy as np
import pandas as pd
import pytest

LEVELS = {"table": "xy", "draw": [0, 1, 2], "n": [10, 20], "level": [2, 4], "form": "st"}


def scored(a, b):
    """Score two methods, whose numbers are functions of the setting."""
    found = []
    for values in itertools.product(*LEVELS.values()):
        at = dict(zip(LEVELS, values, strict=True))
        for method, of in (("A", a), ("B", b)):
            numbers = {name: of({**at, "measure": name}) for name in ("loss", "cost")}
            found.append({"group": "g", "method": method, "d": 3, **at, **numbers})
    about = {"group": "g", "kind": "loss", "better": "A", "worse": "B"}
    return beyond.scores(pd.DataFrame(found), pd.DataFrame(about, index=["A > B"]))


def test_a_ranking_holds_as_often_as_counted_by_hand():
    # better on 4 of 6 tables and draws by one of two measures, equal by the other
    better = {("x", 0), ("x", 1), ("y", 0), ("y", 2)}

    def b(at):
        if at["measure"] == "cost":
            return 1.0
        return 2.0 if (at["table"], at["draw"]) in better else 0.5

    found = scored(lambda at: 1.0, b)
    assert len(found) == 2 * 3 * 2 * 2 * 2 * 2
    assert found["score"].mean() == pytest.approx((4 / 6 + 1 / 2) / 2)
    assert found["how"].value_counts(normalize=True).to_dict() == pytest.approx(
        {"tie": 1 / 2, "holds": 1 / 3, "fails": 1 / 6}
    )


def test_a_method_without_a_number_loses_and_is_not_left_out():
    found = scored(
        lambda at: np.nan if at["level"] == 4 else 1.0, lambda at: np.nan if at["n"] == 20 else 0.5
    )
    means = found.groupby(["n", "level"])["score"].mean()
    assert means.to_dict() == {(10, 2): 0, (10, 4): 0, (20, 2): 1, (20, 4): 0.5}
    assert found.groupby(["n", "level"])["how"].first().tolist() == [
        "fails", "better fails", "worse fails", "both fail"
    ]  # fmt: skip


def explained(score, columns):
    """Return the variance that dummies of columns explain by least squares."""
    dummies = pd.get_dummies(score[columns].astype(str).agg(" ".join, axis=1)).to_numpy(float)
    return np.var(dummies @ np.linalg.lstsq(dummies, score["score"].to_numpy(), rcond=None)[0])


def test_the_parts_of_the_variance_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    found = scored(lambda at: 1.0, lambda at: rng.choice([0.5, 1.0, 2.0]))
    parts = beyond.deciding(found)
    for choice in ("table", "n", "level", "form", "measure"):
        assert parts[choice] == pytest.approx(explained(found, [choice]))
    sets = explained(found, ["table", "draw"]) - explained(found, ["table"])
    assert parts["quasi-identifiers"] == pytest.approx(sets)
    assert parts["total"] == pytest.approx(found["score"].var(ddof=0))
    assert parts.drop("total").sum() < parts["total"]

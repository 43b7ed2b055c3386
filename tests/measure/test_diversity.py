"""What diversity costs, and whose values a release keeps."""

import pytest

import anonpaper as ap
from anonpaper import errors


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
    with pytest.raises(errors.ParameterError, match="f1"):
        ratio(best, 2, "f1")


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

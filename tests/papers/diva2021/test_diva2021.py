import diva2021
import pytest

import anonpaper as ap


@pytest.mark.parametrize(("name", "number", "said"), [
    ("pantheon", 24, {"average": "only 1495 rows"}),
    ("german", 18, {"minimum": "groups of k = 20", "proportion": ""}),
    ("census", 31, {}),  # Table 4 counts 21: without ten pairs of sex and race
])  # fmt: skip
def test_published_lists_fit_our_files_and_a_table_exists_or_the_reason_is_said(
    name, number, said
):
    m = diva2021.figure_tables([name])[name]
    lists = {rule: diva2021.constraint_set(name, rule) for rule in diva2021.CLASSES}
    assert sum(map(len, lists.values())) == number
    assert all(c.target_rows(m).any() for sigma in lists.values() for c in sigma)
    for rule, why in said.items():
        if why:
            with pytest.raises(ap.errors.ConstraintError, match=why):
                ap.diva(m, lists[rule], 20)
        else:
            ap.diva(m, lists[rule], 20)


def test_a_run_reports_what_its_release_has():
    m = ap.load("census", rows=5_000)
    sigma = diva2021.constraints_with_conflict(
        m, 4, 0.2, attributes=["sex", "race", "marital stat"], total=2_500
    )
    rel = ap.suppress(m, ap.diva(m, sigma, 10, over_bound="reject"))
    row = diva2021.measured(m, diva2021.run(m, sigma, 10, "max_fan_out", 0)[1], sigma, 10)
    assert row["stars"] == ap.measure.stars(rel) and row["satisfied"] == 1
    assert row["accuracy (ratio)"] == ap.measure.discernibility_ratio(rel, 10)
    cut_short, p = diva2021.run(m, sigma, 10, "basic", 0, max_candidates=0)
    assert cut_short["outcome"] == "no table found" and diva2021.measured(m, p, sigma, 10) == {}
    for algorithm in diva2021.BASELINES:
        _, p = diva2021.run(m, sigma, 10, algorithm, 0)
        assert diva2021.measured(m, p, sigma, 10)["satisfied"] < 1

import diva2021

import anonpaper as ap


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

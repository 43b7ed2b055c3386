"""The measurements of the notebooks, and the promise of the method on all four tables."""

import majeed2024
import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper.repair.imbalance import find_imbalance
from anonpaper.repair.synthesis import fuse

DATASETS = ("adult", "stroke", "census", "diabetes")
PAPER_KS = (2, 5, 10, 20, 30, 50, 75, 100)


def repaired(name, rows, seed=0):
    """Real rows and, instead of a model's, rare ones whose values are shuffled per column."""
    real, _ = majeed2024.prepare(name, rows, seed)
    rng = np.random.default_rng(seed)
    ((value, needed),) = find_imbalance(real).needed.items()
    rare = real.frame[real.frame[real.sensitive] == value]
    added = pd.DataFrame(
        {c: rare[c].to_numpy()[rng.integers(len(rare), size=needed)] for c in real.qi}
    ).assign(**{real.sensitive: value})
    return {"real": real, "fused": fuse(real, added)}


@pytest.fixture(scope="module")
def cases():
    return {name: repaired(name, 3000) for name in DATASETS}


@pytest.mark.parametrize("k", PAPER_KS)
@pytest.mark.parametrize("name", DATASETS)
def test_every_release_is_k_anonymous_and_2_diverse_and_keeps_everybody(cases, name, k):
    found = majeed2024.check_proposed(cases, name, k, seed=1)
    assert found["smallest class"] >= k and found["fewest values"] >= 2
    assert found["real rows"] == 3000 and found["real rows lost"] == 0
    assert found["synthetic rows of the dominant value"] == 0
    assert found["synthetic values out of range"] == 0
    assert k <= found["smallest group"] <= found["largest group"] <= 2 * k - 1


def test_the_check_sees_rows_that_should_not_be_there(cases):
    real = cases["adult"]["real"]
    alien = real.frame.head(2).assign(age=[30, 200], sex=["Male", "Robot"])
    frame = pd.concat([real.frame, alien.astype(object)], ignore_index=True)
    frame = frame.astype({"age": int}).assign(sex=frame["sex"].astype(str))
    fused = ap.Microdata(frame, real.qi, real.sensitive, synthetic=np.arange(len(frame)) >= real.n)
    assert majeed2024._strange_values(real, fused) == 2


def test_a_referee_nobody_here_wrote_agrees(cases):
    from pycanon import anonymity

    release, _ = majeed2024.release_of(cases, "stroke", "Proposed", 5)
    frame = release.frame.astype(str)
    qi, sensitive = release.microdata.qi, [release.microdata.sensitive]
    assert anonymity.k_anonymity(frame, qi) >= 5
    assert anonymity.l_diversity(frame, qi, sensitive) >= 2


def test_section_1_2_counts():
    ten = majeed2024.ten_users()
    assert majeed2024.pairs(ten) == {"pairs": 5, "diverse": 2, "not_diverse": 3, "left_over": 6}
    adult, account = majeed2024.prepare("adult")
    assert majeed2024.pairs(adult) == {
        "pairs": 16280,
        "diverse": 7841,
        "not_diverse": 8439,
        "left_over": 16879,
    }
    assert account["rows_removed"].sum() == 0


@pytest.mark.parametrize("name", ["stroke", "adult"])
def test_no_person_is_drawn_twice(name):
    whole, _ = majeed2024.prepare(name)
    assert majeed2024.prepare(name, 2 * whole.n)[0].n == whole.n  # else learnt from and tested


def test_test_rows_are_real_people_in_the_shares_of_the_table():
    real, _ = majeed2024.prepare("stroke", 1200)
    train, test = majeed2024.held_out(real, seed=4)
    assert train.n + test.n == real.n and not set(train.frame.index) & set(test.frame.index)
    assert abs(test.sensitive_counts[1] * 3 - real.sensitive_counts[1]) <= 3
    case = repaired("stroke", 1200) | {"test": test}
    found = majeed2024.compare_utility({"stroke": case}, "stroke", "repaired", 1, "enforce", 0)
    assert 0 <= found["recall of the rare value"] <= 1
    assert 0 <= found["balanced accuracy, equal weights"] <= 1


def test_thresholds_bound_the_entropy_of_classes(cases):
    def entropy(share):
        return -(share * np.log(share) + (1 - share) * np.log(1 - share))

    for k in range(2, 120):
        bits, nats = (majeed2024.largest_share(k, name) for name in ("0.69 bits", "0.69 nats"))
        for share, base in ((bits, 2), (nats, np.e)):
            rows = round(share * k)
            assert share == rows / k and 2 * rows >= k
            even = rows == -(-k // 2)
            assert even or entropy(share) / np.log(base) >= 0.69
            assert rows + 1 >= k or entropy((rows + 1) / k) / np.log(base) < 0.69
    risks = [
        majeed2024.measure_method(cases, "adult", "Proposed", 20, "enforce", 0, name)[0]["D own"]
        for name in majeed2024.THRESHOLDS
    ]
    assert risks[0] > risks[1] > risks[2] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("method", ["MRMondrian", "SDDA", "Proposed"])
def test_every_part_is_a_level_up_as_if_published_so(cases, method):
    release, trees = majeed2024.release_of(cases, "adult", method, 10)
    friendly = majeed2024.PAPER_FRIENDLY["adult"] if method == "Proposed" else ()
    found = majeed2024.measure_release(release, trees, friendly=friendly)[0]
    again = ap.shallow_generalize(
        release.microdata, release.partition, trees, friendly, least_level=1
    )
    assert found["DM, every part"] == pytest.approx(ap.measure.distortion(again, trees))
    assert found["DM, every part"] > found["DM"]


def test_what_draws_nothing_is_run_once(cases):
    grid = majeed2024.with_seeds([{"method": name} for name in majeed2024.METHODS], [0, 1, 2])
    runs = pd.DataFrame(grid)["method"].value_counts()
    for method in majeed2024.METHODS:
        frames = [
            majeed2024.release_of(cases, "stroke", method, 10, seed=seed)[0].frame.astype(str)
            for seed in (0, 1)
        ]
        assert frames[0].equals(frames[1]) == (runs[method] == 1), method


def test_test_rows_of_three_kinds():
    real = majeed2024.prepare("stroke", 900)[0]
    cases = majeed2024.forest_cases({"stroke": real}, 1, 3)
    case = cases["stroke"]
    assert case["test"].n + case["real"].n == real.n
    for name in ("invented test", "leak train", "leak test", "fused"):
        assert len(set(case[name].sensitive_counts)) == 1, name
    assert not case["invented test"].synthetic.any()  # a forest may be tested on them
    doubled = case["leak test"].frame[case["leak test"].frame["stroke"].astype(str) == "1"]
    learnt = case["leak train"].frame.astype(str).drop_duplicates()
    assert len(doubled.astype(str).merge(learnt)) > 0.9 * len(doubled)
    found = {
        kind: majeed2024.accuracy_by_test_rows(cases, "stroke", kind, 0)
        for kind in ("real people", "with invented people", "leak")
    }
    assert found["leak"]["accuracy, repaired"] > found["real people"]["accuracy, repaired"]
    assert len({row["accuracy"] for row in found.values()}) == 1


def test_variants_of_the_ablation_differ_where_they_should(cases):
    found = {v: majeed2024.ablate(cases, "adult", v, 10, 0)[0] for v in majeed2024.ABLATIONS}
    assert found["no augmentation"]["rows"] == 3000
    floor, kept = found["one level at least"], found["one level at least, PF kept"]
    assert floor["DM"] > kept["DM"] > found["all modules"]["DM"]
    assert found["even halves"]["D own"] < found["all modules"]["D own"]
    lonely = majeed2024.ablate(cases, "stroke", "no augmentation", 2, 0)
    assert "suffice" in lonely[0]["infeasible"]

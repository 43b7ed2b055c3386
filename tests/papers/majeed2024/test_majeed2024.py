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


def test_test_rows_are_real_people_in_the_shares_of_the_table():
    real, _ = majeed2024.prepare("stroke", 1200)
    train, test = majeed2024.held_out(real, seed=4)
    assert train.n + test.n == real.n and not set(train.frame.index) & set(test.frame.index)
    assert abs(test.sensitive_counts[1] * 3 - real.sensitive_counts[1]) <= 3
    case = repaired("stroke", 1200) | {"test": test}
    found = majeed2024.compare_utility({"stroke": case}, "stroke", "repaired", 1, "enforce", 0)
    assert 0 <= found["recall of the rare value"] <= 1
    assert 0 <= found["balanced accuracy, equal weights"] <= 1


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

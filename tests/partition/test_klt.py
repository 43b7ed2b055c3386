"""klt against pycanon; what is withheld; bad input. Its steps: test_paper_lines."""

import pandas as pd
import pytest
from pycanon import anonymity

import anonpaper as ap
from anonpaper.errors import InfeasibleError
from anonpaper.partition.klt import UnplacedRowsWarning, klt


def test_no_row_of_adult_is_lost_and_weights_keep_values_together():
    adult = ap.load("adult")
    p = klt(adult, k=10, l=5, theta=0.3, seed=0)
    assert p.n_unpublished == 0 and p.sizes().sum() == 32_561
    secrets = adult.frame["occupation"].astype(object).fillna("?").to_numpy()
    published = pd.DataFrame({"group": p.labels, "occupation": secrets})
    assert anonymity.k_anonymity(published, ["group"]) >= 10
    assert anonymity.l_diversity(published, ["group"], ["occupation"]) >= 5
    alpha, _ = anonymity.alpha_k_anonymity(published, ["group"], ["occupation"])
    assert alpha <= 0.3 + 1e-12

    def spread(p):
        return adult.frame.groupby(p.labels)["age"].std().mean()

    assert spread(klt(adult, weights={"age": 50})) < 0.9 * spread(p)


@pytest.fixture
def mostly_flu():
    frame = pd.DataFrame({"age": range(60), "ill": ["flu"] * 40 + list("abcde" * 4)})
    return ap.Microdata(frame, ["age"], "ill")


def test_the_papers_step_6_leaves_out_rows_and_says_what_they_share(mostly_flu):
    with pytest.warns(UnplacedRowsWarning, match="of 60 rows.*100% of them have the same 'ill'"):
        p = klt(mostly_flu, k=4, l=2, theta=0.5, withheld="drop")
    assert p.info["unplaced_rows"] == p.n_unpublished >= 20
    assert p.info["unplaced_share"] == 1
    assert ap.Theta(0.5).holds(mostly_flu, p.labels)
    assert ap.KAnonymity(4).holds(mostly_flu, p.labels)
    assert p.info["repeats"] > 0


def test_nobody_is_left_out_unless_asked_for(mostly_flu):
    with pytest.raises(InfeasibleError, match=r"40 of 60 rows have 'flu'. A theta of 0\.6667"):
        klt(mostly_flu, k=4, l=2, theta=0.5)
    p = klt(mostly_flu, k=4, l=2, theta=0.6667)
    assert p.info["unplaced_rows"] == 0 == p.info["unplaced_share"]
    assert ap.Theta(0.6667).holds(mostly_flu, p.labels)


def test_rows_that_the_paper_drops_are_merged_where_all_can_be():
    ills = ["flu"] * 6 + list("bcedcabebedacd")
    m = ap.Microdata(pd.DataFrame({"age": range(20), "ill": ills}), ["age"], "ill")
    with pytest.warns(UnplacedRowsWarning):
        dropped = klt(m, k=4, l=3, theta=0.3, withheld="drop")
    assert dropped.n_unpublished and dropped.info["unplaced_share"] == 1
    p = klt(m, k=4, l=3, theta=0.3)
    assert p.n_unpublished == 0
    assert ap.Theta(0.3).holds(m, p.labels) and ap.KAnonymity(4).holds(m, p.labels)

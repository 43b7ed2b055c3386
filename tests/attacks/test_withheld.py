"""People withheld: who is in the table but not in the release has what the release lacks."""

from itertools import product
from math import comb, prod

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper import errors


def one_of_990_years(later=0):
    frame = pd.DataFrame({"age": [*range(30, 70), 990], "ill": list("ab") * 20 + ["c"]})
    return ap.Microdata(frame.assign(age=frame["age"] - later), ["age"], "ill")


def test_next_years_intervals_do_not_end_at_who_was_withheld(tmp_path):
    m = one_of_990_years()
    r = ap.full_domain(m, 4, suppression=0.05)
    rel = ap.recode(m, r)
    assert rel.withheld[0] and "990" not in rel.public_frame()["age"].astype(str).str.cat(sep=" ")
    r.save(tmp_path / "r.json")
    loaded = ap.Recoding.load(tmp_path / "r.json")
    with pytest.raises(errors.ColumnError, match="990"):
        ap.recode(m, loaded)
    for table in (one_of_990_years(), one_of_990_years(later=1)):
        for recoding in (r, loaded):
            again = ap.recode(table, recoding, unseen="suppress")
            assert "990" not in again.public_frame()["age"].astype(str).str.cat(sep=" ")
            assert set(again.frame["age"]) <= set(rel.frame["age"])
    assert "990" not in (tmp_path / "r.json").read_text()


@pytest.mark.parametrize("seed", range(12))
def test_a_release_by_a_saved_recoding_depends_on_no_value_of_a_withheld_row(seed, tmp_path):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(20, 50, 24), "zip": rng.integers(0, 30, 24) * 7,
                          "ill": rng.choice(list("uvw"), 24)}).astype({"zip": str})  # fmt: skip
    m = ap.Microdata(frame, ["age", "zip"], "ill")
    try:
        r = ap.full_domain(m, 2 + seed % 2, suppression=0.3)
    except errors.InfeasibleError:
        return
    r.save(tmp_path / "r.json")
    loaded = ap.Recoding.load(tmp_path / "r.json")
    for recoding in (r, loaded):
        fresh = ap.Microdata(frame, ["age", "zip"], "ill")
        rel = ap.recode(fresh, recoding, unseen="suppress")
        expected = sorted(rel.public_frame().astype(str).to_numpy().tolist())
        for row, other, name in rng.integers(0, 24, (30, 3)):
            name = ["age", "zip"][name % 2]
            if rel.is_published[row]:
                continue
            changed = frame.copy()
            changed.loc[row, name] = frame.loc[other, name]
            again = ap.recode(ap.Microdata(changed, ["age", "zip"], "ill"), recoding, "suppress")
            if (again.is_published == rel.is_published).all():
                assert sorted(again.public_frame().astype(str).to_numpy().tolist()) == expected


def test_a_set_of_all_that_is_shown_is_a_star():
    """Found by an attacker: {f, m} says that somebody who was withheld is neither."""
    frame = pd.DataFrame({"sex": list("ffmmx"), "age": [20, 30, 20, 30, 99], "ill": list("ababa")})
    m = ap.Microdata(frame, ["sex", "age"], "ill")
    rel = ap.generalize(m, ap.Partition([0, 0, 0, 0, -1]))
    assert (rel.public_frame()[["sex", "age"]] == "*").all(axis=None)
    rel = ap.generalize(m, ap.Partition([0, 1, 0, 1, -1]))
    assert set(rel.frame["sex"]) == {"*"} and set(rel.frame["age"]) == {20, 30}
    assert ap.measure.attackers(rel)["file"].tolist()[:2] == [2, 1]


def test_who_infers_what_a_withheld_class_has_can_be_surer_than_who_is_told():
    """All fifteen withheld people together have 8 a, 4 b, 2 c, 1 d; the class of five failed."""
    frame = pd.DataFrame({"q": [0] * 5 + [*range(1, 11)] + [99] * 2,
                          "s": [*"aaabb", *"aaaaabbccd", *"cd"]})  # fmt: skip
    r = ap.Recoding.identity((m := ap.Microdata(frame, ["q"], "s")).attributes)
    r.withhold = (ap.KAnonymity(2), ap.Theta(0.5))
    rel = ap.recode(m, r)
    tried = ap.audit(m, rel).attackers.set_index("attacker")
    told = tried.loc["is told the values of a withheld class"]
    assert (told["sure"], told["played"]) == (0.6, "exactly") and "more or less" in told["note"]
    assert any(text.startswith("minimality attack") for text in rel.warnings)
    fails = [h for h in product(*map(range, (9, 5, 3, 2))) if sum(h) == 5 and max(h) > 2.5]
    ways = [prod(map(comb, (8, 4, 2, 1), h)) for h in fails]
    assert np.average([h[0] / 5 for h in fails], weights=ways) == pytest.approx(0.624, abs=1e-3)

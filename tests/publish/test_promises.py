"""A release below its promise is refused: next year's table, and attackers it withstands."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper.errors import FileError, ParameterError, PromiseError
from anonpaper.owner.page import write_page


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(20, 60, n), "zip": rng.integers(0, 9, n)})
    return ap.Microdata(frame.assign(ill=rng.choice(list("abc"), n)), ["age", "zip"], "ill")


@pytest.fixture
def saved(tmp_path):
    ap.full_domain(people(900), k=10, l=2).save(tmp_path / "r.json")
    return tmp_path / "r.json"


def test_next_years_table_below_the_promise_is_refused(saved, tmp_path):
    """Found by an attacker: k = 10 and l = 2, applied to 40 rows."""
    r = ap.Recoding.load(saved)
    assert r.promised == (ap.KAnonymity(10), ap.DistinctLDiversity(2))
    later = people(40, seed=1)
    rel = ap.recode(later, r, unseen="suppress")
    level = rel.audit()["level"][0]
    assert level < 10 and rel.promised == r.promised
    refusal = rf"KAnonymity\(k=10\) is promised, .* {level:.4g}.*accept"
    with pytest.raises(PromiseError, match=refusal):
        rel.write(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    with pytest.warns(UserWarning, match="people beyond 10"):
        rel.write(tmp_path / "out.csv", accept="the <board> wants it")
    assert "Written all the same: the &lt;board&gt; wants it." in write_page(rel,
        tmp_path / "r.html").read_text()  # fmt: skip


def test_the_promise_is_for_real_people(tmp_path):
    """A register tells how many real people are in a class, so invented rows hide nobody."""
    m = people(60)
    invented = np.arange(60) >= 40
    m = ap.Microdata(m.frame.assign(ill=m.frame["ill"].where(~invented, "c")), m.qi, "ill",
                     synthetic=invented)  # fmt: skip
    for publish in (ap.generalize, ap.swap, ap.anatomize):
        rel = publish(m, ap.mondrian(m, k=8))
        fewest = np.bincount(rel.classes.labels[~invented]).min()
        assert fewest < 8 <= rel.audit()["level"][0]
        refusal = rf"KAnonymity\(k=8\) is promised, but the rows of real people reach {fewest}"
        for door in (
            rel.public_frame,
            rel.public_tables,
            partial(rel.write, tmp_path / "out.csv"),
        ):
            with pytest.raises(PromiseError, match=refusal):
                door()
        with pytest.raises(PromiseError, match=f"reach {fewest}"):
            rel.without_synthetic().public_frame()
        assert len(rel.public_frame(accept="to look at it")) == 60
        found = write_page(rel, tmp_path / "r.html").read_text()
        assert "KAnonymity(k=8) DOES NOT HOLD" in found and "to look at it" in found


def test_a_promise_against_the_register(tmp_path):
    """A class of four that was withheld: it must have one value."""
    frame = pd.DataFrame({"age": np.repeat([*range(10)], 4), "ill": list("abab" * 9 + "cccc")})
    m = ap.Microdata(frame, ["age"], "ill")
    whole = {"age": ap.Hierarchy.flat(range(10))}
    call = {"k": 4, "l": 2, "hierarchies": whole, "suppression": 0.1}
    rel = ap.recode(m, ap.full_domain(m, **call))
    with pytest.warns(UserWarning, match="l-diversity 1 .is told.* 4 of 40 people"):
        rel.write(tmp_path / "out.csv")
    for door in (
        rel.public_frame,
        rel.public_tables,
        lambda **told: rel.write(tmp_path / "out.csv", **told),
    ):
        with pytest.raises(PromiseError, match="is told the values of a withheld class"):
            door(against="register")
    rel = ap.recode(m, ap.full_domain(m, **call | {"suppression": 0}))
    rel.write(tmp_path / "out.csv", against="register")


@pytest.mark.parametrize("reason", ["", " ", True, 3])
def test_a_reason_is_words(reason, tmp_path):
    rel = ap.generalize(people(30), ap.mondrian(people(30), k=3))
    with pytest.raises(ParameterError, match="accept must be a reason in words"):
        rel.write(tmp_path / "out.csv", accept=reason)


def test_a_file_of_last_year_promises_nothing(saved):
    told = json.loads(saved.read_text())
    del told["promised"]
    saved.write_text(json.dumps(told))
    assert ap.Recoding.load(saved).promised == ()
    saved.write_text(json.dumps(told | {"promised": ["KAnonymity(k=0)"]}))
    with pytest.raises(FileError):
        ap.Recoding.load(saved)


def test_only_the_packages_principles_are_saved(tmp_path):
    class Even(ap.KAnonymity):
        pass

    r = ap.full_domain(people(60), k=2, require=[Even(4)])
    with pytest.raises(ParameterError, match="is not a principle"):
        r.save(tmp_path / "r.json")
    assert not (tmp_path / "r.json").exists()

"""A table is made from a table in one way, and every mark goes with it."""

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.tables import tables

import anonpaper as ap
from anonpaper import errors
from anonpaper.repair.synthesis import fuse

FRAME = pd.DataFrame(
    {
        "age": [41, 30, 30, 25, 60, 33],
        "job": ["b", None, "a", "b", "c", "a"],
        "born": pd.to_datetime(["2001", "2002", "2001", "2004", "2005", "2006"]),
        "ill": ["flu", "flu", "cold", "cold", "flu", None],
        "note": list("uvwxyz"),
    }
)
TREE = ap.Hierarchy([[v, "work" if v in "ab" else "none", "*"] for v in "abc"])


@pytest.fixture
def marked():
    """A table with every mark that there is."""
    m = ap.Microdata(
        FRAME, ["age", "job", "born"], "ill", missing="drop", origin="invented",
        domains={"age": range(20, 70)}, synthetic=np.arange(6) >= 3,
    )  # fmt: skip
    assert (m.dropped, m.n) == (2, 4)
    return m


MADE = {
    "replace": lambda m: m.replace(),
    "replace frame": lambda m: m.replace(frame=m.frame.assign(note=1)),
    "with_roles": lambda m: m.with_roles(qi=["age", "born"]),
    "without sensitive": lambda m: m.with_roles(sensitive=None),
    "take": lambda m: m.take(np.arange(m.n)),
    "roles of some": lambda m: m.take(np.arange(m.n)).with_roles(qi=["born"]),
    "sample": lambda m: m.sample(m.n, seed=0),
    "with_codes": lambda m: m.with_codes({"job": m.codes_of("job")}),
    "granularize": lambda m: ap.granularize(m, {"age": 10}),
    "in_preorder": lambda m: ap.in_preorder(m, {"job": TREE}),
    "fuse": lambda m: fuse(m, m.frame.head(0)),
}


@pytest.mark.parametrize("how", MADE)
def test_a_table_made_from_a_table_keeps_its_marks(marked, how):
    made = MADE[how](marked)
    assert made.synthetic.tolist() == marked.synthetic.tolist() == [False, False, True, True]
    assert made.dropped == marked.dropped == 2
    assert made.origin == "invented"
    assert made.missing == "drop"
    assert [made.attribute(name).ordered for name in made.qi if name == "born"] in ([True], [])


@settings(max_examples=40)
@given(tables(), st.data())
def test_what_is_replaced_is_as_if_made_anew(m, data):
    frame = m.frame.copy()
    name = data.draw(st.sampled_from([*m.qi, "s"]))
    frame[name] = data.draw(st.lists(st.integers(0, 4), min_size=m.n, max_size=m.n))
    made, anew = m.replace(frame=frame), ap.Microdata(frame, m.qi, "s")
    assert (made.codes == anew.codes).all() and (
        made.sensitive_codes == anew.sensitive_codes
    ).all()
    assert (made.cells.tuples == anew.cells.tuples).all()
    pd.testing.assert_frame_equal(made.frame, frame)


def test_unchanged_columns_keep_their_domain_and_others_are_read_anew():
    m = ap.Microdata(FRAME, ["age", "job"], missing="category").take([0, 1])
    other = m.replace(frame=m.frame.assign(job=["z", "a"]))
    assert other.attribute("age") is m.attribute("age")
    assert other.attribute("job").values.tolist() == ["a", "z"]
    assert m.replace(domains={"age": None}).attribute("age").values.tolist() == [30, 41]
    assert m.replace(domains={"age": [30, 41, 99]}).attribute("age").size == 3
    with pytest.raises(errors.ColumnError, match="outside"):
        m.replace(domains={"age": [30]}).codes  # noqa: B018


def test_rows_of_a_new_frame_must_say_which_are_synthetic():
    m = ap.Microdata(FRAME, ["age"], synthetic=np.arange(6) == 0)
    for frame in (FRAME.head(2), FRAME.sort_values("age")):
        with pytest.raises(errors.ParameterError, match="synthetic"):
            m.replace(frame=frame)
    assert m.replace(frame=FRAME.head(2), synthetic=[True, False]).synthetic.tolist() == [
        True,
        False,
    ]
    assert ap.Microdata(FRAME, ["age"]).replace(frame=FRAME.head(2)).n == 2


def test_roles_with_gaps_drop_more_rows_and_count_them():
    m = ap.Microdata(FRAME, ["age"], missing="drop", synthetic=np.arange(6) == 2)
    assert (m.n, m.dropped) == (6, 0)
    m = m.with_roles(qi=["job"])
    assert (m.n, m.dropped, m.synthetic.tolist()) == (5, 1, [False, True, False, False, False])
    m = m.with_roles(sensitive="ill")
    assert (m.n, m.dropped, m.synthetic.tolist()) == (4, 2, [False, True, False, False])
    with pytest.raises(errors.MissingValueError, match="'ill': 1"):
        ap.Microdata(FRAME, ["age"], missing="error").with_roles(sensitive="ill")


@settings(max_examples=30)
@given(tables(), st.data())
def test_codes_and_the_frame_of_a_table_with_other_codes_agree(m, data):
    name = data.draw(st.sampled_from([*m.qi, "s"]))
    size = m.attribute(name).size
    codes = np.array(data.draw(st.lists(st.integers(0, size - 1), min_size=m.n, max_size=m.n)))
    made = m.with_codes({name: codes})
    assert (made.codes_of(name) == codes).all() and made.attribute(name) is m.attribute(name)
    assert made.frame[name].tolist() == m.attribute(name).values[codes].tolist()
    others = [other for other in [*m.qi, "s"] if other != name]
    assert all((made.codes_of(other) == m.codes_of(other)).all() for other in others)
    assert (made.take([0]).codes_of(name) == codes[:1]).all()


# -- a table is a snapshot -------------------------------------------------------------------


CHANGES = {
    "sorted": lambda frame: frame.sort_values("age", inplace=True),
    "column deleted": lambda frame: frame.pop("ill"),
    "values written": lambda frame: frame["age"].to_numpy().fill(0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_happens_to_the_frame_does_not_reach_the_table(change):
    frame = FRAME.copy()
    m = ap.Microdata(frame, ["age", "job"], "ill", missing="category")
    made = m.replace(frame=frame.assign(age=frame["age"] + 1))
    with suppress(ValueError):  # pandas 3 hands out read-only arrays
        CHANGES[change](frame)
    pd.testing.assert_frame_equal(m.frame, FRAME)
    assert (m.codes == ap.Microdata(FRAME, ["age", "job"], missing="category").codes).all()
    assert made.frame["age"].tolist() == (FRAME["age"] + 1).tolist()

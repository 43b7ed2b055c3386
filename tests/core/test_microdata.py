import decimal
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.tables import tables

import anonpaper as ap
from anonpaper import Microdata, errors
from anonpaper.cells import Cells
from anonpaper.repair.synthesis import fuse

PEOPLE = pd.DataFrame(
    {"age": [41, 30, 30, 25], "job": ["b", None, "a", "b"], "ill": ["flu", "flu", "cold", None]},
    index=["p", "q", "r", "s"],
)


def test_codes_are_places_in_the_domain():
    m = Microdata(PEOPLE, ["age", "job"], "ill", missing="category")
    assert m.attributes[0].values.tolist() == [25, 30, 41]
    assert m.attributes[1].values.tolist() == ["a", "b", "?"]
    assert m.codes.tolist() == [[2, 1], [1, 2], [1, 0], [0, 1]]
    assert m.codes.dtype == np.int32
    assert m.codes.flags.f_contiguous
    assert m.sensitive_attribute.values.tolist() == ["cold", "flu", "?"]
    assert m.sensitive_codes.tolist() == [1, 1, 0, 2]


def test_numbers_are_numeric_and_have_positions_unless_values_are_missing():
    frame = pd.DataFrame({"a": [1.5, 3.0], "b": [1.0, None]})
    a, b = Microdata(frame, ["a", "b"], missing="category").attributes
    assert a.numeric and a.ordered and a.positions.tolist() == [1.5, 3.0] and a.width == 1.5
    assert not b.numeric and b.ordered and b.values.tolist() == [1.0, "?"]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_value_in_a_declared_domain_is_none_of_its_values(missing):
    declared = {"frame": pd.DataFrame({"sex": ["f", None, "m"]}), "qi": ["sex"],
                "domains": {"sex": ["m", missing, "f"]}}  # fmt: skip
    kept, whole = (Microdata(**declared, missing=how) for how in ("category", "drop"))
    assert kept.attributes[0].values.tolist() == ["m", "f", "?"]
    assert (whole.attributes[0].values.tolist(), whole.dropped) == (["m", "f"], 1)


def test_taking_rows_keeps_the_domains_and_a_sample_depends_on_its_seed_alone():
    m = Microdata(PEOPLE, ["age", "job"], "ill", missing="category")
    part = m.take([3, 0])
    assert part.frame.index.tolist() == ["s", "p"]
    assert part.codes.tolist() == [[0, 1], [2, 1]]
    assert part.attributes[0].size == 3
    assert m.take(np.array([True, False, False, False])).n == 1
    m = Microdata(pd.DataFrame({"a": range(100)}), ["a"])
    first, again = m.sample(10, seed=1), m.sample(10, seed=np.random.default_rng(1))
    assert first.frame.equals(again.frame) and not first.frame.equals(m.sample(10, seed=2).frame)
    assert first.frame["a"].is_monotonic_increasing and first.frame["a"].is_unique


@pytest.mark.parametrize("huge", [2, 1000, 2**31 - 1])
@settings(max_examples=25)
@given(data=st.data())
def test_cells_of_domains_of_any_size(huge, data):
    """Also where tuple, secret and row number do not fit into 64 bits together."""
    n, d = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 4))
    code = st.one_of(st.integers(0, 1), st.integers(0, huge - 1))
    drawn = st.lists(code, min_size=n, max_size=n)
    codes = np.array([data.draw(drawn) for _ in range(d)], np.int32).T
    sensitive = np.array(data.draw(drawn), np.int32)
    cells = Cells.of([*codes.T, sensitive], [huge] * (d + 1), d)
    frame = pd.DataFrame(codes).assign(s=sensitive)
    counts = frame.groupby(list(frame)).size()
    rows = np.lexsort([np.arange(n), sensitive, *codes.T[::-1]])
    assert cells.rows.tolist() == rows.tolist()
    assert cells.counts.tolist() == counts.tolist()
    found = np.column_stack([cells.tuples[cells.tuple_of_cell], cells.sensitive])
    assert [*map(tuple, found)] == [*counts.index]


@pytest.mark.parametrize(
    "numbers", [[2**60, 2**60 + 1, 2**60 + 2], [-1.7e308, 0.0, 1.7e308], [0.0, 5e-324, 1e-323]]
)
def test_numbers_that_floating_point_cannot_measure_have_an_order_only(numbers):
    m = Microdata(pd.DataFrame({"id": numbers * 2, "ill": list("abcabd")}), ["id"], "ill")
    attribute = m.attributes[0]
    assert attribute.ordered and not attribute.numeric and attribute.width == 2
    assert attribute.values.tolist() == sorted(numbers)
    for p in (ap.mondrian(m, 2), ap.klt(m, 2, 2, 0.5), ap.oka(m, 2), ap.Partition([0] * 6)):
        assert 0 <= ap.measure.gcp(ap.generalize(m, p)) <= 1
    with pytest.raises(errors.ColumnError, match="not numeric"):
        ap.granularize(m, {"id": 1})


D = decimal.Decimal
NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)
ELSEWHERE = NOON.astimezone(timezone(timedelta(hours=2)))


#: Columns in which 0 and 1 of a value are equal but written differently.
FORMS = {
    "zeros": pd.Series([-0.0, 0.0, 1.5, 1.5]),
    "small zeros": pd.Series([-0.0, 0.0, 1.5, 1.5], dtype="float32"),
    "nullable zeros": pd.array([-0.0, 0.0, 1.5, 1.5], "Float64"),
    "truth and one": pd.Series([True, 1, "b", "b"], dtype=object),
    "decimal and number": pd.Series([D("1.0"), 1, "x", "x"], dtype=object),
    "time zones": pd.Series([NOON, ELSEWHERE, NOON + timedelta(1), ELSEWHERE + timedelta(1)]),
    "numbers and their text": pd.Series([1, "1", "b", "b"], dtype=object),
    "all at once": pd.Series(["1", 1.0, True, 1], dtype=object),
    "tuples": pd.Series([(1, 0.0), (1.0, -0.0), (2, 2), (2, 2.0)]),
    "intervals": pd.Series([pd.Interval(low, 1.0) for low in (-0.0, 0.0, 0.5, 0.5)]),
    "complex": pd.Series([complex(0, -0.0), complex(0, 0.0), 1j, 1j]),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_value_is_written_in_one_way(name):
    frame = pd.DataFrame({"q": FORMS[name], "s": list("abab")})
    for order in ([0, 1, 2, 3], [1, 0, 3, 2]):  # whichever form comes first
        m = ap.Microdata(frame.iloc[order], ["q"], "s")
        lines = m.frame[["q"]].to_csv(index=False, lineterminator="\n").splitlines()[1:]
        codes = m.codes[:, 0].tolist()
        assert len(set(lines)) == len(set(codes)) == m.attributes[0].size
        assert len(set(zip(lines, codes, strict=True))) == m.attributes[0].size
        assert codes[0] == codes[1] and codes[2] == codes[3]
        assert m.frame["q"].dtype == frame["q"].dtype or name == "small zeros"  # float64
        assert m.frame.index.tolist() == order


FRAME = pd.DataFrame(
    {
        "age": [41, 30, 30, 25, 60, 33],
        "job": ["b", None, "a", "b", "c", "a"],
        "born": pd.to_datetime(["2001", "2002", "2001", "2004", "2005", "2006"]),
        "ill": ["flu", "flu", "cold", "cold", "flu", None],
        "note": list("uvwxyz"),
    }
)
MADE = {
    "replace frame": lambda m: m.replace(frame=m.frame.assign(note=1)),
    "without sensitive": lambda m: m.with_roles(sensitive=None),
    "roles of some": lambda m: m.take(np.arange(m.n)).with_roles(qi=["born"]),
    "with_codes": lambda m: m.with_codes({"job": m.codes_of("job")}),
    "granularize": lambda m: ap.granularize(m, {"age": 10}),
    "in_preorder": lambda m: ap.in_preorder(m, {"job": ap.Hierarchy.flat(list("abc"))}),
    "fuse": lambda m: fuse(m, m.frame.head(0)),
}


@pytest.mark.parametrize("how", MADE)
def test_a_table_made_from_a_table_keeps_its_marks(how):
    marked = ap.Microdata(
        FRAME, ["age", "job", "born"], "ill", missing="drop", origin="invented", person="note",
        domains={"age": range(20, 70)}, synthetic=np.arange(6) >= 3,
    )  # fmt: skip
    made = MADE[how](marked)
    assert made.synthetic.tolist() == marked.synthetic.tolist() == [False, False, True, True]
    assert (made.dropped, made.origin, made.missing) == (2, "invented", "drop")
    assert made.person == "note" and made.n_people == len(set(made.frame["note"]))
    assert [made.attribute(name).ordered for name in made.qi if name == "born"] in ([True], [])


@settings(max_examples=40)
@given(tables(), st.data())
def test_what_is_replaced_is_as_if_made_anew(m, data):
    frame = m.frame.copy()
    name = data.draw(st.sampled_from([*m.qi, "s"]))
    frame[name] = data.draw(st.lists(st.integers(0, 4), min_size=m.n, max_size=m.n))
    made, anew = m.replace(frame=frame), ap.Microdata(frame, m.qi, "s")
    assert (made.codes == anew.codes).all()
    assert (made.sensitive_codes == anew.sensitive_codes).all()
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
    assert m.replace(frame=FRAME.head(2), synthetic=[True, False]).synthetic.sum() == 1
    assert ap.Microdata(FRAME, ["age"]).replace(frame=FRAME.head(2)).n == 2


def test_roles_with_gaps_drop_more_rows_and_count_them():
    m = ap.Microdata(FRAME, ["age"], missing="drop", synthetic=np.arange(6) == 2)
    assert (m.n, m.dropped) == (6, 0)
    m = m.with_roles(qi=["job"])
    assert (m.n, m.dropped, m.synthetic.tolist()) == (5, 1, [False, True, False, False, False])
    m = m.with_roles(sensitive="ill")
    assert (m.n, m.dropped, m.frame.index.tolist()) == (4, 2, [0, 2, 3, 4])
    with pytest.raises(errors.MissingValueError, match="'job': 1, 'ill': 1"):
        ap.Microdata(FRAME, ["age"]).with_roles(qi=["job"], sensitive="ill")


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


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.sort_values("age", inplace=True),
        lambda frame: frame.pop("ill"),
        lambda frame: frame["age"].to_numpy().fill(0),
    ],
)
def test_what_happens_to_the_frame_does_not_reach_the_table(change):
    frame = FRAME.copy()
    m = ap.Microdata(frame, ["age", "job"], "ill", missing="category")
    made = m.replace(frame=frame.assign(age=frame["age"] + 1))
    with suppress(ValueError):  # pandas 3 hands out read-only arrays
        change(frame)
    pd.testing.assert_frame_equal(m.frame, FRAME)
    assert (m.codes == ap.Microdata(FRAME, ["age", "job"], missing="category").codes).all()
    assert made.frame["age"].tolist() == (FRAME["age"] + 1).tolist()

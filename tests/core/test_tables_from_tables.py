"""A table is made from a table in one way, and every mark goes with it."""

import ast
from pathlib import Path

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


@pytest.mark.parametrize("how", [h for h in MADE if h not in ("granularize", "fuse")])
def test_a_table_made_from_a_table_keeps_its_domains(marked, how):
    made = MADE[how](marked)
    ages = made.with_roles(qi=["age"])
    assert ages.attributes[0].values.tolist() == list(range(20, 70))
    assert ages.frame["age"].tolist() == marked.frame["age"].tolist()


def test_marks_that_come_later_are_carried(marked):
    marked.household = "kept"
    assert all(make(marked).household == "kept" for make in MADE.values())


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


def test_a_domain_declared_for_a_column_without_a_role_is_carried():
    m = ap.Microdata(FRAME, ["job"], domains={"age": range(20, 70)}, missing="category")
    other = m.replace(frame=FRAME.assign(job="x")).with_roles(qi=["age"])
    assert other.attributes[0].size == 50
    assert m.replace(frame=FRAME[["job"]]).n == 6
    for domains in ("age", 5, {"age": 5}):
        with pytest.raises(errors.ParameterError, match="domains"):
            m.replace(domains=domains)


def test_a_reordered_categorical_is_another_column():
    low_high = pd.Series(pd.Categorical(["low", "high"], ["low", "high"]))
    m = ap.Microdata(pd.DataFrame({"x": low_high}), ["x"])
    turned = m.replace(frame=pd.DataFrame({"x": low_high.cat.reorder_categories(["high", "low"])}))
    assert turned.attributes[0].values.tolist() == ["high", "low"]
    assert turned.codes[:, 0].tolist() == [1, 0]


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


def test_the_original_stays_as_it_was(marked):
    before = marked.frame.copy(), marked.codes.copy(), marked.attribute("job")
    for make in MADE.values():
        make(marked)
    pd.testing.assert_frame_equal(marked.frame, before[0])
    assert (marked.codes == before[1]).all() and marked.attribute("job") is before[2]


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


@pytest.mark.parametrize("codes", [[0], [0.0] * 6, [-1] * 6, [9] * 6, [[0]] * 6, [True] * 6])
def test_codes_outside_of_the_domain_are_refused(codes):
    with pytest.raises(errors.ParameterError, match="6 integers from 0 to 3"):
        ap.Microdata(FRAME, ["job"], missing="category").with_codes({"job": codes}).codes  # noqa: B018


def test_codes_of_a_column_without_a_role_are_refused():
    m = ap.Microdata(FRAME, ["age"], "ill", missing="category")
    assert (m.codes_of("age") == m.codes[:, 0]).all()
    assert (m.codes_of("ill") == m.sensitive_codes).all()
    for name in ("job", "nobody", ["age"], None):
        with pytest.raises(errors.ColumnError, match="not a quasi-identifier"):
            m.codes_of(name)
    with pytest.raises(errors.ColumnError):
        m.with_codes({"job": [0] * 6})


def test_nobody_else_makes_a_table_on_a_tables_behalf():
    """A call that reads roles or origin of a table belongs into `replace`."""
    package = Path(ap.__file__).parent
    found = [
        f"{path.relative_to(package)}:{call.lineno}"
        for path in package.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Microdata"
        for part in [*call.args, *(keyword.value for keyword in call.keywords)]
        for node in ast.walk(part)
        if isinstance(node, ast.Attribute) and node.attr in ("qi", "origin", "frame")
        and not (isinstance(node.value, ast.Name) and node.value.id == "table")
    ]  # fmt: skip
    assert found == []


def test_nobody_else_touches_what_a_table_remembers():
    package = Path(ap.__file__).parent
    private = ("_coded", "_domains", "_whole", "_rows", "_code_column", "_frame")
    found = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in package.rglob("*.py")
        if path.name != "microdata.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in private
        and not (isinstance(node.value, ast.Name) and node.value.id == "self")
    ]
    assert found == []


# -- a table is a snapshot -------------------------------------------------------------------


def sorted_in_place(frame):
    frame.sort_values("age", inplace=True)


def written_by_place(frame):
    frame.iloc[0, 0] = 99


def written_by_label(frame):
    frame.loc[frame.index[1], "ill"] = "plague"


def column_replaced(frame):
    frame["age"] = 0


def values_written(frame):
    frame["age"].to_numpy()[...] = 0


def column_deleted(frame):
    del frame["ill"]


def rows_dropped(frame):
    frame.drop(index=frame.index[:3], inplace=True)


def masked(frame):
    frame.where(frame["age"] > 30, inplace=True)


def index_replaced(frame):
    frame.index = list(range(10, 16))


CHANGES = [
    sorted_in_place, written_by_place, written_by_label, column_replaced, values_written,
    column_deleted, rows_dropped, masked, index_replaced,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("copy_on_write", [False, True])
def test_what_happens_to_the_frame_does_not_reach_the_table(change, copy_on_write):
    with pd.option_context("mode.copy_on_write", copy_on_write):
        frame = FRAME.copy()
        m = ap.Microdata(frame, ["age", "job"], "ill", missing="category")
        made = m.replace(frame=frame.assign(age=frame["age"] + 1))
        try:
            change(frame)
        except ValueError:  # copy-on-write, always on in pandas 3, hands out read-only arrays
            assert change is values_written
            assert copy_on_write or not pd.__version__.startswith("2.")
        pd.testing.assert_frame_equal(m.frame, FRAME)
        assert (m.codes == ap.Microdata(FRAME, ["age", "job"], missing="category").codes).all()
        assert made.frame["age"].tolist() == (FRAME["age"] + 1).tolist()


def test_arrays_given_are_copied():
    numbers, rows, synthetic = (
        np.array([[1, 2], [3, 4]]),
        np.array([0, 1]),
        np.array([True, False]),
    )
    m = ap.Microdata(
        pd.DataFrame(numbers, columns=["a", "b"], copy=False), ["a"], synthetic=synthetic
    )
    part = m.take(rows)
    numbers[:], rows[:], synthetic[:] = 0, 1, False
    assert m.frame["a"].tolist() == part.frame["a"].tolist() == [1, 3]
    assert m.synthetic.tolist() == [True, False]


def test_a_declared_domain_may_be_an_iterator():
    m = ap.Microdata(FRAME, ["age"], domains={"age": iter(range(20, 70))})
    assert m.attribute("age").size == m.with_roles().attribute("age").size == 50

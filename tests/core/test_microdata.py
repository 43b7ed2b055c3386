import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.tables import tables

import anonpaper as ap
from anonpaper import Microdata, errors
from anonpaper.cells import Cells

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
    m = Microdata(
        pd.DataFrame({"a": [1.5, 3.0], "b": [1.0, None]}), ["a", "b"], missing="category"
    )
    a, b = m.attributes
    assert a.numeric and a.ordered and a.positions.tolist() == [1.5, 3.0] and a.width == 1.5
    assert not b.numeric and b.ordered and b.values.tolist() == [1.0, "?"]


def test_missing_values_can_be_dropped_or_forbidden():
    dropped = Microdata(PEOPLE, ["age", "job"], "ill", missing="drop")
    assert dropped.frame.index.tolist() == ["p", "r"] and dropped.dropped == 2
    with pytest.raises(errors.MissingValueError, match=r"'job': 1, 'ill': 1"):
        Microdata(PEOPLE, ["age", "job"], "ill")


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_value_in_a_declared_domain_is_none_of_its_values(missing):
    frame = pd.DataFrame({"sex": ["f", None, "m"]})
    m = Microdata(frame, ["sex"], domains={"sex": ["m", missing, "f"]}, missing="category")
    assert m.attributes[0].values.tolist() == ["m", "f", "?"]
    whole = Microdata(frame, ["sex"], domains={"sex": ["m", missing, "f"]}, missing="drop")
    assert (whole.attributes[0].values.tolist(), whole.dropped) == (["m", "f"], 1)


def test_taking_rows_keeps_the_domains():
    m = Microdata(PEOPLE, ["age", "job"], "ill", missing="category")
    part = m.take([3, 0])
    assert part.frame.index.tolist() == ["s", "p"]
    assert part.codes.tolist() == [[0, 1], [2, 1]]
    assert part.attributes[0].size == 3
    assert part.with_roles(qi=["age"]).n == 2
    assert m.take(np.array([True, False, False, False])).n == 1
    with pytest.raises(errors.EmptyTableError):
        m.take([])


def test_a_sample_depends_on_its_seed_alone():
    m = Microdata(pd.DataFrame({"a": range(100)}), ["a"])
    first, again = m.sample(10, seed=1), m.sample(10, seed=np.random.default_rng(1))
    assert first.frame.equals(again.frame)
    assert not first.frame.equals(m.sample(10, seed=2).frame)
    assert first.frame["a"].is_monotonic_increasing and first.frame["a"].is_unique
    for rows in (0, 101, 2.5):
        with pytest.raises(errors.ParameterError, match="rows"):
            m.sample(rows, seed=1)
    with pytest.raises(errors.ParameterError, match="seed"):
        m.sample(10, seed=-1)


@settings(max_examples=60)
@given(tables())
def test_cells_are_what_a_groupby_counts(m):
    cells = m.cells
    counted = m.frame.groupby([*m.qi, "s"]).size()
    tuples = np.repeat(cells.tuples, np.diff(cells.start), axis=0)
    values = [a.values[tuples[:, j]] for j, a in enumerate(m.attributes)]
    values.append(m.sensitive_attribute.values[cells.sensitive])
    assert list(zip(*values, strict=True)) == counted.index.tolist()
    assert cells.counts.tolist() == counted.tolist()
    for cell in range(len(cells.counts)):
        rows = cells.rows[cells.row_start[cell] : cells.row_start[cell + 1]]
        assert (np.diff(rows) > 0).all()
        assert (m.codes[rows] == tuples[cell]).all()
        assert (m.sensitive_codes[rows] == cells.sensitive[cell]).all()
    assert sorted(cells.rows) == list(range(m.n))
    assert (cells.tuples[cells.tuple_of_row] == m.codes).all()


def as_sorted_tuples(codes, sensitive):
    """Rows in the order of a lexicographic sort, and their cells, by pandas."""
    frame = pd.DataFrame(codes).assign(s=sensitive)
    rows = np.lexsort([np.arange(len(frame)), *frame.to_numpy().T[::-1]])
    return rows, frame.groupby(list(frame.columns)).size()


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
    rows, counts = as_sorted_tuples(codes, sensitive)
    assert cells.rows.tolist() == rows.tolist()
    assert cells.counts.tolist() == counts.tolist()
    found = np.column_stack([cells.tuples[cells.tuple_of_cell], cells.sensitive])
    assert [tuple(row) for row in found] == [tuple(np.atleast_1d(key)) for key in counts.index]


@pytest.mark.parametrize(
    "numbers",
    [
        [2**60, 2**60 + 1, 2**60 + 2], [2**53, 2**53 + 1, 5], [-1.7e308, 0.0, 1.7e308],
        [0.0, 5e-324, 1e-323], [2**63, 2**64 - 1, 2**64 - 2],
    ],
)  # fmt: skip
def test_numbers_that_floating_point_cannot_measure_have_an_order_only(numbers):
    frame = pd.DataFrame({"id": numbers * 2, "ill": list("abcabd")})
    m = Microdata(frame, ["id"], "ill")
    attribute = m.attributes[0]
    assert attribute.ordered and not attribute.numeric and attribute.width == 2
    assert attribute.values.tolist() == sorted(numbers)
    for p in (ap.mondrian(m, 2), ap.klt(m, 2, 2, 0.5), ap.k_member(m, 2), ap.oka(m, 2)):
        assert 0 <= ap.measure.gcp(ap.generalize(m, p)) <= 1
    for p in (ap.Partition([0] * 6), ap.balanced_classes(m, 2, 2)):
        assert 0 <= ap.measure.gcp(ap.generalize(m, p)) <= 1
    assert ap.full_domain(m, 2).info["ncp"] >= 0
    with pytest.raises(errors.ColumnError, match="not numeric"):
        ap.granularize(m, {"id": 1})

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from referees.tables import tables

import anonpaper as ap
from anonpaper import Microdata, errors
from anonpaper.microdata import build_cells

PEOPLE = pd.DataFrame(
    {"age": [41, 30, 30, 25], "job": ["b", None, "a", "b"], "ill": ["flu", "flu", "cold", None]},
    index=["p", "q", "r", "s"],
)


def test_codes_are_places_in_the_domain():
    m = Microdata(PEOPLE, ["age", "job"], "ill")
    assert m.attributes[0].values.tolist() == [25, 30, 41]
    assert m.attributes[1].values.tolist() == ["a", "b", "?"]
    assert m.codes.tolist() == [[2, 1], [1, 2], [1, 0], [0, 1]]
    assert m.codes.dtype == np.int32
    assert m.codes.flags.f_contiguous
    assert m.sensitive_attribute.values.tolist() == ["cold", "flu", "?"]
    assert m.sensitive_codes.tolist() == [1, 1, 0, 2]


def test_numbers_are_numeric_and_have_positions_unless_values_are_missing():
    m = Microdata(pd.DataFrame({"a": [1.5, 3.0], "b": [1.0, None]}), ["a", "b"])
    a, b = m.attributes
    assert a.numeric and a.ordered and a.positions.tolist() == [1.5, 3.0] and a.width == 1.5
    assert not b.numeric and not b.ordered and b.values.tolist() == [1.0, "?"]


def test_a_categorical_declares_its_domain_and_order():
    column = pd.Categorical(["low", "high"], ["low", "middle", "high"], ordered=True)
    attribute = Microdata(pd.DataFrame({"x": column}), ["x"]).attributes[0]
    assert attribute.values.tolist() == ["low", "middle", "high"]
    assert attribute.ordered and not attribute.numeric


def test_a_declared_domain_wins_over_the_values_seen():
    m = Microdata(PEOPLE, ["age"], domains={"age": range(20, 50)})
    assert m.attributes[0].size == 30
    assert m.codes[:, 0].tolist() == [21, 10, 10, 5]


def test_missing_values_can_be_dropped_or_forbidden():
    dropped = Microdata(PEOPLE, ["age", "job"], "ill", missing="drop")
    assert dropped.frame.index.tolist() == ["p", "r"] and dropped.dropped == 2
    with pytest.raises(errors.MissingValueError, match=r"'job': 1, 'ill': 1"):
        Microdata(PEOPLE, ["age", "job"], "ill", missing="error")


def test_a_question_mark_in_the_data_is_the_missing_value():
    m = Microdata(pd.DataFrame({"x": ["?", None, "a"]}), ["x"])
    assert m.attributes[0].values.tolist() == ["?", "a"]
    assert m.codes[:, 0].tolist() == [0, 0, 1]


def test_mixed_numbers_and_text_are_coded():
    m = Microdata(pd.DataFrame({"x": ["b", 2, 10]}, dtype=object), ["x"])
    assert m.attributes[0].values.tolist() == [10, 2, "b"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"qi": ["age", "sex"]}, errors.ColumnError, "sex"),
        ({"qi": ["age", "age"]}, errors.ColumnError, "used twice"),
        ({"qi": ["age"], "sensitive": "age"}, errors.ColumnError, "used twice"),
        ({"qi": "age"}, errors.ParameterError, "sequence"),
        ({"qi": []}, errors.EmptyTableError, "at least one"),
        ({"qi": ["age"], "missing": "ignore"}, errors.ParameterError, "category"),
        ({"qi": ["age"], "domains": {"age": [25, 30]}}, errors.ColumnError, "41"),
        ({"qi": ["age"], "domains": {"sex": ["f"]}}, errors.ColumnError, "sex"),
        ({"qi": ["age"], "domains": {"age": [25, 25]}}, errors.ColumnError, "twice"),
    ],
)
def test_bad_roles_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        Microdata(PEOPLE, **arguments).codes  # noqa: B018


def test_a_table_that_is_no_frame_or_has_no_rows_is_refused():
    with pytest.raises(errors.ParameterError, match="DataFrame"):
        Microdata([[1]], ["a"])
    with pytest.raises(errors.EmptyTableError, match="no rows"):
        Microdata(PEOPLE.iloc[:0], ["age"])
    with pytest.raises(errors.EmptyTableError, match="missing value"):
        Microdata(pd.DataFrame({"a": [None, None]}), ["a"], missing="drop")


def test_unhashable_values_and_doubled_columns_are_refused():
    with pytest.raises(errors.ColumnError, match="cannot be told apart"):
        Microdata(pd.DataFrame({"a": [[1], [2]]}), ["a"]).codes  # noqa: B018
    doubled = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(errors.ColumnError, match="several columns"):
        Microdata(doubled, ["a"])


def test_a_table_without_sensitive_attribute_says_so():
    m = Microdata(PEOPLE, ["age"])
    with pytest.raises(errors.ColumnError, match="with_roles"):
        m.sensitive_codes  # noqa: B018
    assert m.cells.counts.tolist() == [1, 2, 1]


def test_other_roles_share_what_is_coded():
    m = Microdata(PEOPLE, ["age", "job"], "ill")
    m.codes  # noqa: B018
    other = m.with_roles(qi=["job"])
    assert other.attributes[0] is m.attributes[1]
    assert other.sensitive == "ill"
    assert m.with_roles(sensitive=None).sensitive is None


def test_taking_rows_keeps_the_domains():
    m = Microdata(PEOPLE, ["age", "job"], "ill")
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


@settings(deadline=None, max_examples=60)
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


def test_cells_of_domains_too_large_for_one_key():
    rng = np.random.default_rng(0)
    sizes = [60_000] * 7
    codes = np.asfortranarray(rng.integers(0, 60_000, (500, 7)).astype(np.int32))
    codes[250:] = codes[:250]
    cells = build_cells(codes, sizes, np.zeros(500, np.int32), 1)
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    assert (cells.tuples == distinct).all()
    assert (cells.tuple_sizes == counts).all()


def test_infinite_numbers_are_refused():
    with pytest.raises(errors.ColumnError, match="infinite"):
        Microdata(pd.DataFrame({"a": [1.0, np.inf]}), ["a"]).codes  # noqa: B018


@pytest.mark.parametrize("rows", [[9], [-1], [0.5], [True, False]])
def test_positions_out_of_range_are_refused(rows):
    with pytest.raises(errors.ParameterError, match="positions from 0 to 3"):
        Microdata(PEOPLE, ["age"]).take(rows)


def test_a_frame_in_place_of_a_table_is_named():
    with pytest.raises(errors.ParameterError, match="got DataFrame"):
        ap.tp(PEOPLE, 2)
    one = Microdata(PEOPLE.iloc[:1], ["age"], "ill")
    with pytest.raises(errors.ParameterError, match="too small"):
        ap.tp(one, 2)

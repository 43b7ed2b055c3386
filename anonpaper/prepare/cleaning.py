"""Pre-processing: the basic repairs of a table, one step after the other, each with its account.

Every step takes a DataFrame, returns a new one and says how many values and rows it changed.
Nothing is removed in silence, and nothing that is not asked for: rows go only by steps that were
given the right to take them.

Source: A. Majeed, S. O. Hwang, *A data-centric l-diversity model for securely publishing personal
data with enhanced utility*, section 4.1.2 and Table 4. The paper names techniques; what each does
exactly is said here. Two of them deserve doubt. Records that are equal in the quasi-identifiers
are mostly different people, so removing "redundant records" distorts every count; and an outlier
is a person. Both are here, and off unless asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from anonpaper.errors import ColumnError, EmptyTableError, MissingValueError, ParameterError
from anonpaper.microdata import MISSING

__all__ = [
    "Step",
    "arrange_attributes",
    "check_types",
    "clean",
    "format_values",
    "handle_missing",
    "preprocess",
    "remove_duplicates",
    "remove_outliers",
    "select_attributes",
]


@dataclass(frozen=True, eq=False)
class Step:
    """A table after one step, and what the step did.

    Attributes
    ----------
    name : str
        Table 4's name of the step.
    frame : pandas.DataFrame
        The table after it.
    values_changed, rows_removed, columns_removed : int
        What was changed.
    note : str
        Which columns, values or rules.
    """

    name: str
    frame: pd.DataFrame
    values_changed: int = 0
    rows_removed: int = 0
    columns_removed: int = 0
    note: str = ""


def arrange_attributes(frame: pd.DataFrame, qi: Sequence, sensitive: object) -> Step:
    """Put the quasi-identifiers first, then the sensitive attribute, then the rest.

    Raises
    ------
    ColumnError
        A column is unknown or named twice.

    Examples
    --------
    >>> frame = pd.DataFrame({"ill": [1], "name": ["Ann"], "age": [30]})
    >>> list(arrange_attributes(frame, ["age"], "ill").frame)
    ['age', 'ill', 'name']
    """
    roles = [*qi, sensitive]
    _check_columns(frame, roles)
    if len(set(roles)) < len(roles):
        raise ColumnError(f"a column has two roles: {roles}")
    rest = [name for name in frame.columns if name not in roles]
    note = f"{len(qi)} quasi-identifiers, sensitive {sensitive!r}, {len(rest)} others"
    return Step("attribute arrangement", frame[roles + rest], note=note)


def select_attributes(frame: pd.DataFrame, keep: Sequence) -> Step:
    """Delete explicit identifiers and all other columns without a role.

    Raises
    ------
    ColumnError
        A column to keep is unknown.

    Examples
    --------
    >>> frame = pd.DataFrame({"name": ["Ann"], "age": [30]})
    >>> select_attributes(frame, ["age"]).columns_removed
    1
    """
    _check_columns(frame, keep)
    gone = [name for name in frame.columns if name not in keep]
    note = ", ".join(map(str, gone))
    return Step("NSA and EI removal", frame[list(keep)], columns_removed=len(gone), note=note)


def remove_outliers(
    frame: pd.DataFrame, ranges: Mapping[object, tuple[float, float]], *, how: str = "error"
) -> Step:
    """Look for numbers outside of the range that domain knowledge allows.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    ranges : mapping of column to (low, high)
        The least and greatest values that can be true; missing values are no outliers.
    how : {"error", "clip", "drop"}
        Refuse the table, set the values to the nearer bound, or leave the rows out.

    Raises
    ------
    ColumnError
        A column is unknown or not numeric.
    ParameterError
        There are outliers and `how` is ``"error"``; `how` is something else; low above high.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 200]})
    >>> remove_outliers(frame, {"age": (0, 120)}, how="drop").rows_removed
    1
    """
    if how not in ("error", "clip", "drop"):
        raise ParameterError(f'how must be "error", "clip" or "drop", got {how!r}')
    _check_columns(frame, list(ranges))
    outside = pd.DataFrame(False, frame.index, list(ranges))
    for name, (low, high) in ranges.items():
        if not pd.api.types.is_numeric_dtype(frame[name]):
            raise ColumnError(f"{name!r} is not numeric: it has no outliers")
        if low > high:
            raise ParameterError(f"the range of {name!r} is empty: {low} to {high}")
        outside[name] = frame[name].notna() & ~frame[name].between(low, high)
    counts = outside.sum()
    found = counts[counts > 0].to_dict()
    note = "; ".join(f"{name}: {count}" for name, count in found.items()) or "none found"
    if how == "error" and found:
        raise ParameterError(f'values out of range ({note}): choose how="clip" or how="drop"')
    if how == "drop":
        kept = frame[~outside.any(axis=1)]
        return Step("outlier removal", kept, rows_removed=len(frame) - len(kept), note=note)
    clipped = frame.copy()
    for name in found:
        clipped[name] = frame[name].clip(*ranges[name])
    return Step("outlier removal", clipped, values_changed=int(counts.sum()), note=note)


def handle_missing(frame: pd.DataFrame, how: str = "category") -> Step:
    """Give missing values a value of their own, fill them in, or leave the rows out.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    how : {"category", "impute", "drop", "error"}
        ``"?"`` in columns of text; the most frequent value (text) or the median (numbers);
        the rows are left out; or a MissingValueError.

    Raises
    ------
    MissingValueError
        With ``how="error"``, or ``how="category"`` on a column of numbers.
    EmptyTableError
        No row is complete, or a column to impute has no value.
    ParameterError
        Another `how`.

    Examples
    --------
    >>> frame = pd.DataFrame({"job": ["a", None, "a"], "age": [20.0, 30.0, None]})
    >>> handle_missing(frame, "impute").frame["age"].tolist()
    [20.0, 30.0, 25.0]
    """
    if how not in ("category", "impute", "drop", "error"):
        raise ParameterError(f'how must be "category", "impute", "drop" or "error", got {how!r}')
    lacking = frame.isna().sum()
    lacking = lacking[lacking > 0]
    note = "; ".join(f"{name}: {count}" for name, count in lacking.items()) or "none found"
    if how == "error" and len(lacking):
        raise MissingValueError(f"missing values ({note}): choose another how")
    if how == "drop":
        complete = frame.dropna()
        if complete.empty:
            raise EmptyTableError("no row is complete")
        return Step("missing values", complete, rows_removed=len(frame) - len(complete), note=note)
    filled = frame.copy()
    for name in lacking.index:
        filled[name] = _filled(frame[name], how)
    return Step("missing values", filled, values_changed=int(lacking.sum()), note=note)


def remove_duplicates(frame: pd.DataFrame, among: Sequence | None = None) -> Step:
    """Leave out rows that repeat an earlier one, in all columns or in those named.

    Name an identifier to find people who stand twice. Without one, this takes away people who
    merely resemble each other.

    Examples
    --------
    >>> frame = pd.DataFrame({"patient": [7, 7, 8], "age": [30, 31, 30]})
    >>> remove_duplicates(frame, among=["patient"]).rows_removed
    1
    """
    among = list(frame.columns) if among is None else list(among)
    _check_columns(frame, among)
    kept = frame[~frame.duplicated(among)]
    return Step(
        "redundant record elimination", kept, rows_removed=len(frame) - len(kept),
        note=f"equal in {len(among)} columns",
    )  # fmt: skip


def check_types(frame: pd.DataFrame, numeric: Sequence = ()) -> Step:
    """Make columns that should be numbers numbers, and refuse values that are none.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    numeric : sequence of column
        Columns of numbers; all others must be of one kind: text, categories, booleans or numbers.

    Raises
    ------
    ColumnError
        A value is no number, or a column mixes kinds; the message names some.

    Examples
    --------
    >>> check_types(pd.DataFrame({"age": ["30", "31"]}), ["age"]).values_changed
    2
    """
    _check_columns(frame, numeric)
    checked, changed = frame.copy(), 0
    for name in frame.columns:
        column = frame[name]
        if name in numeric and not pd.api.types.is_numeric_dtype(column):
            numbers = pd.to_numeric(column, errors="coerce")
            wrong = column[numbers.isna() & column.notna()]
            if len(wrong):
                raise ColumnError(f"{name!r} holds values that are no numbers: {_some(wrong)}")
            checked[name], changed = numbers, changed + int(column.notna().sum())
        elif name not in numeric and column.dtype == object:
            kinds = sorted({type(value).__name__ for value in column.dropna().unique()})
            if len(kinds) > 1:
                raise ColumnError(f"{name!r} mixes {', '.join(kinds)}: {_some(column)}")
    note = f"{len(numeric)} columns of numbers"
    return Step("attribute type checks", checked, values_changed=changed, note=note)


def format_values(frame: pd.DataFrame, mapping: Mapping[object, Mapping]) -> Step:
    """Replace values by others: spellings by one spelling, codes by what they mean.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    mapping : mapping of column to {old value: new value}
        Values that are not named stay as they are.

    Examples
    --------
    >>> frame = pd.DataFrame({"sex": ["m", "M", "f"]})
    >>> format_values(frame, {"sex": {"m": "M", "f": "F"}}).values_changed
    2
    """
    _check_columns(frame, list(mapping))
    changed, formatted = 0, frame.copy()
    for name, pairs in mapping.items():
        column = frame[name]
        found = column.isin(list(pairs))
        values = column.astype(object).map(lambda value, pairs=pairs: pairs.get(value, value))
        changed += int(found.sum())
        if isinstance(column.dtype, pd.CategoricalDtype):
            categories = dict.fromkeys(pairs.get(c, c) for c in column.cat.categories)
            values = pd.Categorical(values, list(categories), ordered=column.cat.ordered)
        formatted[name] = values
    note = ", ".join(map(str, mapping)) or "nothing to format"
    return Step("value formatting", formatted, values_changed=changed, note=note)


def preprocess(frame: pd.DataFrame, steps: Sequence[Callable[[pd.DataFrame], Step]]):
    """Apply steps one after the other.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table; it is not changed.
    steps : sequence of callable
        Each takes a DataFrame and returns a :class:`Step`.

    Returns
    -------
    frame : pandas.DataFrame
        The table after the last step.
    account : pandas.DataFrame
        One row per step: ``step``, ``rows`` and ``columns`` after it, ``values_changed``,
        ``rows_removed``, ``columns_removed``, ``note``.

    Raises
    ------
    EmptyTableError
        A step left no row.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, None], "name": ["Ann", "Bob"]})
    >>> table, account = preprocess(frame, [lambda f: select_attributes(f, ["age"]),
    ...                                     lambda f: handle_missing(f, "drop")])
    >>> account["rows_removed"].tolist()
    [0, 1]
    """
    account = []
    for apply in steps:
        step = apply(frame)
        frame = step.frame
        account.append(
            {
                "step": step.name,
                "rows": len(frame),
                "columns": frame.shape[1],
                "values_changed": step.values_changed,
                "rows_removed": step.rows_removed,
                "columns_removed": step.columns_removed,
                "note": step.note,
            }
        )
        if frame.empty:
            raise EmptyTableError(f"no row is left after {step.name!r}")
    return frame, pd.DataFrame(account)


def clean(
    frame: pd.DataFrame,
    qi: Sequence,
    sensitive: object,
    *,
    ranges: Mapping[object, tuple[float, float]] | None = None,
    outliers: str = "error",
    missing: str = "category",
    mapping: Mapping[object, Mapping] | None = None,
):
    """Apply all steps of Table 4 but the removal of similar records, in its order.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    qi, sensitive
        Its roles.
    ranges, outliers
        As `ranges` and `how` of :func:`remove_outliers`.
    missing : str
        As `how` of :func:`handle_missing`.
    mapping
        As for :func:`format_values`.

    Returns
    -------
    frame, account : pandas.DataFrame
        As :func:`preprocess`.

    Examples
    --------
    >>> frame = pd.DataFrame({"ill": [1, 0], "age": [30, 31], "name": ["Ann", "Bob"]})
    >>> clean(frame, ["age"], "ill")[1]["columns_removed"].sum().item()
    1
    """
    numeric = [name for name in qi if pd.api.types.is_numeric_dtype(frame.get(name))]
    return preprocess(frame, [
        lambda f: arrange_attributes(f, qi, sensitive),
        lambda f: select_attributes(f, [*qi, sensitive]),
        lambda f: remove_outliers(f, ranges or {}, how=outliers),
        lambda f: handle_missing(f, missing),
        lambda f: check_types(f, numeric),
        lambda f: format_values(f, mapping or {}),
    ])  # fmt: skip


def _filled(column: pd.Series, how: str) -> pd.Series:
    is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if how == "category":
        if is_number:
            raise MissingValueError(
                f"{column.name!r} is a column of numbers with missing values: impute or drop them"
            )
        if isinstance(column.dtype, pd.CategoricalDtype) and MISSING not in column.cat.categories:
            column = column.cat.add_categories([MISSING])
        return column.fillna(MISSING)
    if column.isna().all():
        raise EmptyTableError(f"{column.name!r} has no value to impute from")
    return column.fillna(column.median() if is_number else column.mode().iloc[0])


def _some(column: pd.Series) -> list:
    return list(column.dropna().unique()[:5])


def _check_columns(frame: pd.DataFrame, names: Sequence) -> None:
    unknown = [name for name in names if name not in frame.columns]
    if unknown:
        raise ColumnError(f"unknown columns {unknown}; the table has {list(frame.columns)}")

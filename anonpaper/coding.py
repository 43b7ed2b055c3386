"""Columns as codes: an attribute's ordered domain, and the place of every row's value in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from anonpaper.errors import ColumnError, ParameterError, check_sequence, is_among

#: The value that replaces a missing one when missing values are kept.
MISSING = "?"
_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")
_TIMES = ("date", "time", "datetime", "datetime64", "timedelta", "timedelta64", "period")


class Number(float):
    """A number that is published as it was written, as `text`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    @classmethod
    def column(cls, texts: pd.Series) -> pd.Series:
        """Return texts as numbers, equal ones in the first way in which they are written."""
        numbers = texts.astype("float64") + 0  # -0.0 becomes 0.0
        first = texts[~numbers.duplicated()]
        if all(text == str(float(text)) for text in first):
            return numbers
        forms = np.array([*map(cls, first)], dtype=object)
        return pd.Series(forms[pd.factorize(numbers)[0]], texts.index, name=texts.name)


@dataclass(frozen=True, eq=False)
class Attribute:
    """One attribute with its ordered domain.

    `values` (dtype object) is the domain, and the code of a value is its place there. The domain
    is `numeric` if it has ascending numbers that floats can distinguish, and `ordered` if its
    order has a meaning (numbers, dates, ordered categoricals). `positions` (float64) are the
    numbers themselves, or otherwise the codes.
    """

    name: object  # the column's label
    values: np.ndarray  # (size,)
    numeric: bool
    ordered: bool
    positions: np.ndarray  # (size,)

    @property
    def size(self) -> int:
        """Number of values in the domain."""
        return len(self.values)

    @property
    def width(self) -> float:
        """Distance between the first and the last value, in the attribute's unit."""
        return float(self.positions[-1] - self.positions[0])

    def code(self, value: object) -> int:
        """Return the code of a value; raise ColumnError if the domain lacks it."""
        matches = [place for place, known in enumerate(self.values) if is_among(value, [known])]
        if len(matches) == 1:
            return matches[0]
        first = ", ".join(map(repr, self.values[:5]))
        told = f"is no value of {self.name!r}, whose domain begins with {first}"
        raise ColumnError(f"{value!r} {told}")


#: An attribute, and the code of every row.
Coded = tuple[Attribute, np.ndarray]


class Columns:
    """The columns of a table by name, as a frame and, coded on first use, as codes.

    They come from a `frame` with declared `domains`, and may be `coded` already; or they are some
    `rows` `of` other columns, with other codes for columns that are `coded`; or they are only
    coded.
    """

    def __init__(self, frame=None, domains=None, *, coded=None, of=None, rows=slice(None)) -> None:
        self._of, self._rows, self._given = of, rows, coded or {}
        self.domains, self._coded = domains or {}, dict(self._given)
        if frame is not None:
            self.frame = frame
        #: The labels, in the order of the frame.
        self.names = list(self._given if frame is None else frame) if of is None else of.names

    @cached_property
    def frame(self) -> pd.DataFrame:
        """All columns with the values that are coded."""
        if self._of is not None:
            frame = self._of.frame.iloc[self._rows].copy(deep=False)
        else:
            frame = pd.DataFrame(index=range(len(next(iter(self._given.values()))[1])))
        for name, (attribute, codes) in self._given.items():
            frame[name] = pd.Series(attribute.values[codes], frame.index).infer_objects()
        return frame

    def coded(self, name: object) -> Coded:
        """The attribute of a column and its codes."""
        if name not in self._coded:
            if self._of is None:
                self._coded[name] = _code(self.frame[name], self.domains.get(name))
            else:
                attribute, codes = self._of.coded(name)
                self._coded[name] = attribute, codes[self._rows]
        return self._coded[name]

    def with_codes(self, codes: Mapping[object, np.ndarray], n: int) -> Columns:
        """Return columns with n other codes; ParameterError for codes outside the domain."""
        coded = {}
        for name, new in codes.items():
            (attribute, _), new = self.coded(name), np.array(new)
            whole = np.issubdtype(new.dtype, np.integer) and new.shape == (n,)
            if not whole or new.min() < 0 or new.max() >= attribute.size:
                wanted = f"{n} integers from 0 to {attribute.size - 1}"
                raise ParameterError(f"codes of {name!r} must be {wanted}")
            coded[name] = attribute, new.astype(np.int32)
        return Columns(None, self.domains, coded=coded, of=self)

    def with_frame(self, frame: pd.DataFrame | None, domains: object, roles: list) -> Columns:
        """Return the columns of another frame; codings of columns in `roles` are kept if equal."""
        before, anew = self.frame, declared(domains)
        frame = before if frame is None else snapshot(frame)
        kept = [n for n in frame if list(frame).count(n) == 1 and n not in (domains or {})]
        same = {n: self.coded(n) for n in kept if n in roles and _equal(frame[n], before[n])}
        carried = {n: self.domains[n] for n in kept if n in self.domains}
        return Columns(frame, carried | anew, coded=same)


def declared(domains: Mapping[object, Iterable] | None) -> dict[object, list]:
    """Return the domains that are not None as new lists without missing values."""
    if not isinstance(domains, Mapping | None):
        raise ParameterError(f"domains must map column labels to sequences, got {domains!r}")
    told = {name: check_sequence(f"the domains' entry of {name!r}", domain)
            for name, domain in (domains or {}).items() if domain is not None}  # fmt: skip
    return {name: pd.Series(told[name], dtype=object).dropna().tolist() for name in told}


def snapshot(frame: object) -> pd.DataFrame:
    """Return a private copy of a frame, with every value in one written form."""
    if not isinstance(frame, pd.DataFrame):
        raise ParameterError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
    copy = frame.copy()
    for place in range(copy.shape[1]):  # names may occur twice
        copy.isetitem(place, _in_one_form(copy.iloc[:, place]))
    return copy


def from_arrow(column: object, name: object = None) -> pd.Series:
    """Return a column of Arrow in which every value keeps its digits; missing ones are NA."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type) and not column.type.ordered:
        column = column.cast(column.type.value_type)
    return column.to_pandas(integer_object_nulls=True).rename(name)


def _in_one_form(column: pd.Series) -> pd.Series:
    """Write equal values alike, and values that are written alike as one of them."""
    dtype = column.dtype
    if isinstance(dtype, pd.ArrowDtype):
        import pyarrow as pa

        column = from_arrow(pa.chunked_array(pa.array(column)), column.name).set_axis(column.index)
        return _in_one_form(column)
    if pd.api.types.is_float_dtype(dtype):
        if dtype.itemsize < 8:  # as they are written: 0.1 is not 0.10000000149011612
            column = column.astype(str).where(column.notna()).astype("float64")
        return column + 0  # -0.0 becomes 0.0
    if hasattr(column, "cat") or dtype.kind in "iubmM" or isinstance(dtype, pd.StringDtype):
        return column
    types = set(map(type, column[column.notna()]))
    if len(types) <= 1 and types <= {str, int, bool, Number}:  # equal values are written alike
        return column
    try:
        equal = pd.factorize(column)[0].tolist()
    except TypeError:  # incomparable values: an error only if the column gets a role
        return column
    texts = [str(value) for value in column.array]
    kinds = [type(value).__name__ for value in column.array]
    rows = sorted(zip(map(len, texts), texts, kinds, range(len(texts)), strict=True), reverse=True)
    rows = [row for *_, row in rows if equal[row] >= 0]
    form_of = {equal[row]: row for row in rows}  # of every value, the row with its shortest text
    form_of_text = {texts[row]: row for row in rows if form_of[equal[row]] == row}
    source = [form_of_text[texts[form_of[number]]] if number >= 0 else row
              for row, number in enumerate(equal)]  # fmt: skip
    return column.take(source).set_axis(column.index)


def _equal(column: pd.Series, other: pd.Series) -> bool:
    """Whether two columns have equal values in the same order and of the same type."""
    orders = [list(getattr(one.dtype, "categories", ())) for one in (column, other)]
    alike = column.dtype == other.dtype and orders[0] == orders[1]
    return alike and column.reset_index(drop=True).equals(other.reset_index(drop=True))


def _code(column: pd.Series, domain: Iterable | None) -> tuple[Attribute, np.ndarray]:
    """Code one column: its attribute and the place of every row's value in the domain."""
    if domain is not None:
        values, ordered = pd.Index(domain), False
        try:
            codes = values.get_indexer(column)
        except (TypeError, pd.errors.InvalidIndexError):
            told = f"the domain of {column.name!r} has a value twice, or lists or sets"
            raise ColumnError(told) from None
        others = column[(codes < 0) & column.notna().to_numpy()].unique()[:5].tolist()
        if others:
            raise ColumnError(f"values of {column.name!r} outside its declared domain: {others}")
    elif hasattr(column, "cat"):
        values, codes, ordered = column.cat.categories, column.cat.codes, column.cat.ordered
    else:
        codes, values = _factorize(column)
        ordered = values.inferred_type in _TIMES

    numeric = values.inferred_type in _NUMBERS and values.is_monotonic_increasing
    numbers = values.to_numpy(dtype=float) if numeric else np.zeros(0)
    if not np.isfinite(numbers).all():
        raise ColumnError(f"{column.name!r} has infinite numbers: replace or remove them")
    values = np.array(values.tolist() + [None], dtype=object)[:-1]
    codes = np.array(codes, dtype=np.int32)
    absent, ordered = codes < 0, bool(ordered or numeric)
    if absent.any():
        numeric = False  # the missing value stands beside the numbers, which keep their order
        if MISSING not in values:
            values = np.append(values, MISSING)
        marked = np.flatnonzero(values == MISSING)[0]
        if (codes == marked).any():
            told = f"has missing values and values {MISSING!r}, as which they would be published"
            way = f"na=[{MISSING!r}] (--na {MISSING!r}), or rename the values"
            raise ColumnError(f"{column.name!r} {told}: {way}")
        ordered = bool(ordered and marked == len(values) - 1)
        codes[absent] = marked
    if numeric:  # as floats, identifiers near 2^60 are equal
        width = float(numbers[-1]) - float(numbers[0])
        in_reach = np.finfo(float).tiny < width < np.inf or len(values) == 1
        numeric = bool((np.diff(numbers) > 0).all() and in_reach)
    positions = numbers if numeric else np.arange(len(values), dtype=float)
    return Attribute(column.name, values, numeric, ordered, positions), codes


def _factorize(column: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """Sort the distinct values of a column; missing ones get code -1."""
    check_whole_texts(column)
    try:
        codes, values = pd.factorize(column, sort=False)
    except TypeError:
        told = f"{column.name!r} has lists, sets or dicts: convert them to text or numbers"
        raise ColumnError(told) from None
    values = pd.Index(values, dtype=values.dtype)
    if values.inferred_type == "datetime":
        values = values.infer_objects()
    try:
        order = np.argsort(values.to_numpy(), kind="stable")
    except TypeError:  # numbers mixed with text: sorted by how they are written
        order = np.argsort(np.array([str(value) for value in values]), kind="stable")
    return np.append(np.argsort(order), -1)[codes], values[order]


def check_whole_texts(column: pd.Series) -> None:
    """Raise ColumnError for bytes, and texts with NUL: pandas compares texts up to it only."""
    for value in column.array if column.dtype.kind == "O" else ():
        if isinstance(value, bytes) or (isinstance(value, str) and "\0" in value):
            raise ColumnError(f"{column.name!r}: {value!r} has bytes, or NUL: convert it to text")


def near_equal(values: Iterable) -> list[list[str]]:
    """Return the texts that differ only in case, spaces, points and hyphens within, in groups."""
    found: dict[str, list[str]] = {}
    for text in (value for value in values if isinstance(value, str)):
        plain = unicodedata.normalize("NFKC", text).casefold().strip()
        if not re.search(r"\d", plain):  # a point or a space in a number has a meaning
            plain = re.sub(r"[\s._']|(?<=\w)-(?=\w)", "", plain) or plain
        found.setdefault(plain, []).append(text)
    return [texts for texts in found.values() if len(texts) > 1]

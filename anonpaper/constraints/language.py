r"""Diversity constraints: how many published rows must, and may, carry certain values.

A constraint :math:`\sigma = (X[t], \lambda_l, \lambda_r)` holds for a release if at least
:math:`\lambda_l` and at most :math:`\lambda_r` of its rows carry the values t on the attributes X;
a suppressed or generalized value does not count. Constraints are written one a line, as in
``continent[Europe], 939, 2850`` or ``sex[Female] & race[Black], 20, 400``.

Source: diva2021 (M. Milani, Y. Huang, F. Chiang, *Preserving diversity in anonymized data*, EDBT
2021), Definition 2.3; the classes minimum, average and proportion after J. Stoyanovich, K. Yang,
H. Jagadish, *Online set selection with fairness and diversity constraints*, EDBT 2018. Neither
text prints the rules of the classes nor the conflict rate: those here follow the constraint lists
that the authors published, and where they are ours, the docstring says so.
"""

from __future__ import annotations

import csv
import difflib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.errors import (
    ConstraintError,
    FileError,
    ParameterError,
    check_integer,
    check_sequence,
)
from anonpaper.files import write_named
from anonpaper.microdata import Attribute, Microdata, check_microdata

__all__ = ["DiversityConstraint", "check_constraints", "read_constraints", "write_constraints"]


@dataclass(frozen=True)
class DiversityConstraint:
    """Bounds on the number of published rows that carry certain values.

    Parameters
    ----------
    target : mapping of attribute name to value
        X and t: one or several attributes, quasi-identifiers or the sensitive attribute, with the
        value that counts. Where the table has no such value but one that is written the same
        (39 for ``"39"``), that one is meant.
    low, high : int
        The fewest and the most rows, 0 <= low <= high.

    Raises
    ------
    ConstraintError
        The target is empty, a bound is negative, or low > high.
    ParameterError
        The target is no mapping or a bound no integer.

    Examples
    --------
    >>> asian = DiversityConstraint({"ETH": "Asian"}, 2, 5)
    >>> str(asian)
    'ETH[Asian], 2, 5'
    >>> DiversityConstraint.parse("ETH[Asian], 2, 5") == asian
    True
    """

    target: Mapping[object, object]
    low: int
    high: int

    def __post_init__(self) -> None:
        if not isinstance(self.target, Mapping):
            raise ParameterError(
                f"target must map attributes to values, as in {{'sex': 'Female'}}, "
                f"got {self.target!r}"
            )
        object.__setattr__(self, "target", dict(self.target))
        if not self.target:
            raise ConstraintError("a diversity constraint needs at least one target value")
        for name in ("low", "high"):
            value = getattr(self, name)
            if isinstance(value, (int, np.integer)) and value < 0:
                raise ConstraintError(f"{self._name()}: {name} is negative, {value}")
            object.__setattr__(self, name, check_integer(name, value, 0))
        if self.low > self.high:
            raise ConstraintError(
                f"{self._name()}: low exceeds high, {self.low} > {self.high}: no table has it"
            )

    def __hash__(self) -> int:
        return hash((frozenset(self.target.items()), self.low, self.high))

    # -- as text -----------------------------------------------------------------------

    def _name(self) -> str:
        return " & ".join(
            f"{_escape(name)}[{_escape(value)}]" for name, value in self.target.items()
        )

    def __str__(self) -> str:
        return f"{self._name()}, {self.low}, {self.high}"

    @classmethod
    def parse(cls, text: str) -> DiversityConstraint:
        r"""Read a constraint from its text form.

        Parameters
        ----------
        text : str
            Like ``sex[Female] & race[Black], 20, 400``; in names and values ``\`` stands before
            a bracket or backslash that is part of them. Values are read as text.

        Raises
        ------
        ConstraintError
            The text has another form, names an attribute twice, or the bounds are wrong.

        Examples
        --------
        >>> DiversityConstraint.parse("sex[Female] & race[Black], 20, 400").target
        {'sex': 'Female', 'race': 'Black'}
        """
        parts = re.fullmatch(r"\s*(.*\])\s*,\s*([+-]?\d+)\s*,\s*([+-]?\d+)\s*", text, re.DOTALL)
        targets = re.split(_BETWEEN_TARGETS, parts[1]) if parts else []
        pairs = [re.fullmatch(_ONE_TARGET, target, re.DOTALL) for target in targets]
        if not parts or not all(pairs):
            raise ConstraintError(
                f"{text!r} is not of the form attribute[value], low, high or "
                "attribute[value] & attribute[value], low, high"
            )
        target = {_unescape(pair[1]): _unescape(pair[2]) for pair in pairs}
        if len(target) < len(pairs):
            raise ConstraintError(f"{text!r} names an attribute twice")
        return cls(target, int(parts[2]), int(parts[3]))

    # -- on tables ---------------------------------------------------------------------

    def codes(self, m: Microdata) -> dict[object, int]:
        """Return the code of the target value of every target attribute.

        Raises
        ------
        ConstraintError
            A target attribute has no role in the table, or its domain lacks the value; the
            message suggests close ones.
        """
        known = [*m.qi, *m.sensitives]
        unknown = [name for name in self.target if name not in known]
        if unknown:
            raise ConstraintError(
                f"{self}: {unknown} are not among the quasi-identifiers and the sensitive "
                f"attribute, {known}"
            )
        return {
            name: _code_of(self, m.attribute(name), value) for name, value in self.target.items()
        }

    def target_rows(self, m: Microdata) -> np.ndarray:
        """Return which rows of a table carry the target values, shape (n,), dtype bool.

        Where equal rows are listed once, it is said of those listed.

        Examples
        --------
        >>> import anonpaper as ap
        >>> rows = DiversityConstraint({"Gender": "M"}, 0, 9).target_rows(ap.examples.hospital())
        >>> int(rows.sum())
        4
        """
        weights = check_microdata(m, weights=True).weights
        rows = np.ones(m.n if weights is None else len(weights), dtype=bool)
        for name, code in self.codes(m).items():
            rows &= m.codes_of(name) == code
        return rows

    def count(self, rel) -> int:
        """Return how many published rows carry the target values, from 0 to n.

        Examples
        --------
        >>> import anonpaper as ap
        >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
        >>> DiversityConstraint({"Education": "Bachelor"}, 0, 9).count(rel)
        4
        """
        m = rel.microdata
        carries = rel.is_published.copy()
        for name, code in self.codes(m).items():
            if name in m.sensitives:
                codes = rel.sensitive_codes if name == m.sensitive else m.codes_of(name)
                carries &= codes == code
            else:
                published = rel.published[m.attribute_index(name)]
                values = published.sub_domains
                carries[carries] = (values.is_kept & (values.low == code))[
                    published.index[carries]
                ]
        return m.count(carries)

    def holds(self, rel) -> bool:
        """Whether a release has at least `low` and at most `high` rows with the target values."""
        return self.low <= self.count(rel) <= self.high


def _code_of(constraint: DiversityConstraint, attribute: Attribute, value: object) -> int:
    matches = [code for code, known in enumerate(attribute.values) if known == value]
    if not matches:
        written = [str(known) for known in attribute.values]
        matches = [code for code, known in enumerate(written) if known == str(value)]
        if not matches:
            close = difflib.get_close_matches(str(value), written, n=3) or written[:5]
            raise ConstraintError(
                f"{constraint}: {value!r} is not in the domain of {attribute.name!r}, "
                f"which has {close}{' and others' if len(close) < len(written) else ''}"
            )
    return matches[0]


#: The & between two targets: after a bracket, and a name and a bracket follow.
_BETWEEN_TARGETS = r"(?<=\])\s*&\s*(?=[^\[\]]*(?:\\.[^\[\]]*)*\[)"
#: name[value], where a backslash stands before brackets and backslashes that belong to them.
_ONE_TARGET = r"((?:[^\[\]\\]|\\.)+)\[((?:[^\[\]\\]|\\.)*)\]"


def _escape(text: object) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", str(text))


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text.strip(), flags=re.DOTALL)


def check_constraints(rel, constraints: Iterable[DiversityConstraint]) -> pd.DataFrame:
    """Say of every constraint whether a release satisfies it.

    Parameters
    ----------
    rel : Release
    constraints : iterable of DiversityConstraint

    Returns
    -------
    pandas.DataFrame
        One row per constraint: ``constraint`` (its target as text), ``low``, ``high``,
        ``in_table`` and ``published`` (rows with the target values), ``holds``.

    Examples
    --------
    >>> import anonpaper as ap
    >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
    >>> check_constraints(rel, [DiversityConstraint({"Education": "Master"}, 1, 2)])
              constraint  low  high  in_table  published  holds
    0  Education[Master]    1     2         2          0  False
    """
    columns = ["constraint", "low", "high", "in_table", "published", "holds"]
    rows = []
    if not hasattr(rel, "is_published"):
        raise ParameterError(f"expected a Release, got {type(rel).__name__}")
    for c in check_sequence("constraints", constraints, DiversityConstraint):
        published = c.count(rel)
        in_table = rel.microdata.count(c.target_rows(rel.microdata))
        rows.append((c._name(), c.low, c.high, in_table, published, c.low <= published <= c.high))
    return pd.DataFrame(rows, columns=columns)


# -- files -----------------------------------------------------------------------------------


def read_constraints(path: str | os.PathLike) -> list[DiversityConstraint]:
    """Read a file of constraints: lines, or by its ending a csv or JSON.

    Parameters
    ----------
    path : path
        One constraint a line, of which blank ones and those that begin with # are skipped. In a
        .csv the columns are attributes, ``low`` and ``high``, an empty field is an attribute
        that does not count; a .json is a list of objects with ``target``, ``low`` and ``high``.

    Raises
    ------
    ConstraintError
        A constraint has another form; the message names the file.
    FileError
        The file is not there, or not of the form that its ending says.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "constraints.txt")
    >>> write_constraints(path, [DiversityConstraint({"sex": "Female"}, 20, 400)])
    >>> [str(constraint) for constraint in read_constraints(path)]
    ['sex[Female], 20, 400']
    """
    ending = str(path).lower()
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
        if ending.endswith((".json", ".csv")):
            parts = _of_json(lines) if ending.endswith(".json") else _of_csv(lines)
            return [DiversityConstraint(*part) for part in parts]
    except ConstraintError as error:
        raise ConstraintError(f"{path}: {error}") from None
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError, OSError) as error:
        reason = getattr(error, "strerror", None) or repr(error)
        form = " (a list of objects with target, low and high)" * ending.endswith(".json")
        raise FileError(f"{path} is no file of constraints{form}: {reason}") from None
    found = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                found.append(DiversityConstraint.parse(line))
            except ConstraintError as error:
                raise ConstraintError(f"{path}, line {number}: {error}") from None
    return found


def _of_json(lines: list[str]) -> list[tuple]:
    return [(entry["target"], entry["low"], entry["high"]) for entry in json.loads("".join(lines))]


def _of_csv(lines: list[str]) -> list[tuple]:
    rows = list(csv.DictReader(lines, strict=True))
    return [
        (
            {name: text for name, text in row.items() if name not in ("low", "high") and text},
            int(row["low"]),
            int(row["high"]),
        )
        for row in rows
    ]


def write_constraints(
    path: str | os.PathLike, constraints: Iterable[DiversityConstraint], comment: str = ""
) -> None:
    """Write constraints to a file, one a line, below a comment; the file appears whole.

    Parameters
    ----------
    path : path
    constraints : iterable of DiversityConstraint
    comment : str
        Text for the head of the file; every line gets a # in front.
    """
    constraints = check_sequence("constraints", constraints, DiversityConstraint)
    lines = [f"# {line}".rstrip() for line in str(comment).splitlines()]
    lines += [str(constraint) for constraint in constraints]
    write_named(path, "\n".join(lines) + "\n")

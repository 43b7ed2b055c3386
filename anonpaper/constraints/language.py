r"""Diversity constraints: how many published rows must, and may, carry certain values.

A constraint :math:`\sigma = (X[t], \lambda_l, \lambda_r)` holds if at least :math:`\lambda_l` and
at most :math:`\lambda_r` rows of a release show the values t on the attributes X. Source:
diva2021, Definition 2.3.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.files import named_by_user
from anonpaper.microdata import Microdata, check_microdata

__all__ = ["DiversityConstraint", "check_constraints", "read_constraints"]


@dataclass(frozen=True)
class DiversityConstraint:
    """Bounds on the number of published rows that carry certain values.

    Parameters
    ----------
    target : mapping of attribute name to value
        One or several quasi-identifiers or sensitive attributes with the value to count, which may
        be another value written the same (39 for ``"39"``).
    low, high : int
        The least and largest number of rows, 0 <= low <= high. ConstraintError for other bounds or
        an empty target, ParameterError for another type.

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
            wanted = "target must map attributes to values, as in {'sex': 'Female'}"
            raise errors.ParameterError(f"{wanted}, got {self.target!r}")
        object.__setattr__(self, "target", dict(self.target))
        for name in ("low", "high"):
            value = errors.check_integer(name, getattr(self, name), -(2**63))
            object.__setattr__(self, name, value)
        wrong = "at least one target value is needed" if not self.target else ""
        if self.low < 0:
            wrong = f"low is negative, {self.low}"
        elif self.low > self.high:
            wrong = f"low {self.low} exceeds high {self.high}"
        if wrong:
            raise errors.ConstraintError(f"{self._name() or 'a constraint'}: {wrong}")

    def __hash__(self) -> int:
        return hash((frozenset(self.target.items()), self.low, self.high))

    def _name(self) -> str:
        return " & ".join(f"{_escape(n)}[{_escape(v)}]" for n, v in self.target.items())

    def __str__(self) -> str:
        return f"{self._name()}, {self.low}, {self.high}"

    @classmethod
    def parse(cls, text: str) -> DiversityConstraint:
        r"""Read a constraint such as ``sex[Female] & race[Black], 20, 400``, values as text.

        In names and values, write ``\`` before brackets and backslashes. ConstraintError for
        another form, an attribute named twice, or wrong bounds.

        Examples
        --------
        >>> DiversityConstraint.parse("sex[Female] & race[Black], 20, 400").target
        {'sex': 'Female', 'race': 'Black'}
        """
        parts = re.fullmatch(r"\s*(.*\])\s*,\s*([+-]?\d+)\s*,\s*([+-]?\d+)\s*", text, re.DOTALL)
        targets = re.split(_BETWEEN_TARGETS, parts[1]) if parts else []
        pairs = [re.fullmatch(_ONE_TARGET, target, re.DOTALL) for target in targets]
        if not parts or not all(pairs):
            raise errors.ConstraintError(
                f"{text!r} is not of the form attribute[value], low, high or "
                "attribute[value] & attribute[value], low, high"
            )
        target = {_unescape(pair[1]): _unescape(pair[2]) for pair in pairs}
        if len(target) < len(pairs):
            raise errors.ConstraintError(f"{text!r} names an attribute twice")
        return cls(target, int(parts[2]), int(parts[3]))

    def codes(self, m: Microdata) -> dict[object, int]:
        """Return the code of every target value; ConstraintError suggests similar values."""
        known = [*m.qi, *m.sensitives]
        unknown = [name for name in self.target if name not in known]
        if unknown:
            raise errors.ConstraintError(
                f"{self}: {unknown} are not among the quasi-identifiers and "
                f"sensitive columns {known}"
            )
        found = {}
        for name, value in self.target.items():
            values = m.attribute(name).values.tolist()
            texts = [*map(str, values)]
            if errors.is_among(value, values):
                found[name] = values.index(value)
            elif str(value) in texts:
                found[name] = texts.index(str(value))
            else:
                close = difflib.get_close_matches(str(value), texts, n=3) or texts[:5]
                others = " and others" if len(close) < len(texts) else ""
                raise errors.ConstraintError(
                    f"{self}: {value!r} is not in the domain of {name!r}, "
                    f"which has {close}{others}"
                )
        return found

    def target_rows(self, m: Microdata) -> np.ndarray:
        """Return which rows carry the target values, shape (n,), dtype bool."""
        return self.target_cells(m)[m.cells.cell_of_row]

    def target_cells(self, m: Microdata) -> np.ndarray:
        """Return which cells of the table carry the target values, shape (e,), dtype bool."""
        carries = np.ones(len(check_microdata(m).cells.counts), bool)
        for name, code in self.codes(m).items():
            carries &= m.codes_of_cells(name) == code
        return carries

    def count(self, rel) -> int:
        """Return the number of published rows that carry the target values, from 0 to n."""
        m, carries = rel.microdata, rel.shown.copy()
        for name, code in self.codes(m).items():
            if name in m.sensitives:
                codes = rel.secrets if name == m.sensitive else rel.entries.codes_of(name)
                carries &= codes == code
            else:
                published = rel.published[m.attribute_index(name)]
                values = published.sub_domains
                shown = values.is_kept & (values.low == code)
                carries[carries] = shown[published.index[carries]]
        return rel.entries.rows(carries)

    def holds(self, rel) -> bool:
        """Whether a release has at least `low` and at most `high` rows with the target values."""
        return self.low <= self.count(rel) <= self.high


#: The & between two targets: after a bracket, before a name and a bracket.
_BETWEEN_TARGETS = r"(?<=\])\s*&\s*(?=[^\[\]]*(?:\\.[^\[\]]*)*\[)"
#: name[value], with a backslash before brackets and backslashes inside either.
_ONE_TARGET = r"((?:[^\[\]\\]|\\.)+)\[((?:[^\[\]\\]|\\.)*)\]"


def _escape(text: object) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", str(text))


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text.strip(), flags=re.DOTALL)


def check_constraints(rel, constraints: Iterable[DiversityConstraint]) -> pd.DataFrame:
    """Return whether a release satisfies constraints, one row per constraint.

    Columns are ``constraint`` (its target as text), ``low``, ``high``, ``in_table`` and
    ``published`` (numbers of rows with the target values), and ``holds``.

    Examples
    --------
    >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
    >>> check_constraints(rel, [DiversityConstraint({"Education": "Master"}, 1, 2)])
              constraint  low  high  in_table  published  holds
    0  Education[Master]    1     2         2          0  False
    """
    columns, rows = ["constraint", "low", "high", "in_table", "published", "holds"], []
    if not hasattr(rel, "published"):
        raise errors.ParameterError(f"expected a Release, got {type(rel).__name__}")
    for c in errors.check_sequence("constraints", constraints, DiversityConstraint):
        published = c.count(rel)
        m = rel.microdata
        in_table = int(m.cells.counts[c.target_cells(m)].sum())
        rows.append((c._name(), c.low, c.high, in_table, published, c.low <= published <= c.high))
    return pd.DataFrame(rows, columns=columns)


def read_constraints(path: str | os.PathLike) -> list[DiversityConstraint]:
    """Read a file of constraints, one a line, except blank lines and lines that begin with #.

    ConstraintError or FileError, with the file's name, for another form.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "constraints.txt")
    >>> _ = path.write_text("sex[Female], 20, 400")
    >>> [str(constraint) for constraint in read_constraints(path)]
    ['sex[Female], 20, 400']
    """
    with named_by_user(path):
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    found = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                found.append(DiversityConstraint.parse(line))
            except errors.ConstraintError as error:
                raise errors.ConstraintError(f"{path}, line {number}: {error}") from None
    return found

r"""Diversity constraints: how many published rows must, and may, carry certain values.

A constraint :math:`\sigma = (X[t], \lambda_l, \lambda_r)` holds if :math:`\lambda_l` to
:math:`\lambda_r` rows of a release show the values t on the attributes X (diva2021, Def. 2.3).
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, compress
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.cells import distinct
from anonpaper.files import named_by_user
from anonpaper.microdata import Microdata, check_microdata

__all__ = [
    "DiversityConstraint", "average_constraints", "check_constraints", "find_contradictions",
    "minimum_constraints", "proportion_constraints", "read_constraints",
]  # fmt: skip


#: name[value], with a backslash before special characters inside either.
_TARGET = r"((?:[^\[\]\\&]|\\.)+)\[((?:[^\[\]\\]|\\.)*)\]"


def _escape(text: object, special: str = "") -> str:
    return re.sub(rf"([\[\]\\{special}])", r"\\\1", str(text))


@dataclass(frozen=True)
class DiversityConstraint:
    """Bounds on the number of published rows that carry certain values.

    `target` maps quasi-identifiers or sensitive attributes to the value to count, or one written
    the same (39 for ``"39"``). 0 <= `low` <= `high` are numbers of rows; else ParameterError.

    >>> print(DiversityConstraint({"ETH": "Asian"}, 2, 5))
    ETH[Asian], 2, 5
    """

    target: Mapping[object, object]
    low: int
    high: int

    def __post_init__(self) -> None:
        if not isinstance(self.target, Mapping) or not self.target:
            wanted = "target must map attributes to values, as in {'sex': 'Female'}"
            raise errors.ParameterError(f"{wanted}, got {self.target!r}")
        low = errors.check_integer("low", self.low, 0)
        high = errors.check_integer("high", self.high, low)
        vars(self).update(target=dict(self.target), low=low, high=high)

    def _name(self) -> str:
        return " & ".join(f"{_escape(n, '&')}[{_escape(v)}]" for n, v in self.target.items())

    def __str__(self) -> str:
        return f"{self._name()}, {self.low}, {self.high}"

    @classmethod
    def parse(cls, text: str) -> DiversityConstraint:
        r"""Read a constraint such as ``sex[Female] & race[Black], 20, 400``, values as text.

        In names and values, write ``\`` before brackets and backslashes, in names also before
        ``&``. ConstraintError for another form or an attribute named twice.

        >>> DiversityConstraint.parse("sex[Female] & race[Black], 20, 400").target
        {'sex': 'Female', 'race': 'Black'}
        """
        form = rf"\s*{_TARGET}(?:\s*&{_TARGET})*\s*,\s*(\d+)\s*,\s*(\d+)\s*"
        whole = re.fullmatch(form, text, re.DOTALL)
        pairs = re.findall(_TARGET, text, re.DOTALL) if whole else []
        plain = [[re.sub(r"(?s)\\(.)", r"\1", one.strip()) for one in pair] for pair in pairs]
        target = dict(plain)
        if not whole or len(target) < len(pairs):
            wanted = "attribute[value], low, high or attribute[value] & another[value], low, high"
            raise errors.ConstraintError(f"{text!r} is not of the form {wanted}")
        return cls(target, *map(int, whole.groups()[-2:]))

    def codes(self, m: Microdata) -> dict[object, int]:
        """Return the code of every target value; ConstraintError suggests similar values."""
        known, found = [*m.qi, *m.sensitives], {}
        for name, value in self.target.items():
            if name not in known:
                wanted = f"among the quasi-identifiers and sensitive columns {known}"
                raise errors.ConstraintError(f"{self}: {name!r} is not {wanted}")
            texts = [*map(str, m.attribute(name).values.tolist())]
            if str(value) not in texts:
                close = difflib.get_close_matches(str(value), texts, n=3, cutoff=0)
                wanted = f"{name!r}, whose {len(texts)} values have {close} as the closest"
                raise errors.ConstraintError(f"{self}: {value!r} is not in the domain of {wanted}")
            found[name] = texts.index(str(value))
        return found

    def target_rows(self, m: Microdata) -> np.ndarray:
        """Return which rows carry the target values, shape (n,), dtype bool."""
        return self.target_cells(m)[m.cells.cell_of_row]

    def target_cells(self, m: Microdata) -> np.ndarray:
        """Return which cells of the table carry the target values, shape (e,), dtype bool."""
        codes = self.codes(check_microdata(m)).items()
        return np.all([m.codes_of_cells(name) == code for name, code in codes], axis=0)

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
        """Whether a release has `low` to `high` rows with the target values."""
        return self.low <= self.count(rel) <= self.high


def check_constraints(rel, constraints: Iterable[DiversityConstraint]) -> pd.DataFrame:
    """Return whether a release satisfies constraints, one row per constraint.

    ``in_table`` and ``published`` are numbers of rows with the target values.

    >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
    >>> check_constraints(rel, [DiversityConstraint({"Education": "Master"}, 1, 2)])
              constraint  low  high  in_table  published  holds
    0  Education[Master]    1     2         2          0  False
    """
    if not hasattr(rel, "published"):
        raise errors.ParameterError(f"expected a Release, got {type(rel).__name__}")
    m, counts = rel.microdata, rel.microdata.cells.counts
    rows = [
        (c._name(), c.low, c.high, counts[c.target_cells(m)].sum(), c.count(rel), c.holds(rel))
        for c in errors.check_sequence("constraints", constraints, DiversityConstraint)
    ]
    columns = ["constraint", "low", "high", "in_table", "published", "holds"]
    return pd.DataFrame(rows, columns=columns)


def read_constraints(path: str | os.PathLike) -> list[DiversityConstraint]:
    """Read constraints, one a line of a file, skipping blank lines and lines that begin with #."""
    with named_by_user(path):
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip() and not line.lstrip().startswith("#"):
                found.append(DiversityConstraint.parse(line))
        except errors.AnonpaperError as error:
            raise errors.ConstraintError(f"{path}, line {number}: {error}") from None
    return found


def find_contradictions(m: Microdata, constraints: Sequence, k: int) -> list[str]:
    """Find quickly, before any search, constraints that no k-anonymous suppression satisfies.

    Suppression creates no values and keeps sensitive ones (diva2021, Definitions 2.3 and 2.4). An
    empty list proves nothing: :func:`anonpaper.diva` decides. ConstraintError for an unknown
    attribute or value. O(n) per constraint.

    >>> sigma = [DiversityConstraint({"Gender": "M"}, 5, 9)]
    >>> print(*find_contradictions(ap.examples.hospital(), sigma, k=2))
    Gender[M], 5, 9: only 4 rows of the table carry the target
    """
    k = errors.check_integer("k", k, 1, check_microdata(m).n)
    found, constraints = [], errors.check_sequence("constraints", constraints, DiversityConstraint)
    for c in constraints:
        exist, secret = m.cells.counts[c.target_cells(m)].sum(), {*c.target} & {*m.sensitives}
        fixed, least = len(secret) == len(c.target), k if c.low > 0 and not secret else 0
        groups = f"values are published in groups of k = {k} rows or more, or not at all"
        cases = {
            f"only {exist} rows of the table carry the target": c.low > exist,
            f"{exist} rows carry it, and suppression does not hide it": fixed and exist > c.high,
            f"only {exist} rows carry the target, fewer than k = {k}": exist < least,
            groups: c.high < least,
        }
        found += [f"{c}: {text}" for text, applies in cases.items() if applies][:1]
    for c, other in combinations(constraints, 2):
        apart = max(c.low, other.low) > min(c.high, other.high)
        if apart and c.codes(m) == other.codes(m):
            found.append(f"{c} and {other}: the bounds exclude each other")
    return found


# -- rules that make sets of constraints ---------------------------------------------------------
#
# The classes are as in J. Stoyanovich, K. Yang, H. Jagadish, *Online set selection with fairness
# and diversity constraints*, EDBT 2018. No paper prints their rules: these follow the lists that
# the authors of diva2021 published. An attribute has d values that occur, each c times.


def minimum_constraints(
    m: Microdata, attributes: Sequence, total: int | None = None, without: Sequence = ()
) -> list[DiversityConstraint]:
    """Require at least one row of every value: ``[1, min(c, M - (d - 1))]``, *minimum frequency*.

    Every other value keeps room for one row. The published lists have [1, 1], except for the most
    frequent value: on a quasi-identifier, no k-anonymous table satisfies them. The values of
    `attributes` become targets, a tuple of names gives joint values, without those in `without`.
    `total` is M, the rows that must keep a value, from the number of values to n (the default).

    >>> [str(c) for c in minimum_constraints(ap.examples.hospital(), ["Gender"])]
    ['Gender[F], 1, 6', 'Gender[M], 1, 4']
    """
    return _constraints(
        m, attributes, total, without, 0.0, lambda c, M: (np.ones_like(c), M - (len(c) - 1))
    )


def average_constraints(
    m: Microdata, attributes: Sequence, total: int | None = None, without: Sequence = (), slack=0.0
) -> list[DiversityConstraint]:
    """Require equally many rows of every value: ``low = min(floor(M / d), c)``, *average*.

    The upper bound is up to ``1 + slack`` times the lower one and at most c, and for the most
    frequent value at least M minus the other lower bounds. See :func:`minimum_constraints`.

    >>> [str(c) for c in average_constraints(ap.examples.hospital(), ["Education"], total=8)]
    ['Education[High school], 2, 2', 'Education[Bachelor], 2, 4', 'Education[Master], 2, 2']
    """

    def bounds(c: np.ndarray, total: int) -> tuple:
        low = np.minimum(total // len(c), c)
        return low, (total - low.sum() + low) * (np.arange(len(c)) == c.argmax())

    return _constraints(m, attributes, total, without, slack, bounds)


def proportion_constraints(
    m: Microdata, attributes: Sequence, total: int | None = None, without: Sequence = (), slack=0.0
) -> list[DiversityConstraint]:
    """Require every value's share of M: ``low = floor(M * c / n)``, *proportional representation*.

    Values whose share is below one row are omitted. See :func:`average_constraints`.

    >>> [str(c) for c in proportion_constraints(ap.examples.hospital(), ["Gender"], total=5)]
    ['Gender[F], 3, 3', 'Gender[M], 2, 2']
    """
    found = _constraints(m, attributes, total, without, slack, lambda c, M: (M * c // m.n, 0))
    return [c for c in found if c.low > 0]


def _constraints(m, attributes, total, without, slack, bounds: Callable) -> list:
    """Constrain values to `bounds` of their counts and M: low, and the least high."""
    check_microdata(m)
    slack, found = errors.check_number("slack", slack, 0, np.inf), []
    without = errors.check_sequence("without", without)
    for entry in errors.check_sequence("attributes", attributes):
        names = list(entry) if isinstance(entry, tuple) else [entry]
        domains, codes = [m.attribute(of) for of in names], [m.codes_of_cells(of) for of in names]
        _, first, counts = distinct(codes, [a.size for a in domains], m.cells.counts)
        columns = [a.values[of[first]] for a, of in zip(domains, codes, strict=True)]
        joint = [*zip(*columns, strict=True)]
        wanted = [not any(errors.is_among(v, without) for v in values) for values in joint]
        c = counts[wanted]
        here = m.n if total is None else errors.check_integer("total", total, len(c), m.n)
        low, least = bounds(c, here)
        high = np.minimum(np.maximum(np.floor((1 + slack) * low).astype(int), least), c)
        targets = (dict(zip(names, values, strict=True)) for values in compress(joint, wanted))
        found += map(DiversityConstraint, targets, low, high)
    return found

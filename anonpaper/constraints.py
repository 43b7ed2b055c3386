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

import difflib
import os
import re
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.errors import ConstraintError, ParameterError, check_integer, check_number
from anonpaper.microdata import Attribute, Microdata

__all__ = [
    "Contradiction",
    "DiversityConstraint",
    "average_constraints",
    "check_constraints",
    "conflict_rate",
    "find_contradictions",
    "minimum_constraints",
    "proportion_constraints",
    "read_constraints",
    "require_satisfiable",
    "write_constraints",
]


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
        known = [*m.qi] if m.sensitive is None else [*m.qi, m.sensitive]
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

        Examples
        --------
        >>> import anonpaper as ap
        >>> rows = DiversityConstraint({"Gender": "M"}, 0, 9).target_rows(ap.examples.hospital())
        >>> int(rows.sum())
        4
        """
        rows = np.ones(m.n, dtype=bool)
        for name, code in self.codes(m).items():
            of_rows = (
                m.sensitive_codes
                if m.sensitive is not None and name == m.sensitive
                else m.codes[:, m.attribute_index(name)]
            )
            rows &= of_rows == code
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
            if m.sensitive is not None and name == m.sensitive:
                carries &= rel.sensitive_codes == code
            else:
                published = rel.published[m.attribute_index(name)]
                says_so = (published.sizes == 1) & published.members[:, code]
                carries &= says_so[published.index]
        return int(np.count_nonzero(carries))

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
    for c in constraints:
        published = c.count(rel)
        in_table = int(c.target_rows(rel.microdata).sum())
        rows.append((c._name(), c.low, c.high, in_table, published, c.low <= published <= c.high))
    return pd.DataFrame(rows, columns=columns)


# -- files -----------------------------------------------------------------------------------


def read_constraints(path: str | os.PathLike) -> list[DiversityConstraint]:
    """Read a file of constraints, one a line; blank lines and lines that begin with # are skipped.

    Raises
    ------
    ConstraintError
        A line has another form; the message names file and line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "constraints.txt")
    >>> write_constraints(path, [DiversityConstraint({"sex": "Female"}, 20, 400)])
    >>> [str(constraint) for constraint in read_constraints(path)]
    ['sex[Female], 20, 400']
    """
    found = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                found.append(DiversityConstraint.parse(line))
            except ConstraintError as error:
                raise ConstraintError(f"{path}, line {number}: {error}") from None
    return found


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
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines += [str(constraint) for constraint in constraints]
    path = Path(path)
    handle, unfinished = tempfile.mkstemp(dir=path.parent, suffix=".unfinished")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(lines) + "\n")
        os.replace(unfinished, path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise


# -- the three classes -----------------------------------------------------------------------


def minimum_constraints(
    m: Microdata, attributes: Sequence, total: int | None = None, without: Collection = ()
) -> list[DiversityConstraint]:
    """Ask for at least one row of every value: the class *minimum frequency*.

    Parameters
    ----------
    m : Microdata
        The table, n rows.
    attributes : sequence
        Attributes whose values become targets; a tuple of names gives their joint values.
    total : int, optional
        M, the number of rows that shall keep a value of the attribute, from the number of its
        values to n; n where left out.
    without : collection, optional
        Values that are no targets, such as those that stand for "unknown".

    Returns
    -------
    list of DiversityConstraint
        ``[1, min(c, M - (d - 1))]`` for each of the d values that occur, c times each: every other
        value keeps room for one row. In the order of the domain.

    Notes
    -----
    The published lists have [1, 1] for all but the most frequent value, which no k-anonymous table
    with k >= 2 satisfies on a quasi-identifier; the upper bound is therefore the largest one that
    the rule leaves room for.

    Examples
    --------
    >>> import anonpaper as ap
    >>> [str(c) for c in minimum_constraints(ap.examples.hospital(), ["Gender"])]
    ['Gender[F], 1, 6', 'Gender[M], 1, 4']
    """
    found = []
    for names, targets, counts, total_here in _values(m, attributes, total, without):
        room = total_here - (len(counts) - 1)
        found += [
            DiversityConstraint(dict(zip(names, target, strict=True)), 1, min(count, room))
            for target, count in zip(targets, counts, strict=True)
        ]
    return found


def average_constraints(
    m: Microdata,
    attributes: Sequence,
    total: int | None = None,
    without: Collection = (),
    slack: float = 0.0,
) -> list[DiversityConstraint]:
    """Ask for equally many rows of every value: the class *average*.

    Parameters
    ----------
    m, attributes, total, without
        As for :func:`minimum_constraints`.
    slack : float
        How far the upper bound may lie above the lower one, as a share of it, at least 0.

    Returns
    -------
    list of DiversityConstraint
        ``low = min(floor(M / d), c)`` for each of the d values that occur, c times each, and
        ``high = low``, but for the most frequent value, whose upper bound is what the other lower
        bounds leave of M; none exceeds c.

    Examples
    --------
    >>> import anonpaper as ap
    >>> [str(c) for c in average_constraints(ap.examples.hospital(), ["Education"], total=8)]
    ['Education[High school], 2, 2', 'Education[Bachelor], 2, 4', 'Education[Master], 2, 2']
    """
    slack = check_number("slack", slack, 0, np.inf)
    found = []
    for names, targets, counts, total_here in _values(m, attributes, total, without):
        low = np.minimum(total_here // len(counts), counts)
        high = np.floor((1 + slack) * low).astype(int)
        most_frequent = int(np.argmax(counts))
        rest = total_here - (low.sum() - low[most_frequent])
        high[most_frequent] = max(high[most_frequent], rest)
        high = np.minimum(high, counts)
        found += _bounded(names, targets, low, high)
    return found


def proportion_constraints(
    m: Microdata,
    attributes: Sequence,
    total: int | None = None,
    without: Collection = (),
    slack: float = 0.0,
) -> list[DiversityConstraint]:
    """Ask for every value's share of the rows: the class *proportional representation*.

    Parameters
    ----------
    m, attributes, total, without, slack
        As for :func:`average_constraints`.

    Returns
    -------
    list of DiversityConstraint
        ``low = floor(M * c / n)`` for each value that occurs, c times, and ``high = low``, or by
        the slack more, at most c. Values whose share of M is below one row are left out.

    Examples
    --------
    >>> import anonpaper as ap
    >>> [str(c) for c in proportion_constraints(ap.examples.hospital(), ["Gender"], total=5)]
    ['Gender[F], 3, 3', 'Gender[M], 2, 2']
    """
    slack = check_number("slack", slack, 0, np.inf)
    found = []
    for names, targets, counts, total_here in _values(m, attributes, total, without):
        low = total_here * counts // m.n
        high = np.minimum(np.floor((1 + slack) * low).astype(int), counts)
        found += [c for c in _bounded(names, targets, low, high) if c.low > 0]
    return found


def _bounded(names, targets, low, high) -> list[DiversityConstraint]:
    return [
        DiversityConstraint(dict(zip(names, target, strict=True)), int(lo), int(hi))
        for target, lo, hi in zip(targets, low, high, strict=True)
    ]


def _values(m: Microdata, attributes: Sequence, total: int | None, without: Collection):
    """Yield the names of each entry of `attributes`, its targets, their counts, and M."""
    if isinstance(attributes, (str, bytes)) or not isinstance(attributes, Iterable):
        raise ParameterError(f"attributes must be a sequence of names, got {attributes!r}")
    for entry in attributes:
        names = list(entry) if isinstance(entry, tuple) else [entry]
        domains = [m.attribute(name) for name in names]
        columns = np.column_stack(
            [
                m.sensitive_codes
                if m.sensitive is not None and name == m.sensitive
                else m.codes[:, m.attribute_index(name)]
                for name in names
            ]
        )
        codes, counts = np.unique(columns, axis=0, return_counts=True)
        targets = [
            [domain.values[code] for domain, code in zip(domains, row, strict=True)]
            for row in codes
        ]
        wanted = [not any(value in without for value in target) for target in targets]
        targets = [target for target, keep in zip(targets, wanted, strict=True) if keep]
        counts = counts[wanted]
        here = m.n if total is None else check_integer("total", total, len(counts), m.n)
        yield names, targets, counts, here


# -- conflicts -------------------------------------------------------------------------------


def conflict_rate(
    m: Microdata, constraints: Sequence[DiversityConstraint], of: str = "rows"
) -> float:
    r"""Measure how much the target rows of a set of constraints overlap, from 0 to 1.

    Parameters
    ----------
    m : Microdata
    constraints : sequence of DiversityConstraint
    of : {"rows", "jaccard", "containment"}
        ``"rows"``: rows that are targets of at least two constraints, as a share of the rows that
        are targets of any. ``"jaccard"`` and ``"containment"``: the mean over all pairs of
        :math:`|I \cap J| / |I \cup J|` and :math:`|I \cap J| / \min(|I|, |J|)`.

    Returns
    -------
    float
        0 if no two targets overlap. Of "rows", 1 if every target row is claimed twice.

    Notes
    -----
    diva2021 defines the rate of a pair as the number of overlapping relevant tuples, extends it to
    sets and norms it to [0, 1], without a formula; these three are ours. For a pair "rows" is
    "jaccard".

    Examples
    --------
    >>> import anonpaper as ap
    >>> conflict_rate(ap.examples.patients(), ap.examples.patients_constraints())
    0.5
    """
    if of not in ("rows", "jaccard", "containment"):
        raise ParameterError(f'of must be "rows", "jaccard" or "containment", got {of!r}')
    targets = np.array([c.target_rows(m) for c in constraints]).reshape(len(constraints), m.n)
    claims = targets.sum(axis=0)
    if of == "rows":
        return float(np.count_nonzero(claims >= 2) / max(np.count_nonzero(claims), 1))
    rates = [0.0]
    for i, j in combinations(range(len(targets)), 2):
        common = np.count_nonzero(targets[i] & targets[j])
        union = np.count_nonzero(targets[i] | targets[j])
        smaller = min(np.count_nonzero(targets[i]), np.count_nonzero(targets[j]))
        rates.append(common / max(union if of == "jaccard" else smaller, 1))
    return float(sum(rates) / max(len(rates) - 1, 1))


@dataclass(frozen=True)
class Contradiction:
    """Why some constraints cannot be satisfied together.

    Attributes
    ----------
    culprits : tuple of DiversityConstraint
        One constraint, or the smallest number that the argument needs.
    reason : str
        The argument, as a sentence.
    """

    culprits: tuple[DiversityConstraint, ...]
    reason: str

    def __str__(self) -> str:
        return f"{' and '.join(str(culprit) for culprit in self.culprits)}: {self.reason}"


def find_contradictions(
    m: Microdata, constraints: Sequence[DiversityConstraint], k: int
) -> list[Contradiction]:
    """Test quickly, before any search, what no k-anonymous suppression of a table can satisfy.

    Parameters
    ----------
    m : Microdata
        The table, n rows.
    constraints : sequence of DiversityConstraint
    k : int
        Smallest group size, from 1 to n.

    Returns
    -------
    list of Contradiction
        Empty if nothing was found, which does not prove that a solution exists:
        :func:`~anonpaper.partition.diva.diva` decides that.

    Raises
    ------
    ConstraintError
        A target names an unknown attribute or value.

    Notes
    -----
    Suppression creates no values, leaves the sensitive attribute as it is, and publishes
    quasi-identifiers in groups of k rows or more; so

    1. a lower bound cannot exceed the rows that exist;
    2. on quasi-identifiers the published number is 0 or at least k;
    3. on the sensitive attribute alone, or on attributes of a single value, which suppression
       does not hide, it is the number that exists;
    4. one target has one pair of bounds;
    5. rows that carry a finer target carry the coarser one too, so the lower bounds of finer
       targets that exclude each other cannot exceed the coarser one's upper bound.

    O(n) per constraint and O(s^2) for s constraints.

    References
    ----------
    diva2021, Definitions 2.3 and 2.4; the rules are ours.

    Examples
    --------
    >>> import anonpaper as ap
    >>> sigma = [DiversityConstraint({"Gender": "M"}, 5, 9)]
    >>> print(*find_contradictions(ap.examples.hospital(), sigma, k=2))
    Gender[M], 5, 9: only 4 rows of the table carry the target
    """
    k = check_integer("k", k, 1, m.n)
    constraints = list(constraints)
    found: list[Contradiction] = []
    for c in constraints:
        exist = int(np.count_nonzero(c.target_rows(m)))
        on_sensitive = m.sensitive is not None and m.sensitive in c.target
        can_be_hidden = any(
            name != m.sensitive and m.attribute(name).size > 1 for name in c.target
        )
        if c.low > exist:
            found.append(Contradiction((c,), f"only {exist} rows of the table carry the target"))
        elif not can_be_hidden and exist > c.high:
            reason = f"{exist} rows carry it, and suppression does not hide it"
            found.append(Contradiction((c,), reason))
        elif on_sensitive or not can_be_hidden:
            continue
        elif c.low > 0 and exist < k:
            reason = f"only {exist} rows carry the target, fewer than k = {k}"
            found.append(Contradiction((c,), reason))
        elif c.low > 0 and c.high < k:
            reason = f"values are published in groups of k = {k} rows or more, or not at all"
            found.append(Contradiction((c,), reason))
    return found + _between(m, constraints)


def _between(m: Microdata, constraints: list[DiversityConstraint]) -> list[Contradiction]:
    """Find targets that stand twice, and finer ones that need more than a coarser one allows."""
    found = []
    targets = [frozenset(c.codes(m).items()) for c in constraints]
    for i, j in combinations(range(len(constraints)), 2):
        if targets[i] == targets[j]:
            first, second = constraints[i], constraints[j]
            low, high = max(first.low, second.low), min(first.high, second.high)
            reason = (
                "the same target is bounded twice"
                + (f"; both together are [{low}, {high}]" if low <= high else "")
                + ("; the bounds exclude each other" if low > high else "")
            )
            found.append(Contradiction((first, second), reason))
    for i, coarse in enumerate(constraints):
        finer: dict[frozenset, list[int]] = {}
        for j, target in enumerate(targets):
            if targets[i] < target:
                finer.setdefault(frozenset(name for name, _ in target), []).append(j)
        for group in finer.values():
            distinct = list({targets[j]: j for j in group}.values())
            needed = sum(constraints[j].low for j in distinct)
            if needed > coarse.high:
                culprits = tuple(constraints[j] for j in distinct if constraints[j].low > 0)
                reason = (
                    f"the finer targets need {needed} rows that carry {coarse._name()} too, "
                    f"at most {coarse.high} may"
                )
                found.append(Contradiction((coarse, *culprits), reason))
    return found


def require_satisfiable(
    m: Microdata, constraints: Sequence[DiversityConstraint], k: int
) -> None:
    """Raise ConstraintError with all that :func:`find_contradictions` finds, if anything."""
    found = find_contradictions(m, constraints, k)
    if found:
        raise ConstraintError(
            f"no {k}-anonymous table satisfies the constraints:\n"
            + "\n".join(f"- {contradiction}" for contradiction in found)
        )

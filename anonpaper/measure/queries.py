r"""How well a release answers counting queries: histograms of the sensitive attribute.

A query restricts quasi-identifiers and counts the sensitive values of the rows that remain::

    SELECT occupation, COUNT(*) AS total FROM adult
    WHERE education IN (...) AND sex IN (...) AND race IN (...) AND age > A1 AND age < A2
    GROUP BY occupation;

What is restricted, and to how many values, is the *selectivity*; which values, is drawn from a
seed. Two histograms are compared by :math:`\chi^2(X, Y) = \sum_j (X_j - Y_j)^2 / (X_j + Y_j)`.

Source: boger2020, section 4.5, after Xiao and Tao, VLDB 2006.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from anonpaper.errors import ParameterError, check_integer
from anonpaper.microdata import Attribute, Microdata
from anonpaper.publish import Anatomy, GroupRelease, Release
from anonpaper.randomness import generator

__all__ = ["Workload", "chi_square", "places", "query_errors", "relative_errors", "workload"]

#: Queries are answered in blocks of at most so many (query, tuple) pairs.
_BLOCK = 4_000_000


class Workload:
    """Counting queries on one table's attributes.

    Attributes
    ----------
    attributes : tuple of Attribute
        The quasi-identifiers of the table.
    sensitive : Attribute
        The sensitive attribute, by whose values rows are counted.
    selectivity : dict
        Number of values per restricted attribute.
    included : tuple of numpy.ndarray, each of shape (q, size), dtype bool
        Per quasi-identifier: which values every query includes.
    windows : dict of column label to numpy.ndarray, shape (q, 2)
        First and last place of the window of every query on the numeric ones.
    """

    def __init__(
        self,
        attributes: tuple[Attribute, ...],
        sensitive: Attribute,
        selectivity: Mapping[object, int],
        included: tuple[np.ndarray, ...],
        windows: Mapping[object, np.ndarray],
    ) -> None:
        self.attributes = attributes
        self.sensitive = sensitive
        self.selectivity = dict(selectivity)
        self.included = included
        self.windows = dict(windows)

    def __len__(self) -> int:
        return len(self.included[0])

    def answers(self, *tables: Microdata | Release) -> np.ndarray:
        """Return the histogram that every query gets from every table.

        Parameters
        ----------
        *tables : Microdata or Release
            One table of people, and releases of it. Of a swapped table the rows are counted; of
            an anatomy the expected number is given (a row counts for every sensitive value by the
            value's share in its group), and so it is of a release of sub-domains (a row counts by
            the share of its sub-domains that the query includes, as if all values of a sub-domain
            were equally likely and independent).

        Returns
        -------
        numpy.ndarray, shape (t, q, m), dtype float64
            Per table and query: number of rows of every sensitive value.

        Raises
        ------
        ParameterError
            The tables are not of the same people, or they have other attributes than the queries.

        Notes
        -----
        Answered on the counts of the c distinct QI tuples, O(q·c·(d + t·m)) whatever the number
        of rows; every query looks up its tuples once for all tables. A release of sub-domains is
        answered on its equivalence classes in the same way.
        """
        people = [table if isinstance(table, Microdata) else table.microdata for table in tables]
        if any(m is not people[0] for m in people):
            raise ParameterError("the tables are not of the same people: ask them one by one")
        self._check_attributes(people[0])
        keep_tuples = [isinstance(table, Microdata | GroupRelease) for table in tables]
        answers = np.empty((len(tables), len(self), self.sensitive.size))
        exact = [table for table, keeps in zip(tables, keep_tuples, strict=True) if keeps]
        if exact:
            answers[keep_tuples] = self._answers_by_tuple(people[0], exact)
        for place in np.flatnonzero(~np.array(keep_tuples)):
            answers[place] = self._answers_by_class(tables[place])
        return answers

    def _answers_by_tuple(
        self, m: Microdata, tables: Sequence[Microdata | GroupRelease]
    ) -> np.ndarray:
        tuples = m.cells.tuples
        counts = np.hstack([_counts_by_tuple(table) for table in tables])
        answers = np.empty((len(self), counts.shape[1]))
        block = max(1, _BLOCK // len(tuples))
        for first in range(0, len(self), block):
            asked = slice(first, first + block)
            selected = np.ones((len(self.included[0][asked]), len(tuples)), dtype=bool)
            for j, included in enumerate(self.included):
                selected &= included[asked][:, tuples[:, j]]
            answers[asked] = selected.astype(float) @ counts
        return answers.reshape(len(self), len(tables), -1).swapaxes(0, 1)

    def _answers_by_class(self, release: Release) -> np.ndarray:
        shown = np.flatnonzero(release.is_published)
        labels = release.classes.labels[shown]
        values = self.sensitive.size
        counts = np.bincount(
            labels * values + release.sensitive_codes[shown],
            minlength=release.classes.n_groups * values,
        ).reshape(-1, values)
        row_of_class = shown[np.unique(labels, return_index=True)[1]]
        answers = np.empty((len(self), values))
        block = max(1, _BLOCK // max(1, len(counts)))
        for first in range(0, len(self), block):
            asked = slice(first, first + block)
            part = np.ones((len(self.included[0][asked]), len(counts)))
            for included, p in zip(self.included, release.published, strict=True):
                of_sub_domain = included[asked].astype(float) @ p.members.T / p.sizes
                part *= of_sub_domain[:, p.index[row_of_class]]
            answers[asked] = part @ counts
        return answers

    def sql(self, table: str = "microdata") -> Iterator[str]:
        """Yield the queries as SQL, in the form of Figure 7 of boger2020.

        Missing values are named by what they are coded as, ``'?'``.

        Parameters
        ----------
        table : str
            Name of the table in the queries.

        Examples
        --------
        >>> import anonpaper as ap
        >>> queries = workload(ap.examples.hospital(), {"Age": 2, "Gender": 1}, size=3, seed=0)
        >>> print(next(queries.sql("hospital")))
        SELECT "Disease", COUNT(*) AS total
        FROM "hospital"
        WHERE "Age" IN ('[30, 50)', '>=50') AND
        "Gender" IN ('M')
        GROUP BY "Disease";
        """
        name = _quoted(self.sensitive.name)
        for query in range(len(self)):
            conditions = [
                self._condition(j, query)
                for j, attribute in enumerate(self.attributes)
                if attribute.name in self.selectivity
            ]
            where = "WHERE " + " AND\n".join(conditions) + "\n" if conditions else ""
            yield (
                f"SELECT {name}, COUNT(*) AS total\nFROM {_quoted(table)}\n{where}GROUP BY {name};"
            )

    def _condition(self, j: int, query: int) -> str:
        attribute = self.attributes[j]
        name = _quoted(attribute.name)
        if attribute.name not in self.windows:
            values = attribute.values[self.included[j][query]]
            return f"{name} IN ({', '.join(map(_literal, values))})"
        low, high = self.windows[attribute.name][query]
        if _is_integral(attribute):
            return f"{name} > {int(low) - 1} AND {name} < {int(high) + 1}"
        return f"{name} >= {low} AND {name} <= {high}"

    def _check_attributes(self, m: Microdata) -> None:
        mine = [(a.name, a.size) for a in (*self.attributes, self.sensitive)]
        theirs = [(a.name, a.size) for a in (*m.attributes, m.sensitive_attribute)]
        if mine != theirs:
            raise ParameterError(
                f"the queries are on {mine} (attribute, values), the table has {theirs}"
            )


def workload(
    m: Microdata,
    selectivity: Mapping[object, int],
    size: int = 1000,
    seed: int | np.random.Generator = 0,
) -> Workload:
    """Draw counting queries.

    Parameters
    ----------
    m : Microdata
        A table with a sensitive attribute.
    selectivity : mapping of column label to int
        To how many values a query restricts an attribute, from 1 to :func:`places`. Of a numeric
        attribute they are successive (a window), of any other drawn without replacement.
        Attributes not named are not restricted.
    size : int
        Number of queries, at least 1.
    seed : int or numpy.random.Generator
        Seed of the draws.

    Returns
    -------
    Workload

    Raises
    ------
    ColumnError
        An attribute is no quasi-identifier, or the table has no sensitive attribute.
    ParameterError
        A selectivity or `size` is out of range.

    References
    ----------
    boger2020, section 4.5 and Figure 7.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> queries = workload(m, {"Age": 1, "Education": 2}, size=4, seed=0)
    >>> queries.answers(m).sum(axis=(0, 2))
    array([0., 2., 2., 2.])
    """
    size = check_integer("size", size, 1)
    for name, wanted in selectivity.items():
        attribute = m.attributes[m.attribute_index(name)]
        check_integer(f"the selectivity of {name!r}", wanted, 1, places(attribute))
    rng = generator(seed)
    included, windows = [], {}
    for attribute in m.attributes:
        wanted = selectivity.get(attribute.name)
        if wanted is None:
            included.append(np.ones((size, attribute.size), dtype=bool))
        elif attribute.numeric:
            window = _draw_windows(attribute, wanted, size, rng)
            inside = (attribute.positions >= window[:, :1]) & (
                attribute.positions <= window[:, 1:]
            )
            included.append(inside)
            windows[attribute.name] = window
        else:
            rank = rng.random((size, attribute.size)).argsort(axis=1).argsort(axis=1)
            included.append(rank < wanted)
    return Workload(m.attributes, m.sensitive_attribute, selectivity, tuple(included), windows)


def places(attribute: Attribute) -> int:
    """Return how many values a query can include at most: its selectivity of 100 %.

    Of integers it is the length of their range, whether or not all of them occur: ages from 17
    to 90 are 74, as in boger2020. Of other attributes it is the size of the domain.
    """
    return len(_axis(attribute))


def _axis(attribute: Attribute) -> np.ndarray:
    """The places that a window can cover."""
    if _is_integral(attribute):
        return np.arange(attribute.positions[0], attribute.positions[-1] + 1)
    return attribute.positions


def _is_integral(attribute: Attribute) -> bool:
    return attribute.numeric and np.array_equal(attribute.positions, attribute.positions.round())


def _draw_windows(
    attribute: Attribute, wanted: int, size: int, rng: np.random.Generator
) -> np.ndarray:
    """First and last place of windows of a width, all starts equally likely."""
    axis = _axis(attribute)
    first = rng.integers(0, len(axis) - wanted, size, endpoint=True)
    return np.column_stack([axis[first], axis[first + wanted - 1]])


def _quoted(name: object) -> str:
    return '"' + str(name).replace('"', '""') + '"'


def _literal(value: object) -> str:
    if isinstance(value, (int, float, np.number)):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"


def _counts_by_tuple(table: Microdata | GroupRelease) -> np.ndarray:
    """Rows of every QI tuple and sensitive value, shape (c, m); of an anatomy expected ones."""
    if isinstance(table, Microdata):
        return _crosstab(table, table.cells.tuple_of_row, table.sensitive_codes)
    m, shown = table.microdata, table.is_published
    if not isinstance(table, Anatomy):
        return _crosstab(m, m.cells.tuple_of_row[shown], table.sensitive_codes[shown])
    values = m.sensitive_attribute.size
    labels = table.partition.labels[shown]
    held = np.bincount(labels * values + m.sensitive_codes[shown]).astype(float)
    held = np.pad(held, (0, table.partition.n_groups * values - len(held)))
    share = held.reshape(-1, values) / table.partition.sizes()[:, None]
    expected = np.zeros((len(m.cells), values))
    np.add.at(expected, m.cells.tuple_of_row[shown], share[labels])
    return expected


def _crosstab(m: Microdata, tuples: np.ndarray, sensitive: np.ndarray) -> np.ndarray:
    values = m.sensitive_attribute.size
    key = tuples.astype(np.int64) * values + sensitive
    return np.bincount(key, minlength=len(m.cells) * values).reshape(-1, values).astype(float)


# -- errors -----------------------------------------------------------------------------------


def chi_square(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the chi-square distance of histograms: the sum of (x - y)^2 / (x + y).

    Parameters
    ----------
    x, y : array of float, shape (..., m)
        Counts, at least 0; a value that neither histogram has adds 0.

    Returns
    -------
    numpy.ndarray, shape (...)

    References
    ----------
    boger2020, equation 1.

    Examples
    --------
    >>> float(chi_square([3, 0, 5], [1, 0, 5]))
    1.0
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    total = x + y
    return ((x - y) ** 2 / np.where(total > 0, total, 1)).sum(axis=-1)


def query_errors(queries: Workload, releases: Sequence[Release]) -> np.ndarray:
    """Return the chi-square distance to the true answers, summed over the queries.

    Parameters
    ----------
    queries : Workload
    releases : sequence of Release
        Releases of one table, t of them.

    Returns
    -------
    numpy.ndarray, shape (t,), dtype float64
        At least 0; 0 where all answers are exact.

    References
    ----------
    boger2020, equations 2 and 3.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> one_group = ap.swap(m, ap.Partition([0] * 10), seed=0)
    >>> query_errors(workload(m, {}, size=5), [one_group])
    array([0.])
    """
    if not releases:
        raise ParameterError("there is no release to be asked")
    truth, *answers = queries.answers(releases[0].microdata, *releases)
    return np.array([chi_square(answer, truth).sum() for answer in answers])


def relative_errors(queries: Workload, releases: Sequence[Release], base: Release) -> np.ndarray:
    """Return the errors of releases in percent of that of another one of the same table.

    Below 100 a release answers these queries better than `base`.

    Parameters
    ----------
    queries : Workload
    releases : sequence of Release
        Releases of one table, t of them.
    base : Release
        What they are compared with.

    Returns
    -------
    numpy.ndarray, shape (t,), dtype float64
        Percent: 100 · error / max(error of `base`, 1).

    References
    ----------
    boger2020, equation 4.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> base = ap.swap(m, ap.Partition([0] * 10), seed=0)
    >>> relative_errors(workload(m, {"Age": 2}, size=100, seed=0), [base], base)
    array([100.])
    """
    *errors, base_error = query_errors(queries, [*releases, base])
    return 100 * np.array(errors) / max(base_error, 1.0)

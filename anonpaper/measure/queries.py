"""What a release still answers: counting queries, and a classifier that is trained on it.

A query selects rows by quasi-identifiers and counts their sensitive values. Source: boger2020,
section 4.5, after Xiao and Tao, VLDB 2006.

>>> m = ap.examples.hospital()
>>> rel, base = (ap.suppress(m, p) for p in (ap.hilbert(m, l=2), ap.Partition([0] * 10)))
>>> queries = workload(m, {"Age": 2}, size=100, seed=0)
>>> round(query_error(rel, queries), 3), query_errors(queries, [rel, base]).round(1)
(0.163, array([ 50.6, 170.2]))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from anonpaper import errors
from anonpaper.groups import Entries
from anonpaper.measure.loss import check_roles
from anonpaper.microdata import Attribute, Microdata, check_microdata
from anonpaper.publish import Anatomy, Release, check_release
from anonpaper.published_values import codes_in
from anonpaper.randomness import generator
from anonpaper.roles import only_one

__all__ = ["Classification", "classification", "query_error", "query_errors", "workload"]

_BLOCK = 4_000_000  # pairs of a query and a tuple that are answered at a time
_MOST_FEATURES = 500_000_000  # numbers, of four bytes, on which a classifier is trained
_ROWS_OF_A_TREE = 20_000  # drawn for each tree, if there are more


@dataclass(eq=False, repr=False)
class Workload:
    """Counting queries on one table's attributes: what each includes of those in `asked`.

    That is the first and last place of a window, shape (q, 2), of a numeric one, and codes of any
    other, shape (q, selectivity).
    """

    attributes: tuple[Attribute, ...]  # the quasi-identifiers of the table
    sensitive: Attribute  # by whose values rows are counted
    size: int  # number of queries, q
    asked: dict[object, np.ndarray]

    def included(self, attribute: Attribute) -> np.ndarray:
        """Return which values of an attribute the queries include, shape (q, size)."""
        included = np.zeros((self.size, attribute.size), bool)
        asked = self.asked.get(attribute.name)
        if asked is None:
            return ~included
        if attribute.numeric:
            low, high = asked.T[:, :, None]
            return (attribute.positions >= low) & (attribute.positions <= high)
        np.put_along_axis(included, asked, True, axis=1)
        return included

    def answers(self, *tables: Microdata | Release) -> np.ndarray:
        """Return the (expected) histogram that every query gets from every table, (t, q, m).

        They are a table and releases of it. In an anatomy, a row counts for every sensitive value
        by its share in the group. With sub-domains, a row counts by the share of their values that
        the query includes, as if they were equally likely and independent. O(q·c·(d + t·m)) for c
        distinct QI tuples, or classes.
        """
        m, *others = [t if isinstance(t, Microdata) else t.microdata for t in tables]
        mine, theirs = (*self.attributes, self.sensitive), (*m.attributes, m.sensitive_attribute)
        sizes, found = ([(a.name, a.size) for a in of] for of in (mine, theirs))
        if sizes != found or any(other is not m for other in others):
            told = "ask the table from which they were drawn, and releases of it, not one of"
            way = f"{told} {found} or of several tables"
            raise errors.ParameterError(f"the queries are on {sizes} (attribute, values): {way}")
        classes, included = [*map(_classes, tables)], [*map(self.included, self.attributes)]
        answers = np.empty((len(tables), self.size, self.sensitive.size))
        longest = max(*(len(counts) for counts, _ in classes), *(a.size for a in self.attributes))
        block = max(1, _BLOCK // longest)
        for asked in (slice(first, first + block) for first in range(0, self.size, block)):
            some = [values[asked] for values in included]
            each = zip(some, m.cells.tuples.T, strict=True)
            tuples = reduce(np.logical_and, (values[:, codes] for values, codes in each))
            tuples = tuples.astype(float)
            for i, (counts, columns) in enumerate(classes):
                part = tuples
                if columns is not None:
                    each = zip(some, columns, strict=True)
                    shares = [of.means(values.T)[index].T for values, (of, index) in each]
                    part = np.multiply.reduce(shares)
                answers[i, asked] = part @ counts
        return answers


def workload(
    m: Microdata, selectivity: Mapping, size: int = 1000, seed: int | np.random.Generator = 0
) -> Workload:
    """Draw counting queries, with ``answers(*tables)``.

    `selectivity` gives the number of values to which a query restricts an attribute of `m`: from 1
    to the length of the range for integers (ages 17 to 90 are 74), otherwise to the size of the
    domain. Numeric values are successive (a window), others drawn without replacement. `size` is
    the number of queries. Source: boger2020, section 4.5 and Figure 7.

    >>> m = ap.examples.hospital()
    >>> queries = workload(m, {"Age": 1, "Education": 2}, size=4, seed=0)
    >>> queries.answers(m).sum(axis=(0, 2))
    array([0., 2., 2., 2.])
    """
    size = errors.check_integer("size", size, 1)
    domains = check_microdata(m, people=True).qi
    selectivity = errors.check_named("selectivity", selectivity, domains)
    rng, asked = generator(seed), {}
    for attribute in (a for a in m.attributes if a.name in selectivity):
        name, most, positions = attribute.name, places(attribute), attribute.positions
        wanted = errors.check_integer(f"the selectivity of {name!r}", selectivity[name], 1, most)
        if attribute.numeric:
            first = rng.integers(0, most - wanted, size, endpoint=True)
            ends = np.column_stack([first, first + (wanted - 1)])
            asked[name] = positions[0] + ends if _is_integral(attribute) else positions[ends]
        else:
            codes = [rng.random(attribute.size).argsort()[:wanted] for _ in range(size)]
            asked[name] = np.array(codes, np.int32)
    return Workload(m.attributes, m.sensitive_attribute, size, asked)


def places(attribute: Attribute) -> int:
    """Return the largest number of values that a query can include: selectivity 100 %."""
    return int(attribute.width) + 1 if _is_integral(attribute) else attribute.size


def _is_integral(attribute: Attribute) -> bool:
    """Whether the values are integers that floats represent without gaps."""
    positions = attribute.positions
    small = max(-positions[0], positions[-1]) < 2**53
    return attribute.numeric and small and np.array_equal(positions, positions.round())


def _classes(table: Microdata | Release) -> tuple[np.ndarray, list | None]:
    """(Expected) rows of classes by sensitive value, (c, m), and the sub-domains of each class.

    The classes of a table and of groups are QI tuples, without sub-domains (None).
    """
    whole = isinstance(table, Microdata)
    e = Entries.whole(table) if whole else table.entries.take(table.shown)
    if not whole and not table.shows_groups:
        group = table.classes.group[table.shown]
        first = np.flatnonzero(table.shown)[np.unique(group, return_index=True)[1]]
        columns = [(p.sub_domains, p.index[first]) for p in table.published]
        return _crosstab(group, len(first), e), columns
    if not isinstance(table, Anatomy):
        return _crosstab(e.tuples, len(e.m.cells), e), None
    shares = _crosstab(e.group, table.classes.n_groups, e) / table.classes.sizes()[:, None]
    expected = np.zeros((len(e.m.cells), shares.shape[1]))
    np.add.at(expected, e.tuples, e.counts[:, None] * shares[e.group])
    return expected, None


def _crosstab(of: np.ndarray, height: int, e: Entries) -> np.ndarray:
    """Rows of pairs of a number and a sensitive value, shape (height, m), dtype float64."""
    width = e.m.sensitive_attribute.size
    key = of.astype(np.intp) * width + e.codes_of(e.m.sensitive)
    return np.bincount(key, e.counts, height * width).reshape(-1, width)


def chi_square(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the sum of (x - y)^2 / (x + y) of histograms (..., m); boger2020, equation 1."""
    return ((x - y) ** 2 / np.maximum(x + y, 1e-300)).sum(axis=-1)


def query_error(rel: Release, queries: Workload | None = None, *, of: str = "relative") -> float:
    """Mean error of the counts that queries get from a release, at least 0 (all exact).

    Each count of a sensitive value is compared with the original table's, as in section 6 of X.
    Xiao, Y. Tao, *Anatomy*, VLDB 2006. By default 1,000 queries with seed 0 restrict every
    attribute to half of its places (at most 100 values if unordered). `of` is ``"relative"``, the
    mean of ``|answer - truth| / max(truth, 0.001 · n, 1)``, or ``"absolute"``, in rows.
    """
    m = check_release(rel).microdata
    errors.check_choice("of", of, ("relative", "absolute"))
    if queries is None:
        half = {a: max(1, places(a) // 2) for a in m.attributes}
        queries = workload(m, {a.name: h if a.numeric else min(h, 100) for a, h in half.items()})
    (queries,) = errors.check_sequence("queries", [queries], Workload)
    truth, answers = queries.answers(m, rel)
    wrong = np.abs(answers - truth)
    if of == "relative":
        wrong = wrong / np.maximum(truth, max(1.0, 0.001 * m.n))
    return float(wrong.mean())


def query_errors(queries: Workload, releases: Sequence[Release]) -> np.ndarray:
    """Chi-square distance to the true answers, summed over the queries: at least 0, shape (t,).

    `releases` are of one table, at least one. Source: boger2020, equations 2 and 3.
    """
    releases = errors.check_sequence("releases", releases, Release)
    if not releases:
        raise errors.ParameterError("releases is empty: give at least one release")
    (queries,) = errors.check_sequence("queries", [queries], Workload)
    truth, *answers = queries.answers(releases[0].microdata, *releases)
    return np.array([chi_square(answer, truth).sum() for answer in answers])


class Classification(NamedTuple):
    """How a classifier trained on a release predicts people it has not seen."""

    accuracy: float  # share of the test rows predicted correctly (Eq. 10)
    balanced_accuracy: float  # mean recall over the values that occur


def classification(
    rel: Release, test: Microdata, *, trees: int = 50, balanced: bool = False, seed=0
) -> Classification:
    """How a random forest trained on a release predicts original rows: scores from 0 to 1.

    A sub-domain is encoded by the mean of its values if they are ordered, otherwise by the share
    of each value in it. `test` has held-out real people with the same roles, else ColumnError. The
    forest has `trees`, each of at most 20,000 rows drawn by `seed`; if `balanced`, all sensitive
    values, rather than all rows, weigh the same. SizeLimitError above 500 million rows times
    features (one for every value of an unordered attribute).

    >>> m = ap.examples.hospital()
    >>> release = ap.suppress(m, ap.examples.hospital_two_diverse())
    >>> round(classification(release, m, trees=5).accuracy, 3)
    0.4
    """
    with errors.needs("learning"):
        from sklearn.ensemble import RandomForestClassifier

    balanced = errors.check_choice("balanced", balanced, (False, True))
    mine, shown = check_roles(rel, test).microdata, rel.entries.of_row[rel.is_published]
    only_one(mine.sensitive)
    if test.synthetic.any():
        raise errors.ParameterError("some test rows are synthetic: test on real people")
    forest = RandomForestClassifier(
        errors.check_integer("trees", trees, 1), min_samples_leaf=2,
        random_state=int(generator(seed).integers(2**31)),
        max_samples=None if len(shown) <= _ROWS_OF_A_TREE else _ROWS_OF_A_TREE,
        class_weight="balanced" if balanced else None,
    )  # fmt: skip
    width = sum(1 if a.ordered else a.size for a in mine.attributes)
    if width * max(len(shown), test.n) > _MOST_FEATURES:
        told = f"{max(len(shown), test.n):,} rows have {width:,} features, one per unordered value"
        limit = f"the limit is {_MOST_FEATURES:,} numbers: group values, or take fewer rows"
        raise errors.SizeLimitError(f"{told}; {limit}")
    forest.fit(_published_features(rel, shown), rel.sensitive_codes[rel.is_published])
    said = forest.predict(_plain_features(rel, test))
    true = codes_in(mine.sensitive_attribute, test.sensitive_attribute)[test.sensitive_codes]
    right, rows = said == true, np.bincount(test.sensitive_codes)
    hits = np.bincount(test.sensitive_codes, right)[rows > 0]
    return Classification(float(right.mean()), float((hits / rows[rows > 0]).mean()))


def _features(attribute: Attribute) -> np.ndarray:
    """Encode the values of an attribute: the position of ordered ones, one-hot for others."""
    return attribute.positions[:, None] if attribute.ordered else np.eye(attribute.size)


def _published_features(rel: Release, entries: np.ndarray) -> np.ndarray:
    """Encode published entries: mean position of ordered values, shares of unordered ones."""
    parts = ((p.sub_domains.means(_features(p.attribute)), p.index) for p in rel.published)
    return np.hstack([part.astype(np.float32)[index[entries]] for part, index in parts])


def _plain_features(rel: Release, test: Microdata) -> np.ndarray:
    """Encode original rows in the release's domains; unknown categories are all zeros."""
    parts = []
    for p, theirs, codes in zip(rel.published, test.attributes, test.codes.T, strict=True):
        own = codes_in(p.attribute, theirs)[:, None]
        part = np.where(own >= 0, _features(p.attribute)[own[:, 0]], -1.0 * p.attribute.ordered)
        if p.attribute.numeric:
            part = theirs.values.astype(float)[:, None]
        parts.append(part.astype(np.float32)[codes])
    return np.hstack(parts)

"""The published table, and how it leaves.

Every published QI value is a *sub-domain*, a set of values of its attribute: one value if it is
kept, the whole domain if it is suppressed. Measures read sub-domains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonpaper.display import html, html_table
from anonpaper.errors import NoSensitiveValueError, ParameterError, check_sequence
from anonpaper.groups import Partition, dense_labels
from anonpaper.hierarchy import STAR
from anonpaper.microdata import Microdata, build_cells
from anonpaper.principles import GroupCounts, Principle
from anonpaper.publish import judging, writing
from anonpaper.publish.conclusions import check_release
from anonpaper.published_values import SubDomains
from anonpaper.recoding import Recoding

__all__ = ["Anatomy", "GroupRelease", "PublishedAttribute", "Release", "check_release"]


@dataclass(frozen=True, eq=False)
class PublishedAttribute:
    """The published values of one quasi-identifier.

    ``index``, shape (n,), dtype int32, is the number of every row's sub-domain among the distinct
    `sub_domains`. It has no meaning for withheld rows. The sub-domain `whole` has all values of
    published rows. It is written as a star, since only withheld people have the values it lacks.
    """

    sub_domains: SubDomains
    index: np.ndarray
    whole: int | None = None

    attribute = property(lambda self: self.sub_domains.attribute)
    sizes = property(lambda self: self.sub_domains.sizes)

    is_star = property(lambda self: self.sub_domains.is_star)

    @property
    def labels(self) -> np.ndarray:
        """The text of every sub-domain, shape (r,), dtype object."""
        labels = self.sub_domains.labels
        if self.whole is None:
            return labels
        return np.where(np.arange(len(labels)) == self.whole, STAR, labels)

    def starred_whole(self, shown: np.ndarray, codes: np.ndarray) -> PublishedAttribute:
        """Return the attribute of rows of which not all are `shown`; `codes` are their values."""
        sub, held = self.sub_domains, np.unique(codes[shown])
        if sub.names is not None or len(held) < 2:
            return self
        (wide,) = np.nonzero((sub.low <= held[0]) & (sub.high >= held[-1]))
        wide = wide[sub.contains(wide[:, None], held).all(axis=1)]
        if not len(wide):
            return self
        whole = wide[np.argmax(sub.sizes[wide])]
        index = np.where(np.isin(self.index, wide), whole, self.index).astype(np.int32)
        return PublishedAttribute(sub, index, int(whole))


class Swapped(NamedTuple):
    """Sensitive values after a swap, row by row: codes, and values as the input writes them."""

    codes: np.ndarray
    values: pd.Series
    seeded: bool


class Release:
    """A published table and how it was made.

    ``frame`` is for its maker: it has the input's index and row order. Give others only
    :meth:`write` or :meth:`public_frame`. ``method`` is ``"suppress"``, ``"generalize"``,
    ``"recode"``, .... ``microdata`` is the original table, ``partition`` its groups (for a
    recoding, the equivalence classes) and ``recoding`` the Recoding (None for groups).
    ``published`` has a PublishedAttribute per quasi-identifier, in order.
    """

    #: Whether everybody sees who is in which group.
    shows_groups = False

    def __init__(
        self,
        microdata: Microdata,
        published: tuple[PublishedAttribute, ...],
        method: str,
        partition: Partition | None = None,
        recoding: Recoding | None = None,
        swapped: Swapped | None = None,
    ) -> None:
        published = tuple(check_sequence("published", published, PublishedAttribute))
        for name, value, kind in (
            ("microdata", microdata, Microdata), ("partition", partition, Partition | None),
        ):  # fmt: skip
            if not isinstance(value, kind):
                raise ParameterError(f"{name} must be a {name.title()}, got {value!r}")
        shown = None if partition is None else partition.labels >= 0
        if shown is not None and not shown.all():
            each = zip(published, microdata.codes.T, strict=True)
            published = tuple(column.starred_whole(shown, codes) for column, codes in each)
        self.microdata, self.published, self.method = microdata, published, method
        self.recoding, self._partition, self._swapped = recoding, partition, swapped
        self.accepted: str | None = None  # why it was written below its promise
        self._attacked: pd.DataFrame | None = None
        self._written: tuple = ()  # of a table of counts, what an audit is to read
        # groups of rows that a recoding withholds for their values, otherwise -1
        self.failing: np.ndarray | None = None

    @property
    def partition(self) -> Partition:
        """The groups that were published; for a recoding its equivalence classes."""
        return self.classes if self._partition is None else self._partition

    @cached_property
    def is_published(self) -> np.ndarray:
        """Whether a row is published at all, shape (n,), dtype bool."""
        if self._partition is None:
            return np.ones(len(self.published[0].index), dtype=bool)
        return self._partition.labels >= 0

    @property
    def sensitive_codes(self) -> np.ndarray:
        """Sensitive codes as published, shape (n,): the table's codes unless they were swapped."""
        swapped = self._swapped and {self.microdata.sensitive: self._swapped.codes}
        m = self.microdata.with_codes(swapped) if swapped else self.microdata
        return m.sensitive_codes

    @property
    def is_synthetic(self) -> np.ndarray:
        """Whether a row is synthetic, shape (n,), dtype bool; see ``Microdata.synthetic``."""
        return self.microdata.synthetic

    def without_synthetic(self) -> Release:
        """Return the release without synthetic rows, as an attacker who knows them all sees it.

        EmptyTableError if every row is synthetic.
        """
        real = np.flatnonzero(~self.is_synthetic)
        p, swapped = self._partition, self._swapped
        if p is not None:
            p = Partition(dense_labels(p.labels[real]), p.info, p.algorithm)
            p.call, p.promised = self._partition.call, self._partition.promised
        if swapped is not None:
            swapped = Swapped(swapped.codes[real], swapped.values.iloc[real], swapped.seeded)
        published = tuple(replace(column, index=column.index[real]) for column in self.published)
        m = self.microdata.take(real)
        rel = type(self)(m, published, self.method, p, self.recoding, swapped)
        rel.failing = None if self.failing is None else dense_labels(self.failing[real])
        return rel

    @cached_property
    def classes(self) -> Partition:
        """Equivalence classes: rows whose published QI are equal; -1 for withheld rows."""
        rows = np.flatnonzero(self.is_published)
        labels = np.full(len(self.is_published), -1, dtype=np.intp)
        if len(rows):
            index = np.column_stack([p.index[rows] for p in self.published])
            cells = build_cells(index, [len(p.sub_domains) for p in self.published], None, 1)
            labels[rows] = cells.tuple_of_row
        name = "equivalence classes"
        return Partition(labels, algorithm=name, weights=self.microdata.weights)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The published table for analysis: index, order and types of the input.

        It has QI and SA of the published rows. Index, order and categories can identify people, so
        give others :meth:`write` or :meth:`public_frame` instead.
        """
        m = self.microdata
        rows = self.is_published
        roles = {p.attribute.name: p.labels[p.index[rows]] for p in self.published}
        for name in m.sensitives:
            roles[name] = m.attribute(name).values[m.codes_of(name)[rows]]
        ordered = [name for name in m.frame.columns if name in roles]
        frame = pd.DataFrame({name: roles[name] for name in ordered}, index=m.frame.index[rows])
        for name in ordered:
            frame[name] = _as_before(frame[name], m.frame[name][rows])
        return frame

    def counted(self) -> tuple[tuple[pd.DataFrame, np.ndarray], ...]:
        """Each table's distinct rows, sorted by their texts, and how often each occurs."""
        m, columns = self.microdata, self._columns()
        for name in m.sensitives:
            codes = m.codes_of(name) if self._swapped is None else self._swapped.codes
            columns[name] = m.attribute(name).values, codes[self.is_published]
        in_order = {name: columns[name] for name in m._columns.names if name in columns}
        return (writing.distinct_rows(in_order, m.weights_of(self.is_published)),)

    def _columns(self) -> dict[object, tuple[np.ndarray, np.ndarray]]:
        """Labels, and their number in each row, of the published quasi-identifiers."""
        writing.check_written_apart(self)
        return {p.attribute.name: (p.labels, p.index[self.is_published]) for p in self.published}

    @property
    def is_seeded(self) -> bool:
        """Whether a swap can be repeated by who guesses its seed."""
        return self._swapped is not None and self._swapped.seeded

    @property
    def promised(self) -> tuple[Principle, ...]:
        """Principles promised by the algorithm with its parameters; empty if not known."""
        return getattr(self.recoding or self._partition, "promised", ())

    @property
    def call(self) -> str:
        """The calls that made the release from a table `m`, as far as they are known."""
        door = {"shallow": "shallow_generalize"}.get(self.method, self.method)
        made_by = getattr(self.recoding or self._partition, "call", "") or "..."
        more = ", hierarchies" * (self.method == "shallow")
        if self.is_seeded:
            more = ", seed=..."
        return f"ap.{door}(m, {made_by}{more})"

    # What is judged, and how a release leaves: functions that take one.
    warnings = property(judging.warnings)
    withheld = cached_property(judging.withheld)
    _uncounted = cached_property(judging.uncounted)
    audit = judging.audit
    kept = judging.kept
    check_promise = judging.check_promise
    public_tables = writing.public_tables
    public_frame = writing.public_frame
    write = writing.write

    def audited(self) -> tuple[Microdata, np.ndarray]:
        """Return what `audit` judges: the rows with published SA, and the class of each row.

        The labels have shape (n,), dtype int64, and are -1 for withheld rows.
        """
        if self._written:
            return self.microdata.engine.read(self, self._written[0])
        return self.microdata, self.classes.labels

    def __repr__(self) -> str:
        shown = self.microdata.count(self.is_published)
        rows = f"{shown} of {self.microdata.n} rows in {self.classes.n_groups}"
        return "; ".join([f"Release({self.method}: {rows} equivalence classes)", *self.warnings])

    def _repr_html_(self) -> str:
        shown = self.microdata.count(self.is_published)
        facts = [("published by", self.method), ("rows", f"{shown:,} of {self.microdata.n:,}")]
        facts.append(("equivalence classes", self.classes.n_groups))
        for name, level, meaning in self.audit().itertuples(index=False) if shown else ():
            facts.append((name, meaning if name == "warning" else level))
        return html("Release", facts, *map(html_table, self.tables()))

    def tables(self) -> tuple[pd.DataFrame, ...]:
        """Return the tables for analysis; of a table of counts, their distinct rows."""
        if self.microdata.weights is None:
            return (self.frame,)
        return tuple(frame for frame, _ in self.counted())


class GroupRelease(Release):
    """A table with unchanged quasi-identifiers: groups hide the sensitive value.

    Its classes are the groups of the partition, published or not: the attacker is assumed to know
    them (boger2020, section 5).
    """

    shows_groups = True

    @property
    def classes(self) -> Partition:
        """The groups within which rows share their sensitive values; -1 for withheld rows."""
        return self.partition

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table for analysis; only its sensitive values have changed places.

        Missing values stay missing. Do not give it away: see :attr:`Release.frame`.
        """
        m, shown = self.microdata, self.is_published
        roles = [name for name in m.frame.columns if name in m.qi or name == m.sensitive]
        frame = m.frame.loc[shown, roles].copy()
        frame[m.sensitive] = self._swapped.values[shown].set_axis(frame.index)
        return frame

    def audited(self) -> tuple[Microdata, np.ndarray]:
        """Return the rows with swapped values, and classes; FileError if files have changed."""
        m = self.microdata
        if self._written:
            m.engine.check_written(self._written)
        shared = m if self._swapped is None else m.with_codes({m.sensitive: self._swapped.codes})
        return shared, self.classes.labels


class Anatomy(GroupRelease):
    """Quasi-identifiers and sensitive values in two tables that share a group number.

    ``qit`` has the quasi-identifiers and ``group`` of every published row, with the input's index.
    ``st`` has ``group``, the sensitive attribute and ``count``, one row per value of a group.
    """

    @cached_property
    def qit(self) -> pd.DataFrame:
        """The quasi-identifiers with the number of their group."""
        m = self.microdata
        qit = m.frame.loc[self.is_published, [c for c in m.frame.columns if c in m.qi]].copy()
        levels = qit.columns.nlevels
        name = "group" if levels == 1 else ("group", *[""] * (levels - 1))
        qit[name] = self.partition.labels[self.is_published]
        return qit

    @cached_property
    def st(self) -> pd.DataFrame:
        """The sensitive values of every group with their number of rows."""
        m = self.microdata
        groups = GroupCounts.of(m, self.partition.labels)
        values = m.sensitive_attribute.values[groups.sensitive]
        columns = {"group": groups.group_of_entry, m.sensitive: values, "count": groups.counts}
        return pd.DataFrame(columns)

    @property
    def frame(self) -> pd.DataFrame:
        """The table `qit`, with one row per published row; `st` is the other table."""
        return self.qit

    def tables(self) -> tuple[pd.DataFrame, ...]:
        """Return `qit` and `st`; of a table of counts, their distinct rows."""
        return (self.qit, self.st) if self.microdata.weights is None else super().tables()

    def counted(self) -> tuple[tuple[pd.DataFrame, np.ndarray], ...]:
        """Return the distinct rows of both tables, and how many there are of each."""
        m, p = self.microdata, self.partition
        groups = GroupCounts.of(m, p.labels)
        numbers, numbered = np.arange(p.n_groups), writing.secret_order(p.n_groups)
        counts, place = np.unique(groups.counts, return_inverse=True)
        qit = self._columns() | {"group": (numbers, numbered[p.labels[self.is_published]])}
        st = {
            "group": (numbers, numbered[groups.group_of_entry]),
            m.sensitive: (m.sensitive_attribute.values, groups.sensitive),
            "count": (counts, place),
        }
        return writing.distinct_rows(qit, m.weights_of(self.is_published)), writing.distinct_rows(
            st
        )

    @property
    def sensitive_codes(self) -> np.ndarray:
        """Raises NoSensitiveValueError: rows of an anatomy have no sensitive value."""
        raise NoSensitiveValueError(
            "rows of an anatomy have no sensitive value: read the counts of their group in `st`"
        )


def _as_before(published: pd.Series, original: pd.Series) -> pd.Series:
    """Restore the old type of a column that is published unchanged."""
    if original.isna().any():
        return published
    same = published.to_numpy(dtype=object) == original.to_numpy(dtype=object)
    return original if np.all(same) else published

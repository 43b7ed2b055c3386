"""The published table: entries of groups, and a sub-domain of every quasi-identifier for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from anonpaper.cells import distinct
from anonpaper.errors import ParameterError, check_sequence
from anonpaper.groups import Entries, GroupCounts, Partition, dense_labels
from anonpaper.hierarchy import STAR
from anonpaper.principles import Principle
from anonpaper.publish import judging, writing
from anonpaper.publish.judging import Published, check_release
from anonpaper.published_values import SubDomains
from anonpaper.recoding import Recoding
from anonpaper.roles import only_one

__all__ = ["Anatomy", "GroupRelease", "PublishedAttribute", "Release", "check_release"]


@dataclass(frozen=True, eq=False)
class PublishedAttribute:
    """The published values of one quasi-identifier.

    ``index``, shape (f,), dtype int32, is the number of every entry's sub-domain, without meaning
    for withheld rows. The one with all values of published rows, `whole`, is written as a star.
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
        labels = self.sub_domains.labels.copy()
        labels[[] if self.whole is None else self.whole] = STAR
        return labels

    def starred_whole(self, shown: np.ndarray, codes: np.ndarray) -> PublishedAttribute:
        """Return the attribute of entries not all of which are `shown`; `codes` are theirs."""
        sub, held = self.sub_domains, np.flatnonzero(np.bincount(codes[shown]))
        if sub.names is None and len(held) > 1:
            (wide,) = np.nonzero((sub.low <= held[0]) & (sub.high >= held[-1]))
            wide = wide[sub.contains(wide[:, None], held).all(axis=1)]
            if len(wide):
                whole = wide[np.argmax(sub.sizes[wide])]
                index = np.where(np.isin(self.index, wide), whole, self.index).astype(np.int32)
                return PublishedAttribute(sub, index, int(whole))
        return self


@dataclass(eq=False, repr=False)
class Release(Published):
    """A published table and how it was made.

    ``frame`` is for its maker: it has the input's index and row order. Give others only
    :meth:`write` or :meth:`public_frame`. ``microdata`` is the original table, ``recoding`` the
    Recoding (None for groups), ``entries`` the rows of each cell in each group, with their
    sensitive codes as published, and ``published`` a PublishedAttribute per quasi-identifier.
    """

    entries: Entries
    published: Sequence[PublishedAttribute]
    method: str
    _partition: Partition | None = None
    recoding: Recoding | None = None
    #: (f,): the classes that a recoding withholds for their values, otherwise -1
    failing: np.ndarray | None = None
    is_seeded: bool = False  # whether a swap can be repeated by who guesses its seed

    shows_groups = False  # whether everybody sees who is in which group
    microdata = property(lambda self: self.entries.m)
    is_synthetic = property(lambda self: self.microdata.synthetic)  # (n,): whether a row is

    def __post_init__(self) -> None:
        self.published = check_sequence("published", self.published, PublishedAttribute)
        if not isinstance(self.entries, Entries):
            raise ParameterError(f"expected Entries, got {self.entries!r}: use ap.suppress(m, p)")
        self.shown = self.entries.group >= 0  # (f,): which entries are published
        if not self.shown.all():
            each = zip(self.published, self.entries.codes.T, strict=True)
            self.published = [column.starred_whole(self.shown, codes) for column, codes in each]
        if self.failing is None:
            self.failing = np.full(len(self.shown), -1)
        self.accepted: str | None = None  # why it was written below its promise
        self._written: dict = {}  # of a table of counts, what an audit is to read

    @property
    def partition(self) -> Partition:
        """The groups that were published; for a recoding its equivalence classes."""
        return self.classes if self._partition is None else self._partition

    @property
    def is_published(self) -> np.ndarray:
        """Whether a row is published at all, shape (n,), dtype bool."""
        return self.shown[self.entries.of_row]

    @property
    def secrets(self) -> np.ndarray:
        """Sensitive codes of entries as published, (f,): the table's unless they were swapped."""
        return self.entries.codes_of(only_one(self.microdata.sensitive))

    @property
    def sensitive_codes(self) -> np.ndarray:
        """Sensitive codes as published, shape (n,): the table's codes unless they were swapped."""
        return self.secrets[self.entries.of_row]

    def without_synthetic(self) -> Release:
        """Return the release without synthetic rows; EmptyTableError if every row is synthetic."""
        real = np.flatnonzero(~self.is_synthetic)
        rows, p = self.entries.of_row[real], self._partition
        labels = dense_labels(self.entries.group[rows])
        if p is not None:
            p = Partition(labels, p.info, p.algorithm)
            p.call, p.promised = self._partition.call, self._partition.promised
        e = Entries.of_rows(self.microdata.take(real), labels)
        e = replace(e, secrets=self.entries.secrets[rows])
        published = [replace(column, index=column.index[rows]) for column in self.published]
        failing = self.failing[rows]
        return replace(self, entries=e, published=published, _partition=p, failing=failing)

    @cached_property
    def classes(self) -> Partition:
        """Published rows whose QI are written alike, or the groups if everybody sees them."""
        e, labels, name = self.entries, self.entries.group, "groups"
        if not self.shows_groups:
            labels, name = self.numbered(self.published), "equivalence classes"
        return Partition.of_cells(e.m.cells, e.cell, labels, e.counts, algorithm=name)

    def numbered(self, published: Sequence[PublishedAttribute]) -> np.ndarray:
        """Number the entries by their published values of some attributes; -1 if withheld."""
        labels = np.where(self.shown, 0, -1)
        if published:
            sizes = [len(p.sub_domains) for p in published]
            labels[self.shown], *_ = distinct([p.index[self.shown] for p in published], sizes)
        return labels

    def _columns(self) -> dict[object, tuple[np.ndarray, np.ndarray]]:
        """The columns in the input's order: values, and where in them that of each entry is."""
        m, e = self.microdata, self.entries
        columns = {p.attribute.name: (p.labels, p.index) for p in self.published}
        columns |= {name: (m.attribute(name).values, e.codes_of(name)) for name in m.sensitives}
        return {name: columns[name] for name in m._columns.names if name in columns}

    @cached_property
    def frame(self) -> pd.DataFrame:
        """QI and SA of published rows for analysis, with the input's index, order and types."""
        m, columns, shown = self.microdata, {}, self.is_published
        for name, (values, index) in self._columns().items():
            old, new = m.frame[name][shown], values[index[self.entries.of_row[shown]]]
            same = not old.isna().any() and np.all(new == old.to_numpy(dtype=object))
            columns[name] = old.array if same else new  # so the type stays too
        return pd.DataFrame(columns, index=m.frame.index[shown])

    def counted(self) -> list[tuple[pd.DataFrame, np.ndarray]]:
        """Each table's distinct rows, sorted by their texts, and how often each occurs."""
        return [self._counted(self._columns())]

    def _counted(self, columns: dict) -> tuple[pd.DataFrame, np.ndarray]:
        writing.check_written_apart(self)
        values, index = zip(*columns.values(), strict=True)
        index, sizes = [of[self.shown] for of in index], [*map(len, values)]
        _, first, counts = distinct(index, sizes, self.entries.counts[self.shown])
        rows = [of[place[first]] for of, place in zip(values, index, strict=True)]
        return writing.by_texts(pd.DataFrame(dict(zip(columns, rows, strict=True))), counts)

    @property
    def promised(self) -> tuple[Principle, ...]:
        """What the algorithm promised, of attributes that the table has; empty if not known."""
        promised = getattr(self.recoding or self._partition, "promised", ())
        names = self.microdata.sensitives
        known = [None, *names] if names else []
        return tuple(p for p in promised if not p.needs_sensitive or p.of in known)

    @property
    def call(self) -> str:
        """The calls that made the release from a table `m`, as far as they are known."""
        made_by = getattr(self.recoding or self._partition, "call", "") or "..."
        if self.method == "shallow":
            return f"ap.shallow_generalize(m, {made_by}, hierarchies)"
        return f"ap.{self.method}(m, {made_by}{', seed=...' * self.is_seeded})"

    # What is judged, and how a release leaves: functions that take one.
    warnings = property(judging.warnings)
    withheld = cached_property(judging.withheld)
    audit = judging.audit
    kept = judging.kept
    check_promise = judging.check_promise
    public_tables = writing.public_tables
    public_frame = writing.public_frame
    write = writing.write

    def audited(self) -> Entries:
        """Return entries in classes with the table's SA, so no verdict depends on a draw."""
        if self._written:
            self.microdata.engine.check_written(self._written)
        own = self.microdata.cells.secrets[self.entries.cell]
        return replace(self.entries, group=self.classes.group, secrets=own)

    def __repr__(self) -> str:
        shown = self.entries.rows(self.shown)
        rows = f"{shown} of {self.microdata.n} rows in {self.classes.n_groups}"
        return "; ".join([f"Release({self.method}: {rows} equivalence classes)", *self.warnings])


class GroupRelease(Release):
    """A table with unchanged quasi-identifiers: groups hide the sensitive value.

    Its classes are the groups: the attacker is assumed to know them (boger2020, section 5).
    """

    shows_groups = True

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table for analysis; only its sensitive values have changed places."""
        m, shown = self.microdata, self.is_published
        frame = m.frame.loc[shown, [*self._columns()]].copy()
        row_of = np.empty(m.sensitive_attribute.size, int)
        row_of[m.sensitive_codes] = np.arange(m.n)  # of every value, as the input writes it
        swapped = m.frame[m.sensitive].iloc[row_of[self.sensitive_codes[shown]]]
        frame[m.sensitive] = swapped.set_axis(frame.index)
        return frame


class Anatomy(GroupRelease):
    """Quasi-identifiers and sensitive values in two tables that share a group number.

    ``qit`` has the quasi-identifiers and ``group`` of every published row, with the input's index.
    ``st`` has ``group``, the sensitive attribute and ``count``, one row per value of a group.
    """

    qit = property(lambda self: self.frame)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table `qit`: quasi-identifiers with the number of their group."""
        m, shown = self.microdata, self.is_published
        qit = m.frame.loc[shown, [name for name in self._columns() if name != m.sensitive]]
        return qit.assign(group=self.classes.labels[shown])

    @cached_property
    def st(self) -> pd.DataFrame:
        """The sensitive values of every group with their number of rows."""
        m = self.microdata
        groups = GroupCounts.of(self.entries, m.sensitive)
        values = m.sensitive_attribute.values[groups.sensitive]
        columns = {"group": groups.group_of_entry, m.sensitive: values, "count": groups.counts}
        return pd.DataFrame(columns)

    def counted(self) -> list[tuple[pd.DataFrame, np.ndarray]]:
        """Each table's distinct rows and how often each occurs; groups get new numbers."""
        columns, numbers = self._columns(), writing.secret_order(self.classes.n_groups)
        del columns[self.microdata.sensitive]
        st = self.st.assign(group=numbers[self.st["group"]])
        qit = self._counted(columns | {"group": (numbers, self.entries.group)})
        return [qit, writing.by_texts(st, np.ones(len(st), np.intp))]

    @property
    def secrets(self) -> np.ndarray:
        """Raises ParameterError: rows of an anatomy have no sensitive value."""
        raise ParameterError(
            "rows of an anatomy have no sensitive value: read the counts of their group in `st`"
        )

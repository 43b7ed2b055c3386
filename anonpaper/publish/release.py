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
from anonpaper.published_values import SubDomains
from anonpaper.recoding import Recoding
from anonpaper.roles import only_one

__all__ = ["Anatomy", "PublishedAttribute", "Release"]


@dataclass(frozen=True, eq=False)
class PublishedAttribute:
    """The published values of one quasi-identifier.

    ``index``, shape (f,), dtype int32, is the number of every entry's sub-domain, without meaning
    for withheld rows.
    """

    sub_domains: SubDomains
    index: np.ndarray

    attribute = property(lambda self: self.sub_domains.attribute)
    sizes = property(lambda self: self.sub_domains.sizes)
    is_star = property(lambda self: self.sub_domains.is_star)
    labels = property(lambda self: self.sub_domains.labels)  # (r,): the text of each

    def starred_whole(self, shown: np.ndarray, codes: np.ndarray) -> PublishedAttribute:
        """Return the attribute with one sub-domain, a star, for those with all `codes` shown."""
        sub, held = self.sub_domains, np.unique(codes[shown])
        if sub.names is None and len(held) > 1:
            (wide,) = np.nonzero((sub.low <= held[0]) & (sub.high >= held[-1]))
            wide = wide[sub.contains(wide[:, None], held).all(axis=1)]
            if len(wide):
                whole, sub = wide[np.argmax(sub.sizes[wide])], replace(sub)
                sub.labels[whole] = STAR
                index = np.where(np.isin(self.index, wide), whole, self.index).astype(np.int32)
                return PublishedAttribute(sub, index)
        return self


@dataclass(eq=False, repr=False)
class Release(judging.Published):
    """A published table and how it was made.

    ``frame`` is for its maker: it has the input's index and row order. Give others only
    :meth:`write` or :meth:`public_frame`. ``microdata`` is the original table, ``recoding`` the
    Recoding (None for groups), ``entries`` the rows of each cell in each group, with their
    sensitive codes as published, and ``published`` a PublishedAttribute per quasi-identifier.
    """

    entries: Entries
    published: Sequence[PublishedAttribute]
    method: str
    made_by: Partition | Recoding
    #: (f,): the classes that a recoding withholds for their values, otherwise -1
    failing: np.ndarray | None = None
    is_seeded: bool = False  # whether a swap can be repeated by who guesses its seed
    #: Whether everybody sees who is in which group, because quasi-identifiers are unchanged; then
    #: the groups are the classes: the attacker is assumed to know them (boger2020, section 5)
    shows_groups: bool = False

    microdata = property(lambda self: self.entries.m)
    recoding = property(lambda self: None if self._in_groups else self.made_by)
    _in_groups = property(lambda self: isinstance(self.made_by, Partition))
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
        return self.made_by if self._in_groups else self.classes

    @property
    def is_published(self) -> np.ndarray:
        """Whether a row is published at all, shape (n,), dtype bool."""
        return self.shown[self.entries.of_row]

    @property
    def secrets(self) -> np.ndarray:
        """Sensitive codes of entries as published, (f,); ParameterError for an anatomy."""
        if self.method == "anatomize":
            raise ParameterError("rows have no sensitive value: read the counts of groups in `st`")
        return self.entries.codes_of(only_one(self.microdata.sensitive))

    @property
    def sensitive_codes(self) -> np.ndarray:
        """Sensitive codes as published, shape (n,): the table's codes unless they were swapped."""
        return self.secrets[self.entries.of_row]

    def without_synthetic(self) -> Release:
        """Return the release without synthetic rows; EmptyTableError if every row is synthetic."""
        real = np.flatnonzero(~self.is_synthetic)
        rows, made_by = self.entries.of_row[real], self.made_by
        labels = dense_labels(self.entries.group[rows])
        if self._in_groups:
            made_by = Partition(labels, made_by.info, made_by.algorithm)
            made_by.call, made_by.promised = self.made_by.call, self.made_by.promised
        e = Entries.of_rows(self.microdata.take(real), labels)
        e = replace(e, secrets=self.entries.secrets[rows])
        published = [replace(column, index=column.index[rows]) for column in self.published]
        failing = self.failing[rows]
        return replace(self, entries=e, published=published, made_by=made_by, failing=failing)

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
            columns[name] = new
            if not old.isna().any():
                if np.all(new == old.to_numpy(dtype=object)):
                    columns[name] = old.array  # so the type stays too
                elif name in m.sensitives:
                    columns[name] = pd.Series(new, dtype=old.dtype).array
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
        names = self.microdata.sensitives
        known = [None, *names] if names else []
        return tuple(p for p in self.made_by.promised if not p.needs_sensitive or p.of in known)

    @property
    def call(self) -> str:
        """The calls that made the release from a table `m`, as far as they are known."""
        made_by = self.made_by.call or "..."
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


class Anatomy(Release):
    """Quasi-identifiers and sensitive values in two tables that share a group number.

    ``qit`` has the quasi-identifiers and ``group`` of every published row, with the input's index;
    ``st`` a row for each value of a group: ``group``, the sensitive attribute and ``count``.
    """

    qit = property(lambda self: self.frame)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table `qit`: quasi-identifiers with the number of their group."""
        qit = super().frame.drop(columns=self.microdata.sensitive)
        return qit.assign(group=self.classes.labels[self.is_published])

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

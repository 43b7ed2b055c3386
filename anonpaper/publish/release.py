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
from anonpaper.publish.judging import check_release
from anonpaper.published_values import SubDomains
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
        sub, held = self.sub_domains, np.unique(codes[shown])
        if sub.names is None and len(held) > 1:
            (wide,) = np.nonzero((sub.low <= held[0]) & (sub.high >= held[-1]))
            wide = wide[sub.contains(wide[:, None], held).all(axis=1)]
            if len(wide):
                whole = wide[np.argmax(sub.sizes[wide])]
                index = np.where(np.isin(self.index, wide), whole, self.index).astype(np.int32)
                return PublishedAttribute(sub, index, int(whole))
        return self


class Release:
    """A published table and how it was made.

    ``frame`` is for its maker: it has the input's index and row order. Give others only
    :meth:`write` or :meth:`public_frame`. ``microdata`` is the original table, ``recoding`` the
    Recoding (None for groups), ``entries`` the rows of each cell in each group, with their
    sensitive codes as published, and ``published`` a PublishedAttribute per quasi-identifier.
    """

    shows_groups = False  # whether everybody sees who is in which group
    is_seeded = False  # whether a swap can be repeated by who guesses its seed
    is_synthetic = property(lambda self: self.microdata.synthetic)  # (n,): whether a row is

    def __init__(
        self, entries: Entries, published: Sequence, method: str, partition=None, recoding=None
    ) -> None:
        published = check_sequence("published", published, PublishedAttribute)
        if not isinstance(entries, Entries):
            raise ParameterError(f"expected Entries, got {entries!r}: use ap.suppress(m, p)")
        self.shown = entries.group >= 0  # (f,): which entries are published
        if not self.shown.all():
            each = zip(published, entries.codes.T, strict=True)
            published = [column.starred_whole(self.shown, codes) for column, codes in each]
        self.entries, self.published, self.method = entries, tuple(published), method
        self.microdata, self.recoding, self._partition = entries.m, recoding, partition
        self.accepted: str | None = None  # why it was written below its promise
        self._written: dict = {}  # of a table of counts, what an audit is to read
        #: (f,): the classes that a recoding withholds for their values, otherwise -1
        self.failing = np.full(len(entries.group), -1)

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
        entries = Entries.of_rows(self.microdata.take(real), labels)
        entries = replace(entries, secrets=self.entries.secrets[rows])
        published = [replace(column, index=column.index[rows]) for column in self.published]
        rel = type(self)(entries, published, self.method, p, self.recoding)
        rel.failing, rel.is_seeded = self.failing[rows], self.is_seeded
        return rel

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

    @cached_property
    def frame(self) -> pd.DataFrame:
        """QI and SA of published rows for analysis, with the input's index, order and types."""
        m, of_row = self.microdata, self.entries.of_row
        rows, entries = self.shown[of_row], of_row[self.shown[of_row]]
        roles = {p.attribute.name: p.labels[p.index[entries]] for p in self.published}
        for name in m.sensitives:
            roles[name] = m.attribute(name).values[self.entries.codes_of(name)[entries]]
        columns = {}
        for name in (name for name in m.frame.columns if name in roles):
            old = m.frame[name][rows]
            columns[name] = roles[name]
            if not old.isna().any() and np.all(roles[name] == old.to_numpy(dtype=object)):
                columns[name] = old.array  # unchanged, so the type stays too
        return pd.DataFrame(columns, index=m.frame.index[rows])

    def counted(self) -> list[tuple[pd.DataFrame, np.ndarray]]:
        """Each table's distinct rows, sorted by their texts, and how often each occurs."""
        m, shown = self.microdata, self.entries.take(self.shown)
        secrets = {n: (m.attribute(n).values, shown.codes_of(n)) for n in m.sensitives}
        return [self._counted(shown.counts, secrets)]

    def _counted(self, counts: np.ndarray, others: dict) -> tuple[pd.DataFrame, np.ndarray]:
        """Count rows of quasi-identifiers and other columns, each labels and their number."""
        writing.check_written_apart(self)
        columns = {p.attribute.name: (p.labels, p.index[self.shown]) for p in self.published}
        columns |= others
        labels, index = zip(*columns.values(), strict=True)
        _, first, counts = distinct(index, list(map(len, labels)), counts)
        names = [name for name in self.microdata._columns.names if name in columns]
        rows = {name: columns[name][0][columns[name][1][first]] for name in [*names, *others]}
        return writing.by_texts(pd.DataFrame(rows), counts)

    @property
    def promised(self) -> tuple[Principle, ...]:
        """Principles promised by the algorithm with its parameters; empty if not known."""
        return getattr(self.recoding or self._partition, "promised", ())

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
        """Return what `audit` judges: entries in equivalence classes, with published SA."""
        if self._written:
            self.microdata.engine.check_written(self._written)
        return self.entries.in_groups(self.classes.group)

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
        roles = [name for name in m.frame.columns if name in m.qi or name == m.sensitive]
        frame, row_of = m.frame.loc[shown, roles].copy(), np.empty(m.sensitive_attribute.size, int)
        row_of[m.sensitive_codes] = np.arange(m.n)  # of every value, as the input writes it
        swapped = m.frame[m.sensitive].iloc[row_of[self.sensitive_codes[shown]]]
        frame[m.sensitive] = swapped.set_axis(frame.index)
        return frame

    def audited(self) -> Entries:
        """Return entries in groups with the table's SA, so no verdict depends on the draw."""
        if self._written:
            self.microdata.engine.check_written(self._written)
        return replace(self.entries, secrets=self.microdata.cells.secrets[self.entries.cell])


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
        qit = m.frame.loc[shown, [c for c in m.frame.columns if c in m.qi]]
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
        shown, numbers = self.entries.take(self.shown), writing.secret_order(self.classes.n_groups)
        st = self.st.assign(group=numbers[self.st["group"]])
        qit = self._counted(shown.counts, {"group": (numbers, shown.group)})
        return [qit, writing.by_texts(st, np.ones(len(st), np.intp))]

    @property
    def secrets(self) -> np.ndarray:
        """Raises ParameterError: rows of an anatomy have no sensitive value."""
        raise ParameterError(
            "rows of an anatomy have no sensitive value: read the counts of their group in `st`"
        )

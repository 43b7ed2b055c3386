"""From groups or sub-domains to the table that is published.

This is the only module that turns a Partition or a Recoding into published values. Every
published QI value is a *sub-domain*, a set of values of its attribute: a kept value is a set of
one, a star the whole domain. Measures read sub-domains; the DataFrame is written on demand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from anonpaper.display import html, html_table
from anonpaper.errors import ParameterError
from anonpaper.groups import Partition, dense_labels
from anonpaper.microdata import Attribute, Microdata, build_cells
from anonpaper.principles import (
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    GroupCounts,
    KAnonymity,
    TCloseness,
    Theta,
)
from anonpaper.recoding import Recoding, label_values

__all__ = ["Anatomy", "GroupRelease", "PublishedAttribute", "Release"]


@dataclass(frozen=True, eq=False)
class PublishedAttribute:
    """The published values of one quasi-identifier.

    Attributes
    ----------
    attribute : Attribute
        The attribute and its whole domain.
    index : numpy.ndarray, shape (n,), dtype int32
        Which sub-domain every row publishes; meaningless for rows that are withheld.
    members : numpy.ndarray, shape (r, size), dtype bool
        The values in every sub-domain.
    names : numpy.ndarray, shape (r,), dtype object, optional
        How sub-domains are written, where a hierarchy names them.
    """

    attribute: Attribute
    index: np.ndarray
    members: np.ndarray
    names: np.ndarray | None = None

    @cached_property
    def labels(self) -> np.ndarray:
        """How every sub-domain is written, shape (r,), dtype object."""
        if self.names is not None:
            return self.names
        labels = np.empty(len(self.members), dtype=object)
        for i, members in enumerate(self.members):
            labels[i] = label_values(self.attribute, members)
        return labels

    @cached_property
    def sizes(self) -> np.ndarray:
        """Number of values in every sub-domain, shape (r,), dtype int64."""
        return self.members.sum(axis=1)

    @cached_property
    def is_star(self) -> np.ndarray:
        """Whether a sub-domain is the whole domain of at least two values, shape (r,)."""
        return (self.sizes == self.attribute.size) & (self.attribute.size > 1)


class Release:
    """A published table and how it came about.

    Attributes
    ----------
    microdata : Microdata
        The table it was made from.
    published : tuple of PublishedAttribute
        The quasi-identifiers as published, in the order of ``microdata.qi``.
    partition : Partition
        The groups it was made from; for a recoding, the classes of equal published rows.
    recoding : Recoding or None
        The recoding it was made from, if any.
    method : str
        ``"suppress"``, ``"generalize"``, ``"recode"``, ...
    """

    def __init__(
        self,
        microdata: Microdata,
        published: tuple[PublishedAttribute, ...],
        method: str,
        partition: Partition | None = None,
        recoding: Recoding | None = None,
        sensitive_codes: np.ndarray | None = None,
    ) -> None:
        self.microdata = microdata
        self.published = published
        self.method = method
        self.recoding = recoding
        self._partition = partition
        self._sensitive_codes = sensitive_codes

    @property
    def partition(self) -> Partition:
        """The groups it was made from; for a recoding its equivalence classes."""
        return self.classes if self._partition is None else self._partition

    @cached_property
    def is_published(self) -> np.ndarray:
        """Whether a row is published at all, shape (n,), dtype bool."""
        if self._partition is None:
            return np.ones(self.microdata.n, dtype=bool)
        return self._partition.labels >= 0

    @property
    def sensitive_codes(self) -> np.ndarray:
        """Sensitive codes as published, shape (n,): the table's own unless they were swapped."""
        if self._sensitive_codes is None:
            return self.microdata.sensitive_codes
        return self._sensitive_codes

    @property
    def is_synthetic(self) -> np.ndarray:
        """Whether a row is of nobody, shape (n,), dtype bool; see ``Microdata.synthetic``."""
        return self.microdata.synthetic

    def without_synthetic(self) -> Release:
        """Return what is published of real people alone: an attacker's best knowledge.

        Classes lose their synthetic rows, so they may be smaller and less diverse than in the
        release itself; a class of synthetic rows only is gone.

        Raises
        ------
        EmptyTableError
            Every row is synthetic.
        """
        real = np.flatnonzero(~self.is_synthetic)
        p = self._partition
        return type(self)(
            self.microdata.take(real),
            tuple(replace(column, index=column.index[real]) for column in self.published),
            self.method,
            None if p is None else Partition(dense_labels(p.labels[real]), p.info, p.algorithm),
            self.recoding,
            None if self._sensitive_codes is None else self._sensitive_codes[real],
        )

    @cached_property
    def classes(self) -> Partition:
        """Equivalence classes: rows whose published QI are equal; -1 for rows withheld."""
        rows = np.flatnonzero(self.is_published)
        labels = np.full(self.microdata.n, -1, dtype=np.int64)
        if len(rows):
            index = np.column_stack([p.index[rows] for p in self.published])
            cells = build_cells(index, [len(p.members) for p in self.published], None, 1)
            labels[rows] = cells.tuple_of_row
        return Partition(labels, algorithm="equivalence classes")

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The published table: index and column order of the input, rows withheld left out.

        Columns without a role are left out too: nothing but QI and SA is protected. The index
        says which row of the input a row is; do not publish it (``to_csv(..., index=False)``).
        """
        m = self.microdata
        rows = self.is_published
        roles = {p.attribute.name: p.labels[p.index[rows]] for p in self.published}
        if m.sensitive is not None:
            roles[m.sensitive] = m.sensitive_attribute.values[self.sensitive_codes[rows]]
        ordered = [name for name in m.frame.columns if name in roles]
        frame = pd.DataFrame({name: roles[name] for name in ordered}, index=m.frame.index[rows])
        for name in ordered:
            frame[name] = _as_before(frame[name], m.frame[name][rows])
        return frame

    def audit(self) -> pd.DataFrame:
        """Say which level of each principle the release reaches.

        Returns
        -------
        pandas.DataFrame
            Columns ``principle``, ``level`` and ``meaning``; levels are those of the worst
            equivalence class, t-closeness takes every two sensitive values to be equally far
            apart. Without a sensitive attribute only k-anonymity is reported.
        """
        m, labels = self._audited()
        principles = [("k-anonymity", KAnonymity(1), "smallest class, rows")]
        if m.sensitive is not None:
            principles += [
                ("distinct l-diversity", DistinctLDiversity(1), "fewest sensitive values"),
                ("frequency l-diversity", FrequencyLDiversity(1), "smallest size / largest count"),
                ("entropy l-diversity", EntropyLDiversity(1), "smallest exp(entropy)"),
                ("theta", Theta(1), "largest share of one sensitive value"),
                ("t-closeness", TCloseness(1), "largest distance from the table's distribution"),
            ]
        return pd.DataFrame(
            [
                {"principle": name, "level": float(p.level(m, labels)), "meaning": meaning}
                for name, p, meaning in principles
            ]
        )

    def _audited(self) -> tuple[Microdata, np.ndarray]:
        """The groups an attacker sees, with the sensitive values as published."""
        return self.microdata, self.classes.labels

    def __repr__(self) -> str:
        shown = int(self.is_published.sum())
        return (
            f"Release({self.method}: {shown} of {self.microdata.n} rows in "
            f"{self.classes.n_groups} equivalence classes)"
        )

    def _repr_html_(self) -> str:
        shown = int(self.is_published.sum())
        facts = [
            ("published by", self.method),
            ("rows", f"{shown:,} of {self.microdata.n:,}"),
            ("equivalence classes", self.classes.n_groups),
        ]
        if shown:
            audit = self.audit()
            facts += list(zip(audit["principle"], audit["level"], strict=True))
        return html("Release", facts, *map(html_table, self._tables()))

    def _tables(self) -> tuple[pd.DataFrame, ...]:
        """The tables that are published."""
        return (self.frame,)


class GroupRelease(Release):
    """A table whose quasi-identifiers stay as they are: groups hide the sensitive value.

    Its classes are the groups of the partition, whether or not they are published: the attacker
    is granted to know them (boger2020, section 5).
    """

    @property
    def classes(self) -> Partition:
        """The groups within which rows share their sensitive values; -1 for rows withheld."""
        return self.partition

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The published table: the input's columns with a role, as they were but for the SA.

        Index, column order and types are kept, missing values stay missing; rows withheld are
        left out.
        """
        m, shown = self.microdata, self.is_published
        roles = [name for name in m.frame.columns if name in m.qi or name == m.sensitive]
        frame = m.frame.loc[shown, roles].copy()
        # A row that has the value wanted stands for it, so that its type is kept.
        row_of_code = np.zeros(m.sensitive_attribute.size, dtype=np.int64)
        row_of_code[m.sensitive_codes] = np.arange(m.n)
        published = m.frame[m.sensitive].take(row_of_code[self.sensitive_codes[shown]])
        frame[m.sensitive] = published.set_axis(frame.index)
        return frame

    def _audited(self) -> tuple[Microdata, np.ndarray]:
        m = self.microdata
        published = m.with_roles()
        published._coded = {
            **published._coded,
            m.sensitive: (m.sensitive_attribute, self.sensitive_codes),
        }
        return published, self.classes.labels


class Anatomy(GroupRelease):
    """Quasi-identifiers and sensitive values in two tables that share a group number.

    Attributes
    ----------
    qit : pandas.DataFrame
        Quasi-identifiers and column ``group`` of every published row; the input's index.
    st : pandas.DataFrame
        Columns ``group``, the sensitive attribute and ``count``; one row for every sensitive
        value of every group.
    """

    @cached_property
    def qit(self) -> pd.DataFrame:
        """The quasi-identifiers with the number of their group."""
        m = self.microdata
        qit = m.frame.loc[self.is_published, [c for c in m.frame.columns if c in m.qi]].copy()
        return qit.assign(group=self.partition.labels[self.is_published])

    @cached_property
    def st(self) -> pd.DataFrame:
        """The sensitive values of every group with their number of rows."""
        m = self.microdata
        groups = GroupCounts.of(m, self.partition.labels)
        return pd.DataFrame(
            {
                "group": np.repeat(np.arange(len(groups.sizes)), groups.distinct()),
                m.sensitive: m.sensitive_attribute.values[groups.sensitive],
                "count": groups.counts,
            }
        )

    @property
    def frame(self) -> pd.DataFrame:
        """The table with one row per person, `qit`; `st` is the other one."""
        return self.qit

    def _tables(self) -> tuple[pd.DataFrame, ...]:
        return self.qit, self.st

    @property
    def sensitive_codes(self) -> np.ndarray:
        """Not there: raise ParameterError, for no row has a sensitive value of its own."""
        raise ParameterError(
            "an anatomy gives no row a sensitive value: read the counts of its group in `st`"
        )

    def _audited(self) -> tuple[Microdata, np.ndarray]:
        return self.microdata, self.classes.labels


def check_release(rel: object) -> Release:
    """Return `rel` if it is a Release; say how to make one if it is not.

    Raises
    ------
    ParameterError
        If `rel` is anything else, such as a Partition or the published frame.
    """
    if not isinstance(rel, Release):
        raise ParameterError(
            f"expected a Release, got {type(rel).__name__}: ap.suppress(m, p), ap.recode(m, r) "
            "and their like make one"
        )
    return rel


def _as_before(published: pd.Series, original: pd.Series) -> pd.Series:
    """Give a column that is published as it was its old type back."""
    if original.isna().any():
        return published
    same = published.to_numpy(dtype=object) == original.to_numpy(dtype=object)
    return original if np.all(same) else published

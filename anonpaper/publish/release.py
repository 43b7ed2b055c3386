"""The published table, and how it leaves.

Every published QI value is a *sub-domain*, a set of values of its attribute: one value if it is
kept, the whole domain if it is suppressed. Measures read sub-domains.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from anonpaper import principles
from anonpaper.display import html, html_table
from anonpaper.errors import (
    ColumnError,
    NoSensitiveValueError,
    ParameterError,
    PromiseError,
    check_choice,
    check_sequence,
    is_among,
)
from anonpaper.files import write_named
from anonpaper.groups import Partition, dense_labels
from anonpaper.hierarchy import STAR
from anonpaper.microdata import Microdata, build_cells, near_equal, no_rows
from anonpaper.principles import GroupCounts, Principle
from anonpaper.publish import writing
from anonpaper.published_values import SubDomains
from anonpaper.recoding import Recoding

__all__ = ["Anatomy", "GroupRelease", "PublishedAttribute", "Release", "check_release"]

#: A table of counts is published as a DataFrame up to this many rows.
MOST_ROWS = 1_000_000
_SEEDED = (
    "swapped with a seed: an attacker who guesses it undoes the swaps, so this table must not be "
    "published; swap without a seed instead"
)
_REPEATED = (
    "people have several rows: an attacker who knows how many rows somebody has, or in which "
    "classes, can conclude more than the levels say; they judge each class separately"
)
_SEVERAL = (
    "a row has several sensitive values: an attacker who knows one of them can be surer of the "
    "others than the levels say; they judge each attribute separately"
)
_MINIMALITY = (
    "minimality attack: {algorithm} looks at sensitive values{removed}, so who repeats it on all "
    "tables that fit can conclude more than the levels say: see ap.measure.minimality"
)
_DEFINETTI = (
    "deFinetti's attack: who learns from all groups which sensitive values go with which "
    "quasi-identifiers can guess better than the levels say"
)
#: Standard principles on sensitive values: name, principle and meaning of the level.
LEVELS = [
    ("distinct l-diversity", principles.DistinctLDiversity(1), "fewest sensitive values"),
    ("frequency l-diversity", principles.FrequencyLDiversity(1), "smallest size / largest count"),
    ("entropy l-diversity", principles.EntropyLDiversity(1), "smallest exp(entropy)"),
    ("theta", principles.Theta(1), "largest share of one sensitive value"),
    ("t-closeness", principles.TCloseness(1), "largest distance from the table's distribution"),
]


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
        m = self.microdata.plain()
        rows = self.is_published
        roles = {p.attribute.name: p.labels[p.index[rows]] for p in self.published}
        for name in m.sensitives:
            roles[name] = m.attribute(name).values[m.codes_of(name)[rows]]
        ordered = [name for name in m.frame.columns if name in roles]
        frame = pd.DataFrame({name: roles[name] for name in ordered}, index=m.frame.index[rows])
        for name in ordered:
            frame[name] = _as_before(frame[name], m.frame[name][rows])
        return frame

    def _counted(self) -> tuple[tuple[pd.DataFrame, np.ndarray], ...]:
        """Each table's distinct rows, sorted by their texts, and how often each occurs."""
        m, columns = self.microdata.plain(), self._columns()
        for name in m.sensitives:
            codes = m.codes_of(name) if self._swapped is None else self._swapped.codes
            columns[name] = m.attribute(name).values, codes[self.is_published]
        in_order = {name: columns[name] for name in m._columns if name in columns}
        return (_distinct(in_order, m.weights_of(self.is_published)),)

    def _columns(self) -> dict[object, tuple[np.ndarray, np.ndarray]]:
        """Labels, and their number in each row, of the published quasi-identifiers."""
        self._check_written_apart()
        return {p.attribute.name: (p.labels, p.index[self.is_published]) for p in self.published}

    def public_tables(
        self,
        keep: Sequence = (),
        *,
        against: Literal["file", "register"] = "file",
        accept: str | None = None,
    ) -> tuple[pd.DataFrame, ...]:
        """Return the tables that may be given away: one, or two for an anatomy.

        They hold only the published rows, in a new random order at each call: no index,
        attributes, unused categories or types of the input. `keep` names columns without a role to
        publish unchanged, without protection. Tables below the promise are refused, as by
        :meth:`write`; look at `frame` instead.

        Raises
        ------
        ParameterError, PromiseError
            As for :meth:`check_promise`.
        ColumnError, RowsError
            `keep` has an unknown name or the person column; two columns would have the same name;
            or different values would be written alike, such as a star and a value ``*``. For a
            table of counts: `keep` is not empty, or there are more than 1,000,000 rows (use
            :meth:`write`).
        """
        self.check_promise(against, accept)
        m = self.microdata
        keep = check_sequence("keep", keep)
        if m.weights is not None:
            if keep or m.count(self.is_published) > MOST_ROWS:
                no_rows()
            return tuple(
                writing.public(frame.iloc[np.repeat(np.arange(len(frame)), counts)])
                for frame, counts in self._counted()
            )
        unknown = [name for name in keep if not is_among(name, list(m.frame.columns))]
        if unknown:
            raise ColumnError(f"keep names {unknown}; the table has {list(m.frame.columns)}")
        if m.person is not None and m.person in keep:
            raise ColumnError(f"{m.person!r} identifies people and is never published")
        self._check_written_apart()
        first, *others = self._tables()
        if others:  # group numbers follow the order of the input: draw new ones
            numbers = writing.secret_order(self.partition.n_groups)
            first, *others = (t.assign(group=numbers[t["group"]]) for t in (first, *others))
        if keep:
            kept = m.frame.loc[self.is_published, keep]
            first = pd.concat([first, kept.set_axis(first.index)], axis=1)
            before = [name for name in m.frame.columns if name in first]
            first = first[before + [name for name in first if name not in before]]
        return tuple(writing.public(table) for table in (first, *others))

    def _check_written_apart(self) -> None:
        """Raise ColumnError if different values are written alike."""
        for column in self.published:
            shown = np.unique(column.index[self.is_published])
            if alike := _written_alike(column.labels[shown], column.sizes[shown] > 1):
                raise ColumnError(
                    f"{alike} would have several meanings in {column.attribute.name!r}: rename it"
                )
        m = self.microdata.plain()
        for name in m.sensitives:
            if alike := _written_alike(m.attribute(name).values):
                raise ColumnError(
                    f"different values of {name!r} are written alike: {alike}; fewer would be "
                    "published than were counted: convert them to one type"
                )

    def public_frame(
        self, *, against: Literal["file", "register"] = "file", accept: str | None = None
    ) -> pd.DataFrame:
        """Return the first table of :meth:`public_tables`, which has the errors too.

        Examples
        --------
        >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
        >>> rel.public_frame().index
        RangeIndex(start=0, stop=10, step=1)
        """
        return self.public_tables(against=against, accept=accept)[0]

    def write(
        self,
        path: str | os.PathLike,
        *,
        replace: bool = True,
        against: Literal["file", "register"] = "file",
        accept: str | None = None,
    ) -> tuple[Path, ...]:
        """Write :meth:`public_tables` to files, completely or not at all, and nothing else.

        A file in which the rows of real people keep less than was promised is refused. Each of
        `warnings`, such as what stronger attackers conclude, raises a UserWarning; so do texts
        that are formulas.

        Parameters
        ----------
        path : path
            Ends in .csv, .tsv or .txt, perhaps followed by .gz, .bz2 or .xz, or in .parquet. The
            second table of an anatomy is ``name_sensitive.csv`` in the same folder. For a table of
            counts (:func:`anonpaper.scan`) it may be a folder, which gets parquet files.
        replace : bool
            Whether existing files may be replaced. New files follow the user's umask and are not
            more accessible than the files they replace.
        against : {"file", "register"}
            Whom the promise must withstand: who counts the rows of real people in the file, or
            also the strongest of :func:`anonpaper.measure.attackers`.
        accept : str, optional
            A reason to write the release although it keeps less; the report prints it.

        Returns
        -------
        tuple of Path
            The files written.

        Raises
        ------
        PromiseError
            The release keeps less than `promised`, and `accept` is not given.
        ColumnError, FileError, ParameterError
            As :meth:`public_tables`; missing values and empty texts in one csv column; or an
            unknown ending, or a place that cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
        >>> [path] = rel.write(Path(tempfile.mkdtemp(), "hospital.csv"))
        >>> path.read_text().count("*")
        8
        """
        if self.microdata.engine is not None:
            self.check_promise(against, accept)
            self._written = self.microdata.engine.write(self, path, replace=replace)
            paths = tuple(path for table in self._written for path in table.paths)
            tables = [table.frame for table in self._written]
        else:
            writing.check_table_place(path, replace=replace)
            tables = self.public_tables(against=against, accept=accept)
            paths = (Path(path), writing.beside(path, "sensitive"))[: len(tables)]
            writing.write_tables(dict(zip(paths, tables, strict=True)), replace=replace)
        run = [] if paths[0].suffix.lower() in writing.PARQUET else writing.formulas(tables)
        for text in (*self.warnings, *run):
            warnings.warn(text, stacklevel=2)
        return paths

    @property
    def warnings(self) -> tuple[str, ...]:
        """Attackers who conclude more than was promised, and attacks that no level covers."""
        broken = [f"{row.principle} {row.concluded:.3g} ({_told(row)})" for row in self._broken]
        told = f"attackers conclude more than promised: {'; '.join(broken)}"
        return (*[told][: len(broken)], *self._uncounted)

    @property
    def _broken(self) -> list:
        """The rows of `_concluded` whose promise an attacker breaks."""
        rows = self._concluded.itertuples() if self.is_published.any() else ()
        return [row for row in rows if row.people and row.promised == row.promised]

    @cached_property
    def _uncounted(self) -> list[str]:
        """Attacks that no level covers."""
        m, p = self.microdata, self._partition
        found = [_SEEDED] if self._is_seeded else []
        found += [_DEFINETTI] if isinstance(self, Anatomy) else []
        found += [] if m.people is None else [_REPEATED]
        found += [_SEVERAL] if len(m.sensitives) > 1 else []
        for name in m.sensitives:
            used = np.bincount(m.codes_of(name), minlength=m.attribute(name).size) > 0
            found += [
                f"{texts} of {name!r} may be one value: they count as different sensitive values"
                for texts in near_equal(m.attribute(name).values[used])
            ]
        by_tp = p is not None and has_residue(p)
        if by_tp or (m.sensitives and any(one.needs_sensitive for one in self.promised)):
            removed = f" and removed {p.info['residue_size']} rows" if by_tp else ""
            made_by = (self.recoding or p).algorithm
            found.append(_MINIMALITY.format(algorithm=made_by, removed=removed))
        return found

    @property
    def _is_seeded(self) -> bool:
        return self._swapped is not None and self._swapped.seeded

    @property
    def _concluded(self) -> pd.DataFrame:
        """The table of :func:`anonpaper.measure.attackers`; written files are read each time."""
        from anonpaper.measure.named_attackers import attackers

        if self._attacked is None or self._written:
            self._attacked = attackers(self)
        return self._attacked

    @cached_property
    def withheld(self) -> tuple[int, float]:
        """Withheld rows, and the largest share of one sensitive value in a group of them.

        A group is a class that was withheld for its sensitive values, or all others together. An
        attacker who knows the register, the method and the values of the group learns that value
        with this probability. The share is nan if no real row is withheld or there is no
        sensitive attribute. Where people have several rows, it is a share of people.
        """
        from anonpaper.measure.named_attackers import withheld_groups

        labels = withheld_groups(self)
        rows = self.microdata.count(~self.is_published)
        if not (labels >= 0).any() or not self.microdata.sensitives:
            return rows, float("nan")
        return rows, float(principles.Theta(1).level(self.microdata, labels))

    def audit(self) -> pd.DataFrame:
        """Report which level of each principle the release reaches, and what levels do not cover.

        Returns
        -------
        pandas.DataFrame
            Columns ``principle``, ``level`` and ``meaning``. Each level is the worst equivalence
            class, for each sensitive attribute; t-closeness treats all values as equally far
            apart. Where people have several rows, levels count people, and the rows of the
            smallest class follow. Then come `withheld`; a row ``..., concluded`` for each level
            that an attacker makes worse; and a row ``warning`` for each attack that no level
            covers. After :meth:`write`, the levels of a table of counts are read from the files.
        """
        told = list(self._concluded.itertuples())
        found = [(row.principle, row.file, row.meaning) for row in told if row.meaning]
        if self.microdata.people is not None:
            fewest = float(self.classes.sizes().min())
            found.insert(1, ("rows in a class", fewest, "fewest; several may be of one"))
        rows, share = self.withheld
        if rows:
            found.append(("rows withheld", float(rows), "in the table but not in the release"))
        if share == share:
            whose = "" if self.microdata.people is None else ", of people"
            found.append(("theta of them", share, f"largest share of one sensitive value{whose}"))
        found += [(f"{row.principle}, concluded", row.concluded, _told(row))
                  for row in told if row.people or row.concluded != row.file]  # fmt: skip
        found += [("warning", float("nan"), text) for text in self._uncounted]
        return pd.DataFrame(found, columns=["principle", "level", "meaning"])

    @property
    def promised(self) -> tuple[Principle, ...]:
        """Principles promised by the algorithm with its parameters; empty if not known."""
        return getattr(self.recoding or self._partition, "promised", ())

    def check_promise(
        self, against: Literal["file", "register"] = "file", accept: str | None = None
    ) -> None:
        """Raise PromiseError if the rows of real people keep less than was promised.

        Parameters
        ----------
        against, accept
            As for :meth:`write`, which calls this first, as everything that publishes does.

        Raises
        ------
        PromiseError
            The release keeps less than `promised`, and `accept` is not given.
        ParameterError
            `against` is unknown, or `accept` is no reason in words.

        Examples
        --------
        >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
        >>> rel.check_promise(against="register")
        """
        check_choice("against", against, ("file", "register"))
        if accept is not None and not (isinstance(accept, str) and accept.strip()):
            raise ParameterError(f"accept must be a reason in words, got {accept!r}")
        self.accepted = accept or self.accepted
        if accept is not None or not self.is_published.any():
            return
        found = [
            f"{promise} is promised, but the rows of real people reach {level:.4g}"
            for promise, level in self.kept().items()
            if level is not None
        ]
        remedy = "Run the algorithm on this table, " if found else ""
        if self.recoding is not None:
            remedy += (
                "withhold failing classes by r.withhold = r.promised before ap.recode(m, r), "
                if found
                else "Run full_domain or tds with cover=True (--cover), "
            )
        if against == "register" and self._broken:
            found.append(self.warnings[0])
        if found:
            raise PromiseError(
                f"{'; '.join(found)}: nothing was published. "
                f'{remedy}or pass accept="the reason" (--accept), which the report prints'
            )

    def kept(self) -> dict[Principle, float | None]:
        """Return each promise: None if it holds for the rows of real people, or their level."""
        m, labels = self.audited()
        labels = dense_labels(np.where(m.synthetic, -1, labels))
        asked = [p for name in (None, *self.microdata.sensitives) for p in self.promised_of(name)]
        return {
            p: None if (labels < 0).all() or p.holds(m, labels) else p.level(m, labels)
            for p in asked
        }

    def promised_of(self, name: object = None) -> list[Principle]:
        """Return the promises on classes and on the sensitive attribute `name`."""
        return [p for p in self.promised if not p.needs_sensitive
                or (name is not None and p.of in (None, name))]  # fmt: skip

    @property
    def call(self) -> str:
        """The calls that made the release from a table `m`, as far as they are known."""
        door = {"shallow": "shallow_generalize"}.get(self.method, self.method)
        made_by = getattr(self.recoding or self._partition, "call", "") or "..."
        more = ", hierarchies" * (self.method == "shallow")
        if self._is_seeded:
            more = ", seed=..."
        return f"ap.{door}(m, {made_by}{more})"

    def report(self, path: str | os.PathLike, *, call: str | None = None) -> Path:
        """Write a page that compares the release with its table, for the table's owner.

        Do not publish it: it shows counts and distributions of the original table. It compares
        uniqueness, the risk under three attacker models, levels, losses and distributions. It also
        lists withheld and synthetic rows, further attacks, the call and a hash.

        Parameters
        ----------
        path : path
            Ends in .html. An existing file is replaced, completely or not at all; FileError if it
            cannot be written.
        call : str, optional
            How the release was made, if it does not know.

        Returns
        -------
        Path

        Examples
        --------
        >>> import tempfile
        >>> m = ap.examples.hospital()
        >>> path = Path(tempfile.mkdtemp(), "report.html")
        >>> ap.suppress(m, ap.mondrian(m, k=3)).report(path).read_text()[:15]
        '<!DOCTYPE html>'
        """
        from anonpaper.owner.page import check_page_place, page

        check_page_place(path)
        write_named(path, page(self, call))
        return Path(path)

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
        return html("Release", facts, *map(html_table, self._tables()))

    def _tables(self) -> tuple[pd.DataFrame, ...]:
        if self.microdata.weights is None:
            return (self.frame,)
        return tuple(frame for frame, _ in self._counted())


class GroupRelease(Release):
    """A table with unchanged quasi-identifiers: groups hide the sensitive value.

    Its classes are the groups of the partition, published or not: the attacker is assumed to know
    them (boger2020, section 5).
    """

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
        m = self.microdata.plain()
        groups = GroupCounts.of(m, self.partition.labels)
        values = m.sensitive_attribute.values[groups.sensitive]
        columns = {"group": groups.group_of_entry, m.sensitive: values, "count": groups.counts}
        return pd.DataFrame(columns)

    @property
    def frame(self) -> pd.DataFrame:
        """The table `qit`, with one row per published row; `st` is the other table."""
        return self.qit

    def _tables(self) -> tuple[pd.DataFrame, ...]:
        return (self.qit, self.st) if self.microdata.weights is None else super()._tables()

    def _counted(self) -> tuple[tuple[pd.DataFrame, np.ndarray], ...]:
        """Return the distinct rows of both tables, and how many there are of each."""
        m, p = self.microdata.plain(), self.partition
        groups = GroupCounts.of(m, p.labels)
        numbers, numbered = np.arange(p.n_groups), writing.secret_order(p.n_groups)
        counts, place = np.unique(groups.counts, return_inverse=True)
        qit = self._columns() | {"group": (numbers, numbered[p.labels[self.is_published]])}
        st = {
            "group": (numbers, numbered[groups.group_of_entry]),
            m.sensitive: (m.sensitive_attribute.values, groups.sensitive),
            "count": (counts, place),
        }
        return _distinct(qit, m.weights_of(self.is_published)), _distinct(st)

    @property
    def sensitive_codes(self) -> np.ndarray:
        """Raises NoSensitiveValueError: rows of an anatomy have no sensitive value."""
        raise NoSensitiveValueError(
            "rows of an anatomy have no sensitive value: read the counts of their group in `st`"
        )


def _distinct(columns: dict, weights: np.ndarray | None = None) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the distinct rows of labels, sorted by their texts, and how often each occurs."""
    ranked, ordered = [], []
    for labels, index in columns.values():
        order = np.argsort([str(label) for label in labels], kind="stable")
        ranked.append(np.argsort(order).astype(np.int32)[index])
        ordered.append(labels[order])
    sizes = [len(labels) for labels in ordered]
    distinct = build_cells(np.column_stack(ranked), sizes, None, 1, weights)
    texts = zip(columns, ordered, distinct.tuples.T, strict=True)
    frame = pd.DataFrame({name: labels[place] for name, labels, place in texts})
    return writing.plain(frame), distinct.tuple_sizes


def _told(row) -> str:
    """Who concludes a row of `_concluded`, and of how many people."""
    bound = "the level of the file" if row.promised != row.promised else f"{row.promised:.4g}"
    worst = "" if row.exact else "at worst, "
    return f"{row.attacker}: {worst}{row.people:,} of {row.of:,} people beyond {bound}"


def has_residue(p: Partition) -> bool:
    """Whether TP or TP+ made the groups and removed rows."""
    return "removed_by_phase" in p.info and p.info["residue_size"] > 0


def check_release(rel: object, *, weights: bool = False) -> Release:
    """Return `rel` if it is a Release; a table of counts only if the caller allows `weights`."""
    if not isinstance(rel, Release):
        raise ParameterError(
            f"expected a Release, got {type(rel).__name__}: make one by ap.suppress(m, p), "
            "ap.recode(m, r) or another form of publication"
        )
    if rel.microdata.weights is not None and not weights:
        no_rows()
    return rel


def _written_alike(values: np.ndarray, asked: np.ndarray | bool = True) -> list[str]:
    """Return up to five texts shared by several values, at least one of them `asked` for."""
    texts = pd.Series([str(value) for value in values])
    return texts[texts.duplicated(keep=False) & asked].unique()[:5].tolist()


def _as_before(published: pd.Series, original: pd.Series) -> pd.Series:
    """Restore the old type of a column that is published unchanged."""
    if original.isna().any():
        return published
    same = published.to_numpy(dtype=object) == original.to_numpy(dtype=object)
    return original if np.all(same) else published

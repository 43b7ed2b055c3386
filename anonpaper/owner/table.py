"""A table of people as counts: its cells are here, its rows are not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from anonpaper.display import html
from anonpaper.microdata import (
    CellTable,
    CountedRows,
    Microdata,
    build_cells,
    checked_roles,
    no_rows,
)

__all__ = ["CountedMicrodata"]


class CountedMicrodata(Microdata):
    """A table of people that knows how many rows of each kind there are, and no row.

    Algorithms that work on cells take it as any table; `frame`, `codes`, `take`, ... raise
    RowsError. :func:`~anonpaper.scan` gives the attribute of every column and its codes in f
    combinations (`coded`), the `counts` of these, and the `engine` that writes releases.
    """

    has_rows = False

    def __init__(
        self, coded: Mapping, counts, qi, sensitive, *, missing, origin, dropped, engine
    ) -> None:
        distinct = build_cells(
            np.column_stack([codes for _, codes in coded.values()]),
            [attribute.size for attribute, _ in coded.values()], None, 1, counts,
        )  # fmt: skip
        self._combinations = {
            name: (attribute, codes)
            for (name, (attribute, _)), codes in zip(coded.items(), distinct.tuples.T, strict=True)
        }
        self._counts, self.n = distinct.counts, int(counts.sum())
        self._coded = {name: (attribute, None) for name, (attribute, _) in coded.items()}
        self._frame, self._whole, self._domains = None, None, {}
        self.qi, self.sensitive, self.person, self.missing = qi, sensitive, None, missing
        self.origin, self.dropped, self.engine = origin, dropped, engine
        self.synthetic, self.weights = np.zeros(0, bool), None
        self._settle()

    def _settle(self) -> None:
        self.qi, several = checked_roles([*self._coded], self.qi, self.sensitive, self.person)
        self.sensitive = several if len(several) > 1 else next(iter(several), None)

    frame = codes = sensitive_codes = property(no_rows)
    codes_of = take = sample = with_codes = no_rows

    @property
    def _columns(self) -> list:
        return [*self._coded]

    @cached_property
    def _listed(self) -> CountedRows:
        roles = [name for name in self._combinations if name in self._roles]
        coded = {name: self._combinations[name] for name in roles}
        return CountedRows(self, coded, self._counts)

    @property
    def cells(self) -> CellTable:
        """The cell table, without numbers of rows."""
        return self._listed.cells

    @property
    def sensitive_counts(self) -> np.ndarray:
        """Number of rows of every sensitive value, shape (m,), dtype int64."""
        return self.about(self._required_sensitive())._listed.sensitive_counts

    def counted(self) -> Microdata:
        """Return the cells as a table that lists each once, with its number of rows."""
        return self._listed if len(self.sensitives) > 1 else super().counted()

    def _like(self, **marks) -> Microdata:
        other = super()._like(**marks)
        vars(other).pop("_listed", None)
        return other

    def _repr_html_(self) -> str:
        facts = [
            ("quasi-identifiers", ", ".join(map(repr, self.attributes))),
            ("sensitive", ", ".join(repr(self.attribute(name)) for name in self.sensitives)),
            ("distinct quasi-identifiers", f"{len(self.cells):,}"),
            ("origin", self.origin),
            ("rows left out for missing values", f"{self.dropped:,}"),
        ]
        return html(f"Microdata, counts of {self.n:,} rows", facts)

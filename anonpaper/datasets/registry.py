"""The registry of data sets, read from registry.toml, and the origin of loaded rows."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anonpaper.errors import check_choice

__all__ = ["Dataset", "Origin", "StandInWarning", "dataset", "registry"]


class StandInWarning(UserWarning):
    """The published file of a data set is not available; generated rows replace it."""


@dataclass(frozen=True)
class Origin:
    """Where the rows of a data set came from: the sentence that every figure and notebook prints.

    >>> print(Origin("adult", "package index", "adult.data", "5b00264637db"))
    adult: adult.data (package index, sha256 5b00264637db)
    >>> print(Origin("stroke", "stand-in", stand_in=True, note="5,110 generated rows"))
    stroke: STAND-IN DATA generated from the published schema; 5,110 generated rows
    """

    dataset: str  # name in the registry
    how: str  # "by hand", "official address", "package index", "stand-in" or "user's extract"
    file: str = ""  # or files, joined by " + "; empty for a stand-in
    sha256: str = ""  # of the unpacked file or files, joined the same way
    stand_in: bool = False  # generated from the published schema instead of read
    substitute_for: str | None = None  # the data set of a paper that this one replaces
    note: str = ""  # rows that were dropped, sampled or replaced

    def __str__(self) -> str:
        short = " + ".join(part[:12] for part in self.sha256.split(" + "))
        source = f"{self.file} ({self.how}, sha256 {short})"
        if self.stand_in:
            source = "STAND-IN DATA generated from the published schema"
        stands_for = self.substitute_for and f"stands for {self.substitute_for}"
        return f"{self.dataset}: " + "; ".join(filter(None, [source, stands_for, self.note]))


@dataclass(frozen=True)
class Dataset:
    """The registry's entry of one data set; a derived one has files and licence of its source."""

    name: str
    rows: int
    qi: list[str]
    sensitive: str
    licence: str
    citation: str
    page: str
    files: dict[str, str]  # name -> sha256 of the unpacked content
    official: str | None = None  # address of a file, or of an archive that has the files
    mirror: tuple[str, str, str] | None = None  # package, its archive, and sha256 of this
    derived_from: str | None = None
    substitute_for: str | None = None
    stand_in: str | None = None  # title of the published file, if generated rows can replace it


@cache
def registry() -> dict[str, Dataset]:
    """Return every registered data set by name."""
    tables = tomllib.loads(Path(__file__).with_name("registry.toml").read_text(encoding="utf-8"))
    sources = {name: tables.get(table.get("derived_from"), {}) for name, table in tables.items()}
    return {name: Dataset(name, **sources[name] | table) for name, table in tables.items()}


def dataset(name: str) -> Dataset:
    """Return the registry's entry of one data set; ParameterError lists the names."""
    return registry()[check_choice("name", name, registry())]

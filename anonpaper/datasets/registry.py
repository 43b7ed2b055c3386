"""The registry of data sets, read from registry.toml, and the origin of loaded rows."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from anonpaper.errors import DatasetError

__all__ = ["Dataset", "File", "Mirror", "Origin", "StandInWarning", "dataset", "registry"]


class StandInWarning(UserWarning):
    """The published file of a data set is not available; generated rows replace it."""


@dataclass(frozen=True)
class Origin:
    """Where the rows of a data set came from: the sentence that every figure and notebook prints.

    Examples
    --------
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
        if self.stand_in:
            source = "STAND-IN DATA generated from the published schema"
        else:
            short = " + ".join(part[:12] for part in self.sha256.split(" + "))
            source = f"{self.file} ({self.how}, sha256 {short})"
        stands_for = f"stands for {self.substitute_for}" if self.substitute_for else ""
        return f"{self.dataset}: " + "; ".join(filter(None, [source, stands_for, self.note]))


class File(NamedTuple):
    """One file of a data set, and its names in archives; without a name, no archive has it."""

    name: str
    sha256: str  # of the unpacked content
    in_official: str | None = None  # None for `name`
    in_mirror: str | None = None


class Mirror(NamedTuple):
    """An archive on the Python package index that carries the files as data."""

    package: str
    archive: str
    sha256: str


@dataclass(frozen=True)
class Dataset:
    """The registry's entry of one data set; a derived one has files and licence of its source."""

    name: str
    title: str
    rows: int
    qi: list[str]
    sensitive: str
    roles_from: str
    licence: str = ""
    citation: str = ""
    page: str = ""
    official: str | None = None
    mirror: Mirror | None = None
    files: tuple[File, ...] = ()
    derived_from: str | None = None
    substitute_for: str | None = None
    stand_in: bool = False

    @property
    def how_to_get(self) -> str:
        """What to do for the published files."""
        if self.derived_from:
            return f"derived from {self.derived_from}"
        first = "fetched" if self.official else f"download from {self.page}"
        by_hand = f"{first}; or place {' and '.join(file.name for file in self.files)} by hand"
        return by_hand + "; else a stand-in" * self.stand_in


_OF_SOURCE = ("licence", "citation", "page", "official", "mirror", "files")


@cache
def registry() -> dict[str, Dataset]:
    """Return every registered data set by name."""
    entries: dict[str, Dataset] = {}
    path = Path(__file__).with_name("registry.toml")
    for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
        if source := entries.get(table.get("derived_from")):
            table = {of: getattr(source, of) for of in _OF_SOURCE} | table
        table["mirror"] = Mirror(*table["mirror"]) if table.get("mirror") else None
        table["files"] = tuple(File(*file) for file in table["files"])
        entries[name] = Dataset(name, **table)
    return entries


def dataset(name: str) -> Dataset:
    """Return the registry's entry of one data set; DatasetError suggests similar names.

    Examples
    --------
    >>> dataset("adlut")
    Traceback (most recent call last):
        ...
    anonpaper.errors.DatasetError: no data set is called 'adlut'; did you mean 'adult'? ...
    """
    known = registry()
    if name in known:
        return known[name]
    close = difflib.get_close_matches(str(name).lower(), known, n=3, cutoff=0.6)
    hint = f" did you mean {' or '.join(map(repr, close))}?" if close else ""
    raise DatasetError(f"no data set is called {name!r};{hint} there are: {', '.join(known)}")

"""The registry of data sets, read from registry.toml, and the origin of loaded rows."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anonpaper.errors import DatasetError

__all__ = [
    "Dataset", "Mirror", "Official", "Origin", "RegisteredFile", "StandInWarning", "dataset",
    "registry",
]  # fmt: skip


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


@dataclass(frozen=True)
class Official:
    """The publisher's own address of a file, or of the zip archive that holds it."""

    url: str
    member: str | None = None


@dataclass(frozen=True)
class Mirror:
    """A release on the Python package index that carries a file as data."""

    package: str
    version: str
    kind: str
    archive_sha256: str
    member: str


@dataclass(frozen=True)
class RegisteredFile:
    """One file of a data set; `sha256` is the checksum of its unpacked content."""

    name: str
    sha256: str
    aliases: tuple[str, ...] = ()
    official: Official | None = None
    mirror: Mirror | None = None


@dataclass(frozen=True)
class Dataset:
    """The registry's entry of one data set."""

    name: str
    title: str
    rows: int
    licence: str
    citation: str
    page: str
    how_to_get: str
    qi: tuple[str, ...]
    sensitive: str
    roles_from: str
    files: tuple[RegisteredFile, ...] = ()
    derived_from: str | None = None
    substitute_for: str | None = None
    stand_in: bool = False


def _read_file(entry: dict) -> RegisteredFile:
    """Return a file as the registry lists it; addresses are optional."""
    made = entry | {"aliases": tuple(entry.get("aliases", ()))}
    for key, kind in (("official", Official), ("mirror", Mirror)):
        if key in entry:
            made[key] = kind(**entry[key])
    return RegisteredFile(**made)


@cache
def registry() -> dict[str, Dataset]:
    """Return every registered data set by name."""
    entries = {}
    path = Path(__file__).with_name("registry.toml")
    for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
        files = tuple(map(_read_file, table.get("files", ())))
        entries[name] = Dataset(name, **(table | {"qi": tuple(table["qi"]), "files": files}))
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

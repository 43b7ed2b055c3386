"""Loads data sets: a table, its roles, and a record of every step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import pandas as pd

from anonpaper import errors
from anonpaper.datasets import acs, tables
from anonpaper.datasets.registry import Origin, StandInWarning, dataset, find_file, registry
from anonpaper.files import cache_folder, raw_folder, sha256, whole_file
from anonpaper.microdata import Microdata
from anonpaper.roles import HOW_MISSING

#: Part of every cache key: raise it when a parsed or made table changes.
VERSION = 3


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
    errors.check_choice("missing", missing, HOW_MISSING)
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


def load_table(
    name: str, *, part: str | None = None, seed: int = 0
) -> tuple[pd.DataFrame, Origin]:
    """Return the whole table of a data set, without roles, and its origin; see :func:`load`."""
    entry = dataset(name)
    files = list(entry.files)
    parts = {"both": files}
    if name in ("adult", "census"):
        parts |= {"train": files[:1], "test": files[1:]}
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


def fetch(names: Sequence[str] | None = None) -> dict[str, Origin]:
    """Fetch and parse data sets (by default all) into the cache; return where each came from.

    A stand-in raises no warning here: its origin says so. Errors as for :func:`load`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StandInWarning)
        return {name: load_table(name)[1] for name in (registry() if names is None else names)}

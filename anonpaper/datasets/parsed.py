"""The parquet cache of parsed tables."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable

import pandas as pd

from anonpaper.files import cache_folder, whole_file

__all__ = ["parsed"]


def parsed(name: str, key: tuple[object, ...], build: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return ``build()``, from the cache if it was built before with the same name and key."""
    digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
    path = cache_folder() / "parquet" / f"{name}-{digest}.parquet"
    if path.is_file():
        try:
            return pd.read_parquet(path)
        except Exception as error:  # whatever a damaged file makes pyarrow say
            warnings.warn(f"{path} is damaged ({error}): rebuilding it", stacklevel=2)
    frame = build()
    try:
        with whole_file(path) as stream:
            frame.to_parquet(stream, compression="zstd")
    except OSError as error:
        warnings.warn(f"the cache {path.parent} cannot be written to: {error}", stacklevel=2)
    return frame

"""Folders of the data room: files placed by hand, the cache, the papers' numbers."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_folder", "project_root", "raw_folder", "reference_folder"]


def project_root() -> Path | None:
    """Return the root of the checked-out project, or None for an installed package."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "pyproject.toml").is_file() and (root / "data").is_dir() else None


def _folder(variable: str, name: str) -> Path:
    if os.environ.get(variable):
        return Path(os.environ[variable]).expanduser()
    root = project_root()
    if root is not None:
        return root / "data" / name
    from platformdirs import user_cache_path

    return user_cache_path("anonpaper") / name


def raw_folder() -> Path:
    """Return the folder for files placed by hand: $ANONPAPER_DATA or data/raw."""
    return _folder("ANONPAPER_DATA", "raw")


def cache_folder() -> Path:
    """Return the folder of fetched and parsed files: $ANONPAPER_CACHE or data/cache."""
    return _folder("ANONPAPER_CACHE", "cache")


def reference_folder() -> Path | None:
    """Return data/reference of the checked-out project, or None for an installed package."""
    root = project_root()
    return None if root is None else root / "data" / "reference"

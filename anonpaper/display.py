"""The progress bar of a search."""

from __future__ import annotations

from tqdm import tqdm

__all__ = ["search_bar"]


def search_bar(unit: str, total: int | None = None) -> tqdm:
    """Return a progress bar, which only a terminal shows."""
    return tqdm(total=total, unit=f" {unit}s", disable=None)

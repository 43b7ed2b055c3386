"""What the notebooks of paper0000 measure: a function per grid."""

from __future__ import annotations

from anonpaper.measure import stars
from anonpaper.microdata import Microdata
from anonpaper.partition.tp import tp
from anonpaper.publish import suppress

__all__ = ["stars_at_level"]


def stars_at_level(m: Microdata, l: int) -> dict:
    """Count the stars of a table that TP makes l-diverse."""
    return {"stars": stars(suppress(m, tp(m, l=l)))}

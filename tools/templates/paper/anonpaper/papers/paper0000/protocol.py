"""What the notebooks of paper0000 measure: a function per grid."""

from __future__ import annotations

from anonpaper.measure import stars
from anonpaper.microdata import Microdata
from anonpaper.partition.tp import tp
from anonpaper.publish import suppress

__all__ = ["stars_at_level"]


def stars_at_level(m: Microdata, l: int) -> dict:
    """Count the stars of a table that TP makes l-diverse.

    Parameters
    ----------
    m : Microdata
    l : int
        At least 2.

    Returns
    -------
    dict
        ``stars``, from 0 to the number of QI values.
    """
    return {"stars": stars(suppress(m, tp(m, l=l)))}

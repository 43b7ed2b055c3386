"""What a method can be asked for, checked."""

from __future__ import annotations

from anonpaper.errors import check_integer
from anonpaper.microdata import Microdata
from anonpaper.principles import require_diverse


def checked(m: Microdata, k: int, l: int | None) -> tuple[int, int | None]:
    """Return k and l if the table has as many rows and sensitive values, or raise."""
    return check_integer("k", k, 2, m.n), None if l is None else require_diverse(m, l, "distinct")

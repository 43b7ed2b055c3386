"""What a program of a user may look like: mypy reads it, and it runs.

A comment that mypy is to ignore a line says that the line is wrong: mypy objects where it is not.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import anonpaper as ap


def right(m: ap.Microdata) -> None:
    """Call what the README calls."""
    release: ap.Release = ap.suppress(m, ap.tp_plus(m, l=2))
    audit: pd.DataFrame = release.audit()
    labels: np.ndarray = ap.mondrian(m, k=2).labels
    recoding: ap.Recoding = ap.tds(m, l=2)
    stars: int = ap.measure.stars(ap.recode(m, recoding))
    assert stars >= 0 and len(audit) and len(labels) == m.n


def wrong(m: ap.Microdata, p: ap.Partition, r: ap.Recoding) -> None:
    """Call it wrongly."""
    ap.tp(m, l="4")  # type: ignore[arg-type]
    ap.tp(m)  # type: ignore[call-arg]
    ap.suppress(p, m)  # type: ignore[arg-type]
    ap.recode(m, p)  # type: ignore[arg-type]
    ap.klt(m, theta="0.3")  # type: ignore[arg-type]
    ap.klt(m, withheld="forget")  # type: ignore[arg-type]
    ap.mondrian(m, size=10)  # type: ignore[call-arg]
    r.labels  # type: ignore[attr-defined]  # noqa: B018

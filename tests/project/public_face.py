"""What a program of a user may look like: mypy reads it, and it runs.

A comment that mypy is to ignore a line says that the line is wrong: mypy objects where it is not.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import anonpaper as ap


def right() -> None:
    """Call what the README calls."""
    people = pd.DataFrame({"age": [34, 34, 41, 41], "sex": list("ffmm"), "ill": list("abab")})
    m: ap.Microdata = ap.Microdata(people, qi=["age", "sex"], sensitive="ill")
    p: ap.Partition = ap.tp_plus(m, l=2)
    release: ap.Release = ap.suppress(m, p)
    stars: int = ap.measure.stars(release)
    audit: pd.DataFrame = release.audit()
    labels: np.ndarray = ap.mondrian(m, k=2).labels
    recoding: ap.Recoding = ap.tds(m, l=2)
    with TemporaryDirectory() as folder:
        ap.recode(m, recoding).write(Path(folder, "public.csv"))
    assert stars >= 0 and len(audit) and len(labels) == m.n
    swapped = ap.swap(m, ap.klt(m, k=2, l=2, theta=0.5, seed=np.random.default_rng(0)), seed=None)
    assert ap.FrequencyLDiversity(2).holds(m, swapped.partition.labels)
    try:
        ap.tp(m, l=3)
    except ap.errors.InfeasibleError as error:
        assert isinstance(error, ValueError)


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

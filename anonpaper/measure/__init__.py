"""Measures: numbers about a release. None of them changes anything."""

from anonpaper.measure.loss import (
    average_class_size,
    discernibility,
    gcp,
    kl_divergence,
    ncp,
    stars,
    suppressed_rows,
)
from anonpaper.measure.preference import ach, effective_k, necd, nwp, prefdev
from anonpaper.measure.risk import disclosure_confidence

__all__ = [
    "ach",
    "average_class_size",
    "disclosure_confidence",
    "discernibility",
    "effective_k",
    "gcp",
    "kl_divergence",
    "ncp",
    "necd",
    "nwp",
    "prefdev",
    "stars",
    "suppressed_rows",
]

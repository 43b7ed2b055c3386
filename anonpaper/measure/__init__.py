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

__all__ = [
    "average_class_size",
    "discernibility",
    "gcp",
    "kl_divergence",
    "ncp",
    "stars",
    "suppressed_rows",
]

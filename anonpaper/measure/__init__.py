"""Measures: numbers about a release. None of them changes anything."""

from anonpaper.measure.attacks import guessing, membership, plausible_values, ruled_out
from anonpaper.measure.diversity import accuracy, penalized_discernibility, values_kept
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
from anonpaper.measure.queries import chi_square, query_errors, relative_errors, workload
from anonpaper.measure.risk import disclosure_confidence

__all__ = [
    "accuracy",
    "ach",
    "average_class_size",
    "chi_square",
    "disclosure_confidence",
    "discernibility",
    "effective_k",
    "gcp",
    "guessing",
    "kl_divergence",
    "membership",
    "ncp",
    "necd",
    "nwp",
    "penalized_discernibility",
    "plausible_values",
    "prefdev",
    "query_errors",
    "relative_errors",
    "ruled_out",
    "stars",
    "suppressed_rows",
    "workload",
    "values_kept",
]

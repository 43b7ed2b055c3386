"""Measures: numbers about a release. None of them changes anything."""

from anonpaper.measure.attacks import guessing, membership, plausible_values, ruled_out
from anonpaper.measure.bounds import fewest_stars
from anonpaper.measure.loss import (
    average_class_size,
    discernibility,
    discernibility_ratio,
    gcp,
    kl_divergence,
    ncp,
    penalized_discernibility,
    stars,
    suppressed_rows,
    values_kept,
)
from anonpaper.measure.minimality import minimality
from anonpaper.measure.preference import ach, effective_k, necd, nwp, prefdev
from anonpaper.measure.queries import (
    chi_square,
    query_error,
    query_errors,
    relative_errors,
    workload,
)
from anonpaper.measure.risk import (
    disclosure_confidence,
    disclosure_risk,
    exposure,
    reconstruction,
    records_at_risk,
    undiverse_rows,
)
from anonpaper.measure.utility import (
    Classification,
    classification,
    distortion,
    generalizations,
    marginal_similarity,
)

__all__ = [
    "Classification", "ach", "average_class_size", "chi_square", "classification",
    "discernibility", "discernibility_ratio", "disclosure_confidence", "disclosure_risk",
    "distortion", "effective_k", "exposure", "fewest_stars", "gcp", "generalizations", "guessing",
    "kl_divergence", "marginal_similarity", "membership", "minimality", "ncp", "necd", "nwp",
    "penalized_discernibility", "plausible_values", "prefdev", "query_error", "query_errors",
    "reconstruction", "records_at_risk", "relative_errors", "ruled_out", "stars",
    "suppressed_rows", "undiverse_rows", "values_kept", "workload",
]  # fmt: skip

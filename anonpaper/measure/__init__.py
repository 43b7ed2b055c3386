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
    "Classification",
    "ach",
    "average_class_size",
    "classification",
    "discernibility",
    "disclosure_confidence",
    "disclosure_risk",
    "distortion",
    "effective_k",
    "exposure",
    "gcp",
    "generalizations",
    "kl_divergence",
    "marginal_similarity",
    "ncp",
    "necd",
    "nwp",
    "prefdev",
    "reconstruction",
    "records_at_risk",
    "stars",
    "suppressed_rows",
    "undiverse_rows",
]

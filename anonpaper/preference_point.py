"""Preferred loss and bias of a release: the formulas, for counts and for published tables.

Source: dewri2009, sections 3.1, 3.2 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonpaper.errors import ParameterError, check_number

__all__ = [
    "EPSILON", "achievement", "check_preference", "dispersion", "loss_weight", "penalty",
    "preference_deviation",
]  # fmt: skip

#: The "very small positive number" of the achievement function.
EPSILON = 1e-6


def penalty(held: np.ndarray, size: np.ndarray, weight: np.ndarray = 1.0) -> np.ndarray:
    """Return the NWP of a value published as one of `held` of `size` values, 0 to `weight`."""
    # the printed penalty divides by zero for an attribute of one value, which cannot lose
    return weight * (held - 1) / np.maximum(size - 1, 1)


def dispersion(smallest: np.ndarray, largest: np.ndarray, n: int) -> np.ndarray:
    """Return NECD of n rows by their smallest and largest equivalence class, in [0, 1)."""
    return (largest - smallest) / max(n - 1, 1)


def achievement(nwp: np.ndarray, necd: np.ndarray, preference: tuple[float, float]) -> np.ndarray:
    """Return ach of points (NWP, NECD) for a preferred point, all in [0, 1] (section 4)."""
    w = loss_weight(preference)
    return np.maximum(w * (nwp + EPSILON), (1 - w) * (necd + EPSILON))


def loss_weight(preference: tuple[float, float]) -> float:
    """Return w, the weight of loss in ach; 1 - w is the weight of bias (section 4)."""
    of_loss, of_bias = (1 / (value + EPSILON) for value in preference)
    return of_loss / (of_loss + of_bias)


def preference_deviation(nwp: np.ndarray, necd: np.ndarray, preference: tuple) -> np.ndarray:
    """Return pref_dev: the sum by which NWP and NECD exceed the preferred point."""
    return nwp + necd - preference[0] - preference[1]


def check_preference(preference: Sequence[float]) -> tuple[float, float]:
    """Return the preference point as two floats; ParameterError unless both are in [0, 1]."""
    try:
        loss, bias = preference
    except (TypeError, ValueError):
        raise ParameterError(
            f"preference must be two numbers (NWP, NECD) in [0, 1], got {preference!r}"
        ) from None
    return (check_number("preferred NWP", loss, 0, 1), check_number("preferred NECD", bias, 0, 1))

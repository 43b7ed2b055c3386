"""Randomness has one entrance: a seed, a generator, or fresh entropy."""

from __future__ import annotations

import numpy as np

from anonpaper.errors import ParameterError

__all__ = ["generator"]


def generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    """Return a numpy generator for a seed, which must stay secret where it protects people.

    A seed is an int of at least 0, a generator, which is returned, or None for fresh entropy.
    """
    if isinstance(seed, np.random.Generator):
        return seed
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if seed is None or (whole and seed >= 0):
        return np.random.default_rng(seed)
    raise ParameterError(f"seed must be an integer >= 0, a numpy Generator or None, got {seed!r}")

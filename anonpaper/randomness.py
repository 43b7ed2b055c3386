"""The one way in which randomness enters: a seed, a generator, or fresh entropy."""

from __future__ import annotations

import numpy as np

from anonpaper.errors import ParameterError

__all__ = ["generator"]


def generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    """Return a numpy generator for an int seed; pass a generator through.

    Parameters
    ----------
    seed : int, numpy.random.Generator or None
        A non-negative integer, for results that can be repeated; a generator whose state the
        caller owns; or None for fresh entropy from the operating system, which is what a table
        that leaves the house needs: a seed that can be guessed can be undone.

    Raises
    ------
    ParameterError
        If `seed` is anything else.

    Examples
    --------
    >>> int(generator(0).integers(1000)) == int(generator(0).integers(1000))
    True
    >>> bool((generator(None).random(4) == generator(None).random(4)).all())
    False
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None:
        return np.random.default_rng()
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0:
        return np.random.default_rng(int(seed))
    raise ParameterError(
        f"seed must be a non-negative integer, a numpy Generator or None, got {seed!r}"
    )

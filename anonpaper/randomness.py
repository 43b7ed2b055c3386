"""The one way in which randomness enters: an explicit seed or generator."""

from __future__ import annotations

import numpy as np

from anonpaper.errors import ParameterError

__all__ = ["generator"]


def generator(seed: int | np.random.Generator) -> np.random.Generator:
    """Return a numpy generator for an int seed; pass a generator through.

    Parameters
    ----------
    seed : int or numpy.random.Generator
        A non-negative integer, or a generator whose state the caller owns.

    Raises
    ------
    ParameterError
        If `seed` is anything else. ``None`` is refused: results must be repeatable.

    Examples
    --------
    >>> int(generator(0).integers(1000)) == int(generator(0).integers(1000))
    True
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0:
        return np.random.default_rng(int(seed))
    raise ParameterError(
        f"seed must be a non-negative integer or a numpy Generator, got {seed!r}"
    )

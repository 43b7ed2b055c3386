"""Prepares tables for grouping: all functions take and return Microdata or frames.

``cleaning`` and ``encoding`` come before any method, ``copula`` makes synthetic rows with a model
for lessons. ``imbalance``, ``synthesis`` and ``patterns`` are steps of majeed2024.
"""

from __future__ import annotations

from anonpaper.repair.cleaning import clean
from anonpaper.repair.copula import gaussian_copula
from anonpaper.repair.encoding import granularize, in_preorder
from anonpaper.repair.imbalance import find_imbalance
from anonpaper.repair.patterns import pattern_friendly

__all__ = [
    "clean", "find_imbalance", "gaussian_copula", "granularize", "in_preorder",
    "pattern_friendly",
]  # fmt: skip

"""Prepares tables for grouping: all functions take and return Microdata or frames."""

from __future__ import annotations

from anonpaper.repair.cleaning import clean, find_imbalance, pattern_friendly
from anonpaper.repair.encoding import granularize, in_preorder
from anonpaper.repair.synthesis import gaussian_copula

__all__ = [
    "clean", "find_imbalance", "gaussian_copula", "granularize", "in_preorder",
    "pattern_friendly",
]  # fmt: skip

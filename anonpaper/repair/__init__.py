"""Prepares tables for grouping: all functions take and return Microdata or frames."""

from anonpaper.repair import cleaning
from anonpaper.repair.cleaning import *  # noqa: F403
from anonpaper.repair.synthesis import gaussian_copula

__all__ = ["gaussian_copula", *cleaning.__all__]

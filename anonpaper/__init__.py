"""anonpaper: five papers on anonymizing tables, as code one can run and check.

The way of the data::

    load -> partition | recode -> publish -> measure -> draw

Everything a user needs hangs on this module; names are imported on first use, so that
``import anonpaper`` costs nothing.

Examples
--------
>>> import anonpaper as ap
>>> m = ap.examples.hospital()
>>> release = ap.suppress(m, ap.tp(m, l=2))
>>> ap.measure.stars(release)
8
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

#: Public name -> module that defines it.
_HOME = {
    "Microdata": "anonpaper.microdata",
    "Attribute": "anonpaper.microdata",
    "Partition": "anonpaper.groups",
    "Recoding": "anonpaper.recoding",
    "Hierarchy": "anonpaper.recoding",
    "KAnonymity": "anonpaper.principles",
    "DistinctLDiversity": "anonpaper.principles",
    "FrequencyLDiversity": "anonpaper.principles",
    "EntropyLDiversity": "anonpaper.principles",
    "RecursiveLDiversity": "anonpaper.principles",
    "Theta": "anonpaper.principles",
    "AlphaKAnonymity": "anonpaper.principles",
    "TCloseness": "anonpaper.principles",
    "tp": "anonpaper.partition.tp",
    "tp_plus": "anonpaper.partition.tp",
    "tp_steps": "anonpaper.partition.tp",
    "hilbert": "anonpaper.partition.hilbert",
    "exact": "anonpaper.partition.exact",
    "optimal_two_diverse": "anonpaper.partition.matching",
    "klt": "anonpaper.partition.klt",
    "k_member": "anonpaper.partition.k_member",
    "oka": "anonpaper.partition.oka",
    "mondrian": "anonpaper.partition.mondrian",
    "diva": "anonpaper.partition.diva",
    "DiversityConstraint": "anonpaper.constraints",
    "tds": "anonpaper.recoders.tds",
    "preference_search": "anonpaper.recoders.preference",
    "exhaustive": "anonpaper.recoders.exhaustive",
    "hill_climbing": "anonpaper.recoders.hill_climbing",
    "full_domain": "anonpaper.recoders.lattice",
    "granularize": "anonpaper.encoding",
    "in_preorder": "anonpaper.encoding",
    "balanced_classes": "anonpaper.partition.balanced",
    "find_imbalance": "anonpaper.imbalance",
    "pattern_friendly": "anonpaper.patterns",
    "Release": "anonpaper.publish",
    "suppress": "anonpaper.publish",
    "generalize": "anonpaper.publish",
    "recode": "anonpaper.publish",
    "shallow_generalize": "anonpaper.shallow",
    "swap": "anonpaper.publish",
    "anatomize": "anonpaper.publish",
    "load": "anonpaper.datasets",
}

_MODULES = (
    "baselines",
    "claims",
    "constraints",
    "datasets",
    "errors",
    "examples",
    "experiment",
    "hardness",
    "hierarchies",
    "imbalance",
    "measure",
    "partition",
    "plots",
    "preprocessing",
    "principles",
    "protocols",
    "synthesis",
)

__all__ = ["__version__", *_HOME, *_MODULES]


def __getattr__(name: str):
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"anonpaper.{name}")
    else:
        raise AttributeError(f"module 'anonpaper' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

"""anonpaper: papers on anonymizing tables, as code one can run and check.

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
import sys

__version__ = "0.1.0"

#: Public name -> module that defines it.
_HOME = {
    "Microdata": "anonpaper.microdata",
    "Attribute": "anonpaper.microdata",
    "Partition": "anonpaper.groups",
    "Recoding": "anonpaper.recoding",
    "Hierarchy": "anonpaper.hierarchy",
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
    "granularize": "anonpaper.prepare.encoding",
    "in_preorder": "anonpaper.prepare.encoding",
    "balanced_classes": "anonpaper.partition.balanced",
    "find_imbalance": "anonpaper.prepare.imbalance",
    "pattern_friendly": "anonpaper.prepare.patterns",
    "Release": "anonpaper.publish",
    "suppress": "anonpaper.publish",
    "generalize": "anonpaper.publish",
    "recode": "anonpaper.publish",
    "shallow_generalize": "anonpaper.publish.shallow",
    "swap": "anonpaper.publish",
    "anatomize": "anonpaper.publish",
    "load": "anonpaper.datasets",
}

#: Rooms and modules that are reached as ``ap.<name>``.
_MODULES = {
    "constraints": "anonpaper.constraints",
    "datasets": "anonpaper.datasets",
    "errors": "anonpaper.errors",
    "examples": "anonpaper.datasets.examples",
    "hierarchies": "anonpaper.datasets.trees",
    "measure": "anonpaper.measure",
    "papers": "anonpaper.papers",
    "partition": "anonpaper.partition",
    "plots": "anonpaper.plots",
    "prepare": "anonpaper.prepare",
    "principles": "anonpaper.principles",
    "publish": "anonpaper.publish",
    "randomness": "anonpaper.randomness",
    "recoders": "anonpaper.recoders",
    "synthesis": "anonpaper.prepare.synthesis",
}

#: Where modules of version 0.1 are now, for notebooks that name the old place.
_MOVED = {
    "anonpaper.baselines": "anonpaper.papers.majeed2024.baselines",
    "anonpaper.claims": "anonpaper.papers.claims",
    "anonpaper.encoding": "anonpaper.prepare.encoding",
    "anonpaper.examples": "anonpaper.datasets.examples",
    "anonpaper.experiment": "anonpaper.papers",
    "anonpaper.hardness": "anonpaper.papers.xiao2010.hardness",
    "anonpaper.hierarchies": "anonpaper.datasets.trees",
    "anonpaper.imbalance": "anonpaper.prepare.imbalance",
    "anonpaper.patterns": "anonpaper.prepare.patterns",
    "anonpaper.preprocessing": "anonpaper.prepare.cleaning",
    "anonpaper.protocols": "anonpaper.papers.<paper>.protocol",
    "anonpaper.provenance": "anonpaper.papers.provenance",
    "anonpaper.shallow": "anonpaper.publish",
    "anonpaper.synthesis": "anonpaper.prepare.synthesis",
}


class _MovedModules:
    """Says where a module has gone, when it is imported from where it was."""

    @staticmethod
    def find_spec(name: str, path=None, target=None) -> None:
        now = _MOVED.get(name)
        if now:
            raise ModuleNotFoundError(f"{name} has moved: import from {now}", name=name)


sys.meta_path.append(_MovedModules)

__all__ = ["__version__", *_HOME, *_MODULES]


def __getattr__(name: str):
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    elif f"anonpaper.{name}" in _MOVED and "<" not in _MOVED[f"anonpaper.{name}"]:
        value = importlib.import_module(_MOVED[f"anonpaper.{name}"])
    else:
        now = _MOVED.get(f"anonpaper.{name}")
        hint = f"; it has moved to {now}" if now else ""
        raise AttributeError(f"module 'anonpaper' has no attribute {name!r}{hint}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

"""anonpaper: papers on anonymizing tables, as code one can run and check.

The way of the data::

    load -> partition | recode -> publish -> measure -> draw

Everything a user needs hangs on this module; ``__init__.pyi`` lists the names,
which are imported on first use, so that ``import anonpaper`` costs nothing.

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
import importlib.metadata
import sys

import lazy_loader

_imported, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

#: Modules that are reached under another name than their own.
_ELSEWHERE = {
    "baselines": "anonpaper.papers.majeed2024.baselines",
    "claims": "anonpaper.papers.claims",
    "examples": "anonpaper.datasets.examples",
    "experiment": "anonpaper.papers",
    "hardness": "anonpaper.papers.xiao2010.hardness",
    "hierarchies": "anonpaper.datasets.trees",
    "imbalance": "anonpaper.prepare.imbalance",
    "preprocessing": "anonpaper.prepare.cleaning",
    "synthesis": "anonpaper.prepare.synthesis",
}

#: Where modules of version 0.1 are now, for whoever imports them from the old place.
_MOVED = _ELSEWHERE | {
    "encoding": "anonpaper.prepare.encoding",
    "patterns": "anonpaper.prepare.patterns",
    "protocols": "anonpaper.papers.<paper>.protocol",
    "provenance": "anonpaper.papers.provenance",
    "shallow": "anonpaper.publish",
}


def __getattr__(name: str):
    if name == "__version__":
        return importlib.metadata.version("anonpaper")
    if name in _ELSEWHERE:
        return importlib.import_module(_ELSEWHERE[name])
    if name in _MOVED:
        raise AttributeError(f"anonpaper.{name} has moved to {_MOVED[name]}")
    return _imported(name)


class _MovedModules:
    """Says where a module has gone, when it is imported from where it was."""

    @staticmethod
    def find_spec(name: str, path=None, target=None) -> None:
        package, _, module = name.partition(".")
        if package == __name__ and module in _MOVED:
            raise ModuleNotFoundError(f"{name} has moved: import from {_MOVED[module]}", name=name)


sys.meta_path.append(_MovedModules)

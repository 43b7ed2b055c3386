"""anonpaper: papers on anonymizing tables, as code that can be run and checked.

The way of the data: load -> partition | recode -> publish -> measure -> draw. ``__init__.pyi``
lists the public names, which are imported on first use. Examples in docstrings begin with
``import anonpaper as ap``, ``import numpy as np`` and ``import pandas as pd``.

Docstrings name papers by author and year: xiao2010 (Xiao, Yi, Tao, EDBT 2010), dewri2009 (Dewri,
Whitley, Ray, Ray, GECCO 2009), boger2020 (Boger, Brown University, 2020), diva2021 (Milani, Huang,
Chiang, EDBT 2021), and majeed2024 (Majeed, Hwang); their titles are in CITATION.cff.
"""

from __future__ import annotations

import importlib.metadata

import lazy_loader

_imported, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str):
    if name == "__version__":
        return importlib.metadata.version("anonpaper")
    if name == "plots":
        from anonpaper.errors import needs

        with needs("plots"):
            return _imported(name)
    return _imported(name)

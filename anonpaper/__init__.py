"""anonpaper: papers on anonymizing tables, as code that can be run and checked.

The way of the data: load -> partition | recode -> publish -> measure -> draw. ``__init__.pyi``
lists the public names, which are imported on first use. Examples in docstrings begin with
``import anonpaper as ap``, ``import numpy as np`` and ``import pandas as pd``.

Docstrings name the papers by author and year:

- *xiao2010*: X. Xiao, K. Yi, Y. Tao, *The hardness and approximation algorithms for l-diversity*,
  EDBT 2010;
- *dewri2009*: R. Dewri, D. Whitley, I. Ray, I. Ray, *A multi-objective approach to data sharing
  with privacy constraints and preference based objectives*, GECCO 2009;
- *boger2020*: S. Boger, *L-diversity for data analysis: data swapping with customized clustering*,
  Brown University, 2020;
- *diva2021*: M. Milani, Y. Huang, F. Chiang, *Preserving diversity in anonymized data*, EDBT 2021;
- *majeed2024*: A. Majeed, S. O. Hwang, *A data-centric l-diversity model for securely publishing
  personal data with enhanced utility*.
"""

from __future__ import annotations

import importlib
import importlib.metadata

import lazy_loader

_imported, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

#: Modules with a different public name.
_ELSEWHERE = {
    "examples": "anonpaper.datasets.examples",
    "hierarchies": "anonpaper.datasets.trees",
    "synthesis": "anonpaper.repair.synthesis",
}


def __getattr__(name: str):
    if name == "__version__":
        return importlib.metadata.version("anonpaper")
    if name in _ELSEWHERE:
        return importlib.import_module(_ELSEWHERE[name])
    if name == "plots":
        from anonpaper.errors import needs

        with needs("plots"):
            return _imported(name)
    return _imported(name)

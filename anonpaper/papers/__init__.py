"""The papers: what regenerates their figures and tables, and judges their claims.

``__init__.pyi`` lists the names; they are imported on first use, so that what needs one module
does not wait for drawing and statistics.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

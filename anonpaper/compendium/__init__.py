"""Tools for every compendium of papers: grids of runs, saved results, the judge of claims.

Importing this module puts the folders of notebooks last on Python's path. So modules beside
notebooks can be imported everywhere, also in workers. A module in notebooks/<paper> is called
<paper>.py or <paper>_<topic>.py.
"""

from __future__ import annotations

import sys

import lazy_loader

from anonpaper.compendium.tables import notebooks_folder

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _put_on_path() -> None:
    """Append the folders with modules beside notebooks to the path, each once."""
    folder = notebooks_folder()
    for place in sorted({str(file.parent) for file in folder.glob("*/*.py")} if folder else ()):
        if place not in sys.path:
            sys.path.append(place)


_put_on_path()

"""Tools for every compendium of papers: grids of runs, saved results, the judge of claims.

Importing this module puts the folders of notebooks last on Python's path. So modules beside
notebooks can be imported everywhere, also in workers. A module in notebooks/<paper> is called
<paper>.py or <paper>_<topic>.py.
"""

import sys

import lazy_loader

from anonpaper.compendium.tables import notebooks_folder

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_folder = notebooks_folder()
_places = {str(file.parent) for file in _folder.glob("*/*.py")} if _folder else set()
sys.path += sorted(_places - {*sys.path})

"""Where the notebooks and their results are."""

import sys
from pathlib import Path

from anonpaper.files import project_root

# jsonschema, which nbformat imports, builds a grammar of international addresses at every start,
# for seconds, unless there is no such module: no notebook is checked for addresses
sys.modules["rfc3987_syntax"] = None

ROOT = project_root(Path(__file__).parent)
NOTEBOOKS = ROOT / "notebooks"
FIGURES = ROOT / "figures"

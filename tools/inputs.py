"""Where the notebooks and their results are, and what pages show of a notebook."""

import json
import sys
from pathlib import Path

from anonpaper.files import project_root

# jsonschema, which nbformat imports, builds a grammar of international addresses at every start,
# for seconds, unless there is no such module: no notebook is checked for addresses
sys.modules["rfc3987_syntax"] = None

ROOT = project_root(Path(__file__).parent)
NOTEBOOKS = ROOT / "notebooks"
FIGURES = ROOT / "figures"
#: the lessons, in the order of their numbers
LESSONS = sorted(NOTEBOOKS.glob("course/*.ipynb"), key=lambda path: int(path.stem.split("_")[0]))


def for_pages(name: str) -> dict:
    """Return a notebook whose texts hold their pictures in the addresses."""
    notebook = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
        for picture, held in cell.pop("attachments", {}).items():
            address = f"data:image/png;base64,{held['image/png']}"
            cell["source"] = cell["source"].replace(f"attachment:{picture}", address)
    return notebook

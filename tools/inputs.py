"""Where notebooks, their profiles and their results are, and what results are made from.

A run notes one digest of its sources in the notebook's share of the manifest,
<results>/manifest/<notebook>.json: the notebook's code, its parameters, the modules beside it,
the package, published numbers, the locked versions, and which data were placed by hand. Comments,
docstrings, texts of notebooks and claims do not count.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from anonpaper.compendium.provenance import sources_digest
from anonpaper.errors import AnonpaperError
from anonpaper.files import project_root, raw_folder, sha256

# jsonschema, which nbformat imports, builds a grammar of international addresses at every start,
# for seconds, unless there is no such module: no notebook is checked for addresses
sys.modules["rfc3987_syntax"] = None

ROOT = project_root(Path(__file__).parent)
NOTEBOOKS = ROOT / "notebooks"
FIGURES = ROOT / "figures"
digest_of = cache(sources_digest)  # files as they were first


class NotebookError(AnonpaperError):
    """A notebook or its profile cannot be used as it is; the message says what to change."""


def notebook_names() -> list[str]:
    """Return the names of all notebooks, in order: paths in notebooks/ without the ending."""
    found = [*NOTEBOOKS.glob("*.ipynb"), *NOTEBOOKS.glob("[!.]*/*.ipynb")]
    return sorted(path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in found)


def cells_of(name: str) -> list[dict]:
    """Return the code cells of a notebook."""
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def saves(name: str) -> bool:
    """Return whether a notebook saves results; others show those that are saved."""
    return any(re.search(r"\bResults[.(]", "".join(cell["source"])) for cell in cells_of(name))


def reference(profile: str) -> Path:
    """Return the folder of a profile's committed results."""
    return FIGURES / "paper" if profile == "paper" else FIGURES / "expected" / profile


def parameters_of(profile: str) -> dict[str, dict]:
    """Return the parameters that a profile sets, by notebook; cells hold those of quick runs."""
    import yaml

    found = {name: {} for name in notebook_names()}
    files = sorted(NOTEBOOKS.glob(f"*/profiles/{profile}.yaml"))
    if not files and profile != "quick":
        raise NotebookError(f"no profile {profile!r}: no notebooks/*/profiles/{profile}.yaml")
    for file in files:
        sections = yaml.safe_load(file.read_text()) or {}
        found |= {f"{file.parts[-3]}/{name}": values or {} for name, values in sections.items()}
    return found


def sources_of(name: str, parameters: dict) -> str:
    """Return one digest of what a notebook's results are made from."""
    cells = [
        ["".join(cell["source"]), cell["metadata"].get("tags", [])] for cell in cells_of(name)
    ]
    folder = NOTEBOOKS / name.partition("/")[0]
    # only what asks our own questions builds on papers
    beside = folder if (folder / "paper.toml").exists() else NOTEBOOKS
    parts = [ROOT / "anonpaper", ROOT / "data" / "reference", beside]
    lock = sha256((ROOT / "requirements.lock").read_bytes())
    by_hand = sorted(path.name for path in raw_folder().glob("*"))
    content = [cells, parameters, lock, by_hand, *map(digest_of, parts)]
    return sha256(json.dumps(content, sort_keys=True, default=str))[:16]


def share_file(name: str, results: Path) -> Path:
    """Return the file of the notebook's share of the manifest."""
    return results / "manifest" / f"{name}.json"


def read_share(name: str, results: Path) -> dict | None:
    """Return what a notebook noted of its last run, or None if it has not run."""
    path = share_file(name, results)
    return json.loads(path.read_text()) if path.exists() else None


def outputs_of(name: str, results: Path) -> dict[str, dict]:
    """Return what a notebook noted of its outputs, by path."""
    return (read_share(name, results) or {"outputs": {}})["outputs"]


def known_shares(results: Path) -> dict[str, dict]:
    """Return the shares of all notebooks that have run, by name."""
    folder = results / "manifest"
    return {
        path.relative_to(folder).with_suffix("").as_posix(): json.loads(path.read_text())
        for path in sorted(folder.rglob("*.json"))
    }


def tables_of(results: Path) -> Iterator[tuple[str, dict]]:
    """Yield each table that notebooks saved, with what they noted of it and their names."""
    for name, share in known_shares(results).items():
        for path, about in share["outputs"].items():
            if path.endswith(".csv"):
                yield path, about | {"notebook": name}

"""What a notebook's results depend on, and whether that has changed since its last run.

A run notes it in the notebook's share of the manifest, <results>/manifest/<notebook>.json: code
cells, parameters, locked versions, data sets, and the files of the project that it opened. The
times of files do not count, so committed results stay up to date in a fresh clone. Comments,
docstrings, texts of notebooks and claims do not count either. A run at larger sizes notes the
quick tables of its code as well: while other code gives the same ones, it is up to date.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from importlib.util import source_from_cache
from itertools import zip_longest
from pathlib import Path

from anonpaper.compendium.provenance import bare_content
from anonpaper.datasets.fetching import fetched_before, placed_by_hand
from anonpaper.datasets.registry import registry
from anonpaper.errors import AnonpaperError
from anonpaper.files import project_root, sha256

# jsonschema, which nbformat imports, builds a grammar of international addresses at every start,
# for seconds, unless there is no such module: no notebook is checked for addresses
sys.modules["rfc3987_syntax"] = None

ROOT = project_root(Path(__file__).parent)
NOTEBOOKS = ROOT / "notebooks"
FIGURES = ROOT / "figures"
FETCHED = ("official", "package-index")  # folders of the cache that hold downloaded data files
CODE_AND_DATA = {".csv", ".json", ".mplstyle", ".py", ".toml"}
NO_INPUT = re.compile(
    r"anonpaper/compendium/(intervals|judge|layout)\.py"
    r"|notebooks/\w+/(checks\.py|(claims|paper|asked)\.toml)"
)
DECIMAL = re.compile(r"-?(\d+\.\d*(e[-+]?\d+)?|\d+e[-+]?\d+|inf)")
NOT_KEPT = (".svg", ".tex")  # can be left out of what is committed: csv and png stay


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
    """Return the parameters that a profile sets, by notebook.

    notebooks/<folder>/profiles/<profile>.yaml has a section for each notebook of its folder.
    Parameters cells hold the quick profile, so quick.yaml is needed only for other values.
    A NotebookError says which profile or section is missing or belongs to no notebook.
    """
    import yaml

    files = sorted(NOTEBOOKS.glob("*/profiles/*.yaml"))
    if profile not in (known := sorted({"quick", *(file.stem for file in files)})):
        raise NotebookError(f"no profile {profile!r}; there are {', '.join(known)}")
    found = {name: {} for name in notebook_names()}
    for folder in sorted({f.parent for f in files if profile != "quick" or f.stem == "quick"}):
        file, paper = folder / f"{profile}.yaml", folder.parent.name
        sections = (yaml.safe_load(file.read_text()) if file.is_file() else {}) or {}
        own = {f"{paper}/{name}": values or {} for name, values in sections.items()}
        if strange := sorted(set(own) - set(found)):
            told = f"has sections of no notebook: {', '.join(strange)}; remove or rename them"
            raise NotebookError(f"{file.relative_to(ROOT)} {told}")
        if missing := [n for n in found if n.startswith(f"{paper}/") and n not in own]:
            told = f"has no section of {', '.join(missing)}; add `{Path(missing[0]).name}: {{}}`"
            raise NotebookError(
                f"{file.relative_to(ROOT)} {told} if its parameters cell has the right values"
            )
        found |= own
    return found


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


def changes(
    name: str, parameters: dict, results: Path, files: dict[str, str], quick: dict | None = None
) -> list[str]:
    """Return why a notebook has to run again; nothing if its results are up to date.

    Other code is no reason if it gives the quick tables of the code that ran, for which `quick`
    is asked.
    """
    share = read_share(name, results)
    if share is None:
        return ["has not run"]
    for output in share["outputs"]:
        if not output.endswith(NOT_KEPT) and not (results / output).exists():
            return [f"{output} is missing"]
    if "inputs" not in share:
        return ["what it depends on was not noted"]
    before = share["inputs"]
    now = inputs_of(name, parameters, share, before["files"].keys() & files.keys(), files)
    kinds = [kind for kind in now if kind != "files" and now[kind] != before.get(kind)]
    changed = [path for path, digest in before["files"].items() if files.get(path) != digest]
    if quick and share.get("quick") == quick:
        kinds = [kind for kind in kinds if kind != "cells"]
        changed = [path for path in changed if not is_code(path, path in files)]
    return [f"its {kind} changed" for kind in kinds] + [
        f"{path} {'changed' if path in files else 'is gone'}" for path in changed
    ]


def is_code(path: str, is_there: bool) -> bool:
    """Return whether a changed file is code; what is gone beside code is read no more by it."""
    return path.endswith((".py", "/arguments.toml")) or not (is_there or path.startswith("data/"))


def quick_tables(name: str, results: Path) -> dict[str, str]:
    """Return a digest of each table that a quick run saved, run times left out.

    Numbers count with nine digits, since the last ones depend on the processor.
    """
    found = {}
    for path, about in outputs_of(name, results).items():
        if path.endswith(".csv") and (results / path).exists():
            header, rows = values_of(results / path, about["timing"])
            rows = [[f"{round(v, 12):.9g}" if type(v) is float else v for v in r] for r in rows]
            found[path] = short_digest([header, rows])
    return found


def values_of(file: Path, timing: bool | list[str]) -> tuple[list[str], list[list[str | float]]]:
    """Return a csv file: numbers with a decimal point, and all else as text; no run times."""
    with file.open(newline="") as lines:
        header, *rows = list(csv.reader(lines)) or [[]]

    def value(cell: str, column: str) -> str | float:
        if not DECIMAL.fullmatch(cell):
            return cell
        is_time = timing if isinstance(timing, bool) else column in timing
        return "a run time" if is_time else float(cell)

    pairs = [zip_longest(row, header, fillvalue="no cell") for row in rows]
    return header, [[value(*pair) for pair in row] for row in pairs]


def inputs_of(name: str, parameters: dict, share: dict, opened: set, files: dict) -> dict:
    """Return all that a notebook's results depend on; `files` has the digest of each file."""
    cells = [
        ["".join(cell["source"]), cell["metadata"].get("tags", [])] for cell in cells_of(name)
    ]
    data = [about for output in share["outputs"].values() for about in output["data"]]
    used = [registry().get(name) for name in sorted({a.get("dataset") or "" for a in data})]
    pins = re.findall(r"(?m)^([\w.-]+)==([^\s;\\]+)", (ROOT / "requirements.lock").read_text())
    packages = share.get("packages", ())
    return {
        "cells": short_digest(cells),
        "parameters": short_digest(parameters),
        "versions": {name.lower(): pin for name, pin in pins if name.lower() in packages},
        "data": {  # of a data set that has a stand-in: whether its own files are there
            entry.name: all(placed_by_hand(file) or fetched_before(file) for file in entry.files)
            for entry in used
            if entry and entry.stand_in
        },
        "files": {path: files[path] for path in sorted(opened & files.keys())},
    }


def snapshot() -> dict[str, str]:
    """Return the digest of every file of the project that a run may depend on, by its path."""
    data = [path for path in (ROOT / "data").glob("*/") if path.name not in ("cache", "raw")]
    edition = sorted((FIGURES / "paper").glob("*/*.csv"))  # which answers are read from
    paths = edition + [
        path
        for folder in (ROOT / "anonpaper", NOTEBOOKS, *data)
        for path in sorted(folder.rglob("*"))
        if path.suffix in CODE_AND_DATA
    ]
    names = {path.relative_to(ROOT).as_posix(): path for path in paths}
    return {
        name: sha256(bare_content(path))[:16]
        for name, path in names.items()
        if not NO_INPUT.fullmatch(name) and path.is_file()
    }


def opened_files(notes: Path) -> set[str]:
    """Return the files of the project that processes noted to have opened, sources for caches."""
    opened = {line for file in notes.iterdir() for line in file.read_text().splitlines()}
    return {source_from_cache(name) if name.endswith(".pyc") else name for name in opened}


def short_digest(content: object) -> str:
    """Return a digest of lists, texts and numbers."""
    return sha256(json.dumps(content, sort_keys=True, default=str))[:16]

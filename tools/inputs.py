"""What a notebook's results depend on, and whether that has changed since its last run.

Each run notes in the notebook's share of the manifest, <results>/manifest/<notebook>.json, all
that it depended on: the cells, the parameters, the locked versions, the data sets that were there,
and the files of the project that any of its processes opened, modules among them. Results are up
to date while all of these are the same. Nothing is told from a file's time, so that what is
committed counts in a fresh clone.

The claims are no input: the report judges them anew each time, nor are the verdicts shown beside.
"""

from __future__ import annotations

import json
import re
import tomllib
from importlib.util import source_from_cache
from pathlib import Path

from anonpaper.files import cache_folder, project_root, raw_folder, sha256
from anonpaper.compendium.provenance import bare_content

__all__ = [
    "FETCHED", "FIGURES", "NOTEBOOKS", "NOT_KEPT", "ROOT", "NotebookError", "changes", "inputs_of",
    "known_shares", "notebook_names", "opened_files", "parameters_of", "read_share", "reference",
    "share_file", "snapshot", "source_of",
]  # fmt: skip

ROOT = project_root(Path(__file__).parent)
NOTEBOOKS = ROOT / "notebooks"
FIGURES = ROOT / "figures"
FETCHED = ("official", "package-index")  # folders of the cache that hold downloaded data files
CODE_AND_DATA = {".csv", ".json", ".mplstyle", ".py", ".toml"}
NO_INPUT = re.compile(r"anonpaper/compendium/(intervals|judge)\.py|notebooks/\w+/(checks\.py|(claims|paper|asked)\.toml)|figures/.*")
NOT_KEPT = (".svg", ".tex")  # can be left out of what is committed: csv and png stay


class NotebookError(Exception):
    """A notebook or its profile cannot be used as it is; the message says what to change."""


def notebook_names() -> list[str]:
    """Return the names of all notebooks, in order: paths in notebooks/ without the ending."""
    found = [*NOTEBOOKS.glob("*.ipynb"), *NOTEBOOKS.glob("[!.]*/*.ipynb")]
    return sorted(path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in found)


def source_of(name: str) -> Path:
    """Return a notebook's file."""
    path = NOTEBOOKS / f"{name}.ipynb"
    if not path.is_file():
        raise NotebookError(f"no such notebook; there are {', '.join(notebook_names())}")
    return path


def reference(profile: str) -> Path:
    """Return the folder of a profile's committed results."""
    return FIGURES / "paper" if profile == "paper" else FIGURES / "expected" / profile


def parameters_of(profile: str) -> dict[str, dict]:
    """Return the parameters that a profile sets, by notebook.

    They stand in notebooks/<folder>/profiles/<profile>.yaml, a section per notebook of the folder.
    Parameters cells hold those of the quick profile, and the only ones of a folder without
    profiles; a quick.yaml is only needed to say otherwise.

    Raises
    ------
    NotebookError
        There is no such profile, or its sections are not those of the notebooks: without one a
        notebook would run at its own sizes under the profile's name.
    """
    import yaml

    files = sorted(NOTEBOOKS.glob("*/profiles/*.yaml"))
    known = sorted({"quick", *(file.stem for file in files)})
    if profile not in known:
        raise NotebookError(f"no profile {profile!r}; there are {', '.join(known)}")
    found = {name: {} for name in notebook_names()}
    asked = {file.parent for file in files if profile != "quick" or file.stem == "quick"}
    for folder in sorted(asked):
        file, paper = folder / f"{profile}.yaml", folder.parent.name
        sections = yaml.safe_load(file.read_text()) if file.is_file() else {}
        own = {f"{paper}/{name}": values or {} for name, values in (sections or {}).items()}
        strange = sorted(set(own) - set(found))
        if strange:
            raise NotebookError(
                f"{file.relative_to(ROOT)} has sections of no notebook: {', '.join(strange)}; "
                "remove or rename them"
            )
        missing = sorted({name for name in found if name.startswith(f"{paper}/")} - set(own))
        if missing:
            raise NotebookError(
                f"{file.relative_to(ROOT)} has no section of {', '.join(missing)}; add "
                f"`{Path(missing[0]).name}: {{}}` if the values of the parameters cell are right "
                "for it"
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


def known_shares(results: Path) -> dict[str, dict]:
    """Return the shares of all notebooks that have run, by name."""
    folder = results / "manifest"
    return {
        path.relative_to(folder).with_suffix("").as_posix(): json.loads(path.read_text())
        for path in sorted(folder.rglob("*.json"))
    }


def changes(name: str, parameters: dict, results: Path) -> list[str]:
    """Return why a notebook has to run again; nothing if its results are up to date."""
    share = read_share(name, results)
    if share is None:
        return ["has not run"]
    missing = [
        output
        for output in share["outputs"]
        if not output.endswith(NOT_KEPT) and not (results / output).exists()
    ]
    if missing:
        return [f"{output} is missing" for output in missing]
    if "inputs" not in share:
        return ["what it depends on was not noted"]
    before = share["inputs"]
    now = inputs_of(name, parameters, share, snapshot(before["files"]))
    reasons = [
        f"its {kind} changed" for kind in now if kind != "files" and now[kind] != before.get(kind)
    ]
    return reasons + [
        f"{path} {'changed' if path in now['files'] else 'is gone'}"
        for path, digest in before["files"].items()
        if now["files"].get(path) != digest
    ]


def inputs_of(name: str, parameters: dict, share: dict, files: dict[str, str]) -> dict:
    """Return all that a notebook's results depend on, its outputs left out.

    Parameters
    ----------
    name : str
        The notebook.
    parameters : dict
        Those that the profile sets.
    share : dict
        What the notebook noted: the packages whose versions matter and the data sets used.
    files : dict
        Digests of the files of the project that a run opened.
    """
    notebook = json.loads(source_of(name).read_text())
    cells = [
        [cell["cell_type"], "".join(cell["source"]), cell["metadata"].get("tags", [])]
        for cell in notebook["cells"]
    ]
    used = {
        data["dataset"]
        for output in share["outputs"].values()
        for data in output["data"]
        if data.get("dataset")
    }
    return {
        "cells": short_digest(cells),
        "parameters": short_digest(parameters),
        "versions": {
            name: pin for name, pin in locked().items() if name in share.get("packages", ())
        },
        "data": {name: is_there for name, is_there in replaceable_data().items() if name in used},
        "files": files,
    }


def locked() -> dict[str, str]:
    """Return the locked version of every package."""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pins = (re.match(r"([\w.-]+)==([^\s;\\]+)", line) for line in lines)
    return {pin[1].lower(): pin[2] for pin in pins if pin}


def replaceable_data() -> dict[str, bool]:
    """Return for each data set that has a stand-in whether its own files are there."""
    folders = [raw_folder(), *(cache_folder() / folder for folder in FETCHED)]
    registry = tomllib.loads((ROOT / "anonpaper/datasets/registry.toml").read_text())

    def is_there(file: dict) -> bool:
        return any(
            (folder / f"{name}{packed}").is_file()
            for folder in folders
            for name in (file["name"], *file.get("aliases", ()))
            for packed in ("", ".gz")
        )

    return {
        name: all(map(is_there, entry["files"]))
        for name, entry in registry.items()
        if entry.get("stand_in")
    }


def snapshot(names=None) -> dict[str, str]:
    """Return the digest of every file of the project that a run may depend on, by its path.

    Comments and docstrings of Python do not count.

    Parameters
    ----------
    names : iterable of str, optional
        Paths to look at; those that are gone are left out.
    """
    if names is None:
        folders = [
            ROOT / "anonpaper",
            NOTEBOOKS,
            *(
                folder
                for folder in (ROOT / "data").iterdir()
                if folder.name not in ("cache", "raw")
            ),
        ]
        names = [
            path.relative_to(ROOT).as_posix()
            for folder in folders
            for path in (folder.rglob("*") if folder.is_dir() else [])
            if path.suffix in CODE_AND_DATA
        ]
    return {
        name: sha256(bare_content(ROOT / name))[:16]
        for name in sorted(names)
        if (ROOT / name).is_file() and not NO_INPUT.fullmatch(name)
    }


def opened_files(notes: Path) -> set[str]:
    """Return the files of the project that processes noted to have opened, sources for caches."""
    opened = {line for file in notes.iterdir() for line in file.read_text().splitlines()}
    return {source_from_cache(name) if name.endswith(".pyc") else name for name in opened}


def short_digest(content: object) -> str:
    """Return a digest of lists, texts and numbers."""
    return sha256(json.dumps(content, sort_keys=True, default=str))[:16]

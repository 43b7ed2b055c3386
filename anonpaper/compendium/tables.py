"""Files of a checkout: the papers, their own numbers, and tables that notebooks saved."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from anonpaper.errors import DatasetError, DatasetUnavailableError
from anonpaper.files import project_root, write_whole


def notebooks_folder() -> Path | None:
    """Return the folder of notebooks; None if the package is installed without a checkout."""
    root = project_root()
    return root and root / "notebooks"


# ---- papers -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper and its question; `picture` names the saved figure that its page shows."""

    key: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    question: str
    picture: str = ""

    @property
    def families(self) -> list[str]:
        """The family names of its authors."""
        return [author.partition(",")[0] for author in self.authors]

    @property
    def name(self) -> str:
        """The family names of one or two authors, or the first's, and the year."""
        first, *others = self.families
        told = f"{first} et al." if len(others) > 1 else ", ".join(self.families)
        return f"{told} {self.year}"


def papers() -> dict[str, Paper]:
    """Return the papers by key, the oldest first, from the paper.toml beside their notebooks.

    >>> papers()["xiao2010"].name
    'Xiao et al. 2010'
    """
    files = (notebooks_folder() or Path()).glob("*/paper.toml")
    found = [Paper(key=file.parent.name, **tomllib.loads(file.read_text())) for file in files]
    return {paper.key: paper for paper in sorted(found, key=lambda paper: (paper.year, paper.key))}


def overview() -> pd.DataFrame:
    """Return name, title and question of each paper, one row per paper.

    >>> overview().loc["diva2021", "asks"]
    'can a k-anonymous table keep its minorities?'
    """
    rows = {key: (paper.name, paper.title, paper.question) for key, paper in papers().items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["paper", "title", "asks"])


def reference(name: str) -> pd.DataFrame:
    """Return numbers of a paper; data/reference/README.md names table or figure.

    `name` is a file without ``.csv``: paper, table or figure, content; else DatasetError.

    >>> reference("xiao2010_tab6_domain_sizes").head(2)
      attribute role  domain_size
    0       Age   QI           79
    1    Gender   QI            2
    """
    folder = (project_root() or Path()) / "data" / "reference"
    known = sorted(path.stem for path in folder.glob("*.csv"))
    if name not in known:
        raise DatasetError(f"no reference table is called {name!r}; a checkout has {known}")
    return pd.read_csv(folder / f"{name}.csv")


# ---- what notebooks saved ---------------------------------------------------------------------


def folders() -> dict[str, Path]:
    """Return the folder of saved tables by profile, the paper profile first; else empty."""
    root = project_root()
    return {} if root is None else {name: root / "figures" / name for name in ("paper", "quick")}


def read_table(path: Path) -> pd.DataFrame:
    """Return a saved table with its exact numbers; only empty cells are missing values."""
    return pd.read_csv(path, float_precision="round_trip", keep_default_na=False, na_values=[""])


def saved(table: str) -> tuple[pd.DataFrame, str]:
    """Return a saved table, of the paper profile if that was run, and its profile.

    `table` is folder and name, without ``.csv``. DatasetUnavailableError if no profile of this
    checkout has it.

    >>> table, profile = saved("beyond/gaps")
    >>> profile, {"asked", "n", "algorithm", "mean"} <= set(table)
    ('paper', True)
    """
    for profile, folder in folders().items():
        if (folder / f"{table}.csv").is_file():
            return read_table(folder / f"{table}.csv"), profile
    raise DatasetUnavailableError(f"{table}.csv is not saved: run its notebook in a checkout")


def manifest(folder: Path) -> dict[str, dict]:
    """Return what each notebook noted of its results in a folder, by the notebook's name."""
    file = folder / "manifest.json"
    return json.loads(file.read_text("utf-8")) if file.is_file() else {}


def made_by(table: str) -> str:
    """Return the name of the notebook that saved a table, as the manifest says."""
    shares = manifest(folders()[saved(table)[1]]).items()
    (name,) = [name for name, share in shares if f"{table}.csv" in share["outputs"]]
    return name.partition("/")[2]


def put_entry(file: Path, name: str, entry: object) -> None:
    """Write an entry of a JSON file of entries in order; notebooks side by side write in turn."""
    import fcntl  # of POSIX

    file.parent.mkdir(parents=True, exist_ok=True)
    place = os.open(file.parent, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        entries = json.loads(file.read_text("utf-8")) if file.is_file() else {}
        entries = dict(sorted((entries | {name: entry}).items()))
        options = {"indent": 1, "ensure_ascii": False, "default": lambda one: one.tolist()}
        write_whole(file, json.dumps(entries, **options) + "\n")
    finally:
        os.close(place)

"""The results of a notebook: figures and tables, with their origin.

``ANONPAPER_PROFILE`` (``quick`` or ``paper``) and ``ANONPAPER_FIGURES`` (the folder of all
results; figures/<profile> by default) determine the place.
"""

from __future__ import annotations

import ast
import json
import platform
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from anonpaper import plots
from anonpaper.compendium.claims import judged
from anonpaper.compendium.edition import (
    QUICK_RUN,
    edition_parameters,
    edition_table,
    picture,
    show,
    shows_edition,
)
from anonpaper.compendium.grids import plain_values
from anonpaper.compendium.provenance import figures_root, profile
from anonpaper.compendium.shown import Verdicts
from anonpaper.compendium.tables import folders
from anonpaper.errors import ParameterError
from anonpaper.files import project_root, sha256, write_whole
from anonpaper.microdata import Microdata

__all__ = ["RECORDED_PACKAGES", "Results", "stamp_data"]

# packages whose version may change a number or a picture
RECORDED_PACKAGES = (
    "ctgan matplotlib networkx numba numpy pandas pyarrow pymoo scikit-learn scipy sdv "
    "torch".split()
)


class Results:
    """The figures and tables of one notebook, each saved with its origin.

    Files go to <root>/<paper>/, and a description of their origin to
    <root>/manifest/<paper>/<notebook>.json, updated after each of them.

    Parameters
    ----------
    paper, notebook : str
        Name of the folder of notebooks, and of the notebook's file without its ending.
    parameters : mapping, optional
        The notebook's parameters as used, e.g. ``dict(levels=levels, seed=seed)``.
    microdata : sequence of Microdata, optional
        The tables of people behind the results. Figures made from a stand-in are stamped "stand-in
        data"; a table that replaces another one is named under the figure.

    Raises
    ------
    ParameterError
        A name is not made of lower-case letters, digits, ``_``, ``-`` and ``.``.

    Examples
    --------
    >>> import os, tempfile
    >>> os.environ["ANONPAPER_FIGURES"] = folder = tempfile.mkdtemp()
    >>> results = Results("xiao2010", notebook="1_example", parameters={"l": 2})
    >>> frame = pd.DataFrame({"l": [2, 4], "stars": [8, 12]})
    >>> _ = results.table(frame, "stars", caption="Stars by l", of="Table 3")
    >>> sorted(path.name for path in Path(folder, "xiao2010").iterdir())
    ['stars.csv']
    >>> del os.environ["ANONPAPER_FIGURES"]
    """

    def __init__(
        self,
        paper: str,
        *,
        notebook: str,
        parameters: Mapping | None = None,
        microdata: Sequence[Microdata] = (),
    ):
        self.paper = _check_name("paper", paper)
        self.notebook = _check_name("notebook", notebook)
        self.parameters = dict(parameters or {})
        self.microdata = tuple(microdata)
        self.root = figures_root()
        self._outputs: dict[str, dict] = {}

    @classmethod
    def from_parameters(
        cls, paper: str, notebook: str, *, microdata: Sequence[Microdata] = ()
    ) -> Results:
        """Return the results of the calling notebook, with its current parameters.

        Their names come from its cell tagged ``parameters``, their values from the variables, as a
        profile set them. ParameterError names missing ones.
        """
        values = sys._getframe(1).f_globals
        names = _parameters_of(_check_name("paper", paper), _check_name("notebook", notebook))
        missing = [name for name in names if name not in values]
        if missing:
            raise ParameterError(f"parameters of {paper}/{notebook} are not set: {missing}")
        given = {name: values[name] for name in names}
        if shows_edition():
            show(_edition_in_words(edition_parameters(paper, notebook), given))
        return cls(paper, notebook=notebook, parameters=given, microdata=microdata)

    def figure(
        self,
        figure: Figure,
        name: str,
        *,
        data: pd.DataFrame,
        caption: str = "",
        of: str = "",
        timing: Sequence[str] | bool = False,
        microdata: Sequence[Microdata] | None = None,
    ) -> None:
        """Save a figure as svg and png, and its numbers as csv.

        Equal numbers give equal picture files, byte for byte.

        Parameters
        ----------
        figure : Figure
        name : str
            Name of the files, without ending; unique within the paper.
        data : DataFrame
            The plotted numbers.
        caption : str
            What the axes show and what to see, as a literal text: the site puts it below the
            figure, where it is also the alternative text.
        of : str, optional
            The figure of the paper, e.g. ``"Figure 2a"``; empty for our own.
        timing : sequence of str or bool, optional
            Columns with run times or numbers derived from them, which change from run to run; true
            means all numbers with a decimal point.
        microdata : sequence of Microdata, optional
            The tables behind this figure, if they are not all of the notebook's.

        Raises
        ------
        ParameterError
            The name is malformed or was used before, or `timing` names no column.
        """
        tables = self.microdata if microdata is None else tuple(microdata)
        stamp_data(figure, map(_describe, tables))
        files = {
            "svg": plots.render(figure, "svg"),
            "png": plots.render(figure, "png"),
            "csv": _csv(data),
        }
        timing = _times(timing, data)
        about = {"timing": timing, "caption": caption}
        self._save(files, name, tables, kind="figure", of=of, **about)
        if shows_edition() and (image := picture(f"{self.paper}/{name}")) is not None:
            plt.close(figure)
            show(image)
        elif shows_edition():
            plt.close(figure)
            show(QUICK_RUN)

    def table(
        self,
        frame: pd.DataFrame,
        name: str,
        *,
        caption: str,
        of: str = "",
        timing: Sequence[str] | bool = False,
        microdata: Sequence[Microdata] | None = None,
    ) -> pd.DataFrame:
        """Save a table as csv with all digits, and return it to show, as a cell's last line.

        Parameters are those of `figure`. The index is written if it has a name or is not just
        0, 1, 2, ...
        """
        tables = self.microdata if microdata is None else tuple(microdata)
        about = {"timing": _times(timing, frame), "caption": caption}
        self._save({"csv": _csv(frame)}, name, tables, kind="table", of=of, **about)
        if not shows_edition():
            return frame
        index = frame.index.names if _index_matters(frame) else []
        shown = edition_table(f"{self.paper}/{name}", list(index))
        if shown is None:
            show(QUICK_RUN)
        return frame if shown is None else shown

    def claims(self, *, timing: bool = False) -> Verdicts:
        """Judge the claims whose first table this notebook has saved.

        ``timing=True`` selects claims that depend on run times, otherwise all others. Nothing is
        written: the paper's page judges the same claims from the same files.
        """
        timed = {Path(path).stem for path, about in self._outputs.items() if about["timing"]}
        saved = {Path(path).stem for path in self._outputs}
        edition = folders()["paper"]
        made, root = ("paper", edition) if shows_edition() else (profile(), self.root)
        committed = judged(self.paper, edition / self.paper)
        own = committed if root == edition else judged(self.paper, root / self.paper)
        rows = {}
        for (one, found), (_, there) in zip(own, committed, strict=True):
            tables = [Path(file).stem for file in one.tables.values()]
            if tables[0] not in saved or timing == timed.isdisjoint(tables):
                continue
            rows[one.name] = {
                "where": one.where, "claim": one.text,
                "measured": found.measured, "interval": found.interval,
                f"verdict, {made} profile": found.verdict, "verdict, paper profile": there.verdict,
                "why": found.why, "otherwise": found.otherwise,
            }  # fmt: skip
        if not rows:
            raise ParameterError(
                f"notebooks/{self.paper}/claims.py has no claims on tables of {self.notebook!r}"
            )
        return Verdicts(pd.DataFrame.from_dict(rows, orient="index"))

    def _save(
        self, files: Mapping[str, bytes | str], name: str, tables: Sequence[Microdata], **about
    ) -> None:
        """Write the files of one output, and the manifest with them in it."""
        _check_name("name", name)
        taken = {Path(path).stem for path in self._outputs}
        if name in taken:
            raise ParameterError(f"two outputs of {self.notebook} are named {name!r}: rename one")
        data = [_describe(table) for table in tables]
        for ending, content in files.items():
            write_whole(self.root / self.paper / f"{name}.{ending}", content)
            self._outputs[f"{self.paper}/{name}.{ending}"] = {
                "sha256": sha256(content),
                **about,
                "data": data,
            }
        self._write_manifest()

    def _write_manifest(self) -> None:
        manifest = {
            "paper": self.paper,
            "notebook": f"notebooks/{self.paper}/{self.notebook}.ipynb",
            "profile": profile(),
            "parameters": self.parameters,
            "python": platform.python_version(),
            "packages": _package_versions(),
            "outputs": self._outputs,
        }
        path = self.root / "manifest" / self.paper / f"{self.notebook}.json"
        write_whole(path, json.dumps(manifest, indent=1, default=plain_values) + "\n")


def _edition_in_words(edition: Mapping | None, own: Mapping) -> str:
    """Return at which sizes the results that a notebook shows were made."""
    if edition is None:
        return QUICK_RUN
    if edition == json.loads(json.dumps(own, default=plain_values)):
        return "*Results below: the paper edition, run with the parameters above.*"
    told = ", ".join(f"`{name} = {value}`" for name, value in edition.items())
    return f"*Results below: the paper edition, with {told}. A quick run has the values above.*"


def stamp_data(figure: Figure, data: Iterable[Mapping]) -> None:
    """Stamp a figure whose data are stand-ins, and name tables that replace others below it."""
    data = list(data)
    if any(about.get("stand_in") for about in data):
        plots.stamp(figure)
    # without the words in brackets, the line fits under a figure of one column
    substitutes = [
        f"{about['dataset']}, in place of {about['substitute_for'].partition(' (')[0]}"
        for about in data
        if about.get("substitute_for")
    ]
    if substitutes:
        plots.footer(figure, "data: " + "; ".join(dict.fromkeys(substitutes)))


def _check_name(what: str, name: str) -> str:
    """Return a name that can be part of a file's name, or raise ParameterError."""
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", name):
        raise ParameterError(
            f"{what} needs lower-case letters, digits, '_', '-' and '.', got {name!r}"
        )
    return name


def _parameters_of(paper: str, notebook: str) -> list[str]:
    """Return the names that a notebook's cell tagged ``parameters`` assigns."""
    root = project_root(Path.cwd())
    file = (root or Path()) / "notebooks" / paper / f"{notebook}.ipynb"
    if root is None or not file.is_file():
        raise ParameterError(
            f"no {file.name} in notebooks/{paper} of the project around the working directory: "
            "give Results(..., parameters=...) what the results depend on"
        )
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    tagged = [cell for cell in cells if "parameters" in cell["metadata"].get("tags", ())]
    source = "\n".join("".join(cell["source"]) for cell in tagged)
    assigned = [node for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    return [target.id for node in assigned for target in node.targets]


def _times(timing: Sequence[str] | bool, data: pd.DataFrame) -> list[str] | bool:
    """Return the columns with run times; ParameterError for unknown ones."""
    if isinstance(timing, bool):
        return timing
    missing = set(timing) - set(data.columns)
    if isinstance(timing, str) or missing:
        raise ParameterError(f"timing names columns of {list(data.columns)}, got {timing!r}")
    return list(timing)


def _describe(table: Microdata) -> dict:
    origin = table.origin
    about = {"origin": None if origin is None else str(origin)}
    if is_dataclass(origin):
        about |= asdict(origin)
    return {**about, "rows": table.n, "qi": list(table.qi), "sensitive": table.sensitive}


def _package_versions() -> dict[str, str]:
    """Return the versions of installed packages that may change a result."""
    found = {}
    for package in RECORDED_PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _index_matters(frame: pd.DataFrame) -> bool:
    """Return whether the index is more than row numbers."""
    return frame.index.name is not None or not frame.index.equals(pd.RangeIndex(len(frame)))


def _csv(frame: pd.DataFrame) -> str:
    return frame.to_csv(index=_index_matters(frame), lineterminator="\n")

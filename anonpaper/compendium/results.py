"""The results of a notebook: figures and tables, with their origin, and what readers see of them.

``ANONPAPER_PROFILE`` (``quick`` or ``paper``) and ``ANONPAPER_FIGURES`` (the folder of all
results; figures/<profile> by default) determine the place. A notebook that runs shows its own
results. With ``ANONPAPER_SHOW=paper``, as `make` runs it at quick sizes, each saved figure, table
and verdict is shown as the paper edition, figures/paper, has it.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from anonpaper import plots
from anonpaper.compendium.claims import judged
from anonpaper.compendium.shown import Verdicts
from anonpaper.compendium.tables import folders, read_table, saved
from anonpaper.errors import ParameterError
from anonpaper.files import project_root, write_whole
from anonpaper.microdata import Microdata

__all__ = ["Results", "answer", "show"]

#: Shown beside a result that the paper edition does not have yet.
QUICK_RUN = "*From a quick run at small sizes: the paper edition does not have this result yet.*"


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
        self.paper, self.notebook = paper, notebook
        self.parameters = dict(parameters or {})
        self.microdata = tuple(microdata)
        home = project_root(Path.cwd()) or Path.cwd()
        self.profile = os.environ.get("ANONPAPER_PROFILE") or "quick"
        given = os.environ.get("ANONPAPER_FIGURES")
        self.root = Path(given).resolve() if given else home / "figures" / self.profile
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
        names = _parameters_of(paper, notebook)
        missing = [name for name in names if name not in values]
        if missing:
            raise ParameterError(f"parameters of {paper}/{notebook} are not set: {missing}")
        given = {name: values[name] for name in names}
        if _shows_edition():
            show(_edition_in_words(folders()["paper"] / _manifest(paper, notebook), given))
        return cls(paper, notebook=notebook, parameters=given, microdata=microdata)

    def figure(
        self, figure: Figure, name: str, *, data: pd.DataFrame, caption: str = "", of: str = "",
        timing: Sequence[str] | bool = False, microdata: Sequence[Microdata] | None = None,
    ) -> None:  # fmt: skip
        """Save a figure as png, and its numbers as csv. Equal numbers give equal files.

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
        """
        tables = self.microdata if microdata is None else tuple(microdata)
        _stamp(figure, tables)
        files = {"png": plots.render(figure), "csv": _csv(data)}
        self._save(files, name, of=of, timing=_times(timing, data), caption=caption)
        if _shows_edition():
            plt.close(figure)
            edition = _picture(f"{self.paper}/{name}")
            show(QUICK_RUN if edition is None else edition)

    def table(
        self, frame: pd.DataFrame, name: str, *, caption: str, of: str = "",
        timing: Sequence[str] | bool = False, microdata: Sequence[Microdata] | None = None,
    ) -> pd.DataFrame:  # fmt: skip
        """Save a table as csv with all digits, and return it to show, as a cell's last line.

        Parameters are as for `figure`. The index is written if it has a name or is not just
        0, 1, 2, ...
        """
        about = {"of": of, "timing": _times(timing, frame), "caption": caption}
        self._save({"csv": _csv(frame)}, name, **about)
        file = folders()["paper"] / self.paper / f"{name}.csv" if _shows_edition() else None
        if file is None:
            return frame
        if not file.is_file():
            show(QUICK_RUN)
            return frame
        edition, index = read_table(file), frame.index.names if _index_matters(frame) else []
        if not index:
            return edition
        return edition.set_index([*edition.columns[: len(index)]]).rename_axis(index)

    def claims(self, *, timing: bool = False) -> Verdicts:
        """Judge the claims whose first table this notebook has saved.

        ``timing=True`` selects claims that depend on run times, otherwise all others. Nothing is
        written: the paper's page judges the same claims from the same files.
        """
        timed = {Path(path).stem for path, about in self._outputs.items() if about["timing"]}
        saved = {Path(path).stem for path in self._outputs}
        edition = folders()["paper"]
        shows = ("paper", edition) if _shows_edition() else (self.profile, self.root)
        committed = judged(self.paper, edition / self.paper)
        own = committed if shows[1] == edition else judged(self.paper, self.root / self.paper)
        rows = {}
        for (one, found), (_, there) in zip(own, committed, strict=True):
            tables = [Path(file).stem for file in one.tables.values()]
            if tables[0] not in saved or timing == timed.isdisjoint(tables):
                continue
            rows[one.name] = {
                "where": one.where, "claim": one.text,
                "measured": found.measured, "interval": found.interval,
                f"verdict, {shows[0]} profile": found.verdict,
                "verdict, paper profile": there.verdict,
                "why": found.why, "otherwise": found.otherwise,
            }  # fmt: skip
        if not rows:
            raise ParameterError(
                f"notebooks/{self.paper}/claims.py has no claims on tables of {self.notebook!r}"
            )
        return Verdicts(pd.DataFrame.from_dict(rows, orient="index"))

    def _save(self, files: Mapping[str, bytes | str], name: str, **about) -> None:
        """Write the files of one output, and the manifest with them in it."""
        if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", name):
            raise ParameterError(f"a name has a-z, 0-9, '_', '-' and '.' only, got {name!r}")
        if name in {Path(path).stem for path in self._outputs}:
            raise ParameterError(f"two outputs of {self.notebook} are named {name!r}: rename one")
        for ending, content in files.items():
            write_whole(self.root / self.paper / f"{name}.{ending}", content)
            self._outputs[f"{self.paper}/{name}.{ending}"] = about
        manifest = {
            "profile": self.profile,
            "parameters": self.parameters,
            "data": [_describe(table) for table in self.microdata],
            "outputs": self._outputs,
        }
        path = self.root / _manifest(self.paper, self.notebook)
        write_whole(path, json.dumps(manifest, indent=1, default=_plain) + "\n")


# ---- what readers see -------------------------------------------------------------------------


def answer(text: str, *, shown: str = "", sure: str = "") -> None:
    """Show the answer of a notebook: a bold sentence, how sure it is, and a figure or table.

    Parameters
    ----------
    text : str
        One sentence. Its numbers come from :func:`anonpaper.compendium.saved`.
    shown : str, optional
        Folder and name of the saved figure or table that shows it.
    sure : str, optional
        The sizes, seeds and intervals behind the sentence.

    Examples
    --------
    >>> answer("TP+ needs fewer stars than TP.", sure="One table of 10 rows.")
    <IPython.core.display.Markdown object>
    """
    quick = bool(shown) and saved(shown)[1] != "paper"
    show("\n\n".join(filter(None, [f"**{text}**", sure, QUICK_RUN if quick else ""])))
    if shown:
        image = _picture(shown)
        show(saved(shown)[0] if image is None else image)


def show(what: object) -> None:
    """Display an object, or a text as markdown, in a notebook."""
    from IPython.display import Markdown, display

    display(Markdown(what) if isinstance(what, str) else what)


def _shows_edition() -> bool:
    return os.environ.get("ANONPAPER_SHOW") == "paper"


def _picture(name: str):
    """Return a figure of the paper edition as notebooks show it, or None."""
    file = folders().get("paper", Path()) / f"{name}.png"
    if not file.is_file():
        return None
    from IPython.display import Image
    from PIL import Image as Pixels

    content = io.BytesIO()
    with Pixels.open(file) as pixels:  # 300 dots per inch are for print
        pixels.convert("RGB").reduce(2).quantize(256).save(content, "png", optimize=True)
    return Image(content.getvalue(), format="png", embed=True)


def _manifest(paper: str, notebook: str) -> str:
    return f"manifest/{paper}/{notebook}.json"


def _edition_in_words(manifest: Path, own: Mapping) -> str:
    """Return at which sizes the results that a notebook shows were made."""
    if not manifest.is_file():
        return QUICK_RUN
    edition = json.loads(manifest.read_text("utf-8"))["parameters"]
    if edition == json.loads(json.dumps(own, default=_plain)):
        return "*Results below: the paper edition, run with the parameters above.*"
    told = ", ".join(f"`{name} = {value}`" for name, value in edition.items())
    return f"*Results below: the paper edition, with {told}. A quick run has the values above.*"


def _stamp(figure: Figure, tables: Sequence[Microdata]) -> None:
    """Stamp a figure whose data are stand-ins, and name tables that replace others below it."""
    origins = [table.origin for table in tables]
    if any(getattr(origin, "stand_in", False) for origin in origins):
        plots.stamp(figure)
    # without the words in brackets, the line fits under a figure of one column
    substitutes = [
        f"{origin.dataset}, in place of {origin.substitute_for.partition(' (')[0]}"
        for origin in origins
        if getattr(origin, "substitute_for", None)
    ]
    if substitutes:
        plots.footer(figure, "data: " + "; ".join(dict.fromkeys(substitutes)))


# ---- files --------------------------------------------------------------------------------------


def _parameters_of(paper: str, notebook: str) -> list[str]:
    """Return the names that a notebook's cell tagged ``parameters`` assigns."""
    file = (project_root(Path.cwd()) or Path()) / "notebooks" / paper / f"{notebook}.ipynb"
    if not file.is_file():
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
    if isinstance(timing, str) or set(timing) - set(data.columns):
        raise ParameterError(f"timing names columns of {list(data.columns)}, got {timing!r}")
    return list(timing)


def _describe(table: Microdata) -> dict:
    about = {"origin": None if table.origin is None else str(table.origin)}
    about |= asdict(table.origin) if is_dataclass(table.origin) else {}
    return {**about, "rows": table.n, "qi": list(table.qi), "sensitive": table.sensitive}


def _plain(value: object) -> object:
    """Return numpy and pandas values as JSON types."""
    if isinstance(value, np.generic | np.ndarray | pd.Index | pd.Series):
        return value.tolist()
    raise TypeError(f"got {type(value).__name__}")


def _index_matters(frame: pd.DataFrame) -> bool:
    """Return whether the index is more than row numbers."""
    return frame.index.name is not None or not frame.index.equals(pd.RangeIndex(len(frame)))


def _csv(frame: pd.DataFrame) -> str:
    return frame.to_csv(index=_index_matters(frame), lineterminator="\n")

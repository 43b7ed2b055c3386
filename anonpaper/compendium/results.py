"""The results of a notebook: figures and tables, with their origin, and what readers see of them.

``ANONPAPER_PROFILE`` (``quick`` or ``paper``) and ``ANONPAPER_FIGURES`` (figures/<profile> by
default) determine the place. With ``ANONPAPER_SHOW=paper``, as `make` runs notebooks at quick
sizes, each saved figure, table and verdict is shown as the paper edition, figures/paper, has it.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from html import escape
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from jinja2 import Template
from matplotlib.figure import Figure

from anonpaper import plots
from anonpaper.compendium import claims as judge
from anonpaper.compendium import tables as checkout
from anonpaper.errors import ParameterError
from anonpaper.files import write_whole
from anonpaper.microdata import Microdata

#: Shown beside a result that the paper edition does not have yet.
QUICK_RUN = "*From a quick run at small sizes: the paper edition does not have this result yet.*"


class Results:
    """The figures and tables of one notebook, each saved with its origin.

    Files go to <root>/<paper>/, and their origin to <root>/manifest.json, updated after each of
    them: the parameters as used, and the tables of people behind the results. Figures made from a
    stand-in are stamped "stand-in data"; a table that replaces another is named under the figure.

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
        self, paper: str, *, notebook: str, parameters: Mapping | None = None,
        microdata: Sequence[Microdata] = (),
    ):  # fmt: skip
        self.paper, self.notebook = paper, notebook
        self.parameters, self.microdata = dict(parameters or {}), tuple(microdata)
        self.profile = os.environ.get("ANONPAPER_PROFILE") or "quick"
        given = os.environ.get("ANONPAPER_FIGURES") or checkout.folders()[self.profile]
        self.root = Path(given).resolve()
        self._outputs: dict[str, dict] = {}

    @classmethod
    def from_parameters(
        cls, paper: str, notebook: str, *, microdata: Sequence[Microdata] = ()
    ) -> Results:
        """Return the results of the calling notebook, with its current parameters.

        Their names come from its cell tagged ``parameters``, their values from the variables, as a
        profile set them.
        """
        file = checkout.notebooks_folder() / paper / f"{notebook}.ipynb"
        cells = json.loads(file.read_text("utf-8"))["cells"]
        tagged = [cell for cell in cells if "parameters" in cell["metadata"].get("tags", ())]
        source = "\n".join("".join(cell["source"]) for cell in tagged)
        values = sys._getframe(1).f_globals
        given = {name: values[name] for name in re.findall(r"^(\w+) = ", source, re.MULTILINE)}
        if edition := _edition("manifest.json"):
            _show(_in_words(checkout.manifest(edition.parent).get(f"{paper}/{notebook}"), given))
        return cls(paper, notebook=notebook, parameters=given, microdata=microdata)

    def figure(
        self, figure: Figure, name: str, *, data: pd.DataFrame, caption: str = "", of: str = "",
        timing: Sequence[str] | bool = False, microdata: Sequence[Microdata] | None = None,
    ) -> None:  # fmt: skip
        """Save a figure as png, and its numbers as csv. Equal numbers give equal files.

        Names of files are unique within the paper. `data` are the plotted numbers. The caption, a
        literal text, says what the axes show and what to see: it is also the alternative text.
        `of` is the figure of the paper, ``"Figure 2a"``, or empty for our own. `timing` names
        columns with run times or numbers derived from them, which change from run to run; true
        means all numbers with a decimal point. `microdata` are the tables behind this figure, if
        they are not all of the notebook's.
        """
        _stamp(figure, self.microdata if microdata is None else microdata)
        files = {"png": plots.render(figure), "csv": _csv(data)}
        self._save(files, name, of=of, timing=timing, caption=caption)
        if edition := _edition(f"{self.paper}/{name}.png"):
            plt.close(figure)
            _show(_picture(edition))

    def table(
        self, frame: pd.DataFrame, name: str, *, caption: str, of: str = "",
        timing: Sequence[str] | bool = False, microdata: Sequence[Microdata] | None = None,
    ) -> pd.DataFrame:  # fmt: skip
        """Save a table as csv with all digits, and return it to show, as a cell's last line.

        Parameters are as for `figure`. The index is written if it has a name or is not just
        0, 1, 2, ...
        """
        self._save({"csv": _csv(frame)}, name, of=of, timing=timing, caption=caption)
        if not (edition := _edition(f"{self.paper}/{name}.csv")):
            return frame
        shown, index = checkout.read_table(edition), frame.index
        if _index_matters(frame):
            shown = shown.set_index([*shown.columns[: index.nlevels]]).rename_axis(index.names)
        return shown

    def claims(self):
        """Return the judged claims whose first table this notebook has saved, to show.

        Nothing is written: the paper's page judges the same claims from the same files.
        """
        from IPython.display import HTML

        saved = {Path(path).stem for path in self._outputs}
        places = {"paper": checkout.folders()["paper"]}
        places = places if _shows_edition() else {self.profile: self.root} | places
        by_place = [judge.judged(self.paper, root / self.paper) for root in places.values()]
        shown = [
            (*one[0], {of: found.verdict for of, (_, found) in zip(places, one, strict=True)})
            for one in zip(*by_place, strict=True)
            if one[0][0].tables[0] in saved
        ]
        return HTML(Template(_CLAIMS, autoescape=True).render(claims=shown, colours=COLOURS))

    def _save(self, files: Mapping[str, bytes | str], name: str, **about) -> None:
        """Write the files of one output, and the manifest with them in it."""
        if name in {Path(path).stem for path in self._outputs}:
            raise ParameterError(f"two outputs of {self.notebook} are named {name!r}: rename one")
        for ending, content in files.items():
            write_whole(self.root / self.paper / f"{name}.{ending}", content)
            self._outputs[f"{self.paper}/{name}.{ending}"] = about
        data = [
            {"origin": str(of.origin), "rows": of.n, "qi": list(of.qi), "sensitive": of.sensitive}
            for of in self.microdata
        ]
        share = {"profile": self.profile, "parameters": self.parameters, "data": data}
        share["outputs"] = self._outputs
        checkout.put_entry(self.root / "manifest.json", f"{self.paper}/{self.notebook}", share)


def _index_matters(frame: pd.DataFrame) -> bool:
    """Return whether the index is more than row numbers."""
    return frame.index.name is not None or not frame.index.equals(pd.RangeIndex(len(frame)))


def _csv(frame: pd.DataFrame) -> str:
    return frame.to_csv(index=_index_matters(frame), lineterminator="\n")


def _stamp(figure: Figure, tables: Sequence[Microdata]) -> None:
    """Stamp a figure whose data are stand-ins, and name tables that replace others below it."""
    origins = [table.origin for table in tables if is_dataclass(table.origin)]
    if any(origin.stand_in for origin in origins):
        plots.stamp(figure)
    # without the words in brackets, the line fits under a figure of one column
    replaced = [f"{one.dataset}, in place of {one.substitute_for.partition(' (')[0]}"
                for one in origins if one.substitute_for]  # fmt: skip
    if replaced:
        plots.footer(figure, "data: " + "; ".join(dict.fromkeys(replaced)))


# ---- what readers see -------------------------------------------------------------------------


def answer(text: str, *, shown: str = "", sure: str = "") -> None:
    """Show the answer of a notebook: a bold sentence, how sure it is, and a figure or table.

    The numbers of the sentence come from :func:`anonpaper.compendium.saved`. `shown` is folder and
    name of the saved figure or table that shows it, and `sure` has the sizes, seeds and intervals
    behind the sentence.
    """
    table, profile = checkout.saved(shown) if shown else (None, "paper")
    texts = [f"**{text}**", sure, "" if profile == "paper" else QUICK_RUN]
    _show("\n\n".join(filter(None, texts)))
    if shown:
        image = checkout.folders()["paper"] / f"{shown}.png"
        _show(_picture(image) if image.is_file() else table)


def _show(what: object) -> None:
    """Display an object, or a text as markdown, in a notebook."""
    from IPython.display import Markdown, display

    display(Markdown(what) if isinstance(what, str) else what)


def _shows_edition() -> bool:
    return os.environ.get("ANONPAPER_SHOW") == "paper"


def _edition(name: str) -> Path | None:
    """Return the file of the paper edition to show in place of a new one, or None."""
    file = checkout.folders()["paper"] / name if _shows_edition() else None
    if file and not file.is_file():
        file = _show(QUICK_RUN)
    return file


def _picture(file: Path):
    """Return a figure of the paper edition as notebooks show it."""
    from IPython.display import Image
    from PIL import Image as Pixels

    content = io.BytesIO()
    with Pixels.open(file) as pixels:  # 300 dots per inch are for print
        pixels.convert("RGB").reduce(2).quantize(256).save(content, "png", optimize=True)
    return Image(content.getvalue(), format="png", embed=True)


def _in_words(share: Mapping | None, own: Mapping) -> str:
    """Return at which sizes the results that a notebook shows were made."""
    if share is None:
        return QUICK_RUN
    own = json.loads(json.dumps(own, default=lambda value: value.tolist()))
    others = {name: value for name, value in share["parameters"].items() if own.get(name) != value}
    if not others:
        return "*Results below: the paper edition, run with the parameters above.*"
    for name, value in others.items():
        if isinstance(value, list) and len(str(value)) > 50:
            others[name] = f"[{value[0]}, ..., {value[-1]}]"
    told = ", ".join(f"`{name} = {value}`" for name, value in others.items())
    return f"*Results below: the paper edition, which has {told}. A quick run has those above.*"


#: Verdict -> background of its cell, the worst first.
COLOURS = ("#fbdde1", "#e9e3f3", "#dde7f2", "#f6f0cc", "#d9efdd")
COLOURS = dict(zip(judge.VERDICTS, COLOURS, strict=True))
#: Judged claims one below the other, the parts of each side by side on a wide screen.
_CLAIMS = """{% for claim, found, verdicts in claims %}
<div style="display: flex; flex-wrap: wrap; gap: 0.2em 1.5em; text-align: left;
padding: 0.6em 0; border-top: 1px solid #8888; overflow-wrap: anywhere">
<div style="flex: 1 1 15em"><b>{{ claim.where }}</b>: {{ claim.text }} (<code>{{ claim.name }}\
</code>)</div>
<div style="flex: 1 1 10em">measured: {{ found.measured }}\
{{ " (%s)" % found.interval if found.interval }}</div>
<div style="flex: 1 1 16em">{% for of, verdict in verdicts.items() %}{{ of }} profile: \
<b style="color: #222; padding: 0 0.3em; background-color: {{ colours[verdict] }}">{{ verdict }}\
</b><br>{% endfor %}</div>
<div style="flex: 1 1 100%">{{ found.why }} {{ found.otherwise }}</div></div>{% endfor %}"""


def source_of(function: Callable):
    """Return a function's source, folded up in a notebook."""
    from IPython.display import HTML

    name = f"{function.__module__}.{function.__qualname__}"
    return HTML(f"<details><summary>source of <code>{name}</code></summary>"
                f"<pre>{escape(inspect.getsource(function))}</pre></details>")  # fmt: skip

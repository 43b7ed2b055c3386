"""What readers of a notebook see: the results of the paper edition, figures/paper.

A notebook that runs shows its own results. With ``ANONPAPER_SHOW=paper``, as `make` runs
it at quick sizes, each saved figure, table and verdict is shown as the paper edition has it.
"""

from __future__ import annotations

import io
import json
import os

import pandas as pd

from anonpaper.compendium.tables import folders, read_table, saved

__all__ = ["QUICK_RUN", "answer", "edition_parameters", "edition_table", "picture", "show",
           "shows_edition"]  # fmt: skip

#: Shown beside a result that the paper edition does not have yet.
QUICK_RUN = "*From a quick run at small sizes: the paper edition does not have this result yet.*"


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

    Raises
    ------
    DatasetUnavailableError
        No edition of this checkout has the figure or table.

    Examples
    --------
    >>> answer("TP+ needs fewer stars than TP.", sure="One table of 10 rows.")
    <IPython.core.display.Markdown object>
    """
    quick = bool(shown) and saved(shown)[1] != "paper"
    show("\n\n".join(filter(None, [f"**{text}**", sure, QUICK_RUN if quick else ""])))
    if shown:
        image = picture(shown)
        show(saved(shown)[0] if image is None else image)


def show(what: object) -> None:
    """Display an object, or a text as markdown, in a notebook."""
    from IPython.display import Markdown, display

    display(Markdown(what) if isinstance(what, str) else what)


def shows_edition() -> bool:
    """Return whether notebooks show the paper edition instead of the run's results."""
    return os.environ.get("ANONPAPER_SHOW") == "paper"


def picture(name: str):
    """Return a figure of the paper edition as notebooks show it, or None."""
    file = folders().get("paper", "") and folders()["paper"] / f"{name}.png"
    if not file or not file.is_file():
        return None
    from IPython.display import Image
    from PIL import Image as Pixels

    content = io.BytesIO()
    with Pixels.open(file) as pixels:  # 300 dots per inch are for print
        pixels.convert("RGB").reduce(2).quantize(256).save(content, "png", optimize=True)
    return Image(content.getvalue(), format="png", embed=True)


def edition_table(name: str, index: list) -> pd.DataFrame | None:
    """Return a table of the paper edition, with the names of its index, or None."""
    file = folders()["paper"] / f"{name}.csv"
    if not file.is_file():
        return None
    frame = read_table(file)
    return frame.set_index([*frame.columns[: len(index)]]).rename_axis(index) if index else frame


def edition_parameters(paper: str, notebook: str) -> dict | None:
    """Return the parameters with which the paper edition ran a notebook; None if it did not."""
    file = folders()["paper"] / "manifest" / paper / f"{notebook}.json"
    return json.loads(file.read_text("utf-8"))["parameters"] if file.is_file() else None

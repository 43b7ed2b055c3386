"""What a notebook shows of code and of verdicts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from html import escape

import pandas as pd

from anonpaper.compendium.claims import (
    CANNOT_BE_TESTED,
    IN_PART,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
)

__all__ = ["COLOURS", "Source", "Verdicts", "source_of"]

#: Verdict -> background of its cell.
COLOURS = {
    REPRODUCED: "#d9efdd",
    IN_PART: "#f6f0cc",
    NOT_REPRODUCED: "#fbdde1",
    UNDECIDED: "#e9e3f3",
    CANNOT_BE_TESTED: "#dde7f2",
}


class Verdicts(pd.DataFrame):
    """Judged claims, which a notebook shows one below the other, as wide as there is room."""

    def _repr_html_(self) -> str:
        style = "display: flex; flex-wrap: wrap; gap: 0.2em 1.5em; text-align: left;"
        style += " padding: 0.6em 0; border-top: 1px solid #8888; overflow-wrap: anywhere"
        return "\n".join(
            f'<div style="{style}">{"".join(_parts(name, claim))}</div>'
            for name, claim in self.iterrows()
        )


def _parts(name: str, claim: pd.Series) -> Iterator[str]:
    """Yield the parts of a judged claim, side by side on a wide screen, else one by one."""
    told = {column: escape(str(value)) for column, value in claim.items()}
    interval = f" ({told['interval']})" if told["interval"] else ""
    verdicts = [
        f"{column.removeprefix('verdict, ')}: <b style="
        f'"background-color: {COLOURS.get(claim[column], "#fff")}; color: #222; padding: 0 0.3em">'
        f"{verdict}</b>"
        for column, verdict in told.items()
        if column.startswith("verdict")
    ]
    why = [told[column] for column in ("why", "otherwise") if told[column]]
    for width, lines in (
        ("1 1 15em", [f"<b>{told['where']}</b>: {told['claim']} (<code>{escape(name)}</code>)"]),
        ("1 1 10em", [f"measured: {told['measured']}{interval}"]),
        ("1 1 16em", verdicts),
        ("1 1 100%", why),
    ):
        if lines:
            yield f'<div style="flex: {width}">{"<br>".join(lines)}</div>'


class Source:
    """A function's source, which a notebook shows when the reader unfolds it."""

    def __init__(self, function: Callable) -> None:
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.text = inspect.getsource(function)

    def __repr__(self) -> str:
        return f"<source of {self.name}>"

    def _repr_html_(self) -> str:
        return (
            f"<details><summary>source of <code>{self.name}</code></summary>"
            f"<pre>{escape(self.text)}</pre></details>"
        )


def source_of(function: Callable) -> Source:
    """Return a function's source, folded up in a notebook.

    Examples
    --------
    >>> source_of(source_of)
    <source of anonpaper.compendium.shown.source_of>
    """
    return Source(function)

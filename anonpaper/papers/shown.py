"""What a notebook shows of code and of verdicts."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from html import escape

import pandas as pd

from anonpaper.papers.claims import FAILS, HOLDS, PARTLY
from anonpaper.papers.judging import (
    DEPENDS,
    DIRECTION,
    NOT_REPRODUCED,
    NOT_RUN,
    NOT_TESTABLE,
    REPRODUCED,
    UNDECIDED,
)

__all__ = ["COLOURS", "Source", "Verdicts", "source_of"]

#: Verdict -> background of its cell, as in the report.
COLOURS = {
    REPRODUCED: "#d9efdd",
    HOLDS: "#d9efdd",
    DIRECTION: "#f6f0cc",
    PARTLY: "#f6f0cc",
    NOT_REPRODUCED: "#fbdde1",
    FAILS: "#fbdde1",
    UNDECIDED: "#e9e3f3",
    DEPENDS: "#e9e3f3",
    NOT_TESTABLE: "#dde7f2",
    NOT_RUN: "#eeeeee",
}


class Verdicts(pd.DataFrame):
    """Judged claims, which a notebook shows at full width with verdicts in colour."""

    def _repr_html_(self) -> str:
        style = self.style.set_uuid("verdicts").set_properties(**{"text-align": "left"})
        columns = [name for name in self.columns if name.startswith("verdict")]
        colours = style.map(
            lambda verdict: f"background-color: {COLOURS.get(verdict, '#fff')}; color: #222",
            subset=columns,
        )
        return colours.to_html()


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

    Parameters
    ----------
    function : callable
        Of a module.

    Examples
    --------
    >>> source_of(source_of)
    <source of anonpaper.papers.shown.source_of>
    """
    return Source(function)

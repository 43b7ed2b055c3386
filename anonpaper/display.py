"""How objects look in Jupyter (a title, facts, a few rows), and the bar of a search.

Everything is escaped, long values are cut, and no style sheet is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
from tqdm import tqdm

__all__ = ["html", "html_table", "plain_facts", "search_bar"]

#: Rows of a table, and characters of a value, that are shown.
ROWS, CHARACTERS = 5, 160


def html(title: str, facts: Sequence[tuple[str, object]], *parts: str) -> str:
    """Return a title, facts as text, one per line, and finished HTML such as a table."""
    lines = [f"<b>{escape(title)}</b>", *(f"{escape(n)}: {escape(_cut(v))}" for n, v in facts)]
    return f"<div><p>{'<br>'.join(lines)}</p>{''.join(parts)}</div>"


def plain_facts(info: Mapping[str, object]) -> list[tuple[str, object]]:
    """Return the entries of `info` that are a number or a text."""
    plain = (bool, int, float, str, np.number)
    return [(name, value) for name, value in info.items() if isinstance(value, plain)]


def html_table(frame: pd.DataFrame, *, index: bool = True, rows: int = ROWS) -> str:
    """Return the first rows of a table as HTML, with a line for the number of rows."""
    shown = frame.head(rows).map(_cut)
    shown.columns = [_cut(name) for name in frame.columns]
    table = shown.to_html(border=0, index=index)
    if len(frame) > rows:
        table += f"<p>{rows} of {len(frame):,} rows</p>"
    return table


def _cut(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return text if len(text) <= CHARACTERS else text[: CHARACTERS - 3] + "..."


def search_bar(unit: str, total: int | None = None) -> tqdm:
    """Return a progress bar, which only a terminal shows."""
    return tqdm(total=total, unit=f" {unit}s", disable=None)

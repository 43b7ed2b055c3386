"""Numbers about a table or a release, as text or as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import numpy as np

__all__ = ["as_json", "as_text"]


def as_json(found: Mapping) -> str:
    """Return a report as JSON, in ASCII; an infinite level is null."""
    return json.dumps(_plain(found), indent=2, allow_nan=False)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def as_text(found: Mapping) -> str:
    """Return a report as text: a title and indented lines per part."""
    simple = {
        key: value
        for key, value in found.items()
        if not isinstance(value, Mapping) and not _is_table(value)
    }
    blocks = ["\n".join(_lines(simple, indent=""))] if simple else []
    for title, part in found.items():
        if isinstance(part, Mapping) and part:
            blocks.append("\n".join([title, *_lines(part)]))
        elif _is_table(part):
            blocks.append(f"{title}\n{_table(part)}")
    return "\n\n".join(blocks)


def _is_table(part: object) -> bool:
    return isinstance(part, list) and len(part) > 0 and isinstance(part[0], Mapping)


def _lines(part: Mapping, indent: str = "  ") -> list[str]:
    width = max(len(str(key)) for key in part)
    return [f"{indent}{key!s:<{width}}  {_short(value)}" for key, value in part.items()]


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_short(item)}" for key, item in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_short, value))
    if value is None:
        return "none"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{value:,}" if abs(value) > 9999 else str(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _table(rows: Sequence[Mapping]) -> str:
    """Write rows below their names, texts to the left and numbers to the right."""
    flat = []
    for row in rows:
        flat.append({})
        for key, value in row.items():
            flat[-1] |= value if isinstance(value, Mapping) else {key: value}
    columns = []
    for name in flat[0]:
        cells = [str(name), *(_short(row[name]) for row in flat)]
        width = max(map(len, cells))
        numbers = all(isinstance(row[name], (int, float, np.number)) for row in flat)
        columns.append([cell.rjust(width) if numbers else cell.ljust(width) for cell in cells])
    return "\n".join("  " + "  ".join(line).rstrip() for line in zip(*columns, strict=True))

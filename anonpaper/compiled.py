"""Compiled loops: what is compiled of them, and a line that says so while it takes long.

Numba compiles a loop when it is first called, and keeps it in a cache for later processes. While
that takes more than a second, a terminal or a notebook shows how many loops are done; nothing is
shown where standard error is a file, and where all loops come from the cache.
"""

from __future__ import annotations

import sys

from numba import njit
from numba.core import event
from tqdm import tqdm

__all__ = ["inner"]

#: A loop that only other loops call: compiled without an entry for Python, and without counting
#: references to its arrays, which its caller holds. It must not make arrays.
inner = njit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


class _Progress(event.Listener):
    """Shows how many loops of this package are compiled, from the second second on."""

    def __init__(self) -> None:
        self.under_way = 0
        self.bar: tqdm | None = None

    def on_start(self, event: event.Event) -> None:
        if self.bar is None and _is_ours(event):
            layout = "anonpaper: compiling once, for this and later runs: {n} loops, {elapsed}"
            hidden = {} if _is_seen() else {"disable": True}  # or by TQDM_DISABLE, as others
            self.bar = tqdm(bar_format=layout, delay=1, leave=False, **hidden)
        self.under_way += self.bar is not None

    def on_end(self, event: event.Event) -> None:
        if self.bar is not None:
            self.under_way -= 1
            self.bar.update(_is_ours(event))
            if not self.under_way:
                self.bar.close()
                self.bar = None


def _is_ours(event: event.Event) -> bool:
    function = getattr(event.data["dispatcher"], "py_func", None)
    return (getattr(function, "__module__", None) or "").startswith("anonpaper.")


def _is_seen() -> bool:
    """Whether standard error is a terminal or the output of a notebook's cell."""
    return sys.stderr is not None and (
        sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")
    )


event.register("numba:compile", _Progress())

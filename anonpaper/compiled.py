"""Compiled loops, and a line on a terminal or in a notebook while compiling takes long.

Numba compiles a loop when it is first called, and keeps it in a cache for later processes.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import gc
import hashlib
import sys
from collections.abc import Callable, Iterator

import numpy as np
from numba import njit
from numba.core import event
from numba.core.dispatcher import Dispatcher
from tqdm import tqdm

__all__ = ["inner", "lean", "loop", "part"]


def loop(function: Callable | None = None, **options: bool) -> Callable:
    """Compile a loop, again whenever its file or what it uses of other modules has changed."""
    if function is None:
        return functools.partial(loop, **options)
    compiled = njit(function, cache=True, no_cfunc_wrapper=True, **options)
    # Where compiling is switched off there is no cache. A numba that keeps its key elsewhere goes
    # by the file alone, which a test of this project notices.
    with contextlib.suppress(AttributeError):
        file = compiled._cache._cache_file
        used = repr([file._source_stamp, *_used(function.__globals__)])
        file._source_stamp = hashlib.sha256(used.encode()).digest()
    return compiled


def _used(names: dict[str, object]) -> Iterator[object]:
    """Yield what compiled code depends on: other loops, fields of named tuples, constants."""
    for value in names.values():
        if isinstance(value, Dispatcher):
            yield value._cache._cache_file._source_stamp
        elif isinstance(value, type) and hasattr(value, "_fields"):
            yield value._fields
        elif isinstance(value, int | float | np.generic):
            yield value


#: A loop that makes no arrays: compiled without counting references to those that it is given,
#: which its caller holds.
lean = loop(_nrt=False)

#: The same for a loop that only other loops call: compiled without an entry for Python.
inner = lean(no_cpython_wrapper=True)

#: A piece of a loop, written into the loop before it is compiled: for long code called once. A
#: loop that is called is compiled alone, and again with each that calls it, and again for a
#: number that is a constant at first, or an array by columns. Callers therefore write
#: ``np.int64(0)`` for the constant and make the array contiguous.
part = loop(inline="always")


class _Progress(event.Listener):
    """Shows how many loops of this package are compiled, from the second second on."""

    def __init__(self) -> None:
        self.under_way = 0
        self.bar: tqdm | None = None
        self.is_frozen = False

    def on_start(self, event: event.Event) -> None:
        if self.bar is None and _is_ours(event):
            layout = "anonpaper: compiling once, for this and later runs: {n} loops, {elapsed}"
            hidden = {} if _is_seen() else {"disable": True}  # or by TQDM_DISABLE, as others
            self.bar = tqdm(bar_format=layout, delay=1, leave=False, **hidden)
            # compiling makes many objects: do not look for garbage among all others
            self.is_frozen = not gc.get_freeze_count()  # else somebody else has, for his reasons
            if self.is_frozen:
                gc.freeze()
        self.under_way += self.bar is not None

    def on_end(self, event: event.Event) -> None:
        if self.bar is not None:
            self.under_way -= 1
            self.bar.update(_is_ours(event))
            if not self.under_way:
                if self.is_frozen:
                    gc.unfreeze()
                self.bar.close()
                self.bar = None


def _is_ours(event: event.Event) -> bool:
    function = getattr(event.data["dispatcher"], "py_func", None)
    return (getattr(function, "__module__", None) or "").startswith("anonpaper.")


def _is_seen() -> bool:
    """Whether standard error is a terminal or the output of a notebook's cell."""
    is_notebook = hasattr(builtins, "__IPYTHON__")
    return is_notebook or (sys.stderr is not None and sys.stderr.isatty())


event.register("numba:compile", _Progress())

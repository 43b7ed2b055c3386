"""Loops are interpreted on small tables, and compiled on large ones where numba is installed.

The labels are the same. Numba keeps compiled loops in a cache for later processes until the loop's
own file changes: `make distclean` forgets loops that call others.
"""

from __future__ import annotations

import contextlib
import functools
import time
import types
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

__all__ = ["at_once", "inner", "loop", "number_keys"]

#: Loops are compiled for arrays longer than this, and once they have been interpreted for so many
#: seconds, about what compiling takes: 1 to 8 s with an empty cache. Interpreting 2,000 rows takes
#: 0.1 s, or 1 s where time grows with the square of the rows.
MOST_ROWS, MOST_SECONDS = 2_048, 3.0


class Loop:
    """A function of arrays and numbers, interpreted or compiled with the loops that it calls."""

    def __init__(self, function: Callable, **options: bool) -> None:
        functools.update_wrapper(self, function)
        self._options, self._seconds, self._is_compiled = options, 0.0, False

    def __call__(self, *args):
        if not self._is_compiled and (self._seconds > MOST_SECONDS or _rows(args) > MOST_ROWS):
            self._is_compiled = _numba() is not None
        if self._is_compiled:
            return self.compiled(*args)
        began = time.process_time()
        with np.errstate(over="ignore"):  # integers wrap around, as compiled ones do
            result = self.interpreted(*args)
        self._seconds += time.process_time() - began
        return result

    @functools.cached_property
    def interpreted(self) -> Callable:
        """The function as Python runs it."""
        return self._calling("interpreted")

    @functools.cached_property
    def compiled(self) -> Callable:
        """The function as numba compiles it, once for this and later processes."""
        return _numba().njit(self._calling("compiled"), cache=True, nogil=True, **self._options)

    def _calling(self, kind: str) -> Callable:
        """Return the function, its names of loops bound to this kind of them."""
        function, names = self.__wrapped__, dict(self.__wrapped__.__globals__)
        for name in function.__code__.co_names:
            if isinstance(names.get(name), Loop) and names[name] is not self:
                names[name] = getattr(names[name], kind)
        twin = types.FunctionType(function.__code__, names, None, function.__defaults__)
        return functools.update_wrapper(twin, function)


loop = Loop

#: A loop that makes no arrays, for other loops: it counts no references and can be inlined.
inner = functools.partial(Loop, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """Compile, inside a with statement, every loop that is called, as before a clock starts."""
    global MOST_ROWS
    before, MOST_ROWS = MOST_ROWS, -1
    try:
        yield
    finally:
        MOST_ROWS = before


@functools.cache
def _numba() -> types.ModuleType | None:
    try:
        import numba
    except ImportError:
        return None
    return numba


def _rows(values: tuple) -> int:
    """Return the length of the longest array among values and the fields of named tuples."""
    lengths = (_rows(v) if isinstance(v, tuple) else max(np.shape(v), default=0) for v in values)
    return max(lengths, default=0)


@loop
def number_keys(key):
    """Replace keys by 0, 1, ... in order of appearance, in place; return their number."""
    slots, shift = 2, 63  # 2^(64 - shift) slots, at most half of them taken
    while slots < 2 * len(key):
        slots *= 2
        shift -= 1
    number_in = np.full(slots, -1, np.int64)
    key_in = np.empty(slots, np.int64)
    found = 0
    for i in range(len(key)):
        # Fibonacci hashing: the highest bits of the product are well mixed.
        slot = np.int64((np.uint64(key[i]) * np.uint64(11400714819323198485)) >> np.uint64(shift))
        while number_in[slot] >= 0 and key_in[slot] != key[i]:
            slot = (slot + 1) & (slots - 1)
        if number_in[slot] < 0:
            number_in[slot] = found
            key_in[slot] = key[i]
            found += 1
        key[i] = number_in[slot]
    return found


def _numbered_by_pandas(key):
    key[:], names = pd.factorize(key)
    return len(names)


number_keys.interpreted = _numbered_by_pandas

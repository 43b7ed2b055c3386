"""What an algorithm declares about itself, once, for the command line and for whoever asks.

A function that groups or recodes a table is an algorithm once it is decorated::

    @algorithm("k-anonymity by median cuts", promises={"k": KAnonymity})
    def mondrian(m, k=10): ...

The declaration hangs on the function (``ap.mondrian.algorithm``); its parameters are read from
its signature and its docstring, so that they are written down in one place.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

import anonpaper.compiled  # noqa: F401 - says when loops are compiled
from anonpaper.groups import CountedPartition
from anonpaper.microdata import Microdata
from anonpaper.principles import DIVERSITY, Principle
from anonpaper.randomness import generator

__all__ = ["GROUPED", "RECODED", "Algorithm", "Parameter", "algorithm"]

F = TypeVar("F", bound=Callable)

#: How groups can be published, and how a recoding.
GROUPED = ("suppress", "generalize", "shallow", "swap", "anatomize")
RECODED = ("recode",)


@dataclass(frozen=True)
class Parameter:
    """One parameter of an algorithm.

    Attributes
    ----------
    name : str
    kind : type
        What the signature says it is: ``int``, ``int | None``, ``Literal["stars", "rows"]``, ...
    default : object
        ``inspect.Parameter.empty`` where it has to be given.
    meaning : str
        The first sentence that the docstring has on it.
    """

    name: str
    kind: object
    default: object
    meaning: str

    @property
    def required(self) -> bool:
        """Whether it has to be given."""
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True)
class Algorithm:
    """What an algorithm declares about itself.

    Attributes
    ----------
    function : function
        From a Microdata and parameters to a Partition or a Recoding.
    title : str
        What it is, in half a sentence.
    promises : mapping of parameter name to Principle class
        What every release has, at the level that the parameter gives.
    publications : tuple of str
        How its result can be published, the default first.
    needs_sensitive : bool
        Whether it looks at sensitive values even if no l is given.
    by_bits : bool
        Whether it joins neighbours of a domain, so that hierarchies give the order of a domain
        and a granularity the width of its intervals.
    by_rows : bool
        Whether it looks at the rows of a table one by one. Those of a table of counts are put in
        a random order by its seed (by 0 if it has none), so that its groups are distributed as
        those of a table whose rows come in a random order. It takes O(n·d) memory then, for n rows
        and not for the cells: groups of about k rows are n/k, however few the cells.
    """

    function: Callable
    title: str
    promises: Mapping[str, type[Principle]] = field(default_factory=dict)
    publications: tuple[str, ...] = GROUPED
    needs_sensitive: bool = False
    by_bits: bool = False
    by_rows: bool = False

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.__name__

    @functools.cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Its parameters by name, but for the table."""
        kinds = typing.get_type_hints(self.function)
        meanings = _meanings(inspect.getdoc(self.function) or "")
        rest = list(inspect.signature(self.function).parameters.values())[1:]
        return {
            p.name: Parameter(p.name, kinds.get(p.name), p.default, meanings.get(p.name, ""))
            for p in rest
        }

    def promised(self, given: Mapping[str, object]) -> list[Principle]:
        """Return the principles that every release made with these parameters meets."""
        values = {p.name: p.default for p in self.parameters.values() if not p.required}
        values.update(given)
        promises = dict(self.promises)
        if "l" in promises and "diversity" in values:
            promises["l"] = DIVERSITY[values["diversity"]]
        found = [
            principle(values[name])
            for name, principle in promises.items()
            if values.get(name) is not None
        ]
        return [*found, *(values.get("require") or ())]


def algorithm(title: str, **declared: Any) -> Callable[[F], F]:
    """Declare a function an algorithm.

    Parameters
    ----------
    title : str
        What it is, in half a sentence.
    **declared
        Further attributes of :class:`Algorithm`.

    Examples
    --------
    >>> import anonpaper as ap
    >>> ap.tp.algorithm.title
    'frequency l-diversity, at most l times the fewest suppressed rows'
    >>> ap.tp.algorithm.promised({"l": 3})
    [FrequencyLDiversity(l=3)]
    """

    def declare(function: F) -> F:
        by_rows = _of_drawn_rows(function) if declared.get("by_rows") else function
        recording = _recording(by_rows)
        recording.algorithm = Algorithm(recording, title, **declared)
        return recording

    return declare


def _of_drawn_rows(function: Callable) -> Callable:
    """Return an algorithm that takes a table of counts too, by rows drawn in a random order."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def run(*args, **options):
        m = args[0] if args else options.get("m")
        if not isinstance(m, Microdata) or m.has_rows or m.weights is not None:
            return function(*args, **options)
        given = signature.bind(*args, **options)
        given.apply_defaults()
        rng = generator(given.arguments.get("seed", 0))
        rows, cell = m.counted().drawn(rng)
        given.arguments.update({"m": rows} | ({"seed": rng} if "seed" in given.arguments else {}))
        return CountedPartition.of_rows(function(*given.args, **given.kwargs), cell)

    return run


def _recording(function: Callable) -> Callable:
    """Return a function whose results know the call that made them, and what it promises."""
    signature = inspect.signature(function)

    def run(*args, **options):
        result = function(*args, **options)
        given = signature.bind(*args, **options).arguments
        _, *given = given.items()
        plain = ((name, v.item() if isinstance(v, np.generic) else v) for name, v in given)
        written = ", ".join(["m", *(f"{name}={value!r}" for name, value in plain)])
        result.call = f"ap.{function.__name__}({written})"
        result.promised = tuple(recorded.algorithm.promised(dict(given)))
        return result

    # of the globals of its module, as doctest looks there for what a module defines
    of_module = types.FunctionType(
        run.__code__, function.__globals__, function.__name__, None, run.__closure__
    )
    recorded = functools.wraps(function)(of_module)
    return recorded


def _meanings(docstring: str) -> dict[str, str]:
    """Return the first sentence on every parameter of a numpydoc docstring."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", docstring, re.M | re.S)
    found = {}
    for names, text in re.findall(
        r"^(\w[\w, *]*?)(?: : [^\n]*)?\n((?:(?:    [^\n]*)?\n?)*)",
        section[1] if section else "",
        re.M,
    ):
        sentence = re.split(r"(?<=[.;])\s", " ".join(text.split()), maxsplit=1)[0].rstrip(".;")
        found |= {name.strip(): sentence for name in names.split(",")}
    return found

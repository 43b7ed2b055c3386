"""An algorithm's declaration about itself: ``ap.mondrian.algorithm``.

The decorator turns a function from a table to groups or a recoding into an algorithm. The command
line reads its parameters from its signature and docstring.
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

from anonpaper.errors import MissingValueError
from anonpaper.groups import CountedPartition, Partition
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
    """One parameter: its type, its default, and the first sentence of its docstring."""

    name: str
    kind: object
    default: object
    meaning: str

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True)
class Algorithm:
    """The declaration of an algorithm, a function from a Microdata and parameters."""

    function: Callable
    title: str
    promises: Mapping[str, type[Principle]] = field(default_factory=dict)  # by parameter
    publications: tuple[str, ...] = GROUPED  # the default first
    needs_sensitive: bool = False  # even without l
    by_bits: bool = False  # joins neighbours of a domain; see in_preorder and granularize
    by_rows: bool = False  # needs single rows, which are drawn from a table of counts
    # where a missing sensitive value is unknown: counted so, joined (its row joins a group of the
    # others) or refused
    unknown: str = "refused"

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.__name__

    @functools.cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Its parameters by name, without the table."""
        kinds = typing.get_type_hints(self.function)
        meanings = _meanings(inspect.getdoc(self.function) or "")
        _, *rest = inspect.signature(self.function).parameters.values()
        return {
            p.name: Parameter(p.name, kinds.get(p.name), p.default, meanings.get(p.name, ""))
            for p in rest
        }

    def promised(self, given: Mapping[str, object]) -> list[Principle]:
        """Return the principles that every release made with these parameters meets."""
        values = {p.name: p.default for p in self.parameters.values() if not p.required} | given
        promises = dict(self.promises)
        if "l" in promises and values.get("l") is not None and "diversity" in values:
            promises["l"] = DIVERSITY[values["diversity"]]
        asked = [name for name in promises if values.get(name) is not None]
        return [*(promises[name](values[name]) for name in asked), *(values.get("require") or ())]


def algorithm(title: str, **declared: Any) -> Callable[[F], F]:
    """Declare a function as an algorithm, by title and attributes of :class:`Algorithm`.

    Its results know the call that made them, and its promises.
    """

    def declare(function: F) -> F:
        signature, call = inspect.signature(function), _call

        def run(*args, **options):
            given = signature.bind(*args, **options)
            _, *others = given.arguments.items()
            result = call(function, recorded.algorithm, given, dict(others))
            plain = ((name, v.item() if isinstance(v, np.generic) else v) for name, v in others)
            written = ", ".join(["m", *(f"{name}={value!r}" for name, value in plain)])
            result.call = f"ap.{function.__name__}({written})"
            result.promised = tuple(recorded.algorithm.promised(dict(others)))
            return result

        # with its module's globals, where doctest looks for functions of the module
        of_module = types.FunctionType(
            run.__code__, function.__globals__, function.__name__, None, run.__closure__
        )
        recorded = functools.wraps(function)(of_module)
        recorded.algorithm = Algorithm(recorded, title, **declared)
        return recorded

    return declare


def _call(function: Callable, declared: Algorithm, given: inspect.BoundArguments, others: dict):
    """Run an algorithm. Draw rows from counts, and treat unknown values as it declares."""
    m = given.arguments.get("m")
    if not isinstance(m, Microdata):
        return function(*given.args, **given.kwargs)
    if m.unknown is not None and declared.unknown != "counted" and _is_on_values(declared, others):
        return _with_unknown_values(function, declared, given)
    if not declared.by_rows or m.has_rows or m.weights is not None:
        return function(*given.args, **given.kwargs)
    given.apply_defaults()
    rng = generator(given.arguments.get("seed", 0))
    rows, cell = m.counted().drawn(rng)
    given.arguments.update({"m": rows} | ({"seed": rng} if "seed" in given.arguments else {}))
    return CountedPartition.of_rows(function(*given.args, **given.kwargs), cell)


def _is_on_values(declared: Algorithm, others: dict) -> bool:
    promised = () if declared.needs_sensitive else declared.promised(others)
    return declared.needs_sensitive or any(p.needs_sensitive for p in promised)


def _with_unknown_values(function: Callable, declared: Algorithm, given) -> Partition:
    """Group the rows whose value is known, and let the others join their groups."""
    m = given.arguments["m"]
    if declared.unknown == "refused" or not m.has_rows:
        raise MissingValueError(
            f"values of {m.sensitive!r} are missing, and {declared.name} cannot take them as "
            'unknown: use ap.mondrian or ap.full_domain, leave out the rows by missing="drop" '
            '(--missing drop), or count them as one more value by missing="category"'
        )
    known = m.sensitive_codes != m.unknown
    if not known.any():
        raise MissingValueError(f"all values of {m.sensitive!r} are missing: drop the column")
    given.arguments["m"] = m.take(known)
    p = function(*given.args, **given.kwargs)
    labels = np.full(m.n, -1)
    labels[known] = p.labels
    # with the row before it in the order of quasi-identifiers, which may be equal to its own
    order = m.cells.rows
    grouped = labels[order] >= 0
    if grouped.any():
        before = np.maximum.accumulate(np.where(grouped, np.arange(m.n), -1))
        before = np.where(before < 0, grouped.argmax(), before)
        labels[order] = np.where(known[order], labels[order], labels[order][before])
    return Partition(labels, p.info, p.algorithm, starred=p.starred)


def _meanings(docstring: str) -> dict[str, str]:
    """Return the first sentence about every parameter of a numpydoc docstring."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", docstring, re.M | re.S)
    entry = r"^(\w[\w, *]*?)(?: : [^\n]*)?\n((?:(?:    [^\n]*)?\n?)*)"
    found = {}
    for names, text in re.findall(entry, section[1] if section else "", re.M):
        sentence = re.split(r"(?<=[.;])\s", " ".join(text.split()), maxsplit=1)[0].rstrip(".;")
        found |= {name.strip(): sentence for name in names.split(",")}
    return found

"""The package's algorithms on the command line: options from their signatures, and a release."""

from __future__ import annotations

import argparse
import pkgutil
import re
import textwrap
import types
import typing
from collections.abc import Mapping

import anonpaper as ap
from anonpaper.algorithm import Algorithm, Parameter
from anonpaper.errors import InfeasibleError
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Microdata
from anonpaper.owner.cli import LISTED
from anonpaper.principles import DIVERSITY
from anonpaper.publish import Release

__all__ = ["METHODS", "add_options", "descriptions", "meaning", "options_of", "publish", "run"]

# public modules: asking `plots` for an algorithm would load matplotlib
_MODULES = {module.name for module in pkgutil.iter_modules(ap.__path__)}

#: Name of a function -> its declaration, for every algorithm of the package.
METHODS: dict[str, Algorithm] = {
    name: getattr(ap, name).algorithm
    for name in ap.__all__
    if name not in _MODULES and hasattr(getattr(ap, name), "algorithm")
}

#: Parameters with an option that all methods share.
_SHARED = {"hierarchies": "hierarchy", "seed": "seed"}
_NUMBERS = Mapping[object, float]
_OF_SEARCHES = {
    "granularity": Parameter(
        "granularity", _NUMBERS, None, "Width of the finest intervals of a numeric column"
    ),
    "hierarchies": Parameter("hierarchies", Mapping[object, Hierarchy], None, "Orders of domains"),
}
_DIVERSITIES = {principle: name for name, principle in DIVERSITY.items()}


def options_of(method: Algorithm) -> dict[str, Parameter]:
    """Return the parameters of a method that the command line offers, by option name."""
    offered = {**method.parameters, **(_OF_SEARCHES if method.by_bits else {})}
    return {
        _SHARED.get(p.name) or _option(p): p
        for p in offered.values()
        if p.name in _SHARED or _reader(p) is not None
    }


def add_options(group: argparse._ArgumentGroup) -> None:
    """Add an option for every parameter of every method, explained by its docstring."""
    users: dict[str, list[tuple[str, Parameter]]] = {}
    for name, method in METHODS.items():
        for option, parameter in options_of(method).items():
            if option not in _SHARED.values():
                users.setdefault(option, []).append((name, parameter))
    for option, taken in users.items():
        who: dict[str, list[str]] = {}  # meaning -> methods
        for name, p in taken:
            who.setdefault(meaning(METHODS[name], p), []).append(name + _default(p))
        named = {text: ", ".join(names) for text, names in who.items()}
        if len(named) == 1:
            said = "".join(f"{text}; {names}" for text, names in named.items())
        else:
            said = "; ".join(f"{names}: {text}" for text, names in named.items())
        group.add_argument(f"--{option}", help=said.replace("%", "%%"), **_reader(taken[0][1]))


def meaning(method: Algorithm, p: Parameter) -> str:
    """Return what a parameter means for a method, as part of a sentence."""
    text = LISTED["meanings"].get(method.name, {}).get(p.name, p.meaning)
    if referred := re.match(r"As for :func:`~?[\w.]*\b(\w+)`", text):
        other = METHODS[referred[1]]
        return meaning(other, other.parameters[p.name])
    text = " ".join((text[:1].lower() + text[1:]).split())
    if p.name == "l":  # the method's promise says which l-diversity
        kind = _DIVERSITIES[method.promises["l"]]
        text = text.replace("the diversity asked for", f"{kind} l-diversity")
    return text


def _option(p: Parameter) -> str:
    """Return the option of a parameter, in the singular if it may be given per column."""
    name = p.name.removesuffix("s") if _plain(p.kind) is Mapping else p.name
    return name.replace("_", "-")


def _default(p: Parameter) -> str:
    if p.required or p.default in (None, False, ()):
        return ""
    texts = map(str, p.default if isinstance(p.default, tuple) else [p.default])
    return f" ({','.join(texts)})"


def _plain(kind: object) -> object:
    """Return the plain type: ``int`` for ``int | None``, ``Mapping`` for any mapping."""
    if isinstance(kind, types.UnionType):
        kind = next(part for part in typing.get_args(kind) if part is not types.NoneType)
    origin = typing.get_origin(kind)
    return Mapping if isinstance(origin, type) and issubclass(origin, Mapping) else kind


def _reader(p: Parameter) -> dict | None:
    """Return argparse's options for a parameter; None if a command line cannot express it."""
    kind = _plain(p.kind)
    if p.name == "constraints":
        return {"metavar": "FILE"}
    if p.name == "require":
        return {"action": "append", "metavar": "PRINCIPLE"}
    if p.kind is bool:  # a flag that is on by default has no option
        return None if p.default else {"action": "store_true", "default": None}
    if kind in (int, float):
        return {"type": kind, "metavar": "N" if kind is int else "X"}
    if typing.get_origin(kind) is typing.Literal:
        return {"choices": list(typing.get_args(kind)), "type": str.lower}
    if typing.get_origin(kind) is tuple:
        return {"type": _pair, "metavar": "X,Y"}
    if p.kind in (_NUMBERS, _NUMBERS | None):
        return {"action": "append", "metavar": "NAME=X"}
    return None


def _pair(text: str) -> tuple[float, float]:
    try:
        first, second = map(float, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a pair such as 0.2,1") from None
    return first, second


def descriptions() -> str:
    """Return a list of the methods with their options, for the help of the command line."""
    lines = []
    for name, method in METHODS.items():
        options = {f"--{option}": p.required for option, p in options_of(method).items()}
        takes = [option if required else f"[{option}]" for option, required in options.items()]
        text = textwrap.fill(
            " ".join(takes) or "no parameters", 92, break_on_hyphens=False,
            initial_indent="    ", subsequent_indent="    ",
        )  # fmt: skip
        lines += [f"{name}: {method.title}", text]
    return "\n".join(lines)


def run(method: Algorithm, m: Microdata, parameters: Mapping) -> tuple:
    """Run a method; return its table (domains ordered, for a search) and its result."""
    for name in ("k", "l"):
        asked = parameters.get(name)
        if asked is not None and asked > m.n_people:
            raise InfeasibleError(
                f"no group can meet {name} = {asked}: the table has {m.n_people} "
                f"{'rows' if m.people is None else 'people'}, so {name} is at most {m.n_people}"
            )
    parameters = dict(parameters)
    if method.by_bits:
        m = ap.in_preorder(m, parameters.pop("hierarchies", {}))
        m = ap.granularize(m, parameters.pop("granularity", {}))
    return m, method.function(m, **parameters)


def publish(m: Microdata, result, publication: str, hierarchies: Mapping, seed) -> Release:
    """Publish a result; for "shallow", columns without a hierarchy get a balanced one."""
    if publication == "shallow":
        trees = {a.name: Hierarchy.balanced(a.values) for a in m.attributes}
        # a tree of an unknown quasi-identifier raises an error that names it
        return ap.shallow_generalize(m, result, trees | dict(hierarchies))
    if publication == "swap":
        return ap.swap(m, result, seed=seed)
    return getattr(ap, publication)(m, result)

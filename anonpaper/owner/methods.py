"""The package's algorithms on the command line: the options that each takes, and a release."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import anonpaper as ap
from anonpaper.algorithm import RECODED, Algorithm
from anonpaper.errors import InfeasibleError, ParameterError
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Microdata
from anonpaper.publish import Release

__all__ = ["METHODS", "checked", "chosen", "publish", "run", "saved", "takes"]

# public modules: asking `plots` for an algorithm would load matplotlib
_MODULES = {module.name for module in pkgutil.iter_modules(ap.__path__)}

#: Name of a function -> its declaration, for every algorithm of the package.
METHODS: dict[str, Algorithm] = {
    name: getattr(ap, name).algorithm
    for name in ap.__all__
    if name not in _MODULES and hasattr(getattr(ap, name), "algorithm")
}

#: Parameters that have an option, and its name. Others can be given in Python only.
_OPTIONS = {"k": "--k", "l": "--l", "theta": "--theta", "seed": "--seed",
            "preference": "--preference", "constraints": "--constraints",
            "hierarchies": "--hierarchy", "require": "--require",
            "suppression": "--suppression", "recoding": "--recoding"}  # fmt: skip


def saved_recoding(m: Microdata, recoding: str) -> ap.Recoding:
    """Return the recoding of a file."""
    return ap.Recoding.load(recoding)


_SAVED = Algorithm(saved_recoding, "a saved recoding", publications=RECODED)


def chosen(method: str | None, recoding: str | None, form: str | None) -> tuple[Algorithm, str]:
    """Return the method of a name (tp+ is tp_plus), or a saved recoding's, and how to publish."""
    name = (method or "").lower().replace("-", "_").replace("tp+", "tp_plus")
    if (method is None) == (recoding is None):
        raise ParameterError("choose one of --method and --recoding")
    if method is not None and name not in METHODS:
        raise ParameterError(f"--method {method!r} is not one of {', '.join(METHODS)}")
    found = _SAVED if method is None else METHODS[name]
    form = (form or found.publications[0]).lower()
    if form not in found.publications:
        raise ParameterError(
            f"--publish {form} does not work with {found.name}: "
            f"choose {', '.join(found.publications)}"
        )
    return found, form


def saved(result: object) -> bytes:
    """Return the file of --save-recoding."""
    if not isinstance(result, ap.Recoding):
        raise ParameterError("--save-recoding goes with methods that recode all rows alike: "
                             "full_domain, tds and the searches")  # fmt: skip
    with TemporaryDirectory() as folder:
        result.save(path := Path(folder, "recoding.json"))
        return path.read_bytes()


def takes(method: Algorithm) -> dict[str, bool]:
    """Return the options of a method's parameters, and whether each is required."""
    offered = {name: p.default is p.empty for name, p in method.parameters.items()}
    offered |= {"hierarchies": False} if method.by_bits else {}
    return {_OPTIONS[name]: needed for name, needed in offered.items() if name in _OPTIONS}


def checked(method: Algorithm, parameters: Mapping) -> dict[str, object]:
    """Return the parameters that were given; ParameterError if the method takes others."""
    taken, given = takes(method), {n: v for n, v in parameters.items() if v not in (None, [], {})}
    options = {_OPTIONS[name] for name in given}
    if wrong := sorted(options - {*taken}):
        raise ParameterError(
            f"{method.name} does not take {', '.join(wrong)}; it takes "
            f"{', '.join(taken) or 'nothing'}"
        )
    if lacking := [name for name, needed in taken.items() if needed and name not in options]:
        raise ParameterError(f"{method.name} needs {' and '.join(lacking)}")
    return given


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

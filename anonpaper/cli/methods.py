"""Every algorithm of the package by name: what it takes, what it promises, how it is published."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import anonpaper as ap
from anonpaper.errors import InfeasibleError
from anonpaper.groups import Partition
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Microdata
from anonpaper.principles import (
    DistinctLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    Principle,
    Theta,
)
from anonpaper.publish import Release
from anonpaper.recoding import Recoding

__all__ = ["METHODS", "Method", "publish", "run"]

#: Ways to publish groups.
_GROUPS = ("suppress", "generalize", "shallow", "swap", "anatomize")

#: Parameter of a principle -> the principle, for what a method promises.
_FREQUENCY = {"l": FrequencyLDiversity}
_ROWS = {"k": KAnonymity}
_DISTINCT = {"k": KAnonymity, "l": DistinctLDiversity}


@dataclass(frozen=True)
class Method:
    """One algorithm, as the command line offers it.

    Attributes
    ----------
    title : str
        What it is, in half a sentence.
    function : function
        From a Microdata and keyword parameters to a Partition or a Recoding.
    required, optional : tuple of str
        Its parameters, which are those of the command line, by name.
    promises : mapping of parameter name to Principle class
        What every release has if the parameter was given.
    publications : tuple of str
        How its result can be published, the default first.
    needs_sensitive : bool
        Whether it looks at sensitive values even if no l was given.
    by_bits : bool
        Whether it joins neighbours of a domain, so that hierarchies give the order of a domain
        and a granularity the width of its intervals.
    """

    title: str
    function: Callable
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    promises: Mapping[str, type[Principle]] | None = None
    publications: tuple[str, ...] = _GROUPS
    needs_sensitive: bool = False
    by_bits: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of all parameters."""
        return (*self.required, *self.optional)

    def promised(self, parameters: Mapping[str, object]) -> list[Principle]:
        """Return the principles that a release made with these parameters has to meet."""
        promises = dict(self.promises or {})
        if parameters.get("diversity") == "frequency":
            promises["l"] = FrequencyLDiversity
        elif parameters.get("diversity") == "distinct":
            promises["l"] = DistinctLDiversity
        return [promises[name](parameters[name]) for name in promises if name in parameters]


_SEARCH = ("preference", "weights", "hierarchies", "granularity")

METHODS: dict[str, Method] = {
    "tp": Method(
        "frequency l-diversity, at most l times the fewest suppressed rows",
        lambda m, l: ap.tp(m, l),
        ("l",),
        (),
        _FREQUENCY,
    ),
    "tp+": Method(
        "tp, then the suppressed rows grouped by hilbert: never more stars",
        lambda m, l: ap.tp_plus(m, l),
        ("l",),
        (),
        _FREQUENCY,
    ),
    "hilbert": Method(
        "frequency l-diversity along a space-filling curve",
        lambda m, l: ap.hilbert(m, l),
        ("l",),
        (),
        _FREQUENCY,
    ),
    "exact": Method(
        "the optimum, for a dozen rows",
        lambda m, **p: ap.exact(m, **p),
        ("l",),
        ("objective", "max_rows"),
        _FREQUENCY,
    ),
    "optimal_two_diverse": Method(
        "the optimum for two sensitive values, each in half of the rows",
        lambda m: ap.optimal_two_diverse(m),
        needs_sensitive=True,
    ),
    "klt": Method(
        "groups of k rows with l distinct secrets, none above a share theta",
        lambda m, **p: ap.klt(m, **p),
        ("k", "l"),
        ("theta", "weights", "seed"),
        _DISTINCT | {"theta": Theta},
        ("swap", "anatomize", "suppress", "generalize", "shallow"),
    ),
    "mondrian": Method(
        "k-anonymity by median cuts, l-diverse if asked",
        lambda m, **p: ap.mondrian(m, **p),
        ("k",),
        ("l", "diversity", "relaxed"),
        _ROWS | _FREQUENCY,
    ),
    "k_member": Method(
        "k-anonymity by greedy clusters of few stars",
        lambda m, **p: ap.k_member(m, **p),
        ("k",),
        ("seed",),
        _ROWS,
    ),
    "oka": Method(
        "k-anonymity by one pass of k-means",
        lambda m, **p: ap.oka(m, **p),
        ("k",),
        ("seed",),
        _ROWS,
    ),
    "diva": Method(
        "k-anonymity that keeps as many of every minority as constraints ask for",
        lambda m, **p: ap.diva(m, **p),
        ("constraints", "k"),
        ("l", "diversity", "strategy", "max_seconds", "seed"),
        _ROWS | _FREQUENCY,
        ("suppress", "generalize"),
    ),
    "balanced_classes": Method(
        "classes of k to 2k - 1 similar rows with l distinct secrets",
        lambda m, **p: ap.balanced_classes(m, **p),
        ("k",),
        ("l", "similarity", "seed"),
        _DISTINCT,
        ("shallow", "suppress", "generalize", "swap", "anatomize"),
        needs_sensitive=True,
    ),
    "tds": Method(
        "frequency l-diversity by coarser values, the same for all rows",
        lambda m, **p: ap.tds(m, **p),
        ("l",),
        ("hierarchies",),
        _FREQUENCY,
        ("recode",),
    ),
    "full_domain": Method(
        "every column on one level of its hierarchy, least loss",
        lambda m, **p: ap.full_domain(m, **p),
        ("k",),
        ("l", "diversity", "weights", "hierarchies"),
        _DISTINCT,
        ("recode",),
    ),
    "preference_search": Method(
        "k-anonymity with a stated preference of loss and bias, by an evolutionary search",
        lambda m, **p: ap.preference_search(m, **p),
        ("k",),
        (*_SEARCH, "population", "evaluations", "refine", "seed"),
        _ROWS,
        ("recode",),
        by_bits=True,
    ),
    "hill_climbing": Method(
        "the same by flipping single bits",
        lambda m, **p: ap.hill_climbing(m, **p),
        ("k",),
        (*_SEARCH, "evaluations", "seed"),
        _ROWS,
        ("recode",),
        by_bits=True,
    ),
    "exhaustive": Method(
        "the same by looking at all recodings of a small table",
        lambda m, **p: ap.exhaustive(m, **p),
        ("k",),
        _SEARCH,
        _ROWS,
        ("recode",),
        by_bits=True,
    ),
}


def run(
    method: Method, m: Microdata, parameters: Mapping[str, object]
) -> tuple[Microdata, Partition | Recoding]:
    """Run a method on a table.

    Returns
    -------
    m : Microdata
        The table that the result is of: the same rows, its domains put in order for a search.
    result : Partition or Recoding

    Raises
    ------
    InfeasibleError
        k or l exceeds the rows of the table, or as the method says.
    """
    for name in ("k", "l"):
        asked = parameters.get(name)
        if asked is not None and asked > m.n:
            raise InfeasibleError(
                f"no group can meet {name} = {asked}: the table has {m.n} rows, so {name} is at "
                f"most {m.n}"
            )
    parameters = dict(parameters)
    if method.by_bits:
        m = ap.in_preorder(m, parameters.pop("hierarchies", {}))
        m = ap.granularize(m, parameters.pop("granularity", {}))
    return m, method.function(m, **parameters)


def publish(
    m: Microdata,
    result: Partition | Recoding,
    publication: str,
    hierarchies: Mapping[str, Hierarchy],
    seed: int,
) -> Release:
    """Publish what a method returned.

    Parameters
    ----------
    m : Microdata
        The table that the method was run on.
    result : Partition or Recoding
        What it returned.
    publication : str
        One of the method's.
    hierarchies : mapping of column name to Hierarchy
        For "shallow"; columns not named get a balanced tree.
    seed : int
        For "swap".
    """
    if isinstance(result, Recoding):
        return ap.recode(m, result)
    if publication == "shallow":
        return ap.shallow_generalize(m, result, _with_defaults(m, hierarchies))
    if publication == "swap":
        return ap.swap(m, result, seed=seed)
    return {"suppress": ap.suppress, "generalize": ap.generalize, "anatomize": ap.anatomize}[
        publication
    ](m, result)


def _with_defaults(m: Microdata, hierarchies: Mapping | None) -> dict[object, Hierarchy]:
    """Return a hierarchy for every quasi-identifier: a balanced tree where none was given."""
    given = dict(hierarchies or {})
    trees = {a.name: Hierarchy.balanced(a.values) for a in m.attributes if a.name not in given}
    return trees | given  # one that belongs to no quasi-identifier is refused by name

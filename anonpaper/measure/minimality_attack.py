"""Minimality: what an algorithm's decisions reveal about sensitive values.

TP removes rows of a QI-group only while a value is too frequent in it, so removed people most
likely have that value. Mondrian leaves a part uncut, and a full-domain recoding leaves a lower
level, only because a class would not be diverse.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import factorial, prod

import numpy as np
import pandas as pd

from anonpaper.errors import ParameterError, check_integer
from anonpaper.groups import Entries, Partition
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.partition.mondrian import mondrian
from anonpaper.partition.tp import tp, tp_plus
from anonpaper.principles import GroupCounts
from anonpaper.publish import GroupRelease, Release, check_release
from anonpaper.recoders.lattice import full_domain
from anonpaper.recoding import Recoding
from anonpaper.roles import only_one

__all__ = ["minimality"]

Algorithm = Callable[[Microdata], Partition | Recoding]

#: Algorithms that can be run again from the call that a result records.
_DETERMINISTIC = {function.__name__: function for function in (tp, tp_plus, mondrian, full_domain)}


def minimality(rel: Release, *, most: int = 2_000) -> pd.DataFrame:
    r"""Greatest posterior of a value for an attacker who knows the algorithm: above 0, up to 1.

    The attacker knows everybody's quasi-identifiers, and the algorithm with its parameters and
    ties, and sees how many people of each QI tuple and sensitive value are in every group (in a
    swapped or anatomized table, also who). All tables are equally likely in advance. The posterior
    of a value for a person is its share in all tables that the algorithm turns into this release.

    The release is made by ``tp``, ``tp_plus`` or, with `l`, ``mondrian`` or ``full_domain`` (with
    default hierarchies), of a table with one sensitive attribute, else ColumnError. ParameterError
    for another method, or if rows are withheld or people have several rows. At most `most` tables
    are tried. If there are more, lower bounds are returned: after TP and TP+ for every person,
    otherwise ``promised``, on average over a group.

    The DataFrame has per row ``promised``, the largest share of one sensitive value in the
    person's group; ``concluded``, the greatest posterior or a lower bound; ``exact``, True for a
    posterior.

    Sources: R. C.-W. Wong et al., *Minimality attack in privacy preserving data publishing*, VLDB
    2007: the posterior of one group from a minimality principle. xiao2010, section 5, for TP.

    >>> m = ap.examples.hospital()
    >>> seen = minimality(ap.generalize(m, ap.mondrian(m, k=2, l=2)))
    >>> seen.loc[["Adam", "Calvin", "Eva"]]  # Adam and Bob: nothing else kept them uncut
            promised  concluded  exact
    Name
    Adam         0.5        1.0   True
    Calvin       0.5        0.5   True
    Eva          0.5        0.5   True
    """
    m, labels = check_microdata(check_release(rel).microdata), rel.partition.labels
    only_one(m.sensitive)
    most = check_integer("most", most, 1)
    if (labels < 0).any():
        raise ParameterError(
            f"{int((labels < 0).sum())} rows are withheld: minimality needs all rows"
        )
    algorithm, promised = _read_off(rel), _largest_share(m, labels)
    if _groups_shown(rel, algorithm(m), m.sensitive_codes) is None:
        raise ParameterError("the algorithm makes another release of this table: publish that one")
    found = _all_tables(m, labels, most)
    if found is not None:
        concluded, exact = _by_rerunning(rel, algorithm, *found), np.ones(m.n, dtype=bool)
    elif algorithm.func in (tp, tp_plus):
        concluded, exact = _by_pillars(rel, algorithm.keywords["l"])
    else:
        concluded, exact = promised, np.zeros(m.n, dtype=bool)
    columns = {"promised": promised, "concluded": concluded, "exact": exact}
    return pd.DataFrame(columns, index=m.frame.index)


def _read_off(rel: Release) -> Algorithm:
    """The algorithm that a release says made it."""
    call = (rel.partition if rel.recoding is None else rel.recoding).call
    name, _, parameters = call.removeprefix("ap.").partition("(m, ")
    with contextlib.suppress(SyntaxError, ValueError):  # a parameter that is not a plain value
        parsed = ast.parse(f"dict({parameters}", mode="eval").body
        given = {p.arg: ast.literal_eval(p.value) for p in parsed.keywords}
        if given.get("l") is not None and name in _DETERMINISTIC:
            return partial(_DETERMINISTIC[name], **given)
    raise ParameterError(
        f"{call or 'the release'!r} cannot be run again: only tp, tp_plus, mondrian and "
        "full_domain with l can, with default hierarchies"
    )


def _largest_share(m: Microdata, labels: np.ndarray) -> np.ndarray:
    sets = GroupCounts.of(Entries.of_rows(m, labels), m.sensitive)
    return (sets.largest() / sets.sizes)[labels]


# -- what the attacker sees -------------------------------------------------------------------


def _groups_shown(rel: Release, result: Partition | Recoding, sensitive: np.ndarray):
    """The groups of a result as (margins, rows); None if their release is not `rel`."""
    m, labels = rel.microdata, rel.partition.labels
    if isinstance(result, Recoding) and result != rel.recoding:
        return None
    made = labels if isinstance(result, Recoding) else result.labels
    groups, shown = _with_margins(m, made, sensitive), _with_margins(m, labels, m.sensitive_codes)
    return groups if sorted(key for key, _ in groups) == sorted(key for key, _ in shown) else None


def _with_margins(m: Microdata, labels: np.ndarray, sensitive: np.ndarray) -> list:
    """Groups as (margins, rows): margins are the tuples and sensitive values that are shown."""
    tuples = m.cells.tuple_of_row
    return [
        ((np.sort(tuples[rows]).tobytes(), np.sort(sensitive[rows]).tobytes()), rows)
        for rows in Partition(labels).groups()
    ]


def _alike(rel: Release, open_rows: dict, groups: list) -> Iterator[tuple]:
    """Sets of rows of open tuples that differ only in their values, with a name."""
    # People of one tuple are alike; if groups are shown, only within groups of equal margins.
    if not isinstance(rel, GroupRelease):
        yield from open_rows.items()
        return
    tuples = rel.microdata.cells.tuple_of_row
    for margins, rows in groups:
        for t in np.intersect1d(tuples[rows], list(open_rows)):
            yield (margins, t), rows[tuples[rows] == t]


# -- exact: every table that fits -------------------------------------------------------------


def _all_tables(m: Microdata, labels: np.ndarray, most: int) -> tuple[dict, list] | None:
    """The rows of the *open* tuples, which share a group with another tuple, and all their tables.

    A table h(Q, v), shape (t, m), has the margins that all groups show. None if the groups of
    several tuples can be filled in more than `most` ways.
    """
    values = m.sensitive_attribute.size
    groups = Partition(labels).groups()
    shown = [np.unique(m.cells.tuple_of_row[rows], return_counts=True) for rows in groups]
    several = [tuples for tuples, _ in shown if len(tuples) > 1]
    opened = np.unique(np.concatenate([np.empty(0, np.intp), *several]))
    settled, fillings, ways = np.zeros((len(opened), values), np.intp), [], 1
    for (tuples, sizes), rows in zip(shown, groups, strict=True):
        counts = np.bincount(m.sensitive_codes[rows], minlength=values)
        if len(tuples) == 1:
            settled[opened == tuples[0]] += counts
            continue
        found = _fillings(sizes, counts, most // ways)
        if found is None:
            return None
        ways *= len(found)
        # Row t of a unit matrix moves the filled counts to the place of tuple t.
        place = (opened[:, None] == tuples).astype(np.intp)
        fillings.append([place @ filling for filling in found])
    start = m.cells.tuple_start
    tables = [sum(choice, settled) for choice in product(*fillings)]
    distinct = {table.tobytes(): table for table in tables}
    return {t: m.cells.rows[start[t] : start[t + 1]] for t in opened}, list(distinct.values())


def _fillings(sizes: np.ndarray, counts: np.ndarray, most: int) -> list | None:
    """Every table with these row and column sums; None if there are more than `most`."""
    begun = [((), counts)]
    for size in sizes:
        grown = []
        for filled, left in begun:
            for drawn in _draws(int(size), left):
                grown.append(((*filled, drawn), left - drawn))
                if len(grown) > most:  # each can be completed
                    return None
        begun = grown
    return [np.array(filled) for filled, _ in begun]


def _draws(total: int, counts: np.ndarray) -> Iterator[np.ndarray]:
    """Every way to draw a total from counts."""
    if len(counts) == 1:
        yield np.array([total])
        return
    rest = int(counts[1:].sum())
    for first in range(max(0, total - rest), min(total, int(counts[0])) + 1):
        for others in _draws(total - first, counts[1:]):
            yield np.r_[first, others]


def _by_rerunning(rel: Release, algorithm: Algorithm, open_rows: dict, tables: list) -> np.ndarray:
    """The greatest posterior of every row: a value's largest share in all tables that fit."""
    m, true_values = rel.microdata, rel.microdata.sensitive_codes
    fits = {}  # similar people -> rows by sensitive value, over all tables that fit
    for table in tables:
        sensitive = true_values.copy()
        for rows, counts in zip(open_rows.values(), table, strict=True):
            sensitive[rows] = np.repeat(np.arange(len(counts)), counts)
        other = m.with_codes({m.sensitive: sensitive})
        groups = _groups_shown(rel, algorithm(other), sensitive)
        if groups is None:
            continue
        ways = prod(factorial(sum(h)) // prod(map(factorial, h)) for h in table.tolist())
        for name, rows in _alike(rel, open_rows, groups):
            values = np.bincount(sensitive[rows], minlength=table.shape[1]).astype(object)
            fits[name] = fits.get(name, 0) + ways * values

    # For other tuples the groups show the counts, but not who has which value.
    known = m.cells.tuple_of_row
    concluded = _largest_share(m, rel.partition.labels if isinstance(rel, GroupRelease) else known)
    groups = _with_margins(m, rel.partition.labels, true_values)
    for name, rows in _alike(rel, open_rows, groups):
        concluded[rows] = max(fits[name]) / sum(fits[name])
    return concluded


# -- a bound after TP -------------------------------------------------------------------------


def _by_pillars(rel: Release, l: int) -> tuple[np.ndarray, np.ndarray]:
    r"""A lower bound of the greatest posterior of every row, and whether it is exact.

    For R removed rows and their height h(R), every step after phase one moves at most l(l - 1)
    rows, and is the last one once R is eligible. So if \|R\| - l·h(R) >= l(l - 1), phase one
    removed all of them, and their values are pillars of the rest of their QI-group. Among s
    possible values one has a posterior of at least 1/s.
    """
    m, p = rel.microdata, rel.partition
    first_of_residue = p.n_groups - p.info.get("residue_groups", 1)
    removed = np.flatnonzero(p.labels >= first_of_residue)
    tuples, place = np.unique(m.cells.tuple_of_row[removed], return_inverse=True)

    # The rest of the tuples that lost rows, and the possible values of their lost rows.
    left = np.zeros((len(tuples), m.sensitive_attribute.size), np.intp)
    of_tuple = np.full(len(m.cells), -1)
    of_tuple[tuples] = np.arange(len(tuples))
    here = of_tuple[m.cells.tuple_of_row]
    stays = (p.labels < first_of_residue) & (here >= 0)
    np.add.at(left, (here[stays], m.sensitive_codes[stays]), 1)
    residue = np.bincount(m.sensitive_codes[removed], minlength=left.shape[1])
    possible = np.tile(residue > 0, (len(tuples), 1))
    if residue.sum() - l * residue.max() >= l * (l - 1):
        possible &= left == left.max(axis=1, keepdims=True)

    if isinstance(rel, GroupRelease):
        in_group = np.zeros((p.n_groups - first_of_residue, left.shape[1]), dtype=bool)
        group = p.labels[removed] - first_of_residue
        in_group[group, m.sensitive_codes[removed]] = True
        choices = (possible[place] & in_group[group]).sum(axis=1)
        concluded, exact = _largest_share(m, p.labels), np.ones(m.n, dtype=bool)
        concluded[removed], exact[removed] = 1 / choices, choices == 1
        return concluded, exact
    # A person of a tuple has a kept value or a possible one: on average over the possible ones,
    # their kept rows and an equal part of all lost rows.
    lost = np.bincount(place)
    choices = possible.sum(axis=1)
    on_average = ((left * possible).sum(axis=1) + lost) / choices
    share = np.maximum(left.max(axis=1), on_average) / (left.sum(axis=1) + lost)
    concluded, exact = _largest_share(m, m.cells.tuple_of_row), here < 0
    concluded[here >= 0] = share[here[here >= 0]]
    exact[here >= 0] = (choices == 1)[here[here >= 0]]
    return concluded, exact

"""Minimality: what an algorithm's decisions reveal about sensitive values.

TP removes rows of a QI-group only while a value is too frequent in it, so removed people most
likely have that value. Mondrian leaves a part uncut, and a full-domain recoding leaves a lower
level, only because a class would not be diverse.
"""

from __future__ import annotations

import ast
import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from math import factorial, prod

import numpy as np
import pandas as pd

from anonpaper.errors import ParameterError, SizeLimitError, check_integer
from anonpaper.groups import Entries, dense_labels
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.partition.mondrian import mondrian
from anonpaper.partition.tp import tp, tp_plus
from anonpaper.principles import GroupCounts
from anonpaper.publish import Release, check_release, generalize, recode, suppress
from anonpaper.recoders.lattice import full_domain
from anonpaper.roles import only_one

#: Algorithms that can be run again from the call that a result records, and their publications.
_DETERMINISTIC = {function.__name__: function for function in (tp, tp_plus, mondrian, full_domain)}
_FORMS = {function.__name__: function for function in (suppress, generalize, recode)}
_MOST_CELLS = 300  # kinds of rows that are published below full detail


def minimality(rel: Release, *, most: int = 2_000) -> pd.DataFrame:
    """Greatest posterior of a value for an attacker who knows the algorithm: above 0, up to 1.

    The attacker has the written file and everybody's quasi-identifiers, and knows the algorithm
    with its parameters and ties. All tables with the published sensitive values are equally likely
    in advance. The posterior of a value for a person is its share in all tables from which the
    algorithm makes this file. At most `most` tables are tried. If the file allows more, a lower
    bound for every person is returned after TP and TP+, else SizeLimitError.

    All rows of a table with one sensitive attribute are published by ``suppress``, ``generalize``
    or ``recode`` from ``tp``, ``tp_plus`` or, with `l`, ``mondrian`` or ``full_domain`` (with
    default hierarchies), else ParameterError. The frame has per row ``promised``, the largest
    share of a value in the person's group; ``concluded``, the greatest posterior or a lower bound;
    ``exact``, True for a posterior. Sources: R. C.-W. Wong et al., *Minimality attack in privacy
    preserving data publishing*, VLDB 2007; xiao2010, section 5, for TP.

    >>> m = ap.examples.hospital()
    >>> seen = minimality(ap.generalize(m, ap.mondrian(m, k=2, l=2)))
    >>> seen.loc[["Adam", "Eva"]].to_numpy().tolist()  # nothing else kept Adam and Bob uncut
    [[0.5, 1.0, True], [0.5, 0.5, True]]
    """
    m, labels = check_microdata(check_release(rel).microdata), rel.partition.labels
    only_one(m.sensitive)
    most = check_integer("most", most, 1)
    if withheld := int((labels < 0).sum()):
        raise ParameterError(f"{withheld} rows are withheld: minimality needs all rows")
    algorithm = _read_off(rel)
    if _rows_of(_FORMS[rel.method](m, algorithm(m))) != _rows_of(rel):
        raise ParameterError("the algorithm makes another release of this table: publish that one")
    tables = _all_tables(rel, most)
    if tables is not None:
        concluded, exact = _by_rerunning(rel, algorithm, *tables), True
    elif algorithm.func in (tp, tp_plus):
        concluded, exact = _by_pillars(rel, algorithm.keywords["l"])
    else:
        raise SizeLimitError(f"the file allows more than {most} tables: increase most, or sample")
    columns = {"promised": _largest_share(m, labels), "concluded": concluded, "exact": exact}
    return pd.DataFrame(columns, index=m.frame.index)


def _read_off(rel: Release) -> partial:
    """The algorithm that a release says made it."""
    call = (rel.partition if rel.recoding is None else rel.recoding).call
    name, _, parameters = call.removeprefix("ap.").partition("(m, ")
    with contextlib.suppress(SyntaxError, ValueError):  # a parameter that is not a plain value
        parsed = ast.parse(f"dict({parameters}", mode="eval").body
        given = {p.arg: ast.literal_eval(p.value) for p in parsed.keywords}
        if given.get("l") is not None and name in _DETERMINISTIC and rel.method in _FORMS:
            return partial(_DETERMINISTIC[name], **given)
    known = "tp, tp_plus, mondrian and full_domain with l, by default hierarchies"
    can = f"only {known}, suppress, generalize or recode, can"
    raise ParameterError(f"{rel.call or 'the release'!r} cannot be run again: {can}")


def _largest_share(m: Microdata, labels: np.ndarray) -> np.ndarray:
    sets = GroupCounts.of(Entries.of_rows(m, labels), m.sensitive)
    return (sets.largest() / sets.sizes)[labels]


def _rows_of(rel: Release) -> Counter:
    """The rows of the written file, in no order."""
    texts = [p.labels.astype(str)[p.index] for p in rel.published]
    found = Counter()
    for *row, count in zip(*texts, rel.secrets, rel.entries.counts, strict=True):
        found[tuple(row)] += count
    return found


def _all_tables(rel: Release, most: int) -> tuple[np.ndarray, list] | None:
    """The *open* tuples, which rows with a generalized value may be of, and all their tables.

    Tables h(Q, v), shape (t, m), with the margins of the file; None if there are more than `most`.
    """
    m, group = rel.microdata, rel.classes.group
    kept = np.all([(p.sizes == 1)[p.index] for p in rel.published], axis=0)
    held = np.zeros((len(m.cells), m.sensitive_attribute.size), np.intp)
    np.add.at(held, (rel.entries.tuples[kept], rel.secrets[kept]), rel.entries.counts[kept])
    wanted = m.cells.tuple_sizes - held.sum(axis=1)
    opened = np.flatnonzero(wanted)
    classes, first, number = np.unique(group[~kept], return_index=True, return_inverse=True)
    if len(classes) * held.shape[1] > _MOST_CELLS:
        return None
    left = np.zeros((len(classes), held.shape[1]), np.intp)
    np.add.at(left, (number, rel.secrets[~kept]), rel.entries.counts[~kept])
    one = np.flatnonzero(~kept)[first]
    begun = {(): (held[:0], left)}
    for t in opened:
        each = zip(rel.published, m.cells.tuples[t], strict=True)
        covers = [p.sub_domains.contains(p.index[one], code) for p, code in each]
        covers, grown = np.all(covers, axis=0), {}
        for filled, left in begun.values():
            offered = np.where(covers[:, None], left, 0)
            places = np.nonzero(offered)
            if offered.sum() < wanted[t]:
                continue
            for drawn in _draws(int(wanted[t]), offered[places]):
                rest, own = left.copy(), held[t].copy()
                rest[places] -= drawn
                np.add.at(own, places[1], drawn)
                table = np.vstack([filled, own])
                grown[table.tobytes(), rest.tobytes()] = table, rest
                if len(grown) > most:
                    return None
        begun = grown
    return opened, list({table.tobytes(): table for table, _ in begun.values()}.values())


def _draws(total: int, counts: np.ndarray) -> Iterator[np.ndarray]:
    """Every way to draw a total from counts."""
    if len(counts) == 1:
        yield np.array([total])
        return
    rest = int(counts[1:].sum())
    for first in range(max(0, total - rest), min(total, int(counts[0])) + 1):
        for others in _draws(total - first, counts[1:]):
            yield np.r_[first, others]


def _by_rerunning(rel: Release, algorithm: Callable, opened: np.ndarray, tables: list):
    """The greatest posterior of every row: a value's largest share in all tables that fit."""
    m, seen, fits = rel.microdata, _rows_of(rel), 0
    start = m.cells.tuple_start
    for table in tables:
        sensitive = m.sensitive_codes.copy()
        for t, counts in zip(opened, table, strict=True):
            rows = m.cells.rows[start[t] : start[t + 1]]
            sensitive[rows] = np.repeat(np.arange(len(counts)), counts)
        other = m.with_codes({m.sensitive: sensitive})
        if _rows_of(_FORMS[rel.method](other, algorithm(other))) == seen:
            ways = prod(factorial(sum(h)) // prod(map(factorial, h)) for h in table.tolist())
            fits = fits + ways * table.astype(object)
    concluded = _largest_share(m, m.cells.tuple_of_row)
    for t, votes in zip(opened, fits, strict=True):
        concluded[m.cells.rows[start[t] : start[t + 1]]] = max(votes) / sum(votes)
    return concluded


def _by_pillars(rel: Release, l: int) -> tuple[np.ndarray, np.ndarray]:
    r"""A lower bound of the greatest posterior of every row, and whether it is exact.

    For R removed rows and their height h(R), every step after phase one moves at most l(l - 1)
    rows, and is the last one once R is eligible. So if \|R\| - l·h(R) >= l(l - 1), phase one
    removed all of them, and their values are pillars of the rest of their QI-group. Among s
    possible values one has a posterior of at least 1/s.
    """
    m, p = rel.microdata, rel.partition
    tuples, secrets = m.cells.tuple_of_row, m.sensitive_codes
    is_removed = p.labels >= p.n_groups - p.info.get("residue_groups", 1)
    # The tuples that lost rows, the rest of them, and the possible values of their lost rows.
    place = dense_labels(np.where(np.isin(tuples, tuples[is_removed]), tuples, -1))
    left = np.zeros((place.max() + 1, m.sensitive_attribute.size), np.intp)
    stays, lost = ~is_removed & (place >= 0), np.bincount(place[is_removed])
    np.add.at(left, (place[stays], secrets[stays]), 1)
    residue = np.bincount(secrets[is_removed], minlength=left.shape[1])
    possible = np.tile(residue > 0, (len(left), 1))
    if residue.sum() - l * residue.max() >= l * (l - 1):
        possible &= left == left.max(axis=1, keepdims=True)
    # A person of a tuple has a kept value or a possible one: on average over the possible ones,
    # their kept rows and an equal part of all lost rows.
    choices = possible.sum(axis=1)
    on_average = ((left * possible).sum(axis=1) + lost) / choices
    share = np.maximum(left.max(axis=1), on_average) / (left.sum(axis=1) + lost)
    concluded = np.where(place < 0, _largest_share(m, tuples), np.append(share, 0)[place])
    return concluded, np.append(choices == 1, True)[place]

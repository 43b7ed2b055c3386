"""From groups or sub-domains to the table that is published: the six ways but one."""

from __future__ import annotations

import numpy as np

from anonpaper.errors import ColumnError, ParameterError
from anonpaper.groups import Partition, group_bounds
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.publish.release import Anatomy, GroupRelease, PublishedAttribute, Release
from anonpaper.randomness import generator
from anonpaper.recoding import Recoding

__all__ = ["anatomize", "generalize", "recode", "suppress", "swap"]


def suppress(m: Microdata, p: Partition) -> Release:
    """Publish groups by suppression: a star where the rows of a group differ.

    Parameters
    ----------
    m : Microdata
        The table.
    p : Partition
        Its groups; rows labelled -1 are withheld.

    Returns
    -------
    Release

    Raises
    ------
    ParameterError
        If the partition is of another number of rows.

    References
    ----------
    xiao2010, Definition 1. O(n·d).

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> suppress(m, ap.examples.hospital_two_diverse()).frame.loc["Adam"].tolist()
    ['*', 'M', '*', 'HIV']
    """
    _check_match(m, p)
    published = []
    low, high = _bounds(m, p)
    for j, attribute in enumerate(m.attributes):
        agrees = low[:, j] == high[:, j]
        # Sub-domain number = code of the kept value; one more, the last, is the star.
        of_group = np.where(agrees, low[:, j], attribute.size).astype(np.int32)
        members = np.vstack(
            [np.eye(attribute.size, dtype=bool), np.ones((1, attribute.size), dtype=bool)]
        )
        published.append(PublishedAttribute(attribute, _of_rows(of_group, p.labels), members))
    return Release(m, tuple(published), "suppress", partition=p)


def generalize(m: Microdata, p: Partition) -> Release:
    """Publish groups by multi-dimensional generalization: the values that a group holds.

    Of an ordered attribute the interval from the least to the greatest value of the group is
    published, of any other the set of the values that occur in it.

    Parameters
    ----------
    m : Microdata
        The table.
    p : Partition
        Its groups; rows labelled -1 are withheld.

    Returns
    -------
    Release

    Raises
    ------
    ParameterError
        If the partition is of another number of rows.

    References
    ----------
    xiao2010, sections 2 and 6.2. O(n·d) and O(G·size) per attribute for G groups.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> generalize(m, ap.examples.hospital_two_diverse()).frame.loc["Adam", "Education"]
    '[Bachelor - Master]'
    """
    _check_match(m, p)
    published = []
    low, high = _bounds(m, p)
    for j, attribute in enumerate(m.attributes):
        if attribute.ordered:
            codes = np.arange(attribute.size)
            ranges, of_group = np.unique(
                np.column_stack([low[:, j], high[:, j]]), axis=0, return_inverse=True
            )
            members = (codes >= ranges[:, :1]) & (codes <= ranges[:, 1:])
        else:
            held = np.zeros((p.n_groups, attribute.size), dtype=bool)
            rows = p.labels >= 0
            held[p.labels[rows], m.codes[rows, j]] = True
            if p.starred is not None:
                held |= p.starred[:, [j]]
            members, of_group = np.unique(held, axis=0, return_inverse=True)
        of_group = of_group.reshape(-1).astype(np.int32)
        published.append(PublishedAttribute(attribute, _of_rows(of_group, p.labels), members))
    return Release(m, tuple(published), "generalize", partition=p)


def recode(m: Microdata, r: Recoding) -> Release:
    """Publish every value as its sub-domain: single-dimensional generalization.

    Parameters
    ----------
    m : Microdata
        The table.
    r : Recoding
        Sub-domains of its quasi-identifiers.

    Returns
    -------
    Release

    Raises
    ------
    ParameterError
        If the recoding is of other attributes or domains.

    References
    ----------
    xiao2010, section 2. O(n·d).

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> release = recode(m, ap.Recoding(m.attributes, [[0, 0, 1], [0, 0], [0, 1, 1]]))
    >>> release.frame.loc["Adam"].tolist()
    ['[<30 - [30, 50)]', '*', '[Bachelor - Master]', 'HIV']
    """
    check_microdata(m)
    if not isinstance(r, Recoding):
        raise ParameterError(
            f"expected a Recoding, got {type(r).__name__}: groups are published by ap.suppress, "
            "ap.generalize, ap.swap or ap.anatomize"
        )
    mine = [(a.name, list(a.values)) for a in m.attributes]
    theirs = [(a.name, list(a.values)) for a in r.attributes]
    if mine != theirs:
        raise ParameterError(
            f"the recoding is of {[name for name, _ in theirs]} with other domains than those of "
            f"{[name for name, _ in mine]}"
        )
    published = tuple(
        PublishedAttribute(attribute, r.maps[j][m.codes[:, j]], r.members(attribute.name))
        for j, attribute in enumerate(m.attributes)
    )
    return Release(m, published, "recode", recoding=r)


def swap(m: Microdata, p: Partition, seed: int | np.random.Generator) -> GroupRelease:
    """Publish groups by data swapping: sensitive values are permuted within every group.

    Columns with a role, their order, the index and every QI value stay as they are, so that
    queries written for the table run on the release. A value may fall on its own row again.

    Parameters
    ----------
    m : Microdata
        The table, with a sensitive attribute.
    p : Partition
        Its groups; rows labelled -1 are withheld.
    seed : int or numpy.random.Generator
        Seed of the permutations, all of which are equally likely.

    Returns
    -------
    GroupRelease

    Raises
    ------
    ColumnError
        The table has no sensitive attribute.
    ParameterError
        The partition is of another number of rows, or the seed is none.

    References
    ----------
    boger2020, section 3.2, after Soria-Comas and Domingo-Ferrer, FUZZ-IEEE 2012. O(n log n).

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> release = swap(m, ap.examples.hospital_two_diverse(), seed=0)
    >>> release.frame["Disease"].iloc[:4].tolist()
    ['bronchitis', 'pneumonia', 'HIV', 'HIV']
    """
    _check_match(m, p)
    by_group = np.argsort(p.labels, kind="stable")
    shuffled = np.lexsort([generator(seed).random(m.n), p.labels])
    codes = np.empty_like(m.sensitive_codes)
    codes[by_group] = m.sensitive_codes[shuffled]
    return GroupRelease(m, _as_they_are(m), "swap", partition=p, sensitive_codes=codes)


def anatomize(m: Microdata, p: Partition) -> Anatomy:
    """Publish groups by anatomy: quasi-identifiers and sensitive values in two tables.

    Parameters
    ----------
    m : Microdata
        The table, with a sensitive attribute.
    p : Partition
        Its groups; rows labelled -1 are withheld.

    Returns
    -------
    Anatomy
        With the tables ``qit`` and ``st``, joined by the group number.

    Raises
    ------
    ColumnError
        The table has no sensitive attribute, or a role column is called "group" or "count".
    ParameterError
        The partition is of another number of rows.

    References
    ----------
    X. Xiao, Y. Tao, *Anatomy: simple and effective privacy preservation*, VLDB 2006,
    section 3; boger2020, section 2.2. O(n log n).

    Examples
    --------
    >>> import anonpaper as ap
    >>> release = anatomize(ap.examples.hospital(), ap.examples.hospital_two_diverse())
    >>> release.qit.head(2)
          Age Gender Education  group
    Name
    Adam  <30      M    Master      0
    Bob   <30      M    Master      0
    >>> release.st.head(2)
       group     Disease  count
    0      0         HIV      2
    1      0  bronchitis      1
    """
    _check_match(m, p)
    m.sensitive_codes  # noqa: B018 - raises ColumnError where there is none
    taken = [name for name in [*m.qi, m.sensitive] if name in ("group", "count")]
    if taken:
        raise ColumnError(f"rename {taken}: the tables of an anatomy have columns of that name")
    return Anatomy(m, _as_they_are(m), "anatomize", partition=p)


def _as_they_are(m: Microdata) -> tuple[PublishedAttribute, ...]:
    return tuple(
        PublishedAttribute(attribute, m.codes[:, j], np.eye(attribute.size, dtype=bool))
        for j, attribute in enumerate(m.attributes)
    )


def _check_match(m: Microdata, p: Partition) -> None:
    check_microdata(m)
    if isinstance(p, Recoding):
        raise ParameterError("a Recoding is published by ap.recode(m, r)")
    if not isinstance(p, Partition):
        raise ParameterError(
            f"expected a Partition, got {type(p).__name__}: ap.Partition(labels) makes one"
        )
    if len(p) != m.n:
        raise ParameterError(f"the partition labels {len(p)} rows, the table has {m.n}")


def _of_rows(of_group: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Carry a number per group to its rows; rows withheld get that of no group, 0."""
    if len(of_group) == 0:
        return np.zeros(len(labels), np.int32)
    return np.where(labels >= 0, of_group[labels], 0).astype(np.int32)


def _bounds(m: Microdata, p: Partition) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest code of every group and attribute; a starred one has its whole domain."""
    low, high = group_bounds(m.codes, p.labels, p.n_groups)
    if p.starred is not None:
        sizes = np.array([attribute.size for attribute in m.attributes])
        low = np.where(p.starred, 0, low)
        high = np.where(p.starred, sizes - 1, high)
    return low, high

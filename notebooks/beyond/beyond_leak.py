"""What a release tells those who know the method that made it (does_optimality_leak).

Every table of secrets that a small register can have is enumerated, with the release that the
method makes of it. That is a *channel* from tables to releases, so the posterior is exact.
"""

import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import factorial

import anonpaper as ap
from anonpaper.measure.minimality_attack import _all_tables
from anonpaper.partition.refined import _Groups, _in_other_order, attributes_kept
from anonpaper.partition.tp import tp_plus_groups
from anonpaper.randomness import generator

#: Quasi-identifiers and secret of the registers' tables.
ROLES = {
    "adult": (["age", "education", "race", "sex"], "occupation"),
    "diabetes": (["race", "gender", "age", "insulin"], "readmitted"),
    "stroke": (["gender", "ever_married", "work_type", "Residence_type"], "smoking_status"),
    "pantheon": (["gender", "countryCode", "continentName"], "domain"),
}
#: Where the search from TP+ (0) to TP refined (1) stops: shares of the stars that it saves.
STOPS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Stars that a drawn grouping may have beyond the optimum, as shares of all values.
WITHIN = (0.0, 0.05, 0.1, 0.2, 1.0)
#: How strongly the exponential draw prefers few stars: weights exp(-strength * stars).
STRENGTHS = (0.25, 0.5, 1.0, 2.0)
#: Deterministic methods that publish groups with suppression and promise frequency l-diversity.
METHODS: dict[str, Callable[[ap.Microdata, int], ap.Partition]] = {
    "TP": ap.tp, "Hilbert": ap.hilbert, "Mondrian": lambda m, l: ap.mondrian(m, l, l),
    "K,L,θ": lambda m, l: ap.klt(m, l, l, 1 / l), "exact": ap.exact,
}  # fmt: skip


class Small(NamedTuple):
    """A register of n people, and all N tables of secrets with the same value counts."""

    m: ap.Microdata  # sorted by quasi-identifiers, so that the order of rows tells nothing
    values: np.ndarray  # codes of the V sensitive values
    tables: np.ndarray  # (N, n), from 0 to V - 1; people of one tuple in ascending order
    ways: np.ndarray  # (N,), how many assignments of values to people each table represents
    held: np.ndarray  # (N, t, V), h(Q, v): people of tuple Q with value v


class Channel(NamedTuple):
    """Release ``key[i]``, with ``stars[i]``, is made of ``table[i]`` with this probability."""

    table: np.ndarray
    key: np.ndarray
    probability: np.ndarray
    stars: np.ndarray


def small_table(m: ap.Microdata, counts: Sequence[int], seed: int) -> Small:
    """Draw so many people of the most frequent value, of the next, and so on."""
    rng = np.random.default_rng(seed)
    top = np.argsort(-m.sensitive_counts, kind="stable")[: len(counts)]
    of_value = (np.flatnonzero(m.sensitive_codes == v) for v in top)
    chosen = (rng.choice(*of, replace=False) for of in zip(of_value, counts, strict=True))
    m = m.take(np.concatenate([*chosen]))
    m = m.take(np.lexsort([m.sensitive_codes, m.cells.tuple_of_row]))
    values, sizes = np.sort(top), np.bincount(m.cells.tuple_of_row)
    together = ap.suppress(m, ap.Partition(np.zeros(m.n, int)))
    held = np.array(_all_tables(together, 10**6)[1])[:, :, values]
    ways = (factorial(held.sum(axis=2)) / factorial(held).prod(axis=2)).round().prod(axis=1)
    every_value = np.tile(np.arange(len(values)), len(sizes))
    return Small(m, values, np.array([every_value.repeat(h.ravel()) for h in held]), ways, held)


def published(codes: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers (P, n) of the published tuples of P partitions, and their stars (P,)."""
    together = labels[:, :, None] == labels[:, None, :]
    differ = codes[:, None, :] != codes[None, :, :]
    starred = np.stack([(together & of).any(axis=2) for of in np.moveaxis(differ, 2, 0)], axis=2)
    radix = np.cumprod(np.r_[1, codes.max(axis=0)[:-1] + 2])
    return np.where(starred, codes.max(axis=0) + 1, codes) @ radix, starred.sum(axis=(1, 2))


def release_keys(tuples: np.ndarray, values: np.ndarray, n_values: int) -> np.ndarray:
    """Return one number per release: a 64-bit hash of its rows, in any order."""
    rows = np.sort(tuples * n_values + values, axis=-1)
    return np.array([hash(of.tobytes()) for of in rows])


def groupings(n: int, least: int) -> np.ndarray:
    """Return all partitions of n rows in groups of at least so many, (P, n)."""
    found = [()]
    for left in reversed(range(n)):  # rows to come, which have to suffice for the small groups
        more = ((*of, g) for of in found for g in range(max(of, default=-1) + 2))
        found = [of for of in more if sum(max(least - c, 0) for c in Counter(of).values()) <= left]
    return np.array(found)


def by_labels(small: Small, labels: np.ndarray) -> Channel:
    """Return the channel of a deterministic method that gives each table these groups (N, n)."""
    tuples, stars = published(small.m.codes, labels)
    keys = release_keys(tuples, small.tables, len(small.values))
    return Channel(np.arange(len(keys)), keys, np.ones(len(keys)), stars)


def diverse_groupings(small: Small, l: int) -> tuple[Channel, np.ndarray]:
    """Return all l-diverse groupings of each table, each of weight 1, and their numbers."""
    labels = groupings(len(small.m.codes), l)
    tuples, stars = published(small.m.codes, labels)
    member = (labels[:, :, None] == np.arange(labels.max() + 1)).astype(np.int16)
    parts = []
    for number, values in enumerate(small.tables):
        has = (values[:, None] == np.arange(len(small.values))).astype(np.int16)
        most_frequent = np.einsum("pig,iv->pgv", member, has).max(axis=2)
        (fits,) = np.nonzero((l * most_frequent <= member.sum(axis=1)).all(axis=1))
        keys = release_keys(tuples[fits], values, len(small.values))
        parts.append((np.full(len(fits), number), keys, np.ones(len(fits)), stars[fits], fits))
    *every, grouping = (np.concatenate(of) for of in zip(*parts, strict=True))
    return Channel(*every), grouping


def drawn(every: Channel, weights: np.ndarray) -> Channel:
    """Return the channel that draws a diverse grouping with probabilities like the weights."""
    share = weights / np.bincount(every.table, weights)[every.table]
    return _part(every._replace(probability=share), share > 0)


def first_in_order(every: Channel, grouping: np.ndarray, allowed: np.ndarray, seed: int):
    """Return the channel that takes the first allowed grouping of an order that all know."""
    rank = np.random.default_rng(seed).permutation(grouping.max() + 1)[grouping]
    by_table = np.lexsort([rank, ~allowed, every.table])
    return _part(every, by_table[np.flatnonzero(np.diff(every.table[by_table], prepend=-1))])


def _part(channel: Channel, entries: np.ndarray) -> Channel:
    return Channel(*(of[entries] for of in channel))


def _weights(small: Small, channel: Channel, keys: np.ndarray) -> np.ndarray:
    """Return in how many ways a person of tuple Q has value v, per release: (K, t, V)."""
    channel = _part(channel, np.isin(channel.key, keys))
    weight = channel.probability * small.ways[channel.table]
    place = np.searchsorted(keys, channel.key)
    tables = csr_array((weight, (place, channel.table)), shape=(len(keys), len(small.held)))
    return (tables @ small.held.reshape(len(small.held), -1)).reshape(-1, *small.held.shape[1:])


def recovered(small: Small, channel: Channel, counted: Channel) -> dict[str, float]:
    """Return shares of secrets that attackers name rightly, on average over all tables.

    ``right`` knows the method and has the exact posterior. ``counted`` takes all groupings that
    fit the release, which a channel lists, for equally likely. ``sure`` is the share of people who
    have only one possible value.
    """
    keys = np.unique(channel.key)
    weights = _weights(small, channel, keys)
    total, of_tuple = weights.sum(), weights.sum(axis=-1)
    found = {"sure": of_tuple[weights.max(axis=-1) >= of_tuple * (1 - 1e-9)].sum() / total}
    for name, of in (("right", weights), ("counted", _weights(small, counted, keys))):
        best = of >= of.max(axis=-1, keepdims=True) * (1 - 1e-9)  # who names one of several
        guesses = best / best.sum(axis=-1, keepdims=True)  # likeliest values draws it
        found[name] = (guesses * weights).sum() / total
    return {name: float(share) for name, share in found.items()}


def refined_stops(m: ap.Microdata, l: int, shares: Sequence[float] = STOPS) -> list[ap.Partition]:
    """Return the groups after these shares of the stars that TP refined saves over TP+.

    The way leads from TP+ by rounds of its search, about two neighbouring groups at a time, and
    ends at TP refined without further rounds. The first groups with the share saved are taken.
    """
    rng, kept = generator(0), attributes_kept(m.d, 1024)
    groups = _Groups(m, *tp_plus_groups(m, l, apart=False)[:-1])
    end = ap.tp_refined(m, l, seconds=0)
    way, least = [copy.copy(groups)], end.info["stars"]
    while len(way) <= 6 and way[-1].stars.sum() > least:
        groups.split(l, rng)
        order = groups.neighbours(rng)
        groups.regroup(l, _in_other_order(kept, rng), order, 2 * l)
        way.append(copy.copy(groups))
    first, found = way[0].stars.sum(), []
    for share in shares:
        bound = first - share * (first - least)
        at = next((at for at in way if least < at.stars.sum() <= bound), None)
        stop = end if at is None else ap.Partition.of_cells(m.cells, at.cell, at.group, at.rows)
        found.append(stop)
    return found


def all_labels(small: Small, method: Callable[[ap.Microdata], Sequence[ap.Partition]]):
    """Return the groups that a method gives each table, (groupings, N, n)."""
    tables = (small.m.with_codes({small.m.sensitive: small.values[of]}) for of in small.tables)
    return np.array([[p.labels for p in method(m)] for m in tables]).swapaxes(0, 1)


def leaks(tables: Mapping, table: str, counts: Sequence[int], l: int, seed: int) -> list[dict]:
    """Return, for each method, its gap to the optimum and what attackers recover."""
    small = small_table(tables[table], counts, seed)
    labels = {
        name: all_labels(small, lambda m, method=method: [method(m, l)])[0]
        for name, method in METHODS.items()
    }
    stops = all_labels(small, lambda m: refined_stops(m, l))
    labels |= {f"stop {share:.0%}": of for share, of in zip(STOPS, stops, strict=True)}
    channels = {name: by_labels(small, of) for name, of in labels.items()}
    every, grouping = diverse_groupings(small, l)
    fewest = np.minimum.reduceat(every.stars, np.flatnonzero(np.diff(every.table, prepend=-1)))
    above, size = every.stars - fewest[every.table], small.m.codes.size
    for within in WITHIN:
        near = above <= within * size
        channels[f"drawn within {within:.0%}"] = drawn(every, near)
        channels[f"first within {within:.0%}"] = first_in_order(every, grouping, near, seed)
    for strength in STRENGTHS:
        channels[f"exponential {strength:g}"] = drawn(every, np.exp(-strength * above))
    weights = {name: of.probability * small.ways[of.table] for name, of in channels.items()}
    return [
        {"method": name, "tables": len(small.tables),
         "stars": weights[name] @ channel.stars / weights[name].sum() / size,
         "optimum": small.ways @ fewest / small.ways.sum() / size,
         **recovered(small, channel, every)}
        for name, channel in channels.items()
    ]  # fmt: skip

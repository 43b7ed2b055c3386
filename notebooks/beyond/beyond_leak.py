"""What a release tells those who know the method that made it (does_optimality_leak).

Every table of secrets that a small register can have is enumerated, with the release that the
method makes of it. That is a *channel* from tables to releases, so the posterior is exact.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from math import factorial, prod
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from anonpaper.groups import Partition
from anonpaper.measure.bounds import fewest_stars
from anonpaper.measure.minimality_attack import _draws, _fillings
from anonpaper.microdata import Microdata
from anonpaper.partition.balanced import balanced_classes
from anonpaper.partition.exact import exact
from anonpaper.partition.hilbert import hilbert
from anonpaper.partition.klt import klt
from anonpaper.partition.matching import optimal_two_diverse
from anonpaper.partition.mondrian import mondrian
from anonpaper.partition.refined import _Groups, _in_other_order, attributes_kept, tp_refined
from anonpaper.partition.tp import tp, tp_plus_groups
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
#: Rounds in which the search may visit two neighbouring groups at a time.
_ROUNDS = 6

#: Deterministic methods that publish groups with suppression and promise frequency l-diversity.
METHODS: dict[str, Callable[[Microdata, int], Partition]] = {
    "TP": tp,
    "Hilbert": hilbert,
    "Mondrian": lambda m, l: mondrian(m, l, l),
    "K,L,θ": lambda m, l: klt(m, l, l, 1 / l),
    "balanced classes": lambda m, l: balanced_classes(m, l, l),
    "exact": exact,
    "matching": lambda m, l: optimal_two_diverse(m),
}


class Small(NamedTuple):
    """A register of n people, and all N tables of secrets with the same value counts."""

    m: Microdata  # sorted by quasi-identifiers, so that the order of rows tells nothing
    codes: np.ndarray  # (n, d)
    values: np.ndarray  # codes of the V sensitive values
    tables: np.ndarray  # (N, n), from 0 to V - 1; people of one tuple in ascending order
    ways: np.ndarray  # (N,), how many assignments of values to people each table represents
    held: np.ndarray  # (N, t, V), h(Q, v): people of tuple Q with value v
    own: int  # the real table


class Channel(NamedTuple):
    """Release ``key[i]``, with ``stars[i]``, is made of ``table[i]`` with this probability."""

    table: np.ndarray
    key: np.ndarray
    probability: np.ndarray
    stars: np.ndarray


def small_table(m: Microdata, counts: Sequence[int], seed: int) -> Small:
    """Draw so many people of the most frequent value, of the next, and so on."""
    rng = np.random.default_rng(seed)
    top = np.argsort(-m.sensitive_counts, kind="stable")[: len(counts)]
    chosen = [
        rng.choice(np.flatnonzero(m.sensitive_codes == v), count, replace=False)
        for v, count in zip(top, counts, strict=True)
    ]
    m = m.take(np.concatenate(chosen))
    m = m.take(np.lexsort([m.sensitive_codes, m.cells.tuple_of_row]))
    values, sizes = np.sort(top), np.bincount(m.cells.tuple_of_row)
    held = np.array([*_fillings(sizes, m.sensitive_counts[values])])
    place, ways = np.arange(len(values)), np.ones(len(held))
    tables = np.array([np.concatenate([np.repeat(place, h) for h in table]) for table in held])
    for number, table in enumerate(held.tolist()):
        for h in table:
            ways[number] *= factorial(sum(h)) // prod(map(factorial, h))
    real = np.searchsorted(values, m.sensitive_codes)
    own = int(np.flatnonzero((tables == real).all(axis=1))[0])
    return Small(m, m.codes, values, tables, ways, held, own)


# -- what is published ------------------------------------------------------------------------


def published(codes: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers (P, n) of the published tuples of P partitions, and their stars (P,)."""
    together = labels[:, :, None] == labels[:, None, :]
    differ = codes[:, None, :] != codes[None, :, :]
    starred = np.stack([(together & of).any(axis=2) for of in np.moveaxis(differ, 2, 0)], axis=2)
    radix = np.cumprod(np.r_[1, codes.max(axis=0)[:-1] + 2])
    shown = np.where(starred, codes.max(axis=0) + 1, codes)
    return shown @ radix, starred.sum(axis=(1, 2))


def release_keys(tuples: np.ndarray, values: np.ndarray, n_values: int) -> np.ndarray:
    """Return one number per release: a sum of 64-bit hashes of its rows, in any order."""
    x = (tuples * n_values + values + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return (x ^ (x >> np.uint64(31))).sum(axis=-1, dtype=np.uint64)


@cache
def groupings(n: int, least: int) -> np.ndarray:
    """Return all partitions of n rows in groups of at least so many, (P, n)."""

    def grown(labels: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if sum(max(least - size, 0) for size in sizes) > n - len(labels):
            return
        if len(labels) == n:
            yield labels
            return
        for g, size in enumerate(sizes):
            yield from grown((*labels, g), (*sizes[:g], size + 1, *sizes[g + 1 :]))
        yield from grown((*labels, len(sizes)), (*sizes, 1))

    return np.array(list(grown((), ())))


# -- channels ---------------------------------------------------------------------------------


def by_labels(small: Small, labels: np.ndarray) -> Channel:
    """Return the channel of a deterministic method that gives each table these groups (N, n)."""
    tuples, stars = published(small.codes, labels)
    keys = release_keys(tuples, small.tables, len(small.values))
    return Channel(np.arange(len(keys)), keys, np.ones(len(keys)), stars)


def mixed(channels: Sequence[Channel], weights: Sequence[float]) -> Channel:
    """Return the channel that draws one of some channels afresh for every release."""
    scaled = [c._replace(probability=w * c.probability)
              for c, w in zip(channels, weights, strict=True)]  # fmt: skip
    return Channel(*(np.concatenate(parts) for parts in zip(*scaled, strict=True)))


class _Draws(NamedTuple):
    """All diverse groupings of each table: entries as in a channel, and the grouping's number."""

    table: np.ndarray
    key: np.ndarray
    stars: np.ndarray
    grouping: np.ndarray
    fewest: np.ndarray  # (N,), the optimum of each table


def diverse_groupings(small: Small, l: int) -> _Draws:
    """Return all l-diverse groupings, table by table."""
    labels = groupings(len(small.codes), l)
    tuples, stars = published(small.codes, labels)
    sizes = np.array([np.bincount(of, minlength=labels.max() + 1) for of in labels])
    member = (labels[:, :, None] == np.arange(labels.max() + 1)).astype(np.int16)
    parts = []
    for number, values in enumerate(small.tables):
        has = values[:, None] == np.arange(len(small.values))
        most_frequent = np.einsum("pig,iv->pgv", member, has.astype(np.int16)).max(axis=2)
        (fits,) = np.nonzero((l * most_frequent <= sizes).all(axis=1))
        keys = release_keys(tuples[fits], values, len(small.values))
        parts.append((np.full(len(fits), number), keys, stars[fits], fits))
    table, key, needed, grouping = (np.concatenate(of) for of in zip(*parts, strict=True))
    fewest = np.full(len(small.tables), np.iinfo(np.intp).max)
    np.minimum.at(fewest, table, needed)
    return _Draws(table, key, needed, grouping, fewest)


def drawn(draws: _Draws, weights: np.ndarray) -> Channel:
    """Return the channel that draws a diverse grouping with probabilities like the weights."""
    share = weights / np.bincount(draws.table, weights)[draws.table]
    some = share > 0
    return Channel(draws.table[some], draws.key[some], share[some], draws.stars[some])


def first_in_order(draws: _Draws, allowed: np.ndarray, seed: int) -> Channel:
    """Return the channel that takes the first allowed grouping of an order that all know."""
    rank = np.random.default_rng(seed).permutation(draws.grouping.max() + 1)[draws.grouping]
    by_table = np.lexsort([rank, ~allowed, draws.table])
    first = by_table[np.flatnonzero(np.diff(draws.table[by_table], prepend=-1))]
    return Channel(draws.table[first], draws.key[first], np.ones(len(first)), draws.stars[first])


# -- the attackers ----------------------------------------------------------------------------


def _seen(small: Small, knows: int) -> np.ndarray:
    """Return h(Q, v) of each table, once for each secret (P, w) that is known: (N, c, t, V)."""
    held = small.held
    if not knows:
        return held[:, None]
    own = np.eye(held[0].size).reshape(2 * held.shape[1:])  # the known person is not guessed
    joint = held[:, :, :, None, None] * (held[:, None, None] - own)
    return joint.reshape(len(held), -1, *held.shape[1:])


def _weights(small: Small, channel: Channel, keys: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return in how many ways a person of Q has v, per release and known secret: (K, c, t, V)."""
    weight = channel.probability * small.ways[channel.table]
    place = np.searchsorted(keys, channel.key)
    tables = csr_array((weight, (place, channel.table)), shape=(len(keys), len(seen)))
    return (tables @ seen.reshape(len(seen), -1)).reshape(-1, *seen.shape[1:])


def _guesses(weights: np.ndarray) -> np.ndarray:
    """Return how an attacker who names a likeliest value divides the guesses among values."""
    best = weights >= weights.max(axis=-1, keepdims=True) * (1 - 1e-9)
    return best / best.sum(axis=-1, keepdims=True)


def counted_ways(small: Small, labels: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return in how many ways a person of Q has v if all groupings are equally likely, (t, V).

    The release of these groups (n,) of these secrets shows buckets of equal published tuples. A
    grouping puts people into buckets that they fit, and makes exactly the stars that are shown.
    """
    tuple_of = small.m.cells.tuple_of_row
    tuples, sizes = small.m.cells.tuples, np.bincount(tuple_of).tolist()
    _, bucket = np.unique(published(small.codes, labels[None])[0][0], return_inverse=True)
    rows = [small.codes[bucket == b] for b in range(bucket.max() + 1)]
    starred = [np.ptp(of, axis=0) > 0 for of in rows]
    fits = np.array([[(s | (q == of[0])).all() for s, of in zip(starred, rows, strict=True)]
                     for q in tuples])  # fmt: skip
    found = np.zeros(fits.shape)

    def fill(q: int, left: np.ndarray, filled: list[np.ndarray], ways: int) -> None:
        if q == len(sizes):
            into = np.array(filled) > 0
            if all((np.ptp(tuples[into[:, b]], axis=0) > 0)[s].all()
                   for b, s in enumerate(starred)):  # fmt: skip
                found[:] += ways * np.array(filled)
            return
        for drawn in _draws(sizes[q], np.minimum(left, fits[q] * sizes[q])):
            more = factorial(sizes[q]) // prod(map(factorial, drawn.tolist()))
            fill(q + 1, left - drawn, [*filled, drawn], ways * more)

    size = np.bincount(bucket)
    fill(0, size, [], 1)
    has = np.zeros((len(size), len(small.values)))
    np.add.at(has, (bucket, values), 1)
    return found @ (has / size[:, None])


def _kept_ways(kept: dict, small: Small, keys: np.ndarray, labels: np.ndarray, entry: int):
    """Return `counted_ways` of an entry's release, once for all methods that make it."""
    key = int(keys[entry])
    if key not in kept:
        kept[key] = counted_ways(small, labels[entry], small.tables[entry])
    return kept[key]


def recovered(
    small: Small, channel: Channel, counted: Channel | Callable[[int], np.ndarray], knows: int = 0
) -> dict[str, float]:
    """Return shares of secrets that attackers name rightly, on average over all tables.

    ``right`` knows the method and has the exact posterior. ``counted`` takes all groupings that
    fit the release for equally likely: a channel of all of them, or a function of the number of an
    entry. ``sure`` is the share of people who have only one possible value. ``own`` and ``own
    counted`` are the shares named rightly in the real table. They also know `knows` secrets.
    """
    keys, first = np.unique(channel.key, return_index=True)
    seen = _seen(small, knows)
    weights = _weights(small, channel, keys, seen)
    if isinstance(counted, Channel):
        kept = Channel(*(of[np.isin(counted.key, keys)] for of in counted))
        ways = _weights(small, kept, keys, seen)
        if not ways.any(axis=(1, 2, 3)).all():
            raise RuntimeError("the method makes a release that no diverse grouping makes")
    else:
        ways = np.array([counted(entry) for entry in first])[:, None]
    guesses, by_counting, total = _guesses(weights), _guesses(ways), weights.sum()
    of_tuple = weights.sum(axis=-1)
    sure = of_tuple[weights.max(axis=-1) >= of_tuple * (1 - 1e-9)].sum()
    mine = channel.table == small.own
    place, real = np.searchsorted(keys, channel.key[mine]), seen[small.own]

    def in_real_table(named: np.ndarray) -> float:
        found = (named[place] * real).sum(axis=(1, 2, 3))
        return float(channel.probability[mine] @ found / real.sum())

    return {
        "right": float((guesses * weights).sum() / total),
        "counted": float((by_counting * weights).sum() / total),
        "sure": float(sure / total),
        "own": in_real_table(guesses),
        "own counted": in_real_table(by_counting),
    }


# -- methods ----------------------------------------------------------------------------------


def refined_stops(m: Microdata, l: int, shares: Sequence[float] = STOPS) -> list[Partition]:
    """Return the groups after these shares of the stars that TP refined saves over TP+.

    The way leads from TP+ by rounds of its search, about two neighbouring groups at a time, and
    ends at TP refined without further rounds. The first groups with the share saved are taken.
    """
    rng, kept = generator(0), attributes_kept(m.d, 1024)
    *entries, _ = tp_plus_groups(m, l, apart=False)
    groups, end = _Groups(m, *entries), tp_refined(m, l, seconds=0)
    way, least = [copy.copy(groups)], end.info["stars"]
    for _ in range(_ROUNDS):
        if way[-1].stars.sum() <= least:
            break
        groups.split(l, rng)
        order = groups.neighbours(rng)
        groups.regroup(l, _in_other_order(kept, rng), order, 2 * l)
        way.append(copy.copy(groups))
    before = [(int(at.stars.sum()), at) for at in way if at.stars.sum() > least]
    if not before:
        return [end] * len(shares)
    found = []
    for share in shares:
        bound = before[0][0] - share * (before[0][0] - least)
        at = next((at for stars, at in before if stars <= bound), None)
        stop = end if at is None else Partition.of_cells(m.cells, at.cell, at.group, at.rows)
        found.append(stop)
    return found


def _all_labels(small: Small, method: Callable[[Microdata], Sequence[Partition]]) -> np.ndarray:
    """Return the groups that a method gives each table, (methods, N, n)."""
    found = [[p.labels for p in method(_with(small, values))] for values in small.tables]
    return np.array(found).swapaxes(0, 1)


def _with(small: Small, values: np.ndarray) -> Microdata:
    return small.m.with_codes({small.m.sensitive: small.values[values]})


def leaks(
    *, table: str, counts: Sequence[int], l: int, attributes: int, methods: Sequence[str],
    knows: Sequence[int], seed: int, tables: Mapping[str, Microdata],
) -> list[dict]:  # fmt: skip
    """Return, for each method, its gap to the optimum or bound and what attackers recover."""
    m = tables[table]
    coarse = sorted(m.qi, key=lambda name: m.attribute(name).size)[:attributes]
    small = small_table(m.with_roles(qi=[q for q in m.qi if q in coarse]), counts, seed)
    labels, channels = {}, {}
    for name in methods:
        if name == "stops":
            found = _all_labels(small, lambda m: refined_stops(m, l))
            labels |= {f"stop {share:.0%}": of for share, of in zip(STOPS, found, strict=True)}
        elif name != "draws":
            (labels[name],) = _all_labels(small, lambda m: [METHODS[name](m, l)])  # noqa: B023
    channels = {name: by_labels(small, of) for name, of in labels.items()}
    if "draws" in methods:  # all groupings of a few people can be listed
        draws = diverse_groupings(small, l)
        fewest, ones = draws.fewest, np.ones(len(draws.stars))
        counted = Channel(draws.table, draws.key, ones, draws.stars)
        if "stops" in methods:
            of_stops = [channels[f"stop {share:.0%}"] for share in STOPS]
            channels["random stop"] = mixed(of_stops, [1 / len(STOPS)] * len(STOPS))
        above = draws.stars - fewest[draws.table]
        for within in WITHIN:
            near = above <= within * small.codes.size
            channels[f"drawn within {within:.0%}"] = drawn(draws, near * ones)
            channels[f"first within {within:.0%}"] = first_in_order(draws, near, seed)
        for strength in STRENGTHS:
            channels[f"exponential {strength:g}"] = drawn(draws, np.exp(-strength * above))
    else:
        fewest = np.array([fewest_stars(_with(small, values), l=l) for values in small.tables])
    size, rows, kept = small.codes.size, [], {}
    for name, channel in channels.items():
        if "draws" not in methods:
            counted = partial(_kept_ways, kept, small, channel.key, labels[name])
        weight = channel.probability * small.ways[channel.table]
        rows += [{
            "method": name, "known": known, "tables": len(small.tables),
            "stars": weight @ channel.stars / weight.sum() / size,
            "optimum": small.ways @ fewest / small.ways.sum() / size,
            **recovered(small, channel, counted, known),
        } for known in knows]  # fmt: skip
    return rows

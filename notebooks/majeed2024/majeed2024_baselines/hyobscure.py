"""HyObscure: obfuscate some attributes, generalize another, in turns.

X. Han, Y. Yang, J. Wu, H. Xiong, TKDE 2023, and the facts of the authors' public code. Users are
clustered by k-means; a channel between clusters that leaks least within a bound on distortion and
borders of the generalized attribute are improved in turns. Ours: the private attribute is the
sensitive one, the generalized one the ordered one of most values; channels (row-stochastic) come
from alternating minimization; Mondrian groups the result, as the method promises neither k nor l.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anonpaper.groups import Entries, Partition
from anonpaper.microdata import Microdata
from anonpaper.partition.mondrian import mondrian
from anonpaper.publish import Release, shallow_generalize
from anonpaper.randomness import generator
from majeed2024_baselines.simple import mutual_information

_CLUSTERS, _GROUPS, _ROUNDS = 10, 4, 5  # of users, of values that are generalized, of turns
_BUDGET = 0.3  # distance of a cluster and the published one, by the mean distance of two clusters
_MOST_MOVES = 3  # values of the generalized attribute that one move carries over, at most


def hyobscure(m: Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> Release:
    """Obfuscate and generalize in turns, then group what results."""
    rng = generator(seed)
    of_row, distances = _user_clusters(m, rng)
    main = max(range(m.d), key=lambda j: (m.attributes[j].ordered, m.attributes[j].size))
    source = _obfuscate(m, main, of_row, distances, _BUDGET * distances.mean(), k, rng)
    moved = m.codes[source].copy()
    moved[:, main] = m.codes[:, main]
    table = m.with_codes(dict(zip(m.qi, moved.T, strict=True)))
    p = mondrian(table, k, l, diversity="distinct")
    rel = shallow_generalize(table, p, hierarchies)
    by_row = [replace(column, index=column.index[rel.entries.of_row]) for column in rel.published]
    info = {"obfuscated": float((moved != m.codes).any(axis=1).mean())}
    p = Partition(p.labels, info, f"HyObscure, k = {k}")
    return Release(Entries.of(m, p), by_row, "obscure", p)


def obfuscation_channel(
    joint: np.ndarray, distances: np.ndarray, bound: float, iterations: int = 100
) -> np.ndarray:
    """Find the channel between clusters that leaks least within a bound on the distortion."""
    size = len(distances)
    weight = joint.sum(axis=0)
    if bound <= 0:
        return np.eye(size)

    def distortion(channel):
        return float((weight[:, None] * channel * distances).sum())

    free = _channel(joint, distances, 0.0, iterations)
    if distortion(free) <= bound:
        return free
    low, high = 0.0, 1.0
    while distortion(_channel(joint, distances, high, iterations)) > bound and high < 1e6:
        low, high = high, 4 * high
    best = np.eye(size)
    for _ in range(15):
        middle = (low + high) / 2
        channel = _channel(joint, distances, middle, iterations)
        if distortion(channel) <= bound:
            best, high = channel, middle
        else:
            low = middle
    return best


def _channel(joint, distances, multiplier, iterations) -> np.ndarray:
    """Minimize I(Y; C') + multiplier·E[D] by exponentiated gradient steps."""
    weight = np.maximum(joint.sum(axis=0), 1e-300)
    given = joint / weight  # p(y | c)
    prior = joint.sum(axis=1)
    channel = np.full(distances.shape, 1 / len(distances))
    if multiplier > 0:
        channel = np.exp(-multiplier * (distances - distances.min(axis=1, keepdims=True)))
        channel /= channel.sum(axis=1, keepdims=True)
    for _ in range(iterations):
        published = joint @ channel  # p(y, c')
        share = published / np.maximum(published.sum(axis=0), 1e-300)
        # d I / d q(c'|c), per unit of p(c): sum_y p(y|c) ln(p(y|c') / p(y))
        ratio = np.log(np.maximum(share, 1e-300) / np.maximum(prior[:, None], 1e-300))
        gradient = given.T @ ratio + multiplier * distances
        gradient -= gradient.min(axis=1, keepdims=True)
        stepped = channel * np.exp(-gradient)
        stepped /= stepped.sum(axis=1, keepdims=True)
        if np.abs(stepped - channel).max() < 1e-9:
            return stepped
        channel = stepped
    return channel


def _user_clusters(m: Microdata, rng) -> tuple[np.ndarray, np.ndarray]:
    """Cluster the distinct tuples, weighted by rows; return clusters of rows and distances."""
    from sklearn.cluster import KMeans

    columns = []
    for attribute, codes in zip(m.attributes, m.cells.tuples.T, strict=True):
        if attribute.ordered:
            scaled = (attribute.positions - attribute.positions[0]) / (attribute.width or 1.0)
            columns.append(scaled[codes][:, None])
        else:
            columns.append(np.eye(attribute.size)[codes] / np.sqrt(2))
    points = np.hstack(columns)
    means = KMeans(
        min(_CLUSTERS, len(points)), n_init=3, random_state=int(rng.integers(2**31))
    ).fit(points, sample_weight=m.cells.tuple_sizes)
    centres = means.cluster_centers_
    gaps = np.sqrt(np.square(centres[:, None] - centres[None]).sum(axis=2))
    return means.labels_[m.cells.tuple_of_row], gaps


def _obfuscate(m, main, of_row, distances, bound, k, rng) -> np.ndarray:
    """Alternate channels and borders; return the row whose values every row publishes."""
    codes = m.codes[:, main]
    borders = np.unique(np.quantile(codes, np.arange(1, _GROUPS) / _GROUPS, method="higher"))
    best = _state(m, codes, of_row, distances, borders, bound)
    for _ in range(_ROUNDS):
        improved = None
        for candidate in _moves(borders, m.attributes[main].size):
            of_group = np.searchsorted(candidate, codes, side="right")
            if np.bincount(of_group, minlength=len(candidate) + 1).min() < k:
                continue
            state = _evaluate(m, of_group, of_row, distances, best["channels"])
            if state["leakage"] < best["leakage"] and state["distortion"] < best["distortion"]:
                best = best | state
                improved = candidate
        if improved is None:
            break
        borders = improved
        renewed = _state(m, codes, of_row, distances, borders, bound)
        if renewed["leakage"] >= best["leakage"]:
            break
        best = renewed
    of_group = np.searchsorted(borders, codes, side="right")
    return _draw(of_group, of_row, best["channels"], rng)


def _moves(borders: np.ndarray, size: int):
    """Borders with one of them moved by a few values, still ascending and inside the domain."""
    for i in range(len(borders)):
        for step in (*range(-_MOST_MOVES, 0), *range(1, _MOST_MOVES + 1)):
            moved = borders.copy()
            moved[i] += step
            if moved[0] > 0 and moved[-1] < size and (np.diff(moved) > 0).all():
                yield moved


def _state(m, codes, of_row, distances, borders, bound) -> dict:
    """Find the channel of every group, and evaluate them."""
    of_group = np.searchsorted(borders, codes, side="right")
    _, joints = _joints(m, of_group, of_row, len(borders) + 1, len(distances))
    channels = np.array([obfuscation_channel(joint, distances, bound) for joint in joints])
    return _evaluate(m, of_group, of_row, distances, channels) | {"channels": channels}


def _evaluate(m, of_group, of_row, distances, channels) -> dict:
    """Leakage about the sensitive attribute and distortion, over all groups."""
    found = {"leakage": 0.0, "distortion": 0.0}
    shares, joints = _joints(m, of_group, of_row, len(channels), len(distances))
    for share, joint, channel in zip(shares, joints, channels, strict=True):
        moved = joint.sum(axis=0)[:, None] * channel * distances
        found["leakage"] += share * mutual_information(joint @ channel)
        found["distortion"] += share * float(moved.sum())
    return found


def _joints(m, of_group, of_row, groups, clusters) -> tuple[np.ndarray, np.ndarray]:
    """Share of the rows, and joint distribution of value and cluster, of every group."""
    counts = np.zeros((groups, m.sensitive_attribute.size, clusters))
    np.add.at(counts, (of_group, m.sensitive_codes, of_row), 1)
    rows = counts.sum(axis=(1, 2))
    return rows / m.n, counts / np.maximum(rows, 1)[:, None, None]


def _draw(of_group, of_row, channels, rng) -> np.ndarray:
    """Let every row draw a cluster, then a row of that cluster and its own group."""
    source = np.arange(len(of_row))
    for group, channel in enumerate(channels):
        rows = np.flatnonzero(of_group == group)
        by_cluster = [rows[of_row[rows] == c] for c in range(len(channel))]
        for c, members in enumerate(by_cluster):
            # A cluster without a row in this group has nothing to publish.
            chances = np.array(
                [q if len(r) else 0.0 for q, r in zip(channel[c], by_cluster, strict=True)]
            )
            if len(members) == 0 or chances.sum() == 0:
                continue
            drawn = rng.choice(len(chances), len(members), p=chances / chances.sum())
            for target in np.unique(drawn):
                mine = members[drawn == target]
                # Who keeps the cluster keeps the data.
                if target != c:
                    source[mine] = rng.choice(by_cluster[target], len(mine))
    return source

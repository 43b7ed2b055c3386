"""HyObscure: obfuscate some attributes, generalize another, in turns.

X. Han, Y. Yang, J. Wu, H. Xiong, TKDE 2023, and the facts of the authors' public code. Users are
clustered by k-means; a channel between clusters that leaks least within a bound on distortion and
borders of the generalized attribute are improved in turns. Ours: the private attribute is the
sensitive one, the generalized one the ordered one of most values; channels (row-stochastic) come
from alternating minimization; Mondrian groups the result, as the method promises neither k nor l.
"""

from dataclasses import replace
from itertools import product

import numpy as np
from scipy.stats import entropy

import anonpaper as ap
from anonpaper.groups import Entries

_CLUSTERS, _GROUPS, _ROUNDS = 10, 4, 5  # of users, of values that are generalized, of turns
_BUDGET = 0.3  # distance of a cluster and the published one, by the mean distance of two clusters
_MOVES = (-3, -2, -1, 1, 2, 3)  # values of the generalized attribute that a border passes
_ITERATIONS, _LEAST = 100, 1e-300  # of a channel; what divides and is taken a logarithm of


def hyobscure(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Obfuscate and generalize in turns, then group what results."""
    rng = np.random.default_rng(seed)
    of_row, distances = _user_clusters(m, rng)
    main = max(range(m.d), key=lambda j: (m.attributes[j].ordered, m.attributes[j].size))
    of_group, channels = _in_turns(m, main, of_row, distances, k)
    moved = m.codes[_draw(of_group, of_row, channels, rng)]
    moved[:, main] = m.codes[:, main]
    table = m.with_codes(dict(zip(m.qi, moved.T, strict=True)))
    p = ap.mondrian(table, k, l, diversity="distinct")
    rel = ap.shallow_generalize(table, p, hierarchies)
    by_row = [replace(column, index=column.index[rel.entries.of_row]) for column in rel.published]
    info = {"obfuscated": float((moved != m.codes).any(axis=1).mean())}
    p = ap.Partition(p.labels, info, f"HyObscure, k = {k}")
    return ap.Release(Entries.of(m, p), by_row, "obscure", p)


def mutual_information(joint: np.ndarray) -> float:
    """Return the mutual information of a joint distribution (or of counts), in nats."""
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return max(float(entropy(joint.ravel(), independent.ravel())), 0.0)


def _user_clusters(m: ap.Microdata, rng) -> tuple[np.ndarray, np.ndarray]:
    """Cluster the distinct tuples, weighted by rows; return clusters of rows and distances."""
    from sklearn.cluster import KMeans

    points = np.hstack([
        ((a.positions - a.positions[0]) / (a.width or 1.0))[codes][:, None]
        if a.ordered else np.eye(a.size)[codes] / np.sqrt(2)
        for a, codes in zip(m.attributes, m.cells.tuples.T, strict=True)
    ])  # fmt: skip
    means = KMeans(min(_CLUSTERS, len(points)), n_init=3, random_state=int(rng.integers(2**31)))
    centres = means.fit(points, sample_weight=m.cells.tuple_sizes).cluster_centers_
    gaps = np.sqrt(np.square(centres[:, None] - centres[None]).sum(axis=2))
    return means.labels_[m.cells.tuple_of_row], gaps


def _in_turns(m, main, of_row, distances, k) -> tuple[np.ndarray, np.ndarray]:
    """Improve channels and borders in turns; return the group of every row, and the channels."""
    codes, bound = m.codes[:, main], _BUDGET * distances.mean()

    def joints(of_group):
        """Rows of every group, and its joint distributions of value and cluster."""
        shape = of_group.max() + 1, m.sensitive_attribute.size, len(distances)
        counts = np.zeros(shape)
        np.add.at(counts, (of_group, m.sensitive_codes, of_row), 1)
        rows = counts.sum(axis=(1, 2), keepdims=True)
        return rows.ravel() / m.n, counts / np.maximum(rows, 1)

    def leaks_and_distorts(of_group, channels):
        found = np.zeros(2)
        for share, joint, channel in zip(*joints(of_group), channels, strict=True):
            moved = joint.sum(axis=0)[:, None] * channel * distances
            found += share * np.array([mutual_information(joint @ channel), moved.sum()])
        return found

    borders = np.unique(np.quantile(codes, np.arange(1, _GROUPS) / _GROUPS, method="higher"))
    best, channels = np.full(2, np.inf), None
    for turn in range(_ROUNDS + 1):
        of_group = np.searchsorted(borders, codes, side="right")
        renewed = [obfuscation_channel(joint, distances, bound) for joint in joints(of_group)[1]]
        found = leaks_and_distorts(of_group, renewed)
        if found[0] >= best[0] or turn == _ROUNDS:
            break
        best, channels, improved = found, renewed, None
        for border, move in product(range(len(borders)), _MOVES):
            candidate = borders.copy()
            candidate[border] += move
            groups = np.searchsorted(candidate, codes, side="right")
            if np.bincount(groups, minlength=len(candidate) + 1).min() >= k:
                found = leaks_and_distorts(groups, channels)
                if (found < best).all():
                    best, improved = found, candidate
        if improved is None:
            break
        borders = improved
    return of_group, channels


def obfuscation_channel(joint: np.ndarray, distances: np.ndarray, bound: float) -> np.ndarray:
    """Find the channel between clusters that leaks least within a bound on the distortion."""

    def fits(channel):
        return (joint.sum(axis=0)[:, None] * channel * distances).sum() <= bound

    best = np.eye(len(distances))
    if bound <= 0 or fits(free := _channel(joint, distances, 0.0)):
        return best if bound <= 0 else free
    low, high = 0.0, 1.0
    while high < 1e6 and not fits(_channel(joint, distances, high)):
        low, high = high, 4 * high
    for _ in range(15):
        middle = (low + high) / 2
        if fits(channel := _channel(joint, distances, middle)):
            best, high = channel, middle
        else:
            low = middle
    return best


def _channel(joint, distances, multiplier) -> np.ndarray:
    """Minimize I(Y; C') + multiplier·E[D] by exponentiated gradient steps."""
    given = joint / np.maximum(joint.sum(axis=0), _LEAST)  # p(y | c)
    prior = np.maximum(joint.sum(axis=1), _LEAST)[:, None]
    channel = np.exp(-multiplier * (distances - distances.min(axis=1, keepdims=True)))
    channel /= channel.sum(axis=1, keepdims=True)
    for _ in range(_ITERATIONS):
        published = joint @ channel  # p(y, c')
        share = published / np.maximum(published.sum(axis=0), _LEAST)
        # d I / d q(c'|c), per unit of p(c): sum_y p(y|c) ln(p(y|c') / p(y))
        gradient = given.T @ np.log(np.maximum(share, _LEAST) / prior) + multiplier * distances
        gradient -= gradient.min(axis=1, keepdims=True)
        stepped = channel * np.exp(-gradient)
        stepped /= stepped.sum(axis=1, keepdims=True)
        if np.abs(stepped - channel).max() < 1e-9:
            return stepped
        channel = stepped
    return channel


def _draw(of_group, of_row, channels, rng) -> np.ndarray:
    """Let every row draw a cluster, then a row of that cluster and its own group."""
    source = np.arange(len(of_row))
    for group, channel in enumerate(channels):
        rows = np.flatnonzero(of_group == group)
        by_cluster = [rows[of_row[rows] == c] for c in range(len(channel))]
        for c, members in enumerate(by_cluster):
            # A cluster without a row in this group has nothing to publish.
            chances = channel[c] * [len(r) > 0 for r in by_cluster]
            if len(members) == 0 or chances.sum() == 0:
                continue
            drawn = rng.choice(len(chances), len(members), p=chances / chances.sum())
            for target in np.unique(drawn[drawn != c]):  # who keeps the cluster keeps the data
                mine = members[drawn == target]
                source[mine] = rng.choice(by_cluster[target], len(mine))
    return source

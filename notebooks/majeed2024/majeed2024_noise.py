"""Two methods that majeed2024 compares its own with, and that publish noise: HyObscure and LoPub.

Neither promises k or l, so Mondrian groups what they publish.
"""

import warnings
from dataclasses import replace
from itertools import combinations, product

import networkx as nx
import numpy as np
import pandas as pd
from scipy.stats import entropy

import anonpaper as ap
from anonpaper.groups import Entries

_CLUSTERS, _GROUPS, _ROUNDS = 10, 4, 5  # of users, of values that are generalized, of turns
_BUDGET = 0.3  # distance of a cluster and the published one, by the mean distance of two clusters
_MOVES = (-3, -2, -1, 1, 2, 3)  # values of the generalized attribute that a border passes
_ITERATIONS, _LEAST = 100, 1e-300  # of a channel; what divides and is taken a logarithm of
_BITS, _HASHES, _BINS = 16, 2, 10  # least filter, bits that a value sets, intervals of a number
_FLIP = 0.5  # how probably a bit is replaced by a fair coin


def hyobscure(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Obfuscate and generalize in turns, then group what results.

    X. Han, Y. Yang, J. Wu, H. Xiong, TKDE 2023, and the facts of the authors' public code. Users
    are clustered by k-means; a channel between clusters that leaks least within a bound on the
    distortion and borders of the generalized attribute are improved in turns. Ours: the private
    attribute is the sensitive one, the generalized one the ordered one of most values; channels
    (row-stochastic) come from alternating minimization; Mondrian groups the result.
    """
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
    p = ap.Partition(p.labels, {}, f"HyObscure, k = {k}")
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
        counts = np.zeros((of_group.max() + 1, m.sensitive_attribute.size, len(distances)))
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


def lopub(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Draw a synthetic table under local differential privacy, and group it.

    X. Ren et al., TIFS 13(9), 2018, and the facts of a public companion code. Users randomize
    Bloom filters of their values; a Lasso estimates two-way distributions from counts of bits, and
    new rows are drawn from these. Ours: numbers in intervals, a spanning tree of information (Chow
    and Liu) for the junction tree, random hash functions, and Mondrian to group the rows.
    """
    rng = np.random.default_rng(seed)
    columns = {a.name: (a, codes) for a, codes in zip(m.attributes, m.codes.T, strict=True)}
    columns[m.sensitive] = m.sensitive_attribute, m.sensitive_codes
    bins = [_bins(attribute) for attribute, _ in columns.values()]
    sizes = [of_value.max() + 1 for of_value in bins]
    filters = [_filters(size, rng) for size in sizes]
    noisy = [
        randomized_bits(f[of_value[codes]], rng)
        for f, of_value, (_, codes) in zip(filters, bins, columns.values(), strict=True)
    ]
    graph = nx.Graph()
    for i, j in combinations(range(len(sizes)), 2):
        joint = estimate_joint(noisy[i], noisy[j], filters[i], filters[j])
        graph.add_edge(i, j, weight=mutual_information(joint), joint={i: joint, j: joint.T})
    # Columns are drawn along the maximum spanning tree, from the sensitive one.
    tree, root = nx.maximum_spanning_tree(graph), len(sizes) - 1
    beside = tree.edges[root, next(iter(tree.neighbors(root)))]["joint"][root]
    drawn = {root: rng.choice(sizes[root], m.n, p=beside.sum(axis=1))}
    for parent, child in nx.bfs_edges(tree, root, sort_neighbors=sorted):
        drawn[child] = _draw_given(drawn[parent], tree.edges[parent, child]["joint"][parent], rng)
    codes = {name: _within_bins(drawn[i], bins[i], rng) for i, name in enumerate(columns)}
    domains = [a for a, _ in columns.values() if not a.numeric]
    kinds = {a.name: pd.CategoricalDtype(list(a.values), a.ordered) for a in domains}
    frame = m.with_codes(codes).frame.astype(kinds)
    table = m.replace(frame=frame, synthetic=np.ones(m.n, dtype=bool))
    p = ap.mondrian(table, k, l, diversity="distinct")
    return ap.shallow_generalize(table, p, hierarchies)


def _bins(attribute) -> np.ndarray:
    """Return the bin of every value: itself, or an interval of numbers."""
    if not attribute.numeric or attribute.size <= _BINS:
        return np.arange(attribute.size)
    edges = np.quantile(attribute.positions, np.arange(1, _BINS) / _BINS)
    return np.unique(np.searchsorted(edges, attribute.positions), return_inverse=True)[1]


def _filters(size: int, rng: np.random.Generator) -> np.ndarray:
    """Bloom filters of the values, all different; a bit and a half for each of many values."""
    bits = max(_BITS, size + size // 2)
    while True:
        filters = np.zeros((size, bits), dtype=np.uint8)
        places = rng.random((size, bits)).argsort(axis=1)[:, :_HASHES]
        np.put_along_axis(filters, places, 1, axis=1)
        if len(np.unique(filters, axis=0)) == size:
            return filters


def randomized_bits(bits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Replace each bit by a fair coin with probability 1/2."""
    replaced = rng.random(bits.shape, dtype=np.float32) < _FLIP
    coins = rng.integers(0, 2, bits.shape, dtype=np.uint8)
    return np.where(replaced, coins, bits).astype(np.float32)


def estimate_joint(first, second, first_filters, second_filters) -> np.ndarray:
    """Estimate the joint distribution of two attributes from randomized bits."""
    from sklearn.linear_model import Lasso

    # E[noisy] = (1 - flip)·true + flip/2, for each of two independent bits.
    product = first.T @ second / len(first)
    product -= _FLIP / 2 * (first.mean(axis=0)[:, None] + second.mean(axis=0)) - _FLIP**2 / 4
    target = product / (1 - _FLIP) ** 2
    design = np.einsum("ia,jb->abij", first_filters, second_filters)
    design = design.reshape(target.size, -1).astype(float)
    found = Lasso(1e-6, positive=True, fit_intercept=False, max_iter=200, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an estimate need not have converged to the last digit
        joint = found.fit(design, target.ravel()).coef_
    joint = joint if joint.sum() > 0 else np.ones(len(joint))
    return (joint / joint.sum()).reshape(len(first_filters), len(second_filters))


def _draw_given(parent: np.ndarray, joint: np.ndarray, rng) -> np.ndarray:
    """Draw a child's value for each parent's; a parent of no mass gets the child's marginal."""
    rows = joint.sum(axis=1, keepdims=True)
    given = np.where(rows > 0, joint / np.where(rows > 0, rows, 1), joint.sum(axis=0))
    cumulative = np.cumsum(given, axis=1)
    place = rng.random(len(parent))[:, None] * cumulative[parent, -1:] >= cumulative[parent]
    return np.minimum(place.sum(axis=1), joint.shape[1] - 1)


def _within_bins(column: np.ndarray, of_value: np.ndarray, rng) -> np.ndarray:
    """Draw a value of the bin, evenly."""
    first = np.searchsorted(of_value, np.arange(of_value.max() + 1))
    size = np.bincount(of_value)
    return first[column] + np.floor(rng.random(len(column)) * size[column]).astype(np.int64)

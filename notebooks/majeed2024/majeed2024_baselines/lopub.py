"""LoPub: synthetic rows from locally randomized ones.

X. Ren et al., TIFS 13(9), 2018, and the facts of a public companion code. Users randomize Bloom
filters of their values; a Lasso estimates two-way distributions from counts of bits, and new rows
are drawn from these. Simplified: numbers in intervals, a spanning tree of mutual information
(Chow and Liu) for the junction tree, random hash functions. All rows are synthetic, and Mondrian
groups them, since the method knows neither k nor l.
"""

import warnings
from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd

import anonpaper as ap
from majeed2024_baselines.hyobscure import mutual_information

_BITS, _HASHES, _BINS = 16, 2, 10  # least filter, bits that a value sets, intervals of a number
_FLIP = 0.5  # how probably a bit is replaced by a fair coin


def lopub(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Draw a synthetic table under local differential privacy, and group it."""
    table = _synthetic_table(m, np.random.default_rng(seed))
    p = ap.mondrian(table, k, l, diversity="distinct")
    return ap.shallow_generalize(table, p, hierarchies)


def _synthetic_table(m: ap.Microdata, rng: np.random.Generator) -> ap.Microdata:
    """Draw as many synthetic rows as the table has."""
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
    return m.replace(frame=frame, synthetic=np.ones(m.n, dtype=bool))


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

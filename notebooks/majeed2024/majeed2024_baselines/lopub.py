"""LoPub: synthetic rows from locally randomized ones.

X. Ren et al., TIFS 13(9), 2018, and the facts of a public companion code. Users randomize Bloom
filters of their values; a Lasso estimates two-way distributions from counts of bits, and new rows
are drawn from these. Simplified: numbers in intervals, a spanning tree of mutual information
(Chow and Liu) for the junction tree, random hash functions. All rows are synthetic, and Mondrian
groups them, since the method knows neither k nor l.
"""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
import pandas as pd

from anonpaper.microdata import Microdata
from anonpaper.partition.mondrian import mondrian
from anonpaper.publish import Release, shallow_generalize
from anonpaper.randomness import generator
from majeed2024_baselines.simple import mutual_information

_BITS, _HASHES, _BINS = 16, 2, 10  # least filter, bits that a value sets, intervals of a number


def lopub(m: Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> Release:
    """Draw a synthetic table under local differential privacy, and group it."""
    table = lopub_table(m, seed=seed)
    return shallow_generalize(table, mondrian(table, k, l, diversity="distinct"), hierarchies)


def lopub_table(m: Microdata, *, flip: float = 0.5, seed=0) -> Microdata:
    """Draw as many synthetic rows as the table has."""
    rng = generator(seed)
    attributes = [*m.attributes, m.sensitive_attribute]
    binned, bin_maps = [], []
    for attribute, codes in zip(attributes, [*m.codes.T, m.sensitive_codes], strict=True):
        of_value = np.arange(attribute.size)
        if attribute.numeric and attribute.size > _BINS:
            of_value = np.searchsorted(
                np.quantile(attribute.positions, np.arange(1, _BINS) / _BINS), attribute.positions
            )
            _, of_value = np.unique(of_value, return_inverse=True)
        bin_maps.append(of_value)
        binned.append(of_value[codes])
    sizes = [int(of_value.max()) + 1 for of_value in bin_maps]
    filters = [_filters(size, rng) for size in sizes]
    noisy = [
        randomized_bits(f[codes], flip, rng) for f, codes in zip(filters, binned, strict=True)
    ]
    joints = {
        (i, j): estimate_joint(noisy[i], noisy[j], filters[i], filters[j], flip)
        for i in range(len(sizes)) for j in range(i + 1, len(sizes))
    }  # fmt: skip
    drawn = _draw_from_tree(joints, sizes, m.n, rng)
    codes = [
        _within_bins(column, of_value, rng)
        for column, of_value in zip(drawn, bin_maps, strict=True)
    ]
    frame = pd.DataFrame({
        a.name: _column(a, column) for a, column in zip(attributes, codes, strict=True)
    })  # fmt: skip
    return m.replace(frame=frame, synthetic=np.ones(m.n, dtype=bool))


def randomized_bits(bits: np.ndarray, flip: float, rng: np.random.Generator) -> np.ndarray:
    """Replace each bit by a fair coin with probability `flip`."""
    replaced = rng.random(bits.shape, dtype=np.float32) < flip
    coins = rng.integers(0, 2, bits.shape, dtype=np.uint8)
    return np.where(replaced, coins, bits).astype(np.float32)


def estimate_joint(
    first: np.ndarray, second: np.ndarray, first_filters: np.ndarray,
    second_filters: np.ndarray, flip: float,
) -> np.ndarray:  # fmt: skip
    """Estimate the joint distribution of two attributes from randomized bits."""
    from sklearn.linear_model import Lasso

    sizes = len(first_filters), len(second_filters)
    if flip == 1:
        return np.full(sizes, 1 / np.prod(sizes))
    keep = 1 - flip
    # E[noisy] = keep·true + flip/2, for each of two independent bits.
    product = first.T @ second / len(first)
    product -= flip / 2 * (first.mean(axis=0)[:, None] + second.mean(axis=0)) - flip**2 / 4
    target = product / keep**2
    design = np.einsum("ia,jb->abij", first_filters, second_filters)
    design = design.reshape(target.size, -1).astype(float)
    found = Lasso(1e-6, positive=True, fit_intercept=False, max_iter=200, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an estimate need not have converged to the last digit
        joint = found.fit(design, target.ravel()).coef_.reshape(sizes)
    return joint / joint.sum() if joint.sum() > 0 else np.full(sizes, 1 / np.prod(sizes))


def _filters(size: int, rng: np.random.Generator) -> np.ndarray:
    """Bloom filters of the values, all different; a bit and a half for each of many values."""
    bits = max(_BITS, size + size // 2)
    while True:
        filters = np.zeros((size, bits), dtype=np.uint8)
        places = rng.random((size, bits)).argsort(axis=1)[:, :_HASHES]
        np.put_along_axis(filters, places, 1, axis=1)
        if len(np.unique(filters, axis=0)) == size:
            return filters


def _draw_from_tree(joints, sizes, n, rng) -> list[np.ndarray]:
    """Draw columns along the maximum spanning tree of mutual information, from the last column."""
    graph = nx.Graph()
    graph.add_nodes_from(range(len(sizes)))
    for (i, j), joint in joints.items():
        graph.add_edge(i, j, weight=mutual_information(joint))
    tree = nx.maximum_spanning_tree(graph)
    root = len(sizes) - 1
    columns: list = [None] * len(sizes)
    beside = _joint_of(joints, root, next(iter(tree.neighbors(root))))
    columns[root] = rng.choice(sizes[root], n, p=beside.sum(axis=1))
    for parent, child in nx.bfs_edges(tree, root, sort_neighbors=sorted):
        joint = _joint_of(joints, parent, child)
        columns[child] = _draw_given(columns[parent], joint, rng)
    return columns


def _joint_of(joints, i, j) -> np.ndarray:
    return joints[i, j] if i < j else joints[j, i].T


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


def _column(attribute, codes: np.ndarray):
    values = attribute.values[codes]
    if attribute.numeric:
        return pd.to_numeric(values)
    return pd.Categorical(values, list(attribute.values), ordered=attribute.ordered)

"""Loss and bias of dewri2009 (sections 3.1, 3.2 and 4), evaluated and recorded for searches."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonpaper.compiled import inner, loop, number_keys
from anonpaper.errors import ParameterError, check_integer, check_number, check_weights
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.recoding import Recoding

EPSILON = 1e-6  # the "very small positive number" of the achievement function


def penalty(held: np.ndarray, size: np.ndarray, weight: np.ndarray = 1.0) -> np.ndarray:
    """Return the NWP of a value published as one of `held` of `size` values, 0 to `weight`."""
    # the printed penalty divides by zero for an attribute of one value, which cannot lose
    return weight * (held - 1) / np.maximum(size - 1, 1)


def dispersion(smallest: np.ndarray, largest: np.ndarray, n: int) -> np.ndarray:
    """Return NECD of n rows by their smallest and largest equivalence class, in [0, 1)."""
    return (largest - smallest) / max(n - 1, 1)


def achievement(nwp: np.ndarray, necd: np.ndarray, preference: tuple[float, float]) -> np.ndarray:
    """Return ach of points (NWP, NECD) for a preferred point, all in [0, 1] (section 4)."""
    w = loss_weight(preference)
    return np.maximum(w * (nwp + EPSILON), (1 - w) * (necd + EPSILON))


def loss_weight(preference: tuple[float, float]) -> float:
    """Return w, the weight of loss in ach; 1 - w is the weight of bias (section 4)."""
    of_loss, of_bias = (1 / (value + EPSILON) for value in preference)
    return of_loss / (of_loss + of_bias)


def check_preference(preference: Sequence[float]) -> tuple[float, float]:
    """Return the preference point as two floats; ParameterError unless both are in [0, 1]."""
    try:
        loss, bias = (check_number("preference", value, 0, 1) for value in preference)
    except (TypeError, ValueError):
        wanted = "preference must be two numbers (NWP, NECD) in [0, 1]"
        raise ParameterError(f"{wanted}, got {preference!r}") from None
    return loss, bias


def weight_vector(names: Sequence, weights: Mapping[object, float] | None) -> np.ndarray:
    """Return the weights of attributes: equal ones, or those given (default 0); sum 1."""
    if weights is None:
        return np.full(len(names), 1 / len(names))
    vector = check_weights(names, weights, left_out=0.0)
    if abs(vector.sum() - 1) > 1e-9:
        raise ParameterError(f"weights must sum to 1, got {vector.sum():.12g}: {dict(weights)}")
    return vector


class Evaluation(NamedTuple):
    """The effects of recodings on a table, one entry per recoding."""

    nwp: np.ndarray
    necd: np.ndarray
    smallest: np.ndarray  # rows of the smallest equivalence class: the effective k
    largest: np.ndarray


class Table(NamedTuple):
    """A table for compiled loops: d attributes of at most S values, c distinct QI tuples."""

    sizes: np.ndarray  # (d,)
    codes: np.ndarray  # (d, c)
    rows: np.ndarray  # (c,)
    value_rows: np.ndarray  # (d, S)
    penalty: np.ndarray  # (d,), of a row per value that its sub-domain holds beyond the first


class Evaluator:
    """Evaluates recodings of one table, given as chromosomes; O(c·d) each for c QI tuples."""

    def __init__(self, m: Microdata, weights: Mapping[object, float] | None = None) -> None:
        self.n = check_microdata(m).n
        sizes = np.array([attribute.size for attribute in m.attributes])
        self.n_bits = int((sizes - 1).sum())
        codes, rows = np.ascontiguousarray(m.cells.tuples.T), m.cells.tuple_sizes
        value_rows = np.array([np.bincount(of, rows, sizes.max()) for of in codes], np.int64)
        unit_penalty = penalty(2, sizes, weight_vector(m.qi, weights))
        self.table = Table(sizes, codes, rows, value_rows, unit_penalty)

    def evaluate(self, bits: np.ndarray) -> Evaluation:
        """Evaluate chromosomes, shape (p, n_bits), as :meth:`Recoding.encode` gives them."""
        total, smallest, largest = _evaluate(np.ascontiguousarray(bits, bool), self.table).T
        necd = dispersion(smallest, largest, self.n)
        return Evaluation(total / self.n, necd, smallest.astype(np.int64), largest)


class Archive:
    """Evaluates chromosomes for `preference_search` and keeps the results.

    ``evaluations`` counts repeated ones too, ``least_ach`` is the least ach of feasible ones.
    """

    def __init__(self, m: Microdata, k: int, preference: tuple, weights: Mapping | None) -> None:
        self.k = check_integer("k", k, 1, check_microdata(m).n)
        self.attributes, self.preference = m.attributes, check_preference(preference)
        self.evaluator = Evaluator(m, weights)
        self.evaluations, self.least_ach = 0, np.inf
        self._place: dict[bytes, int] = {}
        kinds = {"evaluation": int, "nwp": float, "necd": float, "effective_k": int, "ach": float,
                 "prefdev": float, "bits": (bool, (self.evaluator.n_bits,))}  # fmt: skip
        self._record = np.zeros(1, [*kinds.items()])

    def look_up(self, bits: np.ndarray) -> np.ndarray:
        """Return the places of chromosomes, shape (p, n_bits), and evaluate new ones."""
        bits, known = np.asarray(bits, dtype=bool), len(self)
        places = np.array([self._place.setdefault(key, len(self)) for key in _keys(bits)])
        new = np.unique(places, return_index=True)[1]
        new = new[places[new] >= known]
        if len(new):
            nwp, necd, k, _ = self.evaluator.evaluate(bits[new])
            ach = achievement(nwp, necd, self.preference)
            prefdev = nwp + necd - self.preference[0] - self.preference[1]
            if len(self) > len(self._record):
                self._record = np.resize(self._record, 2 * len(self))
            columns = (new + self.evaluations + 1, nwp, necd, k, ach, prefdev, bits[new])
            for name, values in zip(self._record.dtype.names, columns, strict=True):
                self.values(name)[known:] = values
            self.least_ach = min(self.least_ach, ach[k >= self.k].min(initial=np.inf))
        self.evaluations += len(bits)
        return places

    def places(self, bits: np.ndarray) -> np.ndarray:
        """Return the places of chromosomes, -1 if they were not evaluated yet."""
        return np.array([self._place.get(key, -1) for key in _keys(bits)])

    def __len__(self) -> int:
        return len(self._place)

    def values(self, name: str) -> np.ndarray:
        """Return one column of :meth:`frame`; ``bits`` as bool, shape (distinct, n_bits)."""
        return self._record[name][: len(self)]

    def frame(self, places: np.ndarray | slice = slice(None)) -> pd.DataFrame:
        """Return distinct solutions, by default all: ``evaluation`` (the first), values, bits."""
        columns = {name: self.values(name)[places] for name in self._record.dtype.names}
        columns["bits"] = [row.tobytes().decode() for row in columns["bits"] + np.uint8(ord("0"))]
        return pd.DataFrame(columns)

    def recoding(self, solutions: pd.DataFrame, algorithm: str, **info) -> Recoding:
        """Return the chosen solution; its info has its values, more entries, all solutions."""
        solution = choose(solutions, self.k, self.preference)
        r = Recoding.decode(self.attributes, solution["bits"])
        r.algorithm = f"{algorithm}, k = {self.k}"
        r.info = {name: float(solution[name]) for name in ("nwp", "necd", "ach", "prefdev")}
        r.info |= {"effective_k": int(solution["effective_k"]), "evaluations": self.evaluations}
        r.info |= {**info, "evaluated": self.frame()}
        return r


def _keys(bits: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in np.packbits(bits, axis=1)]


def choose(solutions: pd.DataFrame, k: int, preference: tuple[float, float]) -> pd.Series | None:
    """Return the feasible solution of least ach, or None if none is feasible.

    Ties go to the smaller pref_dev, then to the larger effective k, then to the first (dewri2009,
    sections 4 and 5.3). `solutions` has columns ``nwp``, ``necd`` and ``effective_k``.
    """
    feasible = solutions[solutions["effective_k"] >= k]
    nwp, necd, preference = feasible["nwp"], feasible["necd"], check_preference(preference)
    prefdev = nwp + necd - preference[0] - preference[1]
    order = np.lexsort((-feasible["effective_k"], prefdev, achievement(nwp, necd, preference)))
    return feasible.iloc[order[0]] if len(order) else None


def non_dominated(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return which points no other dominates, both coordinates minimized; equal ones all stay."""
    pairs = np.column_stack([first, second])
    points, number = np.unique(pairs, axis=0, return_inverse=True)
    # In the order of the first coordinate, the second one must fall below all before.
    least = np.minimum.accumulate(np.r_[np.inf, points[:, 1]])[:-1]
    return (points[:, 1] < least)[number.reshape(-1)]


@loop
def _evaluate(bits, table):
    """Total penalty, smallest and largest class of every chromosome."""
    found = np.empty((len(bits), 3))
    for p in range(len(bits)):
        maps = sub_domains(bits[p], table.sizes)
        key, span = class_keys(maps, table.codes, table.sizes)
        if span > 4 * len(key):
            span = number_keys(key)
        rows = np.zeros(span, np.int64)
        _count(key, table.rows, rows)
        found[p, 0] = _penalty(maps, table)
        largest = rows.max()
        found[p, 1], found[p, 2] = np.where(rows > 0, rows, largest).min(), largest
    return found


@loop
def sub_domains(bits, sizes):
    """The number of the sub-domain of each attribute's values."""
    maps, bit = np.zeros((len(sizes), sizes.max()), np.int64), 0
    for j in range(len(sizes)):
        end = bit + sizes[j] - 1
        maps[j, 1 : sizes[j]] = np.cumsum(bits[bit:end])
        bit = end
    return maps


@loop
def _penalty(maps, table):
    """Add up the penalties of all rows. Sub-domains without rows count too."""
    total = 0.0
    for j in range(len(table.sizes)):
        start, rows = 0, 0
        for end in range(1, table.sizes[j] + 1):
            rows += table.value_rows[j, end - 1]
            if end == table.sizes[j] or maps[j, end] != maps[j, start]:
                total += table.penalty[j] * rows * (end - start - 1)
                start, rows = end, 0
    return total


@inner
def _count(key, weights, rows):
    """Add the weights of keys to the rows of each: bincount, which compiles to slow code."""
    for i in range(len(key)):
        rows[key[i]] += weights[i]


_count.interpreted = lambda key, weights, rows: np.add.at(rows, key, weights)


@loop
def class_keys(maps, codes, sizes):
    """A key per tuple, equal where all attributes are, and the span [0, s) of keys."""
    key, span = np.zeros(codes.shape[1], np.int64), 1
    for j in range(len(sizes)):
        parts = maps[j, sizes[j] - 1] + 1
        if parts > 1:
            if span > 2**62 // parts:
                span = number_keys(key)
            key *= parts
            key += maps[j][codes[j]]
            span *= parts
    return key, span

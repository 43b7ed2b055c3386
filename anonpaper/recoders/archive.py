"""The record of a search over recodings: every chromosome is evaluated once, none is forgotten."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from anonpaper.errors import BudgetExceededError, check_integer
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.preference_point import achievement, check_preference, preference_deviation
from anonpaper.recoders.objectives import Evaluator
from anonpaper.recoding import Recoding

__all__ = ["Archive", "choose", "non_dominated"]


class Archive:
    """Evaluates chromosomes for one optimization problem and keeps the results.

    k, from 1 to n, preference and weights are those of
    :func:`~anonpaper.recoders.preference_search.preference_search`, which also tells the errors.
    """

    def __init__(
        self,
        m: Microdata,
        k: int,
        preference: tuple[float, float],
        weights: Mapping[object, float] | None,
    ) -> None:
        self.k = check_integer("k", k, 1, check_microdata(m).n)
        self.attributes = m.attributes
        self.preference = check_preference(preference)
        self.evaluator = Evaluator(m, weights)
        self.evaluations = 0  # chromosomes asked for, repetitions included
        self.least_ach = np.nan  # of the feasible chromosomes so far
        self._place: dict[bytes, int] = {}
        numbers = {"evaluation": np.int64, "nwp": float, "necd": float, "effective_k": np.int64}
        numbers |= {"ach": float, "prefdev": float}
        bits = ("bits", bool, (self.evaluator.n_bits,))
        self._record = np.zeros(1, [*numbers.items(), bits])  # with room to grow

    def look_up(self, bits: np.ndarray) -> np.ndarray:
        """Return the places of chromosomes, shape (p, n_bits), and evaluate those that are new."""
        bits = np.asarray(bits, dtype=bool)
        keys, new = _keys(bits), []
        for number, key in enumerate(keys):
            if key not in self._place:
                self._place[key] = len(self._place)
                new.append(number)
        if new:
            self._evaluate(bits[new], np.array(new) + self.evaluations + 1)
        self.evaluations += len(bits)
        return np.array([self._place[key] for key in keys], dtype=np.int64)

    def places(self, bits: np.ndarray) -> np.ndarray:
        """Return the places of chromosomes that were evaluated before."""
        return np.array([self._place[key] for key in _keys(bits)], dtype=np.int64)

    def unseen(self, bits: np.ndarray) -> np.ndarray:
        """Return those of some distinct chromosomes that were never evaluated."""
        return bits[[key not in self._place for key in _keys(bits)]]

    def feasible_ach(self, bits: np.ndarray) -> float:
        """Return the ach of one chromosome, infinite where it is not k-anonymous."""
        (place,) = self.look_up(bits[None])
        is_feasible = self.values("effective_k")[place] >= self.k
        return float(self.values("ach")[place]) if is_feasible else np.inf

    def __len__(self) -> int:
        return len(self._place)

    def values(self, name: str) -> np.ndarray:
        """Return one column of :meth:`frame`; ``bits`` as bool, shape (distinct, n_bits)."""
        return self._record[name][: len(self)]

    def frame(self, places: np.ndarray | None = None) -> pd.DataFrame:
        """Return distinct solutions, all by default, as a tidy table.

        ``evaluation`` is when a solution was first evaluated, from 1. ``bits`` are zeros and
        ones, for :meth:`Recoding.decode`.
        """
        record = self._record[: len(self)] if places is None else self._record[places]
        columns = {name: record[name] for name in record.dtype.names}
        return pd.DataFrame(columns | {"bits": _as_text(record["bits"])})

    def recoding(self, solutions: pd.DataFrame, algorithm: str, **info) -> Recoding:
        """Return the chosen solution, with its values and what else is given as its info."""
        solution = choose(solutions, self.k, self.preference)
        if solution is None:
            raise BudgetExceededError(
                f"no {self.k}-anonymous recoding among the {len(self)} that were looked at "
                f"(largest effective k: {self.values('effective_k').max()}): allow more "
                'evaluations, or use start="graded"'
            )
        r = Recoding.decode(self.attributes, solution["bits"])
        r.algorithm = f"{algorithm}, k = {self.k}"
        r.info = {name: float(solution[name]) for name in ("nwp", "necd", "ach", "prefdev")}
        r.info |= {"effective_k": int(solution["effective_k"]), **info}
        return r

    def _evaluate(self, bits: np.ndarray, evaluation: np.ndarray) -> None:
        found = self.evaluator.evaluate(bits)
        columns = {
            "evaluation": evaluation,
            "nwp": found.nwp,
            "necd": found.necd,
            "effective_k": found.smallest,
            "ach": achievement(found.nwp, found.necd, self.preference),
            "prefdev": preference_deviation(found.nwp, found.necd, self.preference),
            "bits": bits,
        }
        if len(self) > len(self._record):
            self._record = np.resize(self._record, 2 * len(self))
        for name, values in columns.items():
            self.values(name)[len(self) - len(bits) :] = values
        feasible = found.smallest >= self.k
        if feasible.any():
            self.least_ach = float(np.fmin(self.least_ach, columns["ach"][feasible].min()))


def choose(solutions: pd.DataFrame, k: int, preference: tuple[float, float]) -> pd.Series | None:
    """Return the feasible solution of least ach, or None if none is feasible.

    Ties go to the smaller pref_dev, then to the larger effective k, then to the first
    (dewri2009, sections 4 and 5.3). k and the preference need not be those of the search that
    found the solutions, a table with columns ``nwp``, ``necd`` and ``effective_k``.

    Examples
    --------
    >>> table = pd.DataFrame({"nwp": [0.1, 0.3], "necd": [0.1, 0.1], "effective_k": [1, 4]})
    >>> float(choose(table, k=2, preference=(0.2, 1.0))["nwp"])
    0.3
    """
    preference = check_preference(preference)
    feasible = solutions[solutions["effective_k"] >= k]
    if feasible.empty:
        return None
    nwp, necd = feasible["nwp"].to_numpy(), feasible["necd"].to_numpy()
    ach = achievement(nwp, necd, preference)
    prefdev = preference_deviation(nwp, necd, preference)
    return feasible.iloc[np.lexsort((-feasible["effective_k"], prefdev, ach))[0]]


def non_dominated(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return which points no other point dominates, both coordinates to be minimized; O(p log p).

    Equal points do not dominate each other: all of them stay.

    Examples
    --------
    >>> non_dominated(np.array([1, 2, 2, 3]), np.array([3, 1, 2, 1])).tolist()
    [True, True, False, False]
    """
    pairs = np.column_stack([first, second])
    points, number = np.unique(pairs, axis=0, return_inverse=True)
    # In the order of the first coordinate, the second one must fall below all before.
    least_before = np.minimum.accumulate(np.r_[np.inf, points[:-1, 1]])
    return (points[:, 1] < least_before[: len(points)])[number.reshape(-1)]


def _keys(bits: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in np.packbits(bits, axis=1)]


def _as_text(bits: np.ndarray) -> list[str]:
    text = (bits.astype(np.uint8) + ord("0")).tobytes().decode("ascii")
    width = bits.shape[1]
    return [text[i * width : (i + 1) * width] for i in range(len(bits))]

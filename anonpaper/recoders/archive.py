"""The record of a search over recodings: every chromosome is evaluated once, none is forgotten."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from anonpaper.errors import check_integer
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.preference import achievement, check_preference, preference_deviation
from anonpaper.recoders.objectives import Evaluator
from anonpaper.recoding import Recoding

__all__ = ["Archive", "choose", "non_dominated", "recoding_of"]


class Archive:
    """Evaluates chromosomes for one optimization problem and keeps what it has seen.

    Parameters
    ----------
    m : Microdata
        The table.
    k : int
        k_pref, from 1 to n.
    preference : (float, float)
        The preference point (NWP, NECD).
    weights : mapping of attribute name to float, optional
        Weights of the attributes.

    Raises
    ------
    ParameterError
        A parameter is out of its range.
    """

    def __init__(
        self,
        m: Microdata,
        k: int,
        preference: tuple[float, float],
        weights: Mapping[object, float] | None,
    ) -> None:
        self.k = check_integer("k", k, 1, check_microdata(m).n)
        self.preference = check_preference(preference)
        self.evaluator = Evaluator(m, weights)
        self.evaluations = 0  # chromosomes asked for, repetitions included
        self.least_ach = np.nan  # of the feasible chromosomes so far
        self._place: dict[bytes, int] = {}
        self._columns: dict[str, np.ndarray] = {}  # with room to grow

    def look_up(self, bits: np.ndarray) -> np.ndarray:
        """Return the places of chromosomes in the record, evaluating those that are new.

        Parameters
        ----------
        bits : array of bool, shape (p, n_bits)

        Returns
        -------
        numpy.ndarray, shape (p,), dtype int64
        """
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

    def __len__(self) -> int:
        return len(self._place)

    def values(self, name: str) -> np.ndarray:
        """Return one column of :meth:`frame`; ``bits`` as bool, shape (distinct, n_bits)."""
        return self._columns[name][: len(self)]

    def frame(self, places: np.ndarray | None = None) -> pd.DataFrame:
        """Return distinct solutions as a tidy table.

        Parameters
        ----------
        places : array of int, optional
            Which ones; all by default.

        Returns
        -------
        pandas.DataFrame
            Columns ``evaluation`` (when it was first evaluated, from 1), ``nwp``, ``necd``,
            ``effective_k``, ``ach``, ``prefdev`` and ``bits`` (zeros and ones, for
            :meth:`Recoding.decode`).
        """
        places = np.arange(len(self)) if places is None else np.asarray(places)
        columns = {name: self.values(name)[places] for name in self._columns}
        return pd.DataFrame(columns | {"bits": _as_text(columns["bits"])})

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
        for name, values in columns.items():
            self._append(name, values)
        feasible = columns["effective_k"] >= self.k
        if feasible.any():
            self.least_ach = float(np.fmin(self.least_ach, columns["ach"][feasible].min()))

    def _append(self, name: str, values: np.ndarray) -> None:
        """Put new values at the end of a column, whose room doubles where there is none left."""
        column = self._columns.get(name, values[:0])
        if len(column) < len(self):
            room = np.empty((max(2 * len(column), len(self)), *values.shape[1:]), values.dtype)
            room[: len(column)] = column
            self._columns[name] = column = room
        column[len(self) - len(values) : len(self)] = values


def choose(solutions: pd.DataFrame, k: int, preference: tuple[float, float]) -> pd.Series | None:
    """Return the feasible solution of least ach, or None if none is feasible.

    Ties go to the smaller pref_dev, then to the larger effective k, then to the first
    (dewri2009, sections 4 and 5.3). Neither k nor the preference need be those of the search that
    found the solutions: a data publisher can choose otherwise.

    Parameters
    ----------
    solutions : pandas.DataFrame
        With columns ``nwp``, ``necd`` and ``effective_k``, as in the ``info`` of a search.
    k : int
        The effective k asked for.
    preference : (float, float)
        The preference point (NWP, NECD), each in [0, 1].

    Examples
    --------
    >>> table = pd.DataFrame({"nwp": [0.1, 0.3], "necd": [0.1, 0.1], "effective_k": [1, 4]})
    >>> float(choose(table, k=2, preference=(0.2, 1.0))["nwp"])
    0.3
    """
    preference = check_preference(preference)
    feasible = np.flatnonzero(solutions["effective_k"].to_numpy() >= k)
    if len(feasible) == 0:
        return None
    nwp, necd, effective_k = (
        solutions[name].to_numpy()[feasible] for name in ("nwp", "necd", "effective_k")
    )
    ach = achievement(nwp, necd, preference)
    prefdev = preference_deviation(nwp, necd, preference)
    return solutions.iloc[feasible[np.lexsort((-effective_k, prefdev, ach))[0]]]


def recoding_of(m: Microdata, solution: pd.Series, algorithm: str, **info) -> Recoding:
    """Return a solution as a Recoding whose info holds its values and what else is given."""
    r = Recoding.decode(m.attributes, solution["bits"])
    r.algorithm = algorithm
    r.info = {name: float(solution[name]) for name in ("nwp", "necd", "ach", "prefdev")}
    r.info |= {"effective_k": int(solution["effective_k"]), **info}
    return r


def non_dominated(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return which points no other point dominates, both coordinates to be minimized.

    Equal points do not dominate each other: all of them stay.

    Parameters
    ----------
    first, second : array of float, shape (p,)

    Returns
    -------
    numpy.ndarray, shape (p,), dtype bool

    Notes
    -----
    O(p log p): in the order of the first coordinate a point is dominated iff its second is above
    the least so far, or equals it at a larger first coordinate.

    Examples
    --------
    >>> non_dominated(np.array([1, 2, 2, 3]), np.array([3, 1, 2, 1])).tolist()
    [True, True, False, False]
    """
    order = np.lexsort((second, first))
    sorted_first, sorted_second = first[order], second[order]
    stays = np.zeros(len(order), dtype=bool)
    least, least_at = np.inf, None
    for i in range(len(order)):
        equal = sorted_second[i] == least and sorted_first[i] == least_at
        if sorted_second[i] < least or equal:
            stays[order[i]] = True
            least, least_at = sorted_second[i], sorted_first[i]
    return stays


def _keys(bits: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in np.packbits(bits, axis=1)]


def _as_text(bits: np.ndarray) -> list[str]:
    text = (bits.astype(np.uint8) + ord("0")).tobytes().decode("ascii")
    width = bits.shape[1]
    return [text[i * width : (i + 1) * width] for i in range(len(bits))]

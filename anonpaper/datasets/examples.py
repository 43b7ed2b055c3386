"""The papers' worked examples as tables, small enough to follow by eye."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from anonpaper.constraints import DiversityConstraint
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata


def _example(file: str, paper: str, **orders: list) -> Microdata:
    kinds = {name: pd.CategoricalDtype(order, True) for name, order in orders.items()}
    frame = pd.read_csv(Path(__file__).with_name(file), index_col=0).astype(kinds)
    *qi, sensitive = frame
    return Microdata(frame, qi, sensitive, origin=f"running example of {paper}")


def hospital() -> Microdata:
    """Return the running example of xiao2010 (Table 1), reconstructed: ten patients by name."""
    age, education = ["<30", "[30, 50)", ">=50"], ["High school", "Bachelor", "Master"]
    return _example("hospital.csv", "xiao2010, reconstructed", Age=age, Education=education)


def hospital_two_anonymous() -> Partition:
    """Return the grouping of Table 2 of xiao2010: 2-anonymous, but Adam and Bob share HIV."""
    return Partition([0, 0, 1, 1, 2, 2, 2, 2, 3, 3], algorithm="Table 2 of xiao2010")


def hospital_two_diverse() -> Partition:
    """Return the grouping of Table 3 of xiao2010: 2-diverse with 8 stars."""
    return Partition([0, 0, 0, 0, 1, 1, 1, 1, 2, 2], algorithm="Table 3 of xiao2010")


def phase_three() -> Microdata:
    """Return a table of eight rows for which TP needs its third phase at l = 3.

    A search among random tables found it; the paper's data sets have no such table.

    >>> ap.tp(phase_three(), l=3).info["phase"]
    3
    """
    frame = pd.DataFrame({"group": [1] * 5 + [2] * 3, "value": list("abcee") + list("acd")})
    return Microdata(frame, qi=["group"], sensitive="value", origin="drawn at random")


def patients() -> Microdata:
    """Return the running example of diva2021 (Table 1): ten patients, five QI, a diagnosis."""
    return _example("patients.csv", "diva2021, Table 1")


def patients_three_anonymous() -> Partition:
    """Return the grouping of Table 2 of diva2021: 3-anonymous, but no African is visible."""
    return Partition([0, 0, 0, 1, 1, 1, 1, 2, 2, 2], algorithm="Table 2 of diva2021")


def patients_diverse() -> Partition:
    """Return the grouping of Table 3 of diva2021: 2-anonymous and diverse, with 26 stars."""
    return Partition([0, 0, 1, 1, 2, 2, 3, 3, 4, 4], algorithm="Table 3 of diva2021")


def patients_constraints() -> list[DiversityConstraint]:
    """Return the constraints of Example 3.1 of diva2021, which Table 3 satisfies.

    >>> print(*patients_constraints(), sep="; ")
    ETH[Asian], 2, 5; ETH[African], 1, 3; CTY[Vancouver], 2, 4
    """
    texts = "ETH[Asian], 2, 5", "ETH[African], 1, 3", "CTY[Vancouver], 2, 4"
    return [DiversityConstraint.parse(text) for text in texts]

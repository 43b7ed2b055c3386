"""The papers' worked examples as tables, small enough to follow by eye."""

from __future__ import annotations

import pandas as pd

from anonpaper.groups import Partition
from anonpaper.microdata import Microdata

__all__ = ["hospital", "hospital_two_anonymous", "hospital_two_diverse", "phase_three"]


def hospital() -> Microdata:
    """Return the running example of xiao2010 (Table 1): ten patients, three QI, a disease.

    The table is reconstructed from the statements of the text; names are the index.

    Examples
    --------
    >>> hospital().frame.loc["Calvin"].tolist()
    ['<30', 'M', 'Bachelor', 'pneumonia']
    """
    rows = [
        ("Adam", "<30", "M", "Master", "HIV"),
        ("Bob", "<30", "M", "Master", "HIV"),
        ("Calvin", "<30", "M", "Bachelor", "pneumonia"),
        ("Danny", "[30, 50)", "M", "Bachelor", "bronchitis"),
        ("Eva", "[30, 50)", "F", "Bachelor", "pneumonia"),
        ("Fiona", "[30, 50)", "F", "Bachelor", "bronchitis"),
        ("Ginny", "[30, 50)", "F", "Bachelor", "bronchitis"),
        ("Helen", "[30, 50)", "F", "Bachelor", "pneumonia"),
        ("Ivy", ">=50", "F", "High school", "dyspepsia"),
        ("Jane", ">=50", "F", "High school", "pneumonia"),
    ]
    frame = pd.DataFrame(rows, columns=["Name", "Age", "Gender", "Education", "Disease"])
    frame = frame.set_index("Name")
    frame["Age"] = pd.Categorical(frame["Age"], ["<30", "[30, 50)", ">=50"], ordered=True)
    frame["Education"] = pd.Categorical(
        frame["Education"], ["High school", "Bachelor", "Master"], ordered=True
    )
    return Microdata(
        frame,
        qi=["Age", "Gender", "Education"],
        sensitive="Disease",
        origin="running example of xiao2010, reconstructed",
    )


def hospital_two_anonymous() -> Partition:
    """Return the grouping of Table 2 of xiao2010: 2-anonymous, but Adam and Bob share HIV."""
    return Partition([0, 0, 1, 1, 2, 2, 2, 2, 3, 3], algorithm="Table 2 of xiao2010")


def hospital_two_diverse() -> Partition:
    """Return the grouping of Table 3 of xiao2010: 2-diverse with 8 stars."""
    return Partition([0, 0, 0, 0, 1, 1, 1, 1, 2, 2], algorithm="Table 3 of xiao2010")


def phase_three() -> Microdata:
    """Return a table of eight rows for which TP needs its third phase at l = 3.

    Its two QI-groups have (1, 1, 1, 0, 2) and (1, 0, 1, 1, 0) rows of the sensitive values a to
    e. It was found by drawing random tables; the paper's data sets hold none.

    Examples
    --------
    >>> import anonpaper as ap
    >>> ap.tp(phase_three(), l=3).info["phase"]
    3
    """
    frame = pd.DataFrame({"group": [1] * 5 + [2] * 3, "value": list("abcee") + list("acd")})
    return Microdata(frame, qi=["group"], sensitive="value", origin="drawn at random")

"""What the papers claim, and what was measured here.

A claim that does not replicate is as publishable as one that does, so every notebook ends with a
table of claims: the paper's statement in our words, the number measured here, a verdict, and,
unless the claim was reproduced, the likely reason.

A verdict follows from measured numbers, never from typed-in ones: `judge_value` compares a
measured number with the published one, `judge_order` checks which of two methods is better.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from numbers import Real

import numpy as np
import pandas as pd

from anonpaper.errors import ParameterError

REPRODUCED = "reproduced"
DIRECTION = "reproduced in direction"
NOT_REPRODUCED = "not reproduced"
NOT_TESTABLE = "not testable here"
VERDICTS = (REPRODUCED, DIRECTION, NOT_REPRODUCED, NOT_TESTABLE)


@dataclass(frozen=True)
class Claim:
    """One statement of a paper beside what was measured.

    Parameters
    ----------
    id : str
        Short and unique within the paper, e.g. ``"stars-vs-l"``.
    paper : str
        Key of the paper, e.g. ``"xiao2010"``.
    where : str
        Where the paper says it, e.g. ``"Section 6.1, Figure 2"``.
    claim : str
        What the paper says, in our words.
    measured : str or float
        What was measured here. Numbers are shown with three significant digits.
    verdict : {"reproduced", "reproduced in direction", "not reproduced", "not testable here"}
    reason : str, optional
        Why the measurement differs. Required unless the verdict is "reproduced".
    published : str or float, optional
        The paper's own number, where it prints one.

    Raises
    ------
    ParameterError
        If the verdict is none of the four, a text is empty, or the reason is missing.

    Examples
    --------
    >>> claim = Claim("fewer-stars", "xiao2010", "Figure 2", "TP+ keeps more values than TP",
    ...               measured=0.82, verdict="reproduced")
    >>> claim.verdict
    'reproduced'
    """

    id: str
    paper: str
    where: str
    claim: str
    measured: str | float
    verdict: str
    reason: str = ""
    published: str | float = ""

    def __post_init__(self):
        for field in ("id", "paper", "where", "claim"):
            if not str(getattr(self, field)).strip():
                raise ParameterError(f"claim {self.id!r}: {field} is empty")
        if self.verdict not in VERDICTS:
            raise ParameterError(
                f"claim {self.id!r}: verdict is one of {', '.join(map(repr, VERDICTS))}, "
                f"got {self.verdict!r}"
            )
        if self.verdict != REPRODUCED and not self.reason.strip():
            raise ParameterError(
                f"claim {self.id!r} is {self.verdict!r}: say why in `reason` "
                "(other data, another machine, a smaller grid, a slip of the paper, ...)"
            )


def table(claims: Iterable[Claim]) -> pd.DataFrame:
    """Return the claims as a table, one row per claim, in the order given.

    Parameters
    ----------
    claims : iterable of Claim

    Returns
    -------
    DataFrame
        Columns id, paper, where, claim, published, measured, verdict, reason; all text.

    Raises
    ------
    ParameterError
        If two claims of one paper share an id.

    Examples
    --------
    >>> table([Claim("speed", "xiao2010", "Figure 4", "TP is linear in n", 1.02, "reproduced")]
    ...       )[["id", "measured", "verdict"]]
          id measured     verdict
    0  speed     1.02  reproduced
    """
    columns = ["id", "paper", "where", "claim", "published", "measured", "verdict", "reason"]
    frame = pd.DataFrame([asdict(claim) for claim in claims], columns=columns, dtype=object)
    twice = frame.loc[frame.duplicated(["paper", "id"]), "id"].tolist()
    if twice:
        raise ParameterError(f"claims given twice: {', '.join(twice)}; ids are unique in a paper")
    for column in ("published", "measured"):
        frame[column] = frame[column].map(_three_digits)
    return frame


def judge_value(measured: float, published: float, tolerance: float) -> str:
    """Return the verdict on a published number.

    Parameters
    ----------
    measured, published : float
        Finite; `published` not 0.
    tolerance : float
        Largest relative difference that still counts as reproduced, above 0.

    Returns
    -------
    str
        "reproduced" within the tolerance, else "not reproduced".

    Raises
    ------
    ParameterError
        If a number is not finite, `published` is 0 or `tolerance` is not above 0.

    Examples
    --------
    >>> judge_value(0.97, published=1.0, tolerance=0.05)
    'reproduced'
    """
    if not np.isfinite([measured, published]).all() or published == 0 or not tolerance > 0:
        raise ParameterError(
            "judge_value needs finite numbers, published != 0 and tolerance > 0; "
            f"got measured={measured}, published={published}, tolerance={tolerance}"
        )
    return REPRODUCED if abs(measured / published - 1) <= tolerance else NOT_REPRODUCED


def judge_order(lower, higher, *, mostly: float = 0.8) -> str:
    """Return the verdict on "this is never above that", from paired measurements.

    Parameters
    ----------
    lower, higher : array-like of float, equal lengths of at least 1
        Measurements at the same settings; the paper claims ``lower <= higher``.
    mostly : float, optional
        Share of the settings, in (0, 1], from which the direction counts as reproduced.

    Returns
    -------
    str
        "reproduced" if the order holds at every setting, "reproduced in direction" if it holds
        at a share `mostly` of them, else "not reproduced".

    Raises
    ------
    ParameterError
        If the lengths differ or are 0, a value is missing, or `mostly` is out of range.

    Examples
    --------
    >>> judge_order([1, 2, 3, 4, 9], [2, 3, 4, 5, 6])
    'reproduced in direction'
    """
    lower, higher = np.asarray(lower, dtype=float), np.asarray(higher, dtype=float)
    if lower.shape != higher.shape or lower.size == 0 or np.isnan([lower, higher]).any():
        raise ParameterError(
            "judge_order compares paired numbers: equal lengths of at least 1, none missing; "
            f"got shapes {lower.shape} and {higher.shape}"
        )
    if not 0 < mostly <= 1:
        raise ParameterError(f"mostly is a share in (0, 1], got {mostly}")
    share = np.mean(lower <= higher)
    if share == 1:
        return REPRODUCED
    return DIRECTION if share >= mostly else NOT_REPRODUCED


def _three_digits(value: str | float) -> str:
    """Return text as it is and a number with three significant digits."""
    return f"{value:.3g}" if isinstance(value, Real) else str(value)

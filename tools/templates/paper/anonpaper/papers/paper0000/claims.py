"""The claims of paper0000, one entry each, judged from tables that its notebooks save."""

from __future__ import annotations

import pandas as pd

from anonpaper.compendium.judge import Claim, Finding
from anonpaper.compendium.intervals import judge_rising

__all__ = ["CLAIMS"]


def never_fewer(stars: pd.DataFrame) -> Finding:
    """Compare the stars of each l with those of the next."""
    found = stars.sort_values("l")["stars"]
    return Finding(" to ".join(map(str, found)), judge_rising(found.to_frame()))


CLAIMS = (
    Claim(
        "stars-l",
        "paper0000",
        "1_first",
        "Section 1, Figure 1",
        "the number of stars never falls as l grows",
        ("figure_1",),
        judge=never_fewer,
        spread="no random step",
    ),
)

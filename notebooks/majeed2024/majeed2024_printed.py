"""Arithmetic of the numbers that majeed2024 prints.

Nothing here runs a method: the numbers come from data/reference and from the counts of a file's
sensitive values.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from anonpaper.compendium.tables import reference
from anonpaper.microdata import Microdata

#: How an improvement over baselines can be computed from p (proposed, one number per setting) and
#: b (baselines, settings x methods), in percent.
IMPROVEMENTS = {
    "mean of (b - p) / b": lambda p, b: np.mean((b - p[:, None]) / b),
    "mean of (b - p) / p": lambda p, b: np.mean((b - p[:, None]) / p[:, None]),
    "1 - mean p / mean b": lambda p, b: 1 - p.mean() / b.mean(),
    "mean b / mean p - 1": lambda p, b: b.mean() / p.mean() - 1,
    "mean of b - p, points": lambda p, b: np.mean(b - p[:, None]),
    "against the best baseline": lambda p, b: np.mean(1 - p / b.min(axis=1)),
    "against the worst baseline": lambda p, b: np.mean(1 - p / b.max(axis=1)),
}


def least_own_value_risk(counts) -> float:
    """Return the least own-value risk of any grouping of a table: the sum of squared shares.

    A release's risk is the mean over rows of the sum of Pr_C(y)^2 in the row's class C. A mean of
    squares is never below the square of the mean (Jensen), and Pr_C(y) has the table's share of y
    as its mean.
    """
    counts = np.asarray(counts, dtype=float)
    return float(((counts / counts.sum()) ** 2).sum())


def below_the_bound(counts: Mapping[str, object]) -> pd.DataFrame:
    """Return all printed cells of Tables 6 to 9 with the bound on what they can be."""
    cells = reference("majeed2024_tab6-9_disclosure_risk")
    cells["bound"] = cells["dataset"].map({n: least_own_value_risk(c) for n, c in counts.items()})
    cells["groups real rows"] = ~cells["method"].isin(("Proposed", "LoPub"))
    below = cells["disclosure_risk"] + 0.005 < cells["bound"]
    return cells.assign(violates=cells["groups real rows"] & below)


def headlines() -> pd.DataFrame:
    """Recompute the printed improvements that the paper's own tables allow, by every formula."""
    printed = reference("majeed2024_headlines").set_index("quantity")["improvement_pct"]
    risks = reference("majeed2024_tab6-9_disclosure_risk")
    small = risks["dataset"].isin(("adult", "stroke"))
    exposed = reference("majeed2024_tab10_exposure")
    exposed["exposure_pct"] /= 100
    found = {
        "disclosure risk of two small tables": _improvements(risks[small]),
        "disclosure risk of two large tables": _improvements(risks[~small]),
        "privacy on three metrics": (
            _improvements(risks) + _improvements(exposed) + printed["reconstruction"]
        ) / 3,
    }  # fmt: skip
    rows = [
        (quantity, printed[quantity], formula, percent)
        for quantity, improved in found.items()
        for formula, percent in improved.items()
    ]
    return pd.DataFrame(rows, columns=["quantity", "printed_pct", "formula", "all_eight_pct"])


def _improvements(table: pd.DataFrame) -> pd.Series:
    """Return the improvement over all other methods in percent, by every formula."""
    settings = [name for name in ("dataset", "k") if name in table]
    wide = table.pivot(index=settings, columns="method", values=table.columns[-1])
    proposed, others = wide.pop("Proposed").to_numpy(), wide.to_numpy()
    return pd.Series({name: 100 * of(proposed, others) for name, of in IMPROVEMENTS.items()})


def figure_8_bound(tables: Mapping[str, Microdata]) -> pd.DataFrame:
    """Return how accurate answers by quasi-identifiers can be, on tables as they are and repaired.

    Repaired ones have as many synthetic rows as the sizes behind Table 12 say, all recognized.
    """
    sizes = table_12_arithmetic({name: m.sensitive_counts for name, m in tables.items()})
    sizes = sizes.set_index("name")["augmented rows"]
    gains = reference("majeed2024_headlines").set_index("quantity")["improvement_pct"]
    rows = []
    for name, m in tables.items():
        values = m.sensitive_attribute.size
        counts = np.bincount(np.asarray(m.cells.tuple_of_row) * values + m.sensitive_codes)
        counts.resize(-(-len(counts) // values), values)
        right = int(counts.max(axis=1).sum())
        rows.append({
            "table": name,
            "constant answer": m.sensitive_counts.max() / m.n,
            "most": right / m.n,
            "most, repaired": (right + sizes[name] - m.n) / sizes[name],
            "printed gain": gains[f"accuracy on {name.capitalize()}"],
        })  # fmt: skip
    return pd.DataFrame(rows)


def records_at_risk_arithmetic(counts: Mapping[str, object]) -> pd.DataFrame:
    """Recompute Table 11 from counts of sensitive values and from the sizes of Table 12."""
    printed = reference("majeed2024_tab11_records_at_risk")
    sizes = table_12_arithmetic(counts).set_index("name")["augmented rows"]
    most = printed["dataset"].map({name: int(max(c)) for name, c in counts.items()})
    rows = printed["dataset"].map({name: int(sum(c)) for name, c in counts.items()})
    existing, ours = 2 * most - rows, 2 * most - printed["dataset"].map(sizes)
    return printed.assign(
        **{
            "rows": rows,
            "existing, computed": existing,
            "existing, computed, %": 100 * existing / rows,
            "proposed, computed": ours,
            "proposed, printed count of real rows, %": 100 * printed["proposed_count"] / rows,
        }
    )


def table_12_arithmetic(counts: Mapping[str, object]) -> pd.DataFrame:
    """Recompute Table 12 from the numbers of rows, quasi-identifiers and section 6.2's shares."""
    printed = reference("majeed2024_tab12_generalizations")
    shares = reference("majeed2024_sec6_frequencies").groupby("dataset")["share_pct"].sum() / 100
    width = printed["dataset"].map({"adult": 7, "stroke": 6, "census": 8, "diabetes": 6})
    rows = printed["dataset"].map({name: int(sum(c)) for name, c in counts.items()})
    augmented = printed["existing"] / width
    return pd.DataFrame(
        {
            "name": printed["dataset"],
            "quasi-identifiers": width,
            "cells, real": rows * width,
            "augmented rows": augmented,
            "existing, printed": printed["existing"],
            "proposed, printed": printed["proposed"],
            "proposed, from shares": augmented * (width - printed["dataset"].map(shares)),
            "improvement, printed, %": printed["improvement_pct"],
            "improvement, computed, %": 100 * (1 - printed["proposed"] / printed["existing"]),
            "saved of real cells": 1 - printed["proposed"] / (rows * width),
        }
    )

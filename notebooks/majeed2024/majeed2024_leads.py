"""Compares methods for the claims of majeed2024: one with all others, and from k to k."""

import numpy as np
import pandas as pd

from anonpaper.compendium.claims import Finding, cannot_be_tested, means, steps


def by_seed(table: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return a value by method, table and k (rows) and seed (columns).

    The value of a method that was run once counts for all seeds. A method that lacks one is left
    out.
    """
    index = [name for name in ("method", "name", "k") if name in table]
    wide = table.pivot(index=index, columns="seed", values=value).ffill(axis=1)
    return wide.groupby("method").filter(lambda of: of.notna().all(axis=None))


def leads(
    table: pd.DataFrame, value: str, method="Proposed", lowest=True, judge=means, **options
) -> Finding:
    """Judge whether a method is as good as the best of all others at each setting."""
    wide, sign = by_seed(table, value), 1 if lowest else -1
    parts = {name: sign * wide.loc[name] for name in wide.index.unique("method")}
    mine, rest = parts.pop(method), np.array([part.to_numpy() for part in parts.values()])
    if abs(rest - mine.to_numpy()).max() < 1e-9:
        return cannot_be_tested("this reading cannot tell the methods apart")
    best = rest.min(axis=0)
    own, others = (f"{sign * one.mean():.3f}" for one in (mine.to_numpy(), best))
    told = f"{own}, the best other {others} on average"
    return judge(best - mine, above=0, measured=told, **options)


def along_k(table: pd.DataFrame, value: str, rises: bool = False, **options) -> Finding:
    """Judge by `means` every step from one k to the next, for each table and method."""
    change = steps(by_seed(table, value), along="k") * (1 if rises else -1)
    told = f"{(change.mean(axis=1) >= 0).sum()} of {len(change)} steps on average"
    return means(change, above=0, measured=told, **options)

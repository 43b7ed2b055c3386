"""Checks of notebooks/together that claims.toml cannot express."""

from __future__ import annotations

import pandas as pd
from together import NEEDS, meeting

from anonpaper.compendium.intervals import Settings, of_draws
from anonpaper.compendium.judge import Finding

__all__ = ["least_loss"]


def least_loss(points: pd.DataFrame, *, method: str, need: int) -> Finding:
    """Compare, for each draw, the method's loss with the best other method that meets the need."""
    ours, best, names = [], [], []
    for name, part in points.dropna(subset="k").groupby("data", sort=False):
        losses = meeting(part, NEEDS[need])
        is_it = losses.index.get_level_values("method") == method
        ours.append(losses.loc[losses[is_it].mean(axis=1).idxmin()])
        best.append(losses.loc[losses[~is_it].mean(axis=1).idxmin()])
        other, asks, level = best[-1].name
        names.append(f"{name}, {other.removesuffix(f', {asks}')} with {asks} = {level}")
    more = pd.DataFrame(best).to_numpy() - pd.DataFrame(ours).to_numpy()
    means = zip(names, more.mean(axis=1), strict=True)
    settings = Settings(more)
    return Finding(
        f"{NEEDS[need].loss} of the best other method, less this one's: "
        + "; ".join(f"{name}: {mean:.2g}" for name, mean in means),
        settings.verdict,
        interval=settings.words(names, over=of_draws(settings.draws)),
        settings=settings.n,
        needed=settings.needed,
    )

"""Claims of notebooks/together. Each is ours, on the methods of all papers."""

from __future__ import annotations

from functools import partial

import pandas as pd

from anonpaper.papers.claims import OURS, Claim, Finding, above_zero
from anonpaper.papers.judging import (
    intervals_in_words,
    judge_intervals,
    judge_share,
    judge_statement,
    mean_interval,
    mean_intervals,
    of_draws,
    share_interval,
)
from anonpaper.papers.together.protocol import NEEDS, Need, meeting

__all__ = ["CLAIMS"]

_SWAPPED, _AUGMENTED = "K,L,θ, swapped", "augmented"
_LEAST_TOLD = 0.001  # share of the people


# ---- 2_frontier -------------------------------------------------------------------------------


def levels_are_reached(points: pd.DataFrame) -> Finding:
    """Compare the level of every release, k or 1 / largest share, with the one asked for."""
    run = points.dropna(subset="k")
    reached = run["k, all rows"].where(run["asks"] == "k", run["l"])
    short = int((reached < run["level"] - 1e-9).sum())
    return Finding(f"{short} of {len(run)} releases fall short", judge_statement(short == 0))


def secrets_left_open(points: pd.DataFrame) -> Finding:
    """Take over draws the share of releases with k alone in which a share exceeds one half."""
    run = points[(points["asks"] == "k") & (points["method"] != _AUGMENTED)].dropna(subset="k")
    share = (run["l"] < 2).groupby(run["seed"]).mean()
    low, high = mean_interval(share, within=(0, 1))
    return Finding(
        f"{share.mean():.1%} of them",
        judge_intervals([(low - 0.5, high - 0.5)]),
        interval=f"{low:.1%} to {high:.1%} over {of_draws(len(share))}",
    )


def least_loss(points: pd.DataFrame, *, method: str, need: Need) -> Finding:
    """Take over draws what the best other method loses more that meets the same need."""
    run = points.dropna(subset="k")
    ours, best, names = [], [], []
    for name, part in run.groupby("data", sort=False):
        losses = meeting(part, need)
        is_it = losses.index.get_level_values("method") == method
        ours.append(losses.loc[losses[is_it].mean(axis=1).idxmin()])
        best.append(losses.loc[losses[~is_it].mean(axis=1).idxmin()])
        names.append(f"{name}, {best[-1].name[0]}")
    more = pd.DataFrame(best).to_numpy() - pd.DataFrame(ours).to_numpy()
    means = zip(names, more.mean(axis=1), strict=True)
    return above_zero(more, "; ".join(f"{name} {mean:.3f} more" for name, mean in means), names)


def fewest_values_lost(points: pd.DataFrame) -> Finding:
    """Take over draws, at every table and l, what the best of TP, TP+ and Hilbert loses more."""
    run = points[points["method"].isin(["TP refined", "TP", "TP+", "Hilbert"])]
    loss = run.pivot(index=["data", "level", "seed"], columns="method", values="NCP").dropna()
    more = loss.drop(columns="TP refined").min(axis=1) - loss["TP refined"]
    more = more.unstack("seed").dropna()
    return above_zero(
        more,
        f"{more.mean(axis=1).min():.3f} to {more.mean(axis=1).max():.3f} more per value",
        [f"{data}, l = {l}" for data, l in more.index],
    )


def risk_with_invented_rows(points: pd.DataFrame) -> Finding:
    """Take over draws by how much own risk rises where invented rows are recognized."""
    run = points[points["method"] == _AUGMENTED].dropna(subset="k")
    rise = (
        run.assign(rise=run["own risk"] - run["own risk, all rows"])
        .pivot(index=["data", "level"], columns="seed", values="rise")
        .dropna()
    )
    return above_zero(
        rise,
        f"a rise of {rise.mean(axis=1).min():.3f} to {rise.mean(axis=1).max():.3f}",
        [f"{data}, k = {k}" for data, k in rise.index],
        within=(-1, 1),
    )


def told_by_decisions(points: pd.DataFrame) -> Finding:
    """Take over draws the share of people of whom TP's decisions tell, at the lowest l."""
    run = points[(points["method"] == "TP") & (points["asks"] == "l")].dropna(subset="k")
    run = run[run["level"] == run["level"].min()]
    share = run.pivot(index="data", columns="seed", values="told by the algorithm").dropna()
    ends = mean_intervals(share, within=(0, 1))
    return Finding(
        f"{share.mean(axis=1).min():.1%} to {share.mean(axis=1).max():.1%} of the people",
        judge_intervals(ends - _LEAST_TOLD),
        interval=intervals_in_words(
            100 * ends, share.index, "{:.2g} %", over=of_draws(share.shape[1])
        ),
    )


# ---- 3_one_table ------------------------------------------------------------------------------

_PROMISED = ["xiao2010: TP", "xiao2010: TP+", "boger2020: swapped", "majeed2024: augmented"]


def bounded_by_a_half(over_seeds: pd.DataFrame) -> Finding:
    """Look up the greatest probability of her secret where diversity is promised."""
    part = over_seeds[over_seeds["method"].isin(_PROMISED)]
    greatest = part["probability"].max()
    return Finding(float(greatest), judge_statement(greatest <= 0.5))


def swapping_alone_keeps_values(over_seeds: pd.DataFrame) -> Finding:
    """Count releases: her values all kept, and her secret not in her row."""
    swapped = over_seeds["method"] == "boger2020: swapped"
    kept = (over_seeds["range"] == 0) & (over_seeds["star"] == 0)
    told = over_seeds["her own secret"]
    others = int((kept & ~swapped).sum()), int((~told & ~swapped).sum())
    return Finding(
        f"all kept in {int((kept & swapped).sum())} of {int(swapped.sum())} swapped tables and "
        f"{others[0]} others; another secret in {int((~told & swapped).sum())} and {others[1]}",
        judge_statement(bool(kept[swapped].all()) and others == (0, 0)),
    )


def own_secret_by_chance(over_seeds: pd.DataFrame) -> Finding:
    """Count the swaps that leave her secret in her row."""
    own = over_seeds.loc[over_seeds["method"] == "boger2020: swapped", "her own secret"]
    return Finding(
        float(own.mean()),
        judge_share(int(own.sum()), len(own), at_least=0.25, at_most=0.75),
        interval=share_interval(int(own.sum()), len(own)),
    )


def found_among_invented_rows(over_seeds: pd.DataFrame) -> Finding:
    """Take over seeds the probability of her secret where invented rows are recognized."""
    part = over_seeds[over_seeds["method"] == "majeed2024: augmented"]
    low, high = mean_interval(part["probability, real people"], within=(0, 1))
    return Finding(
        float(part["probability, real people"].mean()),
        judge_intervals([(low - 0.5, high - 0.5)]),
        interval=f"{low:.3g} to {high:.3g} over {of_draws(len(part), 'seeds')}",
    )


# ---- the entries ------------------------------------------------------------------------------


def _of_frontier(id: str, on: str, claim: str, judge, refuted: str, spread="draws") -> Claim:
    return Claim(
        id, "together", "2_frontier", f"bears on: {on}", claim, ("points",), judge, kind=OURS,
        tolerance=f"refuted by {refuted}", spread=spread,
        differs="at the levels tried, on four quasi-identifiers and a secret without frequent "
        "values, where every draw can have the level; draws of one table share people",
    )  # fmt: skip


def _of_one_table(id: str, on: str, claim: str, judge, refuted: str) -> Claim:
    return Claim(
        id, "together", "3_one_table", f"bears on: {on}", claim, ("over_seeds",), judge,
        kind=OURS, tolerance=f"refuted by {refuted}", spread="seeds of the methods",
        differs="one table of ten people, and one of them",
    )  # fmt: skip


_BELOW = "a table whose interval lies below 0"
_MORE = "intervals below 0 at more than a fifth of the tables and"

CLAIMS = (
    _of_frontier(
        "levels-reached", "all papers",
        "every release reaches the level that its method was asked for",
        levels_are_reached, "one that does not", "none allowed",
    ),
    _of_frontier(
        "k-alone", "dewri2009, diva2021",
        "most releases of k-anonymity alone, none of them with invented rows, leave a class in "
        "which one secret has more than half of the rows",
        secrets_left_open, "an interval below one half",
    ),
    _of_frontier(
        "swap-counts", "boger2020",
        "of all releases that bound every guess by 1/2, the K,L,θ-swap answers counts best, on "
        "every table",
        partial(least_loss, method=_SWAPPED, need=NEEDS[0]), _BELOW,
    ),
    _of_frontier(
        "mondrian-keeps-values", "xiao2010",
        "of those whose rows are true besides, Mondrian's ranges keep values best, on every table",
        partial(least_loss, method="Mondrian, l", need=NEEDS[2]), _BELOW,
    ),
    _of_frontier(
        "refined-stars", "xiao2010",
        "of those that publish stars and promise diversity, TP refined loses the fewest values, "
        "at every l and on every table",
        fewest_values_lost, f"{_MORE} l",
    ),
    _of_frontier(
        "invented-rows", "majeed2024",
        "who recognizes invented rows finds people's secrets more often, at every k and on every "
        "table",
        risk_with_invented_rows, f"{_MORE} k",
    ),
    _of_frontier(
        "decisions-tell", "xiao2010",
        "after TP one in a thousand people at least is known better by who knows how TP decides, "
        "on every table",
        told_by_decisions, "a table whose interval lies below",
    ),
    _of_one_table(
        "bounded", "xiao2010, boger2020, majeed2024",
        "where diversity is promised, who knows her quasi-identifiers and no more is at most "
        "1/2 sure of her secret",
        bounded_by_a_half, "one seed on which somebody is",
    ),
    _of_one_table(
        "swapping-alone", "all papers",
        "only swapping keeps all of her values, and only swapping can give her row another's "
        "secret",
        swapping_alone_keeps_values, "one seed on which another does",
    ),
    _of_one_table(
        "own-secret-by-chance", "boger2020",
        "a swap leaves her own secret in her row by chance: from one to three times in four",
        own_secret_by_chance, "an interval outside of that",
    ),
    _of_one_table(
        "found-among-invented", "majeed2024",
        "who recognizes invented rows is surer of her secret than 1/2, on average",
        found_among_invented_rows, "an interval below 1/2",
    ),
)  # fmt: skip

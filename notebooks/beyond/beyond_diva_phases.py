"""When DIVA's constraints can be met, and who knows; sets of constraints are those of diva2021."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence

import diva2021
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anonpaper.compendium.intervals import LEVEL, level_of_each, mean_interval
from anonpaper.constraints import (
    DiversityConstraint,
    conflict_rate,
    demand_on_gaps,
    demand_on_rows,
    find_contradictions,
)
from anonpaper.datasets import load
from anonpaper.errors import BudgetExceededError, ConstraintError
from anonpaper.measure import stars
from anonpaper.microdata import Microdata
from anonpaper.partition.diva import diva, diva_augmented
from anonpaper.partition.diva.algorithms import Run
from anonpaper.partition.diva.existence import exact_clustering
from anonpaper.partition.diva.search import Search
from anonpaper.partition.diva.targets import Privacy, Targets
from anonpaper.principles import FrequencyLDiversity
from anonpaper.publish import Release, suppress
from anonpaper.randomness import generator

__all__ = [
    "LAWS", "RULES", "a_set", "augmented", "decided_by_program", "draw_phases", "held_out",
    "keeps", "load_tables", "over_draws", "phases", "predict", "searched", "settings",
]  # fmt: skip

#: What a law knows of a set: our two demands, or the numbers by which sets are made.
LAWS = {
    "two demands": ["demand on rows", "demand on gaps"],
    "slack, conflict, share, k s / n": ["slack", "conflict rate", "share", "log k s / n"],
    "k s / n alone": ["log k s / n"],
}
#: The paper's rule for clusters over an upper bound, and the extended one, as notebooks call them.
RULES = {"literal": "reject", "extended": "star"}
_CAP = 2.0  # a demand above it is as good as infinite


def load_tables(rows: int) -> dict[str, Microdata]:
    """Return the tables; quasi-identifiers are what constraints are on. `rows` are Pop-Syn's."""
    tables = diva2021.figure_tables(["narrow", "zipf"], rows)
    census = tables["narrow"].with_roles(qi=list(diva2021.SWEPT["narrow"]))
    adult = load("adult", qi=["sex", "race", "marital-status", "workclass", "education"])
    adult = adult.replace(frame=adult.frame[[*adult.qi, adult.sensitive]])
    popsyn = tables["zipf"].with_roles(qi=list(diva2021.SWEPT["zipf"]))
    return {"census": census, "adult": adult, "popsyn": popsyn}


def settings(
    table: str, draws: Sequence[int], sizes, numbers, conflicts, shares, slacks, ks
) -> list[dict]:
    """Return a grid for `a_set`: every draw has its own rows and number of constraints."""
    return [
        dict(table=table, seed=seed, rows=sizes[seed % len(sizes)],
             number=numbers[seed // len(sizes) % len(numbers)], conflict=conflict, share=share,
             slack=slack, k=k)
        for seed in draws for conflict in conflicts for share in shares for slack in slacks
        for k in ks
    ]  # fmt: skip


# ---- one set ----------------------------------------------------------------------------------


def a_set(
    tables: Mapping[str, Microdata], table: str, rows: int, number: int, conflict: float,
    share: float, slack: float, k: int, seed: int, max_backtracks: int, max_seconds: float,
    l: int | None = None,
) -> dict:  # fmt: skip
    """Draw a set of constraints; say whether a table exists, and what DIVA does by both rules."""
    m = tables[table].sample(rows, seed)
    sigma = diva2021.constraints_with_conflict(
        m, number, conflict, attributes=m.qi, total=int(share * m.n), slack=slack,
        least=m.n // 20, seed=seed, steps=500,
    )  # fmt: skip
    row = {
        "conflict rate": conflict_rate(m, sigma),
        "log k s / n": np.log10(k * number / m.n),
        "demand on rows": min(demand_on_rows(m, sigma, k), _CAP),
        "demand on gaps": min(demand_on_gaps(m, sigma, k), _CAP),
        "at sight": bool(find_contradictions(m, sigma, k)),
    }
    published = {}
    for name, rule in RULES.items():
        p, info, outcome = None, {}, "found"
        try:
            p = diva(m, sigma, k, "min_choice", seed=seed, over_bound=rule, l=l,
                     max_backtracks=max_backtracks, max_seconds=max_seconds)  # fmt: skip
            info = p.info
            published[name] = suppress(m, p)
        except (BudgetExceededError, ConstraintError) as error:
            info = getattr(error, "info", {})
            outcome = "no table" if isinstance(error, ConstraintError) else "budget used up"
        row |= {f"{name}: outcome": outcome, f"{name}: candidates": info.get("candidates_tried"),
                f"{name}: steps back": info.get("backtracks")}  # fmt: skip
    row["stars"] = stars(published["extended"]) / m.n if "extended" in published else None
    if row["extended: outcome"] == "no table" and not published:
        exists, by = "no", "at sight" if row["at sight"] else "integer program"
    elif published:
        exists, by = "yes", next(iter(published))
    else:
        exists, by = "not decided", ""
        with contextlib.suppress(BudgetExceededError):
            rel = decided_by_program(m, sigma, k, l, max_seconds)
            exists, by = "no" if rel is None else "yes", "integer program"
            published |= {} if rel is None else {by: rel}
    holds = all(keeps(rel, sigma, k, l) for rel in published.values())
    return row | {"exists": exists, "by": by, "holds": holds}


def decided_by_program(
    m: Microdata, sigma: Sequence[DiversityConstraint], k: int, l: int | None, seconds: float
) -> Release | None:
    """Publish the table that the integer program finds, None if it says that there is none."""
    diverse = None if l is None else FrequencyLDiversity(l)
    privacy = Privacy(k, diverse, None if l is None else m.sensitive_codes)
    targets, search = Targets.of(m, sigma), Search(0, seconds)
    S = exact_clustering(targets, privacy, search)
    if S is None:
        return None
    run = Run(m, targets, privacy, "min_choice", None, generator(0), True, 24, search)
    return suppress(m, run.publish(S, "exact test"))


def keeps(rel: Release, sigma: Sequence[DiversityConstraint], k: int, l: int | None) -> bool:
    """Whether a release has what was promised, counted from what it publishes."""
    level = rel.audit().set_index("principle")["level"]
    diverse = l is None or level["frequency l-diversity"] >= l
    return bool(diverse and level["k-anonymity"] >= k and all(c.holds(rel) for c in sigma))


def phases(sets: pd.DataFrame) -> pd.DataFrame:
    """Return, by table and setting, the share of the sets that have a table, and are found."""
    yes = sets.assign(
        exists=sets["exists"] == "yes",
        **{name: sets[f"{name}: outcome"] == "found" for name in RULES},
        undecided=sets["exists"] == "not decided",
    )
    keys = ["table", "slack", "conflict", "share", "k"]
    return yes.groupby(keys, sort=False)[["exists", *RULES, "undecided"]].mean().reset_index()


def draw_phases(axes, shares: pd.DataFrame) -> None:
    """Draw maps of k over the share demanded, by slack (down) and conflict (across)."""
    figure = axes[0][0].figure
    for line, (slack, rest) in zip(axes, shares.groupby("slack"), strict=True):
        for ax, (conflict, part) in zip(line, rest.groupby("conflict"), strict=True):
            wide = part.set_index(["share", "k"])[["literal", "extended", "exists"]]
            there = wide["exists"].unstack("k")
            image = ax.imshow(there, vmin=0, vmax=1, cmap="RdYlBu", origin="lower", aspect="auto")
            for (share, k), row in wide.iterrows():
                place = there.columns.get_loc(k), there.index.get_loc(share)
                text = "\n".join(f"{100 * value:.0f}" for value in row)
                dark = not 0.15 < row["exists"] < 0.8
                ax.text(*place, text, ha="center", va="center", size=7,
                        color="white" if dark else "black")  # fmt: skip
            ax.set_xticks(range(there.shape[1]), there.columns)
            ax.set_yticks(range(len(there)), there.index)
            ax.set(title=f"slack {slack:g}, conflict {conflict:g}", xlabel="k", ylabel="M / n")
            ax.grid(visible=False)
    figure.suptitle("in each field, % of the sets: the literal rule finds a table\n"
                    "the extended rule finds one\none exists (the colour)")  # fmt: skip
    figure.colorbar(image, ax=axes, label="share of the sets that have a table")


def searched(sets: pd.DataFrame, edges: Sequence[float]) -> pd.DataFrame:
    """Return, by demand and rule, what the search did: shares of outcomes, work, steps back."""
    demand = sets[LAWS["two demands"]].max(axis=1)
    rows = []
    for band, part in sets[~sets["at sight"]].groupby(pd.cut(demand, edges), observed=True):
        for name in RULES:
            outcome = part[f"{name}: outcome"]
            rows.append({
                "demand": str(band), "rule": name, "sets": len(part),
                "have a table": (part["exists"] == "yes").mean(),
                **{o: (outcome == o).mean() for o in ("found", "no table", "budget used up")},
                "candidates, median": part[f"{name}: candidates"].median(),
                "go back": (part[f"{name}: steps back"] > 0).mean(),
            })  # fmt: skip
    return pd.DataFrame(rows)


# ---- a law ------------------------------------------------------------------------------------


def predict(sets: pd.DataFrame, fitted_on: Sequence[int]) -> pd.DataFrame:
    """Fit every law on some draws of Census, and predict the sets of all other draws."""
    # sets refused at sight and those not decided tell nothing
    sets = sets[~sets["at sight"] & (sets["exists"] != "not decided")]
    mine = (sets["table"] == "census") & sets["seed"].isin(fitted_on)
    known, asked = sets[mine], sets[~mine].copy()
    there = known["exists"] == "yes"
    for name, columns in LAWS.items():
        if there.nunique() < 2:  # too few draws to fit anything
            asked[name] = float(there.mean())
            continue
        law = make_pipeline(StandardScaler(), LogisticRegression()).fit(known[columns], there)
        asked[name] = law.predict_proba(asked[columns])[:, 1]
    asked["nothing above 1"] = (asked[LAWS["two demands"]] <= 1).all(axis=1).astype(float)
    asked["always"] = float(there.mean() >= 0.5)
    return asked


def held_out(asked: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and AUC of every law on the held-out sets of each table, with intervals."""
    first, level = next(iter(LAWS)), level_of_each(asked["table"].nunique())
    rows = []
    for table, part in asked.groupby("table", sort=False):
        for law in [*LAWS, "nothing above 1", "always"]:
            area, by = auc(part, law), auc(part, first) - auc(part, law)
            low, high, more = area, area, (0.0, 0.0)
            if part[law].nunique() > 1 or np.isnan(area):  # else one half, whatever is drawn
                low, high = over_draws(part, lambda some, law=law: auc(some, law), (0, 1), level)
            if law != first:
                more = over_draws(
                    part, lambda some, law=law: auc(some, first) - auc(some, law), (-1, 1), level
                )
            right = (part[law] >= 0.5) == (part["exists"] == "yes")
            rows.append({
                "table": table, "law": law, "sets": len(part), "draws": part["seed"].nunique(),
                "no table": int((part["exists"] == "no").sum()), "accuracy": right.mean(),
                "AUC": area, "low": low, "high": high,
                "more": by, "more low": more[0], "more high": more[1],
            })  # fmt: skip
    return pd.DataFrame(rows)


def auc(sets: pd.DataFrame, law: str) -> float:
    """Area under the ROC curve; missing where all sets have the same answer."""
    there = sets["exists"] == "yes"
    return roc_auc_score(there, sets[law]) if there.nunique() == 2 else np.nan


def over_draws(
    sets: pd.DataFrame, statistic: Callable[[pd.DataFrame], float],
    within: tuple[float, float], level: float = LEVEL,
) -> tuple[float, float]:  # fmt: skip
    """Return the interval of a statistic by the jackknife, which leaves out draw by draw.

    Sets of one draw share their rows, so that draws are counted. The interval is cut at `within`,
    what the statistic can be, and reaches the statistic itself. It is all of `within` where that
    of all but one draw is missing, or the same whichever is left out: nothing shows the spread.
    """
    draws, whole = sets["seed"].unique(), statistic(sets)
    without = np.array([statistic(sets[sets["seed"] != seed]) for seed in draws])
    pseudo = len(draws) * whole - (len(draws) - 1) * without
    if not np.isfinite(pseudo).all() or np.ptp(pseudo) < 1e-12:
        return within
    low, high = mean_interval(pseudo, level=level)
    # it is around the statistic less its bias, which may be beyond what there is
    return max(min(low, whole), within[0]), min(max(high, whole), within[1])


# ---- invented rows ----------------------------------------------------------------------------


def augmented(
    tables: Mapping[str, Microdata], table: str, attribute: str, rows: int, least: int, k: int,
    seed: int, max_seconds: float,
) -> list[dict]:  # fmt: skip
    """Ask for `least` rows of every value of an attribute: of people, and with invented rows."""
    m = tables[table].sample(rows, seed)
    values = m.attribute(attribute).values
    sigma = [DiversityConstraint({attribute: value}, least, 2 * m.n) for value in values]
    fused, apart = diva_augmented(m, sigma, k, "min_choice", seed, max_seconds=max_seconds)
    counts = np.bincount(m.codes_of(attribute), minlength=len(values))
    rarest = sigma[int(counts.argmin())]
    about = {"rarest value": int(counts.min()), "invented rows": int(fused.synthetic.sum())}
    found = []
    for way, t, p in (("people alone", m, None), ("in groups of their own", fused, apart),
                      ("counted as people", fused, None)):  # fmt: skip
        row = about | {"way": way, "outcome": "found"}
        try:
            p = p or diva(t, sigma, k, "min_choice", seed=seed, max_seconds=max_seconds)
            found.append(row | split(suppress(t, p), rarest, k))
        except ConstraintError:
            found.append(row | {"outcome": "no table"})
    return found


def split(rel: Release, c: DiversityConstraint, k: int) -> dict:
    """Measure a release, people and invented rows apart."""
    people = rel.without_synthetic()
    per_class = people.classes.sizes()
    m, shown = people.microdata, c.count(people)
    of_people, invented = stars(people), int(rel.is_synthetic.sum())
    return {
        "holds": c.holds(rel),
        "shown: people": shown,
        "shown: invented": c.count(rel) - shown,
        "stars: people": of_people / m.n,
        "stars: invented": (stars(rel) - of_people) / invented if invented else None,
        "fewest people": int(per_class.min()),
        "exposed": int(per_class[per_class < k].sum()),
    }

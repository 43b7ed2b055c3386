"""What papers rank, how often it holds over many settings, and which choice decides it.

A *setting* is a choice of table, quasi-identifiers, rows, level, form of publication and measure.
All measures are lower where a release is better.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from boger2020 import _association, _values_singly
from majeed2024 import dominant_value, proposed
from majeed2024_baselines import BASELINES

import anonpaper as ap
from anonpaper import measure
from anonpaper.compiled import at_once
from anonpaper.errors import AnonpaperError
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Microdata
from anonpaper.publish import Release
from anonpaper.repair import synthesis

#: Table -> quasi-identifiers to draw from, sensitive attribute of many values, and one of two.
TABLES = {
    "adult": (["age", "workclass", "education", "marital-status", "race", "sex", "native-country",
               "hours-per-week"], "occupation", "salary-class"),
    "census": (["age", "sex", "race", "marital stat", "country of birth self", "education",
                "class of worker", "weeks worked in year"], "major occupation code", "income"),
    "diabetes": (["race", "gender", "age", "num_lab_procedures", "insulin", "admission_type_id",
                  "num_medications", "number_diagnoses"], "time_in_hospital", "diabetesMed"),
    "stroke": (["gender", "age", "hypertension", "heart_disease", "ever_married", "work_type",
                "Residence_type", "smoking_status"], "glucose", "stroke"),
    "pantheon": (["continentName", "countryCode", "domain", "century", "popularity", "views",
                  "gender"], "numlangs", "gender"),
}  # fmt: skip
_EVALUATIONS, _TEST_ROWS = 2000, 1000
_BACKTRACKS = {"max_candidates": 200, "max_seconds": 3600}


def load_tables(names: Sequence[str] = tuple(TABLES)) -> dict[str, Microdata]:
    """Return whole tables with the columns of `TABLES`; a missing value is a value of its own."""
    found = {}
    for name in names:
        m, (qi, *sensitive) = ap.load(name), TABLES[name]
        frame = m.frame
        if name == "census":  # as OCC: people who have an occupation
            frame = frame[frame["major occupation code"] != "Not in universe"]
        if name == "stroke":
            frame = frame.assign(glucose=frame["avg_glucose_level"] // 10)
        if name == "pantheon":
            frame = frame[frame["birthyear"].notna()]  # all but four people
            century = frame["birthyear"].astype(float) // 100
            views = np.log10(frame["TotalPageViews"].astype(float)).round(1)
            frame = frame.assign(century=century, popularity=frame["HPI"].round(), views=views)
        frame = frame[list(dict.fromkeys([*qi, *sensitive]))].reset_index(drop=True)
        found[name] = ap.Microdata(
            frame, qi, sensitive[0], missing="category", origin=m.origin
        ).replace(domains=dict.fromkeys(frame))
    return found


def _drawn(whole: Microdata, table: str, binary: bool, n: int, draw: int) -> tuple:
    """Draw three to six quasi-identifiers, rows to publish, and other rows to test on."""
    rng = np.random.default_rng([draw, list(TABLES).index(table)])
    qi, *sensitive = TABLES[table]
    free = [name for name in qi if not (binary and name == sensitive[1])]
    size = int(rng.integers(3, 7))
    chosen = [free[i] for i in sorted(rng.permutation(len(free))[:size])]
    rows = rng.permutation(whole.n)[: n + _TEST_ROWS]
    m = whole.with_roles(qi=chosen, sensitive=sensitive[binary])
    return m.take(np.sort(rows[:n])), m.take(np.sort(rows[n:]))


def _diva(strategy: str) -> Callable:
    """Run DIVA; constraints in proportion are of the two quasi-identifiers of fewest values."""

    def groups(m: Microdata, k: int, seed: int) -> ap.Partition:
        by_size = sorted(m.qi, key=lambda name: m.attribute(name).size)[:2]
        asked = ap.constraints.proportion_constraints(m, by_size, m.n // 2, slack=0.2)
        asked = [c for c in asked if c.low >= k][:8]
        return ap.diva(m, asked, k, strategy, seed=seed, **_BACKTRACKS)

    return groups


def _search(population: int) -> Callable:
    return lambda m, k, seed: ap.preference_search(
        ap.in_preorder(m, {}), k, population=population, evaluations=_EVALUATIONS, seed=seed
    )


def _klt(m: Microdata, k: int, seed: int, weights=None) -> ap.Partition:
    return ap.klt(m, k, min(k, 5), 0.3, weights=weights, seed=seed)


#: What each method of frequency l-diversity, of k-anonymity, and of k, l, theta returns.
_DIVERSE = {
    "TP": lambda m, l, seed: ap.tp(m, l),
    "TP+": lambda m, l, seed: ap.tp_plus(m, l),
    "TP refined": lambda m, l, seed: ap.tp_refined(m, l),
    "Hilbert": lambda m, l, seed: ap.hilbert(m, l),
    "Mondrian": lambda m, l, seed: ap.mondrian(m, l, l),
    "K,L,theta": lambda m, l, seed: ap.klt(m, l, l, 1 / l, seed=seed),
    "TDS": lambda m, l, seed: ap.tds(m, l),
    "full domain": lambda m, l, seed: ap.full_domain(m, l, l=l, diversity="frequency"),
}
_ANONYMOUS = {
    "MaxFanOut": _diva("max_fan_out"), "MinChoice": _diva("min_choice"), "Basic": _diva("basic"),
    "k-member": ap.k_member, "OKA": ap.oka,
    "Mondrian": lambda m, k, seed: ap.mondrian(m, k),
    "TP refined": lambda m, k, seed: ap.tp_refined(ap.Microdata(  # secrets of their own
        m.frame[m.qi].assign(own=range(m.n)), m.qi, "own", missing="category"), k),
    "full domain": lambda m, k, seed: ap.full_domain(m, k),
    "small population": _search(20), "large population": _search(100),
}  # fmt: skip
_GROUPINGS = {
    "K,L,theta": _klt,
    "arbitrary": lambda m, k, seed: _klt(m, k, seed, dict.fromkeys(m.qi, 0)),
    "Mondrian": lambda m, k, seed: ap.mondrian(
        m, k, require=[ap.DistinctLDiversity(min(k, 5)), ap.Theta(0.3)]
    ),
}
_PUBLICATIONS = {
    "swapping": ap.swap,
    "anatomy": lambda m, p, seed: ap.anatomize(m, p),
    "generalization": lambda m, p, seed: ap.generalize(m, p),
    "suppression": lambda m, p, seed: ap.suppress(m, p),
}
_SWAPPED, _COMPARED = ("swapping", "generalization"), ("K,L,theta", "Mondrian")
_FORMS = ("stars", "sub-domains")


def _repaired(name: str, m: Microdata, k: int, seed: int) -> dict[str, Release]:
    """Publish by the proposed method of majeed2024 or a baseline; rows are counted twice."""
    publish, more = BASELINES.get(name, proposed), {}
    if name == "Proposed":
        friendly = ap.pattern_friendly(m, trees=20, repeats=1, seed=seed)
        more["friendly"] = [*friendly.loc[friendly["friendly"], "qid"]]
        m = synthesis.fuse(m, ap.gaussian_copula(m, ap.find_imbalance(m).needed, seed=seed))
    trees = {a.name: Hierarchy.balanced(a.values) for a in m.attributes}
    rel = publish(m, k, 2, trees, seed=seed, **more)
    people = {} if rel.is_synthetic.all() else {"real people": rel.without_synthetic()}
    return {"all rows": rel} | people


def _of_groups(method: Callable, m: Microdata, level: int, seed: int) -> dict[str, Release]:
    """Publish groups with stars and with sub-domains; a recoding has one form, which is both."""
    result = method(m, level, seed)
    if isinstance(result, ap.Recoding):
        return dict.fromkeys(_FORMS, ap.recode(m, result))
    return {"stars": ap.suppress(m, result), "sub-domains": ap.generalize(m, result)}


def _swapped(group: Callable, m: Microdata, k: int, seed: int) -> dict[str, Release]:
    """Swap and generalize one grouping."""
    return {form: _PUBLICATIONS[form](m, group(m, k, seed), seed) for form in _SWAPPED}


def _published(publish: Callable, m: Microdata, k: int, seed: int) -> dict[str, Release]:
    """Publish two groupings in one form."""
    return {of: publish(m, _GROUPINGS[of](m, k, seed), seed) for of in _COMPARED}


_OF_VALUES = {
    "values changed": lambda rel: measure.generalizations(rel) / rel.microdata.n,
    "rows changed": lambda rel: float(_changed(rel).mean()),
    "discernibility": lambda rel: measure.discernibility(rel) / rel.microdata.n,
    "class size": measure.average_class_size,
    "NCP": measure.gcp,
}
_OF_DISTRIBUTIONS = {"KL-divergence": measure.kl_divergence, "query error": measure.query_error}
_OF_ANSWERS = {
    "query error": measure.query_error,
    "absolute query error": lambda rel: measure.query_error(rel, of="absolute"),
    "correlation": lambda rel: _correlation_lost(rel),
}
_OF_RISK = {
    "disclosure": lambda rel: measure.disclosure_risk(rel, "own"),
    "exposure": lambda rel: measure.exposure(rel, "surplus", dominant_value(rel.microdata)),
    "reconstruction": lambda rel: (
        np.nan if rel.is_synthetic.all() else measure.reconstruction(rel, 0.25, 0)
    ),
}
#: Methods that answer one question -> the forms of their releases, what publishes these by a
#: method, the methods, and what is measured besides `_measured`.
GROUPS = {
    "l-diversity": (_FORMS, _of_groups, _DIVERSE, _OF_VALUES | _OF_DISTRIBUTIONS),
    "k-anonymity": (_FORMS, _of_groups, _ANONYMOUS, _OF_VALUES | _OF_DISTRIBUTIONS | {
        "ach": lambda rel: measure.ach(rel, (0.2, 1.0))}),
    "repaired data": (("all rows", "real people"), _repaired,
                      {name: name for name in ("Proposed", *BASELINES)}, _OF_VALUES | _OF_RISK),
    "groupings": (_SWAPPED, _swapped, _GROUPINGS, _OF_ANSWERS),
    "publications": (_COMPARED, _published, _PUBLICATIONS, _OF_ANSWERS),
}  # fmt: skip
#: Group -> a low and a high level: l of the first, k of the others.
LEVELS = {name: (2, 4) if name == "l-diversity" else (5, 20) for name in GROUPS}


def _changed(rel: Release) -> np.ndarray:
    """Return which rows do not show all their values as they are."""
    kept = rel.shown.copy()
    for p, codes in zip(rel.published, rel.entries.codes.T, strict=True):
        kept &= (p.sub_domains.sizes == 1)[p.index] & (p.sub_domains.low[p.index] == codes)
    return ~kept[rel.entries.of_row]


def _correlation_lost(rel: Release) -> float:
    """Return how far the mutual information with the sensitive value changes, on average."""
    m = rel.microdata
    pairs = (_values_singly(m, a).answers(m, rel) for a in m.attributes if a.size > 1)
    told = [[_association(counts)["mutual information"] for counts in pair] for pair in pairs]
    return float(np.mean([abs(after - before) for before, after in told]))


def outcomes(
    *, group: str, table: str, draw: int, n: int, level: int, tables: Mapping[str, Microdata]
) -> list[dict]:
    """Measure every method of a group on one draw; a method that fails has no numbers."""
    m, test = _drawn(tables[table], table, group == "repaired data", n, draw)
    (forms, publish, methods, _), found = GROUPS[group], []
    with at_once():
        for name, method in methods.items():
            try:
                releases, failed = publish(method, m, level, draw), "no such release"
            except AnonpaperError as error:
                releases, failed = {}, type(error).__name__
            for form in forms:
                about = {"method": name, "form": form, "d": m.d, "failed": failed}
                if form in releases:
                    about |= {"failed": ""} | _measured(releases[form], m, test, group)
                found.append(about)
    return found


def _measured(rel: Release, m: Microdata, test: Microdata, group: str) -> dict[str, float]:
    found = {name: float(of(rel)) for name, of in GROUPS[group][-1].items()}
    if group == "repaired data":  # with many sensitive values forests are no better than chance
        found["marginals"] = 1 - measure.marginal_similarity(m, rel)
        learnt = measure.classification(rel, test, trees=20, seed=0)
        found["learning error"] = 1 - learnt.balanced_accuracy
    return found


#: What varies between settings; a set of quasi-identifiers belongs to one table and draw.
CHOICES = ("table", "quasi-identifiers", "n", "level", "form", "measure")
_SETTING = ["group", "table", "draw", "n", "level", "form"]
#: Measures of risk; all others are of loss and use.
RISKS = ("disclosure", "exposure", "reconstruction")
#: How a ranking can end in a setting, the first that is true -> its score.
SCORE = {"both fail": 0.5, "better fails": 0, "worse fails": 1, "tie": 0.5, "holds": 1, "fails": 0}


def published_rankings() -> pd.DataFrame:
    """Return what the papers rank by a sentence or a figure about loss, use or risk.

    Of a pair of methods, the paper calls the first one better. `kind` are the measures that test
    it, `own` the settings here that are nearest to the paper's own. Rankings by run time are left
    out, and those of one method's queries about one attribute (boger2020, Figures 9 to 12).
    """
    found = pd.read_csv(Path(__file__).with_name("published_rankings.csv"))
    return found.set_index((found["better"] + " > " + found["worse"]).rename("ranking"))


def scores(rows: pd.DataFrame, rankings: pd.DataFrame, margin: float = 1e-9) -> pd.DataFrame:
    """Score every ranking in every setting: 1 if it holds, 0 if not, one half for a tie.

    A method that has no number loses against one that has; if both have none, it is a tie. The
    column `how` tells these cases apart. `margin` is relative to the larger number.
    """
    measures = [name for name in rows.select_dtypes("number") if name not in [*_SETTING, "d"]]
    wide, found = {}, []
    for group, of in rows.groupby("group"):
        used = [name for name in measures if of[name].notna().any()]
        tall = of.melt([*_SETTING, "method"], used, "measure", "number")
        wide[group] = tall.pivot(index=[*_SETTING, "measure"], columns="method", values="number")
    for name, about in rankings.iterrows():
        of = wide[about["group"]]
        risky = of.index.get_level_values("measure").isin(RISKS)
        of = of[{"loss": ~risky, "risk": risky, "all": risky | True}[about["kind"]]]
        a, b = of[about["better"]], of[about["worse"]]
        gap = np.where(a == b, 0, (a - b).abs() / np.maximum(a.abs(), b.abs()))
        cases = [a.isna() & b.isna(), a.isna(), b.isna(), gap <= margin, a < b]
        how = np.select(cases, [*SCORE][:-1], "fails")
        score = pd.Series(how).map(SCORE).to_numpy(float)
        found.append(of.index.to_frame(index=False).assign(ranking=name, score=score, how=how))
    return pd.concat(found, ignore_index=True)


def deciding(score: pd.DataFrame) -> pd.Series:
    """Return the variance of the score that each choice explains alone, and all together.

    A functional analysis of variance over balanced settings: Var(E[score | choice]). The sets of
    quasi-identifiers belong to their table: Var(E[score | table, draw]) - Var(E[score | table]).
    """
    by = {choice: [choice] for choice in CHOICES}
    by["quasi-identifiers"], by["total"] = ["table", "draw"], [*_SETTING[1:], "measure"]
    means = {name: score.groupby(of)["score"].transform("mean") for name, of in by.items()}
    found = ((pd.DataFrame(means) - score["score"].mean()) ** 2).mean()
    found["quasi-identifiers"] -= found["table"]
    return found


def shares(scores: pd.DataFrame, rankings: pd.DataFrame) -> pd.DataFrame:
    """Return shares of the variance, added up over the rankings of each paper and of all."""
    parts = {name: deciding(of) for name, of in scores.groupby("ranking", sort=False)}
    parts = pd.DataFrame(parts).T.groupby(rankings["paper"], sort=False).sum()
    parts.loc["all"] = parts.sum()
    total = parts.pop("total")
    parts["several together"] = total - parts.sum(axis=1)
    return parts.rename(columns={"n": "rows"}).div(total.where(total > 0), axis=0)

"""What the notebooks of methods side by side measure: one release, or one person in it.

Every method of the papers, and what it is usually compared with, publishes the same rows with the
same quasi-identifiers and the same secret. Privacy is that of real people before an attacker who
knows everybody's quasi-identifiers and recognizes invented rows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

import anonpaper as ap
from anonpaper.compendium.intervals import mean_interval
from anonpaper.constraints import proportion_constraints
from anonpaper.datasets.trees import hierarchies
from anonpaper.errors import InfeasibleError
from anonpaper.randomness import generator
from anonpaper.repair.synthesis import fuse

DISEASES = {  # first codes of the chapters of ICD-9, in their order
    "infections": 1, "neoplasms": 140, "endocrine": 240, "blood": 280, "mental": 290,
    "nervous": 320, "circulatory": 390, "respiratory": 460, "digestive": 520,
    "genitourinary": 580, "pregnancy": 630, "skin": 680, "musculoskeletal": 710,
    "congenital": 740, "symptoms": 780, "injury": 800,
}  # fmt: skip


def balance(m: ap.Microdata, seed: int) -> ap.Microdata:
    """Add invented rows until all secrets are equally frequent, by a Gaussian copula."""
    fused = fuse(m, ap.gaussian_copula(m, ap.find_imbalance(m).needed, seed=seed))
    return fused.replace(domains={a.name: a.values for a in m.attributes if a.numeric})


def of_person(rel: ap.Release, place: int) -> dict[str, object]:
    """Return what a release says of one person to an attacker who knows her quasi-identifiers.

    ``exact``, ``range`` and ``star`` count her quasi-identifiers that are published as they are,
    as one of several values, and not at all. ``rows that fit`` have published values that can be
    hers; ``rows alike`` are published like hers, or are of her group where secrets were swapped.
    ``probability`` is the share of her secret among these.
    """
    m, labels, entry = rel.microdata, rel.classes.labels, rel.entries.of_row[place]
    own, alike = m.sensitive_codes[place], rel.sensitive_codes[labels == labels[place]]
    fit = rel.shown
    for p, code in zip(rel.published, m.codes[place], strict=True):
        fit = fit & p.sub_domains.contains(p.index, np.full(len(p.index), code))
    exact = sum(int(p.sizes[p.index[entry]] == 1) for p in rel.published)
    stars = sum(bool(p.is_star[p.index[entry]]) for p in rel.published)
    return {
        "exact": exact, "range": len(rel.published) - exact - stars, "star": stars,
        "her own secret": bool(rel.sensitive_codes[place] == own),
        "rows that fit": rel.entries.rows(fit),
        "rows alike": len(alike),
        "probability": float(np.mean(alike == own)),
        "best guess": float(np.bincount(alike).max() / len(alike)),
    }  # fmt: skip


def marked(rel: ap.Release, m: ap.Microdata, place: int) -> pd.DataFrame:
    """Return a published table with one person's row marked, and invented rows called so."""
    names = [f"→ {name}" if at == place else name for at, name in enumerate(m.frame.index)]
    return rel.frame.set_axis([*names, *["invented"] * (rel.microdata.n - m.n)])


def load_table(name: str) -> ap.Microdata:
    """Load people with four quasi-identifiers and a secret without frequent values.

    Diabetes has everybody's first stay, and the chapter of its diagnosis. A missing value is a
    category, and categories stand in the order of the hierarchies.
    """
    qi, secret = {
        "adult": (["age", "education", "race", "sex"], "occupation"),
        "census": (["age", "education", "race", "sex"], "major occupation code"),
        "diabetes": (["age", "race", "gender", "time_in_hospital"], "diag_1"),
    }[name]
    m = ap.load(name, qi=qi, sensitive=secret)
    frame = m.frame[m.frame[secret] != "Not in universe"]
    if name == "diabetes":
        frame, secret = frame.drop_duplicates("patient_nbr"), "diagnosis"
        codes = pd.to_numeric(frame["diag_1"].astype(str), errors="coerce")
        named = pd.cut(codes, [*DISEASES.values(), np.inf], right=False, labels=[*DISEASES])
        named = named.astype(object).mask(codes // 1 == 250, "diabetes").fillna("other")
        frame = frame.assign(diagnosis=named)
    frame = frame[[*qi, secret]].reset_index(drop=True).astype({secret: str})
    m = m.replace(frame=frame, sensitive=secret, domains=dict.fromkeys([*qi, secret]))
    trees = hierarchies(name, m)
    return ap.in_preorder(m, {a.name: trees[a.name] for a in m.attributes if not a.numeric})


def split(m: ap.Microdata, rows: int, seed: int) -> tuple[ap.Microdata, ap.Microdata]:
    """Draw rows to publish and half as many people to be held out, no row twice."""
    drawn = generator(seed).permutation(m.n)[: rows + rows // 2]
    return m.take(np.sort(drawn[:rows])), m.take(np.sort(drawn[rows:]))


class Method(NamedTuple):
    """Who proposes a method, the level it is asked for, and how it publishes a table."""

    paper: str  # its key, or "baseline"
    asks: str  # l: no secret has more than a share of 1/l; k: everybody is one of k
    publish: Callable[..., ap.Release]  # of table, level, trees and seed


def _augmented(m, k, trees, seed):
    fused = balance(m, seed)
    return ap.shallow_generalize(fused, ap.balanced_classes(fused, k, 2, seed), trees)


def _diverse(m, k, trees, seed):
    """A fifth of the rows, or up to two, keeps each race in proportion; where that is k rows."""
    asked = proportion_constraints(m, ["race"], m.n // 5, slack=1.0)
    asked = [c for c in asked if c.low >= k]
    # the backtracks decide, not how fast the machine is
    return ap.suppress(m, ap.diva(m, asked, k, seed=seed, max_seconds=3600))


#: Name -> method. Those of a paper publish as the paper does; baselines generalize or, where
#: diva2021 compares itself with them, suppress.
METHODS = {
    "preference search": Method("dewri2009", "k", lambda m, k, trees, seed: ap.recode(
        m, ap.preference_search(m, k, evaluations=5_000, seed=seed))),
    "TP": Method("xiao2010", "l", lambda m, l, trees, seed: ap.suppress(m, ap.tp(m, l))),
    "TP+": Method("xiao2010", "l", lambda m, l, trees, seed: ap.suppress(m, ap.tp_plus(m, l))),
    "K,L,θ, swapped": Method("boger2020", "l", lambda m, l, trees, seed: ap.swap(
        m, ap.klt(m, l, l, 1 / l, seed=seed), seed=seed)),
    "DIVA": Method("diva2021", "k", _diverse),
    "augmented": Method("majeed2024", "k", _augmented),
    "TP refined": Method("ours", "l", lambda m, l, trees, seed: ap.suppress(
        m, ap.tp_refined(m, l, seed=seed))),
    "Hilbert": Method("baseline", "l", lambda m, l, trees, seed: ap.suppress(m, ap.hilbert(m, l))),
    "TDS": Method("baseline", "l", lambda m, l, trees, seed: ap.recode(m, ap.tds(m, l, trees))),
    "Mondrian, l": Method("baseline", "l", lambda m, l, trees, seed: ap.generalize(
        m, ap.mondrian(m, l, l))),
    "full domain, l": Method("baseline", "l", lambda m, l, trees, seed: ap.recode(
        m, ap.full_domain(m, l, trees, l, diversity="frequency"))),
    "Mondrian, k": Method("baseline", "k", lambda m, k, trees, seed: ap.generalize(
        m, ap.mondrian(m, k))),
    "full domain, k": Method("baseline", "k", lambda m, k, trees, seed: ap.recode(
        m, ap.full_domain(m, k, trees))),
    "k-member": Method("baseline", "k", lambda m, k, trees, seed: ap.suppress(
        m, ap.k_member(m, k, seed=seed))),
    "OKA": Method("baseline", "k", lambda m, k, trees, seed: ap.suppress(
        m, ap.oka(m, k, seed=seed))),
}  # fmt: skip


def points(data: Sequence[str], ls: Sequence[int], ks: Sequence[int], seeds: Sequence[int]):
    """Return the settings of `measure_point`: every method at the levels it is asked for."""
    return [
        {"data": name, "method": method, "level": level, "seed": seed}
        for name in data for method, about in METHODS.items()
        for level in {"l": ls, "k": ks}[about.asks] for seed in seeds
    ]  # fmt: skip


def measure_point(
    tables: Mapping, data: str, method: str, level: int, seed: int, rows: int, **measured: int
) -> dict[str, object]:
    """Publish drawn rows of a table by one method and measure the release, if it is feasible."""
    m, test = split(tables[data], rows, seed)
    paper, asks, publish = METHODS[method]
    found = {"paper": paper, "asks": asks}
    try:
        rel = publish(m, level, hierarchies(data, m), seed)
    except InfeasibleError:
        return found
    return found | measure_release(rel, m, test, seed=seed, **measured)


def measure_release(
    rel: ap.Release, m: ap.Microdata, test: ap.Microdata, *, queries: int, trees: int, seed: int
) -> dict[str, float | None]:
    """Return privacy reached and loss of a release of people `m`; `test` are other people.

    Privacy is that of real people; ``, all rows`` is that before attackers who do not recognize
    invented rows. ``query error`` is relative to the true count, or to a thousandth of the people.
    ``worse than guessing`` is what a forest misclassifies beyond the people's most frequent
    secret, and ``true rows`` are somebody's, with the secret that is theirs.
    """
    people = rel.without_synthetic() if rel.is_synthetic.any() else rel
    half = {a.name: max(1, ap.measure.queries.places(a) // 2) for a in m.attributes}
    asked = ap.measure.workload(m, half, queries, seed)
    truth, answers = asked.answers(m)[0], asked.answers(rel)[0]
    misclassified = 1 - ap.measure.classification(rel, test, trees=trees, seed=seed).accuracy
    guessed = float(np.mean(test.sensitive_codes == m.sensitive_counts.argmax()))
    is_own = (rel.sensitive_codes == rel.microdata.sensitive_codes) & ~rel.is_synthetic
    return {
        "k": float(people.classes.sizes().min()),
        "l": float(people.audit().set_index("principle")["level"]["frequency l-diversity"]),
        "own risk": ap.measure.disclosure_risk(people, "own"),
        "k, all rows": float(rel.classes.sizes().min()),
        "own risk, all rows": ap.measure.disclosure_risk(rel, "own", "real"),
        "NCP": ap.measure.gcp(people),
        "query error": float((np.abs(answers - truth) / np.maximum(truth, m.n / 1000)).mean()),
        "misclassified": misclassified,
        "worse than guessing": misclassified - (1 - guessed),
        "true rows": float(is_own[rel.is_published].mean()),
    }


class Need(NamedTuple):
    """What somebody must have, and what should be lost as little as possible."""

    words: str  # "If you must ..."
    least: Mapping[str, float]  # what has to be reached on every seed, by column
    most: Mapping[str, float]
    loss: str  # the column to be least on average


_TRUE = {"true rows": 1}
#: What notebook 2_frontier asks of every table.
NEEDS = (
    Need("bound every guess of a secret by 1/2, and count", {"l": 2}, {}, "query error"),
    Need("bound it by 1/2 and publish true rows, and count", {"l": 2} | _TRUE, {}, "query error"),
    Need("bound it by 1/2 and publish true rows, and keep values", {"l": 2} | _TRUE, {}, "NCP"),
    Need("bound it by 1/2, and predict no worse than the most frequent secret does", {"l": 2},
         {"worse than guessing": 0}, "misclassified"),
    Need("hide everybody among five, and count", {"k": 5}, {}, "query error"),
    Need("hide everybody among five, and keep values", {"k": 5} | _TRUE, {}, "NCP"),
    Need("hide everybody among five and bound guesses by 1/2, and count", {"k": 5, "l": 2}, {},
         "query error"),
    Need("let people's secrets be found with 1/4 on average at most, and count", {},
         {"own risk": 0.25}, "query error"),
)  # fmt: skip


def advice(found: pd.DataFrame, needs: Sequence[Need]) -> pd.DataFrame:
    """Return per table and need which method to use: the least mean loss that meets the need.

    ``promised`` says whether the level bounds what is needed; if not, all draws happened to reach
    it. ``more`` is what the ``next`` method loses more, with its interval over seeds.
    """
    told = [
        {"data": name, "need": need.words, "loss": need.loss} | _best(part, need)
        for name, part in found.groupby("data", sort=False)
        for need in needs
    ]
    return pd.DataFrame(told)


def _best(part: pd.DataFrame, need: Need) -> dict[str, object]:
    """Return the setting that meets a need at the least mean loss, and the next method."""
    setting = ["method", "asks", "level"]
    least, most = pd.Series(need.least, dtype=float), pd.Series(need.most, dtype=float)
    meets = (part[least.index] >= least).all(axis=1) & (part[most.index] <= most).all(axis=1)
    meets = meets.groupby([part[name] for name in setting]).transform("all")
    losses = part[meets].pivot(index=setting, columns="seed", values=need.loss)
    # a draw that is not feasible may have been left out: it does not meet the need either
    losses = losses.reindex(columns=sorted(part["seed"].unique())).dropna()
    if losses.empty:
        return {}
    mean = losses.mean(axis=1)
    first, *others = mean.loc[mean.groupby("method").idxmin()].sort_values(kind="stable").index
    told = {"use": _setting(first), "value": mean[first], "promised": _promised(first, need)}
    if others:
        ends = mean_interval(losses.loc[others[0]] - losses.loc[first])
        told |= {"next": _setting(others[0]), "more": mean[others[0]] - mean[first]}
        told |= dict(zip(("low", "high"), ends, strict=True))
    return told


def _promised(setting: tuple, need: Need) -> bool:
    """Return whether a level bounds what a need asks of k, l and own risk."""
    _, asks, level = setting
    known = {"k": level} | ({"l": level, "own risk": 1 / level} if asks == "l" else {})
    enough = all(known.get(name, 0) >= need.least.get(name, 0) for name in ("k", "l"))
    return enough and known.get("own risk", 1) <= need.most.get("own risk", 1)


def in_words(advice: pd.DataFrame) -> list[str]:
    """Return a sentence per row of `advice`."""
    return [_sentence(**row.dropna()) for _, row in advice.iterrows()]


def _sentence(
    *, loss, use=None, value=None, promised=True, next=None, more=None, low=0, high=0, **_
) -> str:
    if use is None:
        return "none of these methods will do"
    told = f"use {use} ({loss} {value:.3f}{'' if promised else ', reached but not promised'}"
    if next is not None:
        told += f"; {next} loses {more:.3f} more" if low > 0 else f"; or {next}: not told apart"
    return told + ")"


def _setting(index: tuple) -> str:
    method, asks, level = index
    return f"{method.removesuffix(f', {asks}')} with {asks} = {level}"


#: What methods are ranked by, less being better, and its unit.
MEASURES = {
    "detail lost": "detail lost (NCP)", "query error": "error of counts",
    "misclassified": "errors of a forest", "advantage": "attacker's advantage",
    "seconds": "processor time", "memory": "memory",
}  # fmt: skip


def kept(releases: pd.DataFrame) -> pd.Series:
    """Whether each release counts: its promise was kept, or cannot be read off a file."""
    return releases["promise"].isin(["kept", "none", "not in the bytes"])


def ranks(releases: pd.DataFrame, principle: str, measures=tuple(MEASURES), draws=2_000, seed=0):
    """Rank the methods of a principle by each measure, with 95 % intervals over tables.

    Equal methods share their mean rank, and one that kept no promise is last. A table's rank is
    the mean over levels. Tables are drawn whole, with replacement: their tasks share people.
    """
    part = releases[releases["principle"].eq(principle) & releases["tool"].ne("reference")]
    rng, found = np.random.default_rng(seed), []
    for measure in measures:
        wide = part.assign(value=part[measure].where(kept(part))).pivot(
            index=["table", "level"], columns=["tool", "method"], values="value"
        )
        of_table = wide.rank(axis=1, na_option="bottom").groupby("table").mean()
        chosen = rng.integers(len(of_table), size=(draws, len(of_table)))
        drawn = pd.DataFrame(of_table.to_numpy()[chosen].mean(axis=1)).rank(axis=1).to_numpy()
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        rank = of_table.mean().rank()
        about = {"principle": principle, "measure": measure, "tables": len(of_table)}
        found.append(rank.rename("rank").reset_index().assign(low=low, high=high, **about))
    return pd.concat(found, ignore_index=True)

"""How the notebooks of majeed2024 measure: one function per kind of figure, tidy rows out.

Tables reach the functions of a grid as *cases*: per data set the real rows, the same with
synthetic ones, and hierarchies are made anew from the data set's name. All measures are taken
twice: of the release as it is, and of what it says about real people alone (``who``).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from anonpaper.datasets import load
from anonpaper.datasets.trees import LEVELS, hierarchies
from anonpaper.errors import InfeasibleError
from anonpaper.groups import Partition
from anonpaper.hierarchy import Hierarchy
from anonpaper.measure import (
    classification,
    disclosure_risk,
    distortion,
    exposure,
    generalizations,
    marginal_similarity,
    reconstruction,
    undiverse_rows,
)
from anonpaper.microdata import Microdata
from anonpaper.papers.grids import run_grid
from anonpaper.papers.majeed2024.baselines import BASELINES
from anonpaper.papers.published import reference
from anonpaper.partition.balanced import balanced_classes
from anonpaper.partition.mondrian import mondrian
from anonpaper.prepare import synthesis
from anonpaper.prepare.cleaning import clean
from anonpaper.prepare.imbalance import find_imbalance
from anonpaper.publish import Release
from anonpaper.publish.shallow import shallow_generalize
from anonpaper.randomness import generator

__all__ = [
    "ABLATIONS",
    "METHODS",
    "PAPER_FRIENDLY",
    "ablate",
    "augment_cases",
    "check_proposed",
    "compare_utility",
    "dominant_value",
    "held_out",
    "measure_method",
    "measure_release",
    "pairs",
    "prepare",
    "proposed",
    "published_risk",
    "release_of",
    "some_qids",
    "synthetic_rows",
    "ten_users",
    "time_method",
    "train",
]

#: "Proposed" and the baselines, in the order of the paper's tables.
METHODS = ("Proposed", *BASELINES)
_SENSITIVE = {
    "adult": "salary-class", "stroke": "stroke", "census": "income", "diabetes": "diabetesMed",
}  # fmt: skip

#: What the paper calls pattern-friendly (section 6.2).
PAPER_FRIENDLY = {
    "adult": ("native-country", "sex", "race", "workclass"),
    "stroke": ("ever_married", "smoking_status"),
    "census": ("country of birth self", "race", "sex", "class of worker"),
    "diabetes": ("race", "gender", "insulin"),
}

#: Ranges that domain knowledge allows, for the search for outliers.
_RANGES = {
    "adult": {"age": (0, 120)},
    "stroke": {"age": (0, 120)},
    "census": {"age": (0, 120), "weeks worked in year": (0, 53)},
    "diabetes": {"time_in_hospital": (1, 14), "num_lab_procedures": (1, 150)},
}

ABLATIONS = (
    "all modules", "no augmentation", "no balanced classes", "one level at least, PF kept",
    "one level at least", "even halves",
)  # fmt: skip


def ten_users() -> Microdata:
    """Return Table 1 of the paper, without names.

    Examples
    --------
    >>> ten_users().sensitive_counts.tolist()
    [2, 8]
    """
    frame = pd.DataFrame(
        [
            (45, "M", "USA", "Black", 6, "Cancer"), (32, "F", "England", "White", 5, "Flu"),
            (35, "F", "England", "White", 6, "Cancer"), (43, "M", "USA", "White", 5, "Flu"),
            (55, "F", "Italy", "White", 6, "Flu"), (46, "F", "France", "White", 6, "Flu"),
            (69, "M", "Spain", "White", 7, "Flu"), (39, "M", "Australia", "Black", 6, "Flu"),
            (89, "F", "China", "White", 7, "Flu"), (80, "F", "China", "White", 5, "Flu"),
        ],
        columns=["Age", "Sex", "Citizenship", "Race", "Height", "Disease"],
        index=pd.Index([f"u{i}" for i in range(1, 11)], name="ID"),
    )  # fmt: skip
    return Microdata(frame, list(frame.columns[:-1]), "Disease")


def prepare(
    name: str, rows: int | None = None, seed: int = 0, missing: str = "category"
) -> tuple[Microdata, pd.DataFrame]:
    """Load a data set with the roles of Table 5 and pre-process it.

    Parameters
    ----------
    name : {"adult", "stroke", "census", "diabetes"}
        The data set; of census the training file, as in the paper.
    rows, seed
        As for :func:`anonpaper.datasets.load`.
    missing : str
        As for :func:`anonpaper.prepare.cleaning.clean`.

    Returns
    -------
    m : Microdata
    account : pandas.DataFrame
        What pre-processing changed, step by step.
    """
    qi, sensitive = list(LEVELS[name]), _SENSITIVE[name]
    part = {"part": "train"} if name == "census" else {}
    raw = load(name, qi=qi, sensitive=sensitive, rows=rows, seed=seed, **part)
    frame, account = clean(
        raw.frame.reset_index(drop=True), qi, sensitive, ranges=_RANGES[name], missing=missing
    )
    return raw.replace(frame=frame, domains=dict.fromkeys(frame)), account


def pairs(m: Microdata) -> dict:
    """Count, as section 1.2 does, how many pairs can have two sensitive values.

    Examples
    --------
    >>> pairs(ten_users())
    {'pairs': 5, 'diverse': 2, 'not_diverse': 3, 'left_over': 6}
    """
    counts = m.sensitive_counts
    whole, rare = m.n // 2, int(counts.sum() - counts.max())
    diverse = min(rare, whole)
    return {
        "pairs": whole,
        "diverse": diverse,
        "not_diverse": whole - diverse,
        "left_over": max(0, int(2 * counts.max() - counts.sum())),
    }


def held_out(m: Microdata, seed: int = 0) -> tuple[Microdata, Microdata]:
    """Split rows 2 to 1 at random, every sensitive value alike, into training and test rows."""
    rng = generator(seed)
    is_test = np.zeros(m.n, dtype=bool)
    for code in range(m.sensitive_attribute.size):
        rows = rng.permutation(np.flatnonzero(m.sensitive_codes == code))
        is_test[rows[: len(rows) // 3]] = True
    return m.take(~is_test), m.take(is_test)


def synthetic_rows(
    m: Microdata, method: str, epochs: int, seed: int, learn_from: int | None = None
) -> pd.DataFrame:
    """Sample the rows that balance a table, from a model of it or of some of its rows.

    Parameters
    ----------
    m : Microdata
        Real rows.
    method, epochs, seed
        As for :func:`anonpaper.prepare.synthesis.synthesize`.
    learn_from : int, optional
        Rows, drawn at random, that the model learns from; all by default.
    """
    part = m if learn_from is None or learn_from >= m.n else m.sample(learn_from, seed)
    return synthesis.synthesize(
        part, find_imbalance(m).needed, method, epochs=epochs, seed=seed
    )  # fmt: skip


def train(
    tables: Mapping[str, Microdata], name: str, method: str, epochs: int, seed: int,
    learn_from: int | None,
) -> dict:  # fmt: skip
    """Make the synthetic rows that balance a table; for :func:`anonpaper.papers.results.run_grid`.

    The rows go to the cache of models. The seconds returned are those of the training and the
    sampling when the rows were made, be it now or before.
    """
    rows = synthetic_rows(tables[name], method, epochs, seed, learn_from)
    return {
        "rows": tables[name].n, "synthetic rows": len(rows),
        "clipped values": rows.attrs["clipped"], "seconds": rows.attrs["seconds"],
    }  # fmt: skip


def augment_cases(
    tables: Mapping[str, Microdata], epochs: int, method: str = "ctgan", seed: int = 0,
    learn_from: Mapping[str, int] | None = None,
) -> tuple[dict[str, dict[str, Microdata]], pd.DataFrame]:  # fmt: skip
    """Return per data set the real rows and the same with synthetic ones; also what that took.

    Models that are not in the cache are trained side by side, the largest tables first.

    Parameters
    ----------
    tables : mapping of name to Microdata
        Real rows.
    epochs : int
        Of the training.
    method, seed
        As for :func:`anonpaper.prepare.synthesis.augment`.
    learn_from : mapping of name to int, optional
        For the tables named, how many rows the model learns from.

    Returns
    -------
    cases : dict
        Name -> ``{"real": Microdata, "fused": Microdata}``.
    trained : pandas.DataFrame
        One row per table, as :func:`train` returns it.
    """
    limits = dict(learn_from or {})
    by_size = sorted(tables, key=lambda name: -min(tables[name].n, limits.get(name, np.inf)))
    grid = [
        dict(name=name, method=method, epochs=epochs, seed=seed, learn_from=limits.get(name))
        for name in by_size
    ]
    trained = run_grid(train, grid, common={"tables": dict(tables)}, name=method)
    cases = {
        name: {"real": m, "fused": synthesis.fuse(
            m, synthetic_rows(m, method, epochs, seed, limits.get(name))
        )}
        for name, m in tables.items()
    }  # fmt: skip
    return cases, trained.set_index("name").loc[list(tables)].reset_index()


def proposed(
    m: Microdata,
    k: int,
    l: int,
    trees: Mapping[str, Hierarchy],
    *,
    friendly: Sequence[str] = (),
    seed: int = 0,
    least_level: int = 0,
    largest_share: float = 1.0,
) -> Release:
    """Publish a table by the proposed method: balanced classes, shallow generalization."""
    p = balanced_classes(m, k, l, seed, largest_share=largest_share)
    return shallow_generalize(m, p, trees, friendly, least_level=least_level)


def release_of(
    cases: Mapping[str, Mapping[str, Microdata]], name: str, method: str, k: int,
    mode: str = "enforce", seed: int = 0,
) -> tuple[Release, dict[str, Hierarchy], float]:  # fmt: skip
    """Publish a data set by one method; also its hierarchies and the seconds taken.

    Parameters
    ----------
    cases : mapping
        As :func:`augment_cases` returns.
    name, method : str
        A data set and one of :data:`METHODS`.
    k : int
        Smallest class.
    mode : {"enforce", "best effort"}
        Whether baselines enforce two distinct values, or k only.
    seed : int
        Of the method.
    """
    m = cases[name]["fused" if method == "Proposed" else "real"]
    trees = hierarchies(name, m)
    began = time.perf_counter()
    if method == "Proposed":
        rel = proposed(m, k, 2, trees, friendly=PAPER_FRIENDLY[name], seed=seed)
    else:
        rel = BASELINES[method](m, k, 2 if mode == "enforce" else None, trees, seed=seed)
    return rel, trees, time.perf_counter() - began


def measure_release(
    rel: Release, trees: Mapping[str, Hierarchy], *, known: float = 0.25, seed: int = 0
) -> list[dict]:
    """Measure a release as it is, and what it says about real people alone.

    Returns
    -------
    list of dict
        With ``who`` "all" and "real"; the second is missing where all rows are synthetic. "D own,
        some QIDs" is a mean over the sets of :func:`some_qids`.
    """
    dominant = dominant_value(rel.microdata)
    subsets = some_qids(rel.microdata.qi, seed=seed)
    views = {"all": rel}
    if not rel.is_synthetic.all():
        views["real"] = rel.without_synthetic() if rel.is_synthetic.any() else rel
    rows = []
    for who, view in views.items():
        audit = view.audit().set_index("principle")["level"]
        has_people = not view.is_synthetic.all()
        rows.append(
            {
                "who": who,
                "rows": view.microdata.n,
                "classes": view.classes.n_groups,
                "k level": audit["k-anonymity"],
                "l level": audit["distinct l-diversity"],
                "D values": disclosure_risk(view, "values"),
                "D own": disclosure_risk(view, "own"),
                "D largest": disclosure_risk(view, "largest"),
                "D own, some QIDs": float(
                    np.mean([disclosure_risk(view, "own", known=some) for some in subsets])
                ),
                "E surplus": exposure(view, "surplus", dominant),
                "E single": exposure(view, "single", dominant),
                "E majority": exposure(view, "majority", dominant),
                "R": reconstruction(view, known, seed) if has_people else None,
                "DM": distortion(view, trees),
                "generalizations": generalizations(view),
                "undiverse rows": undiverse_rows(view),
            }
        )
    return rows


def some_qids(qi: Sequence[str], sets: int = 20, seed: int = 0) -> list[list[str]]:
    """Draw sets of quasi-identifiers that an attacker may know, each one in or out by a coin.

    The paper tests "different combinations of QIDs" and does not say which.

    Examples
    --------
    >>> some_qids(["age", "sex"], sets=3)
    [['sex'], ['age', 'sex'], ['sex']]
    """
    rng, found = generator(seed), []
    while len(found) < sets:
        drawn = [name for name, is_in in zip(qi, rng.random(len(qi)) < 0.5, strict=True) if is_in]
        if drawn:
            found.append(drawn)
    return found


def measure_method(cases, name: str, method: str, k: int, mode: str, seed: int) -> list[dict]:
    """Publish by one method and measure; for :func:`anonpaper.papers.results.run_grid`."""
    rel, trees, seconds = release_of(cases, name, method, k, mode, seed)
    rows = measure_release(rel, trees, seed=seed)
    real = cases[name]["real"]
    similarity = marginal_similarity(real, rel)
    return [row | {"similarity": similarity, "seconds": seconds} for row in rows]


def compare_utility(cases, name: str, method: str, k: int, mode: str, seed: int) -> dict:
    """Train a forest on a release of the training rows; test it on held-out real people.

    `cases` holds ``test`` besides. Method "as it is" trains on the real rows themselves,
    "repaired" on these and the synthetic ones, both without any generalization.
    """
    case = cases[name]
    if method in ("as it is", "repaired"):
        m = case["real" if method == "as it is" else "fused"]
        kept = Partition(np.asarray(m.cells.tuple_of_row))
        rel = shallow_generalize(m, kept, hierarchies(name, m))
    else:
        rel, _, _ = release_of(cases, name, method, k, mode, seed)
    found = classification(rel, case["test"], seed=seed)
    dominant = dominant_value(case["real"])
    recall = found.recall
    return {
        "accuracy": found.accuracy,
        "balanced accuracy": found.balanced_accuracy,
        "recall of the dominant value": float(recall[dominant]),
        "recall of the rare value": float(recall.drop(dominant).mean()),
    }


def time_method(cases, name: str, method: str, k: int, mode: str, seed: int) -> dict:
    """Return the seconds that one method takes; synthesis is not among them."""
    return {"seconds": release_of(cases, name, method, k, mode, seed)[2]}


def ablate(cases, name: str, variant: str, k: int, seed: int) -> list[dict]:
    """Publish by the proposed method with one module changed, and measure.

    Variants are :data:`ABLATIONS`. *One level at least* generalizes every value by one level or
    more, even where a class agrees on it; with *PF kept* pattern-friendly ones are excepted: only
    under such a floor do they make a difference. *Even halves* asks for classes of equal shares.
    A variant that the table does not allow returns no numbers but the reason.
    """
    friendly = PAPER_FRIENDLY[name]
    m = cases[name]["real" if variant == "no augmentation" else "fused"]
    trees = hierarchies(name, m)
    try:
        if variant == "no balanced classes":
            rel = shallow_generalize(m, mondrian(m, k, 2, diversity="distinct"), trees, friendly)
        else:
            rel = proposed(
                m, k, 2, trees, seed=seed,
                friendly=() if variant == "one level at least" else friendly,
                least_level=int(variant.startswith("one level")),
                largest_share=0.5 if variant == "even halves" else 1.0,
            )  # fmt: skip
    except InfeasibleError as error:
        return [{"who": who, "infeasible": str(error)} for who in ("all", "real")]
    return measure_release(rel, trees, seed=seed)


def check_proposed(cases, name: str, k: int, seed: int) -> dict:
    """Check a release of the proposed method from its published frame alone.

    The frame is grouped by its published values, so this shares no code with the audit. A *class*
    is what an attacker sees; a *group* is what the method formed, and groups of one appearance
    are one class.
    """
    rel, _, seconds = release_of(cases, name, "Proposed", k, seed=seed)
    real, fused = cases[name]["real"], cases[name]["fused"]
    sizes = rel.partition.sizes()
    groups = rel.frame.groupby(fused.qi, observed=True, dropna=False, sort=False)[fused.sensitive]
    dominant = dominant_value(real)
    return {
        "smallest class": int(groups.size().min()),
        "fewest values": int(groups.nunique().min()),
        "smallest group": int(sizes.min()),
        "largest group": int(sizes.max()),
        "real rows": int((~rel.is_synthetic & rel.is_published).sum()),
        "real rows lost": real.n - int((~rel.is_synthetic & rel.is_published).sum()),
        "synthetic rows": int(rel.is_synthetic.sum()),
        "synthetic rows of the dominant value": int(
            (fused.frame.loc[fused.synthetic, fused.sensitive] == dominant).sum()
        ),
        "synthetic values out of range": _strange_values(real, fused),
        "mean similarity": rel.partition.info["mean_similarity"],
        "least entropy": rel.partition.info["least_entropy"],
        "seconds": seconds,
    }


def _strange_values(real: Microdata, fused: Microdata) -> int:
    """Count synthetic numbers outside of the real range and categories no real person has."""
    added = fused.frame[fused.synthetic]
    return int(
        sum(
            (~added[name].between(real.frame[name].min(), real.frame[name].max())).sum()
            if pd.api.types.is_numeric_dtype(real.frame[name])
            else (~added[name].astype(str).isin(set(real.frame[name].astype(str)))).sum()
            for name in real.qi
        )
    )


def dominant_value(m: Microdata) -> object:
    """Return the sensitive value that most real people have."""
    counts = np.bincount(
        m.sensitive_codes[~m.synthetic] if not m.synthetic.all() else m.sensitive_codes,
        minlength=m.sensitive_attribute.size,
    )
    return m.sensitive_attribute.values[counts.argmax()]


def published_risk() -> pd.DataFrame:
    """Return Tables 6 to 9 with the names that methods have here."""
    names = {name.removesuffix("-core"): name for name in METHODS}
    frame = reference("majeed2024_tab6-9_disclosure_risk")
    return frame.assign(method=frame["method"].map(names))

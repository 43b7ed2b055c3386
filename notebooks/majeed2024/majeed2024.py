"""How the notebooks of majeed2024 measure: one function per kind of figure, tidy rows out.

Tables reach the functions of a grid as *cases*: per data set the real rows, the same with
synthetic ones, and hierarchies are made again from the data set's name. All measures are taken
twice: of the release as it is, and of what it says about real people alone (``who``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from majeed2024_baselines import BASELINES
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, cross_val_predict

from anonpaper.compendium.grids import run_grid, timed
from anonpaper.compendium.tables import reference
from anonpaper.datasets import load
from anonpaper.datasets.trees import LEVELS, hierarchies
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
from anonpaper.measure.utility import _published_features
from anonpaper.microdata import Microdata
from anonpaper.partition.balanced import balanced_classes
from anonpaper.publish import Release, shallow_generalize
from anonpaper.randomness import generator
from anonpaper.repair import synthesis
from anonpaper.repair.cleaning import clean
from anonpaper.repair.imbalance import find_imbalance

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

#: T_eta = 0.69 (section 6.2) in the unit of Equation 4, log2, and in nats: name -> base.
THRESHOLDS = {"0.69 bits": 2.0, "0.69 nats": math.e}
_ENTROPY = 0.69

#: What a class is asked for: entropy of the proposed method's; k rows of the others', as section
#: 1.2 describes them, or two sensitive values besides.
DIVERSITY = {name: ("k only", "two values") for name in BASELINES} | {"Proposed": (*THRESHOLDS,)}

TREES = 30  # of a forest; the paper names no number

#: Methods that draw nothing: one seed stands for all.
_DETERMINISTIC = ("LD", "MRMondrian", "DHkmeans-LD-core", "SDDA")


def ten_users() -> Microdata:
    """Return Table 1 of the paper, without names."""
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


def prepare(name: str, rows: int | None = None, seed: int = 0) -> tuple[Microdata, pd.DataFrame]:
    """Load a data set, or so many of its rows, with the roles of Table 5, and pre-process it."""
    qi, sensitive = list(LEVELS[name]), _SENSITIVE[name]
    part = {"part": "train"} if name == "census" else {}
    raw = load(name, qi=qi, sensitive=sensitive, seed=seed, **part)
    if rows is not None and rows < raw.n:  # drawn twice, a row could be learnt from and tested
        raw = load(name, qi=qi, sensitive=sensitive, rows=rows, seed=seed, **part)
    frame, account = clean(
        raw.frame.reset_index(drop=True), qi, sensitive, ranges=_RANGES[name], missing="category"
    )
    return raw.replace(frame=frame, domains=dict.fromkeys(frame)), account


def pairs(m: Microdata) -> dict:
    """Count, as section 1.2 does, how many pairs can have two sensitive values."""
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
    """Sample the rows that balance a table, from a model of it or of some of its rows."""
    part = m if learn_from is None or learn_from >= m.n else m.sample(learn_from, seed)
    return synthesis.synthesize(part, find_imbalance(m).needed, epochs=epochs, seed=seed)


def train(tables, name: str, method: str, epochs: int, seed: int, learn_from: int | None) -> dict:
    """Make the synthetic rows that balance a table; for :func:`anonpaper.compendium.run_grid`."""
    rows = synthetic_rows(tables[name], method, epochs, seed, learn_from)
    return {
        "rows": tables[name].n, "synthetic rows": len(rows),
        "clipped values": rows.attrs["clipped"], "seconds": rows.attrs["seconds"],
    }  # fmt: skip


def augment_cases(
    tables: Mapping[str, Microdata], epochs: int, method: str = "ctgan", seed: int = 0,
    learn_from: Mapping[str, int] | None = None,
) -> tuple[dict[str, dict[str, Microdata]], pd.DataFrame]:  # fmt: skip
    """Return per data set the real rows and the same with synthetic ones; also what that took."""
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
    m: Microdata, k: int, l: int, trees: Mapping[str, Hierarchy], *, friendly: Sequence[str] = (),
    seed: int = 0, largest_share: float = 1.0,
) -> Release:  # fmt: skip
    """Publish a table by the proposed method: balanced classes, shallow generalization."""
    p = balanced_classes(m, k, l, seed, largest_share=largest_share)
    return shallow_generalize(m, p, trees, friendly)


def largest_share(k: int, threshold: str) -> float:
    """Return the share of a class of k rows that one of two values may have at most.

    Without one of :data:`THRESHOLDS` the entropy only has to be above 0, as two values make it.
    """
    if threshold not in THRESHOLDS:
        return 1.0
    base = THRESHOLDS[threshold]
    even = math.ceil(k / 2)
    shares = np.arange(even, k) / k
    entropy = -(shares * np.log(shares) + (1 - shares) * np.log(1 - shares)) / np.log(base)
    return float(max(shares[entropy >= _ENTROPY], default=even / k))


def with_seeds(grid: Sequence[Mapping], seeds: Sequence[int]) -> list[dict]:
    """Repeat settings for every seed; those of a method that draws nothing for the first only."""
    return [
        {**setting, "seed": seed}
        for setting in grid
        for seed in (seeds[:1] if setting["method"] in _DETERMINISTIC else seeds)
    ]


def release_of(
    cases: Mapping[str, Mapping[str, Microdata]], name: str, method: str, k: int,
    diversity: str = "two values", seed: int = 0,
) -> tuple[Release, dict[str, Hierarchy]]:  # fmt: skip
    """Publish a data set by one method, its classes as diverse as named; also its hierarchies."""
    m = cases[name]["fused" if method == "Proposed" else "real"]
    trees = hierarchies(name, m)
    return _published(m, trees, name, method, k, diversity, seed), trees


def _published(m, trees, name, method, k, diversity, seed) -> Release:
    if method != "Proposed":
        l = None if diversity == "k only" else 2
        return BASELINES[method](m, k, l, trees, seed=seed)
    share, friendly = largest_share(k, diversity), PAPER_FRIENDLY[name]
    return proposed(m, k, 2, trees, friendly=friendly, seed=seed, largest_share=share)


def measure_release(
    rel: Release, trees: Mapping[str, Hierarchy], *, seed: int = 0, friendly: Sequence[str] = ()
) -> list[dict]:
    """Measure a release as it is, and what it says about real people alone.

    "DM, every part" is the distortion with each value on the first level at least: as the paper's
    baselines "anonymize every part". Values that are `friendly` are excepted.
    """
    dominant = dominant_value(rel.microdata)
    subsets = some_qids(rel.microdata.qi, seed=seed)
    rows = []
    for who, view in _views(rel, "all", "real").items():
        has_people = not view.is_synthetic.all()
        rows.append(
            {
                "who": who,
                "D values": disclosure_risk(view, "values"),
                "D own": disclosure_risk(view, "own"),
                "D largest": disclosure_risk(view, "largest"),
                "D own, some QIDs": float(
                    np.mean([disclosure_risk(view, "own", known=some) for some in subsets])
                ),
                "E surplus": exposure(view, "surplus", dominant),
                "E single": exposure(view, "single", dominant),
                "E majority": exposure(view, "majority", dominant),
                "R": reconstruction(view, 0.25, seed) if has_people else None,
                "DM": distortion(view, trees),
                "DM, every part": _distortion_of_every_part(view, trees, friendly),
                "generalizations": generalizations(view),
                "undiverse rows": undiverse_rows(view),
            }
        )
    return rows


def _views(rel: Release, whole: str, real: str) -> dict[str, Release]:
    """Return a release as it is and, unless all rows are synthetic, its real people alone."""
    if rel.is_synthetic.all():
        return {whole: rel}
    return {whole: rel, real: rel.without_synthetic() if rel.is_synthetic.any() else rel}


def _distortion_of_every_part(rel: Release, trees, friendly: Sequence[str]) -> float:
    """Return Equation 9 with all values that are kept, except friendly ones, one level up.

    A node of one value alone hides nothing: it stays the value, as in a release.
    """
    raised = 0.0
    for p in rel.published:
        if p.attribute.name in friendly:
            continue
        tree, values = trees[p.attribute.name], p.sub_domains
        parent = tree.maps(p.attribute)[1]
        has_siblings = np.bincount(parent)[parent] > 1
        goes_up = (values.sizes == 1) & has_siblings[values.low]
        raised += rel.entries.rows(rel.shown & goes_up[p.index]) / tree.height
    return distortion(rel, trees) + float(raised) / (rel.microdata.n * rel.microdata.d)


def some_qids(qi: Sequence[str], sets: int = 20, seed: int = 0) -> list[list[str]]:
    """Draw sets of quasi-identifiers that an attacker may know, each one in or out by a coin."""
    rng, found = generator(seed), []
    while len(found) < sets:
        drawn = [name for name, is_in in zip(qi, rng.random(len(qi)) < 0.5, strict=True) if is_in]
        if drawn:
            found.append(drawn)
    return found


def measure_method(cases, name: str, method: str, k: int, diversity: str, seed: int) -> list[dict]:
    """Publish by one method and measure; for :func:`anonpaper.compendium.run_grid`."""
    rel, trees = release_of(cases, name, method, k, diversity, seed)
    friendly = PAPER_FRIENDLY[name] if method == "Proposed" else ()
    rows = measure_release(rel, trees, seed=seed, friendly=friendly)
    real = cases[name]["real"]
    similarity = marginal_similarity(real, rel)
    return [row | {"similarity": similarity} for row in rows]


def compare_utility(cases, name: str, method: str, k: int, diversity: str, seed: int) -> dict:
    """Score forests on a release of the training rows; for a grid.

    Equation 10 counts rows of D': each is predicted by a forest that learned from other rows, with
    synthetic ones among both. A forest of the whole release is tested on held-out ``test`` people
    besides. Methods "as it is" and "repaired" publish every row without any generalization.
    """
    case = cases[name]
    if method in ("as it is", "repaired"):
        m = case["real" if method == "as it is" else "fused"]
        alike = Partition(np.asarray(m.cells.tuple_of_row))
        rel = shallow_generalize(m, alike, hierarchies(name, m))
    else:
        rel, _ = release_of(cases, name, method, k, diversity, seed)
    true, said = by_folds(rel, seed)
    dominant = rel.microdata.sensitive_attribute.code(dominant_value(case["real"]))
    people = classification(rel, case["test"], trees=TREES, seed=seed)
    right = true == said
    recall = [right[true == dominant].mean(), right[true != dominant].mean()]
    return {
        "rows": len(true),
        "accuracy": right.mean(),
        "recall of the frequent value": recall[0],
        "recall of the rare value": recall[1],
        "balanced accuracy": np.mean(recall),
        "apart": abs(recall[0] - recall[1]),
        "bound": disclosure_risk(rel, "largest"),
        "constant answer": np.bincount(true).max() / len(true),
        "accuracy, people": people.accuracy,
    }


def by_folds(rel: Release, seed: int, folds: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return the sensitive value of each published row, and what a forest says of it.

    As section 6.2 says, the forest learns from two thirds of the rows, trees from 0.8 of these,
    down to leaves of one row.
    """
    rows = rel.entries.of_row[rel.is_published]
    forest = RandomForestClassifier(TREES, max_samples=0.8, random_state=seed)
    parts = KFold(folds, shuffle=True, random_state=seed)
    true = rel.sensitive_codes[rel.is_published]
    return true, cross_val_predict(forest, _published_features(rel, rows), true, cv=parts)


def forest_cases(tables: Mapping[str, Microdata], epochs: int, seed: int) -> dict[str, dict]:
    """Return what forests learn from, with and without synthetic rows, and held-out people."""
    split = {name: held_out(m, seed) for name, m in tables.items()}
    cases, _ = augment_cases(
        {name: train for name, (train, _) in split.items()}, epochs, seed=seed
    )
    return {name: case | {"test": split[name][1]} for name, case in cases.items()}


def time_method(cases, name: str, method: str, k: int, diversity: str, seed: int) -> dict:
    """Return the seconds that one method takes; synthesis is not among them."""
    m = cases[name]["fused" if method == "Proposed" else "real"]
    trees = hierarchies(name, m)
    return {"seconds": timed(lambda: _published(m, trees, name, method, k, diversity, seed))[0]}


def check_proposed(cases, name: str, k: int, seed: int) -> dict:
    """Check a release of the proposed method from its published frame alone.

    The frame is grouped by its published values, so this shares no code with the audit. A *class*
    is what an attacker sees; a *group* is what the method formed, and groups of one appearance
    are one class.
    """
    rel, _ = release_of(cases, name, "Proposed", k, seed=seed)
    m, sizes = rel.microdata, rel.partition.sizes()
    groups = rel.frame.groupby(m.qi, observed=True, dropna=False, sort=False)[m.sensitive]
    kept = int((~rel.is_synthetic & rel.is_published).sum())
    return {
        "smallest class": int(groups.size().min()),
        "fewest values": int(groups.nunique().min()),
        "smallest group": int(sizes.min()),
        "largest group": int(sizes.max()),
        "real rows": kept,
        "real rows lost": cases[name]["real"].n - kept,
        "mean similarity": rel.partition.info["mean_similarity"],
        "least entropy": rel.partition.info["least_entropy"],
    }


def dominant_value(m: Microdata) -> object:
    """Return the sensitive value that most real people have."""
    codes = m.sensitive_codes if m.synthetic.all() else m.sensitive_codes[~m.synthetic]
    return m.sensitive_attribute.values[np.bincount(codes).argmax()]


def published_risk() -> pd.DataFrame:
    """Return Tables 6 to 9 with the names that methods have here."""
    names = {name.removesuffix("-core"): name for name in METHODS}
    frame = reference("majeed2024_tab6-9_disclosure_risk")
    return frame.assign(method=frame["method"].map(names))

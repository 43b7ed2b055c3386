"""How the notebooks of majeed2024 measure: one function per kind of figure, tidy rows out.

Tables reach the functions of a grid as *cases*: per data set the real rows, the same with
synthetic ones, and hierarchies are made anew from the data set's name. All measures are taken
twice: of the release as it is, and of what it says about real people alone (``who``).
"""

from __future__ import annotations

import math
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
from anonpaper.compendium.grids import run_grid
from majeed2024_baselines import BASELINES
from anonpaper.compendium.tables import reference
from anonpaper.partition.balanced import balanced_classes
from anonpaper.partition.mondrian import mondrian
from anonpaper.prepare import synthesis
from anonpaper.prepare.cleaning import clean
from anonpaper.prepare.imbalance import find_imbalance
from anonpaper.publish import Release, shallow_generalize
from anonpaper.randomness import generator

__all__ = [
    "ABLATIONS",
    "METHODS",
    "PAPER_FRIENDLY",
    "THRESHOLDS",
    "ablate",
    "accuracy_by_test_rows",
    "augment_cases",
    "check_proposed",
    "compare_utility",
    "dominant_value",
    "forest_cases",
    "held_out",
    "largest_share",
    "measure_method",
    "measure_release",
    "pairs",
    "prepare",
    "proposed",
    "published_risk",
    "release_of",
    "risks",
    "some_qids",
    "with_seeds",
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

#: What T_eta = 0.69 (section 6.2) can ask of a class's entropy: name -> base of the logarithm. By
#: line 12 of Algorithm 3 it only has to be above 0, which two values in a class give.
THRESHOLDS = {"above 0": None, "0.69 bits": 2.0, "0.69 nats": math.e}
_ENTROPY = 0.69

#: Methods that draw nothing: one seed stands for all.
_DETERMINISTIC = ("LD", "MRMondrian", "DHkmeans-LD-core", "SDDA", "DCA-core")

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
    """Make the synthetic rows that balance a table; for :func:`anonpaper.compendium.run_grid`.

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


def largest_share(k: int, threshold: str) -> float:
    """Return the share of a class of k rows that one of two values may have at most.

    Parameters
    ----------
    k : int
        Rows of the class, at least 2.
    threshold : str
        A name of :data:`THRESHOLDS`: the entropy of the two shares has to reach 0.69 in its unit,
        or as nearly as k rows allow.

    Returns
    -------
    float
        From 0.5 to 1.

    Examples
    --------
    >>> [largest_share(10, threshold) for threshold in THRESHOLDS]
    [1.0, 0.8, 0.5]
    """
    base = THRESHOLDS[threshold]
    if base is None:
        return 1.0
    even = math.ceil(k / 2)
    shares = np.arange(even, k) / k
    entropy = -(shares * np.log(shares) + (1 - shares) * np.log(1 - shares)) / np.log(base)
    return float(max(shares[entropy >= _ENTROPY], default=even / k))


def with_seeds(grid: Sequence[Mapping], seeds: Sequence[int]) -> list[dict]:
    """Repeat settings for every seed; those of a method that draws nothing for the first only.

    Examples
    --------
    >>> grid = [{"method": "LD"}, {"method": "Proposed"}]
    >>> [(s["method"], s["seed"]) for s in with_seeds(grid, [3, 4])]
    [('LD', 3), ('Proposed', 3), ('Proposed', 4)]
    """
    return [
        {**setting, "seed": seed}
        for setting in grid
        for seed in (seeds[:1] if setting["method"] in _DETERMINISTIC else seeds)
    ]


def release_of(
    cases: Mapping[str, Mapping[str, Microdata]], name: str, method: str, k: int,
    mode: str = "enforce", seed: int = 0, threshold: str = "above 0",
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
    threshold : str
        Reading of T_eta, one of :data:`THRESHOLDS`; only the proposed method has it.
    """
    m = cases[name]["fused" if method == "Proposed" else "real"]
    trees = hierarchies(name, m)
    began = time.perf_counter()
    if method == "Proposed":
        rel = proposed(
            m, k, 2, trees, friendly=PAPER_FRIENDLY[name], seed=seed,
            largest_share=largest_share(k, threshold),
        )  # fmt: skip
    else:
        rel = BASELINES[method](m, k, 2 if mode == "enforce" else None, trees, seed=seed)
    return rel, trees, time.perf_counter() - began


def measure_release(
    rel: Release, trees: Mapping[str, Hierarchy], *, known: float = 0.25, seed: int = 0,
    friendly: Sequence[str] = (),
) -> list[dict]:  # fmt: skip
    """Measure a release as it is, and what it says about real people alone.

    "DM, every part" is the distortion with each value on the first level at least: as the paper's
    baselines "anonymize every part". Values that are `friendly` are excepted.

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
                "DM, every part": _distortion_of_every_part(view, trees, friendly),
                "generalizations": generalizations(view),
                "undiverse rows": undiverse_rows(view),
            }
        )
    return rows


def _distortion_of_every_part(
    rel: Release, trees: Mapping[str, Hierarchy], friendly: Sequence[str]
) -> float:
    """Return Equation 9 with all values that are kept, but for friendly ones, one level up.

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
        raised += goes_up[p.index[rel.is_published]].sum() / tree.height
    return distortion(rel, trees) + float(raised) / (rel.microdata.n * rel.microdata.d)


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


def measure_method(
    cases, name: str, method: str, k: int, mode: str, seed: int, threshold: str = "above 0"
) -> list[dict]:
    """Publish by one method and measure; for :func:`anonpaper.compendium.run_grid`."""
    rel, trees, _ = release_of(cases, name, method, k, mode, seed, threshold)
    friendly = PAPER_FRIENDLY[name] if method == "Proposed" else ()
    rows = measure_release(rel, trees, seed=seed, friendly=friendly)
    real = cases[name]["real"]
    similarity = marginal_similarity(real, rel)
    return [row | {"similarity": similarity} for row in rows]


def risks(
    cases, name: str, method: str, k: int, mode: str, threshold: str, seed: int
) -> list[dict]:
    """Publish by one method; disclosure risk by all readings of Equation 6 (for a grid)."""
    rel, _, _ = release_of(cases, name, method, k, mode, seed, threshold)
    views = {"all rows": rel}
    if not rel.is_synthetic.all():
        views["real people"] = rel.without_synthetic() if rel.is_synthetic.any() else rel
    readings = {"as printed": "values", "own value": "own", "best guess": "largest"}
    return [
        {"rows": who, "equation": equation, "risk": disclosure_risk(view, reading)}
        for who, view in views.items()
        for equation, reading in readings.items()
    ]


def compare_utility(cases, name: str, method: str, k: int, mode: str, seed: int) -> dict:
    """Train forests on a release of the training rows; test them on held-out real people.

    `cases` holds ``test`` besides. Method "as it is" trains on the real rows themselves,
    "repaired" on these and the synthetic ones, both without any generalization. One forest weighs
    all rows alike, another ("equal weights") all sensitive values, whatever their rows: what
    balanced training rows do for one method, weights do for any.
    """
    case = cases[name]
    if method in ("as it is", "repaired"):
        rel = _as_it_is(case["real" if method == "as it is" else "fused"], name)
    else:
        rel, _, _ = release_of(cases, name, method, k, mode, seed)
    found = _scores(rel, case["test"], seed, dominant_value(case["real"]))
    weighed = classification(rel, case["test"], balanced=True, seed=seed)
    return found | {"balanced accuracy, equal weights": weighed.balanced_accuracy}


def forest_cases(
    tables: Mapping[str, Microdata], epochs: int, seed: int
) -> dict[str, dict[str, Microdata]]:
    """Return what forests learn from and are tested on, with test rows of three kinds.

    Returns
    -------
    dict
        Per table ``real`` and ``fused``, the training rows without and with synthetic ones;
        ``test``, the real people held out; ``invented test``, the same with invented rows of the
        rare value until both are equally frequent; ``leak train`` and ``leak test``, a split of
        the table in which people of the rare value were doubled first, so that most of those
        tested on have been learnt by heart.
    """
    split = {name: held_out(m, seed) for name, m in tables.items()}
    cases, _ = augment_cases(
        {name: train for name, (train, _) in split.items()}, epochs, seed=seed
    )
    for name, m in tables.items():
        train, test = split[name]
        doubled = _doubled(m, seed)
        leak_train, leak_test = held_out(doubled, seed)
        cases[name] |= {
            "test": test,
            "invented test": _with_invented(train, test, epochs, seed),
            "leak train": leak_train,
            "leak test": leak_test,
        }
    return cases


def accuracy_by_test_rows(cases, name: str, test_rows: str, seed: int) -> dict:
    """Train a forest as a table is and one on repaired rows; test on rows of one kind (a grid).

    `cases` are those of :func:`forest_cases`, `test_rows` is "real people", "with invented
    people" or "leak". The table as it is is always tested on real people.
    """
    case = cases[name]
    train, test = {
        "real people": ("fused", "test"),
        "with invented people": ("fused", "invented test"),
        "leak": ("leak train", "leak test"),
    }[test_rows]
    dominant = dominant_value(case["real"])
    before = _scores(_as_it_is(case["real"], name), case["test"], seed, dominant)
    after = _scores(_as_it_is(case[train], name), case[test], seed, dominant)
    return {
        "rows to learn from": case["real"].n,
        "rows to learn from, repaired": case[train].n,
        "rows to test on, repaired": case[test].n,
        "accuracy": before["accuracy"],
        "accuracy, repaired": after["accuracy"],
        "recall of the rare value": before["recall of the rare value"],
        "recall of the rare value, repaired": after["recall of the rare value"],
        "share of the frequent value": float(
            (case["test"].sensitive_counts).max() / case["test"].n
        ),
    }


def _as_it_is(m: Microdata, name: str) -> Release:
    """Publish every row as it is."""
    return shallow_generalize(m, Partition(np.asarray(m.cells.tuple_of_row)), hierarchies(name, m))


def _scores(rel: Release, test: Microdata, seed: int, dominant: object) -> dict:
    """Train a forest on a release and test it."""
    found = classification(rel, test, seed=seed)
    return {
        "accuracy": found.accuracy,
        "balanced accuracy": found.balanced_accuracy,
        "recall of the dominant value": float(found.recall[dominant]),
        "recall of the rare value": float(found.recall.drop(dominant).mean()),
    }


def _with_invented(train: Microdata, test: Microdata, epochs: int, seed: int) -> Microdata:
    """Balance test rows by invented people whom no training row shows, marked as real ones.

    They are the last of the model's rows for training and test together: with the seed of the
    training rows, the first ones are likely those.
    """
    ((value, lacking),) = find_imbalance(test).needed.items()
    ((_, trained_on),) = find_imbalance(train).needed.items()
    rows = synthesis.synthesize(
        train, {value: trained_on + lacking}, "ctgan", epochs=epochs, seed=seed
    )
    invented = synthesis.fuse(train, rows.tail(lacking).reset_index(drop=True))
    frames = [test.frame, invented.frame[invented.synthetic]]
    return test.replace(frame=pd.concat(frames, ignore_index=True))


def _doubled(m: Microdata, seed: int) -> Microdata:
    """Repeat people of the rare values, drawn at random, until all values are equally frequent."""
    rng, counts = generator(seed), m.sensitive_counts
    extra = [
        rng.choice(np.flatnonzero(m.sensitive_codes == code), counts.max() - count)
        for code, count in enumerate(counts)
        if count
    ]
    rows = np.r_[np.arange(m.n), np.concatenate(extra)]
    return m.replace(frame=m.frame.iloc[rows].reset_index(drop=True))


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

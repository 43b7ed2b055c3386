"""How the notebooks of majeed2024 measure: one function per kind of figure, tidy rows out.

Tables reach the functions of a grid as *cases*: per data set the real rows, and the same with
synthetic ones. All measures are taken twice: of the release as it is, and of what it says about
real people alone (``who``). At the end are ten people, step by step, and heatmaps.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from majeed2024_baselines import BASELINES
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from scipy.stats import entropy
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, cross_val_predict

import anonpaper as ap
from anonpaper import Microdata, Release
from anonpaper.compendium.grids import timed
from anonpaper.compendium.tables import reference
from anonpaper.datasets.trees import LEVELS, hierarchies
from anonpaper.measure.queries import _published_features
from anonpaper.repair.cleaning import clean
from anonpaper.repair.synthesis import fuse

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
#: T_eta = 0.69 (section 6.2) in the unit of Equation 4, log2, and in nats: name -> base.
THRESHOLDS = {"0.69 bits": 2.0, "0.69 nats": np.e}
#: What a class is asked for: entropy of the proposed method's; k rows of the others', as section
#: 1.2 describes them, or two sensitive values besides.
DIVERSITY = {name: ("k only", "two values") for name in BASELINES} | {"Proposed": (*THRESHOLDS,)}
_DETERMINISTIC = ("LD", "MRMondrian", "DHkmeans-LD-core", "SDDA")  # one seed stands for all
TREES = 30  # of a forest; the paper names no number


def prepare(name: str, rows: int | None = None, seed: int = 0) -> tuple[Microdata, pd.DataFrame]:
    """Load a data set, or so many of its rows, with the roles of Table 5, and pre-process it."""
    qi, sensitive = list(LEVELS[name]), _SENSITIVE[name]
    part = "train" if name == "census" else None
    options = dict(qi=qi, sensitive=sensitive, seed=seed, part=part)
    raw = ap.load(name, **options)
    if rows is not None and rows < raw.n:  # drawn twice, a row could be learnt from and tested
        raw = ap.load(name, rows=rows, **options)
    frame, account = clean(raw.frame.reset_index(drop=True), qi, sensitive)
    return raw.replace(frame=frame, domains=dict.fromkeys(frame)), account


def pairs(m: Microdata) -> dict:
    """Count, as section 1.2 does, how many pairs can have two sensitive values."""
    most, whole = int(m.sensitive_counts.max()), m.n // 2
    diverse, left_over = min(m.n - most, whole), max(0, 2 * most - m.n)
    return dict(pairs=whole, diverse=diverse, not_diverse=whole - diverse, left_over=left_over)


def dominant_value(m: Microdata) -> object:
    """Return the sensitive value that most real people have."""
    codes = m.sensitive_codes if m.synthetic.all() else m.sensitive_codes[~m.synthetic]
    return m.sensitive_attribute.values[np.bincount(codes).argmax()]


def augment_cases(tables: Mapping[str, Microdata], epochs: int, seed=0, learn_from: Mapping = {}):
    """Return per data set the real rows and the same with synthetic ones; also what that took.

    A CTGAN of each table, or of `learn_from` of its rows, makes the rows that balance the table.
    """
    cases, trained = {}, []
    for name, m in tables.items():
        most = learn_from.get(name)
        part = m if most is None or most >= m.n else m.sample(most, seed)
        rows = ap.synthesis.synthesize(part, ap.find_imbalance(m).needed, epochs=epochs, seed=seed)
        cases[name] = {"real": m, "fused": fuse(m, rows)}
        about = dict(
            name=name, method="ctgan", epochs=epochs, seed=seed, learn_from=most, rows=m.n
        )
        made = {"synthetic rows": len(rows), "clipped values": rows.attrs["clipped"]}
        trained.append(about | made | {"seconds": rows.attrs["seconds"]})
    return cases, pd.DataFrame(trained)


def proposed(m: Microdata, k: int, l: int, trees, *, friendly=(), seed=0, largest_share=1.0):
    """Publish a table by the proposed method: balanced classes, shallow generalization."""
    p = ap.balanced_classes(m, k, l, seed, largest_share=largest_share)
    return ap.shallow_generalize(m, p, trees, friendly)


def largest_share(k: int, threshold: str) -> float:
    """Return the share of a class of k rows that one of two values may have at most.

    Without one of :data:`THRESHOLDS` the entropy only has to be above 0, as two values make it.
    """
    if threshold not in THRESHOLDS:
        return 1.0
    shares = np.arange(-(-k // 2), k) / k
    enough = entropy([shares, 1 - shares], base=THRESHOLDS[threshold]) >= 0.69
    return float(max(shares[enough], default=-(-k // 2) / k))


def settings(names, ks, seeds, kinds: int | None = None) -> list[dict]:
    """Return all settings of a grid; one seed only for a method that draws nothing."""
    return [
        dict(name=name, method=method, k=k, diversity=diversity, seed=seed)
        for name in names for method in METHODS for k in ks
        for diversity in DIVERSITY[method][:kinds]
        for seed in (seeds[:1] if method in _DETERMINISTIC else seeds)
    ]  # fmt: skip


def release_of(cases, name, method, k, diversity="two values", seed=0) -> tuple[Release, dict]:
    """Publish a data set by one method, its classes as diverse as named; also its hierarchies."""
    m = cases[name]["fused" if method == "Proposed" else "real"]
    trees = hierarchies(name, m)
    return publish(m, trees, name, method, k, diversity, seed), trees


def publish(m, trees, name, method, k, diversity, seed) -> Release:
    """Publish a table by one method."""
    if method != "Proposed":
        return BASELINES[method](m, k, None if diversity == "k only" else 2, trees, seed=seed)
    share, friendly = largest_share(k, diversity), PAPER_FRIENDLY[name]
    return proposed(m, k, 2, trees, friendly=friendly, seed=seed, largest_share=share)


def measure_method(cases, name: str, method: str, k: int, diversity: str, seed: int) -> list[dict]:
    """Measure a release as it is, and what it says about real people alone; for a grid.

    "DM, every part" is the distortion with each value on the first level at least, except friendly
    ones: the paper's baselines "anonymize every part".
    """
    rel, trees = release_of(cases, name, method, k, diversity, seed)
    friendly = PAPER_FRIENDLY[name] if method == "Proposed" else ()
    views, dominant = {"all": rel}, dominant_value(rel.microdata)
    if not rel.is_synthetic.all():
        views["real"] = rel.without_synthetic() if rel.is_synthetic.any() else rel
    rng, subsets = np.random.default_rng(seed), []
    while len(subsets) < 20:  # quasi-identifiers that an attacker may know, by a coin each
        known = [name for name in rel.microdata.qi if rng.random() < 0.5]
        subsets += [known] if known else []
    risk, exposure = ap.measure.disclosure_risk, ap.measure.exposure
    similarity = ap.measure.marginal_similarity(cases[name]["real"], rel)
    return [
        {
            "who": who,
            **{f"D {of}": risk(view, of) for of in ("values", "own", "largest")},
            "D own, some QIDs": np.mean([risk(view, "own", known=some) for some in subsets]),
            "E surplus": exposure(view, "surplus", dominant),
            "E single": exposure(view, "single", dominant),
            "E majority": exposure(view, "majority", dominant),
            "R": ap.measure.reconstruction(view, 0.25, seed) if len(views) > 1 else None,
            "DM": ap.measure.distortion(view, trees),
            "DM, every part": _distortion_of_every_part(view, trees, friendly),
            "generalizations": ap.measure.generalizations(view),
            "undiverse rows": ap.measure.undiverse_rows(view),
            "similarity": similarity,
        }
        for who, view in views.items()
    ]


def _distortion_of_every_part(rel: Release, trees, friendly: Sequence[str]) -> float:
    """Return Equation 9 with all values that are kept, except friendly ones, one level up."""
    raised = 0.0
    for p in rel.published:
        if p.attribute.name not in friendly:
            tree, values = trees[p.attribute.name], p.sub_domains
            parent = tree.maps(p.attribute)[1]
            has_siblings = np.bincount(parent)[parent] > 1  # a node of one value hides nothing
            goes_up = (values.sizes == 1) & has_siblings[values.low]
            raised += rel.entries.rows(rel.shown & goes_up[p.index]) / tree.height
    return ap.measure.distortion(rel, trees) + float(raised) / (rel.microdata.n * rel.microdata.d)


def time_method(cases, name: str, method: str, k: int, diversity: str, seed: int) -> dict:
    """Return the seconds that one method takes; synthesis is not among them."""
    m = cases[name]["fused" if method == "Proposed" else "real"]
    trees = hierarchies(name, m)
    return {"seconds": timed(lambda: publish(m, trees, name, method, k, diversity, seed))[0]}


def check_proposed(cases, name: str, k: int, seed: int) -> dict:
    """Check a release of the proposed method from its published frame alone, without the audit.

    A *class* is what an attacker sees; a *group* is what the method formed. Groups of one
    appearance are one class.
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


def forest_cases(tables: Mapping[str, Microdata], epochs: int, seed: int) -> dict[str, dict]:
    """Return what forests learn from, with and without synthetic rows, and held-out people.

    Rows are split 2 to 1 at random, every sensitive value alike.
    """
    train, test = {}, {}
    for name, m in tables.items():
        rng, is_test = np.random.default_rng(seed), np.zeros(m.n, dtype=bool)
        for code in range(m.sensitive_attribute.size):
            rows = rng.permutation(np.flatnonzero(m.sensitive_codes == code))
            is_test[rows[: len(rows) // 3]] = True
        train[name], test[name] = m.take(~is_test), m.take(is_test)
    cases, _ = augment_cases(train, epochs, seed)
    return {name: case | {"test": test[name]} for name, case in cases.items()}


def compare_utility(cases, name: str, method: str, k: int, diversity: str, seed: int) -> dict:
    """Score forests on a release of the training rows; for a grid.

    Equation 10 counts rows of D', synthetic ones among them: each is predicted by a forest of two
    thirds of the others (section 6.2). Another forest, of the whole release, is tested on people.
    "As it is" and "repaired" publish every row without any generalization.
    """
    case = cases[name]
    if method in ("as it is", "repaired"):
        m = case["real" if method == "as it is" else "fused"]
        alike = ap.Partition(np.asarray(m.cells.tuple_of_row))
        rel = ap.shallow_generalize(m, alike, hierarchies(name, m))
    else:
        rel, _ = release_of(cases, name, method, k, diversity, seed)
    features = _published_features(rel, rel.entries.of_row[rel.is_published])
    true = rel.sensitive_codes[rel.is_published]
    forest = RandomForestClassifier(TREES, max_samples=0.8, random_state=seed)
    folds = KFold(3, shuffle=True, random_state=seed)
    right = cross_val_predict(forest, features, true, cv=folds) == true
    dominant = rel.microdata.sensitive_attribute.code(dominant_value(case["real"]))
    recall = np.array([right[true == dominant].mean(), right[true != dominant].mean()])
    people = ap.measure.classification(rel, case["test"], trees=TREES, seed=seed)
    return {
        "rows": len(true),
        "accuracy": right.mean(),
        "recall of the frequent value": recall[0],
        "recall of the rare value": recall[1],
        "balanced accuracy": recall.mean(),
        "apart": np.ptp(recall),
        "bound": ap.measure.disclosure_risk(rel, "largest"),
        "constant answer": np.bincount(true).max() / len(true),
        "accuracy, people": people.accuracy,
    }


def published(table: str) -> pd.DataFrame:
    """Return a table of the paper with the names that methods have here."""
    names = {name.removesuffix("-core"): name for name in METHODS}
    frame = reference(f"majeed2024_{table}")
    return frame.assign(method=frame["method"].map(names)).rename(columns={"dataset": "name"})


def least_own_value_risk(counts) -> float:
    """Return the least own-value risk of any grouping of a table: the sum of squared shares."""
    return float(np.square(np.asarray(counts) / np.sum(counts)).sum())


#: Table 1 of the paper, without names, and six invented people with cancer.
TEN_USERS = [
    (45, "M", "USA", "Black", 6, "Cancer"), (32, "F", "England", "White", 5, "Flu"),
    (35, "F", "England", "White", 6, "Cancer"), (43, "M", "USA", "White", 5, "Flu"),
    (55, "F", "Italy", "White", 6, "Flu"), (46, "F", "France", "White", 6, "Flu"),
    (69, "M", "Spain", "White", 7, "Flu"), (39, "M", "Australia", "Black", 6, "Flu"),
    (89, "F", "China", "White", 7, "Flu"), (80, "F", "China", "White", 5, "Flu"),
]  # fmt: skip
SIX_MORE = [
    (34, "F", "England", "White", 5, "Cancer"), (40, "M", "Australia", "Black", 6, "Cancer"),
    (48, "F", "France", "White", 6, "Cancer"), (57, "F", "Italy", "White", 6, "Cancer"),
    (68, "M", "Spain", "White", 7, "Cancer"), (85, "F", "China", "White", 6, "Cancer"),
]  # fmt: skip
_CONTINENTS = {
    "Europe": ("England", "France", "Italy", "Spain"), "Asia": ("China",),
    "America": ("USA",), "Oceania": ("Australia",),
}  # fmt: skip
_COLUMNS = ["Age", "Sex", "Citizenship", "Race", "Height", "Disease"]
_RARE, _FREQUENT, _CLASSES = "#EE7733", "#BBDDEE", ("#DDDDDD", None)


def ten_users(synthetic: int = 0) -> ap.Microdata:
    """Return Table 1 of the paper, with some of the six invented people if wanted."""
    people = ap.Microdata(pd.DataFrame(TEN_USERS, columns=_COLUMNS), _COLUMNS[:-1], "Disease")
    more = pd.DataFrame(SIX_MORE[:synthetic], columns=_COLUMNS)
    return fuse(people, more) if synthetic else people


def trees(people: ap.Microdata) -> dict[str, ap.Hierarchy]:
    """Return hierarchies of the columns of Table 1."""
    lands = [[land, name, "*"] for name, lands in _CONTINENTS.items() for land in lands]
    return {
        "Age": ap.Hierarchy.intervals(sorted(people.frame["Age"].unique()), [10, 30]),
        "Citizenship": ap.Hierarchy(lands),
        **{name: ap.Hierarchy.flat(people.attribute(name).values) for name in _COLUMNS[1:5:2]},
        "Height": ap.Hierarchy.flat([5, 6, 7]),
    }


def draw_people(*shown: tuple[str, pd.DataFrame, Sequence[int]]) -> Figure:
    """Draw titled tables class by class: orange is the rare value, bold a class of one value."""
    steps = []
    for title, frame, classes in shown:
        order = np.argsort(np.asarray(classes), kind="stable")
        of_row = np.asarray(classes)[order]
        texts = frame.iloc[order].astype(str).replace(r"^\{.*\}$", "several", regex=True)
        alone = texts.groupby(of_row)["Disease"].transform("nunique") == 1
        bold = texts.apply(lambda column, alone=alone: alone & (column.name == "Disease"))
        colours = [
            [_CLASSES[label % 2]] * (len(_COLUMNS) - 1) + [_RARE if ill == "Cancer" else _FREQUENT]
            for label, ill in zip(of_row, texts["Disease"], strict=True)
        ]
        left = [f"u{row + 1}" if row < len(TEN_USERS) else "new" for row in order]
        steps.append((title, texts, colours, {"bold": bold, "left": left}))
    return ap.plots.tables(steps)


def heatmaps(
    frame: pd.DataFrame, y: str, value: str, text="{:.0f}", limits=None, published=None, height=6.2
) -> Figure:
    """Draw a field per k and method on each table: dark is low, and numbers are written in.

    Without limits the scale is logarithmic. `published` has the paper's own values in the same
    columns: they stand behind hollow markers.
    """
    order, ks, names = frame[y].unique(), sorted(frame["k"].unique()), frame["name"].unique()
    norm = Normalize(*limits) if limits else LogNorm(frame[value].min(), frame[value].max())
    theirs = {} if published is None else published.set_index(["name", y, "k"])[value]
    figure, axes = ap.plots.subplots(
        columns=2, rows=-(-len(names) // 2), cols=2, height=height, sharey=True, squeeze=False
    )
    for ax, name in zip(axes.flat, names, strict=False):
        fields = frame[frame["name"] == name].pivot(index=y, columns="k", values=value)
        fields = fields.reindex(order)[ks].to_numpy(float)
        image = ax.imshow(fields, cmap="cividis", norm=norm, aspect="auto")
        for (row, column), number in np.ndenumerate(fields):
            if np.isfinite(number):
                printed = theirs.get((name, order[row], ks[column]))
                told = text.format(number) + (f"  ○{text.format(printed)}" if printed else "")
                colour = "white" if norm(number) < 0.5 else "black"
                ax.text(column, row, told, ha="center", va="center", size=7, color=colour)
        ax.set(title=name, xlabel="k")
        ax.set_xticks(range(len(ks)), ks)
        ax.set_yticks(range(len(order)), order)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
    label = f"{value}; dark is better"
    label += "; hollow circle: printed in the paper" if len(theirs) else ""
    figure.colorbar(image, ax=axes, location="bottom", shrink=0.6, aspect=40, label=label)
    return figure

"""Invented rows before somebody who can tell them, or knows how they came about.

A release is counted as classes x sensitive values, once for real and once for invented rows. An
attacker knows the class of a real person; he weighs its rows by how likely he thinks each is to be
real, and believes in every sensitive value by its share of the weight. *Own-value risk* is the
mean, over real people, of his belief in the value that the person has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import majeed2024
import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import binom, norm
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

import anonpaper as ap
from anonpaper.datasets.trees import hierarchies
from anonpaper.errors import InfeasibleError
from anonpaper.measure import classification, distortion
from anonpaper.randomness import generator
from anonpaper.repair.synthesis import fuse

_SCORES = np.linspace(-9, 9, 361)  # of a real row, and around the mean of an invented one
_DENSITY = norm.pdf(_SCORES) / norm.pdf(_SCORES).sum()  # the same for both, about their means
_STEP = 0.1  # of log t, the integration's variable
_PERFECT = 60.0  # standard deviations between the two where AUC is 1


# -- risk ---------------------------------------------------------------------------------------


def counts(rel: ap.Release, labels: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Count real and invented rows by class (or other labels) and value: two classes x values."""
    m = rel.microdata
    labels = rel.classes.labels if labels is None else labels
    found = np.zeros((2, labels.max() + 1, m.sensitive_attribute.size), np.int64)
    np.add.at(found, (m.synthetic.astype(int), labels, m.sensitive_codes), 1)
    return tuple(found)


def own_risk(real: np.ndarray, belief: np.ndarray) -> float:
    """Return the mean belief in the own value of real people; both arrays are classes x values."""
    people = real.sum(axis=1) > 0
    real, belief = real[people], belief[people]
    return float((real * belief / belief.sum(axis=1, keepdims=True)).sum() / real.sum())


def expected_risk(real: np.ndarray, invented: np.ndarray, auc: float, share) -> float:
    """Return the expected own-value risk before a detector of given AUC, by an integral.

    `share` is the share of all rows, or of each value's rows, that the attacker takes for invented
    before a score. Scores of real rows are N(0, 1), of invented ones N(d, 1), AUC is
    Phi(d / sqrt 2), and a row weighs its posterior probability w of being real.
    """
    # 1/W is the integral of exp(-t W) over t > 0, so that the expected share of value v is that of
    # (r_v A_v + s_v B_v) times the product over u of f_u^r_u g_u^s_u, for r_u real and s_u
    # invented rows of value u, the Laplace transforms f, g of their weights, A = -f'/f, B = -g'/g
    people = real.sum(axis=1) > 0
    both, of_class = np.unique(
        np.hstack([real[people], invented[people]]), axis=0, return_inverse=True
    )
    r, s = np.hsplit(both, 2)
    t = np.exp(np.arange(-12, 45, _STEP))
    tables = []
    for of_value in np.broadcast_to(share, real.shape[1]):
        for w in _weights(auc, float(of_value)):
            exponential = np.exp(-np.outer(t, w)) * _DENSITY
            laplace = np.maximum(exponential.sum(axis=1), 1e-300)
            tables.append((np.log(laplace), exponential @ w / laplace))
    log_f, a, log_g, b = np.reshape(tables, (-1, 4, len(t))).swapaxes(0, 1)
    belief = np.empty(r.shape)
    for i, (r_i, s_i) in enumerate(zip(r, s, strict=True)):
        height = np.exp(r_i @ log_f + s_i @ log_g) * t * _STEP
        belief[i] = (r_i[:, None] * a + s_i[:, None] * b) @ height
    return own_risk(real[people], belief[of_class.ravel()])


def _weights(auc: float, share: float) -> list[np.ndarray]:
    """Return what real and invented rows weigh at the scores of `_SCORES` about their means."""
    apart = min(float(norm.ppf(auc)) * np.sqrt(2), _PERFECT)
    with np.errstate(divide="ignore"):
        odds = np.log1p(-share) - np.log(share)
    return [expit(odds - apart * at + apart**2 / 2) for at in (_SCORES, _SCORES + apart)]


# -- the remedy: invented rows in the classes of real people ------------------------------------


def even(real: np.ndarray, l: float) -> np.ndarray:
    """Return the fewest rows to invent so that no value has more than 1/l of a class."""
    full = real.copy()
    for row in full:
        while row.sum() < l * row.max() - 1e-9:
            row[row.argmin()] += 1
    return full - real


def complement(real: np.ndarray) -> np.ndarray:
    """Return the rows to invent so that each value has as many rows as the class has people."""
    # what is published then depends on nobody's value: whatever an attacker believed before, he
    # believes after, if the classes were formed without a look at the values
    return real.sum(axis=1, keepdims=True) - real


def padded(
    m: ap.Microdata, p: ap.Partition, trees: Mapping[str, ap.Hierarchy],
    pad: Callable[[np.ndarray], np.ndarray], *, friendly=(),
    seed: int | np.random.Generator = 0,
) -> ap.Release:  # fmt: skip
    """Publish groups of real people, with `pad` rows invented that publish what their group does.

    Every quasi-identifier of an invented row is that of somebody in the group, so that it changes
    no level that the group is published on: only sensitive values tell invented rows from real.
    """
    rng = generator(seed)
    real = np.zeros((p.n_groups, m.sensitive_attribute.size), np.int64)
    np.add.at(real, (p.labels, m.sensitive_codes), 1)
    more = pad(real)
    group, value = (np.repeat(at.ravel(), more.ravel()) for at in np.indices(more.shape))
    rows, sizes = np.argsort(p.labels, kind="stable"), p.sizes()
    first = np.cumsum(sizes) - sizes
    columns = {
        a.name: a.values[codes[rows[first[group] + rng.integers(sizes[group])]]]
        for a, codes in zip(m.attributes, m.codes.T, strict=True)
    }
    fused = _fused(m, pd.DataFrame(columns | {m.sensitive: m.sensitive_attribute.values[value]}))
    both = ap.Partition(np.r_[p.labels, group], algorithm=f"{p.algorithm}, padded")
    return ap.shallow_generalize(fused, both, trees, friendly)


def told_apart(rel: ap.Release) -> int:
    """Count the groups in which not all rows publish the same quasi-identifiers."""
    looks = rel.frame[rel.microdata.qi].astype(str).groupby(rel.partition.labels).nunique()
    return int((looks > 1).any(axis=1).sum())


def informed_risk(rel: ap.Release, pad: Callable, prior: np.ndarray) -> float:
    """Return the risk before an attacker who knows groups, their numbers of people, and `pad`.

    The attacker takes people for independent, each with the `prior` of the two values, and weighs
    all that fits the published counts by Bayes' rule.
    """
    real, invented = counts(rel, rel.partition.labels)
    belief = np.empty(real.shape)
    for i, (people, shown) in enumerate(zip(real.sum(axis=1), real + invented, strict=True)):
        can_be = np.column_stack([np.arange(people + 1), np.arange(people + 1)[::-1]])
        fits = (can_be + pad(can_be) == shown).all(axis=1)
        belief[i] = (fits * binom.pmf(can_be[:, 0], people, prior[0])) @ can_be
    return own_risk(real, belief)


# -- detectors that learn -----------------------------------------------------------------------


def _detectors(seed: int) -> dict[str, object]:
    # to the optimum, not to where a first-order search happens to end on some processor
    logistic = LogisticRegression(solver="newton-cholesky", tol=1e-9, max_iter=500)
    boosting = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=15, random_state=seed)
    return {"logistic": logistic, "boosting": boosting}


class _Cells(NamedTuple):
    """What is published of classes and values, and how many rows of each are real and invented."""

    features: np.ndarray
    of_class: np.ndarray
    value: np.ndarray
    real: np.ndarray
    invented: np.ndarray


def _cells(rel: ap.Release, with_value: bool) -> _Cells:
    """Encode each class by its box and, if asked, each value by itself and the class's counts."""
    real, invented = counts(rel)
    entry = np.unique(rel.classes.group, return_index=True)[1]
    boxes = [(p.sub_domains, p.index[entry]) for p in rel.published]
    box = [part[at] for of, at in boxes for part in (of.low, of.high, of.sizes)]
    of_class, value = np.nonzero(real + invented)
    features = np.column_stack(box)[of_class].astype(float)
    if with_value:
        shown = (real + invented)[of_class]
        features = np.column_stack([features, value, shown, shown.sum(axis=1)])
    return _Cells(features, of_class, value, real[of_class, value], invented[of_class, value])


def _learnt(model, known: _Cells, others: np.ndarray) -> np.ndarray:
    """Train on cells of which all is known; return others' chances of being real."""
    centre, spread = known.features.mean(axis=0), known.features.std(axis=0)
    spread[spread == 0] = 1
    rows = np.r_[known.real, known.invented]
    there = rows > 0
    is_real = np.repeat([1, 0], len(known.real))[there]
    if len(np.unique(is_real)) < 2:
        return np.full(len(others), float(is_real[0]))
    both = np.vstack([known.features] * 2)[there]
    model.fit((both - centre) / spread, is_real, sample_weight=rows[there])
    # to nine digits: what differs by less is a tie, not one more real than the other
    return model.predict_proba((others - centre) / spread)[:, 1].round(9)


def _learnt_by_parts(model, cells: _Cells, seed: int) -> np.ndarray:
    """Return chances of being real, each learnt from the four fifths of classes it is not in."""
    fold = generator(seed).permutation(cells.of_class.max() + 1)[cells.of_class] % 5
    chance = np.empty(len(fold))
    for i in range(5):
        known = _Cells(*(part[fold != i] for part in cells))
        chance[fold == i] = _learnt(model, known, cells.features[fold == i])
    return chance


def _auc(chance: np.ndarray, real: np.ndarray, invented: np.ndarray) -> float | None:
    if real.any() and invented.any():
        is_real, rows = np.repeat([1, 0], len(chance)), np.r_[real, invented]
        return float(roc_auc_score(is_real, np.r_[chance, chance], sample_weight=rows))
    return None


# -- one draw of everybody ----------------------------------------------------------------------


class People(NamedTuple):
    """People drawn from one table, none twice."""

    table: ap.Microdata  # those published
    public: ap.Microdata  # as many, whose values the attacker has
    test: ap.Microdata  # half as many, held out
    ours: ap.Microdata  # half of the rest, to take the place of rows that the publisher invents
    theirs: ap.Microdata  # the other half, of rows that the attacker invents to try the algorithm


def draw(whole: ap.Microdata, rows: int, seed: int) -> People:
    """Draw people without replacement; `rows` are published."""
    held = 2 * rows + rows // 2
    cuts = [rows, 2 * rows, held, (held + whole.n) // 2]
    parts = np.split(generator(seed).permutation(whole.n), cuts)
    return People(*(whole.take(np.sort(part)) for part in parts))


def _fused(m: ap.Microdata, rows: pd.DataFrame) -> ap.Microdata:
    """Append invented rows; domains stay those of the table, so that two releases compare."""
    return fuse(m, rows).replace(domains={a.name: a.values for a in m.attributes if a.numeric})


def _balanced(m: ap.Microdata, others: ap.Microdata | None, seed: int) -> ap.Microdata:
    """Add rows of the rare value as the paper does: by a copula, or people of another draw."""
    ((value, lacking),) = ap.find_imbalance(m).needed.items()
    if others is None:
        return _fused(m, ap.gaussian_copula(m, {value: lacking}, seed=seed))
    rare = np.flatnonzero(others.sensitive_codes == m.sensitive_attribute.code(value))
    if len(rare) < lacking:
        raise InfeasibleError(f"{lacking} more people of {value!r} are needed; {len(rare)} left")
    taken = others.take(generator(seed).choice(rare, lacking, replace=False))
    return _fused(m, taken.frame[[*m.qi, m.sensitive]].reset_index(drop=True))


#: Name -> where invented rows come from, and the threshold of the paper's method or the padding.
PUBLICATIONS = {
    "paper": ("copula", "above 0"),
    "paper, even halves": ("copula", "0.69 nats"),
    "paper, people invented": ("people", "above 0"),
    "padded, l = 1.5": ("padded", lambda real: even(real, 1.5)),
    "padded, l = 2": ("padded", lambda real: even(real, 2)),
    "padded, complement": ("padded", complement),
}


def publish(
    m: ap.Microdata,
    others: ap.Microdata,
    publication: str,
    k: int,
    trees: Mapping,
    friendly,
    seed: int,
) -> ap.Release:
    """Publish people, and rows invented for them, by one of :data:`PUBLICATIONS`."""
    kind, how = PUBLICATIONS[publication]
    if kind == "padded":
        p = ap.k_member(m.with_roles(sensitive=None), k, seed=seed)
        return padded(m, p, trees, how, friendly=friendly, seed=seed)
    return majeed2024.proposed(
        _balanced(m, others if kind == "people" else None, seed), k, 2, trees,
        friendly=friendly, seed=seed, largest_share=majeed2024.largest_share(k, how),
    )  # fmt: skip


#: Who learns, what the detector sees, and which it is.
_ATTACKS = [("public table", "box", "boosting"), ("public table", "value", "logistic")]
_ATTACKS += [("public table", "value", "boosting"), ("labels", "value", "boosting")]


def attack(tables, name: str, publication: str, k: int, rows: int, seed: int) -> list[dict]:
    """Publish one draw, let detectors learn, and measure: one row per detector.

    A detector sees the box of a row alone, or also its value and the counts of its class. With a
    "public table" the attacker has other people with their values, publishes them by the same
    algorithm, and learns from that; with "labels" he is told which rows are invented in four
    fifths of the classes. Both know which share of the rows is.
    """
    people, trees = draw(tables[name], rows, seed), hierarchies(name, tables[name])
    how = (publication, k, trees, majeed2024.PAPER_FRIENDLY[name])
    rel = publish(people.table, people.ours, *how, seed)
    tried = publish(people.public, people.theirs, *how, seed + 1)
    common = _measures(rel, publication, people, trees, seed)
    real, invented = counts(rel)
    rare = real.sum(axis=0).argmin()
    of_rare = real * (np.arange(real.shape[1]) == rare)
    share = invented.sum(axis=0) / (real + invented).sum(axis=0)
    found = []
    for attacker, sees, detector in _ATTACKS:
        cells, model = _cells(rel, sees == "value"), _detectors(seed)[detector]
        if attacker == "labels":
            chance = _learnt_by_parts(model, cells, seed)
        else:
            chance = _learnt(model, _cells(tried, sees == "value"), cells.features)
        weight = np.zeros(real.shape)
        shown = cells.real + cells.invented
        weight[cells.of_class, cells.value] = shown * np.maximum(chance, 1e-9)
        auc = _auc(*(of[cells.value == rare] for of in (chance, cells.real, cells.invented)))
        risk = None if auc is None else expected_risk(real, invented, max(auc, 0.5), share)
        found.append(common | {
            "attacker": attacker, "sees": sees, "detector": detector,
            "AUC": _auc(chance, cells.real, cells.invented), "AUC, rare": auc,
            "risk": own_risk(real, weight), "risk, rare": own_risk(of_rare, weight),
            "formula": risk,
        })  # fmt: skip
    return found


def _measures(
    rel: ap.Release, publication: str, people: People, trees: Mapping, seed: int
) -> dict:
    """Measure a release without any detector."""
    real, invented = counts(rel)
    shown, values = real + invented, real.sum(axis=0)
    model, m = _detectors(seed)["boosting"], people.table
    model.fit(people.public.codes, people.public.sensitive_codes)  # without a release
    learnt = np.zeros((m.n, m.sensitive_attribute.size))
    learnt[:, model.classes_] = model.predict_proba(m.codes)
    plain = classification(rel, people.test, trees=30, seed=seed)
    weighed = classification(rel, people.test, trees=30, balanced=True, seed=seed)
    found = {
        "invented": int(invented.sum()),
        "fewest real in a class": int(real.sum(axis=1).min()),
        "groups told apart": told_apart(rel),
        "largest share": float((shown.max(axis=1) / shown.sum(axis=1)).max()),
        "risk, counting": own_risk(real, shown),
        "risk, counting, rare": own_risk(real * (values == values.min()), shown),
        "risk, knows the values": own_risk(real, shown * (values / shown.sum(axis=0))),
        # without a release: calibrated beliefs have no less risk, on average over people
        "risk, shares": own_risk(real, np.broadcast_to(values, real.shape)),
        "risk, public table": float(learnt[np.arange(m.n), m.sensitive_codes].mean()),
        "risk, real alone": own_risk(real, real),
        "distortion": distortion(rel.without_synthetic(), trees),
        "accuracy": plain.accuracy,
        "balanced accuracy": weighed.balanced_accuracy,
    }
    kind, how = PUBLICATIONS[publication]
    if kind == "padded":
        return found | {
            "risk, informed": informed_risk(rel, how, values / values.sum()),
            "risk, informed, no prior": informed_risk(rel, how, np.full(2, 0.5)),
        }
    # how well boosting tells invented rows of the rare value before publication
    m = rel.microdata
    of_rare = m.sensitive_codes == np.bincount(m.sensitive_codes[~m.synthetic]).argmin()
    model, is_real = _detectors(seed)["boosting"], ~m.synthetic[of_rare]
    chance = cross_val_predict(model, m.codes[of_rare], is_real, cv=3, method="predict_proba")[
        :, 1
    ]
    return found | {"AUC of exact rows": _auc(chance, is_real.astype(int), (~is_real).astype(int))}

"""Invented rows before somebody who can tell them, or knows how they came about.

An attacker knows the class of a real person, weighs its rows by how likely each is to be real, and
believes in every sensitive value by its share of the weight. *Own-value risk* is the mean, over
real people, of the belief in the value that the person has.
"""

from collections.abc import Callable, Mapping

import majeed2024
import numpy as np
import pandas as pd
from scipy.stats import binom
from sklearn.ensemble import HistGradientBoostingClassifier

import anonpaper as ap
from anonpaper.datasets.trees import hierarchies
from anonpaper.measure import classification, distortion
from anonpaper.randomness import generator
from anonpaper.repair.synthesis import fuse


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


def padded(m: ap.Microdata, p: ap.Partition, trees: Mapping, pad: Callable, friendly=(), seed=0):
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


def draw(whole: ap.Microdata, rows: int, seed: int) -> list[ap.Microdata]:
    """Draw people, none twice: `rows` to publish, as many that the attacker has, half to test on.

    Of the rest, one half takes the place of rows that the publisher invents, and the other of rows
    that the attacker invents to try the algorithm.
    """
    cuts = [rows, 2 * rows, held := 2 * rows + rows // 2, (held + whole.n) // 2]
    parts = np.split(generator(seed).permutation(whole.n), cuts)
    return [whole.take(np.sort(part)) for part in parts]


def _fused(m: ap.Microdata, rows: pd.DataFrame) -> ap.Microdata:
    """Append invented rows; domains stay those of the table, so that two releases compare."""
    return fuse(m, rows).replace(domains={a.name: a.values for a in m.attributes if a.numeric})


def _balanced(m: ap.Microdata, others: ap.Microdata | None, seed: int) -> ap.Microdata:
    """Add rows of the rare value as the paper does: by a copula, or people of another draw."""
    ((value, lacking),) = ap.find_imbalance(m).needed.items()
    if others is None:
        return _fused(m, ap.gaussian_copula(m, {value: lacking}, seed=seed))
    rare = np.flatnonzero(others.sensitive_codes == m.sensitive_attribute.code(value))
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


def publish(m, others, publication: str, k: int, trees: Mapping, friendly, seed: int):
    """Publish people, and rows invented for them, by one of :data:`PUBLICATIONS`."""
    kind, how = PUBLICATIONS[publication]
    if kind == "padded":
        p = ap.k_member(m.with_roles(sensitive=None), k, seed=seed)
        return padded(m, p, trees, how, friendly=friendly, seed=seed)
    return majeed2024.proposed(
        _balanced(m, others if kind == "people" else None, seed), k, 2, trees,
        friendly=friendly, seed=seed, largest_share=majeed2024.largest_share(k, how),
    )  # fmt: skip


def _detector(seed: int) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=15, random_state=seed)


def _cells(rel: ap.Release, with_value: bool) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Encode each class by its box and, if asked, each value by itself and the class's counts."""
    shown = np.add(*counts(rel))
    entry = np.unique(rel.classes.group, return_index=True)[1]
    boxes = [(p.sub_domains, p.index[entry]) for p in rel.published]
    box = np.column_stack([part[at] for of, at in boxes for part in (of.low, of.high, of.sizes)])
    of_class, value = np.nonzero(shown)
    parts = [box[of_class]]
    if with_value:
        parts += [value, shown[of_class], shown[of_class].sum(axis=1)]
    return np.column_stack(parts).astype(float), (of_class, value)


def learnt_risk(rel: ap.Release, tried: ap.Release, with_value: bool, seed: int) -> float:
    """Return the risk before a detector that learnt from a release of which all is known."""
    known, at = _cells(tried, with_value)
    rows = np.concatenate([of[at] for of in counts(tried)])
    there, is_real = rows > 0, np.repeat([1, 0], len(known))
    both = np.vstack([known, known])[there]
    model = _detector(seed).fit(both, is_real[there], sample_weight=rows[there])
    features, at = _cells(rel, with_value)
    real, invented = counts(rel)
    weight = np.zeros(real.shape)
    weight[at] = (real + invented)[at] * np.maximum(model.predict_proba(features)[:, 1], 1e-9)
    return own_risk(real, weight)


def attack(tables, name: str, publication: str, k: int, rows: int, seed: int) -> dict:
    """Publish one draw, let detectors learn, and measure.

    The attacker has other people with their values, publishes them by the same algorithm, and
    learns from that. A detector sees the box of a row alone, or also its value and the counts of
    its class.
    """
    m, public, test, *others = draw(tables[name], rows, seed)
    trees = hierarchies(name, tables[name])
    how = (publication, k, trees, majeed2024.PAPER_FRIENDLY[name])
    rel = publish(m, others[0], *how, seed)
    tried = publish(public, others[1], *how, seed + 1)
    real, invented = counts(rel)
    shown, values = real + invented, real.sum(axis=0)
    model = _detector(seed).fit(public.codes, public.sensitive_codes)
    learnt = np.zeros((m.n, m.sensitive_attribute.size))
    learnt[:, model.classes_] = model.predict_proba(m.codes)
    found = {
        "invented": int(invented.sum()),
        "fewest real in a class": int(real.sum(axis=1).min()),
        "risk, counting": own_risk(real, shown),
        "risk, knows the values": own_risk(real, shown * (values / shown.sum(axis=0))),
        "risk, box": learnt_risk(rel, tried, False, seed),
        "risk, value": learnt_risk(rel, tried, True, seed),
        # without a release: calibrated beliefs have no less risk, on average over people
        "risk, shares": own_risk(real, np.broadcast_to(values, real.shape)),
        "risk, public table": float(learnt[np.arange(m.n), m.sensitive_codes].mean()),
        "risk, real alone": own_risk(real, real),
        "distortion": distortion(rel.without_synthetic(), trees),
    }
    for measure, balanced in (("accuracy", False), ("balanced accuracy", True)):
        forest = classification(rel, test, trees=30, balanced=balanced, seed=seed)
        found[measure] = getattr(forest, measure.replace(" ", "_"))
    kind, pad = PUBLICATIONS[publication]
    if kind == "padded":
        for told, prior in (("", values / values.sum()), (", no prior", np.full(2, 0.5))):
            found[f"risk, informed{told}"] = informed_risk(rel, pad, prior)
    return found

"""What a release of people loses, and what one attacker gains by it, whatever the method.

A release is read as *expected counts* over the whole domain, quasi-identifiers x secrets: each
published row is spread evenly over the values that it may stand for. Analysts and attackers read
the same counts. The *advantage* is the attacker's mean belief in the own secret of people who are
in the table, minus the same mean over people who are not (Yeom et al. 2018, with beliefs in place
of guesses). So what is true of everybody is no advantage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain, combinations, product
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq, minimize
from scipy.special import log_softmax, softmax
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anonpaper.errors import InfeasibleError
from anonpaper.groups import Partition
from anonpaper.measure import classification
from anonpaper.measure.queries import Workload, places, workload
from anonpaper.microdata import Microdata
from anonpaper.partition.balanced import balanced_classes
from anonpaper.partition.mondrian import mondrian
from anonpaper.partition.tp import tp_plus
from anonpaper.principles import DistinctLDiversity, TCloseness, Theta
from anonpaper.publish import GroupRelease, Release, generalize, suppress, swap

__all__ = [
    "METHODS", "TABLES", "Attacker", "attacked", "counted", "counting_queries", "distances",
    "epsilon", "expected_counts", "noise", "noisy_cells", "noisy_pairs", "price", "query_loss",
    "synthesized",
]  # fmt: skip


# -- tables -------------------------------------------------------------------------------------


def _adult(m: Microdata) -> Microdata:
    frame = m.frame
    years = pd.cut(frame["education-num"], [0, 6, 8, 9, 10, 12, 13, 16], labels=False)
    names = ["age", "education-num", "marital-status", "sex", "salary-class", "occupation"]
    frame = frame[names].assign(**{"age": _eighths(frame["age"]), names[1]: years})
    return _complete(m, frame)


def _diabetes(m: Microdata) -> Microdata:
    frame = m.frame.drop_duplicates("patient_nbr")  # the first stay of each
    frame = frame[frame["gender"] != "Unknown/Invalid"]
    names = ["age", "race", "gender", "insulin", "change", "time_in_hospital"]
    age = frame["age"].str.extract(r"(\d+)")[0].astype(int)
    return _complete(m, frame[names].assign(age=age))


def _stroke(m: Microdata) -> Microdata:
    frame = m.frame.query("gender != 'Other'")
    names = ["age", "gender", "work_type", "Residence_type", "ever_married", "smoking_status"]
    return _complete(m, frame[names].assign(age=_eighths(frame["age"])))


def _eighths(numbers: pd.Series) -> pd.Series:
    return pd.qcut(numbers, 8, labels=False)


def _complete(m: Microdata, frame: pd.DataFrame) -> Microdata:
    """Return complete rows; the last column is the secret, the one before it will be learnt."""
    frame = frame.dropna().reset_index(drop=True)
    return Microdata(frame, [*frame.columns[:-1]], frame.columns[-1], origin=m.origin)


#: What makes tables of five quasi-identifiers and a secret, of people of three data sets.
TABLES = {"adult": _adult, "diabetes": _diabetes, "stroke": _stroke}


# -- releases as expected counts ----------------------------------------------------------------


def counted(m: Microdata) -> np.ndarray:
    """Count the rows of a table over its whole domain, quasi-identifiers and then the secret."""
    counts = np.zeros(_shape(m))
    np.add.at(counts, (*m.codes.T, m.sensitive_codes), 1)
    return counts


def expected_counts(rel: Release) -> np.ndarray:
    """Spread every published row evenly over the values that it may stand for, and count."""
    shown, shape = np.flatnonzero(rel.is_published), _shape(rel.microdata)
    labels, codes = rel.classes.labels[shown], rel.sensitive_codes[shown]
    if isinstance(rel, GroupRelease):  # rows publish themselves, not what their group has
        labels = np.arange(len(shown))
    row = shown[np.unique(labels, return_index=True)[1]]
    held = np.zeros((len(row), shape[-1]))
    np.add.at(held, (labels, codes), 1)
    box = np.ones((len(row), 1))
    for p in rel.published:
        share = p.sub_domains.means(np.eye(p.attribute.size))[p.index[row]]
        box = (box[:, :, None] * share[:, None, :]).reshape(len(row), -1)
    return (box.T @ held).reshape(shape)


def _within_groups(m: Microdata, p: Partition) -> np.ndarray:
    """Return the expected counts of a swapped table before an attacker who knows its groups."""
    held = np.zeros((p.n_groups, m.sensitive_attribute.size))
    np.add.at(held, (p.labels, m.sensitive_codes), 1)
    counts = np.zeros(_shape(m))
    np.add.at(counts, tuple(m.codes.T), (held / p.sizes()[:, None])[p.labels])
    return counts


def _shape(m: Microdata) -> tuple[int, ...]:
    return *(a.size for a in m.attributes), m.sensitive_attribute.size


def _marginal(counts: np.ndarray, kept: tuple[int, ...]) -> np.ndarray:
    return counts.sum(axis=tuple(j for j in range(counts.ndim) if j not in kept))


def _spread(marginal: np.ndarray, kept: tuple[int, ...], columns: int) -> np.ndarray:
    """Give a marginal the axes of the whole table, so that it can be added to it."""
    return np.expand_dims(marginal, tuple(j for j in range(columns) if j not in kept))


# -- differential privacy -----------------------------------------------------------------------


def noise(mu: float, marginals: int) -> float:
    """Return the standard deviation by which one person moves `marginals` tables by mu at most."""
    # who is replaced leaves one cell and enters another, in each table of counts
    return float(np.sqrt(2 * marginals) / mu)


def epsilon(mu: float, delta: float = 1e-5) -> float:
    """Return the least epsilon at delta of Gaussian noise, exactly (Balle and Wang 2018)."""

    def beyond(eps: float) -> float:
        other = np.exp(eps + norm.logcdf(-mu / 2 - eps / mu))
        return float(norm.cdf(mu / 2 - eps / mu) - other - delta)

    return 0.0 if beyond(0) <= 0 else float(brentq(beyond, 0, mu**2 / 2 + 10 * mu + 1))


def noisy_cells(counts: np.ndarray, mu: float, rng: np.random.Generator) -> np.ndarray:
    """Add noise to every cell; return the nearest counts of at least 0 with the same total."""
    noisy = (counts + rng.normal(0, noise(mu, 1), counts.shape)).ravel()
    down = np.sort(noisy)[::-1]
    over = (np.cumsum(down) - counts.sum()) / np.arange(1, len(down) + 1)
    return np.maximum(noisy - over[down > over][-1], 0).reshape(counts.shape)


def noisy_pairs(counts: np.ndarray, mu: float, rng: np.random.Generator) -> np.ndarray:
    """Add noise to all two-way marginals; return a table of synthetic people that fits them."""
    return _noisy_pairs(counts, mu, rng)[0]


def _noisy_pairs(counts: np.ndarray, mu: float, rng) -> tuple[np.ndarray, np.ndarray]:
    """Return the synthetic people, and a table that also holds what they miss of the marginals."""
    pairs = list(combinations(range(counts.ndim), 2))
    sigma = noise(mu, len(pairs))
    told = {pair: _marginal(counts, pair) for pair in pairs}
    told = {pair: part + rng.normal(0, sigma, part.shape) for pair, part in told.items()}
    people = synthesized(told, counts.shape, counts.sum(), sigma)
    raw = people.copy()
    for pair, part in told.items():
        missed = (part - _marginal(people, pair)) * part.size / counts.size
        raw += _spread(missed, pair, counts.ndim)
    return people, raw


def synthesized(
    told: Mapping[tuple[int, ...], np.ndarray], shape: tuple[int, ...], n: float, sigma: float
) -> np.ndarray:
    """Return the log-linear table of n people that fits noisy marginals best.

    It is the most likely one before a prior that keeps each parameter near 0 by the noise sigma.
    Without noise it is the table of greatest entropy with these marginals.
    """
    ends = np.cumsum([0, *(part.size for part in told.values())])
    wanted = np.concatenate([part.ravel() for part in told.values()])

    def table(parameters: np.ndarray) -> tuple[np.ndarray, float]:
        log = np.zeros(shape)
        for kept, part, first, last in zip(told, told.values(), ends, ends[1:], strict=False):
            log = log + _spread(parameters[first:last].reshape(part.shape), kept, len(shape))
        top = log.max()
        weight = np.exp(log - top)
        return n * weight / weight.sum(), float(np.log(weight.sum()) + top)

    def misfit(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        counts, log_total = table(parameters)
        found = np.concatenate([_marginal(counts, kept).ravel() for kept in told])
        value = n * log_total - wanted @ parameters + sigma**2 / 2 * parameters @ parameters
        return value / n, (found - wanted + sigma**2 * parameters) / n

    start, options = np.zeros(ends[-1]), {"maxiter": 60}
    return table(minimize(misfit, start, jac=True, method="L-BFGS-B", options=options).x)[0]


# -- methods ------------------------------------------------------------------------------------


class Method(NamedTuple):
    """How a table is published at each level, the most revealing first."""

    levels: tuple
    publish: Callable  # (table, level, rng) -> counts that analysts read, those attackers read


def _grouped(publish: Callable, groups: Callable) -> Callable:
    return lambda m, level, rng: [expected_counts(publish(m, groups(m, level, rng)))] * 2


def _swapped(m: Microdata, k: int, rng: np.random.Generator) -> list[np.ndarray]:
    # groups are made from what the release keeps, so that attackers find them again
    p = mondrian(m, k)
    return [expected_counts(swap(m, p, seed=rng)), _within_groups(m, p)]


def _cut(require: Callable) -> Callable:
    """Groups of at least two people by median cuts, whose secrets meet a principle."""
    return lambda m, level, rng: mondrian(m, 2, require=[require(level)])


def _on_counts(publish: Callable) -> Callable:
    return lambda m, level, rng: [publish(counted(m), level, rng)] * 2


def _unrelated(counts: np.ndarray, level, rng) -> np.ndarray:
    """Return the table with the same one-way marginals in which no two columns are related."""
    found = counts.sum() * np.ones(())
    for j in range(counts.ndim):
        found = np.multiply.outer(found, _marginal(counts, (j,)) / counts.sum())
    return found


_K, _MU = (5, 10, 20, 50, 120, 300), (64, 4, 2, 1, 0.5, 0.25)
_SHARES = (0.5, 0.4, 0.3, 0.2, 0.1)
METHODS = {
    "k": Method(_K, _grouped(generalize, lambda m, k, rng: mondrian(m, k))),
    "l": Method((4, 6, 8, 10), _grouped(generalize, _cut(DistinctLDiversity))),
    "theta": Method((0.7, *_SHARES[:-1]), _grouped(generalize, _cut(Theta))),
    "t": Method(_SHARES, _grouped(generalize, _cut(TCloseness))),
    "balanced": Method(
        (10, 30, 120), _grouped(generalize, lambda m, k, rng: balanced_classes(m, k, seed=rng))
    ),
    "stars": Method((2, 3, 4, 6), _grouped(suppress, lambda m, l, rng: tp_plus(m, l))),
    "swap": Method(_K, _swapped),
    "noisy cells": Method(_MU[1:-1], _on_counts(noisy_cells)),
    "noisy pairs": Method(_MU, _on_counts(noisy_pairs)),
    "noisy pairs, raw": Method(_MU, lambda m, mu, rng: _noisy_pairs(counted(m), mu, rng)),
    "as it is": Method((0,), _on_counts(lambda counts, level, rng: counts)),
    "unrelated": Method((0,), _on_counts(_unrelated)),
}


# -- the attacker -------------------------------------------------------------------------------

# else the last digits of a processor decide where the fit stops
_TO_THE_OPTIMUM = {"solver": "newton-cholesky", "tol": 1e-10}


class Attacker:
    """Knows the register, the secrets of a public table, the method and its level.

    The attacker publishes other people whose secrets he knows by the same method, and learns there
    how to weigh what a release says. So beliefs are calibrated for people of the table.
    """

    def __init__(self, public: Microdata) -> None:
        self.public, self.sizes = counted(public), [a.size for a in public.attributes]
        model = LogisticRegression(**_TO_THE_OPTIMUM)
        self.model = model.fit(self._hot(public.codes), public.sensitive_codes)

    def _hot(self, codes: np.ndarray) -> np.ndarray:
        return np.hstack([np.eye(size)[of] for size, of in zip(self.sizes, codes.T, strict=True)])

    def prior(self, people: Microdata) -> np.ndarray:
        """Return beliefs without any release: people x secrets."""
        found = np.full((people.n, people.sensitive_attribute.size), 1e-4)
        found[:, self.model.classes_] += self.model.predict_proba(self._hot(people.codes))
        return found / found.sum(axis=1, keepdims=True)

    def evidence(self, read: np.ndarray, people: Microdata) -> tuple[np.ndarray, np.ndarray]:
        """Compare counts of a release with those that the public table lets expect.

        For each set of quasi-identifiers, among the people who agree with a person on it: the
        share of each secret, and by how many more have it (people x secrets x features); and how
        many they are at all (people x features). Noisy counts may be below 0: where a count or the
        total has to be a number of people, it is raised to 0, the total to 1.
        """
        prior, d, total = self.prior(people), people.d, max(read.sum(), 1)
        secrets, alike = [np.log(prior)], []
        for kept in chain.from_iterable(combinations(range(d), size) for size in range(d + 1)):
            at = tuple(people.codes[:, j] for j in kept)
            held, known = (
                np.broadcast_to(_marginal(counts, (*kept, d))[at], prior.shape)
                for counts in (read, self.public)
            )
            whole, others = held.sum(axis=1, keepdims=True), known.sum(axis=1, keepdims=True)
            usual, positive = (known + 5 * prior) / (others + 5), np.maximum(held, 0)
            shares = (positive + usual) / (positive.sum(axis=1, keepdims=True) + 1)
            room = np.sqrt(np.maximum(whole, 0) * usual + 1)
            secrets += [np.log(shares), (held - whole * usual) / room]
            usual = (others + 0.5) * total / self.public.sum()
            alike += [np.log((np.maximum(whole, 0) + usual) / (2 * usual)),
                      (whole - usual) / np.sqrt(usual + 1)]  # fmt: skip
        return np.stack(secrets, axis=-1), np.hstack(alike)


def _logit(features: np.ndarray, secrets: np.ndarray, ridge: float = 10.0) -> Callable:
    """Learn a logit over secrets with one weight for each feature; return beliefs of others."""
    scale, who = features.std(axis=(0, 1)) + 1e-9, np.arange(len(features))
    x = features / scale
    own = x[who, secrets].sum(axis=0)

    def misfit(weights: np.ndarray) -> tuple[float, np.ndarray]:
        log = log_softmax(x @ weights, axis=1)
        slope = np.einsum("is,isf->f", np.exp(log), x) - own + ridge * weights
        return ridge / 2 * weights @ weights - log[who, secrets].sum(), slope

    def curve(weights: np.ndarray) -> np.ndarray:
        p = softmax(x @ weights, axis=1)
        mean = np.einsum("is,isf->if", p, x)
        each = (x * np.sqrt(p)[..., None]).reshape(-1, len(weights))
        return each.T @ each - mean.T @ mean + ridge * np.eye(len(weights))

    start = np.zeros(x.shape[-1])
    weights = minimize(misfit, start, jac=True, hess=curve, method="trust-exact").x / scale
    return lambda of_others: softmax(of_others @ weights, axis=1)


def _boosting(features: np.ndarray, secrets: np.ndarray) -> Callable:
    """Learn by boosted trees whether a secret is a person's own; return beliefs of others."""
    model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=15, random_state=0)
    own = secrets[:, None] == np.arange(features.shape[1])
    model.fit(features.reshape(own.size, -1), own.ravel())

    def believed(others: np.ndarray) -> np.ndarray:
        chance = model.predict_proba(others.reshape(-1, others.shape[-1]))[:, 1]
        chance = chance.reshape(others.shape[:2])
        return chance / chance.sum(axis=1, keepdims=True)

    return believed


_LEARNERS = {"logit": _logit, "boosting": _boosting}


def attacked(
    attacker: Attacker, seen: list[np.ndarray], people: list[Microdata], learner: str = "logit"
) -> dict[str, float]:
    """Return the advantages over four tables: two are attacked by who knows the other two.

    Of a pair, the people of one are the people who are not in the other.
    """
    of = {(i, j): attacker.evidence(seen[i], people[j]) for i in range(4) for j in (i, i ^ 1)}
    codes, inside, outside, there = [m.sensitive_codes for m in people], [], [], {}
    for pair, known in (((0, 1), (2, 3)), ((2, 3), (0, 1))):
        features = np.concatenate([of[i, i][0] for i in known])
        believed = _LEARNERS[learner](features, np.concatenate([codes[i] for i in known]))
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, **_TO_THE_OPTIMUM))
        both = list(product(known, known))
        model.fit(np.concatenate([of[at][1] for at in both]),
                  np.concatenate([np.full(people[j].n, i == j) for i, j in both]))  # fmt: skip
        inside += [believed(of[i, i][0]) for i in pair]
        outside += [believed(of[i ^ 1, i][0]) for i in pair]
        for at in product(pair, pair):
            there[at] = model.predict_proba(of[at][1])[:, 1].mean()
    before = [attacker.prior(m) for m in people]
    found = _advantages(*map(np.concatenate, (inside, outside, before, codes)))
    gaps = [there[i, i] - there[i ^ 1, i] for i in range(4)]
    return found | {"advantage, membership": float(np.mean(gaps))}


def _advantages(inside, outside, before, secrets) -> dict[str, float]:
    """Compare beliefs about people in a table with beliefs about the same people outside of it."""
    who = np.arange(len(secrets))
    own, other, usual = (p[who, secrets] for p in (inside, outside, before))
    right, sure = inside.argmax(axis=1) == secrets, inside.max(axis=1)
    unusual, more = usual <= np.quantile(usual, 0.25), own - other
    return {
        "advantage": float(more.mean()),
        "advantage of guesses": float(right.mean() - (outside.argmax(axis=1) == secrets).mean()),
        "advantage, unusual": float(more[unusual].mean()),
        "inside": float(own.mean()), "outside": float(other.mean()),
        "no release": float(usual.mean()), "too sure": float(sure.mean() - right.mean()),
    }  # fmt: skip


# -- what a release loses -----------------------------------------------------------------------


def counting_queries(m: Microdata, each: int = 20, seed: int = 0) -> list[Workload]:
    """Draw queries that restrict two quasi-identifiers to half of their values, for each pair."""
    rng, half = np.random.default_rng(seed), {a.name: max(1, places(a) // 2) for a in m.attributes}
    pairs = combinations(half, 2)
    return [workload(m, {name: half[name] for name in pair}, each, seed=rng) for pair in pairs]


def query_loss(read: np.ndarray, truth: np.ndarray, queries: list[Workload]) -> float:
    """Return the mean relative error of counts, with a floor of 1 % of the rows."""
    wrong = []
    for part in queries:
        answers = []
        for counts in (read, truth):
            left = np.broadcast_to(counts, (part.size, *counts.shape))
            for included in part.included:  # the first axis that is left is the next attribute
                left = np.einsum("qa,qa...->q...", included.astype(float), left)
            answers.append(left)
        least = np.maximum(answers[1], 0.01 * truth.sum())
        wrong.append((np.abs(answers[0] - answers[1]) / least).mean())
    return float(np.mean(wrong))


def distances(read: np.ndarray, truth: np.ndarray, columns: int = 2) -> float:
    """Return the mean total variation distance of all marginals of that many columns."""
    apart = read / read.sum() - truth / truth.sum()
    kept = combinations(range(read.ndim), columns)
    return float(np.mean([np.abs(_marginal(apart, part)).sum() / 2 for part in kept]))


def _to_learn(read: np.ndarray, m: Microdata, rng: np.random.Generator) -> Release:
    """Draw as many rows as m has from expected counts; the last quasi-identifier is learnt."""
    total = np.cumsum(read)
    at = np.searchsorted(total, (rng.random() + np.arange(m.n)) / m.n * total[-1] * (1 - 1e-12))
    codes = np.unravel_index(at, read.shape)
    rows = _learning(m.with_codes(dict(zip([*m.qi, m.sensitive], codes, strict=True))))
    return suppress(rows, Partition(rows.cells.tuple_of_row))


def _learning(m: Microdata) -> Microdata:
    return m.with_roles(qi=[*m.qi[:-1], m.sensitive], sensitive=m.qi[-1])


# -- one draw -----------------------------------------------------------------------------------


def price(
    table: str, seed: int, method: str, learner: str, rows: int, trees: int, tables: Mapping
) -> list[dict]:
    """Measure advantages and losses of a method at all levels, on four tables of one draw.

    Counting and marginals are compared with the table; *learning* is one minus the balanced
    accuracy of a forest on people of the public table.
    """
    whole = tables[table]
    order = np.random.default_rng([seed, len(table)]).permutation(whole.n)
    people = [whole.take(np.sort(order[i * rows : (i + 1) * rows])) for i in range(4)]
    public = whole.take(np.sort(order[4 * rows : 6 * rows]))
    attacker, test = Attacker(public), _learning(public)
    queries = [counting_queries(m, seed=seed) for m in people]
    found = []
    for level in METHODS[method].levels:
        place = [*METHODS].index(method.removesuffix(", raw"))  # the same noise
        rng = np.random.default_rng([seed, len(table), place, int(level * 1000)])
        try:
            reads = [METHODS[method].publish(m, level, rng) for m in people]
        except InfeasibleError:  # the table has no such groups
            continue
        lost = []
        # of one table of each pair: a forest takes as long as all else
        for (read, _), m, asked in [*zip(reads, people, queries, strict=True)][::2]:
            rel, truth = _to_learn(read, m, rng), counted(m)
            learnt = classification(rel, test, trees=trees, balanced=True, seed=rng)
            lost.append([query_loss(read, truth, asked), 1 - learnt.balanced_accuracy,
                         distances(read, truth)])  # fmt: skip
        told = attacked(attacker, [seen for _, seen in reads], people, learner)
        names = ("counting", "learning", "marginals")
        found.append(
            {"level": level} | told | dict(zip(names, np.mean(lost, axis=0), strict=True))
        )
    return found

"""What the figures and claims of boger2020 measure (sections 3 to 6 of the paper)."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency, entropy, spearmanr
from sklearn.metrics import adjusted_rand_score

from anonpaper.compendium.grids import timed
from anonpaper.groups import Partition
from anonpaper.measure import (
    chi_square,
    guessing,
    membership,
    plausible_values,
    query_error,
    query_errors,
    ruled_out,
    workload,
)
from anonpaper.measure.queries import Workload, places
from anonpaper.microdata import Attribute, Microdata
from anonpaper.partition.klt import UnplacedRowsWarning
from anonpaper.partition.klt import klt as _klt
from anonpaper.partition.mondrian import mondrian
from anonpaper.principles import DistinctLDiversity, Theta
from anonpaper.publish import anatomize, generalize, swap

#: The paper's algorithm: its step 6 leaves out what it could not merge.
klt = partial(_klt, withheld="drop")

#: The quasi-identifiers of Figure 4, in its order.
QI = ("race", "education", "sex", "age")

#: Weights of the tables of Figure 6.
TABLES = {"BaseTable": {}} | {f"{name.capitalize()}Table": {name: 5} for name in QI}

#: Section 4.5: about half of the values. Figure 7 shows one sex. We ask for both: the numbers of
#: Figure 8 agree with those of Figure 11 at 100 % only.
DEFAULT_SELECTIVITY = {"race": 3, "education": 8, "sex": 2, "age": 35}

#: Figure 12 varies the age window in steps of five years.
AGE_STEP = 5

#: The rounds of Figures 9 to 12 that ask for the fewest values.
LEAST = (("race", 1), ("education", 1), ("sex", 1), ("age", 5))


def cluster(tables: dict, data: str, k: int, l: int, theta: float, seed: int) -> dict:
    """Cluster a table; return the repeats of steps 1 to 3 and the rows that step 6 leaves out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnplacedRowsWarning)  # they are what is measured
        p = klt(tables[data], k, l, theta, seed=seed)
    left_out = 100 * p.n_unpublished / tables[data].n
    return {"M": p.info["repeats"], "groups": p.n_groups, "left_out_pct": left_out}


def time_klt(m: Microdata, rows: int, repeats: int, seed: int) -> dict:
    """Time the clustering of a random part of a table, with the paper's parameters."""
    seconds, p = timed(
        lambda drawn: klt(drawn, seed=seed), repeats, fresh=lambda: m.sample(rows, seed)
    )
    found = {"M": p.info["repeats"], "unplaced_rows": p.n_unpublished}
    return {"seconds": seconds, "groups": p.n_groups, **found}


# -- queries (section 4) ----------------------------------------------------------------------


def errors_by_selectivity(
    m: Microdata, queries: int, seed: int, only: list | None = None, tables=tuple(TABLES),
    partitions: dict[str, Partition] | None = None,
) -> list[dict]:  # fmt: skip
    """Measure the errors of Figures 8 to 12; of given partitions as the author's program does."""
    chosen = partitions or {of: klt(m, weights=TABLES[of], seed=seed) for of in tables}
    releases = [swap(m, p, seed) for p in chosen.values()]
    rows = []
    for about, asked, rng in _rounds(m, queries, seed, only):
        if partitions:
            _leave_out_last_window(m, asked, rng)
        truth, *answers = asked.answers(m, *releases)
        terms = [(a - truth) ** 2 / np.maximum(a + truth, 1) for a in answers]
        # the program divides whole numbers, so that every term is rounded down
        rounded, exact = (
            np.array([kind(term).sum() for term in terms]) for kind in (np.floor, np.asarray)
        )
        for number, table in enumerate(chosen):
            relative = [100 * sums[number] / max(sums[0], 1) for sums in (rounded, exact)]
            found = {"relative_error_pct": relative[0], "not_rounded_pct": relative[1]}
            by_text = {"relative_error_pct": relative[1], "chi_square": exact[number]}
            rows.append({**about, "table": table, **(found if partitions else by_text)})
    return rows


def distance_by_frequency(m: Microdata, queries: int, seed: int) -> dict:
    """Measure how the chi-square distance of a query goes with the rows that have its values."""
    asked = workload(m, DEFAULT_SELECTIVITY, queries, seed)
    truth, swapped = asked.answers(m, swap(m, klt(m, seed=seed), seed))
    rows, tenth, distance = truth.sum(axis=1), max(queries // 10, 1), chi_square(truth, swapped)
    ordered = distance[np.argsort(rows, kind="stable")]
    return {
        "rank correlation": float(spearmanr(rows, distance).statistic),
        "least frequent tenth": float(ordered[:tenth].mean()),
        "most frequent tenth": float(ordered[-tenth:].mean()),
    }


def _rounds(m: Microdata, queries: int, seed: int, only: list | None):
    """Yield what every round of simulation varies, its queries, and the generator behind them."""
    rounds = [("none", 0, 50.0)]
    for name in QI:
        most = places(m.attribute(name))
        asked_for = range(AGE_STEP, most, AGE_STEP) if name == "age" else range(1, most + 1)
        rounds += [(name, values, 100 * values / most) for values in asked_for]
    for number, (varied, values, percent) in enumerate(rounds):
        if only is None or [varied, values] in only:
            selectivity = DEFAULT_SELECTIVITY | ({varied: values} if values else {})
            rng = np.random.default_rng([seed, number])
            about = {"varied": varied, "values": values, "selectivity_pct": percent}
            yield about, workload(m, selectivity, queries, rng), rng


def _leave_out_last_window(m: Microdata, asked: Workload, rng: np.random.Generator) -> None:
    """Draw the age windows again as the program does: never the last, if there are several."""
    age, wanted = m.attribute("age"), asked.selectivity["age"]
    first = age.positions[0] + rng.integers(0, max(places(age) - wanted, 1), asked.size)
    asked.windows["age"] = np.column_stack([first, first + wanted - 1])


def compare_methods(m: Microdata, queries: int, seed: int, only: list) -> list[dict]:
    """Measure errors of swapping, anatomy and generalization on the same queries and groups."""
    # Mondrian's groups with frequency l = 3 promise less than klt's (a third at most); swapping
    # also publishes Mondrian's groups with klt's own promises
    promised = mondrian(m, k=10, require=[DistinctLDiversity(5), Theta(0.3)])
    groups = {"arbitrary": _arbitrary(m, seed), "Mondrian, k, l, theta": promised}
    releases = {("swapping", name): swap(m, p, seed) for name, p in groups.items()}
    for name, p in {"klt": klt(m, seed=seed), "Mondrian": mondrian(m, k=10, l=3)}.items():
        releases["swapping", name] = swap(m, p, seed)
        releases["anatomy", name] = anatomize(m, p)
        releases["generalization", name] = generalize(m, p)
    rows = []
    for about, asked, _ in _rounds(m, queries, seed, only):
        errors = query_errors(asked, [*releases.values()]) / queries
        for ((method, name), release), error in zip(releases.items(), errors, strict=True):
            found = {"chi_square": float(error), "relative_error": query_error(release, asked)}
            rows.append({**about, "method": method, "groups": name, **found})
    return rows


def _arbitrary(m: Microdata, seed: int) -> Partition:
    """Return klt's groups with all weights 0: every row is as close as any other."""
    return klt(m, weights=dict.fromkeys(m.qi, 0), seed=seed)


def association_with_sensitive(m: Microdata) -> pd.DataFrame:
    """Measure how far every quasi-identifier goes with the sensitive attribute."""
    found = {a.name: _association(_values_singly(m, a).answers(m)[0]) for a in m.attributes}
    return pd.DataFrame.from_dict(found, orient="index").rename_axis("attribute").reset_index()


def _values_singly(m: Microdata, attribute: Attribute) -> Workload:
    """Return one query for every value of an attribute: the answers are its contingency table."""
    codes = np.arange(attribute.size)[:, None]
    windows = {attribute.name: attribute.positions[codes].repeat(2, axis=1)}
    asked = (windows, {}) if attribute.numeric else ({}, {attribute.name: codes})
    return Workload(
        m.attributes, m.sensitive_attribute, {attribute.name: 1}, attribute.size, *asked
    )


def _association(counts: np.ndarray) -> dict[str, float]:
    """Return three measures of how far the rows of a contingency table go with its columns."""
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    phi_squared = chi2_contingency(counts, correction=False).statistic / counts.sum()
    return {
        "Cramer's V": (phi_squared / max(min(counts.shape) - 1, 1)) ** 0.5,
        "phi^2": phi_squared,
        "mutual information": sum(entropy(counts.sum(axis=k)) for k in (0, 1))
        - entropy(counts, axis=None),
    }


def errors_after_permuting(
    m: Microdata, within: list[str] | None, queries: int, seed: int, only: list, tables: list[str]
) -> list[dict]:
    """Measure errors after the sensitive values are permuted among people alike by `within`."""
    if within is not None:
        kind = m.frame.groupby(within, observed=True).ngroup() if within else np.zeros(m.n)
        drawn = np.lexsort((np.random.default_rng(seed).random(m.n), kind))
        values = m.frame[m.sensitive].to_numpy().copy()
        values[np.argsort(kind, kind="stable")] = values[drawn]
        m = m.replace(frame=m.frame.assign(**{m.sensitive: values}))
    return errors_by_selectivity(m, queries, seed, only, tables)


# -- attacks (section 5) ----------------------------------------------------------------------


def compare_groupings(
    m: Microdata, known: list, least_shares: list, seed: int, people: Microdata | None = None
) -> list[dict]:
    """Guess sensitive values in groups of close rows and in arbitrary ones, by knowledge."""
    groupings = {"clustered": klt(m, seed=seed), "arbitrary": _arbitrary(m, seed)}
    rows = []
    for columns, share in [(c, share) for c in known for share in (least_shares if c else [0.0])]:
        plausible = plausible_values(m, columns, share, people) if columns else None
        for grouping, p in groupings.items():
            success = guessing(m, p.labels, plausible)
            by_group = np.bincount(p.labels, weights=success) / p.sizes()
            out = ruled_out(m, p.labels, plausible).mean() if columns else 0
            about = {"grouping": grouping, "knowledge": " and ".join(columns) or "nothing"}
            found = {"success": float(success.mean()), "worst_group": float(by_group.max())}
            rows.append({**about, "least_share": share, **found, "ruled_out": float(out)})
    return rows


def compare_membership(
    members: Microdata, outsiders: Microdata, qi: list[str], seed: int
) -> list[dict]:
    """Test membership in a swapped table, and in a generalization by the same groups."""
    members, outsiders = members.with_roles(qi=list(qi)), outsiders.with_roles(qi=list(qi))
    p = klt(members, seed=seed)
    releases = {"swapping": swap(members, p, seed), "generalization": generalize(members, p)}
    return [
        {"method": method, "number_of_qi": len(qi), **membership(release, outsiders)}
        for method, release in releases.items()
    ]


def recover_groups(m: Microdata, seed: int) -> list[dict]:
    """Look for the groups of a swapped table, which it does not show, by clustering it again."""
    p = klt(m, seed=seed)
    published = m.replace(frame=swap(m, p, seed).frame)
    found = {
        "nothing": klt(published, seed=np.random.default_rng([seed, 1])).labels,
        "the order of the rows": klt(published, seed=seed).labels,
        "the groups": p.labels,
    }
    rows = []
    for knows, labels in found.items():
        counts = pd.crosstab(labels, published.sensitive_codes).to_numpy()
        named = (counts == counts.max(axis=1, keepdims=True))[labels]
        right = named[np.arange(m.n), m.sensitive_codes] / named.sum(axis=1)
        agreement = adjusted_rand_score(p.labels, labels)
        rows.append({"knows": knows, "adjusted_rand": agreement, "success": float(right.mean())})
    return rows

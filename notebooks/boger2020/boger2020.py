"""What the figures and claims of boger2020 measure (sections 3 to 6 of the paper)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency, entropy, spearmanr

import anonpaper as ap
from anonpaper import Microdata, Partition, measure
from anonpaper.compendium.grids import timed
from anonpaper.measure.queries import Workload, places
from anonpaper.partition.klt import UnplacedRowsWarning

#: The paper's algorithm: its step 6 leaves out what it could not merge.
klt = partial(ap.klt, withheld="drop")

#: The quasi-identifiers of Figure 4, in its order.
QI = ("race", "education", "sex", "age")

#: Weights of the tables of Figure 6.
TABLES = {"BaseTable": {}} | {f"{name.capitalize()}Table": {name: 5} for name in QI}

#: With these weights every row is as close as any other: groups are arbitrary.
EQUAL = dict.fromkeys(QI, 0)

#: Section 4.5: about half of the values. Figure 7 shows one sex. We ask for both: the numbers of
#: Figure 8 agree with those of Figure 11 at 100 % only.
DEFAULT_SELECTIVITY = {"race": 3, "education": 8, "sex": 2, "age": 35}

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
    sample = partial(m.sample, rows, seed)
    seconds, p = timed(lambda drawn: klt(drawn, seed=seed), repeats, fresh=sample)
    found = {"M": p.info["repeats"], "unplaced_rows": p.n_unpublished}
    return {"seconds": seconds, "groups": p.n_groups, **found}


def errors_by_selectivity(
    m: Microdata, queries: int, seed: int, only: list | None = None, tables=tuple(TABLES),
    partitions: dict[str, Partition] | None = None,
) -> Iterator[dict]:  # fmt: skip
    """Measure the errors of Figures 8 to 12; of given partitions as the author's program does."""
    chosen = partitions or {of: klt(m, weights=TABLES[of], seed=seed) for of in tables}
    releases = [ap.swap(m, p, seed) for p in chosen.values()]
    for about, asked, rng in _rounds(m, queries, seed, only):
        if partitions:
            # it never draws the last age window, if there are several
            age, wanted = m.attribute("age"), int(np.ptp(asked.asked["age"][0])) + 1
            first = age.positions[0] + rng.integers(0, max(places(age) - wanted, 1), queries)
            asked.asked["age"] = np.column_stack([first, first + wanted - 1])
        truth, *answers = asked.answers(m, *releases)
        terms = [(a - truth) ** 2 / np.maximum(a + truth, 1) for a in answers]
        sums = np.array([[of(term).sum() for term in terms] for of in (np.abs, np.floor)])
        relative = (100 * sums / np.maximum(sums[:, :1], 1)).T
        for table, (error, whole), distance in zip(chosen, relative, sums[0], strict=True):
            found = {"relative_error_pct": error, "chi_square": distance}
            if partitions:  # it divides whole numbers, so that every term is rounded down
                found = {"relative_error_pct": whole, "not_rounded_pct": error}
            yield about | {"table": table} | found


def distance_by_frequency(m: Microdata, queries: int, seed: int) -> dict:
    """Measure how the chi-square distance of a query goes with the rows that have its values."""
    asked = measure.workload(m, DEFAULT_SELECTIVITY, queries, seed)
    truth, swapped = asked.answers(m, ap.swap(m, klt(m, seed=seed), seed))
    rows, distance = truth.sum(axis=1), measure.chi_square(truth, swapped)
    tenth = max(queries // 10, 1)
    ordered = distance[np.argsort(rows, kind="stable")]
    ends = {"least frequent tenth": ordered[:tenth].mean(),
            "most frequent tenth": ordered[-tenth:].mean()}  # fmt: skip
    return {"rank correlation": spearmanr(rows, distance).statistic, **ends}


def _rounds(m: Microdata, queries: int, seed: int, only: list | None):
    """Yield what every round of simulation varies, its queries, and the generator behind them."""
    rounds = [("none", 0, 50.0)]
    for name in QI:
        most = places(m.attribute(name))
        asked_for = range(5, most, 5) if name == "age" else range(1, most + 1)
        rounds += [(name, values, 100 * values / most) for values in asked_for]
    for number, (varied, values, percent) in enumerate(rounds):
        if only is None or [varied, values] in only:
            selectivity = DEFAULT_SELECTIVITY | ({varied: values} if values else {})
            rng = np.random.default_rng([seed, number])
            about = {"varied": varied, "values": values, "selectivity_pct": percent}
            yield about, measure.workload(m, selectivity, queries, rng), rng


def compare_methods(m: Microdata, queries: int, seed: int, only: list) -> Iterator[dict]:
    """Measure errors of swapping, anatomy and generalization on the same queries and groups."""
    # Mondrian's groups with klt's promises; those below promise less, a third at most
    promised = ap.mondrian(m, k=10, require=[ap.DistinctLDiversity(5), ap.Theta(0.3)])
    groups = {"arbitrary": klt(m, weights=EQUAL, seed=seed), "Mondrian, k, l, theta": promised}
    releases = {("swapping", name): ap.swap(m, p, seed) for name, p in groups.items()}
    for name, p in {"klt": klt(m, seed=seed), "Mondrian": ap.mondrian(m, k=10, l=3)}.items():
        releases["swapping", name] = ap.swap(m, p, seed)
        releases["anatomy", name] = ap.anatomize(m, p)
        releases["generalization", name] = ap.generalize(m, p)
    for about, asked, _ in _rounds(m, queries, seed, only):
        errors = measure.query_errors(asked, [*releases.values()]) / queries
        for ((method, name), rel), error in zip(releases.items(), errors, strict=True):
            found = {"chi_square": error, "relative_error": measure.query_error(rel, asked)}
            yield about | {"method": method, "groups": name} | found


def association_with_sensitive(m: Microdata) -> pd.DataFrame:
    """Measure how far every quasi-identifier goes with the sensitive attribute."""
    found = {a.name: _association(_values_singly(m, a).answers(m)[0]) for a in m.attributes}
    return pd.DataFrame.from_dict(found, orient="index").rename_axis("attribute").reset_index()


def _values_singly(m: Microdata, attribute) -> Workload:
    """Return one query for every value of an attribute: the answers are its contingency table."""
    codes = np.arange(attribute.size)[:, None]
    asked = attribute.positions[codes].repeat(2, axis=1) if attribute.numeric else codes
    return Workload(m.attributes, m.sensitive_attribute, attribute.size, {attribute.name: asked})


def _association(counts: np.ndarray) -> dict[str, float]:
    """Return three measures of how far the rows of a contingency table go with its columns."""
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    phi_squared = chi2_contingency(counts, correction=False).statistic / counts.sum()
    v = (phi_squared / max(min(counts.shape) - 1, 1)) ** 0.5
    information = sum(entropy(counts.sum(axis=k)) for k in (0, 1)) - entropy(counts, axis=None)
    return {"Cramer's V": v, "phi^2": phi_squared, "mutual information": information}


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


def compare_groupings(
    m: Microdata, known: list, least_shares: list, seed: int, people: Microdata | None = None
) -> Iterator[dict]:
    """Guess sensitive values in groups of close rows and in arbitrary ones, by knowledge."""
    groupings = {"clustered": klt(m, seed=seed), "arbitrary": klt(m, weights=EQUAL, seed=seed)}
    for columns, share in [(c, share) for c in known for share in (least_shares if c else [0.0])]:
        plausible = measure.plausible_values(m, columns, share, people) if columns else None
        for grouping, p in groupings.items():
            success = measure.guessing(m, p.labels, plausible)
            by_group = np.bincount(p.labels, weights=success) / p.sizes()
            out = measure.ruled_out(m, p.labels, plausible).mean() if columns else 0
            yield {
                "grouping": grouping, "knowledge": " and ".join(columns) or "nothing",
                "least_share": share, "success": float(success.mean()),
                "worst_group": float(by_group.max()), "ruled_out": float(out),
            }  # fmt: skip


def compare_membership(
    members: Microdata, outsiders: Microdata, qi: list[str], seed: int
) -> Iterator[dict]:
    """Test membership in a swapped table, and in a generalization by the same groups."""
    members, outsiders = (people.with_roles(qi=list(qi)) for people in (members, outsiders))
    p = klt(members, seed=seed)
    releases = {"swapping": ap.swap(members, p, seed), "generalization": ap.generalize(members, p)}
    for method, release in releases.items():
        yield {"method": method, "number_of_qi": len(qi)} | measure.membership(release, outsiders)

"""What the figures and claims of boger2020 measure (sections 3 to 6 of the paper).

At the end are the six steps of section 3.1 on every pair, as the text or the author's program
takes them: reference [1], github.com/SamBoger/Query-Accuracy-on-l-Diversity as of December 2020.
Comments say where it departs from the text. `anonpaper.klt` does not look at all pairs.
"""

import warnings
from collections import namedtuple
from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import chi2_contingency, entropy, spearmanr

import anonpaper as ap
from anonpaper import Microdata, measure
from anonpaper.compendium.grids import timed
from anonpaper.compiled import inner, loop
from anonpaper.groups import dense_labels
from anonpaper.measure.queries import Workload, chi_square, places
from anonpaper.partition.klt import UnplacedRowsWarning
from anonpaper.randomness import generator

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


def sql(queries: Workload, table: str) -> Iterator[str]:
    """Yield counting queries as SQL on a table of that name, as in Figure 7."""
    name = _quoted(queries.sensitive.name)
    for query in range(queries.size):
        conditions = [_condition(a, queries.asked[a.name][query])
                      for a in queries.attributes if a.name in queries.asked]  # fmt: skip
        where = "WHERE " + " AND\n".join(conditions) + "\n" if conditions else ""
        yield f"SELECT {name}, COUNT(*) AS total\nFROM {_quoted(table)}\n{where}GROUP BY {name};"


def _condition(attribute: ap.Attribute, asked: np.ndarray) -> str:
    name = _quoted(attribute.name)
    if attribute.numeric:  # whole numbers
        low, high = map(int, asked)
        return f"{name} > {low - 1} AND {name} < {high + 1}"
    values = attribute.values[np.sort(asked)].tolist()
    return f"{name} IN ({', '.join(_quoted(value, chr(39)) for value in values)})"


def _quoted(name: object, mark: str = '"') -> str:
    return mark + str(name).replace(mark, 2 * mark) + mark


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
    m: Microdata, queries: int, seed: int, only=None, tables=tuple(TABLES), partitions=None
) -> Iterator[dict]:
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
    rows, distance = truth.sum(axis=1), chi_square(truth, swapped)
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


def compare_groupings(m: Microdata, known: list, least_shares: list, seed: int, people=None):
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


def compare_membership(members: Microdata, outsiders: Microdata, qi: list[str], seed: int):
    """Test membership in a swapped table, and in a generalization by the same groups."""
    members, outsiders = (people.with_roles(qi=list(qi)) for people in (members, outsiders))
    p = klt(members, seed=seed)
    releases = {"swapping": ap.swap(members, p, seed), "generalization": ap.generalize(members, p)}
    for method, release in releases.items():
        yield {"method": method, "number_of_qi": len(qi)} | measure.membership(release, outsiders)


_ROUNDING = 1e-9  # equal shares count as equal
#: What groups must meet; scales of squared gaps, weights of sets that differ; whether by program.
Rule = namedtuple("Rule", "k l theta scale weight program")
#: Clusters by number: rows; sums of places of numeric or two-valued attributes; values of others,
#: as bits; rows by sensitive value. Rows are clusters of one.
Clusters = namedtuple("Clusters", "size sums sets counts")


def grouped_by_pairs(m: ap.Microdata, k=10, l=5, theta=0.3, weights=None, seed=0, program=False):
    """Return the groups, and after every step its name and each row's cluster (-1: none)."""
    mean = np.array([a.numeric or a.size <= 2 for a in m.attributes])
    weight = np.array([float((weights or {}).get(name, 1)) for name in m.qi])
    width = np.array([a.width or 1.0 for a in m.attributes])
    if program:  # it divides numbers by the largest of them, where the text maps them to [0, 1]
        weight *= [(a.width / (a.positions[-1] or 1)) ** 2 if a.numeric else 1
                   for a in m.attributes]  # fmt: skip
    rule = Rule(k, l, theta + _ROUNDING, (weight / width**2)[mean], weight[~mean], program)
    places = [a.positions[codes] for a, codes in zip(m.attributes, m.codes.T, strict=True)]
    sums = np.column_stack([*places, np.zeros((m.n, 0))])[:, mean]
    sets = np.uint64(1) << m.codes[:, ~mean].astype(np.uint64)
    counts = np.eye(m.sensitive_attribute.size, dtype=np.intp)[m.sensitive_codes]
    rows = Clusters(np.ones(m.n, np.intp), sums, sets, counts)
    clusters = Clusters(*(np.zeros_like(part) for part in rows))
    # the program takes rows in the order of the file
    order = np.arange(m.n) if program else generator(seed).permutation(m.n)
    free, place, cluster_of = order.copy(), np.argsort(order), np.full(m.n, -1)
    taken, formed, repeats = [], 0, -1
    while len(free):  # step 4: rows that are left begin at step 1
        repeats += 1
        formed, queue = form_clusters(rule, rows, clusters, free, cluster_of, formed)
        taken.append(("1 and 2: clusters of l values", cluster_of.copy()))
        free = empty_queue(rule, rows, clusters, queue, cluster_of, formed)
        if not program:  # it keeps them in the order of its queue
            free = free[np.argsort(place[free])]
        taken.append(("3: the queue is served", cluster_of.copy()))
    merge_clusters(rule, clusters, cluster_of, formed)
    taken.append(("5: small clusters merge", cluster_of))
    info = {"repeats": repeats, "formed": formed}
    return ap.Partition(dense_labels(cluster_of), info=info, algorithm="all pairs"), taken


@loop
def form_clusters(rule, rows, clusters, free, cluster_of, formed):
    """Form clusters of l distinct values; return their number and the queue."""
    queue, left = [0 for _ in range(0)], len(free)
    while left:
        c, nearest, formed = formed, 0, formed + 1  # line 1: any row starts a cluster
        while True:
            r, left = free[nearest], left - 1
            free[nearest:left] = free[nearest + 1 : left + 1]
            if clusters.counts[c, rows.counts[r].argmax()]:  # line 2: its value is there
                queue.append(r)
            else:
                add(clusters, c, rows, r)
                cluster_of[r] = c
            if not left or np.count_nonzero(clusters.counts[c]) >= rule.l:
                break
            nearest, least = 0, np.inf
            for i in range(left):
                apart = distance(rule, clusters, c, rows, free[i])
                if apart < least:
                    nearest, least = i, apart
    return formed, np.array(queue, np.intp)


@loop
def empty_queue(rule, rows, clusters, queue, cluster_of, formed):
    """Give rows of the queue to their closest eligible clusters; return the others."""
    left = [0 for _ in range(0)]
    for r in queue[::-1] if rule.program else queue:  # the program begins at its end
        nearest, least, v = -1, np.inf, rows.counts[r].argmax()
        for c in range(formed):
            if clusters.size[c] < rule.k and is_eligible(rule, clusters, c, v):
                apart = distance(rule, rows, r, clusters, c)
                if apart < least:
                    nearest, least = c, apart
        if nearest < 0:
            left.append(r)
        else:
            add(clusters, nearest, rows, r)
            cluster_of[r] = nearest
    return np.array(left, np.intp)


@loop
def is_eligible(rule, clusters, c, v):
    """Line 3: whether theta allows a row of value v in a cluster."""
    count, size = clusters.counts[c, v] + 1, clusters.size[c]
    largest = max(clusters.counts[c].max(), count)
    if rule.program:  # it divides by the size without the row, and a new value always fits
        return count == 1 or largest / size < rule.theta - 2 * _ROUNDING
    return largest / (size + 1) <= rule.theta


@loop
def merge_clusters(rule, clusters, cluster_of, formed):
    """Merge clusters until all are satisfied; leave out those that no other can complete."""
    for number in range(formed):
        c = number
        while clusters.size[c] and not is_satisfied(rule, clusters.counts[c]):
            other = partner(rule, clusters, c, formed)
            if other < 0 and not rule.program:  # lines 5 and 6: it is not published
                cluster_of[cluster_of == c] = -1
                clusters.size[c] = 0
            if other >= 0:
                kept, gone = (c, other) if rule.program else (min(c, other), max(c, other))
                add(clusters, kept, clusters, gone)
                cluster_of[cluster_of == gone] = kept
                clusters.size[gone], c = 0, kept
            if rule.program:  # it merges each cluster once, and publishes it, satisfied or not
                break


@loop
def partner(rule, clusters, c, formed):
    """Line 5: the closest cluster that completes c, else that keeps theta, else -1."""
    good, fair, least_good, least_fair = -1, -1, np.inf, np.inf
    for other in range(formed):
        together = clusters.counts[c] + clusters.counts[other]
        if other == c or not clusters.size[other] or together.max() / together.sum() > rule.theta:
            continue
        apart = distance(rule, clusters, c, clusters, other)
        if apart < least_fair:
            fair, least_fair = other, apart
        if apart < least_good and is_satisfied(rule, together):
            good, least_good = other, apart
    return good if good >= 0 else fair


@loop
def is_satisfied(rule, counts):
    """Whether rows with these sensitive values meet k, l and theta."""
    size, largest = counts.sum(), counts.max()
    return size >= rule.k and np.count_nonzero(counts) >= rule.l and largest / size <= rule.theta


@inner
def distance(rule, a, i, b, j):
    """Section 4.4: the distance of cluster i of `a` and cluster j of `b`."""
    total, gain = 0.0, a.size[i] * b.size[j] / (a.size[i] + b.size[j])
    for u in range(len(rule.scale)):
        gap = a.sums[i, u] / a.size[i] - b.sums[j, u] / b.size[j]
        total += rule.scale[u] * gain * gap * gap
    for s in range(len(rule.weight)):
        if a.sets[i, s] != b.sets[j, s]:
            total += rule.weight[s]
    return total


@loop
def add(clusters, c, others, o):
    """Add cluster o of `others` to cluster c."""
    clusters.size[c] += others.size[o]
    clusters.sums[c] += others.sums[o]
    clusters.sets[c] |= others.sets[o]
    clusters.counts[c] += others.counts[o]


def ten_people() -> ap.Microdata:
    """Return the small table of all notebooks."""
    frame = pd.DataFrame({
        "age": [21, 22, 24, 30, 33, 35, 41, 47, 52, 58],
        "sex": list("FMMFFMFMMF"),
        "education": ["School" if known == "S" else "College" for known in "SSCCCSCSSC"],
        "occupation": ["Sales", "Sales", "Clerk", "Sales", "Clerk", "Repair", "Manager", "Repair",
                       "Sales", "Manager"],
    })  # fmt: skip
    return ap.Microdata(frame, ["age", "sex", "education"], "occupation")


def draw_steps(m: ap.Microdata, steps: list[tuple[str, np.ndarray]], seed: int = 0) -> Figure:
    """Draw a table of a few rows after every step, and at last as it is published."""
    final = ap.Partition(dense_labels(steps[-1][1]))
    published = ap.swap(m, final, seed=seed).frame.set_axis(m.frame.index[final.labels >= 0])
    shown = [(title, labels, m.frame) for title, labels in steps]
    shown.append(("published: values swapped in each group", steps[-1][1], published))
    of_people, panels = m.frame[[*m.qi, m.sensitive]].astype(str), []
    for title, labels, frame in shown:
        texts = frame[[*of_people]].astype(str).reindex(m.frame.index, fill_value="")
        colours = [ap.plots.PALE[c % len(ap.plots.PALE)] if c >= 0 else None for c in labels]
        look = {"bold": texts != of_people, "left": ["waits" if c < 0 else "" for c in labels]}
        panels.append((title, texts, [[colour] * texts.shape[1] for colour in colours], look))
    return ap.plots.tables(panels)

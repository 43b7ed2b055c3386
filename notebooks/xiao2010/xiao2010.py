"""What the figures of xiao2010 measure (section 6 of the paper).

SAL-d and OCC-d are the projections of a table on d of its seven quasi-identifiers; functions of a
grid measure one. At the end, theorems and lemmas are tested on tables of a dozen rows, of which
:func:`anonpaper.exact` knows the optimum.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import anonpaper as ap
from anonpaper.compendium import timed
from anonpaper.files import raw_folder
from anonpaper.measure.loss import star_pattern

Tables = dict[str, ap.Microdata]
#: The algorithms that section 6.1 compares, by the paper's names.
ALGORITHMS = {"Hilbert": ap.hilbert, "TP": ap.tp, "TP+": ap.tp_plus}
#: With ours, and the heuristics that it turned into algorithms of suppression.
METHODS = {
    **ALGORITHMS,
    "TP refined": ap.tp_refined,
    "Mondrian": lambda m, l: ap.mondrian(m, k=l, l=l),
    "TDS": lambda m, l: ap.Partition(ap.recode(m, ap.tds(m, l)).classes.labels),
}
#: Ways to publish whose KL-divergence is compared.
PUBLISHED = {
    "TP+": lambda m, l: ap.suppress(m, ap.tp_plus(m, l)),
    "TP+, sub-domains": lambda m, l: ap.generalize(m, ap.tp_plus(m, l)),
    "TDS": lambda m, l: ap.recode(m, ap.tds(m, l)),
}


def load_tables(names: list[str], rows: int | None = None) -> Tables:
    """Load OCC and SAL: from a survey file of the user's, or made from Census-Income."""
    read = ap.load  # below: of survey files the first, 600,000 adults at most
    for path in sorted(raw_folder().glob("usa_*.csv*"))[:1]:
        read = partial(ap.datasets.load_ipums, path)
    tables = {name: read(name) for name in names}
    small = {name: m.sample(rows, 0) for name, m in tables.items() if rows and rows < m.n}
    return tables | small


def projections(qi: list[str], dimensions: list[int], at_most=None, seed=0) -> list[list[str]]:
    """Return the subsets of some sizes of the quasi-identifiers; `at_most` of a size, drawn."""
    rng, chosen = ap.randomness.generator(seed), []
    for d in dimensions:
        subsets = [list(subset) for subset in itertools.combinations(qi, d)]
        if at_most is not None and len(subsets) > at_most:
            subsets = [subsets[i] for i in np.sort(rng.choice(len(subsets), at_most, False))]
        chosen += subsets
    return chosen


def suppress_projection(
    tables: Tables, table: str, qi: list[str], levels: list[int], algorithms: list[str]
) -> Iterator[dict]:
    """Suppress one projection by each algorithm at each l, and look at Lemmas 5.8 and 5.11."""
    # above_5_8: the (QI-group, sensitive value) of which more rows are without a star than phase
    # one leaves; by Lemma 5.8 there are none.
    m = tables[table].with_roles(qi=list(qi))
    for l, name in itertools.product(levels, algorithms):
        p = METHODS[name](m, l)
        release = ap.suppress(m, p)
        whole = ~star_pattern(release)[release.entries.of_row].any(axis=1)
        kept = np.bincount(m.cells.cell_of_row[whole], minlength=len(m.cells.counts))
        found = {"d": m.d, "n": m.n, "l": l, "algorithm": name}
        found["stars"] = ap.measure.stars(release)
        found["above_5_8"] = int((kept > counts_after_phase_one(m, l)).sum())
        found["higher_than_5_11"] = False
        if "phase" in p.info:  # h(R) is larger at the end than after phase one: 5.11 denies it
            first = p.n_groups - p.info.get("residue_groups", 1)
            removed = m.sensitive_codes[(p.labels >= first) & (p.info["residue_size"] > 0)]
            height = np.bincount(removed, minlength=1).max()
            found["higher_than_5_11"] = bool(height > p.info["lower_bound"] // l)
        yield found | {key: p.info.get(key) for key in ("phase", "residue_size")}


def counts_after_phase_one(m: ap.Microdata, l: int) -> np.ndarray:
    """Return how many rows of every cell phase one leaves, by the largest eligible height."""
    # A QI-group levelled at height h has f(h) rows and is eligible iff l·h <= f(h). Since f rises,
    # setting h to f(h) / l, rounded down, over and over ends at the largest such h.
    cells = m.cells
    height = np.maximum.reduceat(cells.counts, cells.start[:-1])
    while True:
        left = np.minimum(cells.counts, height[cells.tuple_of_cell])
        lower = np.minimum(height, np.add.reduceat(left, cells.start[:-1]) // l)
        if (lower == height).all():
            return left
        height = lower


def suppress_reordered(tables: Tables, table: str, qi: list, levels: list, orders: int, vary: str):
    """Suppress one projection in several drawn orders of what `vary` names.

    These are the quasi-identifiers and the values of those without an order ("curve"), or the
    sensitive values, by which Hilbert and TP break ties ("ties"). A table has one draw for all.
    """
    whole = tables[table]
    nominal = [name for name in whole.qi if name not in ("Age", "Education")]
    for order in range(orders):
        m, rng = whole.with_roles(qi=list(qi)), ap.randomness.generator(order)
        names = nominal if vary == "curve" else [m.sensitive]
        anew = {name: rng.permutation(whole.attribute(name).size) for name in names}
        if vary == "curve":
            place = dict(zip(whole.qi, rng.permutation(whole.d), strict=True))
            m = m.with_roles(qi=sorted(m.qi, key=place.get))
        roles = (*m.qi, m.sensitive)
        m = m.with_codes({a: codes[m.codes_of(a)] for a, codes in anew.items() if a in roles})
        for row in suppress_projection({table: m}, table, m.qi, levels, [*ALGORITHMS]):
            yield {"order": order} | row


def time_projection(
    tables: Tables, table: str, qi: list[str], samples: list[float], levels: list[int],
    repeats: int, seed: int,
) -> Iterator[dict]:  # fmt: skip
    """Time each algorithm on samples of one projection, from the coded table to the groups."""
    # In every repeat all samples and levels follow each other, so that what else the machine does
    # meets them alike.
    whole = tables[table].with_roles(qi=list(qi))
    drawn = [whole if s == 1 else whole.sample(int(s * whole.n), seed) for s in samples]  # line 1
    for repeat, m, l in itertools.product(range(repeats), drawn, levels):  # line 2
        for name, algorithm in ALGORITHMS.items():  # line 3
            fresh = partial(m.with_roles, qi=m.qi)  # line 4
            seconds, _ = timed(partial(algorithm, l=l), 2, fresh=fresh)  # line 5
            found = {"d": m.d, "n": m.n, "l": l, "repeat": repeat, "algorithm": name}
            yield found | {"seconds": seconds}


def measure_divergence(
    tables: Tables, table: str, qi: list[str], levels: list[int], ways: list[str], n=None, seed=0
) -> Iterator[dict]:
    """Measure the KL-divergence of one projection, or of n drawn rows of it, published in ways."""
    m = tables[table].with_roles(qi=list(qi))
    m = m if n is None else m.sample(n, seed)
    for l, way in itertools.product(levels, ways):
        divergence = ap.measure.kl_divergence(PUBLISHED[way](m, l))
        yield {"d": m.d, "l": l, "algorithm": way, "divergence": divergence}


def draw_releases(releases: Mapping[str, ap.Release]) -> Figure:
    """Draw small releases, each below its title; rows that look alike have one colour."""
    shown = []
    for title, release in releases.items():
        m, frame = release.microdata, release.frame[[*release.microdata.qi]].astype(str)
        alike = frame.groupby(m.qi, sort=False).ngroup() % len(ap.plots.PALE)
        texts = frame.assign(**{m.sensitive: m.frame[m.sensitive].astype(str).to_numpy()})
        colours = [[ap.plots.PALE[number]] * texts.shape[1] for number in alike]
        shown.append((title, texts, colours, {"left": [str(name) for name in m.frame.index]}))
    return ap.plots.tables(shown)


def draw_counts(steps: pd.DataFrame) -> Figure:
    """Draw the table of `anonpaper.tp_steps`, a panel per step; what grew in it is orange."""
    shown = []
    for step in dict.fromkeys(steps.index.get_level_values("step")):
        now = steps.loc[step]
        grown = (now > (shown[-1][1] if shown else now)).to_numpy()
        colours = [[ap.plots.PALE[4] if new else None for new in row] for row in grown]
        left = [f"{name}: {rows}" for name, rows in now.sum(axis=1).items()]
        shown.append((step, now, colours, {"left": left}))
    return ap.plots.tables(shown)


def draw_panels(
    frame: pd.DataFrame, x: str, y: str, title: str, said: str, by="algorithm", **look
):
    """Draw the curves of each table in a panel, and above them what the paper's words show."""
    names = sorted(frame["table"].unique())
    figure, axes = ap.plots.subplots(columns=2, cols=len(names), height=3.1, squeeze=False)
    for ax, name in zip(axes.flat, names, strict=True):
        ap.plots.lines(ax, frame[frame["table"] == name], x, y, by, **look)
        label = "KL divergence, nats" if y == "divergence" else y
        ax.set(title=name, ylim=0, ylabel=f"{label} (mean)")
    legend = figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    legend.set_title(f"{title}\n{said}")
    legend.get_title().set_multialignment("center")
    return figure


#: QI-groups that take the course of the paper's examples at l = 3. The text keeps one vector,
#: (3, 1, 1, 2, 3); the others are reconstructed, and the last two of 5.4 make up what R holds. No
#: table meets one statement: that 3, 4 and 5 are all alive values when the second QI-group of
#: 5.3, thin with the pillars 4 and 5, is the only one alive. Here it holds value 2 as well.
EXAMPLES = {
    "5.3": [(3, 1, 1, 2, 3), (0, 1, 1, 2, 2), (3, 2, 0, 0, 0)],
    "5.4": [(2, 0, 1, 1, 2), (0, 2, 1, 1, 2), (3, 0, 0, 0, 0), (0, 3, 0, 0, 0)],
}


def table_of_counts(counts: Sequence[Sequence[int]]) -> ap.Microdata:
    """Return a table by its QI-groups, each given as the paper gives it: h(Q, 1), h(Q, 2), ..."""
    group, value = np.indices(np.shape(counts)).reshape(2, -1).repeat(np.ravel(counts), axis=1) + 1
    frame = pd.DataFrame({"group": [f"Q{i:02d}" for i in group], "value": value})
    return ap.Microdata(frame, ["group"], "value")


def table_of_points(points: Sequence[tuple], q: int, m: int | None = None) -> ap.Microdata:
    """Write a matching instance of l sets as a table with m sensitive values (section 4)."""
    # An instance has sets of q elements, the rows, and points with a coordinate in each of l >= 3
    # sets, the quasi-identifiers. The paper prints l = 3 and calls larger l straightforward.
    l = len(points[0])
    dimension, element = np.divmod(np.arange(l * q), q)  # line 1
    share = np.full(l, (m or l * q) // l) + (np.arange(l) < (m or l * q) % l)
    sensitive = np.cumsum([1, *share[:-1]])[dimension] + element % share[dimension]  # line 2
    columns = {
        f"p{i}": np.where(np.array(point)[dimension] == element, 0, sensitive)  # lines 3 and 4
        for i, point in enumerate(points, start=1)
    }
    names = [f"D{a + 1}:{b}" for a, b in zip(dimension, element, strict=True)]
    return ap.Microdata(pd.DataFrame({**columns, "SA": sensitive}, index=names), [*columns], "SA")


def least_stars(table: ap.Microdata) -> int:
    """Return lq(t - 1): no l-diverse suppression of the table has fewer stars (Property 4)."""
    return table.n * (table.d - 1)


def matching_of(table: ap.Microdata, p: ap.Partition) -> list[int] | None:
    """Return the places of the points of a matching that an l-diverse grouping shows, or None."""
    # With lq(t - 1) stars every group has l rows that agree, at 0, on exactly one attribute: that
    # of the point whose coordinates the l rows are (Property 3, Lemma 4.5).
    is_zero = table.frame[table.qi].to_numpy() == 0
    l = is_zero[:, 0].sum()  # Property 1: a column has one 0 for every dimension
    agreed = [np.flatnonzero(is_zero[rows].all(axis=0)) for rows in p.groups()]
    if any(len(rows) != l for rows in p.groups()) or any(len(one) != 1 for one in agreed):
        return None
    return sorted(int(one) for (one,) in agreed)


def check_reduction(q: int, points: int, instances: int, seed: int, l=3, m=None) -> Iterator[dict]:
    """Decide random matching instances twice: by all choices, and by l-diverse suppression."""
    rng = ap.randomness.generator(seed)
    everything = list(itertools.product(range(q), repeat=l))
    for _ in range(instances):
        drawn = [everything[i] for i in np.sort(rng.choice(len(everything), points, False))]
        table = table_of_points(drawn, q, m)
        p = ap.exact(table, l)
        choices = itertools.combinations(drawn, q)
        matchings = [all(len({*of}) == q for of in zip(*one, strict=True)) for one in choices]
        yield {
            "has_matching": any(matchings),
            "enough stars": p.info["cost"] == least_stars(table),
            "matching_read_off": matching_of(table, p) is not None,
        }


def match_random_tables(n: int, d: int, tables: int, seed: int) -> Iterator[dict]:
    """Compare the least matching of two sensitive values with exhaustive search (section 4)."""
    rng = ap.randomness.generator(seed)
    for _ in range(tables):
        frame = pd.DataFrame(rng.integers(0, 3, (n, d))).add_prefix("q")
        m = ap.Microdata(frame.assign(SA=np.arange(n) % 2), [*frame], "SA")
        least, searched = ap.optimal_two_diverse(m).info["stars"], ap.exact(m, 2).info["cost"]
        yield {"least matching": least, "exhaustive search": searched}


def check_lemmas(l: int, tables: int, seed: int) -> list[dict]:
    """Trace TP on random tables and look whether each lemma holds."""
    rng = ap.randomness.generator(seed)
    rows = []
    while len(rows) < tables:
        if len(rows) % 2:
            counts = rng.integers(0, 3, (rng.integers(2, 6), rng.integers(l, l + 3)))
        else:
            counts = _conflicting_counts(l, rng)
        if not counts.any() or counts.sum() < l * counts.sum(axis=0).max():
            continue
        m = table_of_counts(counts[counts.sum(axis=1) > 0])
        info, steps = ap.tp(m, l).info, ap.tp_steps(m, l)
        first, *later = steps.xs("R", level="set").iloc[1:].max(axis=1)
        grown = later[-1] - first if info["rounds"] else 0
        found = {"phase": info["phase"], "rounds": info["rounds"]}
        found["5.8"] = True
        for group, left in zip(steps.loc["microdata"].to_numpy()[:-1],
                               steps.loc["phase 1"].to_numpy()[:-1], strict=True):  # fmt: skip
            parts = np.indices(group + 1).reshape(len(group), -1).T  # all subsets of a QI-group
            found["5.8"] &= not (parts[parts.sum(axis=1) >= l * parts.max(axis=1)] > left).any()
        found["5.11"] = later[:1] in ([], [first])
        found["5.14"], found["5.15"] = _lemmas_of_pillars(steps)
        found["5.17"] = grown <= info["rounds"] * (l - 2)
        rows.append(found | {"5.18": info["rounds"] <= first})
    return rows


def _conflicting_counts(l: int, rng: np.random.Generator) -> np.ndarray:
    """Draw QI-groups that all have value 1 or 2 as a pillar, and rows of these for R."""
    counts = np.zeros((rng.integers(3, 6), l + 2), np.int64)
    for group in counts:
        group[rng.choice(np.arange(2, l + 2), l - 1, False)] = 1
        group[rng.integers(2)] = 1
        group *= rng.integers(1, 3)
    return np.vstack([counts, rng.integers(1, 4) * np.eye(2, l + 2, dtype=np.int64)])


def _lemmas_of_pillars(steps: pd.DataFrame) -> tuple[bool, bool]:
    """Judge 5.14 and 5.15 by the pillars of R and of the QI-groups that phase three meets."""
    if "phase 3" not in steps.index.get_level_values("step"):
        return True, True
    sets = steps.loc["phase 2"]
    is_pillar = sets.eq(sets.max(axis=1), axis=0)[sets.sum(axis=1) > 0]
    groups = is_pillar.drop("R").loc[:, is_pillar.loc["R"]]
    return not groups.all().any(), groups.shape[1] >= 2


def compare_with_optimum(n: int, d: int, l: int, objective: str, tables: int, seed: int):
    """Compare TP with the optimum of tuple or of star minimization on random tables."""
    rng = ap.randomness.generator(seed)
    rows = []
    while len(rows) < tables:
        if objective == "stars":
            table = _random_table(n, d, l, rng)
        else:  # one quasi-identifier, since only its groups matter
            groups, values = rng.integers(2, 5), rng.integers(l, 7)
            table = np.column_stack([rng.integers(0, groups, n), rng.integers(0, values, n)])
        rows += _beside_optimum(table, l, objective)
    return rows


def search_worst(n: int, d: int, l: int, objective: str, steps: int, seed: int) -> dict:
    """Climb to a table on which TP is far from the optimum, changing up to three cells a step."""
    rng = ap.randomness.generator(seed)
    table = _random_table(n, d, l, rng)
    while not _beside_optimum(table, l, objective):
        table = _random_table(n, d, l, rng)
    reached = (1.0, 0)
    best = {"ratio": 1.0, "cost": 0, "optimum": 0, "phase": 1, "table": ""}
    for _ in range(steps):
        other = table.copy()
        for _ in range(rng.integers(1, 4)):
            column = rng.integers(d + 1)
            other[rng.integers(n), column] = rng.integers(l + 2 if column == d else 3)
        for found in _beside_optimum(other, l, objective):
            ratio = found["cost"] / found["optimum"] if found["optimum"] else 1.0
            if (ratio, found["phase"]) >= reached:  # a later phase is a step to a larger ratio
                table, reached = other, (ratio, found["phase"])
            if ratio > best["ratio"]:
                texts = " ".join("".join(map(str, row)) for row in sorted(other.tolist()))
                best = {**found, "ratio": ratio, "table": texts}
    return best


def _random_table(n: int, d: int, l: int, rng: np.random.Generator) -> np.ndarray:
    """Draw QI codes below 3 and, in the last column, sensitive codes below l + 2."""
    return np.column_stack([rng.integers(0, 3, (n, d)), rng.integers(0, l + 2, n)])


def _beside_optimum(table: np.ndarray, l: int, objective: str) -> list[dict[str, int]]:
    """Return TP's last phase and lower bound, its cost and the least; nothing if infeasible."""
    if l * np.bincount(table[:, -1]).max() > len(table):
        return []
    frame = pd.DataFrame(table).set_axis([*range(table.shape[1] - 1), "value"], axis=1)
    m = ap.Microdata(frame, list(frame.columns[:-1]), "value")
    p = ap.tp(m, l)
    cost = p.info["residue_size"] if objective == "rows" else ap.measure.stars(ap.suppress(m, p))
    found = {"cost": cost, "optimum": ap.exact(m, l, objective=objective).info["cost"]}
    return [found | {name: p.info[name] for name in ("phase", "lower_bound")}]

"""Small instances: worked examples, the reduction, TP beside the optimum, worst cases.

Where a table has a dozen rows, :func:`anonpaper.exact` knows the optimum, and every eligible
subset of a QI-group can be looked at: here the theorems and lemmas of xiao2010 are put to the
test, one by one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

import anonpaper as ap

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


def check_reduction(
    q: int, points: int, instances: int, seed: int, l: int = 3, m: int | None = None
) -> Iterator[dict]:
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
            eligible = parts[parts.sum(axis=1) >= l * parts.max(axis=1)]
            found["5.8"] &= not (eligible > left).any()
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
    height = rng.integers(1, 4)
    return np.vstack([counts, height * np.eye(2, l + 2, dtype=np.int64)])


def _lemmas_of_pillars(steps: pd.DataFrame) -> tuple[bool, bool]:
    """Judge 5.14 and 5.15 by the pillars of R and of the QI-groups that phase three meets."""
    if "phase 3" not in steps.index.get_level_values("step"):
        return True, True
    sets = steps.loc["phase 2"]
    is_pillar = sets.eq(sets.max(axis=1), axis=0)[sets.sum(axis=1) > 0]
    groups = is_pillar.drop("R").loc[:, is_pillar.loc["R"]]
    return not groups.all().any(), groups.shape[1] >= 2


def compare_with_optimum(
    n: int, d: int, l: int, objective: str, tables: int, seed: int
) -> list[dict]:
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

"""Small instances: worked examples, the reduction, TP beside the optimum, worst cases.

Where a table has a dozen rows, :func:`anonpaper.exact` knows the optimum, and every eligible
subset of a QI-group can be looked at: here the theorems and lemmas of xiao2010 are put to the
test, one by one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
import xiao2010_hardness as hardness

from anonpaper.measure import stars
from anonpaper.microdata import Microdata
from anonpaper.partition.exact import exact
from anonpaper.partition.matching import optimal_two_diverse
from anonpaper.partition.tp import tp, tp_steps
from anonpaper.publish import suppress
from anonpaper.randomness import generator

#: QI-groups that take the course of the paper's examples at l = 3. The text keeps one vector,
#: (3, 1, 1, 2, 3); the others are reconstructed, and the last two of 5.4 make up what R holds. No
#: table meets one statement: that 3, 4 and 5 are all alive values when the second QI-group of
#: 5.3, thin with the pillars 4 and 5, is the only one alive. Here it holds value 2 as well.
EXAMPLES = {
    "5.3": [(3, 1, 1, 2, 3), (0, 1, 1, 2, 2), (3, 2, 0, 0, 0)],
    "5.4": [(2, 0, 1, 1, 2), (0, 2, 1, 1, 2), (3, 0, 0, 0, 0), (0, 3, 0, 0, 0)],
}


def table_of_counts(counts: Sequence[Sequence[int]]) -> Microdata:
    """Return a table by its QI-groups, each given as the paper gives it: h(Q, 1), h(Q, 2), ..."""
    group, value = np.indices(np.shape(counts)).reshape(2, -1).repeat(np.ravel(counts), axis=1) + 1
    frame = pd.DataFrame({"group": [f"Q{i:02d}" for i in group], "value": value})
    return Microdata(frame, ["group"], "value")


def check_reduction(
    q: int, points: int, instances: int, seed: int, l: int = 3, m: int | None = None
) -> list[dict]:
    """Decide random matching instances twice: by all choices, and by l-diverse suppression."""
    rng = generator(seed)
    everything = list(itertools.product(range(q), repeat=l))
    rows = []
    for _ in range(instances):
        drawn = [everything[i] for i in np.sort(rng.choice(len(everything), points, False))]
        table = hardness.table_of(drawn, q, m)
        p = exact(table, l)
        has_matching = any(
            all(len(set(axis)) == q for axis in zip(*chosen, strict=True))
            for chosen in itertools.combinations(drawn, q)
        )
        found = {"enough stars": p.info["cost"] == hardness.least_stars(table)}
        found["matching_read_off"] = hardness.matching_of(table, p) is not None
        rows.append({"has_matching": has_matching} | found)
    return rows


def match_random_tables(n: int, d: int, tables: int, seed: int) -> list[dict]:
    """Compare the least matching of two sensitive values with exhaustive search (section 4)."""
    rng = generator(seed)
    rows = []
    for _ in range(tables):
        frame = pd.DataFrame(rng.integers(0, 3, (n, d))).add_prefix("q")
        m = Microdata(frame.assign(SA=np.arange(n) % 2), [*frame], "SA")
        least, fewest = optimal_two_diverse(m).info["stars"], exact(m, 2).info["cost"]
        rows.append({"least matching": least, "exhaustive search": fewest})
    return rows


def check_lemmas(l: int, tables: int, seed: int) -> list[dict]:
    """Trace TP on random tables and look whether each lemma holds."""
    rng = generator(seed)
    rows = []
    while len(rows) < tables:
        if len(rows) % 2:
            counts = rng.integers(0, 3, (rng.integers(2, 6), rng.integers(l, l + 3)))
        else:
            counts = _conflicting_counts(l, rng)
        total = counts.sum(axis=0)
        if not total.sum() or total.sum() < l * total.max():
            continue
        m = table_of_counts(counts[counts.sum(axis=1) > 0])
        info, steps = tp(m, l).info, tp_steps(m, l)
        first, *later = steps.xs("R", level="set").iloc[1:].max(axis=1)
        grown = later[-1] - first if info["rounds"] else 0
        found = {"phase": info["phase"], "rounds": info["rounds"]}
        found["5.8"] = _lemma_5_8(steps.loc["microdata"], steps.loc["phase 1"], l)
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


def _lemma_5_8(before: pd.DataFrame, after: pd.DataFrame, l: int) -> bool:
    """Look at every subset of every QI-group, as far as rows of one value can be told apart."""
    for group, left in zip(before.to_numpy()[:-1], after.to_numpy()[:-1], strict=True):
        subsets = np.indices(group + 1).reshape(len(group), -1).T
        eligible = subsets[subsets.sum(axis=1) >= l * subsets.max(axis=1)]
        if (eligible > left).any():
            return False
    return True


def _lemmas_of_pillars(steps: pd.DataFrame) -> tuple[bool, bool]:
    """Judge 5.14 and 5.15 by the pillars of R and of the QI-groups that phase three meets."""
    if "phase 3" not in steps.index.get_level_values("step"):
        return True, True
    sets = steps.loc["phase 2"]
    is_pillar = sets.eq(sets.max(axis=1), axis=0)[sets.sum(axis=1) > 0]
    groups = is_pillar.drop("R").loc[:, is_pillar.loc["R"]]
    return not groups.all().any(), groups.shape[1] >= 2


def compare_with_optimum(
    n: int, d: int, l: int, objective: Literal["stars", "rows"], tables: int, seed: int
) -> list[dict]:
    """Compare TP with the optimum of tuple or of star minimization on random tables."""
    rng = generator(seed)
    rows = []
    while len(rows) < tables:
        if objective == "stars":
            table = _random_table(n, d, l, rng)
        else:  # one quasi-identifier, since only its groups matter
            groups, values = rng.integers(2, 5), rng.integers(l, 7)
            table = np.column_stack([rng.integers(0, groups, n), rng.integers(0, values, n)])
        if _is_feasible(table, l):
            rows.append(_beside_optimum(table, l, objective))
    return rows


def search_worst(
    n: int, d: int, l: int, objective: Literal["stars", "rows"], steps: int, seed: int
) -> dict:
    """Climb to a table on which TP is far from the optimum, changing up to three cells a step."""
    rng = generator(seed)
    table = _random_table(n, d, l, rng)
    while not _is_feasible(table, l):
        table = _random_table(n, d, l, rng)
    worst = (1.0, 0)
    best = {"ratio": 1.0, "cost": 0, "optimum": 0, "phase": 1, "table": ""}
    for _ in range(steps):
        other = table.copy()
        for _ in range(rng.integers(1, 4)):
            column = rng.integers(d + 1)
            other[rng.integers(n), column] = rng.integers(l + 2 if column == d else 3)
        if not _is_feasible(other, l):
            continue
        found = _beside_optimum(other, l, objective)
        ratio = found["cost"] / found["optimum"] if found["optimum"] else 1.0
        if (ratio, found["phase"]) >= worst:  # a later phase is a step towards a larger ratio
            table, worst = other, (ratio, found["phase"])
            if ratio > best["ratio"]:
                texts = " ".join("".join(map(str, row)) for row in sorted(other.tolist()))
                best = {**found, "ratio": ratio, "table": texts}
    return best


def _random_table(n: int, d: int, l: int, rng: np.random.Generator) -> np.ndarray:
    """Draw QI codes below 3 and, in the last column, sensitive codes below l + 2."""
    return np.column_stack([rng.integers(0, 3, (n, d)), rng.integers(0, l + 2, n)])


def _is_feasible(table: np.ndarray, l: int) -> bool:
    return l * np.bincount(table[:, -1]).max() <= len(table)


def _beside_optimum(table: np.ndarray, l: int, objective: str) -> dict[str, int]:
    """Return TP's last phase and lower bound, its cost and the least cost."""
    frame = pd.DataFrame(table).set_axis([*range(table.shape[1] - 1), "value"], axis=1)
    m = Microdata(frame, list(frame.columns[:-1]), "value")
    p = tp(m, l)
    cost = p.info["residue_size"] if objective == "rows" else stars(suppress(m, p))
    least = exact(m, l, objective=objective).info["cost"]
    return {"cost": cost, "optimum": least} | {
        name: p.info[name] for name in ("phase", "lower_bound")
    }

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

from anonpaper.errors import ParameterError
from anonpaper.measure import stars
from anonpaper.microdata import Microdata
from anonpaper.partition.exact import exact
from anonpaper.partition.matching import optimal_two_diverse
from anonpaper.partition.tp import tp, tp_steps
from anonpaper.publish import suppress
from anonpaper.randomness import generator


def table_of_counts(counts: Sequence[Sequence[int]], origin: str | None = None) -> Microdata:
    """Return a table by its QI-groups, each given as the paper gives it: h(Q, 1), h(Q, 2), ..."""
    rows = [
        (f"Q{i}", value)
        for i, group in enumerate(counts, start=1)
        for value, count in enumerate(group, start=1)
        for _ in range(count)
    ]
    frame = pd.DataFrame(rows, columns=["group", "value"])
    return Microdata(frame, ["group"], "value", origin=origin)


def section_5_3() -> Microdata:
    """Return a table that takes the course of section 5.3's example, at l = 3."""
    # Of the vectors only (3, 1, 1, 2, 3) is left in the text; the others are reconstructed. No
    # table meets one statement: that 3, 4 and 5 are all alive values when the second QI-group,
    # thin with the pillars 4 and 5, is the only one alive. Here it holds value 2 as well.
    return table_of_counts(
        [(3, 1, 1, 2, 3), (0, 1, 1, 2, 2), (3, 2, 0, 0, 0)], "section 5.3, reconstructed"
    )


def section_5_4() -> Microdata:
    """Return a table that takes the course of section 5.4's example, at l = 3."""
    # Reconstructed; the last two QI-groups make up what R holds when phase two ends.
    return table_of_counts(
        [(2, 0, 1, 1, 2), (0, 2, 1, 1, 2), (3, 0, 0, 0, 0), (0, 3, 0, 0, 0)],
        "section 5.4, reconstructed",
    )


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
        rows.append(
            {
                "has_matching": _has_matching(drawn, q),
                "stars": p.info["cost"],
                "least_stars": hardness.least_stars(table),
                "matching_read_off": hardness.matching_of(table, p) is not None,
            }
        )
    return rows


def _has_matching(points: Sequence[tuple], q: int) -> bool:
    return any(
        all(len(set(axis)) == q for axis in zip(*chosen, strict=True))
        for chosen in itertools.combinations(points, q)
    )


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


def approximate_random_tables(n: int, l: int, tables: int, seed: int) -> list[dict]:
    """Compare TP with the optimum of tuple minimization on random tables."""
    rng = generator(seed)
    rows = []
    while len(rows) < tables:
        groups, values = rng.integers(2, 5), rng.integers(l, 7)
        frame = pd.DataFrame(
            {"group": rng.integers(0, groups, n), "value": rng.integers(0, values, n)}
        )
        m = Microdata(frame, ["group"], "value")
        if m.sensitive_counts.max() * l <= n:
            p = tp(m, l)
            optimum = exact(m, l, objective="rows").info["cost"]
            rows.append(
                {
                    **{name: p.info[name] for name in ("phase", "residue_size", "lower_bound")},
                    "optimum": optimum,
                }
            )
    return rows


def check_lemmas(l: int, tables: int, seed: int) -> list[dict]:
    """Trace TP on random tables and look whether each lemma holds."""
    rng = generator(seed)
    rows = []
    while len(rows) < tables:
        counts = _random_counts(l, rng) if len(rows) % 2 else _conflicting_counts(l, rng)
        total = counts.sum(axis=0)
        if not total.sum() or total.sum() < l * total.max():
            continue
        m = table_of_counts(counts[counts.sum(axis=1) > 0])
        info, steps = tp(m, l).info, tp_steps(m, l)
        first, *later = steps.xs("R", level="set").iloc[1:].max(axis=1)
        grown = later[-1] - first if info["rounds"] else 0
        rows.append(
            {
                "phase": info["phase"],
                "rounds": info["rounds"],
                "5.8": _lemma_5_8(steps.loc["microdata"], steps.loc["phase 1"], l),
                "5.11": later[:1] in ([], [first]),
                **_lemmas_of_pillars(steps),
                "5.17": grown <= info["rounds"] * (l - 2),
                "5.18": info["rounds"] <= first,
            }
        )
    return rows


def _lemmas_of_pillars(steps: pd.DataFrame) -> dict[str, bool]:
    """Look at the pillars of R and of the QI-groups that phase two leaves to phase three."""
    if "phase 3" not in steps.index.get_level_values("step"):
        return {"5.14": True, "5.15": True}
    sets = steps.loc["phase 2"]
    is_pillar = sets.eq(sets.max(axis=1), axis=0)[sets.sum(axis=1) > 0]
    groups = is_pillar.drop("R").loc[:, is_pillar.loc["R"]]
    return {"5.14": not groups.all().any(), "5.15": groups.shape[1] >= 2}


def _random_counts(l: int, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 3, (rng.integers(2, 6), rng.integers(l, l + 3)))


def _conflicting_counts(l: int, rng: np.random.Generator) -> np.ndarray:
    """Draw QI-groups that all have value 1 or 2 as a pillar, and rows of these for R."""
    values = l + 2
    counts = np.zeros((rng.integers(3, 6), values), np.int64)
    for group in counts:
        group[rng.choice(np.arange(2, values), l - 1, False)] = 1
        group[rng.integers(2)] = 1
        group *= rng.integers(1, 3)
    height = rng.integers(1, 4)
    return np.vstack([counts, height * np.eye(2, values, dtype=np.int64)])


def _lemma_5_8(before: pd.DataFrame, after: pd.DataFrame, l: int) -> bool:
    """Look at every subset of every QI-group, as far as rows of one value can be told apart."""
    for group, left in zip(before.to_numpy()[:-1], after.to_numpy()[:-1], strict=True):
        subsets = np.indices(group + 1).reshape(len(group), -1).T
        eligible = subsets[subsets.sum(axis=1) >= l * subsets.max(axis=1)]
        if (eligible > left).any():
            return False
    return True


def check_star_ratio(n: int, d: int, l: int, tables: int, seed: int) -> list[dict]:
    """Compare TP with the optimum of star minimization on random tables."""
    rng = generator(seed)
    rows = []
    while len(rows) < tables:
        table = _random_table(n, d, l, rng)
        if _is_feasible(table, l):
            phase, cost, optimum = _beside_optimum(table, l, "stars")
            rows.append({"phase": phase, "stars": cost, "optimum": optimum})
    return rows


def search_worst(
    n: int, d: int, l: int, objective: Literal["stars", "rows"], steps: int, seed: int
) -> dict:
    """Climb to a table on which TP is far from the optimum, changing up to three cells a step."""
    if n // l * (l + 2) < n:
        raise ParameterError(f"{n} rows of {l + 2} sensitive values are never {l}-diverse")
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
        phase, cost, optimum = _beside_optimum(other, l, objective)
        ratio = cost / optimum if optimum else 1.0
        if (ratio, phase) >= worst:  # a later phase is a step towards a larger ratio
            table, worst = other, (ratio, phase)
            if ratio > best["ratio"]:
                texts = ["".join(map(str, row)) for row in sorted(other.tolist())]
                best = {"ratio": ratio, "cost": cost, "optimum": optimum, "phase": phase,
                        "table": " ".join(texts)}  # fmt: skip
    return best


def _random_table(n: int, d: int, l: int, rng: np.random.Generator) -> np.ndarray:
    """Draw QI codes below 3 and, in the last column, sensitive codes below l + 2."""
    return np.column_stack([rng.integers(0, 3, (n, d)), rng.integers(0, l + 2, n)])


def _is_feasible(table: np.ndarray, l: int) -> bool:
    return l * np.bincount(table[:, -1]).max() <= len(table)


def _beside_optimum(table: np.ndarray, l: int, objective: str) -> tuple[int, int, int]:
    """Return TP's last phase, its cost and the least cost."""
    frame = pd.DataFrame(table).set_axis([*range(table.shape[1] - 1), "value"], axis=1)
    m = Microdata(frame, list(frame.columns[:-1]), "value")
    p = tp(m, l)
    cost = p.info["residue_size"] if objective == "rows" else stars(suppress(m, p))
    return p.info["phase"], cost, exact(m, l, objective=objective).info["cost"]

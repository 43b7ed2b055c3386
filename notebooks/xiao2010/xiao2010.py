"""What the figures of xiao2010 measure (section 6 of the paper).

SAL-d and OCC-d are the projections of a table on d of its seven quasi-identifiers. Every function
here measures one projection; :func:`~anonpaper.compendium.run_grid` calls it for all of them.
"""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np

from anonpaper.compendium.grids import timed
from anonpaper.datasets import load, load_ipums
from anonpaper.files import raw_folder
from anonpaper.groups import Partition
from anonpaper.measure import kl_divergence, stars
from anonpaper.measure.loss import star_pattern
from anonpaper.microdata import Cells, Microdata
from anonpaper.partition.hilbert import hilbert
from anonpaper.partition.mondrian import mondrian
from anonpaper.partition.tp import tp, tp_plus
from anonpaper.publish import generalize, recode, suppress
from anonpaper.randomness import generator
from anonpaper.recoders.tds import tds

Tables = dict[str, Microdata]

#: The algorithms that section 6.1 compares, by the paper's names.
ALGORITHMS = {"Hilbert": hilbert, "TP": tp, "TP+": tp_plus}


def load_tables(names: list[str], rows: int | None = None) -> dict[str, Microdata]:
    """Load OCC and SAL: from a survey file of the user's, or made from Census-Income."""
    read = load  # below: of survey files the first, 600,000 adults at most
    for path in sorted(raw_folder().glob("usa_*.csv*"))[:1]:
        read = partial(load_ipums, path)
    tables = {name: read(name) for name in names}
    drawn = [m if rows is None or rows >= m.n else m.sample(rows, 0) for m in tables.values()]
    return dict(zip(names, drawn, strict=True))


def projections(
    qi: list[str], dimensions: list[int], at_most: int | None = None, seed: int = 0
) -> list[list[str]]:
    """Return the subsets of some sizes of the quasi-identifiers; `at_most` of a size, drawn."""
    rng = generator(seed)
    chosen = []
    for d in dimensions:
        subsets = [list(subset) for subset in itertools.combinations(qi, d)]
        if at_most is not None and len(subsets) > at_most:
            subsets = [subsets[i] for i in np.sort(rng.choice(len(subsets), at_most, False))]
        chosen += subsets
    return chosen


def suppress_projection(
    tables: Tables, table: str, qi: list[str], levels: list[int], algorithms: list[str]
) -> list[dict]:
    """Suppress one projection by each algorithm at each l, and look at the lemmas."""
    # above_5_8: the (QI-group, sensitive value) of which more rows are without a star than phase
    # one leaves; by Lemma 5.8 there are none. height and height_1: h(R), and after phase one.
    m = tables[table].with_roles(qi=list(qi))
    cell_of_row = m.cells.cell_of_row
    rows = []
    for l in levels:
        left = counts_after_phase_one(m.cells, l)
        for algorithm in algorithms:
            p = ALGORITHMS[algorithm](m, l)
            release = suppress(m, p)
            star = star_pattern(release)[release.entries.of_row]
            whole = ~star.any(axis=1)
            kept = np.bincount(cell_of_row[whole], minlength=len(left))
            rows.append(
                {
                    "d": m.d,
                    "l": l,
                    "algorithm": algorithm,
                    "stars": int(star.sum()),
                    "suppressed": int(m.n - whole.sum()),
                    "above_5_8": int((kept > left).sum()),
                    **_residue(m, p, l),
                }
            )
    return rows


def _residue(m: Microdata, p: Partition, l: int) -> dict:
    """Return what TP and TP+ say of R; nothing for Hilbert, which has none."""
    if "phase" not in p.info:
        return dict.fromkeys(("phase", "residue", "lower_bound", "height", "height_1"))
    size = p.info["residue_size"]
    first = p.n_groups - p.info.get("residue_groups", 1)
    removed = m.sensitive_codes[p.labels >= first] if size else np.array([], np.int64)
    return {
        "phase": p.info["phase"],
        "residue": size,
        "lower_bound": p.info["lower_bound"],
        "height": int(np.bincount(removed, minlength=1).max()),
        "height_1": p.info["lower_bound"] // l,
    }


def counts_after_phase_one(cells: Cells, l: int) -> np.ndarray:
    """Return how many rows of every cell phase one leaves, by the largest eligible height."""
    # A QI-group levelled at height h has f(h) rows and is eligible iff l·h <= f(h). Since f rises,
    # setting h to f(h) / l, rounded down, over and over ends at the largest such h.
    height = np.maximum.reduceat(cells.counts, cells.start[:-1])
    while True:
        left = np.minimum(cells.counts, height[cells.tuple_of_cell])
        lower = np.minimum(height, np.add.reduceat(left, cells.start[:-1]) // l)
        if (lower == height).all():
            return left
        height = lower


def suppress_reordered(
    tables: Tables, table: str, qi: list[str], levels: list[int], orders: int, vary: str
) -> list[dict]:
    """Suppress one projection in several drawn orders of what `vary` names."""
    # "curve": the quasi-identifiers and the values of those that have no order; "ties": the
    # sensitive values, by which Hilbert and TP break ties; "frequent first": these by falling
    # frequency, which is not drawn. A draw is the same for every projection of a table.
    m = tables[table].with_roles(qi=list(qi))
    return [
        {
            "d": m.d,
            "l": l,
            "order": order,
            "algorithm": name,
            "stars": stars(suppress(reordered, p)),
            "residue": p.info.get("residue_size"),
            "phase": p.info.get("phase"),
        }
        for order in range(orders)
        for reordered in [_reordered(m, tables[table], vary, generator(order))]
        for l in levels
        for name, algorithm in ALGORITHMS.items()
        for p in [algorithm(reordered, l)]
    ]


def _reordered(m: Microdata, whole: Microdata, vary: str, rng: np.random.Generator) -> Microdata:
    """Return the projection in another order, drawn for the whole table."""
    if vary == "frequent first":
        anew = {m.sensitive: np.argsort(np.argsort(-m.sensitive_counts, kind="stable"))}
    else:
        nominal = [name for name in whole.qi if name not in ("Age", "Education")]
        names = nominal if vary == "curve" else [whole.sensitive]
        anew = {name: rng.permutation(whole.attribute(name).size) for name in names}
    if vary == "curve":
        place = dict(zip(whole.qi, rng.permutation(whole.d), strict=True))
        m = m.with_roles(qi=sorted(m.qi, key=place.get))
    roles = (*m.qi, m.sensitive)
    return m.with_codes({a: codes[m.codes_of(a)] for a, codes in anew.items() if a in roles})


def _by_tds(m: Microdata, l: int) -> Partition:
    return Partition(recode(m, tds(m, l)).classes.labels)


#: The heuristics of section 6.1 as algorithms of suppression: their groups, published with stars.
HEURISTICS = {"Hilbert": hilbert, "Mondrian": lambda m, l: mondrian(m, k=l, l=l), "TDS": _by_tds}


def compare_heuristics(
    tables: Tables, table: str, qi: list[str], levels: list[int], heuristics: list[str]
) -> list[dict]:
    """Count the stars of one projection when the groups of each heuristic are suppressed."""
    m = tables[table].with_roles(qi=list(qi))
    return [
        {"d": m.d, "l": l, "heuristic": name, "stars": stars(suppress(m, HEURISTICS[name](m, l)))}
        for l in levels
        for name in heuristics
    ]


def time_projection(
    tables: Tables,
    table: str,
    qi: list[str],
    samples: list[float],
    levels: list[int],
    repeats: int,
    seed: int,
) -> list[dict]:
    """Time each algorithm on samples of one projection, from the coded table to the groups."""
    # In every repeat all samples and levels follow each other, so that what else the machine does
    # meets them alike.
    whole = tables[table].with_roles(qi=list(qi))
    drawn = [whole if s == 1 else whole.sample(int(s * whole.n), seed) for s in samples]
    return [
        {"d": m.d, "n": m.n, "l": l, "repeat": repeat, "algorithm": name, "seconds": seconds}
        for repeat in range(repeats)
        for m in drawn
        for l in levels
        for name, algorithm in ALGORITHMS.items()
        for seconds, _ in [
            timed(partial(algorithm, l=l), 2, fresh=lambda m=m: m.with_roles(qi=m.qi))
        ]
    ]


def compare_with_generalization(
    tables: Tables, table: str, qi: list[str], levels: list[int]
) -> list[dict]:
    """Measure the KL-divergence of one projection by TP+, with stars, and by TDS, recoded."""
    m = tables[table].with_roles(qi=list(qi))
    return [
        {"d": m.d, "l": l, "algorithm": algorithm, "divergence": kl_divergence(release)}
        for l in levels
        for algorithm, release in (
            ("TP+", suppress(m, tp_plus(m, l))),
            ("TDS", recode(m, tds(m, l))),
        )
    ]


def compare_with_boxes(
    tables: Tables, table: str, qi: list[str], l: int, n: int, seed: int
) -> dict[str, float]:
    """Measure the KL-divergence of TP+'s groups with stars and with sub-domains, on drawn rows."""
    m = tables[table].with_roles(qi=list(qi)).sample(n, seed)
    p = tp_plus(m, l)
    return {
        "with stars": kl_divergence(suppress(m, p)),
        "with sub-domains": kl_divergence(generalize(m, p)),
    }

"""What the figures of xiao2010 measure (section 6 of the paper).

SAL-d and OCC-d are the projections of a table on d of its seven quasi-identifiers. Every function
here measures one projection; :func:`~anonpaper.compendium.run_grid` calls it for all of them.
"""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from anonpaper import plots
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
#: The heuristics of section 6.1 as algorithms of suppression: their groups, published with stars.
HEURISTICS = {
    "Hilbert": hilbert,
    "Mondrian": lambda m, l: mondrian(m, k=l, l=l),
    "TDS": lambda m, l: Partition(recode(m, tds(m, l)).classes.labels),
}


def load_tables(names: list[str], rows: int | None = None) -> Tables:
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


def draw_panels(
    figure_data: pd.DataFrame, x: str, y: str, title: str, said: str, by: str = "algorithm", **look
) -> Figure:
    """Draw the curves of each table in a panel; a box holds the paper's words on lost points."""
    names = figure_data["table"].unique()
    figure, axes = plots.subplots(columns=2, cols=len(names), height=3.1, squeeze=False)
    for ax, name in zip(axes.flat, sorted(names), strict=True):
        plots.lines(ax, figure_data[figure_data["table"] == name], x, y, by, **look)
        ax.set(title=name, ylim=0)
    legend = figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    legend.set_title(f"The paper's points are lost. Its words: {said}.")
    figure.suptitle(title)
    return figure


def suppress_projection(
    tables: Tables, table: str, qi: list[str], levels: list[int], algorithms: list[str]
) -> list[dict]:
    """Suppress one projection by each algorithm at each l, and look at Lemmas 5.8 and 5.11."""
    # above_5_8: the (QI-group, sensitive value) of which more rows are without a star than phase
    # one leaves; by Lemma 5.8 there are none.
    m = tables[table].with_roles(qi=list(qi))
    rows = []
    for l, name in itertools.product(levels, algorithms):
        p = ALGORITHMS[name](m, l)
        release = suppress(m, p)
        whole = ~star_pattern(release)[release.entries.of_row].any(axis=1)
        kept = np.bincount(m.cells.cell_of_row[whole], minlength=len(m.cells.counts))
        found = {"d": m.d, "l": l, "algorithm": name, "stars": stars(release)}
        found["above_5_8"] = int((kept > counts_after_phase_one(m.cells, l)).sum())
        found["higher_than_5_11"] = "phase" in p.info and _raises_pillars(m, p, l)
        rows.append(found | {key: p.info.get(key) for key in ("phase", "residue_size")})
    return rows


def _raises_pillars(m: Microdata, p: Partition, l: int) -> bool:
    """Return whether h(R) is larger at the end than after phase one: Lemma 5.11 denies it."""
    first = p.n_groups - p.info.get("residue_groups", 1)
    removed = m.sensitive_codes[(p.labels >= first) & (p.info["residue_size"] > 0)]
    return bool(np.bincount(removed, minlength=1).max() > p.info["lower_bound"] // l)


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
    whole, rows = tables[table], []
    for order in range(orders):
        m, rng = whole.with_roles(qi=list(qi)), generator(order)
        if vary == "frequent first":
            anew = {m.sensitive: np.argsort(np.argsort(-m.sensitive_counts, kind="stable"))}
        else:
            nominal = [name for name in whole.qi if name not in ("Age", "Education")]
            names = nominal if vary == "curve" else [m.sensitive]
            anew = {name: rng.permutation(whole.attribute(name).size) for name in names}
        if vary == "curve":
            place = dict(zip(whole.qi, rng.permutation(whole.d), strict=True))
            m = m.with_roles(qi=sorted(m.qi, key=place.get))
        roles = (*m.qi, m.sensitive)
        m = m.with_codes({a: codes[m.codes_of(a)] for a, codes in anew.items() if a in roles})
        for l, (name, algorithm) in itertools.product(levels, ALGORITHMS.items()):
            p = algorithm(m, l)
            found = {"d": m.d, "l": l, "order": order, "algorithm": name}
            rows.append(found | {"stars": stars(suppress(m, p)), "phase": p.info.get("phase")})
    return rows


def compare_heuristics(
    tables: Tables, table: str, qi: list[str], levels: list[int], heuristics: list[str]
) -> list[dict]:
    """Count the stars of one projection when the groups of each heuristic are suppressed."""
    m = tables[table].with_roles(qi=list(qi))
    return [
        {"d": m.d, "l": l, "heuristic": name, "stars": stars(suppress(m, HEURISTICS[name](m, l)))}
        for l, name in itertools.product(levels, heuristics)
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
    drawn = [whole if s == 1 else whole.sample(int(s * whole.n), seed) for s in samples]  # line 1
    rows = []
    for repeat, m, l in itertools.product(range(repeats), drawn, levels):  # line 2
        for name, algorithm in ALGORITHMS.items():  # line 3
            fresh = partial(m.with_roles, qi=m.qi)  # line 4
            seconds, _ = timed(partial(algorithm, l=l), 2, fresh=fresh)  # line 5
            found = {"d": m.d, "n": m.n, "l": l, "repeat": repeat, "algorithm": name}
            rows.append(found | {"seconds": seconds})
    return rows


def compare_with_generalization(
    tables: Tables, table: str, qi: list[str], levels: list[int]
) -> list[dict]:
    """Measure the KL-divergence of one projection by TP+, with stars, and by TDS, recoded."""
    m = tables[table].with_roles(qi=list(qi))
    ways = {"TP+": lambda l: suppress(m, tp_plus(m, l)), "TDS": lambda l: recode(m, tds(m, l))}
    return [
        {"d": m.d, "l": l, "algorithm": name, "divergence": kl_divergence(publish(l))}
        for l, (name, publish) in itertools.product(levels, ways.items())
    ]


def compare_with_boxes(
    tables: Tables, table: str, qi: list[str], l: int, n: int, seed: int
) -> dict[str, float]:
    """Measure the KL-divergence of TP+'s groups with stars and with sub-domains, on drawn rows."""
    m = tables[table].with_roles(qi=list(qi)).sample(n, seed)
    ways, p = {"with stars": suppress, "with sub-domains": generalize}, tp_plus(m, l)
    return {name: kl_divergence(publish(m, p)) for name, publish in ways.items()}

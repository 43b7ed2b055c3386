"""What the figures of xiao2010 measure (section 6 of the paper).

SAL-d and OCC-d are the projections of a table on d of its seven quasi-identifiers. Every function
here measures one projection; :func:`~anonpaper.compendium.run_grid` calls it for all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
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
#: With the heuristics that it turned into algorithms of suppression: their groups get stars.
METHODS = {
    **ALGORITHMS,
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


def projections(
    qi: list[str], dimensions: list[int], at_most: int | None = None, seed: int = 0
) -> list[list[str]]:
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
        found = {"d": m.d, "l": l, "algorithm": name, "stars": ap.measure.stars(release)}
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


def suppress_reordered(
    tables: Tables, table: str, qi: list[str], levels: list[int], orders: int, vary: str
) -> Iterator[dict]:
    """Suppress one projection in several drawn orders of what `vary` names."""
    # "curve": the quasi-identifiers and the values of those that have no order; "ties": the
    # sensitive values, by which Hilbert and TP break ties; "frequent first": these by falling
    # frequency, which is not drawn. A draw is the same for every projection of a table.
    whole = tables[table]
    for order in range(orders):
        m, rng = whole.with_roles(qi=list(qi)), ap.randomness.generator(order)
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
    tables: Tables, table: str, qi: list[str], levels: list[int], ways: list[str],
    n: int | None = None, seed: int = 0,
) -> Iterator[dict]:  # fmt: skip
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
    frame: pd.DataFrame, x: str, y: str, title: str, said: str, by: str = "algorithm", **look
) -> Figure:
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

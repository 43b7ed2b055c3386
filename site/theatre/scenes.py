"""What the theatre shows: each paper's algorithm on a few people, one decision after the other.

A scene has people, the lines of the paper's pseudocode in our words, and a run for each choice of
parameters. A step has the line that decides, a sentence, the reason, the group of each person (-1:
none) and note, and the counts of sensitive values by group. The package and modules of notebooks
compute all of them.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from string import ascii_uppercase

import majeed2024
import networkx as nx
import numpy as np
import pandas as pd
from boger2020 import grouped_by_pairs, ten_people

import anonpaper as ap
import anonpaper.compendium
from anonpaper.errors import AnonpaperError
from anonpaper.groups import dense_labels
from anonpaper.microdata import Microdata
from anonpaper.partition.diva.algorithms import Run, build_graph
from anonpaper.partition.diva.targets import Search, Targets
from anonpaper.partition.mondrian import median_cut
from anonpaper.publish import Release
from anonpaper.randomness import generator
from anonpaper.recoders.evaluation import achievement
from anonpaper.repair.synthesis import fuse

SEED = 4  # of the rows' order in klt; the others draw nothing that is shown
#: Algorithm -> its question, its pseudocode, what a reader may try, and how it publishes groups.
TEXTS = {}
_texts = Path(__file__).with_name("plays.md").read_text("utf-8")
for _text in re.split(r"^# ", _texts, flags=re.M)[1:]:
    _of, _question, *_lines = filter(None, _text.splitlines())
    _told = [line.partition(". ")[2] for line in _lines if line[0].isdigit()]
    TEXTS[_of] = _question, _told, *(one.split(":** ")[1] for one in _lines if one[0] == "*")


@dataclass(frozen=True)
class Play:
    """An algorithm on a few people: its parameters, and how it runs."""

    parameters: dict[str, Sequence]
    people: Callable[..., Microdata]
    run: Callable[..., tuple[Microdata, Script, Release]]


class Script:
    """The steps of a run, how its groups are published and called, `of` another algorithm."""

    def __init__(self, n: int, publish=None, names=ascii_uppercase, of: str | None = None) -> None:
        self.n, self.publish, self.names, self.of, self.steps = n, publish, names, of, []

    def add(self, line: int, say: str, formula: str, group: Sequence, note=None, cells=None):
        """Add a step; `note` is by row, and `cells` are the published texts."""
        notes = [(note or {}).get(row, "") for row in range(self.n)]
        step = {"line": line, "say": say, "formula": formula, "note": notes}
        step["group"] = [int(one) for one in group]
        if cells is not None:
            step["cells"] = cells.astype(object).to_numpy().tolist()
        self.steps.append(step)


# ---- xiao2010 and boger2020: Mondrian, for comparison ------------------------------------------


def mondrian_steps(m: Microdata, k: int) -> tuple[Microdata, Script, Release]:
    """Show each cut of Mondrian for k-anonymity, which ignores sensitive values."""
    script, labels, todo = Script(m.n, ap.generalize, of="Mondrian"), np.zeros(m.n, int), [0]
    script.add(1, "All people begin in one group, A.", f"{m.n} people, k = {k}", labels)
    while todo:
        rows, name = np.flatnonzero(labels == todo[0]), script.names[todo[0]]
        if (side := median_cut(m, rows, k)) is None:
            told = f"{len(rows)} people, k = {k}"
            script.add(3, f"No cut of {name} leaves {k} people on both sides.", told, labels)
            todo.pop(0)
            continue
        left, right = rows[side], rows[~side]
        new, labels = labels.max() + 1, labels.copy()
        labels[right], todo = new, [*todo, new]
        apart = [not {*of[left]} & {*of[right]} for of in m.codes.T]
        by = " and ".join(np.array(m.qi)[apart])
        say = f"{name} is cut: {name} and {script.names[new]} differ in {by}."
        script.add(2, say, f"{len(left)} and {len(right)} people, both at least k = {k}", labels)
    release = ap.generalize(m, ap.mondrian(m, k))
    say = f"Published: each group has at least {k} people. The {m.sensitive} played no part."
    told = f"sizes {', '.join(map(str, np.bincount(labels)))}"
    script.add(4, say, told, labels, {}, release.frame)
    return m, script, release


# ---- xiao2010: TP ------------------------------------------------------------------------------


def hospital(table: str = "six people") -> Microdata:
    """Return Table 1 of the paper, some of it, or a variation of it."""
    m = ap.examples.hospital()
    if table == "seven alike":  # of lesson 3: entropy level above 3, best guess 4/7
        diseases = ["HIV"] * 4 + ["bronchitis", "dyspepsia", "pneumonia"]
        alike = {"Age": "<30", "Gender": "M", "Education": "Master", "Disease": diseases}
        return m.take(range(7)).replace(frame=m.frame[:7].assign(**alike))
    if table == "six people":
        return m.take([0, 1, 4, 5, 6, 7])
    rarer = m.frame["Disease"].mask(m.frame.index == "Helen", "dyspepsia")
    return m if table == "Table 1 of the paper" else m.replace(frame=m.frame.assign(Disease=rarer))


def tp_steps(m: Microdata, l: int, table: str, method: str) -> tuple[Microdata, Script, Release]:
    """Show which row TP moves to the residue R next, and why; `m` is already the table."""
    if method != "TP":
        return mondrian_steps(m, l)
    p, counts = ap.tp(m, l), ap.tp_steps(m, l)
    group, value = m.cells.tuple_of_row.astype(int), m.frame[m.sensitive].astype(str)
    R, leaves = group.max() + 1, (p.labels == p.n_groups - 1) & (p.info["residue_size"] > 0)
    script = Script(m.n, ap.suppress, [*(f"Q{q + 1}" for q in range(R)), "R"])
    least = np.bincount(group).min()
    told = f"People with equal quasi-identifiers form a group: Q1 to Q{R}. "
    told += f"The smallest has {least}, so the table is k-anonymous with k = {least}."
    script.add(1, told, f"{R} groups, R is empty", group)
    before, *after = (counts.loc[phase] for phase in counts.index.unique("step"))
    for number, now in enumerate(after, start=1):
        left, todo = (before - now).drop("R").stack(), []
        for (name, one), rows in left[left > 0].items():
            free = (group == int(name[1:]) - 1) & (value == str(one)).to_numpy()
            todo.extend(np.flatnonzero(free & leaves)[:rows])
        while todo:
            row, say, why, may = tp_move(m, l, number, group, R, np.sort(todo))
            todo.remove(row)
            group = np.where(np.arange(m.n) == row, R, group)
            script.add((2, 4, 5)[number - 1], say, why, group)
            script.steps[-1]["may"] = may.tolist()  # who could move as well
        held = Counter(value[group == R])
        size, most = held.total(), max(held.values(), default=0)
        enough = "R is l-eligible" if l * most <= size else "R needs more rows"
        formula = f"Now l · h(R) = {l} · {most} = {l * most}, |R| = {size}: {enough}"
        script.add(3, f"R after phase {number}: {enough}.", formula, group)
        before = now
    release = ap.suppress(m, p)
    stars = f"{ap.measure.stars(release)} stars"
    say = f"Published with {stars}. A guess is right with probability 1/{l} at most."
    script.add(6, say, f"{stars} in {m.n} rows", group, {}, release.frame)
    return m, script, release


def tp_move(m: Microdata, l: int, phase: int, group, R: int, rows: np.ndarray):
    """Return which of `rows` moves to R next, what to say, why, and who could move as well."""
    value = m.frame[m.sensitive].astype(str)
    same = value.groupby([group, value]).transform("size").to_numpy()
    size, held = np.bincount(group, minlength=R + 1), Counter(value[group == R])
    often, in_r = l * same > size[group], np.array([held[one] for one in value])
    keys = [-same, group] if phase == 1 else [m.sensitive_codes, in_r, ~often]
    row = int(rows[np.lexsort([key[rows] for key in keys])[0]])
    own, name, q = value.iloc[row], m.frame.index[row], group[row]
    say, may = f"{name} moves to R.", (group == q) & (value == own).to_numpy()
    why = f"Before this move {same[row]} of {size[q]} in Q{q + 1} had {own}, more than 1/{l}."
    if phase == 1:  # line 2 allows every value that fills more than 1/l of its Q
        may = (group < R) & often
    elif often[row]:
        say = f"{name} follows: Q{q + 1} has too many with {own}."
    else:
        top, most = held.most_common(1)[0]
        only = "holds only" if len(held) == 1 else "has too many with"
        needs = "people" if own == top else "diseases"  # phase 3 moves all of a set
        say = f"{name} moves to R: R {only} {top} and needs other {needs}."
        why = f"Before this move {most} of {size[R]} in R had {top}, more than 1/{l}."
    if phase == 2 and not often[row]:  # thin groups with a most frequent value of R are dead
        height = pd.Series(same).groupby(group).transform("max")
        clash = pd.Series((same == height) & (in_r == most)).groupby(group).transform("any")
        alive = (group < R) & ~(clash & (l * height == size[group])).to_numpy()
        may = alive & (in_r == in_r[row])
        why += f" Rarest in R are {', '.join(sorted({*value[may]}))} ({in_r[row]} there): any of "
        why += f"{', '.join(m.frame.index[may])} may go. The program takes {own} first."
    return row, say, why, np.flatnonzero(may)


# ---- boger2020: (K, L, theta)-diversity --------------------------------------------------------


def klt_steps(m: Microdata, k: int, l: int, theta: float, method: str):
    """Show the clusters after each of the six steps."""
    if method != "klt":
        return mondrian_steps(m, k)
    script, secrets = Script(m.n), m.frame[m.sensitive]
    p = ap.klt(m, k, l, theta, seed=SEED, withheld="drop")
    for title, group in grouped_by_pairs(m, k, l, theta, seed=SEED)[1]:
        held = secrets[group >= 0].groupby(group[group >= 0])
        largest = held.value_counts(normalize=True).max()
        told = f"sizes {', '.join(map(str, held.size()))}; largest share of a value "
        told += f"{largest:.2f}, allowed {theta:g}"
        line = max(2, int(title[0]))  # line 1 is the start of line 2
        waits = dict.fromkeys(np.flatnonzero(group < 0).tolist(), "waits")
        script.add(line, TEXTS["boger2020"][1][line - 1], told, group, waits)
    release = ap.swap(m, p, seed=0)
    shown = release.frame.astype(str).reindex(m.frame.index, fill_value="not published")
    moved = int((release.frame[m.sensitive] != secrets[release.frame.index]).sum())
    say = f"Published: occupations are swapped within each group, {moved} have moved."
    told = [f"#{name + 1} fits in none and is left out" for name in m.frame.index[p.labels < 0]]
    told = "; ".join([f"{p.n_groups} group{'s' * (p.n_groups > 1)}", *told])
    script.add(6, say, told, p.labels, {}, shown)
    return m, script, release


# ---- dewri2009: generalizations as bits --------------------------------------------------------

PARENTS = ("10011", "01110")


def bit_steps(m: Microdata, k: int, cut: int, flip: int) -> tuple[Microdata, Script, Release]:
    """Show two generalizations, their child, and the child mutated."""
    (one, other), script, found = PARENTS, Script(m.n), []
    child = one[:cut] + other[cut:]
    mutant = child[: flip - 1] + str(1 - int(child[flip - 1])) + child[flip:]
    chromosomes = {"first parent": one, "second parent": other}
    chromosomes[f"child by crossover after bit {cut}"] = child
    chromosomes[f"child with bit {flip} flipped"] = mutant
    for line, (name, bits) in enumerate(chromosomes.items(), start=1):
        release = ap.recode(m, ap.Recoding.decode(m.attributes, bits))
        loss, bias = ap.measure.nwp(release), ap.measure.necd(release)
        ach, smallest = achievement(loss, bias, (0.2, 1.0)), ap.measure.effective_k(release)
        formula = f"NWP {loss:.2f}, NECD {bias:.2f}, ach {ach:.2f}; smallest class {smallest}, "
        formula += f"so it is {'not ' * (smallest < k)}k-anonymous with k = {k}"
        say, labels = f"{name[0].upper()}{name[1:]}: bits {bits}.", release.classes.labels
        script.add(line, say, formula, labels, {}, release.frame)
        found.append(((smallest < k, ach), name, bits, release))
    (misses, _), name, bits, release = min(found, key=lambda one: one[0])
    say, rule = f"The best of the four is the {name}, {bits}.", "k-anonymous ones first, then the "
    if misses:
        say = f"None of the four is {k}-anonymous, so none is published: the search goes on. "
        say += f"The smallest ach has the {name}, {bits}."
    script.add(5, say, rule + "smaller ach", release.classes.labels, {}, release.frame)
    script.steps[-1]["supposed"] = bool(misses)
    return m, script, release


# ---- diva2021: colouring constraints -----------------------------------------------------------


class Trace(list):
    """Actions of a search, with the number of the component that is coloured."""

    def __init__(self, search: Search) -> None:
        self.search = search

    def append(self, action: tuple) -> None:
        """Add an action."""
        super().append((self.search.components, *action))


def diva_steps(m: Microdata, k: int, strategy: str) -> tuple[Microdata, Script, Release]:
    """Show each clustering that DIVA tries, takes and takes back."""
    sigma, names = ap.examples.patients_constraints(), m.frame.index
    script = Script(m.n, ap.suppress)
    p = ap.diva(m, sigma, k=k, strategy=strategy, seed=0)
    search, graph = Search(10_000, 60.0), build_graph(m, sigma)
    search.trace = trace = Trace(search)
    run = Run(m, Targets.of(m, sigma, k), strategy, generator(0), True, search)
    run.diverse_clustering(graph)
    used = graph.subgraph(v for v in graph if len(graph.nodes[v]["rows"]))
    parts = [sorted(nodes) for nodes in nx.connected_components(used)]
    group = np.full(m.n, -1)
    marked = {int(row): "target" for v in graph for row in graph.nodes[v]["rows"]}
    told = "Each constraint protects some values. Their rows are its targets."
    rules = [f"{c}: {c.low} to {c.high} rows must show this value." for c in sigma]
    listed = " ".join(f"Constraint {v}, {rule}" for v, rule in enumerate(rules, start=1))
    script.add(1, told, listed, group, marked)
    for part, action, place, bundles in trace:
        nodes, v = parts[part - 1], parts[part - 1][place]
        order = np.unique(np.concatenate([graph.nodes[node]["rows"] for node in nodes]))
        order = order[np.lexsort((order, m.cells.tuple_of_row[order]))]  # as the search has them
        clusters = [order[bundle.rows].tolist() for bundle in bundles or []]
        told = " and ".join("{" + ", ".join(names[rows]) + "}" for rows in clusters)
        told = told or "no cluster"
        line, say = {
            "colour": (4, f"Constraint {v + 1} takes {told}."),
            "backtrack": (5, f"No way on: constraint {v + 1} gives {told} back."),
        }.get(action, (3, f"Constraint {v + 1} tries {told}, which does not fit."))
        rows, group = sum(clusters, []), group.copy()
        if line > 3:
            group[rows] = v if line == 4 else -1
        tried = dict.fromkeys(rows, "tried") if action == "reject" else {}
        rule = f"{rules[v]} Here {len(rows)} rows, at least {k} in a cluster."
        script.add(line, say, rule, group, tried)
    many = f"{p.n_groups} groups of {k} or more"
    script.add(6, "k-member groups the other people.", many, p.labels)
    release = ap.suppress(m, p)
    stars = f"{ap.measure.stars(release)} stars"
    say = f"Published with {stars}; every constraint holds."
    script.add(7, say, stars, p.labels, {}, release.frame)
    return m, script, release


# ---- majeed2024: synthetic rows and balanced classes -------------------------------------------


def repair_steps(m: Microdata, k: int, synthetic: int) -> tuple[Microdata, Script, Release]:
    """Show what synthetic rows do to the classes that can be built."""
    needed, more = ap.find_imbalance(m).needed, majeed2024.SIX_MORE[:synthetic]
    m = fuse(m, pd.DataFrame(more, columns=[*m.qi, m.sensitive])) if more else m
    script = Script(m.n, lambda m, p: ap.shallow_generalize(m, p, majeed2024.trees(m)))
    counts, nobody = m.frame[m.sensitive].value_counts(), np.full(m.n, -1)
    invented = {int(row): "synthetic" for row in np.flatnonzero(m.synthetic)}
    real = m.frame.loc[~m.synthetic, m.sensitive].value_counts()
    most, least = real.iloc[0], real.iloc[-1]
    gap = f"gap {most} - {least} = {most - least}: {sum(needed.values())} rows are missing"
    rare = f"{real.index[-1]} is rare: {least} of {real.sum()} people."
    script.add(1, rare, gap, nobody)
    script.steps[0]["rows"] = int(real.sum())  # the other rows come with step 2
    listed = ", ".join(f"{name}: {number}" for name, number in counts.items())
    script.add(2, f"{len(invented)} synthetic rows are added.", listed, nobody, invented)
    p = ap.balanced_classes(m, k=k, l=2, seed=0)
    told = f"{p.n_groups} classes of similar rows, each with both diseases."
    sizes = f"sizes {', '.join(map(str, p.sizes()))}; from k = {k} to 2k - 1 = {2 * k - 1}"
    script.add(3, told, sizes, p.labels, invented)
    release = script.publish(m, p)
    kept = (release.frame[m.qi].astype(str) == m.frame[m.qi].astype(str)).to_numpy().mean()
    say, kept = "Each class is generalized as little as its own rows allow.", f"{kept:.0%}"
    script.add(4, say, f"{kept} of the values stay", p.labels, invented, release.frame)
    return m, script, release


# ---- all of them -------------------------------------------------------------------------------

PLAYS = {
    "xiao2010": Play(
        {"method": ("TP", "Mondrian (k = l)"), "l": (2, 3, 4), "table": (
            "six people", "Table 1 of the paper", "rarer diseases", "seven alike")},
        hospital, tp_steps),
    "dewri2009": Play(
        {"k": (3, 2, 5), "cut": (3, 1, 2, 4), "flip": (4, 1, 2, 3, 5)}, ap.examples.hospital,
        bit_steps),
    "boger2020": Play(
        {"method": ("klt", "Mondrian (k only)"), "k": (2, 3, 4, 5), "l": (2, 3),
         "theta": (0.4, 0.5, 0.75)}, ten_people, klt_steps),
    "diva2021": Play(
        {"k": (2, 3), "strategy": ("max_fan_out", "min_choice", "basic")}, ap.examples.patients,
        diva_steps),
    "majeed2024": Play(
        {"k": (4, 2, 5, 8), "synthetic": (6, 3, 0)}, majeed2024.ten_users, repair_steps),
}  # fmt: skip


def scene(paper: str) -> dict:
    """Return the scene of a paper with a run for every choice of parameters."""
    play, m = PLAYS[paper], PLAYS[paper].people()
    names = [*m.qi, *m.sensitives]
    told = {"paper": paper, "lines": TEXTS[paper][1], "columns": names}
    told |= {"parameters": play.parameters, "people": people_of(m)}
    told["domains"] = {a.name: None if a.numeric else [str(value) for value in a.values]
                       for a in map(m.attribute, names)}  # fmt: skip
    choices = product(*play.parameters.values())
    runs = [dict(zip(play.parameters, one, strict=True)) for one in choices]
    keys = ["&".join(f"{name}={value}" for name, value in one.items()) for one in runs]
    done = (run(paper, table_of(paper, one), one) for one in runs)
    return told | {"runs": dict(zip(keys, done, strict=True))}


def table_of(paper: str, parameters: Mapping) -> Microdata:
    """Return the people of a paper; some papers have two tables to choose from."""
    return PLAYS[paper].people(*(parameters[name] for name in ("table",) if name in parameters))


def as_json(paper: str, **more: object) -> str:
    """Return a scene as JSON; equal published tables, of which there are few, are listed once."""
    told, tables, levels = scene(paper), [], {}
    for run in told["runs"].values():
        levels |= run.pop("levels", {})
        for one in run.get("steps", ()):
            if "cells" in one:
                if one["cells"] not in tables:
                    tables.append(one["cells"])
                one["cells"] = tables.index(one["cells"])
    told |= {"tables": tables, "levels": levels}
    return json.dumps(told | more, separators=(",", ":"))


def run(paper: str, m: Microdata, parameters: Mapping) -> dict:
    """Return one run: its people, steps and beliefs, or why it is not possible."""
    try:
        with warnings.catch_warnings(action="ignore"):  # the steps show who is withheld
            m, script, release = PLAYS[paper].run(m, **parameters)
    except AnonpaperError as error:
        return {"people": people_of(m), "error": str(error)}
    script.steps[-1]["class"] = release.classes.labels.tolist()  # some groups look alike
    for step in script.steps if script.publish else ():
        if "cells" not in step and max(step["group"]) >= 0:
            release = script.publish(m, ap.Partition(dense_labels(step["group"])))
            shown = release.frame.astype(str).reindex(m.frame.index)  # as if published now
            step["cells"] = shown.fillna(m.frame.astype(str)).to_numpy().tolist()
            step |= {"supposed": True, "class": release.classes.labels.tolist()}
    told = {"people": people_of(m), "steps": script.steps, "names": script.names}
    told |= {"lines": script.of and TEXTS[script.of][1], "how": TEXTS[script.of or paper][-1]}
    return told | beliefs(m, script.steps)


def edited(paper: str, cells: Sequence[Sequence[str]], parameters: Mapping) -> str:
    """Return the run, as JSON, of a table whose cells, all of them, a reader has edited."""
    m = table_of(paper, parameters)
    frame = pd.DataFrame(cells, m.frame.index, [*m.qi, *m.sensitives])
    numeric = [name for name in frame if m.attribute(name).numeric]
    frame[numeric] = frame[numeric].apply(pd.to_numeric)
    frame = frame.astype(m.frame.dtypes.drop(numeric))
    return json.dumps(run(paper, m.replace(frame=frame), parameters))


def people_of(m: Microdata) -> list[list[str]]:
    """Return the name and the values of each person, as texts."""
    texts = m.frame[[*m.qi, *m.sensitives]].astype(str)
    names = [str(name) if isinstance(name, str) else f"#{name + 1}" for name in m.frame.index]
    return [[name, *row] for name, row in zip(names, texts.to_numpy().tolist(), strict=True)]


#: What lesson 3 computes for a class, in the order of the page.
PRINCIPLES = (ap.FrequencyLDiversity(1), ap.DistinctLDiversity(1), ap.EntropyLDiversity(1),
              ap.RecursiveLDiversity(1, 2), ap.RecursiveLDiversity(1, 3))  # fmt: skip


def beliefs(m: Microdata, steps: Sequence[dict]) -> dict:
    """Add to each step the counts of sensitive values by group; return their levels."""
    secrets, values = m.sensitive_codes, [str(value) for value in m.sensitive_attribute.values]

    def held(labels: np.ndarray, kept: np.ndarray | bool = True) -> dict[int, list[int]]:
        of = {int(one): secrets[kept & (labels == one)] for one in np.unique(labels[labels >= 0])}
        return {one: np.bincount(rows, minlength=len(values)).tolist() for one, rows in of.items()}

    levels = {}
    for step in steps:
        labels = np.array(step.get("class", step["group"]))
        step["held"] = held(labels)
        if m.synthetic.any():
            step["real"] = held(labels, ~m.synthetic)
        for counts in step["held"].values():
            name = ",".join(map(str, sorted(filter(None, counts), reverse=True)))
            of = ap.principles.GroupCounts.of_table(np.array([counts]))
            found = [float(one.levels(of)[0].round(3)) for one in PRINCIPLES]
            levels[name] = [level if np.isfinite(level) else None for level in found]
    before = held(np.zeros(m.n, int), ~m.synthetic)[0]
    return {"values": values, "before": before, "levels": levels}

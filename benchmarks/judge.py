"""Judge what a tool of the benchmark released: its bytes alone, beside the table they come from.

Nothing here is shared with the methods, or taken from what a tool says of itself. A published text
is a value, ``*``, a set ``{a, b}`` in alphabetical order, an interval ``[low - high]`` of whole
numbers, or a name in the hierarchy that the task gave. Each has one way to be written, and other
bytes are refused. The order of rows is not read. The audit of the package says whether each row
belongs to somebody, and pycanon counts the levels a second time.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from pycanon import anonymity
from sklearn.ensemble import RandomForestClassifier

import anonpaper as ap
from anonpaper.compendium.intervals import share_interval
from anonpaper.errors import AnonpaperError

#: Principles whose releases consist of real people's rows.
OF_PEOPLE = ("k-anonymity", "distinct l-diversity", "frequency l-diversity", "t-closeness")
QUERIES, NEARLY = 300, " but for one column"
_NUMBER = r"(0|-?[1-9][0-9]*)"
_INTERVAL = re.compile(rf"\[{_NUMBER} - {_NUMBER}\]")


class Refused(ValueError):
    """A release that is none of the table that the task gave."""


@dataclass
class Task:
    """What a tool is asked for, and what only the judge knows: people who are not in the table."""

    table: str
    principle: str
    promise: Mapping[str, float]
    qi: list[str]
    numeric: list[str]
    sensitive: str
    people: pd.DataFrame  # all columns as text
    outsiders: pd.DataFrame
    trees: Mapping[str, pd.DataFrame]  # a row per value: its names, level by level
    seed: int = 0  # of the queries

    @cached_property
    def domain(self) -> dict[str, list[str]]:
        """The values of each quasi-identifier, in order."""
        return {
            name: sorted(tree[0], key=float if name in self.numeric else str)
            for name, tree in self.trees.items()
        }

    @property
    def secrets(self) -> list[str]:
        """The sensitive values of everybody, in the table or not."""
        return sorted({*self.people[self.sensitive], *self.outsiders[self.sensitive]})

    @cached_property
    def microdata(self) -> ap.Microdata:
        """The same people for the package."""
        return ap.Microdata(
            self.people.astype(dict.fromkeys(self.numeric, int)), self.qi, self.sensitive
        )

    @cached_property
    def hierarchies(self) -> dict[str, ap.Hierarchy]:
        """The same hierarchies for the package."""
        return {name: ap.Hierarchy(tree.to_numpy()) for name, tree in self.trees.items()}

    def level_of(self, shown: pd.DataFrame) -> dict[str, float]:
        """Count the level of every principle among rows."""
        counts = shown.groupby([*self.qi, self.sensitive]).size().unstack(fill_value=0)
        whole = self.people[self.sensitive].value_counts(normalize=True)
        sizes = counts.sum(axis=1)
        shares = counts.div(sizes, axis=0)
        apart = shares.reindex(columns=whole.index.union(shares.columns), fill_value=0) - whole
        return {
            "k": int(sizes.min()),
            "distinct l": int((counts > 0).sum(axis=1).min()),
            "frequency l": float(1 / shares.max(axis=None)),
            "t": float(apart.abs().sum(axis=1).max() / 2),
        }

    def broken(self, levels: Mapping[str, float]) -> str:
        """Say which promise levels fall short of, if any."""
        short = [
            f"{name} = {levels[name]:.4g} in place of {asked:g}"
            for name, asked in self.promise.items()
            if (asked < levels[name] - 1e-9 if name == "t" else asked > levels[name] + 1e-9)
        ]
        return ", ".join(short)

    def allowed(self, name: str, text: str) -> np.ndarray:
        """Which values of a column a published text allows, as a mask over its domain."""
        values = self.domain[name]
        tree = self.trees[name]
        found = np.isin(values, tree.loc[tree.eq(text).any(axis=1), 0])
        inner = text[1:-1].split(", ")
        if text == "*":
            found = np.ones(len(values), bool)
        elif not found.any() and text == "{" + ", ".join(sorted({*inner})) + "}":
            known = len(inner) > 1 and {*inner} <= {*values}  # others would tell something else
            found = np.isin(values, inner) & known
        elif not found.any() and name in self.numeric and (ends := _INTERVAL.fullmatch(text)):
            numbers, (low, high) = np.array(values, float), map(float, ends.groups())
            known = numbers.min() <= low < high <= numbers.max()
            found = (numbers >= low) & (numbers <= high) & known
        if not found.any():
            raise Refused(f"{text!r} of {name!r} is not in the benchmark's notation")
        return found

    def nearest(self, name: str, text: str) -> np.ndarray:
        """The same for invented rows, whose numbers may be of nobody."""
        if name in self.numeric and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text):
            away = np.abs(np.array(self.domain[name], float) - float(text))
            return away == away.min()
        return self.allowed(name, text)

    def penalty(self, name: str, mask: np.ndarray) -> float:
        """The share of a column's domain that a text covers beyond one value (NCP)."""
        if name in self.numeric:
            values = np.array(self.domain[name], float)
            return np.ptp(values[mask]) / max(np.ptp(values), 1)
        return (mask.sum() - 1) / max(len(mask) - 1, 1)


@dataclass
class Shown:
    """A release, read: rows, and per column the distinct texts with what each allows."""

    task: Task
    rows: pd.DataFrame
    masks: dict[str, np.ndarray]  # (texts, values)
    number: dict[str, np.ndarray]  # the text of each row

    @cached_property
    def spread(self) -> dict[str, np.ndarray]:
        """The share of a row at each value, if a row is as likely each value it allows."""
        return {name: m / m.sum(axis=1, keepdims=True) for name, m in self.masks.items()}

    @property
    def loss(self) -> dict[str, float]:
        """What is lost of the quasi-identifiers' values; of a missing row, everything."""
        n, rows = len(self.task.people), len(self.rows)
        lost = changed = 0.0
        for name, masks in self.masks.items():
            penalties = np.array([self.task.penalty(name, mask) for mask in masks])
            lost += penalties[self.number[name]].sum() + n - rows
            changed += (masks.sum(axis=1) > 1)[self.number[name]].sum() + n - rows
        return {
            "detail lost": lost / n / len(self.masks),
            "values changed": changed / n / len(self.masks),
        }

    def codes(self, people: pd.DataFrame) -> dict[str, np.ndarray]:
        """The place of people's values in each domain."""
        return {
            name: pd.Index(values).get_indexer(people[name])
            for name, values in self.task.domain.items()
        }

    def belief(self, people: pd.DataFrame) -> np.ndarray:
        """How sure of a person's sensitive value an attacker is who knows the quasi-identifiers.

        The attacker takes the rows that fit in most columns, weighs each by one over the number of
        combinations that it allows, and adds the weights up by sensitive value.
        """
        fits = np.zeros((len(people), len(self.rows)), np.int8)
        weight = np.ones(len(self.rows))
        for name, code in self.codes(people).items():
            fits += self.masks[name][:, code].T[:, self.number[name]].astype(np.int8)
            weight /= self.masks[name].sum(axis=1)[self.number[name]]
        weights = np.where(fits == fits.max(axis=1, keepdims=True), weight, 0)
        same = (
            people[self.task.sensitive].to_numpy()[:, None]
            == self.rows[self.task.sensitive].to_numpy()
        )
        return (weights * same).sum(axis=1) / weights.sum(axis=1)

    def query_error(self) -> float:
        """The mean error of counts of people, relative to the true count or 1 % of the people.

        A query asks for half of the values of two columns, neighbours if they are numbers, and
        for one sensitive value. The seed is drawn per run: no tool knows it, all get its queries.
        """
        task, errors, rng = self.task, [], np.random.default_rng(self.task.seed)
        codes, floor = self.codes(task.people), len(task.people) / 100
        for _ in range(QUERIES):
            value = rng.choice(sorted(task.people[task.sensitive].unique()))
            true = (task.people[task.sensitive] == value).to_numpy()
            told = (self.rows[task.sensitive] == value).to_numpy().astype(float)
            for name in rng.choice(task.qi, 2, replace=False):
                size = len(task.domain[name])
                asked = np.zeros(size, bool)
                width = (size + 1) // 2
                first = rng.integers(size - width + 1)
                chosen = np.arange(first, first + width)
                if name not in task.numeric:
                    chosen = rng.choice(size, width, replace=False)
                asked[chosen] = True
                true &= asked[codes[name]]
                told *= (self.spread[name] @ asked)[self.number[name]]
            errors.append(abs(told.sum() - true.sum()) / max(true.sum(), floor))
        return float(np.mean(errors))

    def features(self, codes: Mapping[str, np.ndarray] | None = None) -> np.ndarray:
        """Rows for learning, or people: the mean of a number, the share of each other value."""
        found = []
        for name, values in self.task.domain.items():
            numeric = name in self.task.numeric
            of_value = np.array(values, float)[:, None] if numeric else np.eye(len(values))
            of_row = (self.spread[name] @ of_value)[self.number[name]]
            found.append(of_row if codes is None else of_value[codes[name]])
        return np.hstack(found)

    def misclassified(self) -> float:
        """The share of outsiders whose sensitive value a forest on the release gets wrong."""
        forest = RandomForestClassifier(50, min_samples_leaf=2, random_state=0)
        forest.fit(self.features(), self.rows[self.task.sensitive])
        said = forest.predict(self.features(self.codes(self.task.outsiders)))
        return float((said != self.task.outsiders[self.task.sensitive].to_numpy()).mean())

    def gap(self) -> tuple[float, str]:
        """How much more is lost than must be, by a proof, and among which releases."""
        task, levels = self.task, {}
        for name, tree in task.trees.items():
            texts = set(self.rows[name])
            levels[name] = [i for i in tree if texts <= set(tree[i])]
        if all(levels.values()):
            least = task_optimum(task)
            return (self.loss["detail lost"] / least if least else 1.0), "one level per column"
        stars = self.loss["values changed"]
        bounded = {"k-anonymity": "k", "frequency l-diversity": "frequency l"}.get(task.principle)
        only_stars = all(
            set(self.rows[name]) <= {*task.domain[name], "*"} for name in task.qi
        )  # fmt: skip
        if bounded and only_stars:
            of = {bounded[-1]: int(task.promise[bounded])}
            least = ap.measure.fewest_stars(task.microdata, **of, seconds=20)
            n = len(task.people) * len(task.qi)
            return (stars * n / least if least else 1.0), "stars"
        return np.nan, ""


def task_optimum(task: Task) -> float:
    """The least detail lost by one level per column, by trying all from the least on."""
    names, options = {}, []
    for name, tree in task.trees.items():
        place = tree.set_index(0, drop=False)
        names[name] = [task.people[name].map(place[i]) for i in tree]
        lost = []
        for texts in names[name]:
            penalty = {
                text: task.penalty(name, task.allowed(name, text)) for text in texts.unique()
            }
            lost.append(texts.map(penalty).mean())
        options.append(list(enumerate(lost)))
    for choice in sorted(
        itertools.product(*options), key=lambda one: sum(lost for _, lost in one)
    ):
        shown = pd.DataFrame(
            {name: names[name][i] for name, (i, _) in zip(names, choice, strict=True)}
        )
        shown[task.sensitive] = task.people[task.sensitive]
        if not task.broken(task.level_of(shown)):
            return sum(lost for _, lost in choice) / len(options)
    return 1.0


def read(task: Task, raw: bytes) -> Shown:
    """Read a release; refuse what is not a plain table of the task's columns."""
    try:
        rows = pd.read_csv(io.BytesIO(raw), dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError) as error:
        raise Refused(f"it is no csv: {error}") from None
    if sorted(rows.columns) != sorted([*task.qi, task.sensitive]):
        raise Refused(f"its columns are {', '.join(rows.columns)}")
    if rows.empty:
        raise Refused("it has no row")
    if raw not in set(_plain(rows)):
        raise Refused("its bytes hold more than its values: quotes or line ends that differ")
    understood = task.allowed if task.principle in OF_PEOPLE else task.nearest
    masks, number = {}, {}
    for name in task.qi:
        number[name], texts = pd.factorize(rows[name])
        masks[name] = np.array([understood(name, text) for text in texts])
    return Shown(task, rows, masks, number)


def _plain(rows: pd.DataFrame) -> Iterator[bytes]:
    """The ways to write rows that differ for all rows alike."""
    for quoting, end in itertools.product((csv.QUOTE_MINIMAL, csv.QUOTE_ALL), ("\n", "\r\n")):
        text = rows.to_csv(index=False, quoting=quoting, lineterminator=end)
        yield text.encode()
        yield text.removesuffix(end).encode()


def judged(task: Task, raw: bytes) -> dict[str, object]:
    """Return what the benchmark says of a release: its promise, its attackers, what it lost."""
    try:
        shown = read(task, raw)
        found = of_people(shown) if task.principle in OF_PEOPLE else of_nobody(shown)
    except Refused as refused:
        return {"promise": f"broken: {refused}"}
    surest = shown.belief(task.people)
    found["advantage"] = float(surest.mean() - shown.belief(task.outsiders).mean())
    found["query error"] = shown.query_error()
    found["misclassified"] = shown.misclassified()
    return found


def of_people(shown: Shown) -> dict[str, object]:
    """Judge rows of people: the levels in the file, and what the strongest attacker concludes.

    Refused are rows that belong to nobody, and files in which somebody is missing. Rows in the
    table's order tell whose they are.
    """
    task, rows = shown.task, shown.rows
    if len(rows) != len(task.people):
        raise Refused(f"it has {len(rows)} rows for {len(task.people)} people")
    try:
        evidence = ap.audit(task.microdata, rows, hierarchies=task.hierarchies)
    except AnonpaperError as error:
        raise Refused(f"{error}") from None
    concluded = evidence.promises.set_index("principle")["concluded"]
    levels = task.level_of(rows)
    short = task.broken(levels)
    in_order = (rows[task.sensitive] == task.people[task.sensitive]).to_numpy()
    for name, code in shown.codes(task.people).items():
        in_order &= shown.masks[name][shown.number[name], code]
    gap, among = shown.gap()
    return {
        "promise": f"broken: {short}" if short else "kept",
        **{f"level of {name}": level for name, level in levels.items()},
        "second judge": agrees(shown, levels), "concluded": concluded[task.principle],
        "gap": gap, "gap among": among, **shown.loss, "order kept": bool(in_order.all()),
    }  # fmt: skip


def of_nobody(shown: Shown) -> dict[str, object]:
    """Judge invented rows: how many more people are copied than outsiders.

    A copy is whole, or without one of the columns. Only those count whose row nobody else has in
    the columns that are left, in the table or not. Two 99.9 % intervals say how many times as many
    people are copied, at least. Differential privacy allows exp(2 epsilon) times as many, as one
    person replaces another. Nothing in a file confirms it.
    """
    task, columns = shown.task, [*shown.task.qi, shown.task.sensitive]
    if strange := {*shown.rows[task.sensitive]} - {*task.secrets}:
        raise Refused(f"{min(strange)!r} is not in the original table")
    if len(shown.rows) != len(task.people):
        raise Refused(f"it has {len(shown.rows)} rows for {len(task.people)} people")
    rows = shown.rows.assign(**{  # however a row is written, it copies the value it allows
        name: np.where(masks.sum(axis=1) == 1, np.array(task.domain[name])[masks.argmax(axis=1)],
                       shown.rows[name].unique())[shown.number[name]]
        for name, masks in shown.masks.items()
    })  # fmt: skip
    both, ours = pd.concat([task.people, task.outsiders]), np.arange(2 * len(rows)) < len(rows)
    kinds = {}
    for without in ["", *columns]:
        left = [name for name in columns if name != without]
        alone = ~both.duplicated(left, keep=False).to_numpy()
        copied = pd.MultiIndex.from_frame(both[left]).isin(pd.MultiIndex.from_frame(rows[left]))
        kinds[f" without {without}" if without else ""] = np.array([alone, alone & copied])
    kinds[NEARLY] = np.logical_or.reduce([*kinds.values()])
    found = {}
    for kind, (alone, copied) in kinds.items():
        groups = [copied[alone & of] for of in (ours, ~ours)]
        (low, _), (_, high) = (
            share_interval(g.sum(), max(len(g), 1), level=0.999) for g in groups
        )
        found[kind] = low / high, *(group.sum() / max(len(group), 1) for group in groups)
    worst = max(found, key=lambda kind: found[kind][0])
    times, people, others = found[worst]
    promise = "none" if task.principle == "nothing" else "not in the bytes"
    if times > math.exp(2 * task.promise.get("epsilon", math.inf)):
        promise = f"broken: copies {people:.0%} of people and {others:.0%} of outsiders{worst}"
    whole, nearly = (ours - theirs for _, ours, theirs in (found[""], found[NEARLY]))
    return {"promise": promise, "copied": whole, "nearly copied": nearly, "times copied": times}


def agrees(shown: Shown, levels: Mapping[str, float]) -> bool:
    """Whether pycanon counts the same levels."""
    given = shown.rows, shown.task.qi, [shown.task.sensitive]
    theirs = {
        "k": anonymity.k_anonymity(*given[:2]),
        "distinct l": anonymity.l_diversity(*given),
        "frequency l": 1 / anonymity.alpha_k_anonymity(*given)[0],
        "t": anonymity.t_closeness(*given),
    }
    return all(abs(theirs[name] - level) < 1e-6 for name, level in levels.items())

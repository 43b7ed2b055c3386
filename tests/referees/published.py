"""Random tables and every way to publish them, for tests that read what was written.

A table is as telling as can be: sorted by its secret, people's names as index, categories and
attributes that nobody is shown.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
from collections import Counter
from functools import cache
from math import exp, log

import numpy as np
import pandas as pd

import anonpaper as ap
from anonpaper.owner.arguments import METHODS, publish

PARAMETERS = {
    "tp": {"l": 2},
    "tp_plus": {"l": 2},
    "tp_refined": {"l": 2},
    "hilbert": {"l": 2},
    "exact": {"l": 2},
    "optimal_two_diverse": {},
    "klt": {"k": 4, "l": 2, "theta": 0.75},
    "mondrian": {"k": 3, "l": 2},
    "k_member": {"k": 3},
    "oka": {"k": 3},
    "diva": {"k": 3, "constraints": [ap.DiversityConstraint({"sex": "f"}, 2, 1000)]},
    "balanced_classes": {"k": 4, "l": 2},
    "tds": {"l": 2},
    "full_domain": {"k": 3},
    "preference_search": {"k": 3, "population": 10, "evaluations": 60},
    "exhaustive": {"k": 3},
}
#: Every method with every publication that it has: an anatomy would disclose what TP removed.
WAYS = [
    (name, form) for name in PARAMETERS for form in METHODS[name].publications
    if form != "anatomize" or not name.startswith("tp")
]  # fmt: skip
assert set(PARAMETERS) == set(METHODS)


#: `make fuzz` tries every way on every table; the tests take the ways in turn.
ALL_PAIRS = int(os.environ.get("ANONPAPER_FUZZ", 1000)) >= 10_000


def with_tables(ways: list, tables: int = 100) -> list[tuple]:
    """Return pairs of a way and the seed of a table: every table, and each way as often."""
    if ALL_PAIRS:
        return [(way, seed) for way in ways for seed in range(tables)]
    return [(ways[seed % len(ways)], seed) for seed in range(tables)]


def random_table(seed: int, rows: int | None = None, values: int = 4) -> ap.Microdata:
    """A table of 24 to 48 people, no illness had by more than a third of them or the like."""
    rng = np.random.default_rng(seed)
    n = rows or 2 * int(rng.integers(12, 25))
    illness = np.sort(np.arange(n) % values)
    ills = ["flu", "gout", "cold", "mumps", "not-shown"][:values] + ["never-shown"]
    frame = pd.DataFrame({
        "name": [f"person-{i}" for i in range(n)],
        "age": rng.integers(20, 26, n),
        "sex": pd.Categorical(rng.permutation(np.arange(n) % 2), categories=[0, 1]),
        "town": rng.choice(["Ulm", "Bonn"], n),
        "ill": pd.Categorical.from_codes(illness, ills),
    }, index=pd.Index([f"index-{i}" for i in range(n)], name="index-name"))  # fmt: skip
    frame["sex"] = frame["sex"].cat.rename_categories(["f", "m"])
    frame.attrs["note"] = "attrs-note"
    return ap.Microdata(frame, ["age", "sex", "town"], "ill")


def table_for(name: str, seed: int) -> ap.Microdata:
    """A random table that a method can group."""
    few = {"exact": 8, "optimal_two_diverse": 24}.get(name)
    return random_table(seed, few, 2 if name == "optimal_two_diverse" else 4)


@cache
def released(name: str, form: str, seed: int) -> ap.Release:
    """A random table grouped by a method and published in a form."""
    m = table_for(name, seed)
    return publish(m, METHODS[name], form, PARAMETERS[name])


def read(path) -> list[dict[str, str]]:
    """What anybody reads in a written file, row by row, all of it text."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path).astype(str).to_dict("records")
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def covers(written, value, order=None) -> bool:
    """Whether a published value, as it is written, allows the real one; `order` is a domain's."""
    text = str(written)
    if text in ("*", str(value)):
        return True
    if text.startswith("{"):
        return str(value) in text.strip("{}").split(", ")
    interval = re.fullmatch(r"\[(.+?) - (.+)\]", text)
    if interval is None:
        return False
    first, last = interval.groups()
    if order is not None:
        return order.index(first) <= order.index(str(value)) <= order.index(last)
    return float(first) <= float(value) <= float(last)


def as_people(m: ap.Microdata) -> ap.Microdata:
    """The same table with a further QI that nobody shares, so that rows can be recognized."""
    frame = m.frame.assign(pseudonym=[f"p{i}" for i in range(m.n)])
    return ap.Microdata(frame, [*m.qi, "pseudonym"], m.sensitive, synthetic=m.synthetic)


def entropy(values):
    shares = [n / len(values) for n in Counter(values).values()]
    return exp(-sum(p * log(p) for p in shares))


LEVELS = {
    "distinct l-diversity": lambda values: len(set(values)),
    "frequency l-diversity": lambda values: len(values) / max(Counter(values).values()),
    "entropy l-diversity": entropy,
    "theta": lambda values: max(Counter(values).values()) / len(values),
}

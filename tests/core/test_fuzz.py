"""Whatever is passed to a public function, it returns, or raises an AnonpaperError that explains.

`make fuzz` makes 10,000 calls; the tests make a tenth of them.
"""

import inspect
import os
import warnings
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper import constraints, measure, repair
from anonpaper.errors import AnonpaperError

pytest.importorskip("matplotlib", reason="all public functions are called: anonpaper[all]")

CALLS = int(os.environ.get("ANONPAPER_FUZZ", 1000))
RARE = settings(deadline=None, max_examples=CALLS, suppress_health_check=list(HealthCheck),
                database=None, print_blob=True)  # fmt: skip


FRAME = pd.DataFrame(
    {"age": np.arange(12) % 5 * 10, "sex": list("fm" * 6), "ill": list("abc" * 4)}
)
TABLE = ap.Microdata(FRAME, ["age", "sex"], "ill")
PLAIN = TABLE.with_roles(sensitive=None)
BINARY = ap.Microdata(TABLE.frame.assign(ill=list("ab" * 6)), ["age", "sex"], "ill")
GROUPS = ap.tp_plus(TABLE, 2)
RECODING = ap.tds(TABLE, 2)
TREE = ap.Hierarchy([["f", "any"], ["m", "any"]])

NUMBERS = [-1, 0, 1, 2, 3, 5, 12, 13, 0.0, 0.3, 1.0, 1.5, -0.5, float("nan"), float("inf"),
           True, np.int64(2), np.float32(0.5), Decimal("0.5"), 1j]  # fmt: skip
HUGE = [2**31, 2**63, -(2**70), 10**30, 1e308]
CONSTRAINT = ap.DiversityConstraint({"sex": "f"}, 1, 6)
OTHERS = [
    "\ud800", "no\0name", "31.12.2024", "2024-12-31", "%d.%m.%Y", ["31.12.2024"], ["2024-12-31"],
    ["\ud800", True, 10**400], None, "", "age", "ill", "frequency", "distinct", "stars", "k", b"3",
    (), [], {}, set(), ("age",), ["age", "sex"], ["age", "age"], [["age"]], {"age": 1},
    {"age": -1}, {"age": "1"}, {"nobody": 2}, {1: 2}, {"sex": TREE}, {"age": TREE}, {"age": None},
    (0.2, 1.0), (0.2,), (np.nan, 1), np.zeros(12, int), np.arange(12), np.full(12, -1),
    np.zeros((12, 2)), np.array([0, 2**60] * 6), np.array(["a"] * 12), np.ones(12, bool),
    np.ones(3, bool), object(), len, pd.Series([1, 2]), pd.DataFrame(), TABLE.frame, pd.NaT,
    date(2020, 1, 1), TREE, slice(3), CONSTRAINT, [CONSTRAINT], [None], range(3),
    [ap.DiversityConstraint({"nothing": "f"}, 1, 6)], np.random.default_rng(0), ap.KAnonymity(2),
    [ap.KAnonymity(2)], TABLE.attributes, TABLE.cells,
]  # fmt: skip
TWO = TABLE.replace(frame=TABLE.frame.assign(drug=list("xxyz" * 3)), sensitive=["ill", "drug"])
VISITS = TABLE.replace(frame=TABLE.frame.assign(who=np.arange(12) // 2), person="who")
TABLES = [TABLE, PLAIN, BINARY, TWO, VISITS]
RELEASES = [
    ap.suppress(TABLE, GROUPS), ap.generalize(PLAIN, ap.mondrian(PLAIN, 3)),
    ap.swap(TABLE, GROUPS, seed=0), ap.anatomize(TABLE, ap.mondrian(TABLE, 3)),
    ap.recode(TABLE, RECODING), ap.generalize(TWO, ap.mondrian(TWO, 3)),
    ap.recode(VISITS, ap.full_domain(VISITS, 2, suppression=0.4)),
]  # fmt: skip
RESULTS = [GROUPS, RECODING, ap.Partition([0, 0, 1]), ap.Partition(np.full(12, -1)), *RELEASES]
#: Of these a large number is a long wait that somebody asked for.
PATIENT = {"evaluations", "population", "trees", "repeats", "max_rows", "rows", "epochs",
           "n", "queries", "fan_out", "draws", "workers"}  # fmt: skip


def functions():
    found = {"synthesis.fuse": ap.synthesis.fuse}
    for module in (ap, measure, constraints, repair):
        for name in module.__all__:
            if callable(getattr(module, name)) and name != "load":
                found[f"{module.__name__}.{name}"] = getattr(module, name)
    for thing, names in [
        (ap.Hierarchy, "balanced dates from_csv intervals prefixes"),
        (ap.Recoding, "decode load"), (RECODING, "save"), (TREE, "to_csv"),
        (TABLE, "with_roles take sample attribute attribute_index replace"),
        (RELEASES[0], "public_tables write"),
    ]:  # fmt: skip
        found |= {f"{thing} {name}": getattr(thing, name) for name in names.split()}
    return found


FUNCTIONS = functions()


def likely(parameter):
    """Values that a parameter of this name is meant for: calls get past the first check."""
    meant = {
        "m": TABLES, "p": RESULTS, "r": RESULTS, "rel": RESULTS, "release": RESULTS,
        "original": RESULTS + TABLES, "hierarchies": [{"sex": TREE}, None, {}],
        "constraints": [[CONSTRAINT]],
        "frame": [TABLE.frame], "qi": [["age", "sex"], ["age"]], "sensitive": ["ill", None],
        "attributes": [TABLE.attributes], "labels": [GROUPS.labels], "seed": [0, None],
        "require": [[ap.KAnonymity(2)], [ap.Theta(0.9), ap.DistinctLDiversity(2, of="ill")]],
        "suppression": [0.0, 0.2, 1], "principles": [[ap.EntropyLDiversity(1.5)]],
    }  # fmt: skip
    return meant.get(parameter.name, NUMBERS)


@st.composite
def calls(draw):
    name = draw(st.sampled_from(sorted(FUNCTIONS)))
    given_ = {}
    for parameter in inspect.signature(FUNCTIONS[name]).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is not parameter.empty and draw(st.integers(0, 2)):
            continue
        pool = likely(parameter) if draw(st.integers(0, 3)) else NUMBERS + OTHERS + RESULTS
        if parameter.name not in PATIENT and not draw(st.integers(0, 9)):
            pool = HUGE
        given_[parameter.name] = draw(st.sampled_from(pool))
    return name, given_


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of its own, so that what a call writes comes into none of the project."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@RARE
@given(calls())
def test_a_call_returns_or_explains(call):
    name, arguments = call
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            FUNCTIONS[name](**arguments)
        except AnonpaperError as error:
            assert str(error).strip()

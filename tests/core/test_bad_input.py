"""Bad input at the public doors: refused with the error of its kind, and words that help."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper import constraints, measure
from anonpaper.constraints import DiversityConstraint as Constraint
from anonpaper.datasets import load_ipums, voter_list
from anonpaper.errors import (
    AnonpaperError,
    ColumnError,
    ConstraintError,
    EmptyTableError,
    HierarchyError,
    InfeasibleError,
    MissingValueError,
    ParameterError,
    SizeLimitError,
)
from anonpaper.measure import attacks, queries
from anonpaper.repair import clean, find_imbalance, pattern_friendly, synthesis

NAN = float("nan")
M, PATIENTS = ap.examples.hospital(), ap.examples.patients()
GROUPS, ONE_GROUP = ap.examples.hospital_two_diverse(), ap.Partition([0] * 10)
REL, KEPT = ap.suppress(M, GROUPS), ap.recode(M, ap.Recoding.identity(M.attributes))
PLAIN = M.with_roles(sensitive=None)
FLAT, TREE = ap.Hierarchy.flat, ap.Hierarchy([["<30", "*"], ["[30, 50)", "*"], [">=50", "*"]])


def table(qi="age", secrets=None, **columns):
    frame = pd.DataFrame(columns if secrets is None else columns | {"ill": secrets})
    return ap.Microdata(frame, [qi], None if secrets is None else "ill")


def each(name, *values):
    return [{name: value} for value in values]


LONELY = table(age=range(40), secrets=[1] + [0] * 39)
HALVED = table(age=range(40), secrets=[0, 1] * 20)
TOP = table(age=[0] * 6, secrets=[0, 0, 0, 1, 2, 3])
PEOPLE = pd.DataFrame({
    "age": np.arange(60) % 30 + 20, "job": list("ab") * 30, "name": "x",
    "ill": ["yes", *["no"] * 3] * 15,
})  # fmt: skip
ROWS = ap.Microdata(PEOPLE, ["age", "job"], "ill")
AGES = table(age=[17, 90], sex=["f", "m"]).with_roles(["age", "sex"])
MESSY = PEOPLE.head(4).assign(age=[30.0, np.nan, 150.0, 30.0])
SEARCH = {"k": 2, "evaluations": 200}

CLEAN = partial(clean, frame=MESSY, qi=["age", "job"], sensitive="ill")
DIVA = partial(ap.diva, PATIENTS, ap.examples.patients_constraints(), k=2)
KLT = partial(ap.klt, M, k=4, l=2, theta=0.5)
BALANCED = partial(ap.balanced_classes, m=HALVED, k=5)
FULL_DOMAIN = partial(ap.full_domain, M, k=2)
PREFERENCE = partial(ap.preference_search, M, **SEARCH)
GRANULARIZE = partial(ap.granularize, AGES, granularity={"age": 5})
CONSTRAINT = partial(Constraint, target={"a": 1}, low=1, high=2)
MICRODATA = partial(ap.Microdata, frame=PEOPLE.head(2), qi=["age"])
COPULA = partial(ap.gaussian_copula, m=ROWS, needed={"yes": 1})
SHALLOW = partial(ap.shallow_generalize, M, GROUPS)
SYNTHESIZE = partial(synthesis.synthesize, m=ROWS, needed={"yes": 3})
VOTERS = partial(voter_list, PEOPLE, columns=["age"])
WORKLOAD = partial(measure.workload, M)

#: What is refused by all that group for l-diversity, and by all that group for k-anonymity.
FOR_L = [ap.tp, ap.tp_plus, ap.tp_refined, ap.hilbert, ap.exact, ap.tds]
FOR_K = [ap.k_member, ap.oka, ap.mondrian, ap.full_domain, ap.preference_search]

BAD = [
    # -- grouping
    *((f, ParameterError, "l must be an integer from 2 to 10",
       [{"m": M, "l": l} for l in (1, 0, -3, 11, 2.0, "2", True, None)]) for f in FOR_L),
    *((f, InfeasibleError, r"3 of its 6 rows have 'ill' = 0.* l is 2", [{"m": TOP, "l": 3}])
      for f in FOR_L),
    *((f, ColumnError, "sensitive", [{"m": PLAIN, "l": 2}]) for f in FOR_L),
    *((f, ParameterError, "k must be an integer from . to 10",
       [{"m": M, "k": k} for k in (0, 11, 2.5, "3", True)]) for f in FOR_K),
    (BALANCED, ParameterError, "", [*each("k", 1, 41), *each("l", 1, 6), {"largest_share": 0},
                                    {"seed": -1}]),
    (BALANCED, InfeasibleError, "k >= 21", [{"m": LONELY}]),
    (BALANCED, InfeasibleError, "largest feasible l is 2", [{"m": LONELY, "k": 21, "l": 3}]),
    (BALANCED, ColumnError, "", [{"m": LONELY.with_roles(sensitive=None)}]),
    (ap.mondrian, ParameterError, "entropy", [{"m": M, "k": 2, "l": 2, "diversity": "entropy"}]),
    (ap.mondrian, InfeasibleError, "largest feasible l is 6",
     [{"m": PATIENTS, "k": 2, "l": 7, "diversity": "distinct"}]),
    (DIVA, ParameterError, "k must be an integer from 2 to 10", each("k", 1, 11)),
    (DIVA, ParameterError, "", [{"strategy": "greedy"}, {"max_candidates": -1},
                                {"max_seconds": 0}, {"over_bound": "drop"}, {"seed": -1}]),
    (DIVA, InfeasibleError, "largest feasible l is 3", [{"l": 4}]),
    (KLT, ParameterError, "theta must be a number", each("theta", 0, 1.01, NAN, "0.3")),
    (KLT, ParameterError, "must be an integer", [*each("k", 0, 11, 2.5), {"l": "2"}]),
    (KLT, InfeasibleError, "l = 5 is too large: 'Disease' has 4 values", [{"k": 5, "l": 5}]),
    (KLT, InfeasibleError, "at least 5 distinct values", [{"theta": 0.2}]),
    (KLT, ParameterError, "must be a number", [{"weights": {"Age": w}} for w in (-1, NAN)]),
    (KLT, ColumnError, "names", [{"weights": {"Height": 1}}, {"weights": {"Disease": 1}}]),
    (KLT, ParameterError, "", [{"weights": [1, 2, 3]}, {"seed": -1}, {"withheld": "keep"}]),
    (ap.optimal_two_diverse, ParameterError, "exactly two", [{"m": M}]),
    (ap.optimal_two_diverse, InfeasibleError, "", [{"m": LONELY}]),
    (ap.exact, SizeLimitError, "40", [{"m": HALVED, "l": 2}]),
    (ap.exact, ParameterError, "", [{"m": M, "l": 2, "objective": "loss"}]),
    (ap.tp_refined, ParameterError, "seconds", [{"m": M, "l": 2, "seconds": -1}]),
    # -- recoding
    (FULL_DOMAIN, ParameterError, "", [{"l": 0}, {"l": 2, "diversity": "entropy"}]),
    (FULL_DOMAIN, InfeasibleError, "reaches 4 of DistinctLDiversity", [{"l": 5}]),
    (FULL_DOMAIN, InfeasibleError, "Frequency", [{"l": 4, "diversity": "frequency"}]),
    (FULL_DOMAIN, ColumnError, "Height", [{"hierarchies": {"Height": FLAT("ab")}}]),
    (FULL_DOMAIN, HierarchyError, "'M'", [{"hierarchies": {"Gender": FLAT("F")}}]),
    (partial(ap.tds, M, 2), HierarchyError, "lacks", [{"hierarchies": {"Age": FLAT(["<30"])}}]),
    (partial(ap.tds, M, 2), ColumnError, "Height", [{"hierarchies": {"Height": TREE}}]),
    (partial(ap.tds, M, 2), ParameterError, "make it", [{"hierarchies": {"Age": TREE.rows}}]),
    (PREFERENCE, ParameterError, "", [{"evaluations": 99}, {"population": 1}, {"seed": -1}]),
    *((f, AnonpaperError, "sum to 1|Height|must be a number", each("weights",
       {"Age": 0.5, "Gender": 0.4}, {"Age": 0.5, "Height": 0.5}, {"Age": 1.5, "Gender": -0.5},
       {"Age": NAN}, {})) for f in (PREFERENCE, partial(measure.nwp, KEPT))),
    *((f, ParameterError, "prefer", each("preference", (1.2, 0.5), (0.2, -0.1), (0.2,), 0.2,
       ("a", "b"))) for f in (PREFERENCE, partial(measure.ach, KEPT))),
    (partial(ap.Recoding.decode, M.attributes), ParameterError, "5 digits",
     each("bits", "0101", "010101", "0102a", [0, 1, 0, 1, 2], [])),
    (GRANULARIZE, ColumnError, "", [*each("granularity", {"sex": 5}, {"height": 5}),
                                    {"ranges": {"sex": (0, 100)}}]),
    (GRANULARIZE, ParameterError, "", [
        *({"granularity": {"age": width}} for width in (0, -5, NAN, np.inf, 1e-300, 1e-5, "5")),
        *({"ranges": {"age": bounds}} for bounds in ((0, 98), (20, 100), (0, 90)))]),
    # -- publishing
    (partial(ap.recode, M.with_roles(["Age"])), ParameterError, "the recoding has the attributes",
     [{"r": ap.Recoding.identity(M.attributes)}]),
    *((f, ParameterError, "rows, the table 10", [{"m": M, "p": ap.Partition([0, 0])}])
      for f in (ap.suppress, ap.generalize, ap.swap, ap.anatomize)),
    *((f, ParameterError, "expected a Partition", [{"m": M, "p": p} for p in
                                                   ([0, 0], None, ap.Recoding, "p")])
      for f in (ap.suppress, ap.generalize, ap.swap, ap.anatomize)),
    *((f, ParameterError, "stars values of 3 attributes",
       [{"m": m, "p": ap.Partition([0] * 10, starred=[[True, False, False]])}
        for m in (M.with_roles(["Age"]), M.with_roles(["Age", "Gender"]))])
      for f in (ap.suppress, ap.generalize, ap.swap, ap.anatomize)),
    *((f, ParameterError, "stars values",
       [{"m": M, "p": ap.Partition([0] * 10, starred=[[True, False, False]])}])
      for f in (ap.swap, ap.anatomize)),
    *((f, ColumnError, "sensitive", [{"m": PLAIN, "p": GROUPS}]) for f in (ap.swap, ap.anatomize)),
    (ap.swap, ParameterError, "seed", [{"m": M, "p": GROUPS, "seed": -1}]),
    (ap.anatomize, ColumnError, r"rename \['group'\]",
     [{"m": table("group", group=[1, 2], secrets=list("ab")), "p": ap.Partition([0, 0])}]),
    (SHALLOW, HierarchyError, "", [
        {"hierarchies": trees} for trees in (
            {"Age": TREE}, {name: FLAT(["a"]) for name in M.qi},
            {a.name: ap.Hierarchy([[v, v] for v in a.values]) for a in M.attributes})]),
    # -- measuring
    (partial(measure.disclosure_risk, REL), ParameterError, "", [{"reading": "worst"},
                                                                 {"targets": "some"}]),
    (partial(measure.disclosure_risk, REL), ColumnError, "'height'", [{"known": ["height"]}]),
    (measure.disclosure_risk, ParameterError, "groups",
     [{"rel": ap.anatomize(M, ONE_GROUP), "known": M.qi}]),
    (measure.disclosure_risk, EmptyTableError, "",
     [{"rel": ap.suppress(M, ap.Partition([-1] * 10))}]),
    (measure.disclosure_risk, ColumnError, "", [{"rel": ap.suppress(PLAIN, GROUPS)}]),
    (partial(measure.exposure, REL), ParameterError, "reading", [{"reading": "all"}]),
    (partial(measure.exposure, REL), ColumnError, "", [{"value": 7}]),
    (measure.average_class_size, EmptyTableError, "no row",
     [{"rel": ap.suppress(M, ap.Partition([-1] * 10))}]),
    (measure.definetti, ParameterError, "ap.swap or ap.anatomize", [{"release": REL}]),
    (measure.kl_divergence, ParameterError, "have no sensitive value: read .* in `st`",
     [{"rel": ap.anatomize(M, ONE_GROUP)}]),
    (partial(measure.discernibility_ratio, REL, 2), ParameterError, "f1", [{"of": "f1"}]),
    (WORKLOAD, ColumnError, r"selectivity names \['height'\]", [{"selectivity": {"height": 1}}]),
    (WORKLOAD, ParameterError, "selectivity of 'Age' must be an integer from 1 to 3",
     each("selectivity", {"Age": 0}, {"Age": 4})),
    (WORKLOAD, ParameterError, "size", [{"selectivity": {}, "size": 0}]),
    *((lambda tables=tables: measure.workload(M, {}, size=1).answers(*tables), ParameterError,
       says, [{}]) for tables, says in (([ROWS], "the table has"), ([M, M.take([0, 1])], "same"))),
    (partial(queries.query_errors, measure.workload(M, {}, size=1)), ParameterError, "is empty",
     [{"releases": []}]),
    (queries.chi_square, ParameterError, "", [
        {"x": [-1, 2], "y": [1, 2]}, {"x": [1, 2], "y": [np.inf, 2]}, {"x": [1], "y": [NAN]},
        {"x": [1, 2, 3], "y": [1, 2]}]),
    (partial(attacks.plausible_values, M), ColumnError, "'Disease' is not a quasi-identifier",
     [{"known": ["Disease"], "least_share": 0.1}]),
    (partial(attacks.plausible_values, M), ParameterError, "",
     [{"known": [], "least_share": 0.1}, {"known": ["Age"], "least_share": 1.5}]),
    (partial(attacks.guessing, M), ParameterError, "",
     [{"labels": [0] * 10, "plausible": np.ones((3, 4), bool)}, {"labels": [0] * 9}]),
    (partial(attacks.membership, REL), ParameterError, "quasi-identifiers",
     [{"outsiders": M.with_roles(qi=["Age"])}]),
    (partial(measure.fewest_stars, M), ParameterError, "either l", [{}, {"l": 2, "k": 2}]),
    (partial(measure.fewest_stars, M), ParameterError, "k must be", [{"k": 11}]),
    (partial(measure.fewest_stars, M), InfeasibleError, "", [{"l": 4}]),
    (measure.fewest_stars, SizeLimitError, "",
     [{"m": ap.Microdata(pd.DataFrame(np.eye(40, dtype=int)), [*range(40)]), "k": 2}]),
    # -- repairing
    (COPULA, AnonpaperError, "", [
        {"needed": {"perhaps": 1}}, *({"needed": {"yes": n}} for n in (-1, 1.5)), {"seed": "a"},
        {"m": PEOPLE}, {"m": ROWS.with_roles(sensitive=None)}]),
    (COPULA, InfeasibleError, "",
     [{"m": ROWS.replace(domains={"ill": ["yes", "no", "maybe"]}), "needed": {"maybe": 1}}]),
    (find_imbalance, InfeasibleError, "every row has 'ill' = 0: .*a single value",
     [{"m": table(age=range(5), secrets=[0] * 5)}]),
    (find_imbalance, ParameterError, "", [{"m": ROWS, "threshold": 2}]),
    (find_imbalance, ColumnError, "", [{"m": PLAIN}]),
    (CLEAN, ColumnError, "", each("qi", ["size"], ["ill"])),
    (CLEAN, MissingValueError, "'age': drop", [{}]),
    (pattern_friendly, InfeasibleError, "fold", [{"m": LONELY}]),
    (pattern_friendly, ParameterError, "", [{"m": HALVED, "share": 0}]),
    (partial(ap.in_preorder, M), HierarchyError, "M", [{"taxonomies": {"Gender": FLAT("F")}}]),
    (partial(ap.in_preorder, M), ColumnError, "job", [{"taxonomies": {"job": FLAT("F")}}]),
    (SYNTHESIZE, ColumnError, "maybe", [{"needed": {"maybe": 3}}]),
    (SYNTHESIZE, ParameterError, "", [{"needed": {"yes": -1}}, {"epochs": 0}, {"seed": -1}]),
    (SYNTHESIZE, InfeasibleError, "no real row has 'ill' = 'maybe' to learn from", [{
        "m": ROWS.replace(domains={"ill": ["yes", "no", "maybe"]}), "needed": {"maybe": 3}}]),
    (SYNTHESIZE, ColumnError, "'job' has 600 categories",
     [{"m": table("job", job=[f"n{i}" for i in range(600)], secrets=["yes", "no"] * 300)}]),
    (SYNTHESIZE, ColumnError, "finite", [{"m": ap.Microdata(
        PEOPLE.assign(age=[np.inf, *range(59)]), ["age"], "ill")}]),
    *((partial(synthesis.fuse, ROWS), ColumnError, says, [{"rows": PEOPLE.head(3).assign(**new)}])
      for new, says in (({"job": "z"}, "job"), ({"age": 99}, "range"))),
    (partial(synthesis.fuse, ROWS), ColumnError, "lack",
     [{"rows": PEOPLE.head(3).drop(columns="age")}]),
    # -- constraints
    (CONSTRAINT, ParameterError, "", [{"low": 3}, {"low": -1}, {"low": 1.5}, {"target": {}},
                                      {"target": "a[1]"}]),
    (Constraint.parse, ConstraintError, "", each("text",
        "a[b] 1, 2", "a[b], 1", "a, 1, 2", "[b], 1, 2", "a[b] & , 1, 2", "a[b] c[d], 1, 2",
        "a[b] & a[c], 1, 2", "a[b], one, 2", "a[b], 1.5, 2", "", "a[b, 1, 2", "a[b]], 1, 2")),
    *((f, ParameterError, "total must be .* from 2 to 60",
       [{"m": ROWS, "attributes": ["job"], "total": n} for n in (1, 61, 10.0)])
      for f in (constraints.minimum_constraints, constraints.average_constraints,
                constraints.proportion_constraints)),
    # -- data sets
    (VOTERS, ColumnError, "", each("columns", ["height"], ["name"], [])),
    (VOTERS, ParameterError, "", [*each("share", 0, 1.1), {"outdated": -0.1}]),
    (ap.load, AnonpaperError, "rows must be|missing must be|part must be", [
        {"name": "adult", **bad} for bad in (*each("rows", 0, 2.5), {"missing": "keep"},
                                             {"part": "second"})]),
    (ap.load, AnonpaperError, "has no parts, only .* leave part out", [{"name": "german",
                                                                        "part": "train"}]),
    (ap.load, AnonpaperError, "name must be 'adult', .*got 'adlut'", [{"name": "adlut"}]),
    (ap.load, AnonpaperError, "seed must be", [{"name": "sal", "seed": -1}]),
    (load_ipums, AnonpaperError, r"nowhere\.csv", [{"path": "nowhere.csv"}]),
    # -- tables, partitions, recodings, hierarchies, principles
    (MICRODATA, ColumnError, "used twice|sex|unknown|outside|twice|41", [
        *each("qi", ["age", "sex"], ["age", "age"], [["age"]]),
        *each("sensitive", "age", ["ill", "sex"], {}), {"person": "age"},
        *each("domains", {"age": [25, 30]}, {"sex": ["f"]}, {"age": [41, 30, 41]})]),
    (MICRODATA, ParameterError, "", [{"qi": "age"}, {"domains": {"age": 5}},
                                     {"synthetic": [0, 1]}, {"missing": "ignore"}]),
    (MICRODATA, EmptyTableError, "", [{"qi": []}, {"frame": PEOPLE.head(0)}, {
        "frame": pd.DataFrame({"age": [None, None]}), "missing": "drop"}]),
    (MICRODATA, ParameterError, "DataFrame", [{"frame": [[1]]}]),
    (partial(PATIENTS.sample, seed=0), ParameterError, "rows", each("rows", 0, 11, 2.5)),
    (PATIENTS.sample, ParameterError, "seed", [{"rows": 2, "seed": -1}]),
    (PATIENTS.take, EmptyTableError, "", [{"rows": []}]),
    (PATIENTS.with_codes, ParameterError, "10 integers from 0 to 1", [
        {"codes": {"GEN": bad}} for bad in ([0], [0.0] * 10, [-1] * 10, [9] * 10, [[0]] * 10,
                                            [True] * 10)]),
    *((f, ParameterError, "", [{"labels": labels} for labels in (
        [0, 2], [-2, 0], [0.5, 1.0], [[0], [1]], [2**60, 0], [2**60], [0, -(2**60)], ["a"], 0,
        np.array([2**63, 0], dtype=np.uint64), [True, False], [None])])
      for f in (ap.Partition, partial(ap.KAnonymity(2).level, table(age=[1, 2])))),
    (partial(ap.Recoding, AGES.attributes), ParameterError, "",
     each("maps", [[0, 1, 1], [0, 0]], [[0, 3], [0, 0]], [[0, 0]])),
    (ap.Hierarchy, HierarchyError, "same number|twice|belongs to both|", each("rows",
        [["a", "x", "*"], ["b", "*"]], [["a", "*"], ["a", "*"]],
        [["a", "x", "y"], ["b", "x", "z"]], [])),
    (FLAT(["f"]).maps, HierarchyError, "'m'", [{"attribute": AGES.attribute("sex")}]),
    (FLAT(["f"]).generalize, HierarchyError, "'x'", [{"value": "x", "level": 1}]),
    (ap.KAnonymity, ParameterError, "", each("k", 0, 2.5)),
    (ap.DistinctLDiversity, ParameterError, "", [{"l": 0}]),
    (ap.FrequencyLDiversity, ParameterError, "", [{"l": 0.5}]),
    (ap.EntropyLDiversity, ParameterError, "", [{"l": "2"}]),
    (ap.RecursiveLDiversity, ParameterError, "", [{"c": 0, "l": 2}]),
    (ap.Theta, ParameterError, "", each("theta", 0, 1.1, NAN)),
    (ap.TCloseness, ParameterError, "", [{"t": -0.1}, {"t": 0.1, "distance": "hops"}]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("door", "error", "says", "given"),
    [(door, error, says, given) for door, error, says, calls in BAD for given in calls],
)
def test_bad_input_is_refused(door, error, says, given):
    with pytest.raises(error, match=says or None):
        made = door(**given)
        made.codes, made.sensitive_codes  # noqa: B018 - a table looks at its columns when asked

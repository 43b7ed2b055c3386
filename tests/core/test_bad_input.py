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


def bad(door, error, says, *calls, **values):
    """Calls with arguments that are refused, or with one of the values of a parameter."""
    calls = *calls, *({name: value} for name, each in values.items() for value in each)
    return [(door, error, says, given) for given in calls]


LONELY = table(age=range(40), secrets=[1] + [0] * 39)
HALVED = table(age=range(40), secrets=[0, 1] * 20)
WIDE = ap.Microdata(pd.DataFrame(np.eye(5, 255, dtype=int)), [*range(255)])
TOP = table(age=[0] * 6, secrets=[0, 0, 0, 1, 2, 3])
PEOPLE = pd.DataFrame({
    "age": np.arange(60) % 30 + 20, "job": list("ab") * 30, "name": "x",
    "ill": ["yes", *["no"] * 3] * 15,
})  # fmt: skip
ROWS = ap.Microdata(PEOPLE, ["age", "job"], "ill")
MAYBE = {"m": ROWS.replace(domains={"ill": ["yes", "no", "maybe"]}), "needed": {"maybe": 3}}
AGES = table(age=[17, 90], sex=["f", "m"]).with_roles(["age", "sex"])
MESSY = PEOPLE.head(4).assign(age=[30.0, np.nan, 150.0, 30.0])
STARRED = ap.Partition([0] * 10, starred=[[True, False, False]])
WITHHELD = ap.suppress(M, ap.Partition([-1] * 10))

CLEAN = partial(clean, frame=MESSY, qi=["age", "job"], sensitive="ill")
DIVA = partial(ap.diva, PATIENTS, ap.examples.patients_constraints(), k=2)
KLT = partial(ap.klt, M, k=4, l=2, theta=0.5)
BALANCED = partial(ap.balanced_classes, m=HALVED, k=5)
FULL_DOMAIN = partial(ap.full_domain, M, k=2)
TDS = partial(ap.tds, M, 2)
PREFERENCE = partial(ap.preference_search, M, k=2, evaluations=200)
GRANULARIZE = partial(ap.granularize, AGES, granularity={"age": 5})
MICRODATA = partial(ap.Microdata, frame=PEOPLE.head(2), qi=["age"])
COPULA = partial(ap.gaussian_copula, m=ROWS, needed={"yes": 1})
SYNTHESIZE = partial(synthesis.synthesize, m=ROWS, needed={"yes": 3})
FUSE = partial(synthesis.fuse, ROWS)
VOTERS = partial(voter_list, PEOPLE, columns=["age"])
WORKLOAD = partial(measure.workload, M)
RISK = partial(measure.disclosure_risk, REL)
FEWEST = partial(measure.fewest_stars, M)

#: What is refused by all that group for l-diversity, and by all that group for k-anonymity.
FOR_L = [ap.tp, ap.tp_plus, ap.tp_refined, ap.hilbert, ap.exact, ap.tds]
FOR_K = [ap.k_member, ap.oka, ap.mondrian, ap.full_domain, ap.preference_search]
IN_TWO_TABLES = [ap.swap, ap.anatomize]

BAD = [
    # -- grouping
    *(bad(partial(f, M), ParameterError, "l must be an integer from 2 to 10",
          l=[1, 0, -3, 11, 2.0, "2", True, None]) for f in FOR_L),
    *(bad(f, InfeasibleError, r"3 of its 6 rows have 'ill' = 0.* l is 2", {"m": TOP, "l": 3})
      for f in FOR_L),
    *(bad(f, ColumnError, "sensitive", {"m": PLAIN, "l": 2}) for f in FOR_L),
    *(bad(partial(f, M), ParameterError, "k must be an integer from . to 10",
          k=[0, 11, 2.5, "3", True]) for f in FOR_K),
    bad(BALANCED, ParameterError, "", k=[1, 41], l=[1, 6], largest_share=[0], seed=[-1]),
    bad(BALANCED, InfeasibleError, "= 9 make 5 .* k >= 21|feasible l is 2", {"m": LONELY},
        {"m": LONELY, "k": 21, "l": 3}),
    bad(ap.mondrian, ParameterError, "entropy", {"m": M, "k": 2, "l": 2, "diversity": "entropy"}),
    bad(ap.mondrian, InfeasibleError, "largest feasible l is 6",
        {"m": PATIENTS, "k": 2, "l": 7, "diversity": "distinct"}),
    bad(DIVA, ParameterError, "", k=[1, 11], strategy=["greedy"], max_candidates=[-1],
        max_seconds=[0], over_bound=["drop"], seed=[-1]),
    bad(DIVA, InfeasibleError, "largest feasible l is 3", l=[4]),
    bad(KLT, ParameterError, "must be a number", theta=[0, 1.01, NAN, "0.3"],
        weights=[{"Age": -1}, {"Age": NAN}]),
    bad(KLT, ParameterError, "must be an integer", k=[0, 11, 2.5], l=["2"]),
    bad(KLT, InfeasibleError, "5 distinct values of 'Disease', the table has 4", {"k": 5, "l": 5}),
    bad(KLT, InfeasibleError, "at least 5 distinct values", theta=[0.2]),
    bad(KLT, ColumnError, "names", weights=[{"Height": 1}, {"Disease": 1}]),
    bad(KLT, ParameterError, "", weights=[[1, 2, 3]], seed=[-1], withheld=["keep"]),
    bad(ap.optimal_two_diverse, ParameterError, "exactly two", m=[M]),
    bad(ap.optimal_two_diverse, InfeasibleError, "", m=[LONELY]),
    bad(ap.exact, SizeLimitError, "40", {"m": HALVED, "l": 2}),
    *(bad(door, SizeLimitError, "255", {"m": WIDE, "k": 2}) for door in (ap.k_member, ap.oka)),
    bad(partial(ap.exact, M, 2), ParameterError, "", objective=["loss"]),
    bad(partial(ap.tp_refined, M, 2), ParameterError, "seconds", seconds=[-1]),
    # -- recoding
    bad(FULL_DOMAIN, ParameterError, "", {"l": 2, "diversity": "entropy"}, l=[0]),
    bad(FULL_DOMAIN, InfeasibleError, "DistinctLDiversity.*together reach 4|Frequency", {"l": 5},
        {"l": 4, "diversity": "frequency"}),
    bad(FULL_DOMAIN, HierarchyError, "'M'", hierarchies=[{"Gender": FLAT(["F"])}]),
    bad(TDS, HierarchyError, "lacks", hierarchies=[{"Age": FLAT(["<30"])}]),
    *(bad(f, ColumnError, "Height", hierarchies=[{"Height": TREE}]) for f in (TDS, FULL_DOMAIN)),
    bad(TDS, ParameterError, "of class Hierarchy", hierarchies=[{"Age": TREE.rows}]),
    bad(PREFERENCE, ParameterError, "", evaluations=[99], population=[1], seed=[-1]),
    *(bad(f, AnonpaperError, "sum to 1|Height|must be a number", weights=[
        {"Age": 0.5, "Gender": 0.4}, {"Age": 0.5, "Height": 0.5}, {"Age": 1.5, "Gender": -0.5},
        {"Age": NAN}, {}]) for f in (PREFERENCE, partial(measure.nwp, KEPT))),
    *(bad(f, ParameterError, "prefer", preference=[(1.2, 0.5), (0.2, -0.1), (0.2,), 0.2,
                                                   ("a", "b")])
      for f in (PREFERENCE, partial(measure.ach, KEPT))),
    bad(partial(ap.Recoding.decode, M.attributes), ParameterError, "5 digits",
        bits=["0101", "010101", "0102a", [0, 1, 0, 1, 2], []]),
    bad(GRANULARIZE, ColumnError, "", granularity=[{"sex": 5}, {"height": 5}],
        ranges=[{"sex": (0, 100)}]),
    bad(GRANULARIZE, ParameterError, "",
        granularity=[{"age": width} for width in (0, -5, NAN, np.inf, 1e-300, 1e-5, "5")],
        ranges=[{"age": bounds} for bounds in ((0, 98), (20, 100), (0, 90), (9, 0), 5)]),
    # -- publishing
    bad(partial(ap.recode, M.with_roles(["Age"])), ParameterError,
        "the recoding has the attributes", r=[ap.Recoding.identity(M.attributes)]),
    *(bad(partial(f, M), ParameterError, "rows, the table 10|expected a Partition",
          p=[ap.Partition([0, 0]), [0, 0], None, ap.Recoding, "p"])
      for f in (ap.suppress, ap.generalize, *IN_TWO_TABLES)),
    *(bad(f, ParameterError, "stars values of 3 attributes", {"m": m, "p": STARRED})
      for f in (ap.suppress, ap.generalize, *IN_TWO_TABLES)
      for m in (M.with_roles(["Age"]), M.with_roles(["Age", "Gender"]))),
    *(bad(f, ParameterError, "stars values", {"m": M, "p": STARRED}) for f in IN_TWO_TABLES),
    *(bad(f, ColumnError, "sensitive", {"m": PLAIN, "p": GROUPS}) for f in IN_TWO_TABLES),
    bad(partial(ap.swap, M, GROUPS), ParameterError, "seed", seed=[-1]),
    bad(ap.anatomize, ColumnError, r"rename \['group'\]",
        {"m": table("group", group=[1, 2], secrets=list("ab")), "p": ap.Partition([0, 0])}),
    bad(partial(ap.shallow_generalize, M, GROUPS), HierarchyError, "", hierarchies=[
        {name: FLAT(["a"]) for name in M.qi},
        {a.name: ap.Hierarchy([[v, v] for v in a.values]) for a in M.attributes}]),
    # -- measuring
    bad(RISK, ParameterError, "", reading=["worst"], targets=["some"]),
    bad(RISK, ColumnError, "'height'", known=[["height"]]),
    bad(measure.disclosure_risk, ParameterError, "groups",
        {"rel": ap.anatomize(M, ONE_GROUP), "known": M.qi}),
    bad(measure.disclosure_risk, ColumnError, "", rel=[ap.suppress(PLAIN, GROUPS)]),
    *(bad(f, EmptyTableError, "", rel=[WITHHELD])
      for f in (measure.disclosure_risk, measure.average_class_size)),
    bad(partial(measure.exposure, REL), ParameterError, "reading", reading=["all"]),
    bad(measure.suppressed_rows, ParameterError, "expected a Release", rel=[3, M]),
    bad(partial(ap.audit, M, REL), ParameterError, "knows its promises", promised=[M.frame]),
    bad(partial(measure.exposure, REL), ColumnError, "", value=[7]),
    bad(measure.definetti, ParameterError, "ap.swap or ap.anatomize", release=[REL]),
    bad(measure.kl_divergence, ParameterError, "have no sensitive value: read .* in `st`",
        rel=[ap.anatomize(M, ONE_GROUP)]),
    bad(WORKLOAD, ColumnError, r"selectivity names \['height'\]", selectivity=[{"height": 1}]),
    bad(WORKLOAD, ParameterError, "selectivity of 'Age' must be an integer from 1 to 3",
        selectivity=[{"Age": 0}, {"Age": 4}]),
    bad(WORKLOAD, ParameterError, "size", {"selectivity": {}, "size": 0}),
    bad(FEWEST, ParameterError, "either l|k must be", {}, {"l": 2, "k": 2}, {"k": 11}),
    bad(FEWEST, InfeasibleError, "", l=[4]),
    bad(measure.fewest_stars, SizeLimitError, "",
        {"m": ap.Microdata(pd.DataFrame(np.eye(40, dtype=int)), [*range(40)]), "k": 2}),
    # -- repairing
    bad(COPULA, AnonpaperError, "", needed=[{"perhaps": 1}, {"yes": -1}, {"yes": 1.5}],
        seed=["a"], m=[PEOPLE, ROWS.with_roles(sensitive=None)]),
    bad(COPULA, InfeasibleError, "", MAYBE),
    bad(find_imbalance, InfeasibleError, "every row has 'ill' = 0: .*a single value",
        m=[table(age=range(5), secrets=[0] * 5)]),
    bad(partial(find_imbalance, ROWS), ParameterError, "", threshold=[2]),
    bad(find_imbalance, ColumnError, "", m=[PLAIN]),
    bad(CLEAN, ColumnError, "", qi=[["size"], ["ill"]]),
    bad(CLEAN, MissingValueError, "'age': drop", {}),
    bad(pattern_friendly, InfeasibleError, "fold", m=[LONELY]),
    bad(partial(pattern_friendly, HALVED), ParameterError, "", trees=[0]),
    bad(partial(ap.in_preorder, M), HierarchyError, "M", taxonomies=[{"Gender": FLAT(["F"])}]),
    bad(partial(ap.in_preorder, M), ColumnError, "job", taxonomies=[{"job": FLAT(["F"])}]),
    bad(SYNTHESIZE, ColumnError, "maybe", needed=[{"maybe": 3}]),
    bad(SYNTHESIZE, ParameterError, "", needed=[{"yes": -1}], epochs=[0], seed=[-1]),
    bad(SYNTHESIZE, InfeasibleError, "no real row has 'ill' = 'maybe' to learn from", MAYBE),
    bad(SYNTHESIZE, ColumnError, "'job' has 600 categories|finite", m=[
        table("job", job=[f"n{i}" for i in range(600)], secrets=["yes", "no"] * 300),
        ap.Microdata(PEOPLE.assign(age=[np.inf, *range(59)]), ["age"], "ill")]),
    bad(FUSE, ColumnError, "job|range|lack", rows=[
        PEOPLE.head(3).assign(job="z"), PEOPLE.head(3).assign(age=99),
        PEOPLE.head(3).drop(columns="age")]),
    # -- constraints
    bad(partial(Constraint, {"a": 1}, high=2), ParameterError, "", low=[3, -1, 1.5]),
    bad(partial(Constraint, low=1, high=2), ParameterError, "", target=[{}, "a[1]"]),
    bad(Constraint.parse, ConstraintError, "", text=[
        "a[b] 1, 2", "a[b], 1", "a, 1, 2", "[b], 1, 2", "a[b] & , 1, 2", "a[b] c[d], 1, 2",
        "a[b] & a[c], 1, 2", "a[b], one, 2", "a[b], 1.5, 2", "", "a[b, 1, 2", "a[b]], 1, 2"]),
    *(bad(partial(f, ROWS, ["job"]), ParameterError, "total must be .* from 2 to 60",
          total=[1, 61, 10.0])
      for f in (constraints.minimum_constraints, constraints.average_constraints,
                constraints.proportion_constraints)),
    # -- data sets
    bad(VOTERS, ColumnError, "", columns=[["height"], ["name"], []]),
    bad(VOTERS, ParameterError, "", share=[0, 1.1], outdated=[-0.1]),
    bad(partial(ap.load, "adult"), AnonpaperError, "rows must be|missing must be|part must be",
        rows=[0, 2.5, 32_562], missing=["keep"], part=["second"]),
    bad(ap.load, AnonpaperError, "part must be 'both', got|seed must be",
        {"name": "german", "part": "train"}, {"name": "sal", "seed": -1}),
    bad(ap.load, AnonpaperError, "name must be 'adult' or .*got 'adlut'", name=["adlut"]),
    bad(load_ipums, AnonpaperError, r"nowhere\.csv", path=["nowhere.csv"]),
    # -- tables, partitions, recodings, hierarchies, principles
    bad(MICRODATA, ColumnError, "used twice|sex|unknown|outside|twice|41",
        qi=[["age", "sex"], ["age", "age"], [["age"]]], sensitive=["age", ["ill", "sex"], {}],
        person=["age"], domains=[{"age": [25, 30]}, {"sex": ["f"]}, {"age": [41, 30, 41]}]),
    bad(MICRODATA, ParameterError, "", qi=["age"], domains=[{"age": 5}], synthetic=[[0, 1]],
        missing=["ignore"], frame=[[[1]]]),
    bad(MICRODATA, EmptyTableError, "", qi=[[]], frame=[PEOPLE.head(0)]),
    bad(partial(MICRODATA, missing="drop"), EmptyTableError, "",
        frame=[pd.DataFrame({"age": [NAN]})]),
    bad(partial(PATIENTS.sample, seed=0), ParameterError, "rows", rows=[0, 11, 2.5]),
    bad(partial(PATIENTS.sample, 2), ParameterError, "seed", seed=[-1]),
    bad(PATIENTS.take, EmptyTableError, "", rows=[[]]),
    bad(PATIENTS.with_codes, ParameterError, "10 integers from 0 to 1", codes=[
        {"GEN": wrong} for wrong in ([0], [0.0] * 10, [-1] * 10, [9] * 10, [[0]] * 10,
                                     [True] * 10)]),
    *(bad(f, ParameterError, "", labels=[
        [0, 2], [-2, 0], [0.5, 1.0], [[0], [1]], [2**60, 0], [2**60], [0, -(2**60)], ["a"], 0,
        np.array([2**63, 0], dtype=np.uint64), [True, False], [None]])
      for f in (ap.Partition, partial(ap.KAnonymity(2).level, table(age=[1, 2])))),
    bad(partial(ap.Recoding, AGES.attributes), ParameterError, "",
        maps=[[[0, 1, 1], [0, 0]], [[0, 3], [0, 0]], [[0, 0]]]),
    bad(ap.Hierarchy, HierarchyError, "same number|twice|two parents|at least one",
        rows=[[*map(list, rows)] for rows in (["ax*", "b*"], ["a*", "a*"], ["axy", "bxz"], [])]),
    bad(FLAT(["f"]).maps, HierarchyError, "'m'", attribute=[AGES.attribute("sex")]),
    bad(FLAT(["f"]).generalize, HierarchyError, "'x'", {"value": "x", "level": 1}),
    bad(ap.KAnonymity, ParameterError, "", k=[0, 2.5]),
    bad(ap.DistinctLDiversity, ParameterError, "", l=[0]),
    bad(ap.FrequencyLDiversity, ParameterError, "", l=[0.5]),
    bad(ap.EntropyLDiversity, ParameterError, "", l=["2"]),
    bad(ap.RecursiveLDiversity, ParameterError, "", {"c": 0, "l": 2}),
    bad(ap.Theta, ParameterError, "", theta=[0, 1.1, NAN]),
    bad(partial(ap.TCloseness, 0.1), ParameterError, "", distance=["hops"]),
]  # fmt: skip


@pytest.mark.parametrize(("door", "error", "says", "given"), sum(BAD, []))
def test_bad_input_is_refused(door, error, says, given):
    with pytest.raises(error, match=says or None):
        made = door(**given)
        made.codes, made.sensitive_codes  # noqa: B018 - a table looks at its columns when asked

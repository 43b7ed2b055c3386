"""Any monotone principle, several secrets, people instead of rows, and a budget of rows.

Each is held by plain pandas or by exhaustive search; nothing here asks an audit to judge itself.
"""

import itertools
from collections import Counter
from dataclasses import replace
from functools import partial
from math import exp, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.tables import tables

import anonpaper as ap
from anonpaper import errors
from anonpaper.principles import GroupCounts, read_principle

COUNTS = [c for c in itertools.product(range(4), repeat=3) if any(c)]
TABLE = np.array([9, 6, 5])  # whose distribution t-closeness compares with
MONOTONE = [
    *(ap.KAnonymity(k) for k in (1, 2, 4)),
    *(ap.DistinctLDiversity(l) for l in (1, 2, 3)),
    *(ap.FrequencyLDiversity(l) for l in (1, 1.5, 2, 3)),
    *(ap.EntropyLDiversity(l) for l in (1, 1.7, 2, 2.5)),
    *(ap.RecursiveLDiversity(c, l) for c in (0.5, 1, 2, 3) for l in (1, 2, 3)),
    *(ap.Theta(theta) for theta in (0.4, 0.5, 0.75)),
    *(ap.TCloseness(t, way) for t in (0.1, 0.2, 0.4) for way in ("equal", "ordered")),
]


def meets(principle, groups):
    groups = GroupCounts.of_table(np.array(groups))
    return principle.satisfied(replace(groups, total=TABLE))


@pytest.mark.parametrize("principle", MONOTONE, ids=str)
def test_a_principle_is_kept_by_joining_small_groups_that_keep_it_or_any(principle):
    assert principle.monotone
    every = np.array(COUNTS)
    good = every[meets(principle, COUNTS)]
    for others in (good, every) if principle.upward_closed else (good,):
        joined = (good[:, None, :] + others[None, :, :]).reshape(-1, 3)
        assert not len(joined) or meets(principle, joined).all()


class FewRows(ap.principles.Principle):
    """At most five rows: what joining breaks."""

    larger_is_safer, needs_sensitive, bound = False, False, 5

    def levels(self, counts):
        return counts.sizes

    def __repr__(self):
        return "FewRows()"


@pytest.mark.parametrize("algorithm", [ap.mondrian, ap.full_domain, ap.tds])
@pytest.mark.parametrize(
    ("require", "error", "says"),
    [
        ([FewRows()], errors.ParameterError, r"FewRows\(\).*joined"),
        (["t-closeness"], errors.ParameterError, "class Principle"),
        (ap.KAnonymity(2), errors.ParameterError, "sequence"),
        ([ap.Theta(0.5, of="drug")], errors.ColumnError, "'drug' is not one of"),
        ([ap.DistinctLDiversity(9)], errors.InfeasibleError, r"Diversity\(l=9\)|9-diverse"),
    ],
)
def test_what_may_not_be_required_is_refused_with_the_reason(algorithm, require, error, says):
    with pytest.raises(error, match=says):
        algorithm(ap.examples.hospital(), 2, require=require)


REQUIRED = [
    ap.EntropyLDiversity(1.8), ap.RecursiveLDiversity(3, 2), ap.TCloseness(0.35), ap.Theta(0.6),
    ap.DistinctLDiversity(2), ap.TCloseness(0.3, "ordered"),
    ap.FrequencyLDiversity(1.5), ap.KAnonymity(4),
]  # fmt: skip


def holds_plainly(principle, values, of_all, people=None):
    """The definition of a principle on one group, read off its values."""
    counts, n = sorted(Counter(values).values(), reverse=True), len(values)
    people = people or n
    match principle:
        case ap.KAnonymity(k=k):
            return people >= k
        case ap.DistinctLDiversity(l=l):
            return len(counts) >= l
        case ap.FrequencyLDiversity(l=l):
            return counts[0] * l <= people
        case ap.EntropyLDiversity(l=l):
            return exp(-sum(c / n * log(c / n) for c in counts)) >= l - 1e-9
        case ap.RecursiveLDiversity(c=c, l=l):
            return counts[0] < c * sum(counts[l - 1 :])
        case ap.Theta(theta=share):
            return counts[0] / people <= share + 1e-9
        case ap.TCloseness(t=t, distance="equal"):
            domain = set(of_all)
            shares = [(values.count(v) / n, of_all.count(v) / len(of_all)) for v in domain]
            return sum(abs(p - q) for p, q in shares) / 2 <= t + 1e-9
        case ap.TCloseness(t=t):
            domain, apart, moved = sorted(set(of_all)), 0.0, 0.0
            for v in domain:
                apart += values.count(v) / n - of_all.count(v) / len(of_all)
                moved += abs(apart)
            return moved / max(len(domain) - 1, 1) <= t + 1e-9


@st.composite
def visits(draw, *, constant):
    """A table of people or of visits; if `constant`, with one value of a person's each QI."""
    m = draw(tables(min_rows=6, max_qi=2, max_sensitive=3))
    people = draw(st.lists(st.integers(0, 7), min_size=m.n, max_size=m.n) | st.none())
    frame = m.frame.assign(patient=[f"p{i}" for i in people or range(m.n)])
    if constant:
        for name in m.qi:
            frame[name] = frame.groupby("patient")[name].transform("first")
    return ap.Microdata(frame, m.qi, "s", person=people and "patient")


@settings(max_examples=80)
@given(st.lists(st.sampled_from(REQUIRED), min_size=1, max_size=3), st.integers(2, 4),
       st.sampled_from([0, 0.2]), st.data())  # fmt: skip
def test_groups_of_people_meet_what_was_required_as_pandas_reads_it(require, k, share, data):
    """Shares of people who have different quasi-identifiers are refused, hence `constant`."""
    constant = not all(principle.upward_closed for principle in require)
    m = data.draw(visits(constant=constant))
    pairs = pd.Series(zip(m.frame["patient"], m.frame["s"], strict=True), m.frame.index)
    of_all = [value for _, value in set(pairs)]
    feasible = k <= m.n_people and all(
        holds_plainly(principle, of_all, of_all, m.n_people) for principle in require
    )
    makers = {
        "mondrian": lambda: ap.generalize(m, ap.mondrian(m, k, require=require)),
        "full_domain": lambda: ap.recode(
            m, ap.full_domain(m, k, require=require, suppression=share)
        ),
    }
    if constant and holds_plainly(ap.FrequencyLDiversity(2), of_all, of_all, m.n_people):
        more = [ap.KAnonymity(k), *require]
        makers["tds"] = lambda: ap.recode(m, ap.tds(m, 2, require=more))
    way = data.draw(st.sampled_from(sorted(makers)))
    share = share if way == "full_domain" else 0
    try:
        rel = makers[way]()
    except (errors.InfeasibleError, errors.ParameterError):
        assert not feasible or (share and any(isinstance(p, ap.TCloseness) for p in require))
        return
    assert feasible or share
    published = rel.frame[m.qi].astype(str).agg("|".join, axis=1)
    classes = pairs[rel.is_published].groupby(published).agg(set)
    sizes = [len({person for person, _ in held}) for held in classes]
    for held, people in zip(classes, sizes, strict=True):
        values = [value for _, value in held]
        assert people >= k and all(holds_plainly(p, values, of_all, people) for p in require)
    audit = rel.audit().set_index("principle")
    assert audit.loc["k-anonymity", "level"] == min(sizes)
    if m.people is not None:
        assert "people" in audit.loc["k-anonymity", "meaning"]
        assert audit.loc["rows in a class", "level"] == published.value_counts().min()


def rows_failing(m, maps, principles):
    """Rows of groups that fail, counted row by row."""
    shown = [pd.Series(ids[codes]) for ids, codes in zip(maps, m.codes.T, strict=True)]
    held = [values.tolist() for _, values in m.frame["s"].groupby(shown)]
    of_all = m.frame["s"].tolist()
    return sum(
        len(values) for values in held
        if not all(holds_plainly(p, values, of_all) for p in principles)
    )  # fmt: skip


LOCAL = [principle for principle in REQUIRED if not isinstance(principle, ap.TCloseness)]


@settings(max_examples=80)
@given(
    tables(max_rows=24, max_qi=3),
    st.integers(1, 5),
    st.lists(st.sampled_from(LOCAL), max_size=2),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 1]),
)
def test_no_node_within_the_budget_is_cheaper(m, k, require, suppression):
    """Against all nodes, each with its failing classes withheld and measured by hand."""
    k = min(k, m.n)
    trees = {a.name: ap.Hierarchy.balanced(a.values, 2) for a in m.attributes}
    budget = int(suppression * m.n + 1e-9)
    costs = {}
    for levels in itertools.product(*(range(trees[name].height + 1) for name in m.qi)):
        r = ap.Recoding.from_levels(m.attributes, trees, dict(zip(m.qi, levels, strict=True)))
        out = rows_failing(m, r.maps, [ap.KAnonymity(k), *require])
        if out <= budget and out < m.n:
            r.withhold = (ap.KAnonymity(k), *require)
            rel = ap.recode(m, r)
            assert rel.withheld[0] == out
            costs[levels] = ap.measure.ncp(rel)
    call = {"hierarchies": trees, "require": require}
    if not costs:
        with pytest.raises(errors.InfeasibleError):
            ap.full_domain(m, k, **call, suppression=suppression)
        return
    r = ap.full_domain(m, k, **call, suppression=suppression)
    levels = tuple(r.info["levels"][name] for name in m.qi)
    assert r.info["ncp"] == pytest.approx(costs[levels], abs=1e-9)
    assert costs[levels] == pytest.approx(min(costs.values()), abs=1e-9)
    rel = ap.recode(m, r)
    audit = rel.audit().set_index("principle")["level"]
    assert audit.get("rows withheld", 0) == r.info.get("withheld", 0) == rel.withheld[0] <= budget
    assert rel.frame[m.qi].astype(str).value_counts().min() >= k


PATIENT = np.repeat(np.arange(30), 20)
#: 30 patients with 20 visits each, of one age: rows in plenty, and two secrets.
FRAME = pd.DataFrame(
    {
        "age": PATIENT // 10 * 10 + 20, "zip": PATIENT // 2,
        "ill": np.where(np.arange(600) % 3 == 0, "flu", PATIENT % 4),
        "drug": list("xyxzxw") * 100, "patient": PATIENT,
    }
).astype({"ill": str})  # fmt: skip
VISITS = ap.Microdata(FRAME, ["age", "zip"], "ill", person="patient")
TWO = ap.Microdata(FRAME, ["age", "zip"], ["ill", "drug"])
ONE = ap.Partition([0] * 600)
AT_20 = [ap.DiversityConstraint({"age": 20}, 3, 600)]


@pytest.mark.parametrize(
    ("m", "error", "says", "others"),
    [
        (TWO, errors.ColumnError, "one sensitive.*'drug'.: choose one", (
            lambda m: ap.tds(m, 2), lambda m: ap.diva(m, AT_20, 3, l=2))),
        (VISITS, errors.ParameterError, "600 rows belong to 30 people", (
            lambda m: ap.k_member(m, 5), lambda m: ap.oka(m, 5), lambda m: ap.diva(m, [], 5),
            lambda m: ap.preference_search(m, 5), lambda m: ap.exhaustive(m, 5),
            lambda m: ap.exact(m, 2), lambda m: ap.measure.minimality(ap.suppress(m, ONE)))),
    ],
)  # fmt: skip
def test_what_takes_rows_of_one_secret_says_so(m, error, says, others):
    p = ap.mondrian(m, 3)
    rel = ap.suppress(m, p)
    for call in (
        *(partial(f, m) for f in others), lambda: ap.tp(m, 2), lambda: ap.tp_plus(m, 2),
        lambda: ap.hilbert(m, 2), lambda: ap.optimal_two_diverse(m), lambda: ap.klt(m, 3, 2),
        lambda: ap.balanced_classes(m, 3, 2), lambda: ap.tp_steps(m, 2),
        lambda: ap.swap(m, p), lambda: ap.anatomize(m, p), lambda: ap.measure.exposure(rel),
        lambda: ap.measure.disclosure_risk(rel),
    ):  # fmt: skip
        with pytest.raises(error, match=says):
            call()


def test_several_secrets_and_visits_have_their_algorithms():
    assert ap.diva(TWO, AT_20, 3).sizes().min() >= 3
    moved = VISITS.replace(frame=FRAME.assign(zip=np.arange(600) % 7))
    for call in (lambda: ap.full_domain(moved, 2, require=[ap.Theta(0.9)]),
                 lambda: ap.tds(moved, 2)):  # fmt: skip
        with pytest.raises(errors.ParameterError, match="rows with different quasi-identifiers"):
            call()
    assert ap.mondrian(moved, 2, require=[ap.DistinctLDiversity(2)]).n_groups


def test_a_principle_names_its_attribute_and_is_written_as_it_is_read():
    everybody = np.zeros(TWO.n, int)
    counts = {name: FRAME[name].value_counts().max() / TWO.n for name in ("ill", "drug")}
    assert ap.Theta(1, of="ill").level(TWO, everybody) == pytest.approx(counts["ill"])
    assert ap.Theta(1).level(TWO, everybody) == pytest.approx(max(counts.values()))
    between = ap.Theta(sum(counts.values()) / 2)
    assert between.failing(TWO, everybody).tolist() == [0]
    for principle in [*MONOTONE, ap.Theta(0.5, of="drug"), ap.TCloseness(0.1, "ordered", of=3)]:
        assert read_principle(repr(principle)) == principle
    assert ap.Theta(0.5) != ap.Theta(0.5, of="drug")
    for text in ("Theta", "Theta()", "Theta(2)", "open('x')", "Theta(x)", "Theta(0.5).of", "", "(",
                 "KAnonymity(2, of='ill')", "Theta(**{})", 3, None, "[" * 9999):  # fmt: skip
        with pytest.raises(errors.ParameterError):
            read_principle(text)


def test_no_door_publishes_the_person(tmp_path):
    alone = ap.Microdata(FRAME.drop_duplicates("patient"), ["age"], "ill", person="patient")
    visits = ap.suppress(VISITS, ap.mondrian(VISITS, 5))
    for rel in (visits, *(of(alone, ap.mondrian(alone, 5)) for of in (ap.swap, ap.anatomize))):
        assert all("patient" not in table for table in (rel.frame, *rel.public_tables()))
        with pytest.raises(errors.ColumnError, match="never published"):
            rel.public_tables(keep=["patient"])
    with pytest.warns(UserWarning, match="several rows: an attacker who knows how many"):
        visits.write(tmp_path / "out.csv")


def test_the_person_is_somebody_and_has_no_codes():
    with pytest.raises(errors.ColumnError, match="unknown columns"):
        VISITS.replace(frame=FRAME.drop(columns="patient"))
    gap = FRAME.assign(patient=FRAME["patient"].where(FRAME.index > 0))
    for missing in ("category", "error"):
        with pytest.raises(errors.MissingValueError, match="'patient': 1"):
            ap.Microdata(gap, ["age"], person="patient", missing=missing)
    assert ap.Microdata(gap, ["age"], person="patient", missing="drop").dropped == 1
    with pytest.raises(errors.ColumnError, match="not a quasi-identifier"):
        VISITS.codes_of("patient")

"""Any monotone principle, several secrets, people instead of rows, and a budget of rows.

Each is held by plain pandas or by exhaustive search; nothing here asks an audit to judge itself.
"""

import itertools
import re
from collections import Counter
from math import exp, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.tables import tables

import anonpaper as ap
from anonpaper import errors
from anonpaper.groups import Entries, dense_labels
from anonpaper.principles import GroupCounts, read_principle, required

SLOW = settings(max_examples=40)


# -- what is monotone ------------------------------------------------------------------------

COUNTS = [c for c in itertools.product(range(4), repeat=3) if any(c)]
TABLE = np.array([9, 6, 5])  # whose distribution t-closeness compares with
MONOTONE = [
    *(ap.KAnonymity(k) for k in (1, 2, 4)),
    *(ap.DistinctLDiversity(l) for l in (1, 2, 3)),
    *(ap.FrequencyLDiversity(l) for l in (1, 1.5, 2, 3)),
    *(ap.EntropyLDiversity(l) for l in (1, 1.7, 2, 2.5)),
    *(ap.RecursiveLDiversity(c, l) for c in (0.5, 1, 2, 3) for l in (1, 2, 3)),
    *(ap.Theta(theta) for theta in (0.4, 0.5, 0.75)),
    *(ap.AlphaKAnonymity(alpha, k) for alpha in (0.5, 0.7) for k in (1, 3)),
    *(ap.TCloseness(t, way) for t in (0.1, 0.2, 0.4) for way in ("equal", "ordered")),
]


def meets(principle, groups):
    groups = GroupCounts.of_table(np.array(groups))
    return principle.satisfied(
        GroupCounts(groups.sizes, groups.start, groups.sensitive, groups.counts, TABLE)
    )


@pytest.mark.parametrize("principle", MONOTONE, ids=str)
def test_every_principle_is_kept_by_joining_any_two_small_groups(principle):
    assert principle.monotone
    good = np.array(COUNTS)[meets(principle, COUNTS)]
    joined = (good[:, None, :] + good[None, :, :]).reshape(-1, 3)
    assert not len(joined) or meets(principle, joined).all()


@pytest.mark.parametrize("principle", MONOTONE, ids=str)
def test_upward_closed_is_said_of_those_that_any_rows_may_join(principle):
    good = np.array(COUNTS)[meets(principle, COUNTS)]
    joined = (good[:, None, :] + np.array(COUNTS)[None, :, :]).reshape(-1, 3)
    if principle.upward_closed:
        assert meets(principle, joined).all()


@pytest.mark.parametrize("kind", [k for k in map(type, MONOTONE) if not k.upward_closed])
def test_the_others_are_rightly_not_called_upward_closed(kind):
    def is_broken(principle):
        good = np.array(COUNTS)[meets(principle, COUNTS)]
        joined = (good[:, None, :] + np.array(COUNTS)[None, :, :]).reshape(-1, 3)
        return len(joined) and not meets(principle, joined).all()

    assert any(is_broken(principle) for principle in MONOTONE if isinstance(principle, kind))


class FewRows(ap.principles.Principle):
    """At most five rows: what joining breaks."""

    larger_is_safer, needs_sensitive, bound = False, False, 5

    def levels(self, counts):
        return counts.sizes

    def __repr__(self):
        return "FewRows()"


@pytest.mark.parametrize("algorithm", [
    lambda m, require: ap.mondrian(m, 2, require=require),
    lambda m, require: ap.full_domain(m, 2, require=require),
    lambda m, require: ap.tds(m, 2, require=require),
])  # fmt: skip
def test_what_may_not_be_required_is_refused_with_the_reason(algorithm):
    m = ap.examples.hospital()
    with pytest.raises(errors.ParameterError, match=r"FewRows\(\).*joined"):
        algorithm(m, [FewRows()])
    with pytest.raises(errors.ParameterError, match="class Principle"):
        algorithm(m, ["t-closeness"])
    with pytest.raises(errors.ParameterError, match="sequence"):
        algorithm(m, ap.KAnonymity(2))
    with pytest.raises(errors.ColumnError, match="sensitive"):
        algorithm(m.with_roles(sensitive=None), [ap.Theta(0.5)])
    with pytest.raises(errors.ColumnError, match="'drug' is not one of"):
        algorithm(m, [ap.Theta(0.5, of="drug")])
    with pytest.raises(errors.InfeasibleError, match=r"DistinctLDiversity\(l=9\)|9-diverse"):
        algorithm(m, [ap.DistinctLDiversity(9)])


# -- any monotone principle --------------------------------------------------------------------

REQUIRED = [
    ap.EntropyLDiversity(1.8), ap.RecursiveLDiversity(3, 2), ap.TCloseness(0.35), ap.Theta(0.6),
    ap.DistinctLDiversity(2), ap.TCloseness(0.3, "ordered"), ap.AlphaKAnonymity(0.7, 3),
    ap.FrequencyLDiversity(1.5), ap.KAnonymity(4),
]  # fmt: skip


def holds_plainly(principle, values, of_all):
    """The definition of a principle on one group, read off its values."""
    counts, n = sorted(Counter(values).values(), reverse=True), len(values)
    match principle:
        case ap.KAnonymity(k=k):
            return n >= k
        case ap.DistinctLDiversity(l=l):
            return len(counts) >= l
        case ap.FrequencyLDiversity(l=l):
            return counts[0] * l <= n
        case ap.EntropyLDiversity(l=l):
            return exp(-sum(c / n * log(c / n) for c in counts)) >= l - 1e-9
        case ap.RecursiveLDiversity(c=c, l=l):
            return counts[0] < c * sum(counts[l - 1 :])
        case ap.Theta(theta=share):
            return counts[0] / n <= share + 1e-9
        case ap.AlphaKAnonymity(alpha=share, k=k):
            return n >= k and counts[0] / n <= share + 1e-9
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


def groups_plainly(rel, m, name):
    """Lists of sensitive values of the rows whose published values are equal."""
    published = rel.frame[m.qi].astype(str).agg("|".join, axis=1)
    values = m.frame[name][rel.is_published]
    return [list(group) for _, group in values.groupby(published.to_numpy())]


@SLOW
@given(tables(max_qi=2), st.lists(st.sampled_from(REQUIRED), min_size=1, max_size=3), st.data())
def test_groups_meet_what_was_required_as_pandas_reads_it(m, require, data):
    of_all = m.frame["s"].tolist()
    feasible = all(holds_plainly(p, of_all, of_all) for p in require)
    makers = {
        "mondrian": lambda: ap.generalize(m, ap.mondrian(m, 2, require=require)),
        "full_domain": lambda: ap.recode(m, ap.full_domain(m, 2, require=require)),
    }
    make = makers[data.draw(st.sampled_from(sorted(makers)))]
    if not feasible:
        with pytest.raises(errors.InfeasibleError):
            make()
        return
    groups = groups_plainly(make(), m, "s")
    assert all(holds_plainly(p, values, of_all) for values in groups for p in require)


@SLOW
@given(tables(max_qi=2, max_values=4), st.sampled_from(REQUIRED), st.integers(2, 4))
def test_mondrian_takes_the_first_cut_both_sides_of_which_meet_all(m, principle, k):
    """The batched cuts are those of l-diversity counted row by row, and no group can be cut."""
    if ap.FrequencyLDiversity(2).holds(m.sensitive_counts[m.sensitive_counts > 0]) and k <= m.n:
        counted = ap.mondrian(m, k, 2)
        batched = ap.mondrian(m, k, require=[ap.FrequencyLDiversity(2)])
        assert (counted.labels == batched.labels).all() and counted.info == batched.info
    of_all = m.frame["s"].tolist()
    if k > m.n or not holds_plainly(principle, of_all, of_all):
        return
    p = ap.mondrian(m, k, require=[principle])
    for rows in p.groups():
        for j, cut in itertools.product(range(m.d), range(4)):
            left = m.codes[rows, j] <= cut
            if not left.any() or left.all():
                continue
            median = np.sort(m.codes[rows, j])[(len(rows) - 1) // 2]
            if cut in (median, median - 1):
                sides = [m.frame["s"].iloc[rows[which]].tolist() for which in (left, ~left)]
                good = all(
                    len(side) >= k and holds_plainly(principle, side, of_all) for side in sides
                )
                assert not good


@SLOW
@given(tables(max_qi=2, max_values=5), st.sampled_from(REQUIRED), st.sampled_from([0, 0.1, 0.34]))
def test_tds_keeps_what_was_required_and_cannot_go_on(m, principle, suppression):
    of_all = m.frame["s"].tolist()
    needed = [ap.FrequencyLDiversity(2), principle]
    within = suppression and int(suppression * m.n + 1e-9)
    if (
        m.n < 2
        or not all(holds_plainly(p, of_all, of_all) for p in needed)
        or (within and isinstance(principle, ap.TCloseness))
    ):
        with pytest.raises(errors.AnonpaperError):
            ap.tds(m, 2, require=[principle], suppression=suppression)
        return
    r = ap.tds(m, 2, require=[principle], suppression=suppression)
    rel = ap.recode(m, r)
    groups = groups_plainly(rel, m, "s")
    assert all(holds_plainly(p, values, of_all) for values in groups for p in needed)
    assert m.n - sum(map(len, groups)) == r.info.get("withheld", 0) <= within
    for j, ids in enumerate(r.maps):  # every interval of a number may be cut anywhere
        for cut in range(1, len(ids)):
            if ids[cut - 1] == ids[cut]:
                finer = [*r.maps]
                finer[j] = np.where(np.arange(len(ids)) >= cut, ids + 1, ids)
                failing = rows_failing(m, finer, needed)
                assert failing > within or failing == m.n


def rows_failing(m, maps, principles):
    """Rows of groups that fail, counted row by row."""
    of_all = m.frame["s"].tolist()
    groups = {}
    for row in range(m.n):
        key = tuple(int(ids[m.codes[row, j]]) for j, ids in enumerate(maps))
        groups.setdefault(key, []).append(of_all[row])
    return sum(
        len(values)
        for values in groups.values()
        if not all(holds_plainly(p, values, of_all) for p in principles)
    )


# -- a budget of withheld rows -----------------------------------------------------------------

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
    assert min(map(len, groups_plainly(rel, m, "s"))) >= k


def test_one_person_of_990_years_does_not_push_a_column_up():
    ages = [*np.repeat([31, 32, 33, 34, 41, 42, 43, 44], 5), 990]
    m = ap.Microdata(pd.DataFrame({"age": ages}), ["age"])
    tree = {"age": ap.Hierarchy([[str(a), f"{a // 10}0s", "*"] for a in dict.fromkeys(ages)])}
    m = m.replace(frame=m.frame.astype(str))
    assert ap.full_domain(m, 5, tree).info["levels"] == {"age": 2}
    r = ap.full_domain(m, 5, tree, suppression=0.05)
    rel = ap.recode(m, r)
    assert r.info["levels"] == {"age": 0} and r.info["withheld"] == 1
    assert "990" not in rel.public_frame()["age"].tolist() and len(rel.public_frame()) == 40
    assert rel.audit().set_index("principle").loc["rows withheld", "level"] == 1
    part = m.take(np.arange(3, 41))  # in which the recoding withholds a class more
    assert ap.recode(part, r).audit()["level"].tolist() == [5, 3]


@pytest.mark.parametrize("call", [
    lambda m, s: ap.full_domain(m, 2, suppression=s), lambda m, s: ap.tds(m, 2, suppression=s)
])  # fmt: skip
def test_a_budget_is_a_share(call):
    m = ap.examples.hospital()
    for suppression in (-0.1, 1.1, "a", None, float("nan"), True):
        with pytest.raises(errors.ParameterError, match="suppression must be"):
            call(m, suppression)
    assert "withheld" not in call(m, 0.0).info and call(m, 0.05).withhold == ()
    with pytest.raises(errors.ParameterError, match="t-closeness compares"):
        ap.full_domain(m, 2, suppression=0.5, require=[ap.TCloseness(0.5)])


# -- several sensitive attributes ----------------------------------------------------------------


def two_secrets(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 28, rows), "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["flu", "hiv", "ulcer"], rows, p=[0.5, 0.3, 0.2]),
            "drug": rng.choice(["x", "y", "z", "w"], rows, p=[0.6, 0.2, 0.1, 0.1]),
        }
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_each_of_several_secrets_is_kept(seed):
    frame = two_secrets(seed=seed)
    m = ap.Microdata(frame, ["age", "sex"], ["ill", "drug"])
    one = ap.DistinctLDiversity(3, of="drug")
    releases = [
        ap.generalize(m, ap.mondrian(m, 3, 2, diversity="distinct", require=[one])),
        ap.suppress(m, ap.mondrian(m, 3, 2, diversity="distinct", require=[one])),
        ap.recode(m, ap.full_domain(m, 3, l=2, require=[one])),
        ap.recode(m, ap.full_domain(m, 3, l=2, require=[one], suppression=0.3)),
    ]
    for rel in releases:
        frame_of = rel.frame
        assert set(frame_of.columns) == set(frame.columns)
        shown = rel.is_published
        for name in ("ill", "drug"):
            assert frame_of[name].tolist() == frame[name][shown].tolist()
        groups = frame_of.groupby([frame_of["age"].astype(str), frame_of["sex"].astype(str)])
        assert groups.size().min() >= 3
        assert groups["ill"].nunique().min() >= 2 and groups["drug"].nunique().min() >= 3
        audit = rel.audit().set_index("principle")["level"]
        assert audit["distinct l-diversity of ill"] == groups["ill"].nunique().min()
        assert audit["distinct l-diversity of drug"] == groups["drug"].nunique().min()
        theta = groups["drug"].agg(lambda s: s.value_counts(normalize=True).max()).max()
        assert audit["theta of drug"] == pytest.approx(theta)
        assert set(rel.public_frame().columns) == set(frame.columns)


def test_algorithms_that_look_at_no_secret_group_as_with_one():
    frame = two_secrets()
    several = ap.Microdata(frame, ["age", "sex"], ["ill", "drug"])
    one = ap.Microdata(frame, ["age", "sex"], "ill")
    for group in (
        lambda m: ap.k_member(m, 3),
        lambda m: ap.oka(m, 3),
        lambda m: ap.mondrian(m, 3),
    ):
        assert (group(several).labels == group(one).labels).all()
    assert ap.full_domain(several, 3) == ap.full_domain(one, 3)


def test_algorithms_that_take_one_secret_say_so():
    m = ap.Microdata(two_secrets(), ["age", "sex"], ["ill", "drug"])
    p = ap.mondrian(m, 3)
    for call in (
        lambda: ap.tp(m, 2), lambda: ap.tp_plus(m, 2), lambda: ap.hilbert(m, 2),
        lambda: ap.optimal_two_diverse(m), lambda: ap.klt(m, 3, 2),
        lambda: ap.balanced_classes(m, 3, 2), lambda: ap.tds(m, 2), lambda: ap.swap(m, p),
        lambda: ap.anatomize(m, p), lambda: ap.measure.disclosure_risk(ap.suppress(m, p)),
        lambda: ap.measure.kl_divergence(ap.suppress(m, p)),
        lambda: ap.diva(m, [ap.DiversityConstraint({"sex": "f"}, 3, 30)], 3, l=2),
    ):  # fmt: skip
        with pytest.raises(
            errors.ColumnError, match=r"one sensitive.*\['ill', 'drug'\]: choose one"
        ):
            call()
    assert ap.mondrian(m.with_roles(sensitive="drug"), 3, 2, diversity="distinct").n_groups
    p = ap.diva(m, [ap.DiversityConstraint({"ill": "flu"}, 3, 60)], 3)
    assert p.sizes().min() >= 3


def test_one_label_in_a_list_is_the_label_and_none_is_none():
    frame = two_secrets()
    one = ap.Microdata(frame, ["age"], ["ill"])
    assert one.sensitive == "ill" and one.sensitives == ["ill"]
    assert ap.Microdata(frame, ["age"], []).sensitive is None
    several = ap.Microdata(frame, ["age"], pd.Index(["ill", "drug"]))
    assert several.sensitive == ["ill", "drug"] and several.codes_of("drug").shape == (60,)
    assert several.cells.counts.sum() == 60 and several.cells.secrets.shape[1] == 2
    assert several.about("drug").cells.counts.sum() == 60


def test_a_principle_names_its_attribute_and_is_written_as_it_is_read():
    m = ap.Microdata(two_secrets(), ["age"], ["ill", "drug"])
    everybody = np.zeros(m.n, int)
    counts = {name: m.frame[name].value_counts().max() / m.n for name in ("ill", "drug")}
    assert ap.Theta(1, of="ill").level(m, everybody) == pytest.approx(counts["ill"])
    assert ap.Theta(1).level(m, everybody) == pytest.approx(max(counts.values()))
    between = ap.Theta(sum(counts.values()) / 2)
    assert between.failing(m, everybody).tolist() == [0]
    for principle in [*MONOTONE, ap.Theta(0.5, of="drug"), ap.TCloseness(0.1, "ordered", of=3)]:
        assert read_principle(repr(principle)) == principle
    assert repr(ap.Theta(0.5)) == "Theta(theta=0.5)"
    assert ap.Theta(0.5) != ap.Theta(0.5, of="drug")
    for text in ("Theta", "Theta()", "Theta(2)", "open('x')", "Theta(x)", "Theta(0.5).of", "", "(",
                 "KAnonymity(2, of='ill')", "Theta(**{})", 3, None, "[" * 9999):  # fmt: skip
        with pytest.raises(errors.ParameterError):
            read_principle(text)


def test_every_public_principle_can_be_read_and_nothing_else():
    every = ap.principles.Principle
    named = {name: getattr(ap.principles, name) for name in ap.principles.__all__}
    kinds = {name: kind for name, kind in named.items() if isinstance(kind, type)}
    public = {name for name, kind in kinds.items() if issubclass(kind, every) and kind != every}
    with pytest.raises(errors.ParameterError) as refused:
        read_principle("none")
    assert set(str(refused.value).partition("one of ")[2].split(", ")) == public


# -- people, not rows --------------------------------------------------------------------------


@st.composite
def visits(draw, *, constant):
    """A table of visits; with `constant`, a person's quasi-identifiers are always the same."""
    m = draw(tables(min_rows=6, max_qi=2, max_sensitive=3))
    people = draw(st.lists(st.integers(0, 7), min_size=m.n, max_size=m.n))
    frame = m.frame.assign(patient=[f"p{i}" for i in people])
    if constant:
        for name in m.qi:
            frame[name] = frame.groupby("patient")[name].transform("first")
    return ap.Microdata(frame, m.qi, "s", person="patient")


def people_plainly(rel, m):
    """For every class of equal published rows, the set of pairs of a person and a value."""
    published = rel.frame[m.qi].astype(str).agg("|".join, axis=1).to_numpy()
    source = m.frame[rel.is_published].assign(published=published)
    return [
        set(zip(group["patient"], group["s"], strict=True))
        for _, group in source.groupby("published")
    ]


@SLOW
@given(visits(constant=False), st.integers(2, 4), st.sampled_from(["mondrian", "full", "budget"]))
def test_k_and_distinct_l_are_of_people(m, k, how):
    people = m.frame["patient"].nunique()
    assert m.n_people == people
    require = [ap.DistinctLDiversity(2)]
    if k > people or m.frame["s"].nunique() < 2:
        with pytest.raises(errors.AnonpaperError):
            ap.mondrian(m, k, require=require)
        return
    rel = {
        "mondrian": lambda: ap.generalize(m, ap.mondrian(m, k, require=require)),
        "full": lambda: ap.recode(m, ap.full_domain(m, k, require=require)),
        "budget": lambda: ap.recode(m, ap.full_domain(m, k, require=require, suppression=0.2)),
    }[how]()
    classes = people_plainly(rel, m)
    sizes = [len({person for person, _ in pairs}) for pairs in classes]
    assert min(sizes) >= k
    assert min(len({value for _, value in pairs}) for pairs in classes) >= 2
    audit = rel.audit().set_index("principle")
    assert audit.loc["k-anonymity", "level"] == min(sizes)
    if m.people is not None:
        assert "people" in audit.loc["k-anonymity", "meaning"]
        rows = rel.frame.groupby([rel.frame[name].astype(str) for name in m.qi]).size().min()
        assert audit.loc["rows in a class", "level"] == rows >= min(sizes)


@SLOW
@given(visits(constant=True), st.integers(2, 3), st.sampled_from(["frequency", "entropy", "t"]))
def test_shares_are_of_people_where_everybody_has_one_tuple(m, k, how):
    require = {
        "frequency": ap.FrequencyLDiversity(1.5), "entropy": ap.EntropyLDiversity(1.5),
        "t": ap.TCloseness(0.5),
    }[how]  # fmt: skip
    for make in (
        lambda: ap.generalize(m, ap.mondrian(m, k, require=[require])),
        lambda: ap.recode(m, ap.full_domain(m, k, require=[require])),
    ):
        try:
            rel = make()
        except (errors.InfeasibleError, errors.ParameterError):
            assert k > m.n_people or not require.holds(m, np.zeros(m.n, int))
            continue
        of_all = Counter(value for pairs in people_plainly(rel, m) for _, value in pairs)
        for pairs in people_plainly(rel, m):
            held, people = Counter(value for _, value in pairs), len({p for p, _ in pairs})
            share = [n / len(pairs) for n in held.values()]
            assert people >= k
            if how == "frequency":
                assert max(held.values()) * 1.5 <= people + 1e-9
            elif how == "entropy":
                assert exp(-sum(p * log(p) for p in share)) >= 1.5 - 1e-9
            else:
                apart = [abs(held[v] / len(pairs) - n / of_all.total()) for v, n in of_all.items()]
                assert sum(apart) / 2 <= 0.5 + 1e-9


@SLOW
@given(visits(constant=True), st.integers(1, 5))
def test_full_domain_is_optimal_for_people(m, k):
    trees = {a.name: ap.Hierarchy.balanced(a.values, 2) for a in m.attributes}
    costs = []
    for levels in itertools.product(*(range(trees[name].height + 1) for name in m.qi)):
        r = ap.Recoding.from_levels(m.attributes, trees, dict(zip(m.qi, levels, strict=True)))
        rel = ap.recode(m, r)
        if min(len({p for p, _ in pairs}) for pairs in people_plainly(rel, m)) >= k:
            costs.append(ap.measure.ncp(rel))
    if k > m.n_people:
        return
    assert ap.full_domain(m, k, trees).info["ncp"] == pytest.approx(min(costs), abs=1e-9)


@SLOW
@given(visits(constant=True), st.sampled_from([0, 0.2]))
def test_tds_is_diverse_in_people_and_cannot_go_on(m, suppression):
    def is_diverse(pairs):
        counts = Counter(value for _, value in pairs)
        return 2 * max(counts.values()) <= len({person for person, _ in pairs})

    everybody = set(zip(m.frame["patient"], m.frame["s"], strict=True))
    if m.n_people < 2 or not is_diverse(everybody):
        with pytest.raises(errors.AnonpaperError):
            ap.tds(m, 2)
        return
    r = ap.tds(m, 2, suppression=suppression)
    rel, most = ap.recode(m, r), int(suppression * m.n + 1e-9)
    assert all(map(is_diverse, people_plainly(rel, m)))
    assert rel.withheld[0] == r.info.get("withheld", 0) <= most
    for j, ids in enumerate(r.maps):
        for cut in np.flatnonzero(np.diff(ids) == 0) + 1:
            finer = np.where(np.arange(len(ids)) >= cut, ids + 1, ids)
            finer = ap.Recoding(m.attributes, [*r.maps[:j], finer, *r.maps[j + 1 :]])
            rows = ap.recode(m, finer).frame[m.qi].astype(str).agg("|".join, axis=1)
            failing = sum(
                len(group)
                for _, group in m.frame.groupby(rows.to_numpy())
                if not is_diverse(set(zip(group["patient"], group["s"], strict=True)))
            )
            assert failing > most or failing == m.n


def test_tds_of_visits_that_are_all_alike_is_that_of_people():
    m = ap.Microdata(hospital_of_visits().drop_duplicates("patient"), ["age", "zip"], "ill")
    again = pd.concat([m.frame] * 3, ignore_index=True)
    thrice = m.replace(frame=again, person="patient")
    assert ap.tds(thrice, 2) == ap.tds(m, 2)
    by_rows = ap.tds(thrice.replace(person=None), 3)
    assert ap.tds(thrice, 3) == by_rows and thrice.n_people == 30
    assert ap.measure.average_class_size(ap.recode(thrice, by_rows)) * 3 == pytest.approx(
        ap.measure.average_class_size(ap.recode(thrice.replace(person=None), by_rows))
    )


@SLOW
@given(visits(constant=False), st.data())
def test_what_is_said_of_classes_and_of_the_withheld_is_of_people(m, data):
    labels = data.draw(st.lists(st.integers(-1, 2), min_size=m.n, max_size=m.n))
    p = ap.Partition(dense_labels(np.array(labels)))
    rel = ap.suppress(m, p)
    left = m.frame[~rel.is_published]
    rows, share = rel.withheld
    assert rows == len(left)
    if rows:
        having = left.groupby("s")["patient"].nunique()
        assert share == pytest.approx(having.max() / left["patient"].nunique())
    if rel.is_published.any():
        classes = rel.frame[m.qi].astype(str).agg("|".join, axis=1).to_numpy()
        shown = m.frame[rel.is_published]
        sizes = shown.groupby(classes)["patient"].nunique()
        assert ap.measure.average_class_size(rel) == pytest.approx(sizes.mean())
        squares = (shown.groupby(classes).size() ** 2).sum()
        assert ap.measure.discernibility(rel) == squares + rows * m.n


@SLOW
@given(visits(constant=False))
def test_counts_of_tuples_are_those_of_rows(m):
    group = np.arange(len(m.cells)) // 2
    by_tuples = GroupCounts.of(Entries.of_cells(m, group[m.cells.tuple_of_cell]), "s")
    by_rows = GroupCounts.of(Entries.of_rows(m, group[m.cells.tuple_of_row]), "s")
    assert (by_tuples.sizes == by_rows.sizes).all()
    assert (by_tuples.start == by_rows.start).all()
    assert (by_tuples.sensitive == by_rows.sensitive).all()
    plain = m.frame.assign(g=group[m.cells.tuple_of_row]).groupby("g")["patient"].nunique()
    assert by_rows.sizes.tolist() == plain.tolist()
    assert (by_tuples.counts == by_rows.counts).all()


def hospital_of_visits():
    """30 patients with 20 visits each, of one age: rows in plenty."""
    patient = np.repeat(np.arange(30), 20)
    return pd.DataFrame(
        {
            "age": patient // 10 * 10 + 20, "zip": patient // 2,
            "ill": np.where(np.arange(600) % 3 == 0, "flu", patient % 4), "patient": patient,
        }
    ).astype({"ill": str})  # fmt: skip


def test_rows_in_plenty_are_not_people():
    frame = hospital_of_visits()
    rows = ap.Microdata(frame, ["age", "zip"], "ill")
    m = rows.replace(person="patient")
    assert ap.mondrian(rows, 20).sizes().min() >= 20
    by_rows = ap.mondrian(rows, 20)
    assert frame.groupby(by_rows.labels)["patient"].nunique().min() < 20
    p = ap.mondrian(m, 15)
    assert frame.groupby(p.labels)["patient"].nunique().min() >= 15
    with pytest.raises(errors.ParameterError, match="k must be an integer from 2 to 30"):
        ap.mondrian(m, 31)
    with pytest.raises(errors.ParameterError, match="k must be an integer from 1 to 30"):
        ap.full_domain(m, 31)


def test_what_counts_rows_refuses_people_with_the_reason():
    m = ap.Microdata(hospital_of_visits(), ["age", "zip"], "ill", person="patient")
    p = ap.mondrian(m, 5)
    rel = ap.generalize(m, p)
    calls = [
        lambda: ap.tp(m, 2), lambda: ap.hilbert(m, 2), lambda: ap.k_member(m, 5),
        lambda: ap.oka(m, 5), lambda: ap.klt(m, 5, 2), lambda: ap.balanced_classes(m, 5, 2),
        lambda: ap.diva(m, [], 5), lambda: ap.preference_search(m, 5),
        lambda: ap.exhaustive(m, 5), lambda: ap.exact(m, 2),
        lambda: ap.optimal_two_diverse(m), lambda: ap.swap(m, p), lambda: ap.anatomize(m, p),
        lambda: ap.measure.minimality(rel), lambda: ap.measure.disclosure_risk(rel),
        lambda: ap.measure.exposure(rel), lambda: ap.tp_plus(m, 2), lambda: ap.tp_steps(m, 2),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(errors.ParameterError, match="600 rows belong to 30 people"):
            call()
    moved = m.replace(frame=m.frame.assign(zip=np.arange(600) % 7))
    with pytest.raises(errors.ParameterError, match="rows with different quasi-identifiers"):
        ap.full_domain(moved, 2, require=[ap.Theta(0.9)])
    with pytest.raises(errors.ParameterError, match="rows with different quasi-identifiers"):
        ap.tds(moved, 2)
    assert ap.mondrian(moved, 2, require=[ap.DistinctLDiversity(2)]).n_groups


def test_frequency_l_of_people_in_several_groups_is_not_monotone():
    """Two groups of the same two people, each 2-diverse; joined, everybody has everything."""
    frame = pd.DataFrame({"q": [0, 0, 1, 1], "who": list("abab"), "s": list("xyyx")})
    m = ap.Microdata(frame, ["q"], "s", person="who")
    principle = ap.FrequencyLDiversity(2)
    assert principle.holds(m, [0, 0, 1, 1]) and not principle.holds(m, [0, 0, 0, 0])


def test_one_row_each_is_as_without_a_person():
    frame = two_secrets().assign(name=np.arange(60))
    rows, m = (ap.Microdata(frame, ["age", "sex"], "ill", person=p) for p in (None, "name"))
    assert m.people is None and m.n_people == 60
    for make in (lambda m: ap.tp(m, 2), lambda m: ap.mondrian(m, 3), lambda m: ap.oka(m, 3)):
        assert (make(m).labels == make(rows).labels).all()


def test_no_door_publishes_the_person(tmp_path):
    frame = hospital_of_visits()
    m = ap.Microdata(frame, ["age", "zip"], "ill", person="patient")
    for rel in (ap.suppress(m, ap.mondrian(m, 5)), ap.recode(m, ap.full_domain(m, 5))):
        assert "patient" not in rel.frame and "patient" not in rel.public_frame()
        assert all("patient" not in table for table in rel.public_tables())
        with pytest.raises(errors.ColumnError, match="never published"):
            rel.public_tables(keep=["patient"])
        with pytest.warns(UserWarning, match="several rows: an attacker who knows how many"):
            [path] = rel.write(tmp_path / "out.csv")
        assert "patient" not in path.read_text()
        assert "patient" not in rel._repr_html_().replace("patient</", "")
    alone = ap.Microdata(frame.drop_duplicates("patient"), ["age"], "ill", person="patient")
    for rel in (ap.swap(alone, ap.mondrian(alone, 5)), ap.anatomize(alone, ap.mondrian(alone, 5))):
        assert all("patient" not in table for table in rel.public_tables())
        with pytest.raises(errors.ColumnError, match="never published"):
            rel.public_tables(keep=["patient"])


def test_the_person_is_carried_and_cannot_be_missing():
    frame = hospital_of_visits()
    m = ap.Microdata(frame, ["age", "zip"], "ill", person="patient")
    assert m.take(np.arange(40)).n_people == 2 and m.sample(50, 0).person == "patient"
    assert m.replace(frame=frame.iloc[:60]).n_people == 3
    assert m.with_roles(qi=["age"]).n_people == 30 and m.with_roles(person=None).n_people == 600
    assert m.with_codes({"age": 0 * m.codes_of("age")}).n_people == 30
    assert ap.in_preorder(ap.granularize(m, {"age": 10}), {}).n_people == 30
    fused = ap.synthesis.fuse(m, frame.head(5))
    assert fused.n_people == 35 and fused.synthetic.sum() == 5
    with pytest.raises(errors.ColumnError, match="unknown columns"):
        m.replace(frame=frame.drop(columns="patient"))
    assert "person='patient'" in repr(m) and "30 people" in m._repr_html_()
    gap = frame.astype({"patient": object})
    gap.loc[0, "patient"] = None
    for missing in ("category", "error"):
        with pytest.raises(errors.MissingValueError, match="'patient': 1"):
            ap.Microdata(gap, ["age"], person="patient", missing=missing)
    assert ap.Microdata(gap, ["age"], person="patient", missing="drop").dropped == 1
    with pytest.raises(errors.ColumnError, match="not a quasi-identifier"):
        m.codes_of("patient")


def test_the_key_of_a_grid_knows_the_marks():
    from anonpaper.compendium.grids import _fingerprint

    frame = hospital_of_visits().assign(age2=1)
    made = [
        ap.Microdata(frame, ["age", "zip"], *sensitive, person=person)
        for sensitive in ([], ["ill"], [["ill", "age2"]])
        for person in (None, "patient")
    ]
    assert len({_fingerprint({"m": m}) for m in made}) == len(made) == 6


def test_required_lists_each_attribute_once():
    m = ap.Microdata(two_secrets(), ["age"], ["ill", "drug"])
    asked = required(m, [ap.KAnonymity(2), ap.Theta(0.9), ap.Theta(0.8, of="drug")])
    assert [(name, len(p)) for name, p in asked.items()] == [(None, 1), ("ill", 1), ("drug", 2)]


@pytest.mark.parametrize("seed", range(60))
def test_no_label_names_a_value_that_only_withheld_rows_have(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 20))
    frame = pd.DataFrame({
        "age": rng.choice([20, 21, 22, 40, 41, 997], n, p=[0.2, 0.2, 0.2, 0.15, 0.15, 0.1]),
        "job": rng.choice(["clerk", "nurse", "bishop"], n, p=[0.45, 0.45, 0.1]),
        "ill": rng.choice(list("ab"), n),
    })  # fmt: skip
    m = ap.Microdata(frame, ["age", "job"], "ill")
    try:
        rel = ap.recode(m, ap.full_domain(m, k=3, suppression=0.3))
    except ap.errors.InfeasibleError:
        return
    shown = rel.is_published
    for name in m.qi:
        hidden = {str(v) for v in set(frame[name][~shown]) - set(frame[name][shown])}
        words = re.findall(r"[a-z]+|\d+", " ".join(map(str, rel.public_frame()[name].unique())))
        assert not hidden & set(words)
    sub_domains, entries = [a.sub_domains for a in rel.published], rel.entries.of_row[shown]
    assert all(
        sub_domains[j].contains(rel.published[j].index[entries], m.codes[shown, j]).all()
        for j in range(m.d)
    ), "every published row lies in what is published of it"


def test_an_outlier_that_is_withheld_is_in_no_interval():
    frame = pd.DataFrame(
        {
            "age": [20, 21, 22, 23, 60, 61, 62, 997],
            "sex": list("fffffffx"),
            "ill": list("abcdabch"),
        }
    )
    m = ap.Microdata(frame, ["age", "sex"], "ill")
    rel = ap.recode(m, ap.full_domain(m, k=3, suppression=0.13))
    assert rel.withheld[0] == 1
    assert set(rel.public_frame()["age"]) == {"[20 - 23]", "[60 - 62]"}

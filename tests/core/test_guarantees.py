"""What the algorithms promise, on tables that nobody chose: `make fuzz` draws 10,000 for each."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycanon import anonymity
from referees.rows import fewest_stars, fewest_suppressed_rows
from referees.tables import eligible_tables, tables, tried

import anonpaper as ap
from anonpaper.partition.hilbert import hilbert_index

FREQUENCY_DIVERSE = {f.__name__: f for f in (ap.tp, ap.tp_plus, ap.tp_refined, ap.hilbert)}


def stars(m, p):
    """Counted from the table itself: the rows of a group times the QI on which they differ."""
    groups = m.frame[m.qi].groupby(p.labels)
    return int(((groups.nunique() > 1).sum(axis=1) * groups.size()).sum())


@settings(max_examples=tried(60), deadline=None)
@given(eligible_tables(max_rows=7))
def test_what_tp_removes_the_bounds_and_the_optimum_stand_in_their_order(case):
    m, l = case
    p = ap.tp(m, l)
    removed, phase = p.info["residue_size"], p.info["phase"]
    fewest = fewest_suppressed_rows(m.codes.tolist(), m.sensitive_codes, l)
    assert p.info["lower_bound"] <= fewest <= removed <= l * fewest
    assert ap.exact(m, l, "rows").info["cost"] == fewest
    assert removed <= fewest + {1: 0, 2: l - 1, 3: m.n}[phase]
    assert phase < 3 or l > 2
    optimum = fewest_stars(m.codes.tolist(), m.sensitive_codes, l)
    assert ap.measure.fewest_stars(m, l=l) <= optimum == stars(m, ap.exact(m, l))
    found = {name: stars(m, algorithm(m, l)) for name, algorithm in FREQUENCY_DIVERSE.items()}
    assert optimum <= min(found.values())
    assert found["tp_refined"] <= found["tp_plus"] <= found["tp"]
    assert found["tp"] <= l * len(m.qi) * optimum


@settings(max_examples=tried(60), deadline=None)
@given(tables(max_rows=9), st.integers(2, 3))
def test_no_bound_is_above_the_fewest_stars_of_anonymous_groups(m, k):
    """With a secret of its own for every row, l-diversity is k-anonymity."""
    k = min(k, m.n)
    people = ap.Microdata(m.frame[m.qi].assign(s=range(m.n)), m.qi, "s")
    bound = ap.measure.fewest_stars(m, k=k)
    assert bound <= ap.exact(people, k).info["cost"]
    assert bound == ap.measure.fewest_stars(people, l=k)


@settings(max_examples=tried(30), deadline=None)
@given(tables(min_rows=10, max_rows=10), st.permutations("xxxxxyyyyy"))
def test_the_matching_is_as_good_as_exhaustive_search(m, secrets):
    m = m.replace(frame=m.frame.assign(s=secrets))
    assert ap.optimal_two_diverse(m).info["stars"] == ap.exact(m, 2).info["cost"]


@pytest.mark.parametrize("name", FREQUENCY_DIVERSE)
@settings(max_examples=60)
@given(eligible_tables())
def test_every_published_group_is_diverse_and_no_row_is_lost(name, case):
    m, l = case
    p = FREQUENCY_DIVERSE[name](m, l)
    rel = ap.suppress(m, p)
    assert p.labels.min() == 0 and len(rel.frame) == m.n
    assert rel.frame["s"].tolist() == m.frame["s"].tolist()
    assert ((rel.frame[m.qi] == m.frame[m.qi]) | (rel.frame[m.qi] == "*")).all(axis=None)
    # The referee sees the groups, two of which may look alike, and the published rows.
    seen = rel.frame.astype(str).reset_index(drop=True).assign(group=p.labels.astype(str))
    for by in (["group"], m.qi):
        assert anonymity.alpha_k_anonymity(seen, by, ["s"])[0] <= 1 / l + 1e-12


@settings(max_examples=40)
@given(eligible_tables())
def test_the_steps_lead_from_the_microdata_to_the_result(case):
    m, l = case
    steps, p = ap.tp_steps(m, l), ap.tp(m, l)
    names = steps.index.get_level_values("step").unique().tolist()
    assert names == ["microdata", "phase 1", "phase 2", "phase 3"][: p.info["phase"] + 1]
    assert steps.groupby(level="step").sum().nunique().eq(1).all()  # no row appears or is lost
    residue = m.sensitive_codes[p.labels == p.n_groups - 1] if p.info["residue_size"] else []
    expected = np.bincount(residue, minlength=m.sensitive_attribute.size).astype(int)
    assert steps.loc[(names[-1], "R")].tolist() == expected.tolist()


def assert_sound(m, l, p):
    """TP+ has no fewer stars, and these are those counted from the table itself."""
    plus = ap.measure.stars(ap.suppress(m, ap.tp_plus(m, l)))
    assert stars(m, p) == p.info["stars"] <= plus == p.info["stars_of_tp_plus"]
    assert ap.FrequencyLDiversity(l).holds(m, p.labels)
    return p.info["stars"]


def wide_table(seed, rows=400, d=6, values=8):
    rng = np.random.default_rng(seed)
    # frequent and rare values, so that rows agree on some attributes and not on others
    codes = np.minimum(rng.geometric(0.4, (rows, d)), 6)
    secret = np.minimum(rng.geometric(0.25, rows), values)
    frame = pd.DataFrame(codes, columns=[f"q{j}" for j in range(d)]).assign(s=secret)
    return ap.Microdata(frame, list(frame)[:-1], "s")


@pytest.mark.parametrize("seed", range(4))
def test_stars_are_saved_where_rows_differ_on_many_attributes(seed):
    m = wide_table(seed)
    found = assert_sound(m, 3, p := ap.tp_refined(m, 3, seed=seed))
    assert found < 0.9 * p.info["stars_of_tp_plus"]
    again, other = (ap.tp_refined(m, 3, seed=s) for s in (seed, np.random.default_rng(9)))
    assert p.labels.tolist() == again.labels.tolist() != other.labels.tolist()


def test_a_limit_of_time_is_kept_and_the_start_is_never_lost(monkeypatch):
    clock = SimpleNamespace(monotonic=itertools.count().__next__)  # a second at each look
    monkeypatch.setattr("anonpaper.partition.refined.time", clock)
    m = wide_table(0)
    at_once, later = ap.tp_refined(m, 3, seconds=0), ap.tp_refined(m, 3, seconds=4)
    assert [run.info["search_rounds"] for run in (at_once, later)] == [0, 3]
    assert assert_sound(m, 3, later) <= assert_sound(m, 3, at_once)
    # where no star is saved any more, it ends however long it may take
    assert ap.tp_refined(ap.examples.hospital(), 2, seconds=np.inf).info["stars"] == 6


@pytest.mark.parametrize(("d", "bits"), [(1, 4), (2, 1), (2, 4), (3, 3), (4, 2), (5, 1)])
def test_the_curve_visits_every_place_once_in_steps_of_one(d, bits):
    grid = np.array(list(itertools.product(range(2**bits), repeat=d)))
    index = hilbert_index(grid, bits)
    assert sorted(index.tolist()) == list(range(len(grid)))
    steps = np.abs(np.diff(grid[np.argsort(index)], axis=0)).sum(axis=1)
    assert (steps == 1).all()


@settings(max_examples=60)
@given(eligible_tables())
def test_every_choice_follows_the_rule(case):
    """Replay the grouping with lists: mandatory values first, then the nearest on the curve."""
    m, l = case
    bits = max(int(max(a.size for a in m.attributes) - 1).bit_length(), 1)
    scaled = m.codes * 2**bits // np.array([a.size for a in m.attributes])
    place = hilbert_index(scaled, bits)
    tuple_of_row = m.cells.tuple_of_row
    order = sorted(range(m.n), key=lambda i: (place[i], tuple_of_row[i], i))
    queues = {}
    for i in order:
        queues.setdefault(m.sensitive_codes[i], []).append(i)
    rank = {i: (place[i], tuple_of_row[i]) for i in order}
    expected = []
    while any(queues.values()):
        left = sum(map(len, queues.values()))
        group = [v for v, queue in queues.items() if len(queue) == left // l]
        others = [v for v, queue in queues.items() if queue and v not in group]
        others.sort(key=lambda v: (rank[queues[v][0]], v))
        group += others[: max(0, l - len(group))]
        expected.append({queues[v].pop(0) for v in group})
    assert [set(rows.tolist()) for rows in ap.hilbert(m, l).groups()] == expected


@pytest.mark.parametrize(("d", "size"), [(8, 300), (5, 20_000), (40, 4), (70, 3)])
def test_wide_tables_and_large_domains_are_grouped_at_a_coarser_resolution(d, size):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, size, (200, d)), columns=[f"q{j}" for j in range(d)])
    frame["s"] = np.arange(200) % 5
    m = ap.Microdata(frame, list(frame.columns[:-1]), "s")
    p = ap.hilbert(m, 4)
    assert ap.FrequencyLDiversity(4).holds(m, p.labels)
    assert p.info["bits"] * min(d, 64) <= 64

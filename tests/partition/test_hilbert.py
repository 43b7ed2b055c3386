import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from referees.tables import eligible_tables

import anonpaper as ap
from anonpaper.partition.hilbert import hilbert_index


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

"""What notebooks/beyond/does_optimality_leak measures, against brute force over all people."""

from collections import Counter, defaultdict
from itertools import permutations

import beyond_leak as leak
import numpy as np
import pandas as pd
import pytest

import anonpaper as ap

L = 2
METHODS = leak.METHODS | {
    f"stop {share}": lambda m, l, share=share: leak.refined_stops(m, l, [share])[0]
    for share in (0, 0.25, 1)
}


def _small(seed: int, counts=(3, 2, 1), sizes=(3, 2, 3)) -> leak.Small:
    """Return a register of a random table."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"q{j}": rng.integers(0, size, 40) for j, size in enumerate(sizes)})
    frame["s"] = rng.choice(list("abc"), 40)
    return leak.small_table(ap.Microdata(frame, ["q0", "q1", "q2"], "s"), counts, seed)


def _release(small, secrets, method):
    """Return what is published of secrets (one per person) as a sorted tuple of texts."""
    order = np.lexsort([secrets, small.m.cells.tuple_of_row])
    m = small.m.with_codes({small.m.sensitive: small.values[np.array(secrets)[order]]})
    return tuple(sorted(map(tuple, ap.suppress(m, method(m, L)).frame.astype(str).to_numpy())))


@pytest.mark.parametrize("name", METHODS)
def test_the_posterior_is_that_of_brute_force(name):
    small = _small(0)
    channel = leak.by_labels(small, leak.all_labels(small, lambda m: [METHODS[name](m, L)])[0])
    fits = defaultdict(list)  # all secrets (one per person) that lead to a release
    for secrets in set(permutations(small.tables[0].tolist())):
        fits[_release(small, secrets, METHODS[name])].append(secrets)
    right = sure = asked = 0
    for tables in fits.values():
        for values in map(Counter, zip(*tables, strict=True)):
            right += max(values.values())
            sure += values.total() * (len(values) == 1)
            asked += values.total()
    found = leak.recovered(small, channel, channel)
    assert (found["right"], found["sure"]) == pytest.approx((right / asked, sure / asked))


def test_who_draws_among_all_groupings_gives_no_advantage():
    small = _small(1)
    every, _ = leak.diverse_groupings(small, L)
    found = leak.recovered(small, leak.drawn(every, np.ones(len(every.key))), every)
    assert found["right"] == pytest.approx(found["counted"])


def test_stops_lead_from_tp_plus_to_tp_refined():
    m = ap.load("adult", sensitive="occupation").sample(40, 0)
    at = [ap.suppress(m, p) for p in leak.refined_stops(m, 2)]
    stars = [ap.measure.stars(rel) for rel in at]
    assert stars == sorted(stars, reverse=True) and len(set(stars)) > 2
    assert stars[0] == ap.measure.stars(ap.suppress(m, ap.tp_plus(m, 2)))
    assert stars[-1] == ap.tp_refined(m, 2, seconds=0).info["stars"]
    assert not any(ap.measure.undiverse_rows(rel, 2) for rel in at)

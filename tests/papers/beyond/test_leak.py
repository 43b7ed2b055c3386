"""What notebooks/beyond/does_optimality_leak measures, against brute force over all people."""

from collections import Counter, defaultdict
from functools import partial
from itertools import permutations

import beyond_leak as leak
import numpy as np
import pandas as pd
import pytest

import anonpaper as ap

L = 2
METHODS = {
    **{name: leak.METHODS[name] for name in ("TP", "Hilbert", "Mondrian", "K,L,θ", "exact")},
    **{f"stop {share}": lambda m, l, share=share: leak.refined_stops(m, l, [share])[0]
       for share in (0, 0.25, 1)},
}  # fmt: skip


def _small(seed: int, counts=(3, 2, 2), sizes=(3, 2, 3)) -> leak.Small:
    """Return a register of a random table; (2, 2) is one in which values can be renamed."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"q{j}": rng.integers(0, size, 40) for j, size in enumerate(sizes)})
    frame["s"] = rng.choice(list("abc"[: len(counts)]), 40)
    m = ap.Microdata(frame, [f"q{j}" for j in range(len(sizes))], "s")
    return leak.small_table(m, counts, seed)


def _labels(small, method):
    return leak._all_labels(small, lambda m: [method(m, L)])[0]


def _release(small, secrets, method):
    """Return what is published of secrets (one per person) as a sorted tuple of texts."""
    order = np.lexsort([secrets, small.m.cells.tuple_of_row])
    codes = {small.m.sensitive: small.values[np.array(secrets)[order]]}
    m = small.m.with_codes(codes)
    frame = ap.suppress(m, method(m, L)).frame
    return tuple(sorted(map(tuple, frame.astype(str).to_numpy())))


def _tables_that_fit(small, method):
    """Return all secrets (one per person) that lead to each release."""
    fits = defaultdict(list)
    for secrets in set(permutations(small.tables[0].tolist())):
        fits[_release(small, secrets, method)].append(secrets)
    return fits.values()


def _brute_force(fits, n, knows):
    """Return right and sure by listing who has which value in all tables that fit a release."""
    right = sure = asked = 0
    for tables in fits:
        for known, who in (
            permutations(range(n), 2) if knows else zip([None] * n, range(n), strict=True)
        ):
            by_known = defaultdict(Counter)
            for secrets in tables:
                by_known[None if known is None else secrets[known]][secrets[who]] += 1
            for seen in by_known.values():
                right += max(seen.values())
                sure += seen.total() * (len(seen) == 1)
                asked += seen.total()
    return right / asked, sure / asked


@pytest.mark.parametrize("name", METHODS)
def test_the_posterior_is_that_of_brute_force(name):
    small = _small(0, counts=(3, 2, 1))
    channel = leak.by_labels(small, _labels(small, METHODS[name]))
    fits = _tables_that_fit(small, METHODS[name])
    for knows in (0, 1):
        found = leak.recovered(small, channel, channel, knows)
        of_brute_force = _brute_force(fits, len(small.codes), knows)
        assert (found["right"], found["sure"]) == pytest.approx(of_brute_force)


def test_counting_by_buckets_is_counting_all_groupings():
    for seed in range(2):
        small = _small(seed, counts=(3, 2, 1))
        every, _ = leak.diverse_groupings(small, L)
        for method in METHODS.values():
            labels = _labels(small, method)
            channel = leak.by_labels(small, labels)
            by_all = leak.recovered(small, channel, every)
            ways = partial(leak._kept_ways, {}, small, channel.key, labels)
            assert leak.recovered(small, channel, ways) == pytest.approx(by_all)


def test_stops_lead_from_tp_plus_to_tp_refined():
    m = ap.load("adult", sensitive="occupation").sample(40, 0)
    at = [ap.suppress(m, p) for p in leak.refined_stops(m, 2)]
    stars = [ap.measure.stars(rel) for rel in at]
    assert stars == sorted(stars, reverse=True) and len(set(stars)) > 2
    assert stars[0] == ap.measure.stars(ap.suppress(m, ap.tp_plus(m, 2)))
    assert stars[-1] == ap.tp_refined(m, 2, seconds=0).info["stars"]
    assert not any(ap.measure.undiverse_rows(rel, 2) for rel in at)

"""Every measure that reads sub-domains against the same measure on plain masks."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees import masks as referee

import anonpaper as ap
from anonpaper.groups import dense_labels


@st.composite
def releases(draw):
    """A table of columns of every kind, published in some way, and its masks."""
    n, seed = draw(st.integers(2, 25)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    columns = {}
    for name, kind in enumerate(draw(st.lists(st.sampled_from("nfuoc"), min_size=1, max_size=3))):
        codes = rng.integers(0, draw(st.integers(1, 7)), n)
        words = [f"v{code}" for code in codes]
        domain = [f"v{code}" for code in range(8)]
        columns[str(name)] = {
            "n": codes * 3,
            "f": codes * 0.7,
            "u": words,
            "o": pd.Categorical(words, domain, ordered=True),
            "c": pd.Categorical(words, domain),
        }[kind]
    m = ap.Microdata(pd.DataFrame(columns | {"s": rng.integers(0, 3, n)}), list(columns), "s")
    method = draw(st.sampled_from(["suppress", "generalize", "recode"]))
    if method == "recode":
        maps = [
            np.unique(rng.integers(0, 3, a.size), return_inverse=True)[1] for a in m.attributes
        ]
        return m, ap.recode(m, ap.Recoding(m.attributes, maps)), referee.of_recoding(m, maps)
    labels = np.r_[0, rng.integers(-1 if draw(st.booleans()) else 0, 5, n - 1)]
    labels = dense_labels(labels)
    starred = rng.random((labels.max() + 1, m.d)) < 0.3 if draw(st.booleans()) else None
    if starred is not None:  # a mask of one value does not tell it from a star
        starred &= [a.size > 1 for a in m.attributes]
    p = ap.Partition(labels, starred=starred)
    return m, getattr(ap, method)(m, p), referee.of_groups(m, p, method)


@settings(max_examples=150)
@given(releases())
def test_a_row_publishes_its_mask(release):
    m, rel, masks = release
    for p, mask in zip(rel.published, masks, strict=True):
        assert p.index.dtype == np.int32
        for row in np.flatnonzero(rel.is_published):
            members = p.sub_domains.members(p.index[rel.entries.of_row[row]])
            assert members.tolist() == np.flatnonzero(mask[row]).tolist()
    shown = np.flatnonzero(rel.is_published)
    key = [b"".join(mask[row].tobytes() for mask in masks) for row in shown]
    same = pd.factorize(np.array(key, dtype=object))[0]
    assert len(set(zip(same, rel.classes.labels[shown], strict=True))) == len(set(same))
    assert rel.classes.n_groups == len(set(same))


@settings(max_examples=150)
@given(releases())
def test_losses_are_those_of_masks(release):
    m, rel, masks = release
    shown = rel.is_published
    for name in ("stars", "suppressed_rows", "ncp", "nwp", "generalizations", "kl_divergence"):
        found, expected = (getattr(of, name) for of in (ap.measure, referee))
        assert found(rel) == pytest.approx(expected(m, masks, shown), abs=1e-9), name
    trees = {a.name: ap.Hierarchy.balanced(a.values, fan_out=2) for a in m.attributes}
    assert ap.measure.distortion(rel, trees) == pytest.approx(
        referee.distortion(m, masks, shown, trees)
    )


@settings(max_examples=100)
@given(releases(), st.integers(0, 100))
def test_utility_and_risk_are_those_of_masks(release, seed):
    m, rel, masks = release
    shown = rel.is_published
    assert ap.measure.marginal_similarity(m, rel) == pytest.approx(
        referee.marginal_similarity(m, masks, shown)
    )
    shuffled = np.random.default_rng(seed).permutation(np.arange(m.n))
    known = min(max(round(0.4 * m.n), 1), m.n - 1)
    assert ap.measure.reconstruction(rel, 0.4, seed) == pytest.approx(
        referee.reconstruction(m, masks, shown, shuffled[:known], shuffled[known:])
    )
    selectivity = {a.name: 1 + seed % ap.measure.queries.places(a) for a in m.attributes[::2]}
    queries = ap.measure.workload(m, selectivity, size=6, seed=seed)
    expected = referee.answers(m, masks, shown, [queries.included(a) for a in m.attributes])
    np.testing.assert_allclose(queries.answers(rel)[0], expected, atol=1e-9)


@settings(max_examples=100)
@given(releases(), st.sampled_from([0, 0.25]))
def test_people_fit_rows_that_allow_their_values_and_new_numbers_stars_and_intervals(
    release, more
):
    m, rel, masks = release
    frame = m.frame[m.qi].copy()
    for a in m.attributes:
        frame[a.name] = frame[a.name] + more if a.numeric else frame[a.name]
    found = ap.measure.membership(rel, ap.Microdata(frame, m.qi))
    shown = rel.is_published
    assert found["members"] == pytest.approx(referee.fitting(m, masks, shown, m.frame).mean())
    assert found["outsiders"] == pytest.approx(referee.fitting(m, masks, shown, frame).mean())

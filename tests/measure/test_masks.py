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
    assert ap.measure.stars(rel) == referee.stars(masks, shown)
    whole = [mask.all(axis=1) & (mask.shape[1] > 1) for mask in masks]
    assert ap.measure.suppressed_rows(rel) == (np.any(whole, axis=0) | ~shown).sum()
    assert ap.measure.kl_divergence(rel) == pytest.approx(
        referee.kl_divergence(m, masks, shown), abs=1e-9
    )
    assert ap.measure.ncp(rel) == pytest.approx(referee.ncp(m, masks, shown))
    assert ap.measure.nwp(rel) == pytest.approx(referee.nwp(m, masks, shown))
    assert ap.measure.generalizations(rel) == referee.generalizations(m, masks, shown)
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
    outsiders = m.take(np.arange(m.n))
    found = ap.measure.membership(rel, outsiders)
    assert found["members"] == found["outsiders"]
    assert found["members"] == pytest.approx(
        referee.fitting(m, masks, shown, m.codes).mean(), abs=1e-12
    )


@settings(max_examples=50)
@given(releases(), st.integers(0, 100))
def test_strangers_to_the_domain_fit_stars_and_intervals_around_them_alone(release, seed):
    m, rel, masks = release
    shown = rel.is_published
    names = [a.name for a in m.attributes if a.numeric]
    frame = m.frame[m.qi].copy()
    for name in names:
        frame[name] = frame[name] + 0.25
    found = ap.measure.membership(rel, ap.Microdata(frame, m.qi))["outsiders"]
    expected = 0
    for person in range(m.n):
        fits = shown.copy()
        for j, (a, mask) in enumerate(zip(m.attributes, masks, strict=True)):
            star = mask.all(axis=1) & (a.size > 1)
            if a.name not in names:
                fits &= mask[:, m.codes[person, j]]
                continue
            held = [np.flatnonzero(row) if row.any() else np.array([0]) for row in mask]
            run = np.array([len(h) == h[-1] - h[0] + 1 for h in held])
            low, high = (a.positions[[h[end] for h in held]] for end in (0, -1))
            value = frame[a.name].iloc[person]
            fits &= star | run & (low < value) & (value < high)
        expected += fits.any()
    assert found == pytest.approx(expected / m.n)

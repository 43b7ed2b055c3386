"""Hypothesis strategies: small random tables of every shape the algorithms must bear."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper import Microdata, Partition
from anonpaper.groups import dense_labels


def adult_in_intervals():
    """Adult without gaps, nine QI of 105 bits: a table for searches and for threads."""
    names = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]
    m = ap.load("adult", qi=[*names, "native-country", "salary-class"], missing="drop")
    frame = m.frame[m.qi].copy()
    for name in frame.select_dtypes("category"):
        frame[name] = frame[name].cat.remove_unused_categories()
    return ap.granularize(Microdata(frame, m.qi), {"age": 5}, ranges={"age": (0, 100)})


def people(seed=0, rows=60, qi=("age", "zip")):
    """People of 20 to 59 years, of four zip codes and two sexes, each with one of four ills."""
    rng = np.random.default_rng(seed)
    zips = rng.choice(["02139", "02446", "02467", "10001"], rows)
    columns = {"age": rng.integers(20, 60, rows), "zip": zips, "sex": rng.choice(["f", "m"], rows)}
    frame = pd.DataFrame(columns | {"ill": rng.choice(list("abcd"), rows)})
    return Microdata(frame[[*qi, "ill"]], list(qi), "ill")


def tried(least: int) -> int:
    """How many tables a test of a guarantee draws: `make fuzz` says 10,000, the tests `least`."""
    return max(int(os.environ.get("ANONPAPER_FUZZ", 0)), least)


@st.composite
def tables(draw, min_rows=2, max_rows=40, max_qi=3, max_values=3, max_sensitive=5):
    """A table with 1 to `max_qi` QI of few values, so that QI-groups of all sizes occur."""
    n = draw(st.integers(min_rows, max_rows))
    d = draw(st.integers(1, max_qi))
    qi = [f"q{j}" for j in range(d)]
    value = st.integers(0, max_values - 1)
    columns = {name: draw(st.lists(value, min_size=n, max_size=n)) for name in qi}
    sensitive = st.integers(0, max_sensitive - 1)
    columns["s"] = draw(st.lists(sensitive, min_size=n, max_size=n))
    return Microdata(pd.DataFrame(columns), qi, "s")


@st.composite
def eligible_tables(draw, max_l=4, **shape):
    """A table and an l for which it has a frequency l-diverse grouping."""
    m = draw(tables(**shape))
    if 2 * m.sensitive_counts.max() > m.n:  # then give every row another value than the next
        m = m.replace(frame=m.frame.assign(s=np.arange(m.n) % 4))
    return m, draw(st.integers(2, max(2, min(m.n // int(m.sensitive_counts.max()), max_l))))


@st.composite
def grouped_tables(draw, **shape):
    """A table and any grouping of it, with rows not published now and then."""
    m = draw(tables(**shape))
    labels = draw(st.lists(st.integers(-1, 4), min_size=m.n, max_size=m.n))
    if max(labels) < 0:
        labels[0] = 0
    return m, Partition(dense_labels(labels))

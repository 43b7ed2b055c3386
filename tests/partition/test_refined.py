import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper import errors


def assert_sound(m, l, p):
    """Every row is in a group, no group has too many of a value, and TP+ has no fewer stars.

    Counted from the table itself, by nothing that the search uses.
    """
    frame = pd.DataFrame(m.codes, columns=m.qi).assign(s=m.sensitive_codes, group=p.labels)
    assert len(frame) == m.n and frame["group"].min() == 0
    sizes, tops = frame.groupby("group").size(), frame.groupby(["group", "s"]).size()
    assert (l * tops.groupby("group").max() <= sizes).all()
    starred = (frame.groupby("group")[m.qi].nunique() > 1).sum(axis=1)
    stars = int((starred * sizes).sum())
    assert stars == p.info["stars"] == ap.measure.stars(ap.suppress(m, p))
    plus = ap.measure.stars(ap.suppress(m, ap.tp_plus(m, l)))
    assert stars <= plus == p.info["stars_of_tp_plus"]
    return stars


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
    stars = assert_sound(m, 3, p := ap.tp_refined(m, 3))
    assert stars < 0.9 * p.info["stars_of_tp_plus"]


def test_the_same_seed_gives_the_same_groups():
    m = wide_table(0)
    first, again, other = (ap.tp_refined(m, 3, seed=seed) for seed in (1, 1, 2))
    assert first.labels.tolist() == again.labels.tolist()
    assert first.labels.tolist() != other.labels.tolist()
    assert_sound(m, 3, ap.tp_refined(m, 3, seed=np.random.default_rng(0)))
    assert_sound(m, 3, ap.tp_refined(m, 3, seed=None))


def test_a_limit_of_time_is_kept_and_the_start_is_never_lost(monkeypatch):
    clock = SimpleNamespace(monotonic=itertools.count().__next__)  # a second at each look
    monkeypatch.setattr("anonpaper.partition.refined.time", clock)
    m = wide_table(0)
    at_once, later = ap.tp_refined(m, 3, seconds=0), ap.tp_refined(m, 3, seconds=4)
    assert [run.info["search_rounds"] for run in (at_once, later)] == [0, 3]
    assert assert_sound(m, 3, later) <= assert_sound(m, 3, at_once)
    # where no star is saved any more, it ends however long it may take
    assert ap.tp_refined(ap.examples.hospital(), 2, seconds=np.inf).info["stars"] == 6
    with pytest.raises(errors.ParameterError, match="seconds"):
        ap.tp_refined(m, 3, seconds=-1)

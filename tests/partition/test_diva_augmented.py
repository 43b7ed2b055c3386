"""DIVA with invented rows: everybody still stands among k people."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from referees.diverse import fewest_stars, published_counts, smallest_class

import anonpaper as ap
from anonpaper.constraints import DiversityConstraint as Constraint
from anonpaper.errors import BudgetExceededError, ConstraintError, ParameterError
from anonpaper.partition.diva import diva_augmented, existence


def problem(seed):
    """A random table of a few people, constraints that they may not meet, and k."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, 7)), int(rng.integers(2, 4))
    frame = pd.DataFrame({name: rng.choice(list("ab"), n) for name in ("p", "q")})
    frame.loc[0], frame.loc[1] = "a", "b"  # two values of each, so that stars hide them
    frame["s"] = rng.choice(list("xyz"), n)
    sigma = []
    for names in (["p"], ["p", "q"])[: rng.integers(1, 3)]:
        target = frame[names].iloc[0].to_dict()
        low = int(rng.integers(0, n + 2))
        sigma.append(Constraint(target, low, low + int(rng.integers(0, 4))))
    return frame, sigma, k


def fewest_by_trying(frame, sigma, k):
    """Numbers of rows to invent, least sum first, until people meet what is left."""
    finer = [[set(c.target.items()) <= set(f.target.items()) for f in sigma] for c in sigma]
    choices = [[0, *range(k, c.high + 1)] for c in sigma]
    for numbers in sorted(product(*choices), key=sum):
        added = [sum(y for y, f in zip(numbers, row, strict=True) if f) for row in finer]
        if any(more > c.high for more, c in zip(added, sigma, strict=True)):
            continue
        left = [Constraint(c.target, max(0, c.low - more), c.high - more)
                for c, more in zip(sigma, added, strict=True)]  # fmt: skip
        if fewest_stars(frame, ["p", "q"], left, k) is not None:
            return sum(numbers)
    return None


def test_as_few_rows_are_invented_as_trying_all_numbers_finds_and_people_keep_k():
    seen = set()
    for seed in range(50):
        frame, sigma, k = problem(seed)
        m, fewest = ap.Microdata(frame, ["p", "q"], "s"), fewest_by_trying(frame, sigma, k)
        if fewest is None:
            seen.add("upper bounds are in the way")
            with pytest.raises(ConstraintError, match="upper bounds"):
                diva_augmented(m, sigma, k)
            continue
        fused, p = diva_augmented(m, sigma, k)
        seen.add("rows are invented" if fewest else "none are")
        assert sum(p.info["invented"]) == fused.synthetic.sum() == fewest, seed
        assert p.info["invented_at_least"] == fewest, seed
        assert fused.synthetic.tolist() == [False] * m.n + [True] * fewest
        rel = ap.suppress(fused, p)
        people = rel.frame[~fused.synthetic]
        assert len(people) == m.n and smallest_class(people, ["p", "q"]) >= k
        assert smallest_class(rel.frame, ["p", "q"]) >= k
        assert all(c.low <= published_counts(rel.frame, c) <= c.high for c in sigma)
        assert (p.labels[fused.synthetic][:, None] != p.labels[~fused.synthetic]).all()
    assert len(seen) == 3


def test_invented_rows_show_their_target_and_nothing_else():
    m = ap.examples.patients()
    sigma = [
        Constraint({"ETH": "African", "GEN": "Male"}, 4, 9),
        Constraint({"ETH": "Asian"}, 2, 5),
    ]
    fused, p = diva_augmented(m, sigma, k=4)
    rel = ap.suppress(fused, p)
    invented = rel.frame[fused.synthetic]
    assert len(invented) == sum(p.info["invented"])
    first = invented.head(p.info["invented"][0])
    assert set(first["ETH"]) == {"African"} and set(first["GEN"]) == {"Male"}
    assert (first[["AGE", "PRV", "CTY"]].astype(str) == "*").all(axis=None)
    assert fused.frame[m.qi].head(m.n).equals(m.frame[m.qi].reset_index(drop=True))
    for before, after in zip(m.attributes, fused.attributes, strict=True):
        assert before.values.tolist() == after.values.tolist()


def test_an_attribute_of_one_value_shows_it_of_invented_rows_too():
    m = ap.Microdata(pd.DataFrame({"p": list("aabb"), "q": ["x"] * 4}), ["p", "q"])
    coarse, fine = Constraint({"p": "a"}, 5, 6), Constraint({"p": "a", "q": "x"}, 0, 4)
    with pytest.raises(ConstraintError, match="upper bounds"):
        diva_augmented(m, [coarse, fine], 2)
    fused, p = diva_augmented(m, [coarse, Constraint(fine.target, 0, 6)], 2)
    rel = ap.suppress(fused, p)
    assert fine.count(rel) == coarse.count(rel) == 5


def test_without_need_nothing_is_invented_and_diva_groups():
    m, sigma = ap.examples.patients(), ap.examples.patients_constraints()
    fused, p = diva_augmented(m, sigma, 2)
    assert fused.n == m.n and not fused.synthetic.any()
    assert p.labels.tolist() == ap.diva(m, sigma, 2).labels.tolist()


def test_the_same_seed_gives_the_same_rows_of_every_kind_of_column():
    frame = pd.DataFrame({
        "age": [30, 30, 40, 40, 50, 50], "race": pd.Categorical(list("aabbbb"), list("abc")),
        "score": [0.5, 1.5, 0.5, 1.5, 0.5, 1.5], "s": list("xyxyxy"),
    })  # fmt: skip
    m = ap.Microdata(frame, ["age", "race", "score"], "s")
    sigma = [Constraint({"race": "c"}, 3, 6), Constraint({"age": 30, "score": 0.5}, 2, 6)]
    fused, p = diva_augmented(m, sigma, 2, seed=5)
    again, q = diva_augmented(m, sigma, 2, seed=5)
    assert fused.frame.equals(again.frame) and p.labels.tolist() == q.labels.tolist()
    assert fused.frame.dtypes.tolist() == frame.dtypes.tolist()
    assert (fused.frame["race"] == "c").sum() == 3
    assert not fused.frame.equals(diva_augmented(m, sigma, 2, seed=6)[0].frame)


def test_rows_of_nobody_are_not_people_and_secrets_are_not_invented():
    m = ap.examples.patients()
    marks = np.repeat([True, False], [2, m.n - 2])
    marked = m.replace(frame=m.frame, synthetic=marks)
    with pytest.raises(
        ParameterError, match=r"2 rows are synthetic .*: give m.take\(~m.synthetic"
    ):
        diva_augmented(marked, [], 2)
    assert not diva_augmented(marked.take(~marked.synthetic), [], 2)[0].synthetic.any()
    with pytest.raises(ConstraintError, match="only serve quasi-identifiers"):
        diva_augmented(m, [Constraint({"DIAG": "Migraine"}, 3, 5)], 2)
    with pytest.raises(ParameterError, match="k"):
        diva_augmented(m, [], 1)


def stopped(monkeypatch, **changes):
    """Let the solver's first answer be one that it had when its time was over, as is said."""
    given, milp = [], existence.milp

    def changed(*args, **options):
        answer = milp(*args, **options)
        if not given:
            given.append(answer)
            answer.update({"status": 1, "mip_dual_bound": 1.2, "mip_gap": 0.6} | changes)
        return answer

    monkeypatch.setattr(existence, "milp", changed)


def test_a_plan_that_was_not_proved_says_how_few_rows_there_may_be(monkeypatch):
    """At its time limit the solver may hold a plan that is far from the fewest rows."""
    m = ap.examples.patients()
    stopped(monkeypatch)
    fused, p = diva_augmented(m, [Constraint({"ETH": "African"}, 3, 6)], k=3)
    assert p.info["invented_at_least"] == 2 < sum(p.info["invented"]) == fused.synthetic.sum()
    for bound in (None, -np.inf, 0.0):
        monkeypatch.undo()
        stopped(monkeypatch, mip_dual_bound=bound)
        _, p = diva_augmented(m, [Constraint({"ETH": "African"}, 3, 6)], k=3)
        assert p.info["invented_at_least"] == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"x": None}, "did not end within the 9 seconds allowed"),
        ({"x": None, "status": 4, "message": "numbers"}, "ended without an answer: numbers"),
        # rows as they may be, and the pattern without values used twice
        ({"x": np.array([0, 2, 4, 2, 1, 2, 1.0]), "status": 0}, "ended without an answer"),
    ],
)
def test_no_plan_is_taken_that_was_not_found_or_breaks_a_bound(monkeypatch, changes, said):
    frame = pd.DataFrame({"p": list("aabbbb"), "s": list("xyxyxy")})
    m = ap.Microdata(frame, ["p"], "s")
    stopped(monkeypatch, **changes)
    with pytest.raises(BudgetExceededError, match=said):
        diva_augmented(m, [Constraint({"p": "a"}, 3, 6)], k=2, max_seconds=9)

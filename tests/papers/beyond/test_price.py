"""What notebooks/beyond/price_at_equal_advantage measures: attacker, noise, losses, curves."""

from itertools import combinations

import beyond_price as price
import beyond_price_curves as curves
import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import anonpaper as ap


def people(n, seed, values=(6, 5, 4), secrets=4):
    rng = np.random.default_rng(seed)
    sizes = [*values, secrets]
    frame = pd.DataFrame({f"a{j}": rng.integers(0, s, n) for j, s in enumerate(sizes)})
    domains = {f"a{j}": range(s) for j, s in enumerate(sizes)}
    return ap.Microdata(frame, [*frame.columns[:-1]], frame.columns[-1], domains=domains)


@pytest.fixture(scope="module")
def four():
    # 120 people in 120 cells: most are alone in theirs, and secrets are drawn at random
    return [people(120, seed) for seed in range(4)], price.Attacker(people(300, 9))


def found(four, publish):
    parts, attacker = four
    return price.attacked(attacker, [publish(m) for m in parts], parts)


def test_who_sees_the_table_knows_the_secrets_of_its_people_alone(four):
    told = found(four, price.counted)
    alone = np.mean([1 / m.cells.tuple_sizes[m.cells.tuple_of_row] for m in four[0]])
    # a stranger's secret is guessed as often as by chance, one in four
    assert told["inside"] > alone and told["outside"] < 0.3
    assert 0.35 < told["advantage"] <= told["inside"] and told["advantage, membership"] > 0.2


def test_frequencies_and_other_peoples_tables_give_no_advantage(four):
    strangers = iter(people(120, seed) for seed in range(20, 24))
    for publish in (
        lambda m: price.METHODS["unrelated"].publish(m, 0, None)[1],
        lambda m: price.counted(next(strangers)),  # a table, but of nobody here
    ):
        told = found(four, publish)
        assert abs(told["advantage"]) < 0.03 and abs(told["advantage, membership"]) < 0.03


def test_noisy_counts_below_zero_are_evidence_too(four):
    parts, attacker = four
    for lower in (1, 5):  # some cells below 0, and then also the total
        read = price.counted(parts[0]) - lower
        assert all(np.isfinite(part).all() for part in attacker.evidence(read, parts[0]))


def test_epsilon_is_where_the_two_worlds_differ_by_delta():
    for mu, delta in ((0.5, 1e-5), (2, 1e-5), (8, 1e-5), (1, 0.01)):
        eps, x = price.epsilon(mu, delta), np.linspace(-40, 60, 2_000_001)
        apart = norm.pdf(x, mu) - np.exp(eps) * norm.pdf(x)
        assert np.trapezoid(np.maximum(apart, 0), x) == pytest.approx(delta, rel=1e-3)
    assert price.epsilon(1e-7) == 0


class Recorded:
    """A generator that draws no noise, and keeps what was asked for."""

    def __init__(self):
        self.scales = []

    def normal(self, mean, scale, shape):
        self.scales.append(scale)
        return np.zeros(shape)


@pytest.mark.parametrize(("publish", "columns"), [("noisy_cells", 4), ("noisy_pairs", 2)])
def test_noise_hides_the_person_who_changes_most(publish, columns):
    m, rng = people(40, 3, (2, 3, 2), 2), Recorded()
    counts = price.counted(m)
    getattr(price, publish)(counts, 2.0, rng)

    def told(table):
        kept = combinations(range(4), columns)
        others = [tuple({*range(4)} - {*part}) for part in kept]
        return np.concatenate([table.sum(axis=axes).ravel() for axes in others])

    moved = []
    for cell in np.argwhere(counts):
        for other in np.ndindex(counts.shape):
            neighbour = counts.copy()
            neighbour[tuple(cell)] -= 1
            neighbour[other] += 1
            moved.append(np.linalg.norm(told(neighbour) - told(counts)))
    assert {round(scale, 12) for scale in rng.scales} == {round(max(moved) / 2, 12)}


def test_without_noise_synthetic_people_have_the_marginals_and_the_greatest_entropy():
    counts = price.counted(people(500, 5, (3, 2), 4))
    pairs = list(combinations(range(3), 2))
    sums = [counts.sum(axis=3 - i - j, keepdims=True) for i, j in pairs]
    fitted = np.ones(counts.shape)
    for _ in range(500):  # iterative proportional fitting
        for (i, j), wanted in zip(pairs, sums, strict=True):
            fitted *= wanted / fitted.sum(axis=3 - i - j, keepdims=True)
    told = {pair: part.squeeze() for pair, part in zip(pairs, sums, strict=True)}
    assert price.synthesized(told, counts.shape, 500, 1e-3) == pytest.approx(fitted, abs=0.05)


def test_noisy_cells_are_the_nearest_counts(four):
    counts, rng = price.counted(four[0][0]), np.random.default_rng(1)
    noisy = counts + np.random.default_rng(1).normal(0, price.noise(1, 1), counts.shape)
    near = price.noisy_cells(counts, 1, rng)
    assert near.min() >= 0 and near.sum() == pytest.approx(counts.sum())
    # no step towards any corner of the simplex comes closer
    assert ((near - noisy) * near).sum() <= counts.sum() * (near - noisy).min() + 1e-6


@pytest.mark.parametrize("method", ["k", "balanced", "stars", "swap"])
def test_losses_are_those_of_the_package(method):
    m = people(300, 7)
    groups = {"k": ap.mondrian, "swap": ap.mondrian, "balanced": ap.balanced_classes,
              "stars": ap.tp_plus}[method](m, 2)  # fmt: skip
    rel = {"swap": ap.swap, "stars": ap.suppress}.get(method, ap.generalize)(m, groups)
    read, truth, asked = price.expected_counts(rel), price.counted(m), price.counting_queries(m)
    wanted = np.mean([ap.measure.query_error(rel, part, floor=0.01) for part in asked])
    assert price.query_loss(read, truth, asked) == pytest.approx(wanted)
    if method != "swap":
        mean = (4 * price.distances(read, truth, 1) + 6 * price.distances(read, truth)) / 10
        assert 1 - mean == pytest.approx(ap.measure.marginal_similarity(m, rel))


def test_equal_advantage_is_interpolated_and_never_extrapolated():
    at = np.array([0.5, 1, 1.5, 2.5, 4])
    loss = curves.least_loss(np.array([3.0, 1, 2]), np.array([2.0, 4, 5]), at)
    assert np.isnan(loss[0]) and loss[1:].tolist() == [4.5, 4.5, 3.25, 2]


def test_a_method_that_is_cheapest_everywhere_is_found():
    rows = [{"table": "a", "at": 0.1, "seed": seed, "workload": w, "method": method,
             "loss": loss + 0.01 * (-1) ** seed}
            for seed in range(10) for w, losses in (("x", (0, 0.3)), ("y", (0.02, 0)))
            for method, loss in zip("pq", losses, strict=True)]  # fmt: skip
    one = curves.crossing(pd.DataFrame(rows)).set_index("method")
    assert one.loc["p", "high"] < 0.05 < one.loc["q", "low"] and one.loc["q", "rival"] == "p"
    for row in rows:
        row["loss"] += 0.2 * (row["workload"] == "y" and row["method"] == "p")
    assert (curves.crossing(pd.DataFrame(rows))["low"] > 0.05).all()


def test_curves_are_on_a_scale_between_the_table_and_unrelated_columns():
    made_up = (("as it is", 0, 1), ("unrelated", 0, 3), ("noisy pairs", 2, 2), ("k", 5, 4))
    rows = [{"table": "a", "seed": seed, "method": method, "level": level,
             "counting": loss, "learning": loss, "marginals": loss}
            for seed in range(3) for method, level, loss in made_up]  # fmt: skip
    curve = curves.curves(curves.scaled(pd.DataFrame(rows))).set_index("method")
    assert curve["counting"].to_dict() == {"noisy pairs": 0.5, "k": 1.5}
    # the greatest difference of the two distributions, at the point between their means
    assert curve.loc["noisy pairs", "bound"] == pytest.approx(norm.cdf(1) - norm.cdf(-1))
    assert np.isnan(curve.loc["k", "bound"])

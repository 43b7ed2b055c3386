"""Pop-Syn: distributions, seeds, refusals."""

import numpy as np
import pytest

from anonpaper.datasets import population


@pytest.mark.parametrize("distribution", ["uniform", "zipf", "gaussian"])
def test_the_population_has_the_distribution_asked_for(distribution):
    m = population(distribution)
    assert (m.n, m.d, m.frame.shape[1]) == (100_000, 6, 7)
    share = np.bincount(m.codes[:, m.attribute_index("ethnicity")]) / m.n
    place = np.arange(1, 6)
    weight = {"uniform": np.ones(5), "zipf": 1 / place,
              "gaussian": np.exp(-((place - 3) ** 2) / (2 * 1.25**2))}[distribution]  # fmt: skip
    assert share == pytest.approx(weight / weight.sum(), abs=0.006)
    assert m.frame.equals(population(distribution).frame)
    assert not m.frame.equals(population(distribution, seed=1).frame)

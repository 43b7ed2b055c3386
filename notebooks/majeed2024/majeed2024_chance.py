"""What of the own-value risk is owed to classes that are small, and what to whom they join."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from majeed2024 import release_of, some_qids
from majeed2024_printed import least_own_value_risk

from anonpaper.cells import distinct
from anonpaper.measure import disclosure_risk
from anonpaper.publish import Release


def beside_chance(cases, name: str, method: str, k: int, seed: int, some: bool = False) -> dict:
    """Publish by one method; own-value risk among real people beside that by chance (a grid).

    For an attacker who knows all quasi-identifiers, or, with `some`, means over `some_qids`.
    """
    rel, _ = release_of(cases, name, method, k, seed=seed)
    people = rel.without_synthetic() if rel.is_synthetic.any() else rel
    counts, qi = people.microdata.sensitive_counts, people.microdata.qi
    sets = some_qids(qi, seed=seed) if some else [qi]
    classes = np.array([number_of_classes(people, known) for known in sets])
    return {
        "known": "some QIDs" if some else "all QIDs",
        "people": people.microdata.n,
        "classes": float(classes.mean()),
        "D own": float(np.mean([disclosure_risk(people, "own", known=known) for known in sets])),
        "D own, by chance": float(np.mean([risk_by_chance(counts, g) for g in classes])),
        "sum of squared shares": least_own_value_risk(counts),
    }


def number_of_classes(rel: Release, known: Sequence[object]) -> int:
    """Return how many rows that publish different values of some quasi-identifiers there are."""
    chosen = [p for p in rel.published if p.attribute.name in known]
    return len(distinct([p.index for p in chosen], [len(p.sub_domains) for p in chosen])[1])


def risk_by_chance(counts: np.ndarray, classes: int) -> float:
    """Return the own-value risk to expect if values were dealt to the same classes at random.

    Somebody of a class of s rows shares the value with each of the s - 1 others with the chance
    q that two rows of the table do, so the own value's share is 1/s + (1 - 1/s)·q. The mean of 1/s
    over all rows is the number of classes divided by that of rows, whatever their sizes.
    """
    n = counts.sum()
    alike = (counts * (counts - 1)).sum() / (n * (n - 1))
    return float(alike + (1 - alike) * classes / n)

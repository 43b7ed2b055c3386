"""What weights do to loss and to the best recoding, on tables small enough to see all recodings.

Section 4 of the paper says that loss is not monotone in generalization when attributes weigh
differently, so that the best recoding may have an effective k above k_pref.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anonpaper.microdata import Microdata
from anonpaper.recoders.preference_search import exhaustive
from anonpaper.recoding import Recoding

_ROUNDING = 1e-12  # sums of penalties in another order differ by less


def random_weights(attributes: int, vectors: int, seed: int) -> list[list[float]]:
    """Return weight vectors drawn evenly from all that sum to 1 (Dirichlet, all ones)."""
    return np.random.default_rng(seed).dirichlet(np.ones(attributes), vectors).tolist()


def by_name(m: Microdata, weights: Sequence[float] | None) -> dict | None:
    """Return weights by the names of the attributes; equal ones are None."""
    return None if weights is None else dict(zip(m.qi, weights, strict=True))


def losses(m: Microdata, r: Recoding) -> dict[object, float]:
    """Return the loss of every attribute; NWP under any weights is the sum of weight x loss."""
    loss = {}
    for a, codes, sub_domain in zip(m.attributes, m.codes.T, r.maps, strict=True):
        size = np.bincount(sub_domain)[sub_domain]
        loss[a.name] = float((size[codes] - 1).mean() / max(a.size - 1, 1))
    return loss


def effects_of_joins(
    m: Microdata, attributes: Sequence[str], weights: Sequence[float] | None = None
) -> dict:
    """Count what joining two neighbouring sub-domains does, over all recodings of a projection."""
    seen = _all_recodings(m, attributes, 1, (0.2, 1.0), weights)
    nwp, necd, k = (seen[name].to_numpy() for name in ("nwp", "necd", "effective_k"))
    # a join: two recodings that differ in one bit, numbered by their bits
    number = np.arange(len(seen))
    before, after = [], []
    for bit in 1 << np.arange(len(seen.loc[0, "bits"])):
        before.append(number[number & bit > 0])
        after.append(before[-1] ^ bit)
    before, after = np.concatenate(before), np.concatenate(after)
    # and all pairs of recodings of which one has more joined borders
    kept = seen["bits"].str.count("1").to_numpy()
    more = kept[:, None] < kept  # the row has more joined borders than the column
    less_loss = nwp[:, None] < nwp - _ROUNDING
    return {
        "joins": len(before),
        "loss falls": int((nwp[after] < nwp[before] - _ROUNDING).sum()),
        "bias falls": int((necd[after] < necd[before] - _ROUNDING).sum()),
        "k falls": int((k[after] < k[before]).sum()),
        "pairs": int(more.sum()),
        "more joined, less loss": int((more & less_loss).sum()),
        "more joined, higher k": int((more & (k[:, None] > k)).sum()),
        "more joined, lower k": int((more & (k[:, None] < k)).sum()),
    }


def optimum_of(
    m: Microdata, attributes: Sequence[str], k_pref: int, preference, weights=None
) -> dict:
    """Return the effective k of the recoding of least ach of a projection."""
    seen = _all_recodings(m, attributes, k_pref, preference, weights)
    feasible = seen[seen["effective_k"] >= k_pref]
    best = feasible[feasible["ach"] <= feasible["ach"].min() + _ROUNDING]
    chosen = best.sort_values(["prefdev", "effective_k"], ascending=[True, False]).iloc[0]
    return {"ach": float(chosen["ach"]), "effective_k": int(chosen["effective_k"])}


def _all_recodings(m, attributes, k: int, preference, weights) -> pd.DataFrame:
    part = m.with_roles(qi=list(attributes))
    return exhaustive(part, k, tuple(preference), by_name(part, weights)).info["evaluated"]

"""What weights do to loss and to the best recoding, shown on tables small enough to see all.

Section 4 of the paper says that loss is not monotone in generalization when attributes weigh
differently, so that the best recoding may have an effective k above k_pref. Both halves can be
settled without a search: a projection of a dozen bits has a few thousand recodings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonpaper.microdata import Microdata
from anonpaper.recoders.exhaustive import exhaustive
from anonpaper.recoding import Recoding

__all__ = ["effects_of_joins", "losses", "optimum_of", "random_weights"]

_ROUNDING = 1e-12  # sums of penalties in another order differ by less


def random_weights(attributes: int, vectors: int, seed: int) -> list[list[float]]:
    """Return weight vectors drawn evenly from all that sum to 1 (Dirichlet, all ones).

    Examples
    --------
    >>> [round(sum(vector), 9) for vector in random_weights(9, 2, seed=0)]
    [1.0, 1.0]
    """
    return np.random.default_rng(seed).dirichlet(np.ones(attributes), vectors).tolist()


def losses(m: Microdata, r: Recoding) -> dict[object, float]:
    """Return the loss of every attribute: its part of NWP if all weight were on it.

    NWP under any weights is the sum of weight times loss.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> r = ap.preference_search(m, k=2, population=10, evaluations=200, seed=0)
    >>> round(sum(losses(m, r).values()) / m.d, 3) == round(r.info["nwp"], 3)
    True
    """
    loss = {}
    for a, codes, sub_domain in zip(m.attributes, m.codes.T, r.maps, strict=True):
        size = np.bincount(sub_domain)[sub_domain]
        loss[a.name] = float((size[codes] - 1).mean() / max(a.size - 1, 1))
    return loss


def effects_of_joins(
    m: Microdata, attributes: Sequence[str], weights: Sequence[float] | None = None
) -> dict:
    """Return what joining two neighbouring sub-domains does, over all recodings of a projection.

    Parameters
    ----------
    attributes : sequence of str
        The projection, of about a dozen bits.
    weights : sequence of float, optional
        In the order of the attributes; equal by default.

    Returns
    -------
    dict
        ``joins``, pairs of recodings that differ in one bit, and at how many of them loss, bias
        and effective k fall (``loss falls``, ``bias falls``, ``k falls``); and of all pairs of
        recodings with different numbers of joined borders (``pairs``) those where the one with
        more of them has less loss (``more joined, less loss``).
    """
    part = m.with_roles(qi=list(attributes))
    seen = _all_recodings(part, 1, (0.2, 1.0), weights)
    nwp, necd, k = (seen[name].to_numpy() for name in ("nwp", "necd", "effective_k"))
    number = np.arange(len(seen))
    before, after = [], []
    for bit in 1 << np.arange(len(seen.loc[0, "bits"])):
        before.append(number[number & bit > 0])
        after.append(before[-1] ^ bit)
    before, after = np.concatenate(before), np.concatenate(after)
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
    }


def optimum_of(
    m: Microdata,
    attributes: Sequence[str],
    k_pref: int,
    preference: Sequence[float],
    weights: Sequence[float] | None = None,
) -> dict:
    """Return the effective k of the recoding of least ach of a projection, by looking at all.

    Parameters are those of `effects_of_joins` and of the search.

    Returns
    -------
    dict
        The optimum's ``ach`` and ``effective_k``; and how many recodings of other tables share
        its ach (``ties``), with the least and the largest effective k among all of least ach
        (``least k of ties``, ``largest k of ties``).
    """
    part = m.with_roles(qi=list(attributes))
    seen = _all_recodings(part, k_pref, tuple(preference), weights)
    feasible = seen[seen["effective_k"] >= k_pref]
    best = feasible[feasible["ach"] <= feasible["ach"].min() + _ROUNDING]
    best = best.drop_duplicates(["nwp", "necd", "effective_k"])
    chosen = best.sort_values(["prefdev", "effective_k"], ascending=[True, False]).iloc[0]
    return {
        "ach": float(chosen["ach"]),
        "effective_k": int(chosen["effective_k"]),
        "ties": len(best) - 1,
        "least k of ties": int(best["effective_k"].min()),
        "largest k of ties": int(best["effective_k"].max()),
    }


def _all_recodings(m: Microdata, k: int, preference: tuple, weights: Sequence[float] | None):
    named = None if weights is None else dict(zip(m.qi, weights, strict=True))
    return exhaustive(m, k, preference, named).info["evaluated"]

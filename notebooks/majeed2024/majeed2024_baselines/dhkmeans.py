"""DHkmeans-LD, core: hierarchical 2-means with diverse clusters.

F. Ashkouti, K. Khamforoosh, A. Sheikhahmadi, H. Khamfroush, J. Supercomputing 78(2), 2022, of
which only the abstract was at hand: its three phases are our reconstruction. Seeds are the row
farthest from the mean and the row farthest from it. Lloyd's iterations add a penalty where a
cluster has more of the row's sensitive value than the part. A split that leaves no k rows or l
values is replaced by halves by the difference of distances; if these fail too, the part stays.
"""

import numpy as np

import anonpaper as ap
from anonpaper.compiled import loop
from majeed2024_baselines.sdda import cut_up

_ITERATIONS, _PENALTY = 10, 0.5


def dhkmeans_core(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Split a table by 2-means as long as both clusters are valid, and publish the clusters."""
    # A centre holds the shares of the values of a column, or the mean of an ordered one, at 0.
    place, weight = np.column_stack([m.codes, m.sensitive_codes]), np.ones((m.n, m.d + 1))
    place = place.astype(np.int64)
    ordered = np.array([a.ordered for a in m.attributes])
    for j, a in enumerate(m.attributes):
        if a.ordered:
            weight[:, j] = (a.positions[m.codes[:, j]] - a.positions[0]) / (a.width or 1.0)
            place[:, j] = 0

    def halves(rows):
        margin = _two_means(place[rows], weight[rows], ordered)
        yield margin > 0
        yield np.argsort(np.argsort(margin, kind="stable")) >= len(rows) // 2

    p = cut_up(m, [np.arange(m.n)], halves, k, l, "DHkmeans-LD-core")
    return ap.shallow_generalize(m, p, hierarchies)


@loop
def _two_means(place, weight, ordered):
    """How much nearer rows are to the second of two clusters than to the first."""
    largest, right = place.max() + 1, np.zeros(len(place), np.bool_)
    whole = _centre(place, weight, largest)
    centres = [whole, whole]
    for side in (1, 0):
        costs = _costs(place, weight, ordered, centres[side], whole)
        seed = np.flatnonzero(costs > costs.max() - 1e-12)[:1]
        centres[1] = centres[0]
        centres[0] = _centre(place[seed], weight[seed], largest)
        centres[0][-1] = whole[-1]
    margin = np.zeros(len(place))
    for _ in range(_ITERATIONS):
        margin = _costs(place, weight, ordered, centres[0], whole)
        margin -= _costs(place, weight, ordered, centres[1], whole)
        moved = (margin > 0) != right
        right = margin > 0
        if not moved.any() or right.all() or not right.any():
            break
        centres[0] = _centre(place[~right], weight[~right], largest)
        centres[1] = _centre(place[right], weight[right], largest)
    return margin


@loop
def _centre(place, weight, largest):
    """Mean of ordered columns, shares of the values of others."""
    centre = np.empty((place.shape[1], largest))
    for j in range(place.shape[1]):
        centre[j] = np.bincount(place[:, j], weight[:, j] / len(place), largest)
    return centre


@loop
def _costs(place, weight, ordered, centre, whole):
    """Squared distances of rows and a centre, with the penalty for their sensitive value."""
    total = np.zeros(len(place))
    for j in range(len(ordered)):
        share = centre[j][place[:, j]]
        if ordered[j]:
            total += (weight[:, j] - share) ** 2
        else:
            total += (1 - 2 * share + (centre[j] ** 2).sum()) / 2
    more = centre[-1][place[:, -1]] - whole[-1][place[:, -1]]
    return total + _PENALTY * np.maximum(0.0, more)

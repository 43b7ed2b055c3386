"""Published values as plain masks over the domain, row by row: slow, obvious, independent.

Nothing here reads how the package represents sub-domains: a mask follows from the table and its
groups (or its recoding) alone. Measures are written on masks as their docstrings state them.
"""

from __future__ import annotations

import numpy as np


def of_groups(m, p, method):
    """Masks of a table published by "suppress" or "generalize": per attribute shape (n, size)."""
    masks = []
    for j, attribute in enumerate(m.attributes):
        mask = np.zeros((m.n, attribute.size), dtype=bool)
        for group, rows in enumerate(p.groups()):
            held = np.isin(np.arange(attribute.size), m.codes[rows, j])
            if p.starred is not None and p.starred[group, j]:
                held[:] = True
            if method == "suppress" and held.sum() > 1:
                held[:] = True
            if method == "generalize" and attribute.ordered:
                places = np.flatnonzero(held)
                held[places[0] : places[-1] + 1] = True
            mask[rows] = held
        # with rows withheld, a set of all values that are published is as wide as the widest
        shown = mask.any(axis=1)
        values = np.unique(m.codes[shown, j])
        wide = shown & mask[:, values].all(axis=1)
        if not shown.all() and len(values) > 1 and wide.any():
            mask[wide] = mask[wide].any(axis=0)
        masks.append(mask)
    return masks


def of_recoding(m, maps):
    """Masks of a recoded table."""
    return [
        np.asarray(ids)[m.codes[:, j], None] == np.asarray(ids)[None, :]
        for j, ids in enumerate(maps)
    ]


def stars(m, masks, shown):
    """Values published as a whole domain of at least two values, and all that are withheld."""
    return sum(((mask.all(axis=1) & (mask.shape[1] > 1)) | ~shown).sum() for mask in masks)


def suppressed_rows(m, masks, shown):
    """Rows with such a value, and all that are withheld."""
    return sum(any(mask[row].all() > (mask.shape[1] == 1) for mask in masks) or not shown[row]
               for row in range(m.n))  # fmt: skip


def ncp(m, masks, shown):
    """What is uncertain: the extent of every published value as a share of the domain's."""
    total = 0.0
    for attribute, mask in zip(m.attributes, masks, strict=True):
        for row in range(m.n):
            held = attribute.positions[mask[row]] if shown[row] else attribute.positions
            if attribute.size == 1:
                total += not shown[row]
            elif attribute.numeric:
                total += (held.max() - held.min()) / attribute.width
            else:
                total += (len(held) - 1) / (attribute.size - 1)
    return total


def nwp(m, masks, shown):
    """Normalized weighted penalty with equal weights."""
    total = 0.0
    for mask in masks:
        loss = (mask.sum(axis=1) - 1) / max(mask.shape[1] - 1, 1)
        total += np.where(shown, loss, 1).sum() / len(masks)
    return total / m.n


def generalizations(m, masks, shown):
    """Values that are published otherwise than they are, for masks that hold the true value."""
    return int(sum((~shown | (mask.sum(axis=1) > 1)).sum() for mask in masks))


def distortion(m, masks, shown, trees):
    """Mean level of the lowest node above a published value, as a share of the height."""
    total = 0.0
    for attribute, mask in zip(m.attributes, masks, strict=True):
        tree = trees[attribute.name]
        for row in range(m.n):
            level = tree.height
            if shown[row]:
                held = attribute.values[mask[row]]
                while level and len({tree.generalize(v, level - 1) for v in held}) == 1:
                    level -= 1
            total += level / tree.height
    return total / (m.n * m.d)


def marginal_similarity(m, masks, shown):
    """One minus the mean distance of all one- and two-way marginals, from table to release."""
    one_hot = [np.eye(a.size)[codes] for a, codes in zip(m.attributes, m.codes.T, strict=True)]
    spread = [mask[shown] / mask[shown].sum(axis=1, keepdims=True) for mask in masks]
    sensitive = np.eye(m.sensitive_attribute.size)[m.sensitive_codes]
    one_hot, spread = [*one_hot, sensitive], [*spread, sensitive[shown]]
    distances = []
    for i in range(len(one_hot)):
        distances.append(np.abs(one_hot[i].mean(axis=0) - spread[i].mean(axis=0)).sum() / 2)
        for j in range(i):
            real = one_hot[i].T @ one_hot[j] / m.n
            published = spread[i].T @ spread[j] / shown.sum()
            distances.append(np.abs(real - published).sum() / 2)
    return 1 - np.mean(distances)


def kl_divergence(m, masks, shown):
    """Equation 2 of xiao2010, summed over the rows of the table."""
    secrets = m.sensitive_codes
    density = (secrets[:, None] == secrets[shown]).astype(float)
    same = secrets[:, None] == secrets
    for mask, codes in zip(masks, m.codes.T, strict=True):
        density *= (mask / np.maximum(mask.sum(axis=1, keepdims=True), 1))[shown][:, codes].T
        same &= codes[:, None] == codes
    with np.errstate(divide="ignore"):
        return np.log(same.sum(axis=1) / density.sum(axis=1)).mean()


def reconstruction(m, masks, shown, theirs, unknown):
    """Share of unknown values guessed right by the counts of the people known."""
    right = 0
    for mask, codes in zip(masks, m.codes.T, strict=True):
        counts = [np.count_nonzero(codes[theirs] == code) for code in range(mask.shape[1])]
        for row in unknown:
            possible = np.flatnonzero(mask[row]) if shown[row] else range(mask.shape[1])
            right += max(possible, key=lambda code: counts[code]) == codes[row]
    return right / (len(unknown) * m.d)


def answers(m, masks, shown, included):
    """Expected rows of every sensitive value that queries count, shape (q, m)."""
    total = np.zeros((len(included[0]), m.sensitive_attribute.size))
    for row in np.flatnonzero(shown):
        share = 1.0
        for mask, asked in zip(masks, included, strict=True):
            share = share * asked[:, mask[row]].mean(axis=1)
        total[:, m.sensitive_codes[row]] += share
    return total


def fitting(m, masks, shown, frame):
    """Whether a published row allows the values of each person; a new number fits around it.

    A set of all that is published of several values is written as a star.
    """
    fits = np.tile(shown, (len(frame), 1))
    for a, mask in zip(m.attributes, masks, strict=True):
        first, last = mask.argmax(axis=1), a.size - 1 - mask[:, ::-1].argmax(axis=1)
        interval = mask.sum(axis=1) == last - first + 1
        held = np.unique(m.codes_of(a.name)[shown])
        star = mask.all(axis=1) & (a.size > 1) | mask[:, held].all(axis=1) & (len(held) > 1)
        for person, value in enumerate(frame[a.name]):
            if value in a.values:
                fits[person] &= mask[:, a.code(value)] | star
            else:
                inside = (a.positions[first] < value) & (value < a.positions[last])
                fits[person] &= star | (interval & inside)
    return fits.any(axis=1)

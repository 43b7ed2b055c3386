"""What DIVA should achieve, found without the package's algorithms: by trying everything."""

from itertools import combinations, product

import numpy as np


def set_partitions(items, k):
    """Yield all partitions of the items into blocks of at least k."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(k - 1, len(rest) + 1):
        for others in combinations(rest, size):
            remaining = [item for item in rest if item not in others]
            for blocks in set_partitions(remaining, k):
                yield [(first, *others), *blocks]


def has_diverse_clustering(frame, qi, constraints, k):
    """Whether some clusters of target rows, suppressed where they differ, satisfy Sigma (3.2)."""
    # Rows that carry the same are alike: a state is how many of each are used, and what is shown.
    carry = [tuple(all(row[a] == v for a, v in c.target.items()) for c in constraints)
             for row in frame[qi].to_dict("records")]  # fmt: skip
    kinds = sorted({kind for kind in carry if any(kind)})
    clusters = []
    for numbers in product(*(range(carry.count(kind) + 1) for kind in kinds)):
        inside = [kind for kind, n in zip(kinds, numbers, strict=True) if n]
        shown = [sum(numbers) * all(of) for of in zip(*inside, strict=True)]
        if sum(numbers) >= k and any(shown):
            clusters.append(np.array([*numbers, *shown]))
    low, high = np.array([(c.low, c.high) for c in constraints]).T
    most = np.array([*map(carry.count, kinds), *high])
    waiting = {(0,) * len(most)}
    seen = set(waiting)
    while waiting:
        state = waiting.pop()
        if (np.array(state[len(kinds) :]) >= low).all():
            return True
        later = [state + more for more in clusters]
        later = {tuple(then.tolist()) for then in later if (then <= most).all()}
        waiting |= later - seen
        seen |= later
    return False


def carried(rows, kept, constraint, frame, qi):
    """Rows of a block that show the constraint's target if only `kept` attributes are shown."""
    if any(name in qi and name not in kept for name in constraint.target):
        return 0
    target = constraint.target.items()
    return sum(all(frame[name].iloc[row] == value for name, value in target) for row in rows)


def fewest_stars(frame, qi, constraints, k, block_is_private=lambda rows: True):
    """Return the least number of stars of a diverse k-anonymous table, None if there is none."""
    best = None
    for blocks in set_partitions(list(range(len(frame))), k):
        if not all(map(block_is_private, blocks)):
            continue
        choices = []
        for block in blocks:
            agreeing = [q for q in qi if frame[q].iloc[list(block)].nunique() == 1]
            choices.append([
                np.array([len(block) * (len(qi) - len(kept)),
                          *(carried(block, kept, c, frame, qi) for c in constraints)])
                for size in range(len(agreeing) + 1) for kept in combinations(agreeing, size)
            ])  # fmt: skip
        for choice in product(*choices):
            stars, *counts = sum(choice)
            if all(c.low <= n <= c.high for c, n in zip(constraints, counts, strict=True)):
                best = stars if best is None else min(stars, best)
    return best


def published_counts(frame, constraint):
    """Count the rows of a published frame that show the target."""
    shown = frame[[*constraint.target]].astype(str) == [*map(str, constraint.target.values())]
    return int(shown.all(axis=1).sum())


def smallest_class(frame, qi):
    """Rows of the smallest class of equal published quasi-identifiers."""
    return int(frame[qi].astype(str).value_counts().min())

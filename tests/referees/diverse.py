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
            clusters.append((np.array(numbers), np.array(shown)))
    most, high = [carry.count(kind) for kind in kinds], [c.high for c in constraints]
    waiting = {((0,) * len(kinds), (0,) * len(constraints))}
    seen = set(waiting)
    while waiting:
        used, counts = waiting.pop()
        if all(c.low <= n for c, n in zip(constraints, counts, strict=True)):
            return True
        for numbers, shown in clusters:
            state = (tuple((used + numbers).tolist()), tuple((counts + shown).tolist()))
            if (
                state not in seen
                and (used + numbers <= most).all()
                and (counts + shown <= high).all()
            ):
                seen.add(state)
                waiting.add(state)
    return False


def carried(rows, kept, constraint, frame, qi):
    """Rows of a block that show the constraint's target if only `kept` attributes are shown."""
    hidden = [name for name in constraint.target if name in qi and name not in kept]
    if hidden:
        return 0
    return sum(
        all(frame[name].iloc[row] == value for name, value in constraint.target.items())
        for row in rows
    )


def fewest_stars(frame, qi, constraints, k, block_is_private=lambda rows: True):
    """Return the least number of stars of a diverse k-anonymous table, None if there is none."""
    best = None
    for blocks in set_partitions(list(range(len(frame))), k):
        if not all(block_is_private(block) for block in blocks):
            continue
        choices = []
        for block in blocks:
            agreeing = [q for q in qi if frame[q].iloc[list(block)].nunique() == 1]
            options = []
            for size in range(len(agreeing) + 1):
                for shown in combinations(agreeing, size):
                    kept = set(shown)
                    stars = len(block) * (len(qi) - len(kept))
                    counts = [carried(block, kept, c, frame, qi) for c in constraints]
                    options.append((stars, np.array(counts, dtype=int)))
            choices.append(options)
        for choice in product(*choices):
            stars = sum(option[0] for option in choice)
            if best is not None and stars >= best:
                continue
            counts = sum((option[1] for option in choice), np.zeros(len(constraints), int))
            if all(c.low <= n <= c.high for c, n in zip(constraints, counts, strict=True)):
                best = stars
    return best


def published_counts(frame, constraint):
    """Count the rows of a published frame that show the target."""
    shown = np.ones(len(frame), dtype=bool)
    for name, value in constraint.target.items():
        shown &= (frame[name].astype(str) == str(value)).to_numpy()
    return int(shown.sum())


def smallest_class(frame, qi):
    """Rows of the smallest class of equal published quasi-identifiers."""
    return int(frame[qi].astype(str).value_counts().min())

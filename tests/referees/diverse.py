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


def sets_of_clusters(items, k):
    """Yield all sets of disjoint clusters of at least k items, that of no cluster included."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    yield from sets_of_clusters(rest, k)
    for size in range(k - 1, len(rest) + 1):
        for others in combinations(rest, size):
            remaining = [item for item in rest if item not in others]
            for clusters in sets_of_clusters(remaining, k):
                yield [(first, *others), *clusters]


def has_diverse_clustering(frame, qi, constraints, k):
    """Whether some clusters of target rows, suppressed where they differ, satisfy Sigma (3.2)."""
    targets = [
        {i for i in range(len(frame)) if all(frame[a].iloc[i] == v for a, v in c.target.items())}
        for c in constraints
    ]
    for clusters in sets_of_clusters(sorted(set().union(*targets)), k):
        counts = np.zeros(len(constraints), int)
        for cluster in clusters:
            agreeing = {q for q in qi if frame[q].iloc[list(cluster)].nunique() == 1}
            counts += [carried(cluster, agreeing, c, frame, qi) for c in constraints]
        within = all(c.low <= n <= c.high for c, n in zip(constraints, counts, strict=True))
        if within and all(any(set(cluster) <= t for t in targets) for cluster in clusters):
            return True
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
            several = [q for q in agreeing if frame[q].nunique() > 1]
            forced = [q for q in agreeing if q not in several]
            options = []
            for size in range(len(several) + 1):
                for shown in combinations(several, size):
                    kept = {*forced, *shown}
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

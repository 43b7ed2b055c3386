"""Each numbered line of the papers' algorithms on a few rows: without the line a test fails."""

import numpy as np
import pandas as pd
import pytest
from referees.clustering import strict_mondrian_rows
from referees.drawn import drawn_tables
from referees.rows import TupleMinimization

import anonpaper as ap


def table(secrets, **qi):
    return ap.Microdata(pd.DataFrame(qi | {"s": list(secrets)}), [*qi], "s")


def groups(p):
    return [rows.tolist() for rows in p.groups()]


# -- xiao2010: TP, TP+, Hilbert ----------------------------------------------------------------


def table_of_groups(held):
    return table("".join(held), q=np.repeat(range(len(held)), [len(rows) for rows in held]))


def crowded_tables(number):
    """Groups with too many of one value, which often end in phase three."""
    rng = np.random.default_rng(0)
    for l in np.resize([3, 4, 5], number):
        held = []
        for extra in rng.integers(0, 5, rng.integers(3, 7)):
            rows = rng.permutation(list("abcdefg"))[: l + rng.integers(2)]
            held.append("".join([*rows, *rows[:1].repeat(extra)]))
        m = table_of_groups(held)
        if m.sensitive_counts.max() * l <= m.n:
            yield m, int(l)


def test_tp_moves_the_rows_of_the_plain_reading():
    two_rounds = ["ccccdddddeeeffffff", "aabbbbbbbbbbbccccddeeeefff", "bbcccdddfffff"]
    seen = set()
    for m, l in [*drawn_tables(80), *crowded_tables(120), (table_of_groups(two_rounds), 4)]:
        p, plain = ap.tp(m, l), TupleMinimization(m.codes.tolist(), m.sensitive_codes.tolist(), l)
        assert (p.info["phase"], p.info["rounds"]) == (plain.run(), plain.rounds)
        assert p.labels.tolist() == plain.labels()
        assert p.info["lower_bound"] == plain.lower_bound
        seen.add((plain.rounds, l))
    assert {(0, 2), (1, 4), (1, 5), (2, 4)} <= seen


def test_phase_three_begins_with_the_group_that_covers_fewest_pillars():
    """R is aabbcc after phase one: abxy leaves two of its pillars, aaaxyz one, both no fewer."""
    p = ap.tp(table_of_groups(["abxy", "aaaxyz", "cccxyz", "bbbxyz"]), 4)
    assert p.info["removed_by_phase"] == (6, 0, 8)  # abxy would make it 12
    assert p.sizes().tolist() == [4, 4, 14]


def test_tp_plus_groups_the_residue_along_the_curve():
    m = table("aabaabccab", q=[0, 0, 0, 1, 1, 1, 2, 2, 3, 3])
    kept = [[0, 2], [3, 5], [8, 9]]
    assert groups(ap.tp(m, 2)) == [*kept, [1, 4, 6, 7]]
    assert groups(ap.tp_plus(m, 2)) == [*kept, [1, 6], [4, 7]]


def test_refined_comes_close_to_the_optimum_by_enumeration():
    stars = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        m = table(rng.permutation(np.arange(10) % 5), x=rng.integers(0, 3, 10),
                  y=rng.integers(0, 3, 10), z=rng.integers(0, 3, 10))  # fmt: skip
        p = ap.tp_refined(m, 2)
        stars.append((ap.exact(m, 2).info["cost"], p.info["stars"], p.info["stars_of_tp_plus"]))
        assert stars[-1] == tuple(sorted(stars[-1]))
    least, found, _ = np.sum(stars, axis=0)
    assert found <= 1.05 * least


@pytest.mark.parametrize(("secrets", "l", "expected"), [
    ("aabbc", 2, [[0, 2], [1, 3, 4]]),  # a and b must be in both of two groups
    ("abcabc", 2, [[0, 1], [2, 3], [4, 5]]),  # the nearest two; then c must be in both
    ("aaabbbccc", 3, [[0, 3, 6], [1, 4, 7], [2, 5, 8]]),
    ("abcdeabcde", 3, [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]),
])  # fmt: skip
def test_hilbert_takes_mandatory_values_then_the_nearest(secrets, l, expected):
    assert groups(ap.hilbert(table(secrets, q=range(len(secrets))), l)) == expected


# -- LeFevre et al.: Mondrian ------------------------------------------------------------------


def test_mondrian_takes_the_first_allowed_cut_at_the_median_of_the_widest():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(6, 40)), int(rng.integers(2, 5))
        frame = pd.DataFrame({
            "age": rng.choice([0, 1, 2, 3, 20, 21, 40], n), "job": rng.choice(list("abcd"), n),
            "pay": rng.choice([0, 9], n), "who": rng.integers(0, n // 2 + 1, n),
            "s": rng.choice(list("uvw"), n),
        })  # fmt: skip
        qi = ["age", "job", "pay"]
        frame[qi] = frame[qi].to_numpy()[frame["who"]]
        frame = frame.astype({"age": int, "pay": int})
        secrets, who = frame["s"].to_numpy(), frame["who"].to_numpy()
        rows = ap.Microdata(frame, qi, "s")
        people = ap.Microdata(frame, qi, "s", person="who")

        def frequent(some, secrets=secrets):
            return max(np.unique(secrets[some], return_counts=True)[1])

        allowed, asked = [
            (lambda some: len(some) >= k, {}),  # noqa: B023
            (lambda some: len(some) >= max(k, 2 * frequent(some)), {"l": 2}),  # noqa: B023
            (lambda some: len(some) >= k and len(set(secrets[some])) >= 2,  # noqa: B023
             {"l": 2, "diversity": "distinct"}),
            (lambda some: len(some) >= k and frequent(some) <= 0.6 * len(some),  # noqa: B023
             {"require": [ap.Theta(0.6)]}),
            (lambda some: len(set(who[some])) >= k, {}),  # noqa: B023
        ][seed % 5]  # fmt: skip
        if allowed(np.arange(n)):
            p = ap.mondrian(people if seed % 5 == 4 else rows, k, **asked)
            assert sorted(groups(p)) == sorted(strict_mondrian_rows(rows, allowed))


# -- majeed2024: balanced classes --------------------------------------------------------------


def completes(left, held, room, after, l):
    """Whether rows of some values can fill a class so that the classes after it can follow."""
    if room == 0:
        rest = sum(min(rows, after) for rows in left.values())
        return len(held) >= l and rest >= l * after
    return any(
        completes(left | {v: left[v] - 1}, held | {v}, room - 1, after, l) for v in left if left[v]
    )


def classes_plainly(x, ills, k, l, start):
    """Algorithm 3 for one attribute in [0, 1], from a record of the sorted ones on."""
    place = sorted(range(len(x)), key=lambda row: (x[row], ills[row]))
    first = [(x[row], ills[row]) for row in place].index((x[place[start]], ills[place[start]]))
    free, left = place[first:] + place[:first], {v: ills.count(v) for v in sorted(set(ills))}
    number = max(g for g in range(len(x) // k + 1)
                 if sum(min(rows, g) for rows in left.values()) >= l * g)  # fmt: skip
    base, classes = len(x) // number, []

    def cosine(a, b):
        a, b = (np.array([1 - x[row], x[row]]) / np.hypot(1 - x[row], x[row]) for row in (a, b))
        return round(float(a @ b), 12)

    for after in range(number - 1, -1, -1):
        rows = []
        for room in range(base - 1, -1, -1):
            held = {ills[row] for row in rows}
            may = [row for row in free for v in [ills[row]]
                   if completes(left | {v: left[v] - 1}, held | {v}, room, after, l)]  # fmt: skip
            if rows:  # of equally similar ones that of the first value
                may.sort(key=lambda row: (-cosine(row, rows[0]), ills[row]))
            rows.append(may[0])
            free.remove(may[0])
            left[ills[may[0]]] -= 1
        classes.append(rows)
    centres = [rows[0] for rows in classes]
    for row in sorted(free):
        roomy = [c for c in range(number) if len(classes[c]) < 2 * k - 1]
        classes[max(roomy, key=lambda c: (cosine(row, centres[c]), -c))].append(row)
    return [sorted(zip(x[rows], np.array(ills)[rows], strict=True)) for rows in classes]


def test_classes_are_of_the_most_similar_that_leave_the_rest_diverse():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        k, n = int(rng.integers(2, 4)), int(rng.integers(6, 12))
        l = int(rng.integers(2, k + 1))
        ages, ills = rng.integers(0, 12, n), rng.choice(list("aaabbcd"), n).tolist()
        m, x = table(ills, age=ages), (ages - ages.min()) / np.ptp(ages)
        try:
            p = ap.balanced_classes(m, k, l, seed)
        except ap.errors.InfeasibleError:
            continue
        plain = classes_plainly(x, ills, k, l, int(np.random.default_rng(seed).integers(n)))
        found = [sorted(zip(x[rows], np.array(ills)[rows], strict=True)) for rows in p.groups()]
        assert sorted(found) == sorted(plain), seed

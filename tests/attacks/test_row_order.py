"""The order of rows and of lines: the i-th row of the file is the i-th person of a register."""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest
from referees.published import WAYS, as_people, random_table, read, released, with_tables

import anonpaper as ap
from anonpaper.errors import ParameterError

pytestmark = pytest.mark.filterwarnings("ignore:minimality attack")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_order_of_a_sorted_table_tells_no_secret(ending, tmp_path):
    """100 tables sorted by the secret; the attacker has the register in the same order."""
    right = chance = variance = number = 0
    tried = with_tables([way for way in WAYS if way[1] != "anatomize"])
    for way, seed in tried:
        rel = released(*way, seed)
        if not rel.is_published.all():
            continue
        [path] = rel.write(tmp_path / f"{seed}.{ending}")
        truth = rel.microdata.frame["ill"].astype(str).tolist()
        right += sum(row["ill"] == true for row, true in zip(read(path), truth, strict=True))
        p = sum((count / len(truth)) ** 2 for count in Counter(truth).values())
        chance, variance = chance + len(truth) * p, variance + len(truth) * p * (1 - p)
        number += 1
    assert number > 0.8 * len(tried)
    assert abs(right - chance) < 6 * np.sqrt(2 * variance)


GROUPINGS = [
    lambda m: ap.mondrian(m, k=4, l=2),
    lambda m: ap.hilbert(m, l=2),
    lambda m: ap.klt(m, k=4, l=2, theta=0.75, seed=0),
    lambda m: ap.balanced_classes(m, k=4, l=2, seed=0),
    lambda m: ap.k_member(m, k=4, seed=0),
]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_order_of_lines_tells_no_secret(ending, tmp_path):
    """100 tables sorted by the secret."""
    right = chance = people = 0
    for grouping, seed in with_tables(GROUPINGS):
        m = as_people(random_table(seed))
        p = grouping(m.with_roles(qi=m.qi[:-1]))
        qit, st = map(read, ap.anatomize(m, p).write(tmp_path / f"out.{ending}"))
        secrets = defaultdict(list)
        for line in st:
            secrets[line["group"]] += [line["ill"]] * int(line["count"])
        # the rows of a group get the secrets of its lines, both in the order of the files
        guess = {row["pseudonym"]: secrets[row["group"]].pop(0) for row in qit}
        truth = m.frame["ill"].astype(str).to_numpy()
        for rows in p.groups():
            right += sum(guess[f"p{i}"] == truth[i] for i in rows)
            chance += sum(count**2 for count in Counter(truth[rows]).values()) / len(rows)
            people += len(rows)
    assert abs(right - chance) < 6 * np.sqrt(0.25 * people)


@pytest.mark.parametrize("form", ["swap", "anatomize"])
def test_orders_and_group_numbers_are_drawn_anew(form, tmp_path):
    m, seen = as_people(random_table(0)), set()
    rel = getattr(ap, form)(m, ap.mondrian(m, k=3, l=2))
    for _ in range(20):
        np.random.seed(0)  # noqa: NPY002 - what a program may have done before
        rows = read(rel.write(tmp_path / "out.csv")[0])
        place = next(i for i, row in enumerate(rows) if row["pseudonym"] == "p0")
        seen.add(rows[place].get("group", place))
    assert len(seen) > 2


@pytest.mark.filterwarnings("ignore:minimality")
@pytest.mark.parametrize("grouping", [ap.tp, ap.tp_plus])
def test_what_tp_removed_is_not_shown(grouping):
    """Who left the group of the equals had, nearly always, one of its most frequent secrets."""
    m = next(m for m in map(random_table, range(100)) if grouping(m, 2).info["residue_size"])
    with pytest.raises(ParameterError, match="shows which rows"):
        ap.anatomize(m, grouping(m, 2))
    for rel in (ap.suppress(m, grouping(m, 2)), ap.swap(m, grouping(m, 2))):
        assert "minimality attack" in " ".join(rel.audit()["meaning"])


@pytest.mark.parametrize("told", [0, 0.9])
def test_groups_together_tell_what_goes_with_what(told):
    """2,000 people of four kinds in groups of five: the secret is the kind for a share of them."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 4, 2_000)
    ill = np.where(rng.random(2_000) < told, kind, rng.integers(0, 4, 2_000))
    m = ap.Microdata(pd.DataFrame({"kind": kind, "ill": ill}), ["kind"], "ill")
    groups = ap.Partition(rng.permutation(2_000) // 5)
    right = ap.measure.definetti(ap.anatomize(m, groups))
    shares = [max(Counter(ill[rows]).values()) / 5 for rows in groups.groups()]
    assert right["counted"] == pytest.approx(np.mean(shares))
    if told:  # who knows what goes with what is right for 0.925 of them
        assert right["learned"] > 0.9 > 0.6 > right["counted"]
    else:
        assert abs(right["learned"] - right["counted"]) < 0.05
    mixed = m.replace(synthetic=ill == 3)  # only real people's guesses count
    right = ap.measure.definetti(ap.anatomize(mixed, groups))
    tops = [(ill[rows], pd.Series(ill[rows]).mode().tolist()) for rows in groups.groups()]
    named = [(i in top) / len(top) for secrets, top in tops for i in secrets if i != 3]
    assert right["counted"] == pytest.approx(np.mean(named))

"""Swapping undone: rebuild the groups from the published QI, then try seeds."""

from collections import Counter

import numpy as np
import pytest
from referees.published import ALL_PAIRS, as_people, random_table, read

import anonpaper as ap
from anonpaper.errors import PromiseError

pytestmark = pytest.mark.filterwarnings("ignore:swapped with a seed")
GROUPINGS = {
    "mondrian": lambda m: ap.mondrian(m, k=4),
    "klt": lambda m: ap.klt(m, k=4, l=2, theta=0.75, seed=0),
}
SEEDS, KNOWN = 40, 12
TABLES = 100 if ALL_PAIRS else 25  # of each method


def attack(register, published, group, known):
    """Guess everybody's secret from a file of swapped rows: the secrets in the register's order.

    The attacker has a register of the people in the table's own order, knows the method, what
    the published secrets are, and the true secrets of a dozen people.
    """
    p = group(ap.Microdata(register.assign(ill=published), list(register), "ill"))
    places = ap.Microdata(register.assign(place=range(len(register))), list(register), "place")
    guesses = []
    for seed in range(SEEDS):
        undone = np.empty_like(published)
        undone[ap.swap(places, p, seed).frame["place"].to_numpy()] = published
        guesses.append(undone)
    return max(guesses, key=lambda undone: sum(undone[i] == ill for i, ill in known.items()))


@pytest.mark.parametrize(("name", "seed"), [("mondrian", None), ("klt", None), ("mondrian", 37)])
def test_a_swap_can_be_undone_by_its_seed_only(name, seed, tmp_path):
    right = chance = people = 0
    for table in range(TABLES):
        m = as_people(random_table(table))
        p = GROUPINGS[name](m)
        rel = ap.swap(m, p, seed)
        if not rel.is_published.all():
            continue
        truth = m.frame["ill"].astype(str).to_numpy()
        known = {place: truth[place] for place in range(0, m.n, -(-m.n // KNOWN))}
        register = m.frame[[*m.qi]].reset_index(drop=True)
        [path] = rel.write(tmp_path / "out.csv")
        published = {row["pseudonym"]: row["ill"] for row in read(path)}
        published = register["pseudonym"].map(published).to_numpy(str)
        guess = attack(register, published, GROUPINGS[name], known)
        for rows in p.groups():
            counts, others = Counter(truth[rows]), set(rows.tolist()) - set(known)
            right += sum(guess[place] == truth[place] for place in others)
            chance += sum(counts[truth[place]] / len(rows) for place in others)
            people += len(others)
    assert people > 300
    if seed is None:
        assert right < chance + 5 * np.sqrt(0.25 * people)
    else:
        assert right > 0.98 * people  # now and then another seed fits the dozen too


def test_the_default_is_fresh_entropy():
    m = random_table(0)
    drawn = []
    for _ in range(3):
        np.random.seed(0)  # noqa: NPY002 - what a program may have done before
        drawn.append(ap.swap(m, ap.Partition([0] * m.n)))
    assert len({rel.sensitive_codes.tobytes() for rel in drawn}) == 3
    assert drawn[0].warnings == () and "published" not in repr(drawn[0])


def verdict(rel):
    try:
        rel.check_promise()
    except PromiseError as error:
        return str(error)
    return rel.audit().to_csv(), ap.measure.attackers(rel).to_csv()


def test_no_verdict_depends_on_a_draw():
    """A swap gives invented rows the secrets of people: whose, is drawn after the judgement."""
    refused = 0
    for seed in range(20):
        m = random_table(seed)
        invented = np.random.default_rng(seed).random(m.n) < 0.3
        invented[0] = False
        m = m.replace(synthetic=invented)
        p = ap.mondrian(m, k=4, require=[ap.Theta(0.75)]) if seed % 2 else ap.Partition([0] * m.n)
        p.promised = (ap.Theta(0.75), ap.EntropyLDiversity(1.5))
        found = {verdict(ap.swap(m, p)) for _ in range(6)}
        assert len(found) == 1
        refused += isinstance(*found, str)
        by_anatomy = verdict(ap.anatomize(m, p))
        assert isinstance(by_anatomy, str) == isinstance(*found, str)
        assert not isinstance(by_anatomy, str) or {by_anatomy} == found
    assert 0 < refused < 20

"""Swapping undone: rebuild the groups from the published QI, then try seeds."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from referees.published import ALL_PAIRS, as_people, random_table, read

import anonpaper as ap
from anonpaper.errors import PromiseError

pytestmark = pytest.mark.filterwarnings("ignore:swapped with a seed")
GROUPINGS = {
    "mondrian": lambda m: ap.mondrian(m, k=4),
    "k_member": lambda m: ap.k_member(m, k=4, seed=0),
    "oka": lambda m: ap.oka(m, k=4, seed=0),
    "klt": lambda m: ap.klt(m, k=4, l=2, theta=0.75, seed=0),
}
SEEDS, KNOWN = 40, 12
TABLES = 100 if ALL_PAIRS else 25  # of each of four methods


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


def accuracy(name, tmp_path, seed_of_swap):
    """Share of the secrets that are guessed, and what guessing within groups would give."""
    right = chance = people = 0
    for table in range(TABLES):
        m = as_people(random_table(table))
        p = GROUPINGS[name](m)
        rel = ap.swap(m, p, seed_of_swap)
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
    return right / people, chance / people, people


@pytest.mark.parametrize("name", GROUPINGS)
def test_a_swap_cannot_be_undone(name, tmp_path):
    reached, promised, people = accuracy(name, tmp_path, None)
    assert people > 300
    assert reached < promised + 5 * np.sqrt(0.25 / people)


def test_a_swap_with_a_seed_can_be_undone_and_says_so(tmp_path):
    reached, _, _ = accuracy("mondrian", tmp_path, 37)
    assert reached > 0.98  # now and then another seed fits the dozen too
    m = random_table(0)
    rel = ap.swap(m, ap.mondrian(m, k=4), seed=137)
    assert "must not be published" in repr(rel)
    assert "must not be published" in rel.audit().iloc[-1]["meaning"]
    with pytest.warns(UserWarning, match="must not be published"):
        rel.write(tmp_path / "out.csv")


def test_the_default_is_fresh_entropy():
    m = random_table(0)
    drawn = []
    for _ in range(3):
        np.random.seed(0)  # noqa: NPY002 - what a program may have done before
        drawn.append(ap.swap(m, ap.Partition([0] * m.n)))
    assert len({rel.sensitive_codes.tobytes() for rel in drawn}) == 3
    assert drawn[0].warnings == () and "published" not in repr(drawn[0])


def test_missing_values_stay_missing(tmp_path):
    secrets = ["e", None, "a", "b", "e", "c", None, "e"]
    frame = pd.DataFrame({"q": range(8), "s": pd.Series(secrets, dtype=object)})
    rel = ap.swap(ap.Microdata(frame, ["q"], "s", missing="category"), ap.Partition([0] * 8))
    assert Counter(map(repr, rel.frame["s"])) == Counter(map(repr, secrets))
    [path] = rel.write(tmp_path / "out.csv")
    written = Counter(row["s"] for row in read(path))
    assert written == Counter(secret or "" for secret in secrets)


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

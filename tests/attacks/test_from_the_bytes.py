"""Random releases, attacked from the written bytes and a register by code of its own.

The attacker reads the csv files and knows everybody's quasi-identifiers and how often each secret
occurs in the table. Nothing of the package is used but what it wrote, and its audit.
"""

import os
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest
from referees.published import LEVELS, covers, read

import anonpaper as ap
from anonpaper.errors import AnonpaperError

RELEASES = 4_000 if int(os.environ.get("ANONPAPER_FUZZ", 0)) >= 10_000 else 120
QI = ["age", "town", "sex"]


def people(seed):
    """Up to 60 people; in a third of the tables some are invented."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 60))
    frame = pd.DataFrame({
        "age": rng.integers(20, 30, n), "town": rng.choice(["Bonn", "Kiel", "Ulm"], n),
        "sex": rng.choice(["f", "m"], n),
        "ill": rng.choice(["cold", "flu", "gout", "hiv"], n, p=[0.4, 0.3, 0.2, 0.1]),
    })  # fmt: skip
    synthetic = rng.random(n) < 0.2 if seed % 3 == 0 else None
    return ap.Microdata(frame, QI, "ill", synthetic=synthetic)


def grouped(m, seed):
    """A release by a random method, publication and parameters."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    require = [[], [ap.Theta(0.7)], [ap.EntropyLDiversity(1.5)]][rng.integers(3)]
    share = float(rng.choice([0, 0.1, 0.3]))
    if seed % 2:
        if seed % 4 == 1:
            return ap.recode(m, ap.tds(m, 2, require=require))
        return ap.recode(m, ap.full_domain(m, k, l=2, require=require, suppression=share))
    p = [lambda: ap.mondrian(m, k, l=2, require=require), lambda: ap.tp(m, l=2),
         lambda: ap.hilbert(m, l=2), lambda: ap.k_member(m, k), lambda: ap.oka(m, k),
         lambda: ap.klt(m, k=k, l=2, theta=0.7)][rng.integers(6)]()  # fmt: skip
    return [ap.generalize, ap.suppress, ap.swap, ap.anatomize][seed // 2 % 4](m, p)


def classes_of(rel, tables):
    """Secrets by class: the texts of the quasi-identifiers or a group number."""
    found = defaultdict(list)
    if rel.method == "swap":  # the attacker is assumed to know the groups
        shown = rel.frame.assign(group=rel.partition.labels[rel.is_published]).astype(str)
        for ill, group in zip(shown["ill"], shown["group"], strict=True):
            found[(group,)].append(ill)
        written = Counter((*(row[q] for q in QI), row["ill"]) for row in tables[0])
        assert written == Counter(shown[[*QI, "ill"]].itertuples(index=False, name=None))
    elif rel.method == "anatomize":
        for line in tables[1]:
            found[(line["group"],)] += [line["ill"]] * int(line["count"])
    else:
        for row in tables[0]:
            found[tuple(row[q] for q in QI)].append(row["ill"])
    return found


def where(rel, tables, classes, person):
    """The classes that a person can be in."""
    if rel.method == "anatomize":
        own = [str(person[q]) for q in QI]
        return {(row["group"],) for row in tables[0] if [row[q] for q in QI] == own}
    if rel.method == "swap":
        return {(str(rel.partition.labels[person.name]),)} - {("-1",)}
    return {
        c for c in classes if all(covers(text, person[q]) for text, q in zip(c, QI, strict=True))
    }


def levels(values):
    return {name: level_of(values) for name, level_of in LEVELS.items()}


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_file_shows_more_than_its_audit_says(tmp_path):
    attacked = withheld = refused = marked = 0
    for seed in range(RELEASES):
        m = people(seed)
        try:
            rel = grouped(m, seed)
            audit = rel.audit().drop_duplicates("principle").set_index("principle")["level"]
        except AnonpaperError:
            continue
        said = {name: (audit[name], audit.get(f"{name}, concluded", audit[name]))
                for name in levels("a")}  # fmt: skip
        try:
            paths = rel.write(tmp_path / "out.csv")
        except ap.errors.PromiseError:
            refused += 1
            assert m.synthetic.any()  # the promise holds for all rows, not for real people
            paths = rel.write(tmp_path / "out.csv", accept="to attack it")
        attacked += 1
        tables = [*map(read, paths)]
        classes = classes_of(rel, tables)
        # by counting the file
        for name, (file, _) in said.items():
            worst = [levels(values)[name] for values in classes.values()]
            assert (max if name == "theta" else min)(worst) == pytest.approx(file), (seed, name)
        register = m.frame[~m.synthetic]
        fewest = audit.iloc[0]
        k = audit.get("k-anonymity, concluded", audit.get("group size, concluded", fewest))
        absent = Counter(m.frame["ill"]) - Counter(i for held in classes.values() for i in held)
        nowhere = []
        for _, person in register.iterrows():
            there = where(rel, tables, classes, person)
            if not there:
                nowhere.append(person)
                continue
            rows = [ill for c in there for ill in classes[c]]
            assert len(rows) >= min(k, fewest), seed
            # who is in one of these classes; a register tells how many rows are invented
            share = max(max(Counter(classes[c]).values()) / len(classes[c]) for c in there)
            assert share <= said["theta"][1] + 1e-9, seed
        # people who fit no published class are withheld, and have what the file lacks
        if nowhere and not m.synthetic.any() and len(nowhere) == sum(absent.values()):
            withheld += 1
            theirs = list(absent.elements())
            assert levels(theirs)["theta"] <= said["theta"][1] + 1e-9, (seed, theirs)
            marked += levels(theirs)["theta"] > said["theta"][0] + 1e-9
            assert audit["rows withheld"] == len(theirs)
    assert attacked > RELEASES * 0.7 and withheld and marked and refused

"""What named attackers conclude, against counts by hand and all fillings of withheld classes.

What is counted is what the written file holds, row by row.
"""

from collections import Counter, defaultdict
from itertools import combinations, combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from referees.published import LEVELS, PARAMETERS, WAYS, covers, read, table_for, with_tables

import anonpaper as ap
from anonpaper.errors import AnonpaperError
from anonpaper.owner.arguments import METHODS, publish

NAMES = {
    ap.DistinctLDiversity: "distinct l-diversity",
    ap.FrequencyLDiversity: "frequency l-diversity",
    ap.EntropyLDiversity: "entropy l-diversity", ap.Theta: "theta", ap.KAnonymity: "k-anonymity",
}  # fmt: skip
LEVEL_OF = {**LEVELS, "k-anonymity": len}


def meets(name, level, bound):
    return level <= bound + 1e-9 if name == "theta" else level >= bound - 1e-9


def by_hand(rel, secrets):
    """Secrets of people by kind and group that the attacker tells apart; then people's groups."""
    m, withhold = rel.microdata, rel.recoding.withhold if rel.recoding is not None else ()
    if rel.shows_groups:
        place = rel.partition.labels.tolist()
    else:
        texts = rel.frame[m.qi].astype(str).agg("|".join, axis=1)
        place = texts.reindex(m.frame.index).tolist()
    shown, whole, telling, groups = rel.is_published, Counter(), {}, defaultdict(list)
    if withhold:  # look each value up in the recoding's lists
        sets = {name: rel.recoding.sub_domains(name) for name in m.qi}
        number = {q: {v: i for i, held in enumerate(sets[q]) for v in held} for q in m.qi}
        rows = zip(*(m.frame[q] for q in m.qi), strict=True)
        classes = [str([number[q][v] for q, v in zip(m.qi, row, strict=True)]) for row in rows]
        whole = Counter(classes[i] for i in np.flatnonzero(~shown))
    for size in set(whole.values()):  # could some filling of a class this large be published?
        bounds = [(NAMES[type(p)], p.bound) for p in withhold]
        ways = combinations_with_replacement(sorted(set(secrets)), size)
        telling[size] = any(
            all(meets(name, LEVEL_OF[name](way), bound) for name, bound in bounds) for way in ways
        )
    for i in np.flatnonzero(~m.synthetic):
        if shown[i]:
            key = "shown", place[i]
        elif whole and telling[whole[classes[i]]]:
            key = "class", classes[i]
        else:
            key = "rest", ""
        groups[key].append(secrets[i])
    return groups


def secrets_of(m):
    column = m.frame[m.sensitive].astype(object)
    return column.where(column.notna(), "?").tolist()


def worst_of(name, values, knows):
    """The worst level over every choice of a person whose secret the attacker knows."""
    worse = max if name == "theta" else min
    known = [value for value in values if value != "?"] or values
    return worse(
        LEVEL_OF[name](some)
        for held in (values, known)
        for some in set(combinations(sorted(held), len(held) - min(knows, len(held) - 1)))
    )


def check(rel, knows=False):
    """Compare all levels and people with those by hand; return whether anybody is above."""
    m = rel.microdata
    groups = by_hand(rel, secrets_of(m))
    table = ap.measure.attackers(rel, knows=knows).set_index("principle")
    bounds = {NAMES[type(p)]: p.bound for p in rel.promised}
    for name in LEVEL_OF:
        if name == "k-anonymity":
            row = table.iloc[0]
            told = {key: len(held) for key, held in groups.items() if key[0] == "shown"}
        else:
            row = table.loc[name]
            told = {key: worst_of(name, held, knows) for key, held in groups.items()}
        worst = (max if name == "theta" else min)(*told.values(), row["file"])
        bound = bounds.get(name, row["file"])
        above = [len(groups[key]) for key, level in told.items() if not meets(name, level, bound)]
        assert row["concluded"] == pytest.approx(worst), (name, row)
        assert (row["people"], row["of"]) == (sum(above), np.count_nonzero(~m.synthetic))
        if row["attacker"] == "counts the file":
            assert row["concluded"] == row["file"]
        elif not knows:
            kinds = {key[0] for key, level in told.items() if level == pytest.approx(worst)}
            says = {"is told the values of a withheld class": "class",
                    "is told the values of other withheld people": "rest"}  # fmt: skip
            assert says.get(row["attacker"], "shown") in kinds
    out = [LEVELS["theta"](held) for key, held in groups.items() if key[0] != "shown"]
    assert rel.withheld == pytest.approx(((~rel.is_published).sum(), max(out, default=np.nan)),
                                         nan_ok=True)  # fmt: skip
    audit = rel.audit()
    audit = audit[audit["principle"] != "warning"].set_index("principle")
    assert audit.index.is_unique
    for name, row in table.iterrows():
        if not knows and row["people"] and not np.isnan(row["promised"]):
            people = f"{row['people']:,} of {row['of']:,} people"
            assert people in audit.loc[f"{name}, concluded"]["meaning"]
            assert any(people in text for text in rel.warnings)
    return table["people"].sum() > 0


def groups_of(tables):
    """The rows of tables by the group that they show, if any, in no order."""
    groups = defaultdict(list)
    for table in tables:
        for row in table:
            groups[row.pop("group", "")].append(sorted(row.items()))
    return sorted(map(sorted, groups.values()))


def check_bytes(rel, path):
    """The written files hold the rows of the frames, and nothing else."""
    frames = (rel.qit, rel.st) if rel.method == "anatomize" else (rel.frame,)
    texts = [of.astype(object).where(of.notna(), "").astype(str) for of in frames]
    files = [read(of) for of in rel.write(path, accept="to attack it")]
    assert groups_of(files) == groups_of(text.to_dict("records") for text in texts)


def check_rows(rel):
    """Every published row is of its own person and allows what the person has, as it is read."""
    m, shown = rel.microdata, rel.is_published
    source, secrets = m.frame[shown], pd.Series(secrets_of(m), m.frame.index)[shown]
    frame, groups = rel.frame, rel.partition.labels[shown]
    assert frame.index.equals(source.index)
    if rel.method == "anatomize":
        assert rel.qit[m.qi].equals(source[m.qi])
        lines = rel.st[["group", "ill", "count"]].itertuples(index=False)
        told = {(group, str(ill)): count for group, ill, count in lines}
        assert told == Counter(zip(groups, secrets, strict=True))
        return
    for name in m.qi:
        a = m.attribute(name)
        order = [str(value) for value in a.values] if a.ordered and not a.numeric else None
        pairs = zip(frame[name], source[name], strict=True)
        assert all(covers(written, value, order) for written, value in pairs)
    told = frame["ill"].astype(object).where(frame["ill"].notna(), "?").astype(str)
    if rel.method == "swap":
        assert frame[m.qi].equals(source[m.qi])
        told, secrets = (of.groupby(groups).agg(sorted) for of in (told, secrets.astype(str)))
    assert list(frame) == [*m.qi, "ill"] and told.tolist() == secrets.tolist()
    if m.synthetic.any():  # without the invented rows it is that of the real ones
        real = rel.without_synthetic().frame.astype(str).to_numpy().tolist()
        assert real == frame[~m.synthetic[shown]].astype(str).to_numpy().tolist()


PARAMETERS_TOO = [
    {"k": 3, "l": 2, "suppression": 0.3},
    {"k": 2, "require": [ap.Theta(0.6)], "suppression": 0.4},
    {"k": 3, "require": [ap.EntropyLDiversity(1.8)], "suppression": 0.4},
    {"k": 1, "l": 2, "diversity": "frequency", "suppression": 0.4},
]


def with_marks(m, seed):
    """The same table, with some rows invented or some secrets missing."""
    rng = np.random.default_rng(seed)
    frame = m.frame.assign(ill=m.frame["ill"].astype(str))
    if seed % 3 == 1:
        frame.loc[rng.random(m.n) < 0.15, "ill"] = None
    synthetic = (rng.random(m.n) < 0.25) & (seed % 3 == 2)
    return ap.Microdata(frame, m.qi, "ill", missing="category", synthetic=synthetic)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("way", "seed"), with_tables(WAYS, 240))
def test_every_method_and_publication_by_hand(way, seed, tmp_path):
    name, form = way
    m = with_marks(table_for(name, seed), seed)
    try:
        rel = publish(m, METHODS[name], form, PARAMETERS[name])
    except AnonpaperError:
        assert seed % 3, "without marks nothing is refused"
        return
    check(rel)
    check(rel, bool(seed % 2))
    check_rows(rel)
    check_bytes(rel, tmp_path / "out.csv")
    if seed % 3 == 0:  # what the method was asked for
        groups = by_hand(rel, secrets_of(m)).values()
        assert min(map(len, groups)) >= PARAMETERS[name].get("k", 1)
        assert min(len(set(group)) for group in groups) >= PARAMETERS[name].get("l", 1)


def test_withheld_classes_by_every_filling():
    """Classes of up to eight people: each possible filling says whether withholding one tells."""
    told = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(12, 40))
        frame = pd.DataFrame({"age": rng.integers(0, 6, n), "town": rng.choice(list("uvwx"), n),
                              "ill": rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1])})  # fmt: skip
        m = with_marks(ap.Microdata(frame, ["age", "town"], "ill"), seed)
        try:
            r = ap.full_domain(m, **PARAMETERS_TOO[seed % 4])
        except AnonpaperError:
            continue
        told += check(ap.recode(m, r))
        check(ap.recode(m, r), 1)
    assert told > 60


def test_rows_unseen_last_year_tell_nothing_of_their_classes():
    frame = pd.DataFrame({"age": [1, 1, 2, 2], "ill": list("abab")})
    m = ap.Microdata(frame, ["age"], "ill")
    r = ap.full_domain(m, k=2, l=2, suppression=0.5)
    later = pd.DataFrame({"age": [1, 1, 2, 2, 9, 9, 9], "ill": list("ababaaa")})
    rel = ap.recode(ap.Microdata(later, ["age"], "ill"), r, unseen="suppress")
    found = ap.measure.attackers(rel).set_index("principle").loc["theta"]
    assert found["concluded"] == 1
    assert found["attacker"] == "is told the values of other withheld people"

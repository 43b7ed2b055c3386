"""What named attackers conclude, against counts by hand and all fillings of withheld classes."""

from collections import Counter, defaultdict
from itertools import combinations, combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from referees.published import LEVELS, PARAMETERS, WAYS, covers, random_table, refused, with_tables

import anonpaper as ap
from anonpaper.errors import AnonpaperError
from anonpaper.owner.methods import METHODS, publish, run


def of(rel, principle):
    return ap.measure.attackers(rel).set_index("principle").loc[principle]


def shown(rel):
    audit = rel.audit()
    assert audit["principle"][audit["principle"] != "warning"].is_unique
    return audit.drop_duplicates("principle").set_index("principle")


def withheld_classes(rel):
    """The class of every row, by looking each of its values up in the recoding's lists."""
    m, r = rel.microdata, rel.recoding
    ids = []
    for name in m.qi:
        number = {v: i for i, values in enumerate(r.sub_domains(name)) for v in values}
        ids.append([number[v] for v in m.frame[name]])
    return list(map(str, zip(*ids, strict=True)))


BOUNDS = {
    ap.DistinctLDiversity: ("distinct l-diversity", lambda p: p.l),
    ap.FrequencyLDiversity: ("frequency l-diversity", lambda p: p.l),
    ap.EntropyLDiversity: ("entropy l-diversity", lambda p: p.l),
    ap.Theta: ("theta", lambda p: p.theta),
    ap.KAnonymity: ("k-anonymity", lambda p: p.k),
}


def meets(name, level, bound):
    return level <= bound + 1e-9 if name == "theta" else level >= bound - 1e-9


def fails(principle, values):
    name, bound = BOUNDS[type(principle)][0], BOUNDS[type(principle)][1](principle)
    return not meets(name, len(values) if name == "k-anonymity" else LEVELS[name](values), bound)


def known(values):
    return [value for value in values if value != "?"] or list(values)


def by_hand(rel, secrets):
    """The group of every person by what the attacker tells apart, with its kind; else None."""
    m, out = rel.microdata, ~rel.is_published
    if rel.method in ("swap", "anatomize"):
        place = rel.partition.labels.tolist()
    else:
        place = dict(
            zip(rel.frame.index, map(tuple, rel.frame[m.qi].astype(str).to_numpy()), strict=True)
        )
        place = [place.get(label) for label in m.frame.index]
    keys = [None] * m.n
    whole, telling = Counter(), {}
    if rel.recoding is not None and rel.recoding.withhold:
        classes = withheld_classes(rel)
        whole = Counter(classes[i] for i in np.flatnonzero(out))
    for size in whole.values():  # could some filling of a class this large be published?
        ways = combinations_with_replacement(sorted(set(secrets)), size)
        met = (not any(fails(p, way) for p in rel.recoding.withhold) for way in ways)
        telling[size] = telling[size] if size in telling else any(met)
    for i in np.flatnonzero(~m.synthetic):
        if not out[i]:
            keys[i] = ("shown", place[i])
        elif whole and telling[whole[classes[i]]]:
            keys[i] = ("class", classes[i])
        else:
            keys[i] = ("rest", "")
    return keys


def grouped(keys, secrets):
    groups = defaultdict(list)
    for key, secret in zip(keys, secrets, strict=True):
        if key is not None:
            groups[key].append(secret)
    return groups


def secrets_of(m):
    column = m.frame[m.sensitive].astype(object)
    return column.where(column.notna(), "?").tolist()


def worst_of(level_of, worse, values, knows):
    """The worst level over every choice of people whose secrets the attacker knows."""
    left = len(values) - min(knows, len(values) - 1)
    return worse(map(level_of, set(combinations(sorted(values), left))))


def check(rel, knows=0):
    """Compare all levels and people with those by hand; return whether anybody is above."""
    m, secrets = rel.microdata, secrets_of(rel.microdata)
    groups = grouped(by_hand(rel, secrets), secrets)
    table = ap.measure.attackers(rel, knows=knows).set_index("principle")
    bounds = {BOUNDS[type(p)][0]: BOUNDS[type(p)][1](p) for p in rel.promised}
    for name, level_of in {**LEVELS, "k-anonymity": len}.items():
        row, worse = table.iloc[0], max if name == "theta" else min
        told = {key: len(held) for key, held in groups.items() if key[0] == "shown"}
        if name != "k-anonymity":
            row = table.loc[name]
            told = {
                key: worse(worst_of(level_of, worse, some, knows) for some in (held, known(held)))
                for key, held in groups.items()
            }
        worst = worse(*told.values(), row["file"])
        bound = bounds.get(name, row["file"])
        above = [len(groups[key]) for key, level in told.items() if not meets(name, level, bound)]
        assert row["concluded"] == pytest.approx(worst), (name, row)
        assert row["people"] == sum(above), (name, row)
        assert row["of"] == np.count_nonzero(~m.synthetic)
        if row["attacker"] == "counts the file":
            assert row["concluded"] == row["file"]
        elif not knows:
            kinds = {key[0] for key, level in told.items() if level == pytest.approx(worst)}
            says = {"is told the values of a withheld class": "class",
                    "is told the values of other withheld people": "rest"}  # fmt: skip
            assert says.get(row["attacker"], "shown") in kinds
    said = shown(rel)
    for name, row in table.iterrows():
        if not knows and row["people"] and not np.isnan(row["promised"]):
            people = f"{row['people']:,} of {row['of']:,} people"
            assert people in said.loc[f"{name}, concluded"]["meaning"]
            assert any(people in text for text in rel.warnings)
    return table["people"].sum() > 0


def check_rows(rel):
    """Every published row is of its own person and allows what the person has, as it is read."""
    m, shown = rel.microdata, rel.is_published
    source = m.frame[shown]
    secrets = pd.Series(secrets_of(m), m.frame.index)[shown]
    if rel.method == "anatomize":
        assert rel.qit[m.qi].equals(source[m.qi])
        counts = Counter(zip(rel.partition.labels[shown], secrets, strict=True))
        lines = rel.st[["group", "ill", "count"]].itertuples(index=False)
        assert {(group, str(ill)): count for group, ill, count in lines} == counts
        return
    frame = rel.frame
    assert frame.index.equals(source.index) and list(frame) == [*m.qi, "ill"]
    for name in m.qi:
        a = m.attribute(name)
        order = [str(value) for value in a.values] if a.ordered and not a.numeric else None
        pairs = zip(frame[name], source[name], strict=True)
        assert all(covers(written, value, order) for written, value in pairs)
    groups = rel.partition.labels[shown] if rel.method == "swap" else np.arange(len(frame))
    told, true = (
        ill.groupby(groups).agg(lambda some: sorted(map(str, some))).tolist()
        for ill in (frame["ill"].astype(object).where(frame["ill"].notna(), "?"), secrets)
    )
    assert told == true
    assert rel.method != "swap" or frame[m.qi].equals(source[m.qi])
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
    synthetic = rng.random(m.n) < 0.25 if seed % 3 == 2 else None
    if synthetic is not None and synthetic.all():
        synthetic = None
    return ap.Microdata(frame, m.qi, "ill", missing="category", synthetic=synthetic)


@pytest.mark.filterwarnings("ignore::anonpaper.partition.klt.UnplacedRowsWarning")
@pytest.mark.parametrize(("way", "seed"), with_tables([w for w in WAYS if not refused(*w)], 240))
def test_every_method_and_publication_by_hand(way, seed):
    name, form = way
    few = {"exact": 8, "optimal_two_diverse": 24}.get(name)
    m = with_marks(random_table(seed, few, 2 if name == "optimal_two_diverse" else 4), seed)
    try:
        m, result = run(METHODS[name], m, PARAMETERS[name])
        rel = publish(m, result, form, {}, None)
    except AnonpaperError:
        assert seed % 3, "without marks nothing is refused"
        return
    check(rel)
    check(rel, seed % 3)
    check_rows(rel)
    if seed % 3 == 0:  # what the method was asked for
        groups = grouped(by_hand(rel, secrets := secrets_of(m)), secrets).values()
        assert min(map(len, groups)) >= PARAMETERS[name].get("k", 1)
        assert min(LEVELS["distinct l-diversity"](g) for g in groups) >= PARAMETERS[name].get(
            "l", 1
        )


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
    found = of(rel, "theta")
    assert found["concluded"] == 1
    assert found["attacker"] == "is told the values of other withheld people"

"""What one asks of a table of one's own: 1,000,000 rows of seven QI, two secrets, 250,000 people.

The yardstick is one pandas groupby of the same columns, sizes of groups, on categories coded
beforehand. Tables are coded beforehand too; each step reads the counts of cells or of rows anew.
The searches, full_domain and tds, are measured per node or specialization that they look at.
"""

import measure
import numpy as np
import pandas as pd

import anonpaper as ap
from anonpaper.publish.conclusions import LEVELS

ROWS, PEOPLE = 1_000_000, 250_000
QI = {"age": 80, "sex": 2, "race": 9, "birthplace": 50, "education": 17, "marital": 6, "work": 9}
REQUIRED = [
    ap.DistinctLDiversity(3), ap.EntropyLDiversity(1.5), ap.RecursiveLDiversity(9, 2),
    ap.TCloseness(0.6), ap.Theta(0.9),
]  # fmt: skip


def rows():
    frame = people()
    one, two, visits = (
        ap.Microdata(frame, list(QI), secrets, person=whose)
        for secrets, whose in [("ill", None), (["ill", "drug"], None), ("ill", "person")]
    )
    for m in (one, two, visits):
        m.codes, m.people  # noqa: B018
        [m.codes_of(name) for name in m.sensitives]
    unit = measure.best_seconds(
        lambda: frame.groupby(list(QI), observed=True, sort=False).size(), repeat=1
    )

    def against(what, function):
        results = []
        seconds = measure.best_seconds(lambda: results.append(function()), repeat=1)
        looked = results[0].info["candidates"] if isinstance(results[0], ap.Recoding) else 1
        return measure.against(what, seconds / looked, "pandas groupby", unit, 10)

    flat = {a.name: ap.Hierarchy.flat(a.values) for a in one.attributes}
    groups = {m: ap.mondrian(m, 50) for m in (one, two, visits)}
    whole = np.zeros(ROWS, int)
    yield against("mondrian, k", lambda: ap.mondrian(one, 50))
    yield against("mondrian, five principles", lambda: ap.mondrian(one, 50, require=REQUIRED))
    yield against("mondrian, two secrets", lambda: ap.mondrian(two, 50, 2, diversity="distinct"))
    yield against("mondrian, people", lambda: ap.mondrian(visits, 50))
    for name, m in {"one secret": one, "two secrets": two, "people": visits}.items():
        rel = ap.suppress(m, groups[m])
        rel.classes  # noqa: B018
        yield against(f"audit, {name}", lambda: ap.measure.attackers(rel))  # noqa: B023
    withheld = ap.recode(one, ap.full_domain(one, 50, flat, l=2, suppression=0.01))
    shown = withheld.audited()
    counted = measure.best_seconds(
        lambda: [principle.level(shown) for _, principle, _ in LEVELS], repeat=1
    )
    for name, options in {"": {}, ", one secret known": {"knows": 1}}.items():
        seconds = measure.best_seconds(lambda: ap.measure.attackers(withheld, **options), repeat=1)  # noqa: B023
        yield measure.against(f"attackers{name}", seconds, "counting the file", counted, 10)
    yield against("levels of the whole table", lambda: REQUIRED[1].level(two, whole))
    for name, m, suppression in [("", one, 0), (", people", visits, 0), (", a budget", one, 0.01)]:
        yield against(
            f"full_domain{name}, a node",
            lambda: ap.full_domain(m, 50, flat, require=REQUIRED[:1], suppression=suppression),  # noqa: B023
        )
    yield against("tds, a budget, a step", lambda: ap.tds(one, 2, flat, suppression=0.01))


def people():
    """Columns with dominant values; a person's quasi-identifiers stay, secrets change."""
    rng = np.random.default_rng(0)
    who = rng.integers(0, PEOPLE, ROWS)
    columns = {
        name: np.minimum(rng.geometric(3 / size, PEOPLE) - 1, size - 1)[who]
        if size > 2
        else rng.integers(0, size, PEOPLE)[who]
        for name, size in QI.items()
    }
    frame = pd.DataFrame(columns).astype("category")
    frame["age"] = columns["age"]
    frame["ill"] = rng.integers(0, 10, ROWS)
    frame["drug"] = rng.integers(0, 40, ROWS)
    return frame.assign(person=who)

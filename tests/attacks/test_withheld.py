"""People withheld: who is in the table but not in the release has what the release lacks."""

import numpy as np
from referees.published import as_people, random_table, read

import anonpaper as ap
from anonpaper.groups import dense_labels


def test_the_audit_says_what_the_absence_of_people_tells(tmp_path):
    """The attacker knows how often every secret occurs in the table, and the register."""
    tried = 0
    for seed in range(100):
        m = as_people(random_table(seed))
        labels = np.arange(m.n) // 4  # sorted by the secret: the first have the same
        labels[: seed % 9] = -1
        rel = ap.swap(m, ap.Partition(dense_labels(labels)))
        audit = rel.audit().set_index("principle")["level"]
        if not seed % 9:
            assert "rows withheld" not in audit
            continue
        tried += 1
        rows = read(rel.write(tmp_path / "out.csv")[0])
        lacking = m.frame["ill"].astype(str).value_counts()
        for row in rows:
            lacking[row["ill"]] -= 1
        absent = set(m.frame["pseudonym"]) - {row["pseudonym"] for row in rows}
        assert audit["rows withheld"] == len(absent) == lacking.sum()
        assert audit["theta of them"] == lacking.max() / lacking.sum() == rel.withheld[1]
    assert tried > 80


def test_without_a_secret_only_the_number_is_said():
    m = random_table(0).with_roles(sensitive=None)
    audit = ap.suppress(m, ap.Partition([0] * (m.n - 2) + [-1, -1])).audit()
    assert audit["principle"].tolist() == ["k-anonymity", "rows withheld"]

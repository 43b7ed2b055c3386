"""The author's program: its groups against a row-by-row version with the same departures."""

import numpy as np
import pandas as pd
from boger2020_program import DEPARTURES, program_groups
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.klt import RowByRow

import anonpaper as ap


class Departing(RowByRow):
    """The steps of the text, row by row, with some departures."""

    def __init__(self, m, k, l, theta, weights, seed, departures):
        super().__init__(m, k, l, theta, weights, seed=seed, withheld="drop")
        self.departures = departures
        if "file order" in departures:
            self.order = list(range(m.n))
            self.place = {row: row for row in self.order}
        if "ages by 90" in departures:
            self.parts = [
                (kind, weight * (a.width / (a.positions[-1] or 1)) ** 2, j, a)
                if a.numeric
                else (kind, weight, j, a)
                for kind, weight, j, a in self.parts
            ]

    def run(self):
        unassigned, clusters = list(self.order), []
        while True:
            backup = self.form_clusters(unassigned, clusters)
            if "last in first out" in self.departures:
                backup = backup[::-1]
            unassigned = self.empty_backup(backup, clusters)
            if not unassigned:
                break
            if "last in first out" not in self.departures:
                unassigned.sort(key=self.place.get)
            self.repeats += 1
        if "one pass" in self.departures:
            self.merge_once(clusters)
        else:
            self.merge(clusters)
        labels = np.full(self.m.n, -1)
        for label, rows in enumerate(rows for rows in clusters if rows):
            labels[rows] = label
        return labels

    def empty_backup(self, backup, clusters):
        if "theta before" not in self.departures:
            return super().empty_backup(backup, clusters)
        unassigned = []
        for row in backup:
            eligible = []
            for cluster in clusters:
                counts = self.counts([*cluster, row])
                is_new = counts[self.sensitive[row]] == 1
                fits = max(counts.values()) / len(cluster) < self.theta - 1e-9
                if len(cluster) < self.k and (is_new or fits):
                    eligible.append(cluster)
            if eligible:
                min(eligible, key=lambda cluster: self.distance([row], cluster)).append(row)
            else:
                unassigned.append(row)
        return unassigned

    def merge_once(self, clusters):
        for c in range(len(clusters)):
            if not clusters[c] or self.all_hold(clusters[c]):
                continue
            others = [o for o in range(len(clusters)) if o != c and clusters[o]]
            others.sort(key=lambda o: (self.distance(clusters[c], clusters[o]), o))
            good = [o for o in others if self.all_hold(clusters[c] + clusters[o])]
            fair = [o for o in others if self.theta_holds(clusters[c] + clusters[o])]
            if good + fair:
                other = (good + fair)[0]
                clusters[c], clusters[other] = clusters[c] + clusters[other], []


def same_groups(labels, others):
    pairs = pd.DataFrame({"a": labels, "b": others}).drop_duplicates()
    return len(pairs) == pairs["a"].nunique() == pairs["b"].nunique() and np.array_equal(
        np.asarray(labels) < 0, np.asarray(others) < 0
    )


@st.composite
def tables(draw):
    n = draw(st.integers(4, 40))

    def column(values):
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    frame = pd.DataFrame(
        {
            "age": column([17, 20, 30, 61, 90]),
            "sex": pd.Categorical(column(["f", "m"]), categories=["f", "m"]),
            "town": pd.Categorical(column(list("abcd")), categories=list("abcd")),
            "ill": pd.Categorical(column(list("uvwxyz")), categories=list("uvwxyz")),
        }
    )
    return ap.Microdata(frame, qi=["age", "sex", "town"], sensitive="ill")


@settings(max_examples=120)
@given(
    tables(),
    st.tuples(st.integers(2, 7), st.integers(1, 4), st.sampled_from([0.4, 0.5, 0.75])),
    st.dictionaries(st.sampled_from(["age", "sex", "town"]), st.sampled_from([0, 1, 5])),
    st.sets(st.sampled_from(DEPARTURES)),
    st.integers(0, 3),
)
def test_groups_are_those_made_row_by_row(m, rule, weights, departures, seed):
    plain = Departing(m, *rule, weights, seed, departures)
    expected = plain.run()
    p = program_groups(m, *rule, weights, seed, departures=departures)
    assert same_groups(p.labels, expected)
    assert p.info["repeats"] == plain.repeats


def test_without_departures_it_is_klt():
    m = ap.load("adult", qi=["race", "education", "sex", "age"], rows=3000, seed=4)
    text = ap.klt(m, weights={"sex": 5}, seed=2, withheld="drop")
    p = program_groups(m, weights={"sex": 5}, seed=2, departures=())
    assert np.array_equal(p.labels, text.labels)
    assert p.info == {"repeats": text.info["repeats"], "formed": text.info["formed"]}

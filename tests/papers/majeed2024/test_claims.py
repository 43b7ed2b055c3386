"""What tells methods of majeed2024 apart, and what supports a reason."""

import numpy as np
import pandas as pd
import pytest

from anonpaper.compendium import judge
from anonpaper.compendium.intervals import NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from anonpaper.compendium.tables import reference

CLAIMS = {entry.id: entry for entry in judge.of_paper("majeed2024")}
METHODS = ("Proposed", "LD", "HyObscure", "MRMondrian")
ASKED = {"Proposed": "disclosure-all", "LD": "worst"}


def experiment(id, table):
    """Return what the experiment of a reason finds, from its only table."""
    reason = CLAIMS[id].fields["reason"]
    return judge._finding("majeed2024", reason, {reason["table"]: table})


def risks(of):
    """Return a table of risks, of all methods but one 0.5, at two k and two seeds."""
    grid = pd.MultiIndex.from_product(
        [["adult"], METHODS, [2, 10], [0, 1], ["enforce", "best effort"],
         ["above 0", "0.69 bits", "0.69 nats"], ["all"]],
        names=["name", "method", "k", "seed", "mode", "threshold", "who"],
    )  # fmt: skip
    table = grid.to_frame(index=False)
    ours = table["method"] == "Proposed"
    was_run = (ours & (table["mode"] == "enforce")) | (~ours & (table["threshold"] == "above 0"))
    risk = np.vectorize(lambda name: of.get(name, 0.5))(table["method"])
    readings = dict.fromkeys(["D own", "D values", "D largest"], risk)
    return table.assign(**readings)[was_run]


@pytest.mark.parametrize("method", ASKED)
def test_what_is_equal_for_all_methods_is_no_evidence(method):
    def found(of):
        return CLAIMS[ASKED[method]].found(risks(of))[0]

    assert found({}).verdict == NOT_TESTABLE and "cannot tell" in found({}).measured
    lower, higher = (found({method: value}).verdict for value in (0.4, 0.6))
    assert (lower, higher) == (
        (REPRODUCED, NOT_REPRODUCED) if method == "Proposed" else (NOT_REPRODUCED, REPRODUCED)
    )
    # to be as low as the lowest is to be lowest, where others are not
    assert found({"MRMondrian": 0.9}).verdict != NOT_TESTABLE


def seconds(by_k):
    """Return the seconds of the proposed method on two tables."""
    rows = [("Proposed", name, k, value) for name in "ab" for k, value in by_k.items()]
    return pd.DataFrame(rows, columns=["method", "name", "k", "seconds"])


def test_two_points_are_no_proportion():
    def found(by_k):
        return experiment("rises-with-k", seconds(by_k))

    assert found({2: 5.1, 10: 1.1, 50: 0.3}).verdict == REPRODUCED
    assert found({2: 5.1, 10: 5.0, 50: 0.3}).verdict == NOT_REPRODUCED
    too_few = found({2: 5.1, 100: 0.3})
    assert too_few.verdict == NOT_REPRODUCED and "too few" in too_few.measured


@pytest.mark.parametrize(("rows", "same"), [([1000, 1000], True), ([1000, 999], False)])
def test_tables_of_the_same_size_are_told(rows, same):
    found = experiment("slowest-table", pd.DataFrame({"name": ["adult", "stroke"], "rows": rows}))
    assert (found.verdict == REPRODUCED) == same
    assert found.measured == f"rows: adult: 1,000, stroke: {rows[1]:,}"


@pytest.mark.parametrize(
    ("frequent", "rare", "supported"), [(0.6, 0.7, True), (0.9, 0.7, False), (0.6, 0.2, False)]
)
def test_naming_the_frequent_value_less_is_seen_in_both_recalls(frequent, rare, supported):
    """The most accurate other method is LD, whose recalls are 0.9 and 0.3."""
    columns = ["method", "accuracy", "recall of the dominant value", "recall of the rare value"]
    rows = [("Proposed", 0.6, frequent, rare), ("LD", 0.8, 0.9, 0.3), ("SDDA", 0.7, 0.1, 0.9)]
    figure_9 = pd.DataFrame(rows, columns=columns).assign(name="adult", k=10, seed=0)
    assert (experiment("accuracy", figure_9).verdict == REPRODUCED) == supported


def test_what_the_claims_quote_is_what_the_paper_prints():
    risk = reference("majeed2024_tab11_records_at_risk").set_index("dataset")
    for name, count in risk["existing_count"].items():
        assert CLAIMS[f"at-risk-{name}"].published == f"{count:,}"
    left = [
        f"{n} from {r.existing_count:,.0f} to {r.proposed_count:,.0f}" for n, r in risk.iterrows()
    ]
    assert CLAIMS["at-risk-after"].published == ", ".join(left)
    table_12 = reference("majeed2024_tab12_generalizations").set_index("dataset")
    improved = ", ".join(f"{n} {pct:.2f} %" for n, pct in table_12["improvement_pct"].items())
    for id in ("generalizations", "table-12-improvements"):
        assert CLAIMS[id].published == improved
    headlines = reference("majeed2024_headlines").set_index("quantity")["improvement_pct"]
    for id in ("risk-of-small", "risk-of-large", "three-metrics"):
        quantity = CLAIMS[id].rows.split("'")[1]
        assert CLAIMS[id].published == f"{headlines[quantity]} %"
    gains = {n: f"{n} {headlines[f'accuracy on {n.title()}']:+.2f} %"
             for n in ("adult", "stroke", "census", "diabetes")}  # fmt: skip
    assert CLAIMS["gains"].published == ", ".join(gains.values())
    del gains["census"]
    assert CLAIMS["repairing"].published == ", ".join(gains.values())
    assert CLAIMS["reconstruction-headline"].published == f"{headlines['reconstruction']} %"
    exposed = reference("majeed2024_tab10_exposure")
    lowest = exposed.loc[exposed.groupby("dataset")["exposure_pct"].idxmin(), "method"]
    assert set(lowest) == {"Proposed"} and "lowest on all" in CLAIMS["exposure-all"].published
    exposed = exposed.query("method == 'Proposed'")
    pairs = zip(exposed["dataset"], exposed["exposure_pct"], strict=True)
    assert CLAIMS["exposure-values"].published == ", ".join(f"{n} {pct} %" for n, pct in pairs)


@pytest.mark.parametrize(
    ("id", "method", "word"),
    [("disclosure-all", "Proposed", "lowest"), ("second-best", "HyObscure", "lowest"),
     ("worst", "LD", "highest")],
)  # fmt: skip
def test_printed_ranks_are_counted_in_tables_6_to_9(id, method, word):
    cells = reference("majeed2024_tab6-9_disclosure_risk")
    if method != "Proposed":
        cells = cells[cells["method"] != "Proposed"]
    wide = cells.pivot(index=["dataset", "k"], columns="method", values="disclosure_risk")
    end = wide.min(axis=1) if word == "lowest" else wide.max(axis=1)
    number = (wide[method] == end).sum()
    published = CLAIMS[id].published.removesuffix(" (DCA among the baselines)")
    assert published == f"{word}, ties included, in {number} of {len(wide)} columns"


def test_most_others_are_more_than_half_of_them():
    cells = reference("majeed2024_tab6-9_disclosure_risk")
    wide = cells.pivot(index=["dataset", "k"], columns="method", values="disclosure_risk")
    others = wide.drop(columns="Proposed")
    number = (others.ge(wide["Proposed"], axis=0).sum(axis=1) > others.shape[1] / 2).sum()
    most = f"most others (DCA among them) in {number} of {len(wide)} columns"
    assert CLAIMS["disclosure-most"].published == f"lower, ties included, than {most}"


@pytest.mark.parametrize(("higher", "verdict"), [(1, NOT_REPRODUCED), (2, REPRODUCED)])
def test_lower_than_most_others_is_lower_than_two_of_three(higher, verdict):
    of = {name: 0.6 if place < higher else 0.4 for place, name in enumerate(METHODS[1:])}
    assert CLAIMS["disclosure-most"].found(risks(of))[0].verdict == verdict

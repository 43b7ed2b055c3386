"""Claims: verdicts follow from the measured tables, and a missing table is "not run"."""

import itertools
import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from project.tools import load_tool

from anonpaper.compendium import catalogue, intervals, judge
from anonpaper.compendium.intervals import (
    DIRECTION,
    NOT_REPRODUCED,
    NOT_RUN,
    NOT_TESTABLE,
    REPRODUCED,
    UNDECIDED,
)
from anonpaper.compendium.judge import Finding
from anonpaper.compendium.tables import read_table
from anonpaper.errors import ParameterError

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "figures" / "paper"
ENTRIES = [
    entry for paper in (*catalogue.papers(), *catalogue.asked()) for entry in judge.of_paper(paper)
]
RUN = [
    entry
    for entry in ENTRIES
    if (MEASURED / "manifest" / entry.paper / f"{entry.notebook}.json").exists()
    and all((MEASURED / entry.paper / f"{table}.csv").exists() for table in entry.tables)
]
FEWER = 'by = "algorithm"\nat = ["l", "seed"]\nvalue = "stars"\nsays = "`TP+` <= TP"'


def judged(entered, text="", **entries):
    """Return the only claim as a row, or the rows of several by their ids."""
    folder = entered(**(entries or {"a": text}))
    rows = judge.judge("xiao2010", folder).to_dict("records")
    return {row["id"]: row for row in rows} if entries else rows[0]


# ---- entries ----------------------------------------------------------------------------------


def test_a_paper_without_entries_has_no_claims(tmp_path):
    assert judge.of_paper("nobody1999") == ()
    frame = judge.judge("nobody1999", tmp_path)
    assert frame.empty and list(frame.columns) == judge.COLUMNS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "either says or check"),
        (FEWER + '\ncheck = "given"', "either says or check"),
        (FEWER + '\nsaid = "twice"', r"unknown \['said'\]"),
        (FEWER + '\nkind = "opinion"', "kind is one of measured"),
        (FEWER + '\nreadings.by = { "one" = "algorithm" }', "of a reading quotes the paper"),
        (FEWER + '\nreadings.by = { line = "", "one" = "algorithm" }', "quotes the paper"),
        (FEWER + '\nestimand = "median"', "estimand is one of mean, single run"),
        (FEWER + '\nquantifier = "often"', "quantifier is one of everywhere, mostly"),
        (FEWER + '\nlike = "b"', "`like` names 'b', which is no entry"),
        (FEWER + "\n[other2000.a]\n", "entries of"),
    ],
)
def test_entries_that_cannot_be_judged_are_refused(entered, text, message):
    entered(a=text)
    with pytest.raises(ParameterError, match=message):
        judge.of_paper("xiao2010")


@pytest.mark.parametrize("verdict", ["confirmed", NOT_RUN])
def test_a_finding_has_a_verdict_that_a_judge_can_give(verdict):
    with pytest.raises(ParameterError, match=f"'reproduced in direction'.*got '{verdict}'"):
        Finding(1, verdict)


def test_an_entry_takes_from_another_what_it_does_not_say(entered):
    rows = judged(entered, _a=FEWER, b='like = "_a"', c='like = "b"\nwhere = "Figure 3"')
    assert [*rows] == ["b", "c"], "an id that begins with _ is no claim"
    assert rows["c"]["verdict"] == REPRODUCED and rows["c"]["where"] == "Figure 3"


def test_texts_are_put_in(entered):
    row = judged(entered, FEWER + '\ndiffers = "{OURS}, twice"\n[texts]\nOURS = "our rows"\n')
    assert row["differs"] == "our rows, twice"


# ---- judging ----------------------------------------------------------------------------------


def test_a_claim_is_judged_from_its_table(entered):
    assert judged(entered, FEWER + '\npublished = "3 to 4"\ndiffers = "other rows"') == {
        "id": "a",
        "paper": "xiao2010",
        "kind": "measured",
        "notebook": "1_example",
        "where": "Figure 2",
        "claim": "fewer stars",
        "tables": "stars",
        "how": "`TP+` <= TP; at l, seed; by algorithm.",
        "estimand": "the saved numbers themselves",
        "published": "3 to 4",
        "measured": "at 4 of 4 settings",
        "interval": "",
        "spread": "one run",
        "tolerance": "at every setting; in direction: at 80 % of them",
        "verdict": REPRODUCED,
        "robust": "",
        "needed": (),
        "readings": [],
        "lines": "",
        "detail": "",
        "reason": "",
        "tested in": "",
        "differs": "other rows",
        "drawn by": "xiao2010/1_example",
    }


ALL = "rows = \"algorithm == 'TP'\"\nsays = "
ALIKE = 'margin = {}\nsays = "alike: pd.DataFrame([stars - {}])"'
FITS = 'let.runs = "pd.DataFrame([stars.tolist()])"\nsays = "fits: runs, {}"'
DRAWS = 'at = ["l"]\nseeds = "seed"\nvalue = "stars"\n'


@pytest.mark.parametrize(
    ("text", "verdict", "measured"),
    [
        (ALL + '"all: stars > 7"', REPRODUCED, "4 of 4"),
        (ALL + '"all: stars > 8"', NOT_REPRODUCED, "3 of 4"),
        (ALL + '"all: stars > 8"\ndirection = 0.75', DIRECTION, "3 of 4"),
        (ALL + '"some: stars > 9"', REPRODUCED, "1 of 4"),
        (ALL + '"some: stars > 10"', NOT_REPRODUCED, "0 of 4"),
        (ALL + '"none: stars > 10"', REPRODUCED, "0 of 4"),
        (ALL + '"none: stars > 9"', NOT_REPRODUCED, "1 of 4"),
        ('rows = "l == 7"\nsays = "all: stars > 0"', NOT_REPRODUCED, "0 of 0"),
        ('says = "share >= 0.3: stars > 0"', REPRODUCED, "8 of 8"),
        ('says = "share >= 0.9: stars > 0"', UNDECIDED, "8 of 8"),
        ('says = "share <= 0.3: stars > 0"', NOT_REPRODUCED, "8 of 8"),
        ('says = "share in [0.1, 0.9]: l == 2"', REPRODUCED, "4 of 8"),
        ('says = "is: stars.max() == 9.5"\nmeasured = "{stars.max():.2f}"', REPRODUCED, "9.50"),
        ('says = "is: False"\ndirection = "True"\nmeasured = "-"', DIRECTION, "-"),
        ('says = "not testable"\nmeasured = "-"', NOT_TESTABLE, "-"),
        (FEWER.replace("<=", "<"), REPRODUCED, "at 4 of 4 settings"),
        (FEWER.replace("`TP+` <= TP", "TP <= `TP+`"), NOT_REPRODUCED, "at 0 of 4 settings"),
        (FEWER.replace("<= TP", "<= least_but('TP')"), REPRODUCED, "at 4 of 4 settings"),
        (FEWER.replace("<= TP", "<= 0.9 * TP"), REPRODUCED, "at 4 of 4 settings"),
        (FEWER.replace("TP+` <= TP", "TP+` <= 7"), NOT_REPRODUCED, "at 3 of 4 settings"),
        (DRAWS + 'by = "algorithm"\nsays = "`TP+` <= TP"', UNDECIDED, None),
        (DRAWS + 'by = "algorithm"\nsays = "`TP+` <= TP"\npaired = false', REPRODUCED, None),
        (DRAWS + 'by = "algorithm"\nsays = "1.5 + `TP+` <= TP"', UNDECIDED, None),
        (DRAWS + 'by = "algorithm"\nsays = "8 <= TP"\nquantifier = "somewhere"', UNDECIDED, None),
        (DRAWS + 'by = "algorithm"\nsays = "5 <= TP"\nquantifier = "on average"', REPRODUCED,
         None),
        (DRAWS + 'by = "algorithm"\nsays = "0 <= TP"', REPRODUCED, None),
        (DRAWS + 'by = "algorithm"\nsays = "20 <= TP"', NOT_REPRODUCED, None),
        ('value = "stars"\nat = ["l", "algorithm"]\nsays = "rises along l"', REPRODUCED, None),
        ('value = "stars"\nat = ["l", "algorithm"]\nsays = "falls along l"', NOT_REPRODUCED, None),
        ('value = "stars"\nat = ["l"]\norder = [4, 2]\nsays = "falls along l"', REPRODUCED, None),
        ("published = 9\ntolerance = 0.05\nvalue = \"stars\"\nrows = \"stars == 9\"\n"
         'says = "value = published"', REPRODUCED, "9"),
        ("published = 9\ntolerance = 0.05\nvalue = \"stars\"\nseeds = \"seed\"\n"
         'says = "value = published"', UNDECIDED, "7.72"),
        ("says = \"above 0: df.pivot_table('stars', 'l', ['seed', 'algorithm'])\"", REPRODUCED,
         None),
        (ALIKE.format(30, 7.7), REPRODUCED, None),
        (ALIKE.format(0.1, 7.7), UNDECIDED, None),
        (ALIKE.format(1, 70), NOT_REPRODUCED, None),
        (FITS.format([7.5]), REPRODUCED, None),
        (FITS.format([70]), NOT_REPRODUCED, None),
        (FITS.format([70]) + '\ndirection = "inside.sum() == 0"', DIRECTION, None),
        (FITS.format([7.5]) + '\nrows = "l == 2"', UNDECIDED, None),
        ('says = "intervals above 0: [(1, 2), (-1, 2)]"\nmeasured = "-"', UNDECIDED, "-"),
    ],
)  # fmt: skip
def test_each_form_of_a_statement(entered, text, verdict, measured):
    row = judged(entered, text)
    assert row["verdict"] == verdict
    assert measured in (None, row["measured"])


def test_unpaired_draws_share_the_error_over_settings(entered):
    """Welch's interval of each of several settings has the level that holds for all together."""
    folder = entered(a=DRAWS + 'by = "algorithm"\nsays = "`TP+` <= TP"\npaired = false')
    table = read_table(folder / "stars.csv").set_index(["l", "seed", "algorithm"])["stars"]
    sides = [table.xs(name, level="algorithm").unstack("seed") for name in ("TP+", "TP")]
    ends = intervals.difference_intervals(*sides, paired=False)
    level = intervals.level_of_each(2)
    assert ends[0] == pytest.approx(
        intervals.welch_interval(*(side.to_numpy()[0] for side in sides), level)
    )
    alone = intervals.difference_intervals(*(side.iloc[:1] for side in sides), paired=False)
    assert np.ptp(ends[0]) > 1.5 * np.ptp(alone[0])


def test_derived_names_are_columns_and_numbers(entered):
    text = (
        "let.more = \"stars - stars.min()\"\nlet.most = \"more.max()\"\n"
        'says = "all: more <= @most"\nmeasured = "{most:.1f} at most, {span(more)}"'
    )  # fmt: skip
    row = judged(entered, text)
    assert (row["verdict"], row["measured"]) == (REPRODUCED, "3.5 at most, 0 to 3.5")


def test_gaps_are_closed_as_the_entry_says(entered):
    text = FEWER.replace('["l", "seed"]', '["l"]\nseeds = "seed"') + '\nrows = "not (l == 2 and '
    text += "seed == 1 and algorithm == 'TP')\""
    with pytest.raises(ParameterError, match="a measurement is missing"):
        judged(entered, text)
    row = judged(entered, text + '\ngaps = "settings"\nmeasured = "{n}"')
    assert row["measured"] == "1"
    row = judged(entered, text + '\ngaps = "stand for"\nmeasured = "{n}"')
    assert row["measured"] == "2"


def test_a_changed_table_changes_the_verdict_and_gives_the_reason(entered):
    reason = '\n[xiao2010.a.reason]\ntext = "ties"\ntable = "stars"\nsays = "{}: stars > 0"\n'
    folder = entered(a=FEWER + reason.format("all"))
    table = read_table(folder / "stars.csv")
    assert judge.judge("xiao2010", folder)["reason"].item() == ""
    table.assign(stars=1 - table["stars"] * (table["algorithm"] == "TP")).to_csv(
        folder / "stars.csv", index=False
    )
    (row,) = judge.judge("xiao2010", folder).to_dict("records")
    assert (row["verdict"], row["tested in"]) == (NOT_REPRODUCED, "1_example")
    assert row["reason"] == "Tested and not supported: ties (4 of 8)"
    entered(a=FEWER + reason.format("some"))
    assert judge.judge("xiao2010", folder)["reason"].item() == "Tested: ties (4 of 8)"


def test_a_check_gets_numbers_and_arguments(entered):
    row = judged(entered, 'check = "given"\npublished = 4\nwith = { verdict = "undecided" }')
    assert (row["verdict"], row["measured"]) == (UNDECIDED, "4")
    assert (row["detail"], row["spread"], row["interval"]) == (
        "at l = 2",
        "2 seeds",
        "0.5 to 1.25",
    )
    assert row["how"] == "Say what it was told to."


@pytest.mark.parametrize("kind", ["proof", "arithmetic", "ours", "software"])
def test_only_what_was_measured_is_reproduced(entered, kind):
    for verdict, named in zip(
        (REPRODUCED, DIRECTION, NOT_REPRODUCED),
        ("holds", "holds in part", "does not hold"),
        strict=True,
    ):
        text = f'kind = "{kind}"\ncheck = "given"\nwith = {{ verdict = "{verdict}" }}'
        assert judged(entered, text)["verdict"] == named


def readings(*verdicts):
    """Return an entry whose readings have these verdicts."""
    pairs = [f'"r{place}" = "{verdict}"' for place, verdict in enumerate(verdicts)]
    text = 'check = "given"\nwith = { verdict = "{verdict}" }\n'
    return text + f"readings.verdict = {{ line = \"Section 2: 'words'\", {', '.join(pairs)} }}\n"


@pytest.mark.parametrize(
    ("verdicts", "robust"),
    [
        ((REPRODUCED,), ""),
        ((REPRODUCED, REPRODUCED), "yes"),
        ((REPRODUCED, NOT_REPRODUCED), "no"),
        ((NOT_REPRODUCED, REPRODUCED, UNDECIDED), "no"),
        ((REPRODUCED, UNDECIDED), "unknown"),
        ((NOT_REPRODUCED, NOT_TESTABLE, UNDECIDED), "unknown"),
        ((DIRECTION, UNDECIDED, NOT_TESTABLE, DIRECTION), "yes"),
        ((REPRODUCED, DIRECTION), "no"),
        ((UNDECIDED, REPRODUCED), "unknown"),
        ((NOT_TESTABLE, REPRODUCED), "unknown"),
    ],
)
def test_a_claim_has_the_verdict_of_its_default_reading(entered, verdicts, robust):
    """Undecided readings turn nothing."""
    row = judged(entered, readings(*verdicts))
    assert (row["verdict"], row["robust"]) == (verdicts[0], robust)
    told = [(f"r{place}", "1", verdict) for place, verdict in enumerate(verdicts)]
    assert row["readings"] == (told if len(told) > 1 else [])
    assert row["lines"] == "Section 2: 'words'"


def test_readings_are_combined_and_one_may_fill_several_places(entered):
    text = FEWER.replace("TP+` <= TP", "{one}` <= {other}").replace("stars", "{value}")
    text += (
        '\n[xiao2010.a.readings]\n'
        "side = { line = \"Section 2: 'x'\", "
        '"as is" = { one = "TP+", other = "TP" }, "turned" = { one = "TP", other = '
        '"`TP+`" } }\n'
        "value = { line = \"Section 2: 'y'\", \"stars\" = \"stars\", \"minus\" = \"-stars\" }"
    )  # fmt: skip
    row = judged(entered, text)
    assert [(name, verdict) for name, _, verdict in row["readings"]] == [
        ("as is; stars", REPRODUCED),
        ("as is; minus", NOT_REPRODUCED),
        ("turned; stars", NOT_REPRODUCED),
        ("turned; minus", REPRODUCED),
    ]


@pytest.mark.parametrize(
    ("verdicts", "shown"),
    [
        ((REPRODUCED, REPRODUCED), False),
        ((REPRODUCED, UNDECIDED), False),
        ((REPRODUCED, NOT_REPRODUCED), True),
        ((UNDECIDED, REPRODUCED), True),
        ((DIRECTION, DIRECTION), True),
        ((NOT_REPRODUCED, NOT_REPRODUCED), True),
    ],
)
def test_a_tested_reason_is_shown_unless_nothing_needs_one(entered, verdicts, shown):
    reason = '\n[xiao2010.a.reason]\ntext = "ties"\ntable = "stars"\nsays = "all: stars > 0"\n'
    row = judged(entered, readings(*verdicts) + reason)
    assert row["reason"] == ("Tested: ties (8 of 8)" if shown else "")


def test_a_reason_whose_experiment_was_not_run_is_not_said(entered):
    text = 'check = "given"\nwith = { verdict = "not reproduced" }\n[xiao2010.a.reason]\n'
    text += 'text = "ties"\ntable = "ties"\nsays = "all: x > 0"\nnotebook = "2_ties"'
    row = judged(entered, text)
    assert row["reason"] == "Its experiment, in 2_ties, was not run here"
    assert row["tested in"] == "2_ties"


def test_what_is_missing_for_a_test_is_said(entered):
    row = judged(entered, 'says = "not testable"\nmissing = "their program"')
    assert row["estimand"] == "", "nothing is judged"
    assert row["reason"] == "their program"


@pytest.mark.parametrize(
    ("at", "quantifier", "told"),
    [
        (["l"], "everywhere", "a mean over draws, at each of 2 settings"),
        (["l"], "mostly", "a mean over draws, at 80 % of 2 settings"),
        (["l"], "somewhere", "a mean over draws, at one of 2 settings"),
        (["l"], "on average", "a mean over draws, on average"),
        ([], "everywhere", "a mean over draws"),
    ],
)
def test_a_card_says_at_how_many_settings_a_claim_has_to_hold(entered, at, quantifier, told):
    text = (
        FEWER.replace('["l", "seed"]', repr(at)) + f'\nseeds = "seed"\nquantifier = "{quantifier}"'
    )
    assert judged(entered, text)["estimand"] == told


def test_a_missing_table_is_not_run_and_named(entered):
    row = judged(entered, FEWER + '\ntables = ["stars", "times"]\npublished = 7')
    assert (row["verdict"], row["measured"], row["published"]) == (NOT_RUN, "", "7")
    assert row["reason"] == "times.csv not there: make paper-xiao2010"


def test_published_numbers_can_be_computed(entered):
    text = "published = \"=len(reference('xiao2010_tab6_domain_sizes'))\"\ntolerance = 0.1\n"
    row = judged(
        entered, text + 'value = "stars"\nrows = "stars == 9"\nsays = "value = published"'
    )
    assert (row["published"], row["tolerance"]) == ("9", "within 10 %")
    assert row["verdict"] == REPRODUCED


def test_one_notebook_can_be_judged_alone(entered):
    folder = entered(a=FEWER, _b='says = "not testable"', c='like = "_b"')
    assert judge.judge("xiao2010", folder, notebook="2_other").empty
    assert judge.judge("xiao2010", folder, notebook="1_example")["id"].tolist() == ["a", "c"]


def test_a_judge_that_fails_says_whose_it_is(entered):
    with pytest.raises(NameError) as failed:
        judged(entered, 'says = "is: no_such_column"')
    assert failed.value.__notes__ == ["in claim 'a' of xiao2010, judged from ('stars',)"]


def test_tables_are_read_exactly(tmp_path):
    frame = pd.DataFrame({"varied": ["none", "NA"], "x": [0.1 + 0.2, np.nan]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), frame, check_exact=True)


# ---- the papers' entries ----------------------------------------------------------------------


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.paper}-{entry.id}")
def test_every_judge_says_how(entry):
    assert entry.how.endswith("."), "the first line of the judge's docstring is a sentence"


@pytest.mark.parametrize("paper", sorted(catalogue.papers()))
def test_every_difference_from_a_paper_has_a_tested_reason(paper):
    """But for claims on seconds: another machine may turn these."""
    judged = load_tool("report").judged(paper, MEASURED / paper).set_index("id")
    timed = {
        path.split("/")[1].removesuffix(".csv")
        for share in (MEASURED / "manifest" / paper).glob("*.json")
        for path, about in json.loads(share.read_text())["outputs"].items()
        if about["timing"]
    }
    for entry in judge.of_paper(paper):
        found = judged.loc[entry.id]
        if found["verdict"] == NOT_TESTABLE:
            assert found["reason"], f"{entry.id}: what is missing?"
        elif entry.kind == judge.MEASURED and timed.isdisjoint(entry.tables):
            differs = found["verdict"] in (DIRECTION, NOT_REPRODUCED)
            tested = found["reason"].startswith("Tested")
            assert tested or not differs, entry.id
            assert not tested or found["verdict"] != REPRODUCED or found["robust"] == "no"


def perturbed(frame, published):
    """Yield versions of a table, one column changed, or one row left; what often tells first."""
    numbers = [*frame.select_dtypes("number")]
    flags = [*frame.select_dtypes("bool")]
    texts = frame.columns.difference([*numbers, *flags], sort=False)
    for column in sorted(frame.columns, key=lambda name: frame[name].dtype != float):
        values = frame[column]
        yield frame.assign(**{column: values.to_numpy()[::-1]})
        if column in flags:
            yield frame.assign(**{column: ~values})
        elif column in numbers:
            yield frame.assign(**{column: -values})
            yield frame.assign(**{column: 0 * values})
    for column in numbers:
        values = frame[column]
        changed = [values * by for by in (1e-3, 1e3)] + [1e3 + 7 * values]
        changed += [values**2 * np.arange(1, len(frame) + 1)]
        changed += [np.random.default_rng(0).permutation(values)]
        printed = re.findall(r"\d+(?:\.\d+)?", str(published).replace(",", ""))
        changed += map(pd.to_numeric, printed)
        yield from (frame.assign(**{column: other}) for other in changed)
    for column in texts:
        yield frame.assign(**{column: frame[column].iloc[0]})
        yield frame.assign(**{column: frame[column].str.replace("1", "2")})
    yield from (frame.loc[[row]] for row in frame.index[:20])
    for kind in (numbers, flags):
        for column, other in itertools.permutations(kind, 2):
            yield frame.assign(**{column: frame[other]})
    for column, by in itertools.product(numbers, np.geomspace(1e-3, 1e3, 41)):
        yield frame.assign(**{column: frame[column] * by})


def verdicts_of(entry, tables):
    """Return the verdicts on tables, or the error that a judge has with impossible ones."""
    try:
        return [finding.verdict for finding in entry.found(*tables)]
    except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


def measured_tables(entry):
    return [read_table(MEASURED / entry.paper / f"{name}.csv") for name in entry.tables]


@pytest.fixture(params=RUN, ids=lambda entry: f"{entry.paper}-{entry.id}", scope="module")
def entry(request):
    return request.param


@pytest.fixture(scope="module")
def findings(entry):
    """What the measured tables say, judged once for all tests."""
    return entry.found(*measured_tables(entry))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_verdict_depends_on_the_tables(entry, findings):
    tables = measured_tables(entry)
    before = [finding.verdict for finding in findings]
    if set(before) == {NOT_TESTABLE}:
        return
    after = (
        verdicts_of(entry, [*tables[:place], other, *tables[place + 1 :]])
        for place, table in enumerate(tables)
        for other in perturbed(table, judge._published(entry.fields))
    )
    assert any(verdicts not in (before, None) for verdicts in after)


def randomized(table, rng):
    """Return a table of the same size in which no column knows of another.

    Numbers are drawn from all numbers of the table, scaled by up to 4, of one sign a column; flags
    are tossed, texts shuffled.
    """
    numbers = table.select_dtypes("number")
    pool = numbers.to_numpy().ravel()
    drawn = {}
    for column, values in table.items():
        if pd.api.types.is_bool_dtype(values):
            drawn[column] = rng.random(len(table)) < 0.5
        elif column in numbers:
            factors = 4.0 ** rng.uniform(-1, 1, len(table)) * rng.choice([1, -1])
            drawn[column] = rng.choice(pool, len(table)) * factors
        else:
            drawn[column] = rng.permutation(values.to_numpy())
    return table.assign(**drawn)


@pytest.mark.parametrize(
    "entry",
    [entry for entry in RUN if entry.kind == judge.MEASURED],
    ids=lambda entry: f"{entry.paper}-{entry.id}",
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_measured_claim_is_true_of_random_tables(entry):
    rng = np.random.default_rng(0)
    tables = measured_tables(entry)
    true = false = 0
    while true <= 5 and false < 5:  # of 10 random tables, at most 5
        verdicts = verdicts_of(entry, [randomized(table, rng) for table in tables])
        claimed = verdicts is not None and set(verdicts) == {REPRODUCED}
        true, false = true + claimed, false + (not claimed)
    assert true <= 5, f"reproduced of {true} of {true + false} random tables"


def test_several_intervals_say_whether_they_hold_together(findings):
    for finding in findings:
        if isinstance(finding.interval, str) and finding.interval.count(" to ") > 1:
            assert {intervals.EACH, intervals.TOGETHER} & set(re.findall(r"\w+", finding.interval))
            assert not re.search(r"[,;] [\d.]+:", finding.interval)  # a number with a name, k = 5


def test_every_table_is_saved_by_the_notebook_of_the_claim(entry):
    reason = entry.fields.get("reason")
    asked = {entry.notebook: set(entry.tables)}
    if reason:
        asked.setdefault(reason["notebook"], set()).update(judge._tables(reason))
    for notebook, tables in asked.items():
        share = MEASURED / "manifest" / entry.paper / f"{notebook}.json"
        outputs = json.loads(share.read_text())["outputs"]
        assert {f"{entry.paper}/{name}.csv" for name in tables} <= set(outputs)


@pytest.mark.parametrize(
    "file", [*(ROOT / "notebooks").glob("*/claims.toml")], ids=lambda file: file.parent.name
)
def test_no_entry_has_rows_that_its_check_does_not_read(file):
    entries = tomllib.loads(file.read_text())[file.parent.name]
    own = [id for id, entry in entries.items() if {"rows", "let"} & set(entry)]
    assert [id for id in own if "check" in judge._inherited(entries, id)] == []


def test_what_is_printed_of_a_question_of_ours_is_what_its_interval_is_of(entry, findings):
    """A number beside an interval of something else reads as if it were judged."""
    finding = findings[0]
    if entry.paper not in catalogue.asked() or not finding.interval:
        return
    number = r"(?<![\w.])-?\d[\d,]*(?:\.\d+(?:e[+-]\d+)?|(?<=,\d{3}))(?![\w.])"
    ends = finding.interval
    if isinstance(ends, str):
        whole = r"(?<=to )-?\d+(?![\w.])"  # an end, as "1" in "0.95 to 1"
        ends = [float(end.replace(",", "")) for end in re.findall(f"{number}|{whole}", ends)]
    measured = finding.measured
    if isinstance(measured, str):
        measured = [float(found.replace(",", "")) for found in re.findall(number, measured)]
    for found in np.atleast_1d(measured):
        assert min(ends) <= found <= max(ends), f"{finding.measured}: {finding.interval}"

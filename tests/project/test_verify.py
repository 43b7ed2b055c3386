"""Comparing results on a small project: each way in which they can differ is seen."""

import hashlib
import json
import re
import shutil

import pytest
from project.builds import Build, ran, small_project, write_claims, write_notebook, write_profile
from project.tools import load_tool

NUMBERS = """
frame = pd.DataFrame({"k": [2, 5, 10], "loss": [0.25, 0.5, 1 / 3], "left": [1.5, None, 2.5],
                      "method": ["tp", "oka", "tp"]})
results.table(frame, "numbers", caption="Numbers", of="Table 1");
"""
ROWS = "2,0.25,1.5,tp\n5,0.5,,oka\n10,0.3333333333333333,2.5,tp\n"
TABLE = "k,loss,left,method\n" + ROWS
TIMES = """
import time
times = pd.DataFrame({"rows": [1, 2], "share": [0.5, 0.25], "seconds": [time.time() % 1, 0.5]})
results.table(times, "times", caption="Times", of="Table 2", timing=["seconds"]);
"""
verify_tool = load_tool("verify")
CLAIMS = ("numbers", "numbers", "loss", 2), ("times", "times", "share", 2)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A build with notebooks executed in place, and run again from an empty cache."""
    build = Build(small_project(tmp_path_factory.mktemp("verify") / "build", package="*.py"))
    write_notebook(build.root, "one/1_first", saves=NUMBERS + TIMES)
    write_profile(build.root, "one/1_first: {}\ntwo/1_second: {}\n")
    write_claims(build.root, *CLAIMS)
    build("notebooks", "refresh")
    build("notebooks", "make", "--fresh")
    return build


@pytest.fixture
def expected(made):
    """The folder of its committed results, as it was before the test when the test is over."""
    folder = made.root / "figures" / "expected" / "quick"
    shutil.copytree(folder, made.root / "kept")
    yield folder
    shutil.rmtree(folder)
    (made.root / "kept").rename(folder)


def verify(expected, *arguments, fails=True):
    return Build(expected.parents[2])("verify", "--made", *arguments, fails=fails)


def edit(file, old, new):
    text = file.read_text()
    assert text.count(old) == 1, text
    file.write_text(text.replace(old, new))


def test_results_made_twice_are_the_same(expected):
    printed = verify(expected, fails=False)
    assert "verify: the same" in printed
    assert "2 tables the same, 1 tables the same but for seconds" in printed
    assert len(list(expected.rglob("*.csv"))) == 4  # the verdicts among them


def test_what_make_prints_is_a_line(expected):
    tell = Build(expected.parents[2])
    assert "all 3 quick tables as expected" in tell("verify", "--expected")
    edit(expected / "one/numbers.csv", "0.25", "0.26")
    printed = tell("verify", "--expected")
    assert "1 of 3 quick tables differ: one/numbers.csv; `make FRESH=yes" in printed


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "0.3333333333333333",
            "0.3334333333333333",
            "row 3, loss: committed 0.3334333333333333, here 0.3333333333333333",
        ),
        ("10,0.3", "11,0.3", "row 3, k: committed 11, here 10"),
        ("5,0.5,,oka\n", "", "shape mismatch committed (2, 4) here (3, 4)"),
        ("5,0.5,,oka\n", "5,0.5,,oka\n5,0.5,,oka\n", "mismatch committed (4, 4) here (3, 4)"),
        ("5,0.5,,oka\n10,", "10,0.5,,oka\n5,", "row 2, k: committed 10, here 5"),
        ("k,loss", "k,lost", "committed Index(['k', 'lost', 'left', 'method']"),
        ("k,loss,left", "k,left,loss", "committed Index(['k', 'left', 'loss', 'method']"),
        ("2,0.25,1.5", "2,1.5,0.25", "row 1, loss: committed 1.5, here 0.25"),
        ("5,0.5,,", "5,0.5,0.0,", "row 2, left: committed 0.0, here"),
        ("2,0.25,1.5", "2,0.25,", "row 1, left: committed , here 1.5"),
        ("2,0.25,1.5", "2.0,0.25,1.5", "row 1, k: committed 2.0, here 2"),
        ("2,0.25,1.5", "2,0.25,inf", "row 1, left: committed inf, here 1.5"),
        ("2,0.25,1.5", "2,0.25,nan", "row 1, left: committed nan, here 1.5"),
        ("oka", "Oka", "row 2, method: committed Oka, here oka"),
        ("oka", '"oka"', "file: committed written otherwise, here the same values"),
        (",tp\n5", ",tp,1\n5", "shape mismatch committed (3, 5) here (3, 4)"),
        ("k,loss,left,method\n" + ROWS, "k,loss,left,method\n", "committed (0, 4) here (3, 4)"),
        (TABLE, "", "committed (0, 0) here (3, 4)"),
    ],
)
def test_an_altered_table_is_seen(tmp_path, old, new, said):
    sides = tmp_path / "committed.csv", tmp_path / "here.csv"
    for side in sides:
        side.write_text(TABLE)
    assert verify_tool.compare_files(*sides, False, 1e-9) == ("the same", "")
    edit(sides[0], old, new)
    kind, told = verify_tool.compare_files(*sides, False, 1e-9)
    assert kind == "different"
    assert said in told


def test_an_altered_digit_makes_make_fail(expected):
    edit(expected / "one" / "numbers.csv", "0.3333333333333333", "0.3334333333333333")
    printed = verify(expected)
    assert "row 3, loss: committed 0.3334333333333333, here 0.3333333333333333" in printed
    assert "sha256 of the committed file" in printed
    assert "verify: different" in printed


def commit_other(expected, number):
    """Commit a table with another number, and its digest."""
    share = expected / "manifest" / "one" / "1_first.json"
    file = expected / "one" / "numbers.csv"
    before = re.search(r'numbers.csv": \{\s*"sha256": "(\w+)"', share.read_text())[1]
    edit(file, "0.3333333333333333", number)
    edit(share, before, hashlib.sha256(file.read_bytes()).hexdigest())


def test_numbers_may_differ_by_the_tolerance_and_no_further(expected):
    commit_other(expected, "0.3333333333333")
    assert "1 tables within the tolerance" in verify(expected, fails=False)
    assert "row 3, loss" in verify(expected, "--tolerance=1e-15")


def test_seconds_may_differ_but_not_be_missing(expected):
    file = expected / "one" / "times.csv"
    edit(file, "2,0.25,0.5", "2,0.25,7.5")
    printed = verify(expected)  # the file is not the one of its manifest
    assert "one/times.csv: 1 difference\n  sha256 of the committed file" in printed
    edit(file, "2,0.25,7.5", "2,0.25,")
    assert "row 2, seconds: committed , here a run time" in verify(expected)


@pytest.mark.parametrize(("old", "new"), [("2,0.25,0.5", "2,0.35,0.5"), ("2,0.25", "3,0.25")])
def test_what_stands_beside_seconds_may_not_differ(expected, old, new):
    edit(expected / "one" / "times.csv", old, new)
    assert re.search("row 2, (share|rows): committed", verify(expected))


def test_missing_and_extra_files_are_seen(expected):
    (expected / "one" / "numbers.csv").unlink()
    (expected / "two" / "more.csv").write_text("a\n1\n")
    printed = verify(expected)
    assert "one/numbers.csv: 1 difference\n  file: committed missing, here there" in printed
    assert "two/more.csv: 1 difference\n  file: committed there, here missing" in printed


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"rows": 2\n', '"rows": 3\n', "parameters: committed {'rows': 3}, here {'rows': 2}"),
        ('"caption": "Numbers"', '"caption": "Other"', "caption: committed Other, here Numbers"),
        ('"timing": false', '"timing": true', "timing: committed True, here False"),
    ],
)
def test_what_a_run_noted_is_compared(expected, old, new, said):
    edit(expected / "manifest" / "one" / "1_first.json", old, new)
    assert said in verify(expected)


def test_a_run_that_is_not_committed_or_whose_notebook_is_gone_is_seen(expected):
    share = expected / "manifest" / "one" / "1_first.json"
    share.rename(share.with_name("2_other.json"))
    printed = verify(expected)
    assert "notebooks/one/1_first.ipynb: 1 difference\n  run: committed missing" in printed
    assert "notebooks/one/2_other.ipynb: 1 difference\n  run: committed has run" in printed


def test_another_verdict_is_seen_and_not_counted_where_it_rests_on_seconds(expected):
    verdicts = expected / "verdicts.csv"
    edit(verdicts, "one,times,reproduced", "one,times,not reproduced")
    printed = verify(expected, fails=False)
    assert "verdict: committed not reproduced, here reproduced (timing: not counted)" in printed
    edit(verdicts, "one,numbers,reproduced", "one,numbers,not reproduced")
    assert "claim one/numbers: 1 difference\n  verdict: committed not" in verify(expected)
    verdicts.unlink()
    assert "verdict: committed missing, here reproduced" in verify(expected)


def test_a_claim_that_is_judged_otherwise_now_is_seen(made, expected):
    write_claims(made.root, ("numbers", "numbers", "loss", 0.1), CLAIMS[1])
    printed = verify(expected)
    write_claims(made.root, *CLAIMS)
    assert "claim one/numbers: 1 difference" in printed
    assert "committed reproduced, here not reproduced" in printed


def test_one_paper_is_compared_alone(expected):
    (expected / "one" / "numbers.csv").unlink()
    verify(expected, "--paper=two", fails=False)
    verify(expected, "--paper=one")
    assert "no committed tables of notebooks/three" in verify(expected, "--paper=three")


def test_results_of_other_code_or_of_a_cache_are_no_evidence(made, expected):
    share = made.root / "figures" / "quick" / "manifest" / "one" / "1_first.json"
    honest = share.read_text()
    edit(share, '"fresh": true', '"fresh": false')
    printed = verify(expected)
    assert "one/1_first was not made from an empty cache; run `make FRESH=yes" in printed
    share.write_text(honest)
    source = made.root / "anonpaper" / "groups.py"
    code = source.read_text()
    source.write_text(code + "\nANOTHER = 1\n")
    assert "one/1_first anonpaper/groups.py changed; run" in verify(expected)
    source.write_text(code)
    verify(expected, fails=False)


def test_the_code_runs_again_in_a_scratch_folder(build):
    """The paper profile, whose committed results a run must not touch."""
    write_notebook(build.root, "one/1_first", saves=NUMBERS)
    write_claims(build.root)
    build("notebooks", "make", "--profile=paper")
    printed = build("verify", "--profile=paper")
    assert ran(printed) == ["one/1_first", "two/1_second"]
    assert "verify: the same" in printed
    numbers = build.root / "figures" / "paper" / "one" / "numbers.csv"
    assert "leave out MADE" in build("verify", "--profile=paper", "--made", fails=True)
    edit(numbers, "0.25", "0.26")
    write_notebook(build.root, "two/1_second", more="seed / 0")
    printed = build("verify", "--profile=paper", fails=True)
    assert "row 1, loss: committed 0.26, here 0.25" in printed
    assert "ZeroDivisionError" in printed
    run = "notebooks/two/1_second.ipynb: 1 difference\n  run: committed has run, here missing"
    assert run in printed
    assert numbers.read_text().count("0.26") == 1


def test_cells_of_grids_and_kept_runs_are_no_evidence(build):
    """A kept cell that was tampered with reaches `make`, but not `make verify`."""
    grid = (
        "from anonpaper.compendium.grids import run_grid\nimport json\n"
        "found = run_grid(json.loads, [{'s': '{\"stars\": 8}'}], workers=1)\n"
        "results.table(found[['stars']], 'stars', caption='Stars', of='Table 1');"
    )
    write_notebook(build.root, "one/1_first", saves=grid)
    write_profile(build.root, "one/1_first: {}\ntwo/1_second: {}\n")
    write_claims(build.root)
    build("notebooks", "refresh")
    (cell,) = (build.root / "data/cache/grids").rglob("*.json")
    cell.write_text(json.dumps([{"stars": 7}]))
    shutil.rmtree(build.root / "data/cache/runs")
    shutil.rmtree(build.root / "figures/quick")
    build("notebooks", "make")
    stars = build.root / "figures/quick/one/stars.csv"
    assert stars.read_text() == "stars\n7\n"
    assert "verify: the same" in build("verify")
    assert "not made from an empty cache" in build("verify", "--made", fails=True)
    shutil.rmtree(build.root / "data/cache/runs")
    shutil.rmtree(build.root / "figures/quick")
    build("notebooks", "make")
    assert stars.read_text() == "stars\n7\n"
    assert ran(build("notebooks", "make", "--fresh")) == ["one/1_first", "two/1_second"]
    assert stars.read_text() == "stars\n8\n"
    assert "verify: the same" in build("verify", "--made")


def test_run_times_are_measured_each_time(build):
    """Also where a grid would have them in the cache, of another profile for instance."""
    more = """
from anonpaper.compendium.grids import run_grid
from project.builds import timed
found = run_grid(timed, [{"value": 1}], timing=True)
results.table(found, "found", caption="Found", timing=True);
"""
    write_notebook(build.root, "two/1_second", more=more)
    build("notebooks", "make", "two")
    first = (build.root / "figures/quick/two/found.csv").read_text()
    build("notebooks", "make", "two", "--profile=paper")
    assert (build.root / "figures/paper/two/found.csv").read_text() != first

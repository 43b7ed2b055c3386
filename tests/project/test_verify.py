"""Tables are compared number by number: each way in which they can differ is seen."""

import pandas as pd
import pytest
from project.builds import write_notebook
from project.tools import ROOT, load_tool

verify = load_tool("verify")
TABLE = "k,loss,left,method\n2,0.25,1.5,tp\n5,0.5,,oka\n10,0.3333333333333333,2.5,tp\n"
ABOUT = {"timing": False, "notebook": "one/1_first"}


@pytest.fixture
def sides(tmp_path):
    found = tmp_path / "committed.csv", tmp_path / "here.csv"
    for side in found:
        side.write_text(TABLE)
    return found


def edit(file, old, new):
    text = file.read_text()
    assert text.count(old) == 1, text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.3333333333333333", "0.3333343333333333"),
        ("10,0.3", "11,0.3"),
        ("5,0.5,,oka\n", ""),
        ("5,0.5,,oka\n", "5,0.5,,oka\n5,0.5,,oka\n"),
        ("5,0.5,,oka\n10,", "10,0.5,,oka\n5,"),
        ("k,loss", "k,lost"),
        ("k,loss,left", "k,left,loss"),
        ("5,0.5,,", "5,0.5,0.0,"),
        ("2,0.25,1.5", "2,0.25,inf"),
        ("oka", "Oka"),
    ],
)
def test_an_altered_table_is_seen(sides, old, new):
    assert verify.difference(*sides, ABOUT) == ""
    edit(sides[0], old, new)
    assert verify.difference(*sides, ABOUT)
    sides[1].unlink()
    assert verify.difference(*sides, ABOUT) == "was not made here"


def test_last_digits_run_times_and_what_is_learnt_may_differ(sides):
    edit(sides[0], "0.3333333333333333", "0.3333334")
    assert verify.difference(*sides, ABOUT) == ""
    edit(sides[0], "0.3333334", "0.34")
    assert "committed" in verify.difference(*sides, ABOUT)
    assert verify.difference(*sides, ABOUT | {"timing": ["loss"]}) == ""
    assert verify.difference(*sides, ABOUT | {"timing": True}) == ""
    assert verify.difference(*sides, ABOUT | {"notebook": "majeed2024/5_utility"}) == ""
    edit(sides[0], "0.34", "0.84")
    assert verify.difference(*sides, ABOUT | {"notebook": "majeed2024/5_utility"})


def test_make_says_whether_tables_are_as_expected(build):
    write_notebook(build.root, "one/1_first")
    build("notebooks", "refresh")
    assert "0 of 2 tables differ" in build("verify")
    edit(build.root / "figures/expected/quick/one/table_1_first.csv", "1\n2", "1\n3")
    assert "one/table_1_first.csv: " in build("verify", fails=True)
    assert "0 of 1 tables differ" in build("verify", "--paper=two")


def test_results_that_are_committed_are_made_elsewhere_to_be_compared(build):
    build("notebooks", "make", "--profile=paper")
    table = build.root / "figures/paper/one/table_1_first.csv"
    edit(table, "28\n29", "28\n30")
    printed = build("verify", "--profile=paper", fails=True)
    assert "build/verify/paper: 1 of 2 tables differ" in printed
    assert table.read_text().endswith("30\n")


def test_no_two_notebooks_save_one_table():
    for results in ("figures/expected/quick", "figures/paper"):
        paths = pd.Series([path for path, _ in load_tool("inputs").tables_of(ROOT / results)])
        assert not paths.duplicated().any()

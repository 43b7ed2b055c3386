"""What `make mutants` runs: its modules and tests are there, and its explanations fit."""

import tomllib
from pathlib import Path

import pytest
from project.tools import load_tool

ROOT = Path(__file__).parents[2]
ABOUT = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())
mutants = load_tool("mutants")


def test_modules_and_tests_are_there():
    for pattern, tests in ABOUT["tests"].items():
        assert [*ROOT.glob(pattern)], pattern
        assert [test for test in tests if not (ROOT / test).exists()] == []
    for test in ABOUT["left_out"]:
        file, _, name = test.partition("::")
        assert f"def {name}" in (ROOT / file).read_text() or not name, test


def test_explanations_are_of_modules_that_are_there():
    of = {entry["module"] for entry in ABOUT["explained"]}
    assert [module for module in of if not (ROOT / module).is_file()] == []


def test_annotations_are_known_by_their_lines():
    assert mutants.annotations("x: int = 1\ny = 2\ndef f(a: int) -> int | None:\n    pass\n") == {
        1,
        3,
    }


@pytest.mark.parametrize(("becomes", "status"), [("a = 2", 0), ("a = 3", 1)])
def test_a_survivor_without_an_explanation_fails(monkeypatch, capsys, becomes, status):
    class Result:
        is_killed, diff = False, f"--- a\n+++ b\n-    a = 1\n+    {becomes}\n"

    known = {"explained": [{"module": "m.py", "becomes": "a = 2"}]}
    monkeypatch.setattr(mutants, "ABOUT", known)
    assert mutants.report([(Path("m.py"), Result)]) == status
    assert "killed 0 of 1" in capsys.readouterr().out

"""The runbook of the guide on a small course: four students, two lessons, all commands."""

import csv
import json
import sys

import pytest
import yaml
from project.test_cheats import CHEATS, cheating, course, grade, graded, hand_in, solutions

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")
SEED = "2027"
STEMS = ("10_membership", "11_deployed_noise")
TEXT = {"10_membership": "lesson10-exercise6", "11_deployed_noise": "lesson11-exercise6"}
WRONG = yaml.safe_load((course.LESSONS / "wrong_answers.yaml").read_text())


def simulate(folder, students):
    """Hand in the lessons of students, by their kind, and write the platform's worksheet."""
    for who, kind in students.items():
        for stem in STEMS:
            right = solutions(stem, f"{SEED}/{who}")
            given = {
                "right": right,
                "half": dict([*right.items()][::2]),
                "wrong": {name: WRONG[name][0]["answer"] for name in right},
                "cheat": cheating(CHEATS["a coin"], stem, right),
                "copy": solutions(stem, f"{SEED}/Ann Abt"),
            }[kind]
            hand_in(folder / "in", who, stem, given | {TEXT[stem]: "=My own words.\ud800"})
    rows = [(f"Participant {n}", who, "", "") for n, who in enumerate(students)]
    with (folder / "worksheet.csv").open("w", newline="") as stream:
        head = ("Identifier", "Full name", "Grade", "Feedback comments")
        csv.writer(stream).writerows([head, *rows])


def rows_of(file):
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_marks_are_right_and_kept_when_it_is_graded_again(tmp_path):
    students = {"Ann Abt": "right", "Bob Bo": "half", "Cyd Co": "copy", "Dan Du": "wrong"}
    simulate(tmp_path, students)
    for who, text in {"Eve E": '{"cells": [{"source": 1}]}', "Fay F": "[" * 10**5}.items():
        (tmp_path / "in" / who).mkdir()  # no notebooks
        (tmp_path / "in" / who / f"{STEMS[0]}.ipynb").write_text(text)
    (tmp_path / "in" / "Eve E" / "notes.ipynb").write_text("{}")
    points = graded(tmp_path, "--seed", SEED)
    most = sum(float(row["most"]) for row in points["Ann Abt"])
    total = {who: sum(float(row["points"]) for row in points[who]) for who in points}
    half = sum(float(row["most"]) for row in points["Ann Abt"][::2])
    assert total["Ann Abt"] == most and 0 < total["Bob Bo"] == half
    assert 0 < total["Cyd Co"] < most / 2  # exercises without variants
    assert total["Dan Du"] == total["Eve E"] == total["Fay F"] == 0
    texts = rows_of(tmp_path / "texts.csv")
    assert [row["student"] for row in texts] == [*students] * 2
    assert {row["text"] for row in texts} == {"'=My own words.?"}
    texts[0]["points"] = "3"
    with (tmp_path / "texts.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([texts[0], *(row.values() for row in texts)])
    graded(tmp_path, "--seed", SEED)
    worksheet = tmp_path / "worksheet.csv"
    with pytest.raises(SystemExit, match="not in .*: Eve E, Fay F"):
        grade.main(["--folder", str(tmp_path), "marks", str(worksheet)])
    marks = {row["Full name"]: row for row in rows_of(tmp_path / "marks.csv")}
    assert [*marks["Ann Abt"]] == [*rows_of(worksheet)[0]]
    expected = {who: total[who] + 3 * (who == "Ann Abt") for who in marks}
    assert {who: float(row["Grade"]) for who, row in marks.items()} == expected
    said = marks["Bob Bo"]["Feedback comments"].split("; ")
    assert len(said) == 14 and "lesson10-exercise2: 0" in said


def test_answers_are_found_by_their_heading_where_a_program_dropped_the_marks(tmp_path):
    hand_in(
        tmp_path, "Ann", STEMS[0], {"lesson10-exercise1": "x = 1", "lesson10-exercise6": "Mine."}
    )
    (file,) = tmp_path.glob("Ann*/*")
    before = grade.answers_of(file, "code"), grade.answers_of(file, "markdown")
    notebook = json.loads(file.read_text())
    for cell in notebook["cells"]:
        cell["metadata"].pop("nbgrader", None)
    file.write_text(json.dumps(notebook))
    assert (grade.answers_of(file, "code"), grade.answers_of(file, "markdown")) == before
    assert (
        before[0]["lesson10-exercise1"] == "x = 1" and before[1]["lesson10-exercise6"] == "Mine."
    )

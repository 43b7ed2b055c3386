"""The runbook of the guide on a small course: four students, two lessons, all commands."""

import csv
import shutil
import sys

import pytest
import yaml
from project.test_cheats import LESSONS, cheating, command, course, grade, hand_in, solutions

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")
SEED = "2027"
STEMS = ("10_membership", "11_deployed_noise")
COLUMNS = ("Identifier", "Full name", "Grade", "Last modified (submission)", "Feedback comments")
ON_TIME, LATE = "Monday, 1 March 2027, 9:00 PM", "Wednesday, 3 March 2027, 8:00 AM"
WRONG = yaml.safe_load((course.LESSONS / "wrong_answers.yaml").read_text())


def simulate(folder, students, stems):
    """Hand in the lessons of students, by their kind; return the points that each shall have."""
    due, dates = {}, {}
    for who, kind in students.items():
        due[who], dates[who] = 0, LATE if kind == "late" else ON_TIME
        for stem in stems:
            right = solutions(stem, f"{SEED}/{who}")
            given = dict(right)
            if kind == "wrong":
                given = {name: WRONG[name][0]["answer"] for name in right}
            if kind == "half":
                given = dict([*right.items()][::2])
            if kind == "cheat":
                given = cheating("cheat = lambda *given: 0.5") if stem.startswith("11") else {}
            if kind.startswith("copy of "):
                given = solutions(stem, f"{SEED}/{kind.removeprefix('copy of ')}")
            kept = {name for name in given if given[name] == right[name]}
            if kind.startswith("copy of "):  # what does not vary is right for both
                kept = right.keys() - course.varied()
            if kind in ("wrong", "cheat"):
                kept = set()
            hand_in(folder / "in", who, stem, given)
            due[who] += points_of(stem, kept)
    shutil.make_archive(folder / "answers", "zip", folder / "in")
    rows = [(f"Participant {n}", who, "", dates[who], "") for n, who in enumerate(students)]
    grade.write(folder / "worksheet.csv", COLUMNS, rows)
    return due


def points_of(stem, names):
    """The points of a lesson's exercises."""
    total, latest = 0, None
    for cell in LESSONS[stem].cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution"):
            latest = marks["grade_id"]
        elif marks.get("grade") and latest in names:
            total += marks["points"]
    return total


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grading")
    students = {
        "Ann Abt": "right",
        "Bob Bo": "half",
        "Cyd Co": "late",
        "Dan Du": "copy of Ann Abt",
    }
    due = simulate(folder, students, STEMS)
    command(folder, "collect", folder / "answers.zip", "--texts", "1")
    command(folder, "grade", "--seed", SEED, "--jobs", "2")
    command(folder, "similar", "--seed", SEED)
    command(folder, "feedback")
    command(folder, "marks", folder / "worksheet.csv", "--deadline", "1 March 2027, 11:59 PM")
    return folder, due


def test_marks_are_right(graded):
    folder, due = graded
    marks = {row["Full name"]: row for row in grade.read(folder / "marks.csv")}
    assert tuple(marks["Ann Abt"]) == COLUMNS
    assert 0 < due["Bob Bo"] < due["Ann Abt"]
    expected = due | {"Cyd Co": due["Cyd Co"] * 0.8}  # a tenth for each of two days begun
    assert {who: float(row["Grade"]) for who, row in marks.items()} == pytest.approx(expected)
    assert "2 days late" in marks["Cyd Co"]["Feedback comments"]


def test_the_copy_is_reported(graded):
    folder, _ = graded
    pairs = grade.read(folder / "similar.csv")
    assert {pairs[0]["student"], pairs[0]["other"]} == {"Ann Abt", "Dan Du"}
    assert int(pairs[0]["constants of the other"]) >= 3
    assert all(row["constants of the other"] == "0" for row in pairs[1:])


def test_feedback_shows_no_hidden_test(graded):
    folder, _ = graded
    pages = {path.stem: path.read_text() for path in (folder / "feedback").iterdir()}
    assert {*pages} == {"Ann Abt", "Bob Bo", "Cyd Co", "Dan Du"}
    assert "no answer" in pages["Bob Bo"]
    rows = [row for row in grade.read(folder / "points.csv") if row["hidden"]]
    for row in rows:
        assert row["why"] not in pages[row["student"]]
    row = {
        "student": "E",
        "exercise": "x",
        "points": "0",
        "most": "2",
        "why": "42",
        "hidden": "True",
    }
    grade.write(folder / "points.csv", grade.POINTS, [tuple(row.get(n, "") for n in grade.POINTS)])
    grade.feedback(folder)
    assert "42" not in (folder / "feedback" / "E.md").read_text()


def test_hidden_tests_are_told_from_visible_ones():
    check = (
        "x = 1\n### BEGIN HIDDEN TESTS\nassert x == 2, 'h'\n### END HIDDEN TESTS\n"
        "assert x == 3, 'v'\n"
    )
    for source, known in ((check, ("h", True)), (check.replace("x == 2", "x"), ("v", False))):
        with pytest.raises(AssertionError) as found:
            grade.run(source, {}, "<check>")
        assert grade.reason(found.value, source) == known


def test_a_text_per_student_is_drawn_for_marking(tmp_path, capsys):
    for who in ("Ann", "Bob"):
        for stem in STEMS:
            number = stem.partition("_")[0]
            hand_in(tmp_path / "in", who, stem, {f"lesson{number}-exercise6": "My own words."})
    (tmp_path / "in" / "Ann_17_assignsubmission_file_" / "notes.ipynb").write_text("{}")
    command(tmp_path, "collect", tmp_path / "in", "--texts", "1")
    assert "notes.ipynb, which is no lesson" in capsys.readouterr().out
    with (tmp_path / "texts.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["student"] for row in rows] == ["Ann", "Bob"]
    assert {row["text"] for row in rows} == {"My own words."}

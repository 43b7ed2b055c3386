"""The runbook of the guide on a small course: four students, two lessons, all commands."""

import csv
import shutil
import sys

import pandas as pd
import pytest
import yaml
from project.test_cheats import (
    GENERAL,
    LESSONS,
    cheating,
    command,
    course,
    grade,
    hand_in,
    solutions,
)

import anonpaper as ap

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
        cheat = [*GENERAL.values()][len(due) % len(GENERAL)]
        for stem in stems:
            right = solutions(stem, f"{SEED}/{who}")
            given = dict(right)
            if kind == "wrong":
                given = {name: WRONG[name][0]["answer"] for name in right}
            if kind == "half":
                given = dict([*right.items()][::2])
            if kind == "cheat":
                given = cheating(cheat, stem, right)
            if kind.startswith("copy of "):
                given = solutions(stem, f"{SEED}/{kind.removeprefix('copy of ')}")
            kept = {name for name in given if given[name] == right[name]}
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


def play(folder):
    """Write the files of three teams of the project; return the people, jobs and best guesses."""
    people = ap.load("adult", rows=600, seed=0)
    people.frame[[*people.qi, people.sensitive]].to_csv(folder / "table.csv", index=False)
    (folder / "game.toml").write_text(f"qi = {people.qi}\nsensitive = '{people.sensitive}'\n")
    people = ap.Microdata(pd.read_csv(folder / "table.csv"), people.qi, people.sensitive)
    careful, careless = ap.mondrian(people, k=10, l=3), ap.mondrian(people, k=2)
    for team, groups in {"honest": careful, "liar": careless, "forger": careful}.items():
        (folder / team).mkdir(parents=True)
        ap.generalize(people, groups).write(folder / team / "release.csv")
        (folder / team / "promise.toml").write_text("k = 10\nl = 3\n")
    forged = pd.read_csv(folder / "forger" / "release.csv").assign(age="[90 - 99]")
    forged.to_csv(folder / "forger" / "release.csv", index=False)
    jobs = pd.Series(people.frame[people.sensitive].astype(str).to_numpy())
    frequent = jobs.groupby(careless.labels).transform(lambda of: of.mode()[0])
    random = jobs.sample(frac=1, random_state=0).to_numpy()
    for team, other, guess in (("honest", "liar", frequent), ("liar", "honest", random)):
        file = folder / team / f"against-{other}.csv"
        pd.DataFrame({"row": range(people.n), "guess": guess}).to_csv(file, index=False)
    return people, jobs, frequent


def test_the_scoreboard_tells_a_broken_promise_and_a_guess_at_random(tmp_path):
    people, jobs, frequent = play(tmp_path)
    command(tmp_path, "scoreboard", tmp_path)
    rows = {row["team"]: row for row in grade.read(tmp_path / "scoreboard.csv")}
    assert rows["honest"]["promise kept"] == "yes"
    assert rows["liar"]["promise kept"] == "no: k-anonymity, frequency l-diversity"
    assert rows["forger"]["promise kept"].startswith("no: ")
    assert float(rows["liar"]["detail lost"]) < float(rows["honest"]["detail lost"])
    common = (jobs == jobs.mode()[0]).sum()
    expected = ((jobs == frequent).sum() - common) / people.n
    assert float(rows["liar"]["worst attack on it"]) == pytest.approx(expected, abs=1e-4)
    assert expected > 0.1 > 0 > float(rows["liar"]["own attacks"])
    assert rows["forger"]["worst attack on it"] == ""


def test_a_malformed_file_of_a_team_costs_that_team_alone(tmp_path):
    people, jobs, frequent = play(tmp_path)
    command(tmp_path, "scoreboard", tmp_path)
    good = grade.read(tmp_path / "scoreboard.csv")
    faults = {
        "no_promise": ("promise.toml", None, "No such file"),
        "no_toml": ("promise.toml", "k is 3", "Expected '='"),
        "no_l": ("promise.toml", "k = 3", "'l' is missing"),
        "no_number": ("promise.toml", "k = 'ten'\nl = 2", "ten"),
        "no_release": ("release.csv", None, "No such file"),
        "empty": ("release.csv", "", "No columns"),
        "no_text": ("release.csv", b"\xff\xfe\x00", "utf-8"),
        "no_guess": ("against-empty.csv", "row,says\n0,x\n", "'guess'"),
        "no_rows": ("against-empty.csv", "row,guess\nfirst,x\n", "first"),
    }
    for team, (file, content, _) in faults.items():
        grade.shutil.copytree(tmp_path / "honest", tmp_path / team)
        (tmp_path / team / file).unlink(missing_ok=True)
        if content is not None:
            content = content if isinstance(content, bytes) else content.encode()
            (tmp_path / team / file).write_bytes(content)
    command(tmp_path, "scoreboard", tmp_path)
    rows = {row["team"]: row for row in grade.read(tmp_path / "scoreboard.csv")}
    for team, (file, _, said) in faults.items():
        assert rows[team]["faults"].startswith(f"{file}: ") and said in rows[team]["faults"]
        assert (rows[team]["promise kept"] == "yes") == file.startswith("against")
        assert rows[team]["own attacks"] == rows["honest"]["own attacks"]
    for row in good:
        kept = ("promise kept", "k", "l", "detail lost", "faults")
        assert {name: rows[row["team"]][name] for name in kept} == {n: row[n] for n in kept}


@pytest.mark.parametrize("used, stopped", [(0.0, True), (5.0, False)])
def test_an_answer_that_sleeps_is_stopped_and_one_that_computes_is_not(monkeypatch, used, stopped):
    """Also on a busy machine, where it computes slowly."""
    control, attendant = grade.socket.socketpair()
    attendant.send(b"1")
    asked, clock = [], iter([0, used, used])
    answer = grade.Answer(control, "", "", grade.SECONDS)
    monkeypatch.setattr(grade.time, "clock_gettime", lambda clock_id: next(clock))
    replies = iter([([], [], []), (["a reply"], [], [])])
    monkeypatch.setattr(
        grade.select, "select", lambda *given: asked.append(given) or next(replies)
    )
    if stopped:
        with pytest.raises(TimeoutError):
            answer._wait()
    else:
        answer._wait()
    assert {given[-1] for given in asked} == {grade.SECONDS} and grade.SECONDS <= 20
    attendant.send(b"e")
    answer.close()


def test_what_students_write_breaks_no_table(tmp_path):
    """Such as texts that no file holds, that are formulas, or too deep for a parser."""
    hand_in(tmp_path / "in", "Ann", STEMS[0], {"lesson10-exercise6": "BAD" + "x" * 10**6})
    hand_in(tmp_path / "in", "Bob", STEMS[0], {"lesson10-exercise1": "x" + ".a" * 10**5})
    (path,) = (tmp_path / "in").glob("Ann*/*")
    path.write_text(path.read_text().replace("BAD", r"=1+1 \ud800\u0000"))
    for who, text in {"Cyd": '{"cells": [{"source": 1}]}', "Dan": "[" * 10**5}.items():
        (tmp_path / "in" / who).mkdir()
        (tmp_path / "in" / who / f"{STEMS[0]}.ipynb").write_text(text)
    command(tmp_path, "collect", tmp_path / "in")
    command(tmp_path, "similar", "--seed", SEED)
    (row,) = grade.read(tmp_path / "texts.csv")
    assert row["text"].startswith("'=1+1 ?") and len(row["text"]) <= 30_001
    assert {*grade.submitted(tmp_path)} == {"Ann", "Bob", "Cyd", "Dan"}


def test_nobody_knows_without_the_seed_which_text_is_marked(tmp_path):
    """Texts that are made up are not drawn, and what is drawn depends on the seed."""
    for stem in STEMS:
        number = stem.partition("_")[0]
        hand_in(tmp_path / "in", "Ann", stem, {f"lesson{number}-exercise6": "My own words."})
    path = tmp_path / "in" / "Ann_17_assignsubmission_file_" / f"{STEMS[0]}.ipynb"
    lesson = grade.json.loads(path.read_text())
    made_up = {"nbgrader": {"grade_id": "lesson10-exercise66"}}
    lesson["cells"] += [{"cell_type": "markdown", "metadata": made_up, "source": "More."}] * 9
    path.write_text(grade.json.dumps(lesson))
    drawn = set()
    for seed in range(12):
        command(tmp_path, "collect", tmp_path / "in", "--texts", "1", "--seed", str(seed))
        drawn |= {row["exercise"] for row in grade.read(tmp_path / "texts.csv")}
    assert drawn == {"lesson10-exercise6", "lesson11-exercise6"}

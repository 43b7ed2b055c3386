"""The command line as a process: exit codes, streams, files, several secrets and people."""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from anonpaper.owner.cli import main

QI = ["--qi", "age,sex,zip", "--sensitive", "illness"]
TP = ["--method", "tp+", "--l", "2"]


def run(*arguments, stdout=subprocess.PIPE, **options):
    command = [sys.executable, "-m", "anonpaper", *map(str, arguments)]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, **options)


def code(*arguments):
    """Run a command within this process and return its exit code."""
    return main([*map(str, arguments)])


def test_the_table_goes_to_standard_output_and_the_report_to_standard_error(people):
    done = run("anonymize", people, *QI, *TP)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[0] == "age,sex,zip,illness" and len(lines) == 49
    assert "frequency l-diversity" in done.stderr
    assert "not published: ['name', 'income, monthly']" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--qi", "age,size", "--sensitive", "illness", *TP], "unknown columns ['size']"),
        ([*QI, "--method", "tp"], "tp needs --l"),
        (["--qi", "age", "--method", "tp", "--l", "2"], "--sensitive must name"),
        ([*QI, *TP, "--k", "3"], "tp_plus does not take --k; it takes --l"),
        ([*QI, *TP, "--publish", "recode"], "--publish recode does not work with tp_plus"),
        ([*QI, *TP, "--keep", "age"], "--keep names ['age']"),
        ([*QI, "--method", "tq", "--l", "2"], "'tq' is not one of "),
        ([*QI, "--method", "klt", "--k", "2", "--l", "2", "--publish", "anatomize"], "two tables"),
        ([*QI, "--method", "tds", "--l", "2", "--hierarchy", "age=nowhere.csv"], "No such file"),
        ([*QI, *TP, "-o", "out.xlsx"], "written as csv"),
        ([*QI, *TP, "-o", "nowhere/out.csv"], "make it first"),
        ([*QI, *TP, "--report", "a\0.html"], "null"),
        ([*QI, *TP, "--type", "zip=text,zip=ordered"], "cannot be both text and ordered"),
        ([*QI, "--method", "tds", "--l", "2", "--hierarchy", "zip=prefixes:a"], "whole numbers"),
        ([*QI, "--method", "tds", "--l", "2", "--hierarchy", "age=."], "--hierarchy age=.: "),
    ],
)
def test_wrong_usage_is_exit_code_2(people, arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert code("anonymize", people, *arguments) == 2
    printed = capsys.readouterr()
    assert message in printed.err and printed.out == ""


@pytest.mark.parametrize("damage", [slice(40), slice(20, None)])
def test_a_damaged_archive_gives_a_message(people, damage, tmp_path, capsys):
    content = gzip.compress(people.read_bytes())
    path = tmp_path / "people.csv.gz"
    for bytes_ in (content[damage], content[:60] + b"????" + content[64:], content[:-9]):
        path.write_bytes(bytes_)
        assert code("audit", path, "--qi", "age") == 2
        assert str(path) in capsys.readouterr().err


def test_a_name_that_is_none_is_exit_code_2(capsys):
    for name in ("a\0.csv", "a\0.parquet", "", "x" * 300):
        assert code("audit", name, "--qi", "age") == 2
    assert "null" in capsys.readouterr().err
    done = run("audit", "\udcff.csv", "--qi", "age")  # a byte that is no UTF-8
    assert done.returncode == 2 and "\\udcff.csv: No such file" in done.stderr


def test_a_file_that_was_read_is_never_written(people, age_tree, tmp_path, capsys):
    before = people.read_bytes()
    (tmp_path / "symbolic.csv").symlink_to(people)
    os.link(people, tmp_path / "hard.csv")
    tree = ["--method", "tds", "--l", "2", "--hierarchy", f"age={age_tree}"]
    for name in (people, tmp_path / "symbolic.csv", tmp_path / "hard.csv", age_tree):
        assert code("anonymize", people, *QI, *tree, "-o", name, "--force") == 2, name
        assert "name another file" in capsys.readouterr().err
    assert people.read_bytes() == before


def test_another_file_is_replaced_with_force_only(people, tmp_path, capsys):
    out = tmp_path / "out.csv"
    out.write_text("precious")
    assert code("anonymize", people, *QI, *TP, "-o", out) == 2
    assert "there already" in capsys.readouterr().err and out.read_text() == "precious"
    assert code("anonymize", people, *QI, *TP, "-o", out, "--force") == 0
    assert out.read_text().startswith("age,")


def test_a_name_that_the_terminal_cannot_show_is_escaped(tmp_path):
    (tmp_path / "a.csv").write_text("Größe\n1\n1\n", encoding="utf-8")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = run("audit", tmp_path / "a.csv", "--qi", "Größe", "-q", env=ascii_only)
    assert done.returncode == 0, done.stderr
    assert "Gr\\xf6\\xdfe" in done.stdout


def test_an_output_that_cannot_be_written_gives_no_traceback(people):
    for arguments in (["audit", people, *QI], ["anonymize", people, *QI, *TP]):
        with open(os.devnull) as only_to_be_read:
            done = run(*arguments, stdout=only_to_be_read)
        assert done.returncode == 2 and "standard output: " in done.stderr
        assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    command, pipe = [sys.executable, "-m", "anonpaper", "audit", people, *QI], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as running:
        running.stdout.close()  # by a reader that has seen enough
        assert "Traceback" not in running.stderr.read()


def test_a_file_behind_standard_input_is_not_written(people):
    before = people.read_bytes()
    with people.open() as stream:
        done = run("anonymize", "-", *QI, *TP, "-o", people, "--force", stdin=stream)
    assert done.returncode == 2
    assert "is the same file as /dev/stdin: name another" in done.stderr
    assert people.read_bytes() == before


@pytest.fixture
def visits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng, patient = np.random.default_rng(0), np.repeat(np.arange(60), 5)
    frame = pd.DataFrame({"age": np.where(patient == 7, 99, 20 + patient // 10)})
    frame = frame.assign(sex=patient % 2, drug=rng.choice(list("wxyz"), 300), patient=patient)
    frame["illness, main"] = rng.choice(["flu", "hiv", "ulcer"], 300)
    frame.to_csv("visits.csv", index=False)
    return frame


TABLE = ["visits.csv", "--qi", "age,sex", "--sensitive", '"illness, main",drug', "-q"]


def test_people_and_several_secrets(visits, capsys):
    by_person = [*TABLE, "--person", "patient", "--json"]
    told = ["--method", "mondrian", "--k", "8", "--publish", "generalize", "-o", "out.csv"]
    required = ["DistinctLDiversity(2)", 'DistinctLDiversity(3, of="illness, main")']
    told += [part for principle in required for part in ("--require", principle)]
    assert main(["anonymize", *by_person, *told]) == 0
    found, out = json.loads(capsys.readouterr().out), pd.read_csv("out.csv")
    assert set(out.columns) == {"age", "sex", "illness, main", "drug"}
    levels = {line["principle"]: line["level"] for line in found["levels"]}
    groups = out.groupby(["age", "sex"])
    assert levels["k-anonymity"] >= 8 and groups.size().min() >= 8
    assert groups["illness, main"].nunique().min() >= 3 and groups["drug"].nunique().min() >= 2
    assert levels["distinct l-diversity of drug"] == groups["drug"].nunique().min()
    assert main(["audit", *by_person]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["table"]["rows"], found["table"]["people"]) == (300, 60)
    people = visits.groupby(["age", "sex"])["patient"].nunique()
    assert found["levels"][0]["level"] == people.min() == 1
    assert found["uniqueness"]["unique people"] == (people == 1).sum()


@pytest.mark.parametrize(("options", "code", "message"), [
    (["--method", "mondrian", "--keep", "patient", "--person", "patient"], 2, "--keep"),
    (["--method", "mondrian", "--k", "61", "--person", "patient"], 1, "60 people"),
    (["--method", "mondrian", "--k", "3", "--require", "Privacy(3)"], 2, "is not a principle"),
    (["--method", "mondrian", "--k", "3", "--require", "Theta(0.5, of='age')"], 2, "'age'"),
    (["--method", "mondrian", "--k", "3", "--require", "DistinctLDiversity(9)"], 1, "reach 3"),
    (["--method", "full_domain", "--k", "3", "--suppression", "2"], 2, "from 0 to 1|in .0, 1"),
    (["--method", "tp", "--l", "2"], 2, "one sensitive attribute"),
    (["--method", "k_member", "--k", "3", "--person", "patient"], 2, "this counts rows"),
])  # fmt: skip
def test_bad_input_writes_nothing(visits, capsys, tmp_path, options, code, message):
    assert main(["anonymize", *TABLE, "-o", "out.csv", *options]) == code
    assert pd.Series([capsys.readouterr().err]).str.contains(message).all()
    assert not (tmp_path / "out.csv").exists()

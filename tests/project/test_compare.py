"""The benchmark's judge catches tools that lie, and its runner says which tools did not run."""

import json
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap

sys.path.insert(0, str(ap.files.project_root() / "benchmarks"))

import compare
import judge

ROLES = {"quasi_identifiers": ["age", "town"], "numeric": ["age"], "sensitive": "illness"}
LIARS = {
    "an honest tool": ("", "kept"),
    "another order of rows and columns": (
        "rows = rows.sample(frac=1, random_state=1)[rows.columns[::-1]]", "kept",
    ),
    "k below what was promised": ("rows.loc[:1, 'age'] = people.loc[:1, 'age']", "broken: k = "),
    "people dropped": ("rows = rows[5:]", "115 rows for 120 people"),
    "one row for everybody": ("rows = rows.assign(**people.loc[0, ['age', 'town']])", "nobody"),
    "secrets changed": ("rows['illness'] = rows['illness'].iloc[0]", "nobody"),
    "secrets renamed": ("rows['illness'] += ' '", "is not in the original table"),
    "rows added": ("rows = pd.concat([rows, rows[:1]])", "121 rows for 120 people"),
    "people dropped and others copied": ("rows = pd.concat([rows[5:], rows[5:10]])", "nobody"),
    "a number before each row": (
        "head, *lines = rows.to_csv().split('\\n'); text = '\\n'.join([head[1:], *lines])",
        "bytes hold more",
    ),
    "another column": ("rows['number'] = range(len(rows))", "its columns are"),
    "names of its own": ("rows['town'] = 'region 7'", "not in the benchmark's notation"),
    "numbers written otherwise": ("rows['age'] = people['age'] + '.0'", "notation"),
    "a set in another order": ("rows['town'] = '{c, b, a}'", "notation"),
    "a set with a stranger": ("rows['town'] = '{a, b, c, zz 20 21 33}'", "notation"),
    "a set of one": ("rows['town'] = '{' + people['town'] + '}'", "notation"),
    "an interval of one": ("rows['age'] = '[' + people['age'] + ' - ' + people['age'] + ']'",
                           "notation"),
    "ends that tell something": ("rows['age'] = '[-202133 - 9999]'", "notation"),
    "digits of another script": ("rows['age'] = '[2\u0660 - 5\u0669]'", "notation"),
    "no row": ("rows = rows[:0]", "no row"),
    "quotes here and there": (
        "text = rows.to_csv(index=False).replace(',a,', ',\"a\",')", "bytes hold more",
    ),
}  # fmt: skip
HONEST = """
    import json, sys
    import pandas as pd

    people = pd.read_csv(sys.argv[1], dtype=str)
    task = json.load(open(sys.argv[2]))
    rows = people.copy()
    rows["age"] = "*"
    text = ""
    {lie}
    open(sys.argv[3], "w").write(text or rows.to_csv(index=False))
"""


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "age": rng.integers(20, 60, 240),
        "town": rng.choice(["a", "b", "c"], 240),
        "illness": rng.choice(["flu", "cold", "gout"], 240),
    })  # fmt: skip
    drawn = compare.draw(frame, ROLES, 120)
    return judge.Task("people", "k-anonymity", {"k": 10}, *ROLES.values(), *drawn)


@pytest.fixture(scope="module")
def wide():
    """More columns, so that people are alone in all but one of them; no promise is asked for."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "age": rng.integers(20, 60, 800),
        "town": rng.choice([*"abcdefghijklmnop"], 800),
        "work": rng.choice([*"abcdefghijklmnop"], 800),
        "illness": rng.choice(["flu", "cold", "gout", "rash", "ache"], 800),
    })  # fmt: skip
    roles = ROLES | {"quasi_identifiers": ["age", "town", "work"]}
    return judge.Task("people", "nothing", {}, *roles.values(), *compare.draw(frame, roles, 400))


def planted(folder, lie=""):
    """Return a tool that promises 10-anonymity, in a folder as a submission has it."""
    folder.mkdir(exist_ok=True)
    (folder / "tool.toml").write_text(
        'name = "planted"\nversion = "1"\nlicence = "MIT"\nhome = "."\n'
        '[methods]\nstars = ["k-anonymity"]\n'
    )
    (folder / "run.py").write_text(textwrap.dedent(HONEST).format(lie=lie))
    (tool,) = compare.tools(folder.parent)
    return tool


@pytest.mark.parametrize("lie", ["k below what was promised", "an honest tool"])
def test_a_tool_is_run_and_judged_by_its_file(task, tmp_path, lie):
    code, verdict = LIARS[lie]
    (found,) = compare.done(task, [planted(tmp_path / "planted", code)])
    assert found["promise"].startswith(verdict)
    assert found["seconds"] > 0 and 5 < found["memory"] < 1000


@pytest.mark.parametrize("lie", LIARS)
def test_what_a_liar_writes_is_refused(task, lie):
    code, verdict = LIARS[lie]
    names = {"pd": pd, "people": task.people, "rows": task.people.assign(age="*"), "text": ""}
    exec(code, names)
    raw = names["text"] or names["rows"].to_csv(index=False)
    assert verdict in judge.judged(task, raw.encode())["promise"]


def test_levels_are_those_of_plain_counting_and_of_the_package(task):
    m = task.microdata
    release = ap.generalize(m, ap.mondrian(m, 10))
    found = judge.judged(task, release.public_frame().to_csv(index=False).encode())
    rows = release.public_frame().astype(str)
    classes = [part["illness"].value_counts() for _, part in rows.groupby(task.qi)]
    whole = task.people["illness"].value_counts(normalize=True)
    assert found["promise"] == "kept" and found["second judge"]
    assert found["level of k"] == min(counts.sum() for counts in classes)
    assert found["level of distinct l"] == min(len(counts) for counts in classes)
    largest = max(counts.max() / counts.sum() for counts in classes)
    assert found["level of frequency l"] == pytest.approx(1 / largest)
    apart = [
        (counts / counts.sum()).sub(whole, fill_value=0).abs().sum() / 2 for counts in classes
    ]
    assert found["level of t"] == pytest.approx(max(apart))
    # the domain is of everybody, here it is that of the table
    assert found["detail lost"] == pytest.approx(ap.measure.gcp(release), rel=0.05)


def test_the_least_loss_of_one_level_per_column_is_that_of_the_lattice_search(task):
    m = task.microdata
    best = ap.recode(m, ap.full_domain(m, 10, task.hierarchies))
    found = judge.judged(task, best.public_frame().to_csv(index=False).encode())
    assert found["gap among"] == "one level per column"
    assert found["gap"] == pytest.approx(1)
    worst = task.people.assign(age="*", town="*")
    more = judge.judged(task, worst.to_csv(index=False).encode())["gap"]
    assert more == pytest.approx(1 / found["detail lost"])


def test_attackers_know_all_of_the_table_itself_and_nothing_of_stars(task):
    alone = replace(task, principle="nothing", promise={})
    itself, stars = (
        judge.judged(alone, rows.to_csv(index=False).encode())
        for rows in (task.people, task.people.assign(age="*", town="*"))
    )
    assert itself["copied"] > 0.9 and itself["query error"] == 0
    assert itself["advantage"] > 0.3 > 0.05 > abs(stars["advantage"])
    assert stars["query error"] > 0.1


@pytest.mark.parametrize("lie", ["+ '.0'", "+ '.0000'"])
def test_a_copy_is_one_however_it_is_written(task, lie):
    alone = replace(task, principle="nothing", promise={})
    rows = task.people.assign(age=eval(f"task.people['age'] {lie}"))
    plain, other = (
        judge.judged(alone, of.to_csv(index=False).encode())["copied"]
        for of in (task.people, rows)
    )
    assert other == plain > 0.9


def test_invented_rows_have_known_secrets_and_are_as_many_as_people(task):
    alone = replace(task, principle="nothing", promise={})
    junk = task.people.assign(illness="junk")
    for rows in (junk, pd.concat([task.people, task.people])):
        found = judge.judged(alone, rows.to_csv(index=False).encode())
        assert found["promise"].startswith("broken: ")


def test_a_forged_ending_keeps_nothing(task, tmp_path):
    forged = r"""
    import os, signal
    line = b'{"code": 0, "seconds": 0.001, "memory": 0.5}\n'
    with open(f"/proc/{os.getppid()}/fd/1", "wb") as told:
        told.write(line)
    os.kill(os.getppid(), signal.SIGKILL)
    """
    tool = planted(tmp_path / "planted")
    with (tool.folder / "run.py").open("a") as file:
        file.write(textwrap.dedent(forged))
    (found,) = compare.done(task, [tool])
    assert found["promise"] == "none kept: the watching process was ended"


DAEMON = """
import os, signal, time

def burn(seconds):
    open(PIDS, "a").write(f"{os.getpid()} ")
    while time.process_time() < seconds:
        pass
    open("burnt", "a").write("1")

def daemon(seconds):
    if not os.fork():
        os.setsid()
        if not os.fork():
            burn(seconds)
            time.sleep(60)
            rows.to_csv(sys.argv[3], index=False)
        os._exit(0)

def burnt():
    return os.path.exists("burnt")
"""
HIDDEN = {  # what a tool starts, how it then goes on, the limit, the verdict, seconds that count
    "a daemon that writes the release": (
        "daemon(2)\nwhile not burnt(): time.sleep(0.1)\nsys.exit()", 20, "none kept: no file", 2,
    ),
    "many that share the limit": (
        "for _ in range(4): daemon(1)\ntime.sleep(60)", 3, "none kept: stopped after 3 seconds", 3,
    ),
    "a child whose end is ignored": (
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nif not os.fork(): burn(2); os._exit(0)\n"
        "while not burnt(): time.sleep(0.1)\ntime.sleep(1)", 20, "kept", 2,
    ),
    "one that outlives the watching process": (
        "daemon(0.1)\nwhile not burnt(): time.sleep(0.1)\nos.kill(os.getppid(), signal.SIGKILL)",
        20, "none kept: the watching process was ended", 0,
    ),
}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
@pytest.mark.parametrize("hidden", HIDDEN)
def test_hidden_work_counts_and_none_of_it_survives(task, tmp_path, monkeypatch, hidden):
    code, limit, verdict, least = HIDDEN[hidden]
    monkeypatch.setattr(compare, "SECONDS", limit)
    pids = tmp_path / "pids"
    tool = planted(tmp_path / "planted", DAEMON.replace("PIDS", repr(str(pids))) + code)
    (found,) = compare.done(task, [tool])
    assert found["promise"] == verdict
    assert found.get("seconds", 0) >= least
    assert not [pid for pid in pids.read_text().split() if Path("/proc", pid).exists()]


def test_a_tool_is_alone_in_its_folder_and_nothing_of_it_is_kept(task, tmp_path):
    seen = tmp_path / "seen"
    code = (
        "import os; told = json.dumps([os.getcwd(), sorted(os.listdir())])\n"
        f"print(told, file=open({str(seen)!r}, 'a'))"
    )
    compare.done(task, [planted(tmp_path / "planted", code)] * 2)
    folders = [json.loads(line) for line in seen.read_text().splitlines()]
    given = ["hierarchy_0.csv", "hierarchy_1.csv", "table.csv", "task.json"]
    assert [files for _, files in folders] == [given, given]
    for folder, _ in folders:
        assert not Path(folder).exists() and compare.BUILD not in Path(folder).parents


def test_queries_are_drawn_in_each_run_and_its_seed_repeats_them(task, tmp_path, monkeypatch):
    tool = planted(tmp_path / "planted")
    monkeypatch.setattr(compare, "BUILD", tmp_path)
    monkeypatch.setattr(compare, "tools", lambda: [tool])
    monkeypatch.setattr(compare, "tasks", lambda *given: [replace(task, seed=given[-1])])
    ran = []
    for again in (False, False, True):
        compare.main("quick", "1", str(ran[0][0]) if again else "")
        of_run = [
            pd.read_csv(tmp_path / "quick" / f"{name}.csv") for name in ("tools", "measured")
        ]
        ran.append((of_run[0]["seed"][0], of_run[1]["query error"][0]))
    assert ran[0] == ran[2] and not {*ran[0]} & {*ran[1]}


def test_copies_refute_differential_privacy_and_rows_of_others_do_not(task):
    private = replace(task, principle="differential privacy", promise={"epsilon": 0.5})
    mixed = task.people.assign(age=task.people["age"].sample(frac=1, random_state=0).to_numpy())
    copy, other = (
        judge.judged(private, rows.to_csv(index=False).encode())["promise"]
        for rows in (task.people, mixed)
    )
    assert copy.startswith("broken: copies 100% of people")
    assert other == "not in the bytes"


@pytest.mark.parametrize("changed", ["illness", "age", "each row another"])
def test_a_copy_with_one_column_changed_is_caught(wide, changed):
    """Nothing is promised, so it is measured; a promise of differential privacy is refuted."""
    rng, rows = np.random.default_rng(1), wide.people.copy()
    columns = list(rows) if changed == "each row another" else [changed]
    which = rng.integers(len(columns), size=len(rows))
    for number, name in enumerate(columns):
        values = wide.domain.get(name, wide.secrets)
        other = rows[name].map(dict(zip(values, np.roll(values, 1), strict=True)))
        rows[name] = rows[name].where(which != number, other)
    raw, others = (of.to_csv(index=False).encode() for of in (rows, wide.outsiders))
    found = judge.judged(wide, raw)
    assert found["nearly copied"] > 0.4 and found["times copied"] > 3
    assert found["promise"] == "none" and abs(found["copied"]) < 0.05
    private = replace(wide, principle="differential privacy", promise={"epsilon": 0.5})
    assert judge.judged(private, raw)["promise"].startswith("broken: copies ")
    assert judge.judged(private, others)["promise"] == "not in the bytes"


def test_tools_that_are_not_here_are_shown_as_not_run(tmp_path, monkeypatch):
    monkeypatch.delenv("ARX_JAR", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    lacking = {tool.name: tool.missing() for tool in compare.tools() if not tool.packages}
    assert lacking["ARX"] == "ARX_JAR is not the path of a file"
    assert lacking["sdcMicro"] == "Rscript is not installed"
    assert lacking["mostlyai-engine"]
    assert not lacking["anonpaper"]


def test_stars_as_r_writes_them_are_understood(task):
    """Made by hand in the format of write.csv, since R is not here: all texts in quotes."""
    rows = task.people.assign(age="*")
    assert judge.judged(task, rows.to_csv(index=False, quoting=1).encode())["promise"] == "kept"


def test_a_tool_that_takes_too_long_or_fails_has_kept_nothing(task, tmp_path, monkeypatch):
    broken = planted(tmp_path / "planted", "raise ValueError('no such k')")
    assert "no such k" in compare.done(task, [broken])[0]["promise"]
    monkeypatch.setattr(compare, "SECONDS", 1)
    slow = planted(tmp_path / "planted", "while True: pass")
    assert compare.done(task, [slow])[0]["promise"] == "none kept: stopped after 1 seconds"

"""Measure other tools on the tasks of notebooks/together/1_against_other_tools.

    python benchmarks/other_tools/run.py

Each tool gets an environment of its own in build/others, from the package index, at the version
below: none of them is in the project's lock. The tasks are written there as csv files. Then in
each of three rounds this package does them, and each tool in its own way by a script beside this
file: what else the machine does meets all of them alike. measured.csv keeps what came out, the
shortest seconds of the rounds, and on what; the notebook reads it.
features.csv was written by hand: what each tool has, and the file that says so.
"""

import csv
import json
import os
import platform
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

import anonpaper as ap

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "build" / "others"
#: What is installed; anonypy imports pandas, and does not say that it needs it.
TOOLS = {
    "pycanon": ["pycanon==1.3.6"],
    "anjana": ["anjana==1.2.3"],
    "anonypy": ["anonypy==0.2.1", "pandas==2.3.3"],
}
QI = ["age", "education", "race", "sex"]
ROUNDS = 3
ONE_THREAD = {
    f"{name}_NUM_THREADS": "1" for name in ("MKL", "NUMBA", "OMP", "OPENBLAS")
}  # so that seconds do not depend on the number of cores


def main() -> None:
    """Make the environments and the tasks, run all tools, and write measured.csv."""
    os.environ |= ONE_THREAD
    FOLDER.mkdir(parents=True, exist_ok=True)
    m = write_tasks()
    for tool, packages in TOOLS.items():
        if not python_of(tool).exists():
            subprocess.run([sys.executable, "-m", "venv", FOLDER / tool], check=True)
        subprocess.run([python_of(tool), "-m", "pip", "install", "-qq", *packages], check=True)
    ours(m)  # which compiles
    loads, rounds = [os.getloadavg()[0]], []
    for _ in range(ROUNDS):
        rounds.append(ours(m) + [row for tool in TOOLS for row in theirs(tool)])
        loads.append(os.getloadavg()[0])
    rows, on = shortest(rounds), machine(max(loads))
    with (HERE / "measured.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["task", "tool", "version", "measure", "value", "on"],
                                lineterminator="\n")  # fmt: skip
        writer.writeheader()
        writer.writerows(row | {"on": on} for row in rows)
    print(f"on {on}: {HERE / 'measured.csv'}")


def python_of(tool: str) -> Path:
    """Return the interpreter of a tool's environment."""
    return FOLDER / tool / "bin" / "python"


def theirs(tool: str) -> list[dict]:
    """Do the tasks with another tool, in a process of its own."""
    command = [python_of(tool), HERE / f"with_{tool}.py"]
    done = subprocess.run(command, cwd=FOLDER, check=True, capture_output=True)
    return json.loads(done.stdout.splitlines()[-1])


def shortest(rounds: list[list[dict]]) -> list[dict]:
    """Return the rows of the rounds as one, with the shortest seconds; all else has to agree."""
    rows = []
    for several in zip(*rounds, strict=True):
        row = min(several, key=lambda row: float(row["value"]))
        is_time = row["measure"].startswith("seconds")
        if not is_time and any(other != row for other in several):
            raise ValueError(f"rounds differ in what is no time: {several}")
        rows.append(row)
    return rows


def machine(load: float) -> str:
    """Say on what seconds are taken, and how busy it was at most."""
    name, about = platform.processor(), Path("/proc/cpuinfo")
    if about.exists():
        names = re.findall(r"model name\s*: (.*)", about.read_text())
        name = names[0] if names else name
    return (
        f"{platform.system()} {platform.machine()}, {name}, {os.cpu_count()} cores, load "
        f"{load:.1f} at most, Python {platform.python_version()}, "
        f"{datetime.now(UTC):%Y-%m-%d}"
    )


def trees(m: ap.Microdata) -> dict[str, ap.Hierarchy]:
    """Return the hierarchies of the second task."""
    return {
        "age": ap.Hierarchy.intervals(m.attribute("age"), [5, 10, 20, 40]),
        "education": ap.Hierarchy.balanced(m.attribute("education"), fan_out=4),
        "race": ap.Hierarchy.flat(m.attribute("race")),
        "sex": ap.Hierarchy.flat(m.attribute("sex")),
    }


def write_tasks() -> ap.Microdata:
    """Write the tables that every tool reads, and return the one to be anonymized."""
    adult = ap.load("adult", qi=QI, sensitive="occupation")
    text = {name: str for name in [*QI[1:], "occupation"]}
    frame = adult.frame[[*QI, "occupation"]].astype(text).replace("nan", "?")
    frame.to_csv(FOLDER / "adult.csv", index=False)
    m = ap.Microdata(frame, QI, "occupation")
    for name, tree in trees(m).items():
        tree.to_csv(FOLDER / f"{name}.csv")
    ap.recode(m, ap.full_domain(m, 10, trees(m))).write(FOLDER / "release.csv")
    return m


def ours(m: ap.Microdata) -> list[dict]:
    """Do the tasks with this package."""
    release = pd.read_csv(FOLDER / "release.csv", dtype=str, keep_default_na=False)

    def levels():
        table = ap.Microdata(release, QI, "occupation")
        return ap.recode(table, ap.Recoding.identity(table.attributes)).audit()

    def grouped():
        return ap.generalize(fresh(m), ap.mondrian(fresh(m), 10))

    def recoded():
        return ap.full_domain(fresh(m), 10, trees(m))

    rows = []
    for task, do in (("levels", levels), ("mondrian", grouped), ("full domain", recoded)):
        began = time.perf_counter()
        found = do()
        seconds = time.perf_counter() - began
        if task == "levels":
            measures = dict(zip(found["principle"], found["level"], strict=True))
        else:
            rel = found if task == "mondrian" else ap.recode(m, found)
            measures = {"classes": rel.classes.n_groups, "gcp": ap.measure.gcp(rel)}
            measures |= {"smallest class": rel.classes.sizes().min()}
        if task == "full domain":
            measures |= {f"level of {name}": level for name, level in found.info["levels"].items()}
        rows += [
            {"task": task, "tool": "anonpaper", "version": ap.__version__, "measure": name,
             "value": f"{value:.6g}"}
            for name, value in (measures | {"seconds": seconds}).items()
        ]  # fmt: skip
    return rows


def fresh(m: ap.Microdata) -> ap.Microdata:
    """Return the table before anything is known of it, as the others read theirs."""
    return ap.Microdata(m.frame, QI, "occupation")


if __name__ == "__main__":
    main()

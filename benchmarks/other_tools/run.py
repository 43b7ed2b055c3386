"""Measure other tools on the tasks of notebooks/together/1_against_other_tools.

    python benchmarks/other_tools/run.py

Each tool gets an environment of its own in build/others, from the package index, at the version
below: none of them is in the project's lock. The tasks are written there as csv files, then a
script beside this file does them in the tool's own way, one tool after the other, and this
package does them too. measured.csv keeps what came out, and on what; the notebook reads it.
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
ONE_THREAD = {
    f"{name}_NUM_THREADS": "1" for name in ("MKL", "NUMBA", "OMP", "OPENBLAS")
}  # so that seconds do not depend on the number of cores


def main() -> None:
    """Make the environments and the tasks, run all tools, and write measured.csv."""
    os.environ |= ONE_THREAD
    FOLDER.mkdir(parents=True, exist_ok=True)
    on = machine()
    m = write_tasks()
    rows = ours(m)
    for tool, packages in TOOLS.items():
        python = FOLDER / tool / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", FOLDER / tool], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", *packages], check=True)
        printed = subprocess.run(
            [python, HERE / f"with_{tool}.py"], cwd=FOLDER, check=True, capture_output=True
        ).stdout.splitlines()
        rows += json.loads(printed[-1])
    with (HERE / "measured.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["task", "tool", "version", "measure", "value", "on"],
                                lineterminator="\n")  # fmt: skip
        writer.writeheader()
        writer.writerows(row | {"on": on} for row in rows)
    print(f"on {on}: {HERE / 'measured.csv'}")


def machine() -> str:
    """Say on what seconds are taken, and how busy it is."""
    name, about = platform.processor(), Path("/proc/cpuinfo")
    if about.exists():
        names = re.findall(r"model name\s*: (.*)", about.read_text())
        name = names[0] if names else name
    return (
        f"{platform.system()} {platform.machine()}, {name}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f} at the beginning, Python {platform.python_version()}, "
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
    """Do the tasks with this package; seconds after one run that compiles."""
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
        do()
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

"""The README's promises: its example runs, its links lead somewhere, its names exist."""

import argparse
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from project.tools import files_of_the_project, load_tool

import anonpaper as ap
from anonpaper.owner.cli import parser

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("example", re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL))
def test_the_examples_run_as_they_are_printed(example, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", example], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "frequency l-diversity" in done.stdout


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert missing == []


def test_names_exist():
    for name in re.findall(r"\bap\.(\w+)\(", README):
        assert hasattr(ap, name), name


def test_make_targets_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    targets |= {f"paper-{path.parent.name}" for path in ROOT.glob("notebooks/*/*.ipynb")}
    named = set(re.findall(r"`make ([a-z][\w-]*)`", README))
    named |= set(re.findall(r"^make ([a-z][\w-]*)", README, flags=re.MULTILINE))
    named.discard("paper-<paper>")
    assert named
    assert {name for name in named if not name.startswith("paper-<")} <= targets


def test_the_commands_run_as_they_are_printed(tmp_path):
    commands = re.findall(r"^python -m anonpaper .*", README, flags=re.MULTILINE)
    assert len(commands) >= 3
    for command in commands:
        done = subprocess.run(
            [sys.executable, *shlex.split(command)[1:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (command, done.stderr)
    assert (tmp_path / "safe.csv").read_text().startswith("age,occupation,race,sex\n")


def test_commands_that_other_texts_name_exist():
    named = [
        (name, *match.groups())
        for name in files_of_the_project()
        if name.endswith((".md", ".ipynb")) and name != "CHANGELOG.md"  # that has old ones
        for match in re.finditer(
            r"python3? -m (anonpaper[\w.]*)(?: (\w+))?", (ROOT / name).read_text(encoding="utf-8")
        )
    ]
    assert len({name for name, *_ in named}) > 1
    commands = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    for name, module, command in named:
        assert module.rstrip(".") == "anonpaper", name
        assert command is None or command in commands.choices, (name, command)


# ---- figures/README.md ------------------------------------------------------------------------

FIGURES = (ROOT / "figures" / "README.md").read_text()
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


@pytest.fixture(scope="module")
def computed():
    return load_tool("computed")


def rows_of_figures():
    """Yield the cells of each figure and table by the heading of their column."""
    header = None
    for line in FIGURES.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| in the paper"):
            header = cells
        elif line.startswith("| ") and "---" not in line:
            yield dict(zip(header, cells, strict=True))


def test_every_figure_and_table_names_the_functions_that_compute_it(computed):
    rows = list(rows_of_figures())
    assert len(rows) > 100
    for row in rows:
        named = LINK.findall(row["computed by"])
        ((_, notebook),) = LINK.findall(row["notebook"])
        ((name, _),) = LINK.findall(row["here"])
        assert named, row["here"]
        for function, module in named:
            code = (ROOT / "figures" / module).read_text()
            assert re.search(rf"^(def {function}\(|{function}\b.* = )", code, re.M), named
        found = computed.matching(computed.functions_of(ROOT / "figures" / notebook), name)
        assert [function for function, _ in named] == [function for _, function in found]


def test_every_row_of_figures_is_filled():
    for row in rows_of_figures():
        assert all(row.values()), row


NOTEBOOK = """
import pandas as pd
import anonpaper as ap
from anonpaper.compendium import Results, run_grid
import xiao2010 as protocol
results = Results("xiao2010", notebook="1")
m = ap.examples.hospital()
runs = run_grid(protocol.time_projection, [{"table": name} for name in "ab"])
runs["l"] = 2
results.figure(figure, "grid", data=runs.rename(columns=str))
for runs in [1, 2]:
    release = ap.suppress(m, ap.tp(m, l=2))
found = []
for row in release.frame:
    found.append({"stars": row})
results.table(pd.DataFrame(found), "table", caption="")
results.table(m.frame, "data", caption="")
results.table(pd.DataFrame([{"stars": ap.measure.stars(name)} for name in runs]), "at", caption="")
for name in "ab":
    results.figure(figure, f"of_{name}", data=runs)
"""


def test_functions_are_found_through_grids_loops_and_names_used_twice(computed, tmp_path):
    cell = {"cell_type": "code", "source": NOTEBOOK.splitlines(keepends=True)}
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": [cell]}))
    found = computed.functions_of(tmp_path / "n.ipynb")
    assert {name: [function for _, function in of] for name, of in found.items()} == {
        "grid": ["time_projection"],
        "table": ["suppress", "tp"],
        "data": ["hospital"],
        "at": ["stars"],
        "of_*": ["suppress", "tp"],
    }
    functions = computed.functions_of(tmp_path / "n.ipynb")
    assert computed.matching(functions, "of_a") == functions["of_*"]
    assert computed.matching(functions, "at") == functions["at"]
    assert computed.matching(functions, "off") == []

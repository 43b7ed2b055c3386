"""The README's promises: its example runs, its links lead somewhere, its names exist."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import anonpaper as ap

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_example_runs_as_it_is_printed():
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True)
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

"""README, guides and the papers' pages: examples run, links lead somewhere, names exist."""

import re
import shlex

import pytest
from project.helpers import ROOT, load_tool

from anonpaper.owner.cli import main

README = ROOT / "README.md"
GUIDES = [README, *sorted(ROOT.glob("site/*.md"))]
LINKED = [*GUIDES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *ROOT.glob("figures/*.md")]
TEXT = "\n".join(path.read_text() for path in GUIDES)
EXAMPLES = dict.fromkeys(re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL))  # each once


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_run_as_they_are_printed(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(example, {"__name__": "__main__"})
    assert "frequency l-diversity" in capsys.readouterr().out


def test_links_lead_somewhere():
    links = [(page, link) for page in LINKED
             for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())]  # fmt: skip
    assert len(links) > 50
    elsewhere = re.compile("://|/actions/")  # the badge of the tests is the host's
    lost = [link for page, link in links if not (page.parent / link).exists()]
    assert [link for link in lost if not elsewhere.search(link)] == []


def test_make_targets_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    targets |= {f"paper-{path.parent.name}" for path in ROOT.glob("notebooks/*/*.ipynb")}
    named = set(re.findall(r"(?:`|^)make ([a-z][\w-]*)(?=`| |$)", TEXT, flags=re.MULTILINE))
    assert named and named <= targets


def test_the_commands_run_as_they_are_printed(tmp_path, monkeypatch, capsys):
    commands = re.findall(
        r"^python -m anonpaper (.*)", TEXT.replace("\\\n", " "), flags=re.MULTILINE
    )
    assert len(commands) >= 3
    monkeypatch.chdir(tmp_path)
    for command in commands:
        assert main(shlex.split(command)) == 0, (command, capsys.readouterr().err)
    assert (tmp_path / "safe.csv").read_text().startswith("age,occupation,race,sex\n")


def test_the_papers_pages_are_short_and_what_judging_the_tables_gives_now():
    """After an edit of a claim: `make PROFILE=paper report`."""
    pages = load_tool("report").pages()
    for name, text in pages.items():
        assert (ROOT / name).read_text() == text, f"{name}: run make PROFILE=paper report"
        shown = re.sub(r"\]\([^)]*\)", "]", text)
        assert len(re.findall(r"[^\s|]*\w[^\s|]*", shown)) <= 1500, name
    there = {f"figures/{path.name}" for path in (ROOT / "figures").glob("*.md")}
    assert there == pages.keys() - {"README.md"}

"""The archive to deposit: complete, checked by its own sums, the same bytes each time."""

import hashlib
import json
import subprocess
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from project.tools import load_tool

ROOT = Path(__file__).parents[2]
archive = load_tool("archive")

WHEN = datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC)


@pytest.fixture
def results(tmp_path):
    """A project whose one notebook has run."""
    folder = tmp_path / "figures" / "paper"
    (folder / "notebooks" / "one").mkdir(parents=True)
    (folder / "one").mkdir()
    (folder / ".staging").mkdir()
    (folder / "manifest" / "one").mkdir(parents=True)
    for name in ("one/a.svg", "one/a.csv", "notebooks/one/1_first.ipynb", ".staging/lock"):
        (folder / name).write_text(name)
    sums = {
        name: {"sha256": hashlib.sha256(name.encode()).hexdigest()}
        for name in ("one/a.svg", "one/a.csv")
    }
    share = {"notebook": "notebooks/one/1_first.ipynb", "outputs": sums}
    (folder / "manifest/one/1_first.json").write_text(json.dumps(share))
    return tmp_path


def test_it_holds_all_results_and_no_state(results):
    assert archive.made("paper", results) == {
        f"figures/paper/{name}"
        for name in (
            "manifest/one/1_first.json",
            "notebooks/one/1_first.ipynb",
            "one/a.csv",
            "one/a.svg",
        )
    }


@pytest.mark.parametrize("lost", ["one/a.svg", "notebooks/one/1_first.ipynb"])
def test_what_is_missing_is_named_with_the_command_that_makes_it(results, lost):
    (results / "figures" / "paper" / lost).unlink()
    with pytest.raises(archive.ArchiveError, match=rf"{lost}.*make PROFILE=paper clean all"):
        archive.made("paper", results)
    with pytest.raises(archive.ArchiveError, match="make PROFILE=quick"):
        archive.made("quick", results)


def test_what_is_of_another_run_than_the_manifest_is_refused(results):
    (results / "figures" / "paper" / "one/a.csv").write_text("another")
    with pytest.raises(
        archive.ArchiveError, match=r"1 files.*one/a\.csv.*PROFILE=paper clean all"
    ):
        archive.made("paper", results)


def test_the_same_files_give_the_same_bytes_and_check_out(tmp_path):
    files = {"b/run.sh": b"#!/bin/sh\n", "a.csv": b"x\n1\n", "README.txt": b"read\n"}
    places = [tmp_path / folder / "anonpaper-1.zip" for folder in ("one", "two")]
    archive.write(places[0], files, WHEN)
    archive.write(places[1], dict(reversed(files.items())), WHEN)
    assert places[0].read_bytes() == places[1].read_bytes()
    with zipfile.ZipFile(places[0]) as opened:
        opened.extractall(tmp_path)
    unpacked = tmp_path / "anonpaper-1"
    lines = (unpacked / "MANIFEST.sha256").read_text().splitlines()
    assert {line.split("  ")[1] for line in lines} == {*files}
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((unpacked / name).read_bytes()).hexdigest() == digest
    checked = subprocess.run(
        ["sha256sum", "--check", "--quiet", "MANIFEST.sha256"], cwd=unpacked, capture_output=True
    )
    assert checked.returncode == 0


def test_it_holds_sources_lock_licences_and_citation(monkeypatch):
    listed = archive.git("ls-files")
    monkeypatch.setattr(archive, "git", lambda *command: listed * (command == ("ls-files",)))
    assert archive.committed() >= {
        "CITATION.cff", "LICENSE", "Makefile", "README.md", "data/README.md",
        "figures/paper/REPORT.html", "pyproject.toml", "requirements.lock",
    }  # fmt: skip


def test_uncommitted_files_are_refused(monkeypatch):
    monkeypatch.setattr(archive, "git", lambda *command: "?? other.csv")
    with pytest.raises(archive.ArchiveError, match="uncommitted"):
        archive.committed()

"""The archive for students: what is in it, and what is not."""

import json
import os
import re
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from project.lessons import exam_answers, secrets_of_lessons
from project.tools import load_tool

ROOT = Path(__file__).parents[2]
LESSONS = sorted(path.name for path in (ROOT / "notebooks" / "course").glob("*.ipynb"))
HEAVY = {"ctgan", "nbgrader", "nvidia-nccl-cu12", "pytest", "sdv", "sphinx", "torch"}


kit = load_tool("kit")


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The archive, with one data set of two: the other is 150 MB to compress."""
    folder = tmp_path_factory.mktemp("kit")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kit, "loads", lambda source: ["adult"])
        kit.write_kit(folder / kit.NAME)
    kit.pack(folder / kit.NAME, folder / "kit.zip")
    kit.pack(folder / kit.NAME, folder / "again.zip")
    assert (folder / "kit.zip").read_bytes() == (folder / "again.zip").read_bytes()
    return zipfile.ZipFile(folder / "kit.zip")


def texts(archive):
    """Yield the name and text of each file, also of those in the wheel."""
    for name in archive.namelist():
        if name.endswith(".whl"):
            with archive.open(name) as content:
                yield from texts(zipfile.ZipFile(content))
        elif not name.endswith((".gz", ".parquet")):
            yield name, archive.read(name).decode()


def read(archive, name):
    return archive.read(f"{kit.NAME}/{name}").decode()


def test_the_archive_has_all_lessons_the_package_data_and_a_start(archive):
    names = {name.removeprefix(f"{kit.NAME}/") for name in archive.namelist()}
    wheels = {name for name in names if name.startswith("wheels/")}
    assert len(wheels) == 1
    assert min(wheels).startswith(f"wheels/anonpaper-{kit.anonpaper.__version__}-")
    assert names - wheels == {
        *(f"lessons/{name}" for name in LESSONS),
        *("LICENSE", "README.md", "requirements.txt", "start.bat", "start.py", "start.sh"),
        *("data/README.md", "data/adult.data.gz", "data/adult.test.gz"),
    }
    script = archive.getinfo(f"{kit.NAME}/start.sh")
    assert script.external_attr >> 16 & 0o111
    index = read(archive, "README.md")
    assert {*re.findall(r"\]\(lessons/(\S+\.ipynb)\)", index)} == {*LESSONS}
    assert "{" not in index
    assert "10.24432/C5XW20" in read(archive, "data/README.md"), "CC BY asks for the authors"


def test_no_solution_no_exam_answer_and_no_path_of_this_machine_is_in_it(archive):
    secrets = {secret.replace('"', '\\"') for secret in secrets_of_lessons()} | exam_answers()
    folders = {str(ROOT), str(Path.home()), sys.prefix, "/" + "tmp/"}
    for name, text in texts(archive):
        plain = " ".join(text.split())
        if name.endswith((".ipynb", ".md")):
            assert [secret for secret in secrets if secret in plain] == [], name
            assert "BEGIN SOLUTION" not in text
            assert "HIDDEN TESTS" not in text
        assert [folder for folder in folders if folder in text] == [], name
    assert not [name for name in archive.namelist() if "INSTRUCTOR" in name or "yaml" in name]


def test_lessons_are_the_students_versions_and_begin_with_a_cell_for_colab(archive):
    for name in LESSONS:
        lesson = nbformat.reads(read(archive, f"lessons/{name}"), as_version=4)
        nbformat.validate(lesson)
        first = next(cell for cell in lesson.cells if cell.cell_type == "code")
        assert first.id == "for-colab"
        wheel = re.search(r"\S+\.whl", first.source)[0]
        assert wheel in archive.namelist()
        known = nbformat.read(ROOT / "notebooks" / "course" / name, as_version=4)
        lesson.cells.remove(first)
        assert lesson.cells == kit.student_version(known).cells


def test_an_archive_of_a_student_has_the_lessons_with_own_constants(tmp_path, monkeypatch):
    monkeypatch.setattr(kit, "all_lessons", lambda: sorted(kit.ROOT.glob("notebooks/course/9_*")))
    for who in ("Ann", "Bob"):
        kit.write_lessons(tmp_path / who / kit.NAME, "anonpaper-1.whl", f"7/{who}")
        kit.pack(tmp_path / who / kit.NAME, tmp_path / f"{who}.zip")
    ann, bob = (zipfile.ZipFile(tmp_path / f"{who}.zip") for who in ("Ann", "Bob"))
    (name,) = ann.namelist()
    assert bob.namelist() == [name] == [f"{kit.NAME}/lessons/9_reconstruction.ipynb"]
    texts = [one.read(name).decode() for one in (ann, bob)]
    years = [re.search(r"of the year (\d+)", text)[1] for text in texts]
    assert years[0] != years[1]
    assert not [text for text in texts if "SOLUTION" in text or "HIDDEN TESTS" in text]


def test_requirements_are_pinned_light_and_enough(archive):
    wheel, *pinned = read(archive, "requirements.txt").split()
    assert f"{kit.NAME}/{wheel.removeprefix('./')}" in archive.namelist()
    names = {line.partition("==")[0] for line in pinned}
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in pinned)
    assert not names & HEAVY
    assert {"numpy", "pandas", "numba", "scikit-learn"} <= names
    assert {"jupyterlab", "ipykernel", "ipywidgets"} <= names
    lock = (ROOT / "requirements.lock").read_text().lower()
    assert [line for line in pinned if line.replace("-", "_") not in lock.replace("-", "_")] == []


def test_binder_installs_the_same_packages_for_the_same_python():
    assert kit.BINDER.read_text().split() == kit.light_requirements(), "make binder"
    python = re.search(r"python (\d\.\d+)\.\*", (ROOT / "environment.yml").read_text())[1]
    assert (kit.BINDER.parent / "runtime.txt").read_text() == f"python-{python}\n"
    steps = (kit.BINDER.parent / "postBuild").read_text()
    fetched = re.search(r"anonpaper fetch --quiet (.*)", steps)[1].split()
    assert all(kit.dataset(name).licence == kit.FREE for name in fetched)


def test_every_data_set_of_the_lessons_is_packed_or_named_with_its_command(tmp_path):
    loaded = {
        name
        for path in LESSONS
        for cell in nbformat.read(ROOT / "notebooks" / "course" / path, as_version=4).cells
        for name in kit.loads(cell.source)
    }
    assert {"adult", "census"} <= loaded
    assert all(kit.dataset(name).licence == kit.FREE for name in loaded), "say how to fetch it"
    said = kit.write_data(["german", "sal"], tmp_path / "data")
    assert "`python start.py -m anonpaper fetch sal`" in said
    assert "german" not in said
    assert {path.name for path in (tmp_path / "data").iterdir()} == {"README.md", "german.data.gz"}


def test_a_data_set_that_cannot_be_had_is_named_with_its_command(tmp_path, monkeypatch):
    def fail(entry, data):
        raise kit.DatasetUnavailableError("no network")

    monkeypatch.setattr(kit, "find_file", fail)
    said = kit.write_data(["diabetes"], tmp_path / "data")
    assert "`python start.py -m anonpaper fetch diabetes`" in said
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["README.md"]


def test_a_start_without_a_fitting_python_says_which_is_needed(archive, tmp_path):
    archive.extractall(tmp_path)
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for name in ("python", "python3", "python3.11", "python3.12", "python3.13"):
        (bin_ / name).write_text("#!/bin/sh\nexit 1\n")
        (bin_ / name).chmod(0o755)
    done = subprocess.run(
        ["sh", kit.NAME + "/start.sh"],
        cwd=tmp_path,
        env={"PATH": f"{bin_}{os.pathsep}/usr/bin{os.pathsep}/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "Python 3.11 or newer" in done.stderr


def test_jupyterlab_is_told_not_to_ask_for_news(monkeypatch, tmp_path):
    """By a setting that the JupyterLab of this environment has."""
    start = runpy.run_path(str(kit.TEMPLATES / "start.py"))
    monkeypatch.setitem(start["fetch_no_news"].__globals__, "ENVIRONMENT", tmp_path)
    start["fetch_no_news"]()
    (file,) = tmp_path.rglob("overrides.json")
    ((plugin, settings),) = json.loads(file.read_text()).items()
    extension, name = plugin.split(":")
    lab = Path(sys.prefix, "share", "jupyter", "lab")
    assert file.parent == tmp_path / "share" / "jupyter" / "lab" / "settings"
    schema = json.loads((lab / "schemas" / extension / f"{name}.json").read_text())
    for key, value in settings.items():
        assert value in {choice["const"] for choice in schema["properties"][key]["oneOf"]}

"""Write the course as one archive that needs neither the repository nor its environment.

    kit.py            build/kit/anonpaper-course.zip: lessons, package, requirements, data, start
    kit.py --offline  build/kit/anonpaper-course-offline.zip: with all wheels for this platform
    kit.py --seed 7 --students names.txt  also build/kit/students: an archive of each one's lessons
    kit.py --binder   binder/requirements.txt: the same packages for Binder and `make LIGHT=1`

The lessons are the students' versions. Of the data sets that the lessons load those are packed
whose licence allows it; for others the archive's README has the command that fetches them.
"""

import argparse
import gzip
import io
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from importlib.metadata import requires
from pathlib import Path

import nbformat
from course import ROOT, all_lessons, index_row, names_of, student_version, variant, write
from nbformat.v4 import new_code_cell
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import anonpaper
from anonpaper.datasets.fetching import find_file, open_file
from anonpaper.datasets.registry import dataset
from anonpaper.errors import DatasetUnavailableError
from anonpaper.files import whole_file

TEMPLATES = Path(__file__).parent / "templates" / "kit"
KIT = ROOT / "build" / "kit"
NAME = "anonpaper-course"
FREE = "CC BY 4.0"
BINDER = ROOT / "binder" / "requirements.txt"
#: Extras of what runs without SDV and torch; the others are for tests, sites and large tables.
LIGHT = ("fast", "learning", "notebooks", "plots", "search")


def main(arguments: list[str] | None = None) -> int:
    """Write the archive, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--offline", action="store_true", help="with the wheels of all packages")
    parser.add_argument("--binder", action="store_true", help="write what Binder installs")
    parser.add_argument("--seed", help="a number or a text from which variants are drawn")
    parser.add_argument("--students", help="how many, or a file of names")
    options = parser.parse_args(arguments)
    if options.students and not options.seed:
        parser.error("variants need a seed: --seed, or SEED=... with make")
    if options.binder:
        BINDER.write_text("\n".join(light_requirements()) + "\n")
        return 0
    archive = KIT / f"{NAME}{'-offline' if options.offline else ''}.zip"
    with tempfile.TemporaryDirectory() as folder:
        write_kit(Path(folder, NAME), offline=options.offline)
        pack(Path(folder, NAME), archive)
        for student in names_of(options.students) if options.students else ():
            own = Path(folder, "students", student, NAME)
            wheel = next(Path(folder, NAME, "wheels").glob("anonpaper-*.whl")).name
            write_lessons(own, wheel, f"{options.seed}/{student}")
            pack(own, KIT / "students" / f"{student}.zip")
    print(f"{archive.relative_to(ROOT)}: {archive.stat().st_size / 1e6:.0f} MB")
    return 0


def write_kit(folder: Path, *, offline: bool = False) -> None:
    """Write the archive's content into a new folder."""
    folder.mkdir(parents=True)
    wheel = write_wheel(folder / "wheels")
    rows, loaded = write_lessons(folder, wheel)
    requirements = [f"./wheels/{wheel}", *light_requirements()]
    (folder / "requirements.txt").write_text("\n".join(requirements) + "\n")
    for name, newline in (("start.py", "\n"), ("start.sh", "\n"), ("start.bat", "\r\n")):
        (folder / name).write_text((TEMPLATES / name).read_text(), newline=newline)
    shutil.copy(ROOT / "LICENSE", folder)
    about = {
        "how": "from the packages in `wheels`, without network" if offline else "fetches 300 MB"
    }
    about |= {"rows": "\n".join(rows), "data": write_data(sorted(loaded), folder / "data")}
    readme = (TEMPLATES / "README.md").read_text()
    (folder / "README.md").write_text(readme.format(**about))
    if offline:
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", "wheels"]
        subprocess.run([*pip, "--requirement", "requirements.txt"], cwd=folder, check=True)


def write_lessons(folder: Path, wheel: str, seed: str | None = None) -> tuple[list, set]:
    """Write the students' versions, or one student's variants; return index and data sets."""
    colab = (TEMPLATES / "colab.txt").read_text().format(name=NAME, wheel=wheel)
    rows, loaded = [], set()
    for path in all_lessons():
        lesson = student_version(variant(nbformat.read(path, as_version=4), seed))
        rows.append(index_row(lesson, f"lessons/{path.name}"))
        loaded |= {name for cell in lesson.cells for name in loads(cell.source)}
        first = next(i for i, cell in enumerate(lesson.cells) if cell.cell_type == "code")
        lesson.cells.insert(first, new_code_cell(colab, id="for-colab"))
        write(lesson, folder / "lessons" / path.name)
    return rows, loaded


def loads(source: str) -> list[str]:
    """Return the names of the data sets that a cell loads."""
    return re.findall(r"""\bap\.load\(["'](\w+)["']""", source)


def write_wheel(folder: Path) -> str:
    """Build the package's wheel and return its file's name."""
    folder.mkdir()
    build = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})"
    with tempfile.TemporaryDirectory() as copy:  # setuptools leaves folders behind
        sources = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "anonpaper", Path(copy, "anonpaper"), ignore=sources)
        for name in ("README.md", "LICENSE", "setup.py"):
            shutil.copy(ROOT / name, copy)
        # the version is that of the checkout, whose tags the copy does not have
        project = (ROOT / "pyproject.toml").read_text()
        version = f'version = "{anonpaper.__version__}"\ndynamic = ['
        stated = project.replace('dynamic = ["version", ', version)
        Path(copy, "pyproject.toml").write_text(stated)
        subprocess.run([sys.executable, "-c", build], cwd=copy, check=True, capture_output=True)
    return next(folder.glob("*.whl")).name


def light_requirements() -> list[str]:
    """Return what the package and its notebooks need, in the versions of the lock.

    What they need on other systems only is in no lock of this one; pip finds it by itself.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lock = re.findall(r"^([\w.-]+)==([^\s;\\]+)", (ROOT / "requirements.lock").read_text(), re.M)
    locked = {canonicalize_name(name): version for name, version in lock}
    extras = [project["optional-dependencies"][extra] for extra in LIGHT]
    todo = [Requirement(line) for line in sum(extras, project["dependencies"])]
    seen = set()
    for one in todo:  # which grows
        name, extras = canonicalize_name(one.name), tuple(sorted(one.extras)) or ("",)
        if (name, extras) in seen or name not in locked:
            continue
        seen.add((name, extras))
        needed = map(Requirement, requires(name) or ())
        todo += [
            other
            for other in needed
            if not other.marker or any(other.marker.evaluate({"extra": e}) for e in extras)
        ]
    return [f"{name}=={locked[name]}" for name in sorted({name for name, _ in seen})]


def write_data(names: list[str], folder: Path) -> str:
    """Pack data sets that may be given on and are to be had; return a sentence on others."""
    folder.mkdir()
    texts, to_fetch = ["# Data sets\n\n"], []
    for data in map(dataset, names):
        try:
            found = [find_file(entry, data) for entry in data.files if data.licence == FREE]
        except DatasetUnavailableError:
            found = []
        for entry, file in zip(data.files, found, strict=False):
            packed = io.BytesIO()
            with open_file(file.path) as content, gzip.GzipFile("", "wb", 6, packed, 0) as stream:
                shutil.copyfileobj(content, stream, 1 << 20)
            (folder / f"{entry.name}.gz").write_bytes(packed.getvalue())
        if found:
            files = ", ".join(f"`{entry.name}`" for entry in data.files)
            about = f"{data.licence}: {data.citation} {data.page}"
            texts.append(f"- {data.title} ({files}), {about}\n")
        else:
            to_fetch.append(f"`python start.py -m anonpaper fetch {data.name}`")
    (folder / "README.md").write_text("".join(texts))
    if to_fetch:
        return f"Data sets that are not in `data` are fetched: {', '.join(to_fetch)}."
    return "All data sets of the lessons are in `data`: no lesson needs a network."


def pack(folder: Path, archive: Path) -> None:
    """Write a folder as a zip archive; the same content gives the same bytes."""
    with whole_file(archive) as made, zipfile.ZipFile(made, "w") as packed:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder.parent).as_posix())
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if path.suffix == ".sh" else 0o644) << 16
            with path.open("rb") as content, packed.open(entry, "w") as stream:
                shutil.copyfileobj(content, stream, 1 << 20)


if __name__ == "__main__":
    sys.exit(main())

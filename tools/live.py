"""Write pages that run in a browser: build/live/index.html for a table, others for notebooks.

    live.py [FOLDER]    fetch and check what is missing, and write the pages; to build/live

site/live holds the pages. Python for the browser (Pyodide) is sought in the folder that
ANONPAPER_PYODIDE names, then in a wheel of the package index. Every file is checked against the
sha256 in site/live/archives.toml. Each becomes a script that hands its bytes to the page, since a
page that was opened as a file may load scripts and nothing else.
"""

import base64
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from functools import cache
from html import escape
from pathlib import Path

from inputs import LESSONS, NOTEBOOKS, ROOT, for_pages
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from report import templates

import anonpaper
from anonpaper.compendium.tables import manifest, papers
from anonpaper.datasets.loading import BY_HAND, FETCHED_FOLDERS, dataset, find_file, registry
from anonpaper.errors import ChecksumError, DatasetUnavailableError
from anonpaper.files import cache_folder, sha256, write_whole

PAGE = ROOT / "site" / "live"
sys.path.append(str(PAGE))
from kernel import shown  # noqa: E402, of the page itself

PINNED = tomllib.loads((PAGE / "archives.toml").read_text())
ELSEWHERE = r"(?<!!)\[([^]]*)\]\((?!https?:)[^)]*\)"  # links to files that the pages do not have
LOADED = r"""\bap\.load\(["'](\w+)["']"""  # names of data sets
SCROLLS = r'(<table|class="math block")'  # on a phone: also by keyboard
UNPACKED = (".js", ".wasm", ".py")  # packed for the page; wheels are packed already


def main(target: Path = ROOT / "build" / "live") -> int:
    """Write the pages and return the exit code."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".live-") as folder:
        try:
            table, more = archives()
        except (ChecksumError, DatasetUnavailableError) as error:
            print(f"live: {error}", file=sys.stderr)
            return 1
        made = Path(folder, "made")
        (made / "assets").mkdir(parents=True)
        for name in ("base.css", "live.css", "load.js", "live.js", "notebook.js"):
            shutil.copy(PAGE / name, made)
        table |= own_files(Path(folder), more)
        with zipfile.ZipFile(more.pop("latex2mathml-3.81.1.whl")) as wheel:
            wheel.extractall(folder)  # it makes MathML of formulas
        sys.path.append(folder)
        pages = [write_notebook(made, name, table | more, Path(folder)) for name in notebooks()]
        files = table | {"glue.py": PAGE / "glue.py"}
        write_page(made, "index", files, pages=pages)
        theatre = of_theatre(made, table | more, Path(folder))
        (made / "theatre.json").write_text(json.dumps(theatre))
        if target.exists():
            os.replace(target, Path(folder, "old"))
        os.replace(made, target)
    size = sum(file.stat().st_size for file in target.rglob("*.*"))
    print(f"live: {size / 1e6:.1f} MB; open {os.path.relpath(target / 'index.html')}")
    return 0


def archives() -> list[dict[str, Path]]:
    """Return the checked files that all pages need, and those of notebooks; fetch missing ones."""
    pyodide, wheels, found = PINNED["pyodide"], PINNED["wheels"], []
    kept = cache_folder() / "live"
    given = Path(os.environ.get("ANONPAPER_PYODIDE", kept))
    for part in ("files", "notebooks"):
        files = {name: (given if (given / name).is_file() else kept) / name
                 for name in pyodide[part]}  # fmt: skip
        named = {f"{of.replace('-', '_').replace('==', '-')}.whl": of for of in wheels[part]}
        for name, path in (files := files | {name: kept / name for name in named}).items():
            if not path.is_file() and name in named:
                write_whole(path, downloaded(named[name]))
            elif not path.is_file():
                wheel = zipfile.ZipFile(io.BytesIO(downloaded(pyodide["mirror"])))
                write_whole(path, wheel.read(pyodide["folder"] + name))
        found.append(files)
    each = "".join(sha256(path.read_bytes()) for files in found for path in files.values())
    if (got := sha256(bytes.fromhex(each))) != PINNED["sha256"]:
        raise ChecksumError(f"{given}: files have the sha256 {got}, not that pinned: remove them")
    return found


@cache
def downloaded(requirement: str) -> bytes:
    """Return one wheel of the package index, the same on every machine."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
        pip += ["--only-binary=:all:", "--platform=manylinux2014_x86_64", "--python-version=3.11"]
        if subprocess.run([*pip, requirement], stdout=sys.stderr).returncode:
            raise DatasetUnavailableError(
                f"{requirement} is not in the package index: put the files of Pyodide "
                f"{PINNED['pyodide']['info']['version']} in a folder, and name it in "
                "ANONPAPER_PYODIDE"
            )
        return next(Path(folder).glob("*.whl")).read_bytes()


def own_files(folder: Path, more: dict[str, Path]) -> dict[str, Path]:
    """Return our files that every page needs: the package, the worker and Pyodide's lock."""
    lock, about, packages = folder / "pyodide-lock.json", folder / "METADATA", {}
    for name, depends, kind, place in (  # one is linked to the other: Pyodide loads them itself
        ("openblas", [], "shared_library", "dynlib"),
        ("scipy", ["openblas"], "package", "site"),
    ):
        path = next(path for file, path in more.items() if file.startswith(f"{name}-"))
        packages[name] = {"name": name, "version": path.stem.split("-")[1], "imports": []}
        packages[name] |= {"file_name": path.name, "sha256": sha256(path.read_bytes())}
        packages[name] |= {"package_type": kind, "install_dir": place, "depends": depends}
    info = PINNED["pyodide"]["info"]
    lock.write_text(json.dumps({"info": info, "packages": packages}))
    about.write_text(f"Metadata-Version: 2.1\nName: anonpaper\nVersion: {anonpaper.__version__}\n")
    files = [file for file in (ROOT / "anonpaper").rglob("*.*") if "__pycache__" not in file.parts]
    package = in_project(files) | {f"anonpaper-{anonpaper.__version__}.dist-info/METADATA": about}
    own = {"anonpaper.whl": packed(package, folder), lock.name: lock}
    return own | {"worker.js": PAGE / "worker.js"}


def in_project(files: list[Path]) -> dict[str, Path]:
    """Return files by their places in the project."""
    return {file.relative_to(ROOT).as_posix(): file for file in files}


def notebooks() -> list[str]:
    """Return the notebooks that are pages: the start, all lessons, the first of each paper."""
    firsts = [next(paper.parent.glob("1_*")) for paper in NOTEBOOKS.glob("*/paper.toml")]
    found = [NOTEBOOKS / "00_start_here.ipynb", *LESSONS, *sorted(firsts)]
    names = [path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in found]
    return [name for name in names if name not in PINNED["left_out"]]


def write_notebook(made: Path, name: str, files: dict[str, Path], folder: Path) -> str:
    """Write the page of a notebook, and return a link to it."""
    content = for_pages(name)
    code = "\n".join(cell["source"] for cell in content["cells"])
    named = {data for data in registry() if f'"{data}"' in code}
    if name.startswith("course/"):
        named = {*re.findall(LOADED, code)}
    for old, new in PINNED["smaller"].get(name, {}).items():
        for cell in content["cells"]:
            cell["source"] = cell["source"].replace(old, new)
    title = content["cells"][0]["source"].partition("\n")[0].removeprefix("# ")
    trees = {data: data_tree(data) for data in sorted(named)} | {"own": own_tree(name)}
    for tree, places in trees.items():
        files[f"{tree}.tree.zip"] = packed(places, folder)
    note = PINNED["notes"].get(name, "")
    given = {"title": title, "note": note, "cells": as_html(content, bool(note))}
    page, files = name.replace("/", "-"), files | {"glue.py": PAGE / "kernel.py"}
    size = write_page(made, page, files, **given)
    about = papers().get(name.partition("/")[0])
    asked = f"{about.name}, {about.question}: " if about else ""
    return f'{escape(asked)}<a href="{page}.html">{escape(title)}</a> ({size} MB)'


def of_theatre(made: Path, files: dict[str, Path], folder: Path) -> list[dict]:
    """Write the files by which the theatre runs an edited table; return their places."""
    theatre = [PAGE.parent / "theatre" / name for name in ("scenes.py", "plays.md")]
    tree = in_project([*NOTEBOOKS.glob("*/*.toml"), *NOTEBOOKS.rglob("*.py"), *theatre])
    files = files | {"theatre.tree.zip": packed(tree, folder), "glue.py": PAGE / "kernel.py"}
    return [write_asset(path, name, made / "assets") for name, path in files.items()]


def own_tree(name: str) -> dict[str, Path]:
    """Return files of the project that a notebook uses, by their places in it."""
    found = [*NOTEBOOKS.glob("*/*.toml"), *(ROOT / "data" / "reference").iterdir()]
    figures = ROOT / "figures" / "paper"
    if share := manifest(figures).get(name):
        found += [figures / path for path in share["outputs"]]
        found += [NOTEBOOKS / f"{name}.ipynb", *(NOTEBOOKS / name).parent.rglob("*.py")]
    return in_project(found)


def data_tree(name: str) -> dict[str, Path]:
    """Return the files of a data set, by the places where the package looks for them."""
    data = dataset(dataset(name).derived_from or name)
    try:
        found = [find_file(name, data) for name in data.files]
    except DatasetUnavailableError:  # the page makes a stand-in, as the package does
        found = []
    folders = {BY_HAND: "raw"} | {how: f"cache/{name}" for how, name in FETCHED_FOLDERS.items()}
    return {f"data/{folders[how]}/{path.name}": path for path, how in found}


def packed(places: dict[str, Path], folder: Path) -> Path:
    """Write an archive of files by their places, once in a run."""
    archive = folder / f"{sha256(repr(places))}.zip"
    if not archive.exists():
        with zipfile.ZipFile(archive, "w") as stream:
            for place, path in sorted(places.items()):  # without times: equal content, equal bytes
                stream.writestr(zipfile.ZipInfo(place), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return archive


def as_html(notebook: dict, is_partial: bool) -> str:
    """Return text, and code with its outputs; a partial notebook runs on after errors."""
    from latex2mathml.converter import convert

    def formula(tex: str, how: dict) -> str:
        return convert(tex, display="block" if how["display_mode"] else "inline")

    text = MarkdownIt().enable("table").use(dollarmath_plugin, renderer=formula)
    parts = []
    for cell in notebook["cells"]:
        source, tags = cell["source"], cell["metadata"].get("tags", [])
        if cell["cell_type"] != "code":
            source = re.sub(ELSEWHERE, r"\1", source)
            shown_text = re.sub(SCROLLS, r'\1 tabindex="0"', text.render(source))
            parts.append(f'<div class="text">{shown_text}</div>')
            continue
        alt = cell["metadata"].get("mystnb", {}).get("image", {})
        outputs = shown([output | {"metadata": alt} for output in cell["outputs"]])
        outputs = escape(json.dumps(outputs))
        goes_on = "data-goes-on" if is_partial or "raises-exception" in tags else ""
        parts.append(
            f'<pre class="code" id="{cell["id"]}" tabindex="0" {goes_on}>{escape(source)}</pre>'
            f'<div class="outputs" data-outputs="{outputs}"></div>'
        )
    return "\n".join(parts)


def write_page(made: Path, name: str, files: dict[str, Path], **given: object) -> str:
    """Write a page and, unless another page has them, its files; return their megabytes."""
    assets = [write_asset(path, of, made / "assets") for of, path in files.items()]
    size = f"{sum(one['bytes'] for one in assets) / 1e6:.0f}"
    kind = "index" if name == "index" else "notebook"
    page = templates(PAGE.parent).get_template(f"live/{kind}.html")
    write_whole(made / f"{name}.html", page.render(assets=json.dumps(assets), mb=size, **given))
    return size


@cache
def write_asset(path: Path, name: str, folder: Path) -> dict:
    """Write a file as a script named by its content; return its place and size."""
    content = path.read_bytes()
    if packed := name.endswith(UNPACKED):
        content = gzip.compress(content, mtime=0)
    script = f"asset('{base64.b64encode(content).decode()}')\n".encode()
    at = f"{sha256(script)[:16]}.js"
    (folder / at).write_bytes(script)
    return {"name": name, "packed": packed, "at": f"assets/{at}", "bytes": len(script)}


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))

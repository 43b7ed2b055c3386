"""Run the tests, for the Makefile: each file in a process of its own.

    check.py            what can have another result than when it passed last
    check.py --all      everything

A process notes which files of the project it opens. A file of tests that passed is left out while
all of these are the same, by content: the files that it opened, the names of the project's files,
the locked versions, the interpreter, and our variables of the environment. A program other than
Python may read anything, so tests that start one depend on every file, unless it is `make` in a
copy elsewhere: its files were opened to be copied. Skipped tests have not passed.
Notebooks are always compared: `make` has executed them, and nbval compares those outputs with the
expected ones.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import hashlib
import importlib.util
import json
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from multiprocessing.connection import wait
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OPENED = ROOT / "tools" / "opened"
KEPT = ROOT / "data" / "cache" / "tests"
NOTEBOOKS = "figures/expected/quick/notebooks"
NBVAL = "--nbval --nbval-sanitize-with=tests/nbval_sanitize.cfg -p replayed".split()
PRELOADED = "ignore::pytest.PytestAssertRewriteWarning"  # plugins are loaded before pytest starts
LIMIT = 1_200  # seconds of a file of tests, after which it shows where it stands and fails
ALL, AROUND = "*", ""  # names of no file: all files, and what tests depend on beside files
COMPILED = re.compile(r"__pycache__/([^./]+)\.[^/]*\.pyc$")  # of Python, and as pytest writes it
# what the environment is made from, and what is loaded before processes are forked
ALWAYS = (
    "requirements.lock tests/project/tools.py tools/check.py tools/opened/sitecustomize.py".split()
)
# loaded once, before processes are forked: libraries that most tests import, none of the project
LIBRARIES = "hypothesis matplotlib.pyplot nbformat numba numpy pandas scipy.stats sklearn yaml"


def main(arguments: list[str] | None = None) -> int:
    """Run the tests that have to run, print how they ended and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="leave out nothing")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args(arguments)
    began = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # by way of `finally`
    os.chdir(ROOT)
    sys.path[:1] = [str(ROOT), str(ROOT / "tests")]  # where pytest started from here looks
    files, known, targets = contents(), records(), units()
    left_out = {unit for unit in targets if not given.all and is_same(known.get(unit), files)}
    if left_out:
        listed = Counter(str(Path(unit).parent) for unit in left_out)
        told = ", ".join(f"{folder} ({n})" for folder, n in sorted(listed.items()))
        print(f"left out, since they passed and nothing that they open has changed: {told}")
        print("`make test-all` leaves out nothing", flush=True)
    # the longest first; where no times are known, the tests of the build, which are last by name
    seconds = {unit: share["seconds"] for unit, share in known.items()}
    running = sorted(targets.keys() - left_out, reverse=True)
    running.sort(key=lambda unit: -seconds.get(unit, float("inf")))
    counts, failed = Counter(), []
    for unit, ended in side_by_side({unit: targets[unit] for unit in running}, given.workers):
        counts.update(ended["counts"])
        passed = f"{ended['counts'].get('passed', 0)} passed"
        print(f"{unit:<60} {passed:>12} {ended['seconds']:7.1f} s", flush=True)
        share = KEPT / f"{digest(unit.encode())}.json"
        share.unlink(missing_ok=True)
        if not ended["passed"]:
            failed.append(unit)
            print(ended["printed"], flush=True)
        elif unit != NOTEBOOKS and not ended["counts"].get("skipped"):
            names = {ALL} if ALL in ended["opened"] else files.keys() & ended["opened"]
            noted = {name: files[name] for name in sorted({AROUND, *names})}
            share.parent.mkdir(parents=True, exist_ok=True)
            share.write_text(json.dumps(
                {"unit": unit, "seconds": ended["seconds"], "files": noted}, indent=1
            ))  # fmt: skip
    print(*(f"FAILED {unit}" for unit in sorted(failed)), sep="\n")
    print(f"{time.monotonic() - began:.0f} s")
    skipped = f", {counts['skipped']} skipped" * bool(counts["skipped"])
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return int(bool(failed))


def units() -> dict[str, list[str]]:
    """Return what runs in a process of its own, by name: files of tests, doctests of a folder."""
    places = {"anonpaper": "anonpaper/*.py", NOTEBOOKS: f"{NOTEBOOKS}/**/*.ipynb"}
    found = {name: named(pattern) for name, pattern in places.items()}
    rooms = [str(Path(name).parent) for name in named("anonpaper/*/__init__.py")]
    found |= {name: [name] for name in (*named("tests/**/test_*.py"), *rooms)}
    return {name: targets for name, targets in found.items() if targets}


def named(pattern: str) -> list[str]:
    """Return the files with such names, hidden ones left out."""
    return sorted(path.as_posix() for path in Path().glob(pattern) if "/." not in path.as_posix())


# ---- what has changed -------------------------------------------------------------------------


def contents() -> dict[str, str]:
    """Return the digest of each file of the project, of all, and of what counts beside them."""
    from project.tools import files_of_the_project

    made = [name for name in named("figures/quick/**/*") if Path(name).is_file()]  # the site's
    names = sorted({*files_of_the_project(ROOT), *made})
    files = {name: digest(Path(name).read_bytes()) for name in names}
    folders = [ROOT / "data" / "raw", *filter(None, [os.environ.get("ANONPAPER_DATA")])]
    data = [sorted(path.name for path in Path(folder).glob("*")) for folder in folders]
    ours = sorted(item for item in os.environ.items() if item[0].startswith("ANONPAPER_"))
    always = [files.get(name) for name in ALWAYS]
    around = [sys.version, names, data, ours, always]
    return files | {ALL: digest(repr(files).encode()), AROUND: digest(repr(around).encode())}


def records() -> dict[str, dict]:
    """Return what was noted of the tests that passed when they ran last."""
    shares = [json.loads(path.read_text()) for path in KEPT.glob("*.json")]
    return {share["unit"]: share for share in shares}


def is_same(share: Mapping | None, files: Mapping[str, str]) -> bool:
    """Return whether all that tests depended on when they passed is as it was."""
    return bool(share) and all(files.get(name) == was for name, was in share["files"].items())


def digest(content: bytes) -> str:
    """Return a digest of 16 digits."""
    return hashlib.sha256(content).hexdigest()[:16]


# ---- processes --------------------------------------------------------------------------------


def side_by_side(targets: Mapping[str, list[str]], workers: int) -> Iterator[tuple[str, dict]]:
    """Run pytest on targets, each in a process forked from this one; yield how each ended."""
    for library in LIBRARIES.split():
        import_module(library)
    for plugin in entry_points(group="pytest11"):
        plugin.load()
    waiting, running = list(targets), {}
    with tempfile.TemporaryDirectory() as scratch:
        try:
            while waiting or running:
                while waiting and len(running) < workers:
                    folder, unit = Path(scratch, str(len(waiting))), waiting.pop(0)
                    (folder / "opened").mkdir(parents=True)
                    process = multiprocessing.get_context("fork").Process(
                        target=run, args=(targets[unit], NBVAL * (unit == NOTEBOOKS), folder)
                    )
                    process.start()
                    running[process.sentinel] = unit, folder, process
                # not woken by sentinels alone: what a test leaves running holds them open
                wait(running, timeout=1)
                done = [key for key, (*_, process) in running.items() if not process.is_alive()]
                for unit, folder, process in map(running.pop, done):
                    end(process)
                    yield unit, ended(folder)
        finally:
            for *_, process in running.values():
                end(process)


def end(process: multiprocessing.Process) -> None:
    """End a process and all that it has left running."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def run(targets: list[str], options: list[str], folder: Path) -> None:
    """Run pytest in this process, and write down how it ended and which files were opened."""
    os.setpgrp()  # so that `end` ends what tests leave running too
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    counts = Counter()
    output = os.open(folder / "printed", os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    faulthandler.dump_traceback_later(LIMIT, exit=True, file=output)
    forget_make()
    path = [str(OPENED), os.environ.get("PYTHONPATH")]
    os.environ |= {
        "ANONPAPER_FIGURES": str(folder / "figures"),
        "ANONPAPER_OPENED": str(folder / "opened"),
        "ANONPAPER_PROFILE": "quick",
        "ANONPAPER_PROJECT": str(ROOT),
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
    }
    spec = importlib.util.spec_from_file_location("opened", OPENED / "sitecustomize.py")
    sys.modules["opened"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["opened"])

    class Outcomes:
        """Counts a test once: by its call, or by what kept it from being called."""

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.when == "call" or report.outcome != "passed":
                counts[report.outcome] += 1

    options = ["-q", "-pno:cacheprovider", "-W", PRELOADED, f"--basetemp={folder / 't'}", *options]
    code = pytest.main([*options, *targets], plugins=[Outcomes()])
    passed = code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    seconds = round(sum(os.times()[:4]), 1)  # of processors, its programs' too
    found = {"passed": passed, "seconds": seconds, "counts": dict(counts)}
    (folder / "ended").write_text(json.dumps(found))


def forget_make() -> None:
    """Forget what make was told, as by FRESH=yes: tests call make as a user would."""
    told = re.findall(r"(\w+)=", os.environ.get("MAKEFLAGS", ""))
    for name in ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", *told):
        os.environ.pop(name, None)


def ended(folder: Path) -> dict:
    """Return how a process ended that was to run pytest; a killed one has failed."""
    found = {"passed": False, "seconds": 0.0, "counts": {"failed": 1}}
    if (folder / "ended").exists():
        found = json.loads((folder / "ended").read_text())
    notes = [file.read_text().splitlines() for file in (folder / "opened").iterdir()]
    opened = {COMPILED.sub(r"\1.py", name) for lines in notes for name in lines}
    printed = (folder / "printed").read_text(errors="replace")
    return found | {"opened": opened, "printed": printed}


if __name__ == "__main__":
    sys.exit(main())

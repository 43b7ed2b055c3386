"""Change the code in small ways, and see whether the tests notice: ``make mutants``.

    mutants.py --sample 300 --seed 0    draw, run, and print the survivors
    mutants.py --tests                  in the copy: run the tests of the module that is changed

Cosmic Ray makes the changes (an operator, a comparison, a number, a loop that does not run, ...)
and runs them one after the other in a copy of the project, numba's compiler off. tests/mutants.toml
says which tests have to notice a change in which module, and explains survivors. Of the places in
these modules a seeded sample is drawn, and one change for each; an edit of the code changes the
sample only where it edits. The next run with the same code continues, and tries survivors again.
"""

import argparse
import ast
import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tomllib
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "mutants"
COPY = WORK / "copy"
ABOUT = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())
LONGEST = 60  # seconds of processor time for a test


def main() -> int:
    """Draw, run and report; return 1 if a survivor is not explained."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", action="store_true")
    options = parser.parse_args()
    if options.tests:
        return run_tests()
    sys.path.append(str(WORK / "packages"))  # last: the project's own libraries go first
    from cosmic_ray.commands import init
    from cosmic_ray.work_db import use_db

    shutil.rmtree(COPY, ignore_errors=True)
    listed = "git ls-files anonpaper tests data notebooks pyproject.toml conftest.py"
    for name in subprocess.check_output(listed.split(), cwd=ROOT, text=True).splitlines():
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, COPY / name)
    os.symlink((ROOT / "data" / "cache").resolve(), COPY / "data" / "cache")
    os.chdir(COPY)
    modules = [file for pattern in ABOUT["tests"] for file in sorted(Path().glob(pattern))]
    code = "".join(file.read_text() for file in modules)
    session = WORK / f"{digest(options.sample, options.seed, code)}.sqlite"
    begun = session.exists()
    with use_db(session) as db:
        if not begun:
            init(modules, db, {})
            drawn = sample(list(db.work_items), options.sample, options.seed)
            db.clear()
            db.add_work_items(drawn)
    with sqlite3.connect(session) as stored:
        stored.execute("DELETE FROM work_results WHERE test_outcome != 'KILLED'")
    command = f"{sys.executable} {ROOT / 'tools' / 'mutants.py'} --tests"
    config = WORK / "cosmic-ray.toml"
    config.write_text(
        f'[cosmic-ray]\nmodule-path = "anonpaper"\ntimeout = 1800\ntest-command = "{command}"\n'
        '[cosmic-ray.distributor]\nname = "local"\n'
    )
    path = os.pathsep.join([str(COPY), str(WORK / "packages")])
    alone = {"NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    execute = [sys.executable, "-m", "cosmic_ray.cli", "exec", config, session]
    subprocess.run(execute, check=True, env=os.environ | alone | {"PYTHONPATH": path})
    with use_db(session) as db:
        module_of = {item.job_id: str(item.mutations[0].module_path) for item in db.work_items}
        return report([(module_of[job], result) for job, result in db.results])


def sample(items: list, size: int, seed: int) -> list:
    """Draw places, and at each of them a change, by the lowest digests; some nobody can notice."""
    sources = {item.mutations[0].module_path: None for item in items}
    sources = {path: path.read_text() for path in sources}
    unnoticed = {path: annotations(source) for path, source in sources.items()}
    places = {}
    for item in items:
        (change,) = item.mutations
        path, (line, column) = change.module_path, change.start_pos
        hidden = any(first <= (line, column) < last for first, last in unnoticed[path])
        if not hidden and change.operator_name != "core/RemoveDecorator":  # numba's
            text = sources[path].splitlines()[line - 1]
            place = digest(seed, str(path), text, column), str(path), line
            places.setdefault(place, []).append((digest(change.operator_name, *place), item))
    drawn = sorted(places)[:size]
    return [min(places[place], key=lambda ranked: ranked[0])[1] for place in drawn]


def annotations(source: str) -> list[tuple]:
    """Return where annotations stand, as ((line, column), (line, column))."""
    nodes = ast.walk(ast.parse(source))
    parts = [getattr(node, name, None) for node in nodes for name in ("annotation", "returns")]
    return [
        ((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset))
        for part in parts
        if part is not None
    ]


def digest(*parts: object) -> str:
    """Return 64 bits that depend on all parts."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


class Quickly:
    """End a test that runs too long: one that a change keeps from ending is killed."""

    def pytest_runtest_setup(self) -> None:
        """Set the alarm of processor time, however busy the machine is."""
        signal.setitimer(signal.ITIMER_PROF, LONGEST)


def run_tests() -> int:
    """Run the tests of the module that differs from the project's, its own examples first."""
    import pytest

    changed = [
        (str(file.relative_to(ROOT)), tests)
        for pattern, tests in ABOUT["tests"].items()
        for file in ROOT.glob(pattern)
        if file.read_bytes() != (COPY / file.relative_to(ROOT)).read_bytes()
    ]
    (module, tests), *_ = changed
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--tb=short"]
    options += [f"--ignore={file}" for file in ABOUT["left_out"]]
    return int(pytest.main([*options, module, *tests], plugins=[Quickly()]))


def report(results: list[tuple]) -> int:
    """Print the survivors and numbers by module; return 1 if a survivor is not explained."""
    known = {(entry["module"], entry["becomes"]) for entry in ABOUT["explained"]}
    tried, survived, unexplained = Counter(), Counter(), 0
    for module, result in sorted(results, key=lambda pair: pair[0]):
        tried[module] += 1
        if not result.is_killed:
            survived[module] += 1
            lines = [line[1:].strip() for line in result.diff.splitlines() if line[0:1] == "+"]
            explained = any((module, line) in known for line in lines)
            unexplained += not explained
            print("explained" if explained else "SURVIVED", module, result.diff, sep="\n")
    for module, number in tried.items():
        print(f"{number - survived[module]:4} of {number:3} killed  {module}")
    killed, total = tried.total() - survived.total(), max(tried.total(), 1)
    print(f"killed {killed} of {tried.total()}: {100 * killed / total:.1f} %")
    print(f"survived without an explanation: {unexplained}")
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main())

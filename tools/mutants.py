"""Change the code in small ways, and see whether the tests notice: ``make mutants``.

Cosmic Ray makes the changes (an operator, a number, a loop that does not run, ...) and tries them
one after the other in a copy of the project, numba's compiler off. tests/mutants.toml says which
tests have to notice a change in which module, and explains survivors. Of the places in these
modules a seeded sample is drawn, and one change for each; an edit of the code changes the sample
only where it edits. The next run with the same code goes on, and tries survivors again.
"""

import argparse
import ast
import hashlib
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "mutants"
COPY = WORK / "copy"
ABOUT = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())
ALONE = {"NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
MEMORY = 6 << 30
PYTEST = [sys.executable, *"-m pytest -x -q -p no:cacheprovider --hypothesis-seed=0".split()]
PYTEST += "-o faulthandler_timeout=180 -o faulthandler_exit_on_timeout=true".split()
PYTEST += [f"--deselect={test}" for test in ABOUT["left_out"]]


def main() -> int:
    """Draw, run and report; return 1 if a survivor is not explained."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.path.append(str(WORK / "packages"))  # last: the project's own libraries go first
    from cosmic_ray.commands import execute, init
    from cosmic_ray.config import ConfigDict
    from cosmic_ray.work_db import use_db

    shutil.rmtree(COPY, ignore_errors=True)
    listed = "git ls-files anonpaper tests data notebooks pyproject.toml conftest.py"
    for name in subprocess.check_output(listed.split(), cwd=ROOT, text=True).splitlines():
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, COPY / name)
    (COPY / "data" / "cache").symlink_to((ROOT / "data" / "cache").resolve())
    os.chdir(COPY)
    os.environ |= ALONE | {"PYTHONPATH": str(COPY)}
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))  # a loop may never end
    with use_db(":memory:") as db:
        init([file for pattern in ABOUT["tests"] for file in Path().glob(pattern)], db, {})
        sample = drawn(list(db.work_items), options.sample, options.seed)
    results = []
    for pattern, tests in ABOUT["tests"].items():
        own = {item.job_id: item for item in sample if module_of(item).match(pattern)}
        if own:
            modules = sorted({module_of(item) for item in own.values()})
            command = [*PYTEST, *map(str, modules), *tests]
            began = time.monotonic()
            subprocess.run(command, check=True)  # they pass without a change
            limit = 60 + 3 * (time.monotonic() - began)
            session = WORK / f"{digest(*own, [file.read_bytes() for file in modules])}.sqlite"
            with use_db(session) as db:
                if not db.num_work_items:
                    db.add_work_items(own.values())
                with sqlite3.connect(session) as stored:
                    stored.execute("DELETE FROM work_results WHERE test_outcome != 'KILLED'")
                local = {"timeout": limit, "distributor": {"name": "local"}}
                execute(db, ConfigDict({"test-command": " ".join(command), **local}))
                results += [(module_of(own[job]), result) for job, result in db.results]
    return report(results)


def module_of(item: object) -> Path:
    """Return the module that is changed."""
    return item.mutations[0].module_path


def drawn(items: list, size: int, seed: int) -> list:
    """Draw places, and at each of them a change, by the lowest digests, which become their ids."""
    lines = {path: path.read_text().splitlines() for path in {*map(module_of, items)}}
    annotated = {path: annotations(path.read_text()) for path in lines}
    places = {}
    for item in items:
        (change,) = item.mutations
        (line, column), path = change.start_pos, module_of(item)
        # a change of an annotation or a decorator, which is numba's, cannot be noticed
        if line not in annotated[path] and change.operator_name != "core/RemoveDecorator":
            place = digest(seed, str(path), lines[path][line - 1], column)
            ranked = digest(place, line, change.operator_name, change.occurrence)
            places.setdefault((place, line), []).append((ranked, change))
    chosen = [min(places[place], key=lambda ranked: ranked[0]) for place in sorted(places)[:size]]
    return [type(items[0]).single(*ranked) for ranked in chosen]


def annotations(source: str) -> set[int]:
    """Return the lines of annotations."""
    nodes = ast.walk(ast.parse(source))
    parts = [getattr(node, name, None) for node in nodes for name in ("annotation", "returns")]
    return {line for part in parts if part for line in range(part.lineno, part.end_lineno + 1)}


def digest(*parts: object) -> str:
    """Return 64 bits that depend on all parts."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def report(results: list[tuple]) -> int:
    """Print the survivors and how many there are; return 1 if one is not explained."""
    known = {(entry["module"], entry["becomes"]) for entry in ABOUT["explained"]}
    survivors = [(str(module), result.diff) for module, result in results if not result.is_killed]
    unexplained = 0
    for module, diff in survivors:
        lines = {(module, line[1:].strip()) for line in diff.splitlines() if line[:1] == "+"}
        unexplained += not lines & known
        print("explained" if lines & known else "SURVIVED", diff, sep="\n")
    print(f"killed {len(results) - len(survivors)} of {len(results)}")
    print(f"survived without an explanation: {unexplained}")
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Change the code in small ways, and see whether the tests notice: ``make mutants``.

Cosmic Ray makes the changes (an operator, a comparison, a number, a loop that does not run, ...).
A seeded sample of places in the modules of `TESTS` is drawn, and one change for each; it is put
into a copy of the project, and the tests of its module run there with numba's compiler off.
A mutant is killed if a test fails or the time is over. Changes that nobody can notice (type
annotations, docstrings, the compiler's decorators) are left out before the sample is drawn.
Survivors are printed as differences; those in tests/mutants.toml are explained there.

Usage: tools/mutants.py [--sample 300] [--seed 0] [--module GLOB] [--workers 2] [--seconds 300]
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from queue import Queue

import cosmic_ray.plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

ROOT = Path(__file__).parents[1]
CORE = "tests/core --ignore tests/core/test_fuzz.py"
#: Module -> the tests that have to notice a change in it.
TESTS = {
    "anonpaper/microdata.py": CORE,
    "anonpaper/groups.py": CORE,
    "anonpaper/principles.py": CORE,
    "anonpaper/subdomains.py": f"tests/measure/test_masks.py {CORE}",
    "anonpaper/publish/*.py": f"tests/publish {CORE}",
    "anonpaper/measure/*.py": f"tests/measure {CORE}",
    "anonpaper/partition/tp.py": f"tests/partition/test_tp.py {CORE}",
    "anonpaper/partition/klt/*.py": f"tests/partition/test_klt.py {CORE}",
    "anonpaper/partition/diva/*.py": "tests/partition -k diva",
    "anonpaper/partition/balanced.py": f"tests/partition/test_balanced.py {CORE}",
    "anonpaper/partition/mondrian.py": f"tests/partition/test_clustering.py {CORE}",
    "anonpaper/recoders/*.py": "tests/recoders",
}
UNNOTICEABLE = {"core/RemoveDecorator"}  # numba's, with the compiler off


def main() -> int:
    """Draw, run and report; return 1 if a survivor is not explained."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--module", default="*", help="only modules whose path matches")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=300, help="of the tests of one mutant")
    options = parser.parse_args()

    found: dict[tuple, list[tuple]] = {}
    for place, mutant in mutants(options.module):
        found.setdefault(place, []).append(mutant)
    drawn = random.Random(options.seed)
    places = drawn.sample(sorted(found), min(options.sample, len(found)))
    sample = [drawn.choice(found[place]) for place in places]
    print(
        f"{len(sample)} mutants, one at each of {len(sample)} of {len(found)} places", flush=True
    )
    explained = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())["explained"]
    known = {(entry["module"], entry["becomes"]) for entry in explained}
    copies: Queue[Path] = Queue()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.workers):
            copies.put(copy_of_the_project(Path(folder) / str(number)))

        def judge(mutant):
            copy = copies.get()
            try:
                return run(copy, *mutant, options.seconds)
            finally:
                copies.put(copy)

        killed, open_survivors = 0, 0
        with ThreadPoolExecutor(options.workers) as pool:
            for mutant, survived in zip(sample, pool.map(judge, sample), strict=True):
                if not survived:
                    killed += 1
                    continue
                module, line, before, after = place_of(*mutant)
                note = "explained" if (module, after.strip()) in known else "SURVIVED"
                open_survivors += note == "SURVIVED"
                print(f"{note} {module}:{line}\n  - {before}\n  + {after}", flush=True)
    print(f"killed {killed} of {len(sample)}: {100 * killed / len(sample):.1f} %")
    print(f"survived without an explanation: {open_survivors}")
    return int(open_survivors > 0)


def mutants(chosen: str):
    """Yield a place and (module, operator, occurrence) for every change that could be noticed."""
    operators = {
        name: cosmic_ray.plugins.get_operator(name)
        for name in cosmic_ray.plugins.operator_names()
        if name not in UNNOTICEABLE
    }
    operators = {name: kind() for name, kind in operators.items() if not kind.arguments()}
    for pattern in TESTS:
        for path in sorted(ROOT.glob(pattern)):
            module = path.relative_to(ROOT).as_posix()
            if path.name == "__init__.py" or not fnmatch(module, chosen):
                continue
            tree = get_ast(path.read_text())
            nodes = list(ast_nodes(tree))
            ignored = annotations(path.read_text())
            for name, operator in operators.items():
                places = [p for node in nodes for p in operator.mutation_positions(node)]
                for occurrence, (start, _) in enumerate(places):
                    if not any(first <= start < last for first, last in ignored):
                        yield (module, start), (module, name, occurrence)


def annotations(source: str) -> list[tuple]:
    """Return where annotations stand, as ((line, column), (line, column))."""
    found = []
    for node in ast.walk(ast.parse(source)):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if part is not None:
                found.append(
                    ((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset))
                )
    return found


def mutated(module: str, operator: str, occurrence: int) -> str | None:
    """Return the source with one change."""
    source = (ROOT / module).read_text()
    return mutate_code(source, cosmic_ray.plugins.get_operator(operator)(), occurrence)


def place_of(module: str, operator: str, occurrence: int) -> tuple[str, int, str, str]:
    """Return module, line number, the line and what it becomes."""
    before = (ROOT / module).read_text().splitlines()
    after = mutated(module, operator, occurrence).splitlines()
    for number, (old, new) in enumerate(zip(before, after, strict=False)):
        if old != new:
            return module, number + 1, old, new
    raise AssertionError("a mutant differs from its source")


def copy_of_the_project(folder: Path) -> Path:
    """Copy what git tracks, with the caches of data."""
    names = subprocess.run(
        ["git", "ls-files", "anonpaper", "tests", "data", "pyproject.toml", "notebooks/*.ipynb"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    os.symlink((ROOT / "data" / "cache").resolve(), folder / "data" / "cache")
    return folder


def run(copy: Path, module: str, operator: str, occurrence: int, seconds: int) -> bool:
    """Return whether all tests of the module pass with the change in it."""
    tests = next(tests for pattern, tests in TESTS.items() if fnmatch(module, pattern))
    source = (copy / module).read_text()
    (copy / module).write_text(mutated(module, operator, occurrence))
    began = time.perf_counter()
    try:
        done = subprocess.run(
            [
                str(ROOT / ".venv" / "bin" / "python"),
                "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests.split(),
            ],
            cwd=copy, timeout=seconds, capture_output=True, text=True,
            env=os.environ
            | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1",
               "TQDM_DISABLE": "1", "HYPOTHESIS_STORAGE_DIRECTORY": str(copy / ".hypothesis")},
        )  # fmt: skip
        survived = done.returncode == 0
    except subprocess.TimeoutExpired:
        survived = False
    finally:
        (copy / module).write_text(source)
    print(
        f"{'survived' if survived else 'killed':9}{time.perf_counter() - began:6.0f} s  {module}",
        file=sys.stderr,
        flush=True,
    )
    return survived


if __name__ == "__main__":
    sys.exit(main())

"""Change the code in small ways, and see whether the tests notice: ``make mutants``.

Cosmic Ray makes the changes (an operator, a comparison, a number, a loop that does not run, ...).
A seeded sample of places in the modules of `TESTS` is drawn, and one change for each; an edit of
the code changes the sample only where it edits. Changes that nobody can notice (type annotations,
docstrings, the compiler's decorators) are left out before the sample is drawn.

First the tests run in an unchanged copy of the project, numba's compiler off; their times and the
functions that they call are noted. Then every mutant is put into a copy, and a fork of this
process, which has imported all libraries already, runs the tests of its module: first the quickest
of those that call the changed function, then all others. The mutant is killed if a
test fails or the time is over. Survivors are printed as differences; those in tests/mutants.toml
are explained there. Numbers by module come last.

Usage: tools/mutants.py [--sample 300] [--seed 0] [--module GLOB] [--workers 2] [--resume]
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import traceback
from collections import Counter
from fnmatch import fnmatch
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "mutants"
CORE = ["tests/core"]
#: Module -> the tests that have to notice a change in it, beside its own examples.
TESTS = {
    "anonpaper/microdata.py": CORE,
    "anonpaper/groups.py": CORE,
    "anonpaper/principles.py": CORE,
    "anonpaper/subdomains.py": ["tests/measure/test_masks.py", *CORE],
    "anonpaper/publish/*.py": ["tests/publish", *CORE],
    "anonpaper/measure/*.py": ["tests/measure", *CORE],
    "anonpaper/partition/tp.py": ["tests/partition/test_tp.py", *CORE],
    "anonpaper/partition/klt/*.py": ["tests/partition/test_klt.py", *CORE],
    "anonpaper/partition/diva/*.py": [
        "tests/partition/test_diva.py", "tests/partition/test_diva_examples.py",
        "tests/partition/test_diva_augmented.py", *CORE,
    ],
    "anonpaper/partition/balanced.py": ["tests/partition/test_balanced.py", *CORE],
    "anonpaper/partition/mondrian.py": ["tests/partition/test_clustering.py", *CORE],
    "anonpaper/recoders/*.py": ["tests/recoders", *CORE],
}  # fmt: skip
LEFT_OUT = [
    "tests/core/test_fuzz.py",  # it asks for errors, not for results
    "tests/core/test_compiled.py",  # it asks for the compiler
]
UNNOTICEABLE = {"core/RemoveDecorator"}  # numba's, with the compiler off
FIRST = 25  # tests that run before others are collected
SLOW = 10  # seconds of processor time; slower tests, with the compiler off, are left out


class Mutant(NamedTuple):
    """One change: where it is, the line and what that becomes, and the whole module with it."""

    module: str
    function: str | None  # qualified name of the innermost function around it
    line: int
    old: str
    new: str
    text: str

    @property
    def key(self) -> str:
        """Another one as soon as anything in the module is."""
        return digest(self.module, self.text)


def main() -> int:
    """Draw, run and report; return 1 if a survivor is not explained."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--module", default="*", help="of the sample, only what these change")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--resume", action="store_true", help="run those not killed before")
    options = parser.parse_args()

    sample = [m for m in drawn(options.sample, options.seed) if fnmatch(m.module, options.module)]
    os.environ |= {"NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    record = WORK / "killed.json"
    killed = set(json.loads(record.read_text())) if options.resume and record.exists() else set()
    to_run = [mutant for mutant in sample if mutant.key not in killed]
    print(f"{len(to_run)} of {len(sample)} mutants to run", flush=True)
    explained = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())["explained"]
    known = {(entry["module"], entry["becomes"]) for entry in explained}

    survived, unexplained = Counter(), 0
    for mutant, was_killed in judged(to_run, options.workers, options.resume):
        if was_killed:
            killed.add(mutant.key)
            record.write_text(json.dumps(sorted(killed)))
            continue
        survived[mutant.module] += 1
        note = "explained" if (mutant.module, mutant.new.strip()) in known else "SURVIVED"
        unexplained += note == "SURVIVED"
        print(f"{note} {mutant.module}:{mutant.line}\n- {mutant.old}\n+ {mutant.new}", flush=True)
    for module, tried in sorted(Counter(m.module for m in sample).items()):
        print(f"{tried - survived[module]:4} of {tried:3} killed  {module}")
    n_killed = len(sample) - survived.total()
    print(f"killed {n_killed} of {len(sample)}: {100 * n_killed / max(len(sample), 1):.1f} %")
    print(f"survived without an explanation: {unexplained}")
    return int(unexplained > 0)


# -- which changes --------------------------------------------------------------------------------


def drawn(size: int, seed: int) -> list[Mutant]:
    """Draw places, and at each of them a change, by the lowest digests."""
    sys.path.append(str(WORK / "packages"))  # last: the project's own libraries go first
    import cosmic_ray.plugins
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code

    operators = {
        name: cosmic_ray.plugins.get_operator(name)
        for name in sorted(cosmic_ray.plugins.operator_names())
        if name not in UNNOTICEABLE
    }
    operators = {name: kind() for name, kind in operators.items() if not kind.arguments()}
    places: dict[tuple, list[tuple]] = {}
    for path in modules():
        source, module = path.read_text(), path.relative_to(ROOT).as_posix()
        lines, seen = source.splitlines(), Counter()
        nodes = list(ast_nodes(get_ast(source)))
        ignored = annotations(source)
        found: dict[tuple, list[tuple]] = {}
        for name, operator in operators.items():
            starts = [start for node in nodes for start, _ in operator.mutation_positions(node)]
            for occurrence, start in enumerate(starts):
                if not any(first <= start < last for first, last in ignored):
                    found.setdefault(start, []).append((name, occurrence))
        for (line, column), changes in sorted(found.items()):
            text = lines[line - 1], column
            seen[text] += 1
            rank = digest(seed, module, *text, seen[text])
            places[rank, path] = changes
    sample = []
    for rank, path in sorted(places)[:size]:
        source, module = path.read_text(), path.relative_to(ROOT).as_posix()
        name, occurrence = min(places[rank, path], key=lambda change: digest(rank, change[0]))
        text = mutate_code(source, operators[name], occurrence)
        pairs = zip(source.splitlines(), text.splitlines(), strict=False)
        line, old, new = next((i, a, b) for i, (a, b) in enumerate(pairs, 1) if a != b)
        function = function_around(source, line)
        sample.append(Mutant(module, function, line, old, new, text))
    return sample


def modules() -> list[Path]:
    """Return the modules of `TESTS`."""
    paths = [path for pattern in TESTS for path in sorted(ROOT.glob(pattern))]
    return [path for path in paths if path.name != "__init__.py"]


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


def function_around(source: str, line: int) -> str | None:
    """Return the qualified name of the innermost function whose body has a line."""
    names, nodes, is_inside = [], ast.parse(source).body, False
    while node := next((n for n in nodes if n.lineno <= line <= n.end_lineno), None):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.append(node.name)
            is_inside = isinstance(node, ast.FunctionDef) and node.body[0].lineno <= line
            if is_inside:
                names.append("<locals>")
        nodes = [n for n in getattr(node, "body", []) if isinstance(n, ast.stmt)]
    return ".".join(names[:-1]) if is_inside else None


def digest(*parts: object) -> str:
    """Return 64 bits that depend on all parts."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


# -- which tests, in which order ------------------------------------------------------------------


class Watch:
    """Note how long each test takes, and which functions of the project it calls."""

    def __init__(self, copy: Path):
        self.copy = f"{copy}/"
        self.calls: dict[str, tuple[float, list]] = {}
        signal.signal(signal.SIGPROF, lambda *_: pytest.skip("too slow"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Watch the calls of functions; lines are not asked for."""
        codes = {}

        def called(frame, event, argument):
            codes[id(frame.f_code)] = frame.f_code

        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SLOW)
        sys.settrace(called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            signal.setitimer(signal.ITIMER_PROF, 0)
            seconds = time.process_time() - began
            functions = {
                (code.co_filename.removeprefix(self.copy), code.co_qualname)
                for code in codes.values()
                if code.co_filename.startswith(f"{self.copy}anonpaper/")
            }
            self.calls[item.nodeid] = seconds, sorted(functions)


class Only:
    """Run some tests, the first ones first, none much longer than it takes without a change.

    Parameters
    ----------
    first : list of str
        Tests that run in this order.
    others : bool
        Whether these are left out, and all others run.
    calls : dict
        What is known of tests. The slow ones are left out, those not known are not.
    """

    def __init__(self, first: list[str], others: bool, calls: dict):
        self.place, self.others, self.calls = {t: i for i, t in enumerate(first)}, others, calls

    def seconds(self, item) -> float:
        """Seconds that a test takes; somewhat less than too many where that is not known."""
        return self.calls.get(item.nodeid, (SLOW / 2,))[0]

    def pytest_runtest_setup(self, item):
        """End this process when the time is over; processor time, however busy the machine is."""
        signal.setitimer(signal.ITIMER_PROF, 10 + 5 * self.seconds(item))

    def pytest_collection_modifyitems(self, items):
        """Choose and sort."""
        items[:] = sorted(
            (
                item
                for item in items
                if self.others != (item.nodeid in self.place) and self.seconds(item) < SLOW
            ),
            key=lambda item: (self.place.get(item.nodeid, 0), self.seconds(item)),
        )


def run_tests(files: list[str], plugin: object) -> int:
    """Run tests in this process, up to the first failure."""
    # The seed makes the examples of Hypothesis the same each time.
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--tb=short"]
    options += [f"--ignore={file}" for file in LEFT_OUT]
    status = pytest.main([*options, *files], plugins=[plugin])
    return 0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else int(status)


def tests_of(module: str) -> list[str]:
    """Return the tests of a module, its own examples first."""
    return [module, *next(tests for pattern, tests in TESTS.items() if fnmatch(module, pattern))]


def calls_of_tests(copy: Path, changed: set[str], resume: bool) -> dict:
    """Run the tests of some modules without any change; return seconds and calls of each.

    What an earlier run found is good enough to resume with: it says which tests to begin with.
    Libraries that the tests import are imported here as well, so that no fork has to.
    """
    record = WORK / "calls.json"
    calls, libraries = {}, []
    if resume and record.exists():
        calls, libraries = json.loads(record.read_text())
    places = {place for module in changed for place in tests_of(module)}
    new = sorted(place for place in places if not any(test.startswith(place) for test in calls))

    def watch() -> int:
        plugin = Watch(copy)
        failed = run_tests(new, plugin)
        others = [
            name for name, module in sorted(sys.modules.items())
            if not (getattr(module, "__file__", None) or "").startswith(str(copy))
        ]  # fmt: skip
        record.write_text(json.dumps([calls | plugin.calls, others]))
        return failed

    if new:
        child = forked(watch, copy, WORK / "unchanged.log")
        if os.waitpid(child, 0)[1]:
            sys.exit(f"tests fail without any change:\n{(WORK / 'unchanged.log').read_text()}")
        calls, libraries = json.loads(record.read_text())
    for name in libraries:
        with contextlib.suppress(Exception):
            import_module(name)
    return calls


def first_tests(mutant: Mutant, calls: dict) -> list[str]:
    """Return the quickest tests of a module, those that call the changed function if any do."""
    places = tests_of(mutant.module)
    tests = [test for test in calls if any(test.startswith(place) for place in places)]
    called = [t for t in tests if [mutant.module, mutant.function] in calls[t][1]]
    return sorted(called or tests, key=lambda test: calls[test][0])[:FIRST]


# -- running them ---------------------------------------------------------------------------------


def judged(sample: list[Mutant], workers: int, resume: bool):
    """Yield every mutant, and whether a test killed it."""
    first, *others = (WORK / "copies" / str(number) for number in range(workers))
    copy_of_the_project(first)
    calls = calls_of_tests(first, {m.module for m in sample}, resume) if sample else {}
    for copy in others:  # with what Python and pytest have compiled
        shutil.copytree(first, copy, symlinks=True)
    waiting, free, running = sample[::-1], [first, *others], {}
    while waiting or running:
        while waiting and free:
            mutant, copy = waiting.pop(), free.pop()
            shutil.copy2(copy / mutant.module, copy / "unchanged")
            (copy / mutant.module).write_text(mutant.text)

            child = forked(partial(judge, mutant, calls), copy, copy / "log")
            running[child] = mutant, copy, time.perf_counter()
        child, status = os.wait()
        mutant, copy, began = running.pop(child)
        shutil.copy2(copy / "unchanged", copy / mutant.module)
        free.append(copy)
        took = time.perf_counter() - began
        word = "killed" if status else "survived"
        print(f"{word:9}{took:6.1f} s  {mutant.module}:{mutant.line}", file=sys.stderr, flush=True)
        yield mutant, bool(status)


def judge(mutant: Mutant, calls: dict) -> bool:
    """Return whether a test notices the change that is in this copy."""
    sys.dont_write_bytecode = True
    signal.setitimer(signal.ITIMER_PROF, 60)  # until the first test
    signal.alarm(1800)  # if it waits for another process
    first = first_tests(mutant, calls)
    files = dict.fromkeys(test.partition("::")[0] for test in first)
    return bool(
        run_tests(list(files), Only(first, False, calls))
        or run_tests(tests_of(mutant.module), Only(first, True, calls))
    )


def forked(task, copy: Path, log: Path) -> int:
    """Run a task in a fork of this process that works in a copy; return the fork's number."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.chdir(copy)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.path[:0] = [str(copy)]
        os.environ["PYTHONPATH"] = str(copy)
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(copy / ".hypothesis")
        status = int(task())
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def copy_of_the_project(folder: Path) -> None:
    """Copy what git tracks, with the caches of data."""
    shutil.rmtree(folder.parent, ignore_errors=True)
    names = subprocess.run(
        ["git", "ls-files", "anonpaper", "tests", "data", "pyproject.toml", "notebooks/*.ipynb"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    os.symlink((ROOT / "data" / "cache").resolve(), folder / "data" / "cache")


if __name__ == "__main__":
    sys.exit(main())

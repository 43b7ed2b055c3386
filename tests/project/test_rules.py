"""Rules of the house: imports point one way, style, and what the repository may not say."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from project.cells import NAMES, code_cells, python_of

import anonpaper

ROOT = Path(__file__).parents[2]
PLOTTING_STACK = {
    "IPython",
    "base64",
    "html",
    "__future__",
    "io",
    "collections",
    "pathlib",
    "matplotlib",
    "numpy",
    "pandas",
}
TEXTS = {
    ".cff",
    ".cfg",
    ".ipynb",
    ".json",
    ".lock",
    ".md",
    ".mplstyle",
    ".py",
    ".sh",
    ".toml",
    ".yaml",
    ".yml",
}


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return [ROOT / name for name in listed if (ROOT / name).is_file()]


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_imports_point_one_way():
    linter = Path(sys.executable).with_name("lint-imports")
    done = run(linter, "--no-cache")
    assert done.returncode == 0, done.stdout
    assert re.search(r"Contracts: \d+ kept, 0 broken", done.stdout)


def test_no_module_is_named_as_what_its_package_exports():
    """Who imports the module by its path could find it in place of the function."""
    found = pkgutil.walk_packages(anonpaper.__path__, "anonpaper.")
    packages = [anonpaper, *(importlib.import_module(one.name) for one in found if one.ispkg)]
    exported = {
        Path(package.__path__[0], f"{name}.py")
        for package in packages
        for name in getattr(package, "__all__", ())
        if not inspect.ismodule(getattr(package, name))
    }
    assert len(exported) > 100 and [path for path in exported if path.exists()] == []


def test_the_rule_on_the_library_names_all_of_it():
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (rule,) = [one for one in rules["contracts"] if one["name"].startswith("The library knows")]
    found = {f"anonpaper.{module.name}" for module in pkgutil.iter_modules([ROOT / "anonpaper"])}
    assert set(rule["source_modules"]) == found - {
        "anonpaper.__main__",
        "anonpaper.compendium",
        "anonpaper.owner",
    }


def test_plots_imports_the_plotting_stack_only():
    tree = ast.parse((ROOT / "anonpaper" / "plots.py").read_text())
    modules = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    modules |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in modules} <= PLOTTING_STACK


def test_no_compiled_loop_assigns_an_array_to_a_slice():
    """Numba then compiles how the error on their shapes is written: 2 seconds in each process."""
    found = []
    for path in (ROOT / "anonpaper").rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef) or not {"loop", "inner"} & {
                node.id
                for decorator in function.decorator_list
                for node in ast.walk(decorator)
                if isinstance(node, ast.Name)
            }:
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
                    for target in node.targets:
                        places = getattr(target, "slice", None)
                        places = getattr(places, "elts", [places])
                        if any(isinstance(place, ast.Slice) for place in places):
                            found.append(f"{path.name}:{node.lineno}")
    assert found == []


def test_notebooks_have_one_clock():
    """Run times are compared: the compendium's `timed` measures all of them."""
    files = [*(ROOT / "notebooks").rglob("*.py"), *(ROOT / "notebooks").rglob("*.ipynb")]
    clocks = re.compile(r"\b(perf_counter|process_time|monotonic|timeit|time\.time)\b")
    assert [file.name for file in files if clocks.search(file.read_text(encoding="utf-8"))] == []


def diva_calls(tree, *, within=ast.AST):
    """Yield DIVA's calls in parts of a syntax tree: searches that can have a limit of seconds."""
    parts = [part for part in ast.walk(tree) if isinstance(part, within)]
    for node in {node for part in parts for node in ast.walk(part)}:
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name == "diva":
                yield node


def hangs_on_the_clock(call):
    """Return whether a call leaves it to DIVA how many seconds it may take: 120."""
    return "max_seconds" not in {keyword.arg for keyword in call.keywords}


def test_no_experiment_leaves_its_limit_of_seconds_to_diva():
    """A slower machine would find its 120 seconds used up where another one found an answer.

    Asked are the papers' modules and the loops of notebooks. What notebooks call otherwise is on
    ten rows or without constraints, or is shown and not saved.
    """
    loops = (ast.For, ast.ListComp, ast.DictComp, ast.GeneratorExp)
    calls = [
        (path.name, call)
        for path in (ROOT / "notebooks").rglob("*.py")
        for call in diva_calls(ast.parse(path.read_text(encoding="utf-8")))
    ] + [
        (name, call)
        for name in NAMES
        if not name.startswith("course/")  # taught on small tables
        for cell in code_cells(name)
        for call in diva_calls(python_of(cell), within=loops)
    ]
    assert len(calls) > 4
    assert not [f"{name}, line {call.lineno}" for name, call in calls if hangs_on_the_clock(call)]


def test_the_rule_on_seconds_sees_a_call_without_a_limit():
    (call,) = diva_calls(ast.parse("for k in ks:\n    ap.diva(m, sigma, k)"), within=ast.For)
    assert hangs_on_the_clock(call)


def test_the_package_knows_no_notebook():
    # these call IPython.display where a notebook runs
    shown = {ROOT / "anonpaper" / name for name in ("compendium/edition.py", "plots.py")}
    for path in {*(ROOT / "anonpaper").rglob("*.py")} - shown:
        assert not re.search(r"\b(nbformat|papermill|IPython|ipykernel)\b", path.read_text()), path


def test_style():
    done = run(sys.executable, "-m", "ruff", "check", "--no-cache", ".")
    assert done.returncode == 0, done.stdout


#: What takes long to import, from what no command line needs to what nearly all do.
HEAVY = ["ctgan", "distributed", "duckdb", "ibis", "joblib", "matplotlib", "scipy.stats", "sdv"]
HEAVY += ["sklearn", "torch", "networkx", "pymoo", "numba", "pandas", "scipy"]
FOR_GRAPHS, FOR_TABLES = {"networkx"}, {"pandas", "scipy"}


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (None, set()),
        (["--help"], set()),
        (["audit", "--help"], set()),
        (["datasets"], FOR_TABLES),
        (["audit", "people.csv", "--qi", "age", "--sensitive", "ill"], FOR_TABLES),
        (["anonymize", "--help"], FOR_TABLES | FOR_GRAPHS),
        (
            [
                "anonymize",
                "people.csv",
                "--qi=age",
                "--sensitive=ill",
                "--method=mondrian",
                "--k=2",
            ],
            FOR_TABLES | FOR_GRAPHS,
        ),
    ],
    ids=lambda given: " ".join(given or ["import"]) if not isinstance(given, set) else "",
)
def test_nothing_heavy_is_imported_without_need(arguments, needed, tmp_path):
    (tmp_path / "people.csv").write_text("age,ill\n34,a\n34,b\n41,a\n52,c\n")
    lines = ["import io, sys, anonpaper"]
    if arguments is not None:
        lines += [
            "from anonpaper.owner.cli import main",
            "sys.stdout = io.TextIOWrapper(io.BytesIO())",
        ]
        lines += [f"try: code = main({arguments})", "except SystemExit as end: code = end.code"]
        lines += ["assert not code, code"]  # what is refused loads nothing
    lines += [f"print([name for name in {HEAVY} if name in sys.modules], file=sys.__stdout__)"]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert set(ast.literal_eval(done.stdout)) <= needed


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the rule is about tracked files")
def test_no_path_of_one_machine_and_no_package_index_is_named():
    # each is split here, so that this file does not name it either
    forbidden = re.compile(
        "|".join(
            [
                r"/wor" r"k/",
                r"/home/\w",
                r"/Users/\w",
                r"/roo" r"t/",
                r"py" r"pi\.org",
                r"files\.python" r"hosted",
                r"anaconda\.(org|com)",
                r"download\.py" r"torch\.org",
            ]
        )
    )
    texts = [
        path
        for path in tracked_files()
        if path.suffix in TEXTS or path.name in ("Makefile", "run")
    ]
    assert len(texts) > 20
    found = [
        (path.relative_to(ROOT).as_posix(), match[0])
        for path in texts
        if (match := forbidden.search(path.read_text()))
    ]
    assert found == []

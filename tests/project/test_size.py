"""The project stays small: all tracked lines together, and a module and a class of the package."""

import ast

import pytest
from project.helpers import ROOT, files_of_the_project

MOST_LINES = 36_000
MOST_LINES_OF_A_MODULE, MOST_LINES_OF_A_CLASS = 450, 300
COUNTED = tuple(".py .pyi .toml .yaml .yml .js .css .html .jinja .j2 .smk".split())


@pytest.fixture(scope="module")
def texts():
    """The files that count: no notebooks, texts, locks, data or results."""
    return {
        name: (ROOT / name).read_text(encoding="utf-8")
        for name in files_of_the_project()
        if name.endswith(COUNTED) and not name.startswith(("figures/", "data/"))
    }


@pytest.fixture(scope="module")
def package(texts):
    return {name: text for name, text in texts.items() if name.startswith("anonpaper/")}


def test_all_files_together_are_few_lines(texts):
    assert sum(len(text.splitlines()) for text in texts.values()) <= MOST_LINES


def test_no_module_of_the_package_is_long(package):
    lengths = {name: len(text.splitlines()) for name, text in package.items()}
    assert {n: long for n, long in lengths.items() if long > MOST_LINES_OF_A_MODULE} == {}


def test_no_class_is_long_and_no_text_is_evaluated(package):
    found = []
    for name, text in package.items():
        for node in ast.walk(ast.parse(text)) if name.endswith((".py", ".pyi")) else ():
            if isinstance(node, ast.ClassDef):
                lines = node.end_lineno - node.lineno + 1
                found += [(name, node.name, lines)] * (lines > MOST_LINES_OF_A_CLASS)
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("eval", "exec"):
                found.append((name, node.func.id, node.lineno))
    assert found == []

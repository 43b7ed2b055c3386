"""What the documentation of public names has to say; each name is declared in one place."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import anonpaper as ap

ROOT = Path(__file__).parents[2]
FUNCTIONS = [name for name in ap.__all__ if inspect.isfunction(getattr(ap, name))]
ALGORITHMS = [name for name in FUNCTIONS if hasattr(getattr(ap, name), "algorithm")]
SECTIONS = ["Parameters", "Returns", "Raises", "References", "Examples"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_says_all_that_a_user_needs(name):
    documented = inspect.getdoc(getattr(ap, name))
    lacking = [s for s in SECTIONS if not re.search(rf"^{s}\n-+$", documented, re.M)]
    assert lacking == []
    assert ">>> " in documented
    cost = re.search(r"\bO\(|\bseconds?\b|\bminutes?\b", documented)
    assert cost, "the cost is said: O(...), or seconds for a stated size"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_documented(name):
    function = getattr(ap, name)
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", inspect.getdoc(function), re.M | re.S
    )[1]
    named = {
        part.strip(" *")
        for line in re.findall(r"^(\S[^:\n]*)", section, re.M)
        for part in line.split(",")
    }
    assert set(inspect.signature(function).parameters) <= named


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_opens_with_its_guarantee(name):
    assert inspect.getdoc(getattr(ap, name)).startswith("Guarantee")


def _modules():
    return [path for path in (ROOT / "anonpaper").rglob("*.py") if path.name != "__main__.py"]


def test_every_algorithm_is_public():
    """A new algorithm gets one line in anonpaper/__init__.pyi; nothing else lists it."""
    declared = {
        node.name
        for path in _modules()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "algorithm"
    }
    missing = declared - set(ap.__all__)
    assert not missing, f"add them to anonpaper/__init__.pyi: {sorted(missing)}"

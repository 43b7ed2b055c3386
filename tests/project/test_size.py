"""The project stays small: tracked lines of code, and lines of one module of the package."""

import pytest
from project.tools import ROOT, files_of_the_project

MOST_LINES = 53_354
MOST_LINES_OF_A_MODULE = 600
COUNTED = tuple(".py .pyi .toml .yaml .yml .js .css .html .jinja .j2 .smk".split())


@pytest.fixture(scope="module")
def lines():
    """The lines of each file that counts: no notebooks, texts, locks, data or results."""
    return {
        name: len((ROOT / name).read_text(encoding="utf-8").splitlines())
        for name in files_of_the_project()
        if name.endswith(COUNTED) and not name.startswith(("figures/", "data/"))
    }


def test_all_files_together_are_few_lines(lines):
    assert sum(lines.values()) <= MOST_LINES


def test_no_module_of_the_package_is_long(lines):
    package = {n: length for n, length in lines.items() if n.startswith("anonpaper/")}
    assert {n: length for n, length in package.items() if length > MOST_LINES_OF_A_MODULE} == {}

"""Rules for notebooks: what they hold, and what a committed one may not."""

import ast
import re

import pytest
import yaml
from project.cells import NAMES, NOTEBOOKS, code_cells, python_of, read

PAPERS = sorted(
    path.parent.name for kind in ("paper", "asked") for path in NOTEBOOKS.glob(f"*/{kind}.toml")
)


def parameters_of(name):
    """Return the parameters cell's names and values."""
    cells = [cell for cell in code_cells(name) if "parameters" in cell.metadata.get("tags", [])]
    if not cells:
        return None
    assert len(cells) == 1, "one cell is tagged `parameters`"
    values = {}
    for statement in python_of(cells[0]).body:
        assert isinstance(statement, ast.Assign), "the parameters cell only assigns"
        values[statement.targets[0].id] = ast.literal_eval(statement.value)
    return values


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def test_a_notebook_opens_with_a_title_and_has_parameters(name):
    first = read(name).cells[0]
    assert first.cell_type == "markdown"
    assert re.match(r"# \S", first.source)
    assert parameters_of(name) is not None or name == "00_start_here"


@pytest.mark.parametrize("paper", PAPERS)
def test_a_profile_has_a_section_per_notebook_with_parameters_of_its(paper):
    files = sorted((NOTEBOOKS / paper / "profiles").iterdir())
    assert [file.name for file in files] == ["paper.yaml"], "cells hold the quick profile"
    sections = yaml.safe_load(files[0].read_text())
    assert [f"{paper}/{name}" for name in sections] == [
        name for name in NAMES if name.startswith(f"{paper}/")
    ]
    for name, values in sections.items():
        assert set(values) <= set(parameters_of(f"{paper}/{name}")), name


def test_no_cell_is_longer_than_25_lines(name):
    assert [cell.id for cell in code_cells(name) if len(cell.source.splitlines()) > 25] == []


def test_no_algorithm_is_written_in_a_notebook(name):
    for cell in code_cells(name):
        for node in ast.walk(python_of(cell)):
            assert not isinstance(node, ast.ClassDef | ast.While), cell.source
            if isinstance(node, ast.FunctionDef):
                # what a slider draws for each value, and solutions between their two marks
                longer = "plots.slider(" in cell.source or "### BEGIN SOLUTION" in cell.source
                lines = 8 if longer else 6
                assert node.end_lineno - node.lineno < lines, cell.source


def test_code_and_outputs_name_no_path_of_one_machine(name):
    text = (NOTEBOOKS / f"{name}.ipynb").read_text()
    folders = r"/(home|root|tmp|Users|opt|var|mnt|usr|work)/|[A-Z]:\\\\"
    absolute = re.search(rf"""["'(\s]({folders})\S*""", text)
    assert absolute is None, absolute


def test_every_code_cell_was_executed_in_order_and_without_error(name):
    cells = [cell for cell in code_cells(name) if cell.source.strip()]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert any(cell.outputs for cell in cells)
    outputs = [output for cell in cells for output in cell.outputs]
    assert [output for output in outputs if output.output_type == "error"] == []
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []

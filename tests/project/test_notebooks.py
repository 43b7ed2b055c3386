"""Committed notebooks: executed, of no one machine, and run by both profiles."""

import ast
import re

import pytest
import yaml
from project.cells import NAMES, NOTEBOOKS, code_cells, python_of, read

PROFILES = {file.parts[-3]: yaml.safe_load(file.read_text())
            for file in NOTEBOOKS.glob("*/profiles/paper.yaml")}  # fmt: skip


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def parameters_of(name):
    """Return the names that the parameters cell of a notebook gives values to."""
    cells = [cell for cell in code_cells(name) if "parameters" in cell.metadata.get("tags", [])]
    body = [part for cell in cells for part in python_of(cell).body]
    assert all(isinstance(part, ast.Assign) for part in body), "the parameters cell only assigns"
    return {part.targets[0].id for part in body}


@pytest.mark.parametrize("folder", PROFILES)
def test_a_profile_has_a_section_per_notebook_with_parameters_of_its(folder):
    sections = PROFILES[folder]
    assert [f"{folder}/{name}" for name in sections] == [
        name for name in NAMES if name.startswith(f"{folder}/")
    ]
    for name, values in sections.items():
        assert set(values) <= parameters_of(f"{folder}/{name}"), name


def test_every_code_cell_is_short_and_was_executed_in_order_and_without_error(name):
    cells = [cell for cell in code_cells(name) if cell.source.strip()]
    assert [cell.id for cell in cells if len(cell.source.splitlines()) > 25] == []
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs
    assert [output for output in outputs if output.output_type == "error"] == []
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert not kinds & {"image/svg+xml", "application/vnd.jupyter.widget-view+json"}


def test_it_opens_with_a_title_and_nothing_of_one_machine_or_run_is_left(name):
    notebook = read(name)
    assert re.match(r"# \S", notebook.cells[0].source)
    folders = r"/(home|root|tmp|Users|opt|var|mnt|usr|work)/|[A-Z]:\\\\"
    text = (NOTEBOOKS / f"{name}.ipynb").read_text()
    assert not re.search(rf"""["'(\s]({folders})\S*""", text)
    assert notebook.metadata.language_info == {"name": "python"}
    tags = [tag for cell in notebook.cells for tag in cell.metadata.get("tags", [])]
    assert "injected-parameters" not in tags

"""Notebooks follow one pattern, their texts hold no lost number, and "Try it" can be tried."""

import runpy

import matplotlib.pyplot as plt
import pytest
from project.cells import read
from project.test_prose_numbers import held_by, lost_in

from anonpaper import plots

TRIED = {
    "1_generalization_as_bits": ({"bits": "0000000"}, {"k": 5}, {"k": 5, "wish": [0.2, 0.0]}),
    "2_solution_efficiency": ({"k": 4}, {"wish": [1.0, 0.01]}, {"steps": 5_000}),
    "3_population_size": ({"k": 4}, {"size": 60}, {"steps": 40}),
    "4_weights_and_bias": ({"k": 5}, {"ten_weights": {"sex": 1.0}}, {"wish": [0.2, 0.0]}),
    "5_how_good_is_it": ({"k": 4}, {"wish": [0.2, 0.01]}, {"steps": 5_000}),
}


def picture(cells, file, **values):
    """Run a notebook up to "Try it" with other values of its parameters; return the picture."""
    lines = ["from IPython.display import display"]
    for cell in cells[: [cell.id for cell in cells].index("try") + 1]:
        lines += [cell.source] * (cell.cell_type == "code")
        if "parameters" in cell.metadata.get("tags", []):
            lines += [f"{name} = {value!r}" for name, value in values.items()]
    plt.close("all")
    file.write_text("\n".join(lines))
    runpy.run_path(str(file))
    return plots.render(plt.gcf())


@pytest.mark.parametrize("name", TRIED)
def test_a_notebook_follows_the_pattern(name, tmp_path):
    cells = read(f"dewri2009/{name}").cells
    texts = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert cells[0].cell_type == "markdown" and len(cells) <= 25
    assert all(len(cell.source.splitlines()) <= 20 for cell in cells if cell.cell_type == "code")
    assert "$$" in texts and "| line | what happens | function |" in texts
    assert [*lost_in(texts, held_by(f"dewri2009/{name}"))] == []
    tried = {picture(cells, tmp_path / "try.py", **values) for values in ({}, *TRIED[name])}
    assert len(tried) == 4

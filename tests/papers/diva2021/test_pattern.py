"""Each notebook goes from a question to limits, and its "Try it" obeys the parameters."""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from matplotlib import pyplot as plt
from project.cells import read
from project.test_prose_numbers import held_by, lost_in

from anonpaper import plots

TITLES = ["Idea", "The algorithm", "Try it", "What holds and what does not", "Limits"]
OTHERS = {
    "1_running_example": [{"tiny_k": 3}, {"asians": 3}, {"strategy": "basic", "vancouver": 4}],
    "2_strategies": [{"tiny_k": 3}, {"vancouver": 4}, {"tiny_seed": 1}],
    "3_baselines": [{"tiny_k": 3}, {"tiny_seed": 1}, {"asians": 4}],
    "4_cost_of_diversity": [{"tiny_k": 3}, {"tiny_rule": "minimum"}, {"tiny_total": 10}],
    "5_on_its_own_terms": [{"tiny_k": 2}, {"tiny_slacks": [1]}, {"tiny_attributes": ["ETH"]}],
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_notebook_has_the_pattern_and_try_it_obeys_three_other_values(name):
    cells = read(f"diva2021/{name}").cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert len(cells) <= 25 and cells[0].source == texts[0] and "**Question.**" in texts[0]
    assert all(cell.cell_type == "markdown" or cell.source.count("\n") < 20 for cell in cells)
    assert {f"## {title}" for title in TITLES} <= set("\n".join(texts).split("\n"))
    assert any("$$" in text and "| line |" in text for text in texts)
    assert [n for text in texts for n in lost_in(text, held_by(f"diva2021/{name}"))] == []
    last = next(i for i, cell in enumerate(cells) if cell.source.startswith("## Try it")) + 1
    shell, shown = InteractiveShell.instance(), set()
    for values in [{}, *OTHERS[name]]:
        plt.close("all")
        with capture_output() as told:
            for cell in (cell for cell in cells[: last + 1] if cell.cell_type == "code"):
                shell.run_cell(cell.source).raise_error()
                shell.push(values if "parameters" in cell.metadata.get("tags", []) else {})
        shown.add((told.stdout, *(plots.render(plt.figure(n)) for n in plt.get_fignums())))
    assert len(shown) == 4

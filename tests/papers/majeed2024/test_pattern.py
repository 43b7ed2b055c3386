"""The notebooks' pattern: question, idea, algorithm, something to try, real data, verdicts."""

import matplotlib.pyplot as plt
import pytest
from IPython.core.interactiveshell import InteractiveShell
from project.cells import read
from project.test_prose_numbers import held_by, lost_in

#: Notebook -> three other values of the parameters that its "try it" section names.
TRIED = {
    "1_why_it_fails": [{"k": 3}, {"added": 4, "k": 4}, {"k": 5}],
    "2_repairing_the_data": [{"added": 2}, {"added": 6}, {"added": 3, "threshold": 0.1}],
    "3_shallow_anonymization": [{"k": 3}, {"k": 4, "largest_share": 0.5}, {"k": 8}],
    "4_privacy": [{"k": 3}, {"k": 4, "added": 5}, {"k": 5}],
    "5_utility": [{"share": 0.6}, {"share": 0.9}, {"k": 5}],
    "6_the_printed_numbers": [{"rare": 1}, {"rare": 4, "k": 3}, {"k": 5}],
}


def tried(code, **values):
    """Execute cells with other values of parameters, and return what the last one shows."""
    shell = InteractiveShell()
    for cell in code:
        done = shell.run_cell(cell.source, store_history=False)
        done.raise_error()
        shell.push(values if "parameters" in cell.metadata.get("tags", []) else {})
    plt.close("all")
    return str(done.result)


@pytest.mark.parametrize("name", TRIED)
def test_a_notebook_follows_the_pattern(name):
    cells = read(f"majeed2024/{name}").cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert cells[0].cell_type == "markdown" and "$$" in prose and "\n| line" in prose
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert len(cells) <= 25 and max(len(cell.source.splitlines()) for cell in code) <= 20
    assert [*lost_in(prose, held_by(f"majeed2024/{name}"))] == []
    (real,) = (i for i, cell in enumerate(cells) if "## On real data" in cell.source)
    first = [cell for cell in cells[:real] if cell.cell_type == "code"]
    assert len({tried(first, **values) for values in [{}, *TRIED[name]]}) == 4

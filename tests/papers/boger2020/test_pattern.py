"""The notebooks have one pattern, and another value in "Try it" shows another picture."""

import matplotlib.pyplot as plt
import pytest
from project.cells import NAMES, code_cells, read
from project.test_prose_numbers import held_by, lost_in

OTHER_VALUES = {
    "1_three_principles": [{"k": 5, "l": 3}, {"l": 4}, {"theta": 0.2}],
    "2_clustering_adult": [{"tiny_k": 2}, {"tiny_l": 4}, {"tiny_theta": 0.3}],
    "3_customized_distances": [
        {"weights": {"age": 9}}, {"asked_for": {"age": 20}}, {"asked_for": {"sex": 2}}],
    "4_privacy_properties": [{"tiny_k": 5}, {"known_attributes": ["age"]}, {"least_share": 0.5}],
    "5_open_questions": [{"tiny_k": 5}, {"asked_for": {"age": 5}}, {"asked_for": {"sex": 1}}],
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("boger2020/")])
def test_a_notebook_follows_the_pattern(name, capsys):
    cells = read(name).cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert cells[0].cell_type == "markdown" and len(cells) <= 25
    assert max(len(cell.source.splitlines()) for cell in code_cells(name)) <= 20
    assert any("$$" in text and "| line |" in text for text in texts)
    assert {number for text in texts for number in lost_in(text, held_by(name))} == set()
    heading = next(n for n, cell in enumerate(cells) if cell.source.startswith("## Try it"))
    shown = set()
    for values in [{}, *OTHER_VALUES[name.removeprefix("boger2020/")]]:
        names = {"display": print}
        for cell in [cell for cell in cells[: heading + 2] if cell.cell_type == "code"]:
            plt.close("all")
            capsys.readouterr()
            exec(cell.source, names)
            names |= values if "parameters" in cell.metadata.get("tags", []) else {}
        canvases = [plt.figure(number).canvas for number in plt.get_fignums()]
        pictures = [canvas.print_to_buffer()[0] for canvas in canvases]
        shown.add((capsys.readouterr().out, *pictures))
    assert len(shown) == 4

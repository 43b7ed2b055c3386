"""The notebooks have one pattern, and another value in "Try it" shows another picture."""

import matplotlib.pyplot as plt
import pytest
from project.cells import NAMES, code_cells, read
from project.test_prose_numbers import held_by, lost_in

from anonpaper import plots

OTHER_VALUES = {
    "boger2020/1_three_principles": [{"k": 5, "l": 3}, {"l": 4}, {"theta": 0.2}],
    "boger2020/2_clustering_adult": [{"tiny_k": 2}, {"tiny_l": 4}, {"tiny_theta": 0.3}],
    "boger2020/3_customized_distances": [
        {"weights": {"age": 9}}, {"weights": {"education": 0}}, {"asked_for": {"age": 20}},
    ],
    "boger2020/4_privacy_properties": [
        {"tiny_k": 5}, {"known_attributes": ["age"]}, {"least_share": 0.5},
    ],
    "boger2020/5_open_questions": [
        {"tiny_k": 5}, {"asked_for": {"age": 5}}, {"asked_for": {"sex": 1}},
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("boger2020/")])
def test_a_notebook_follows_the_pattern(name, capsys, monkeypatch):
    cells = read(name).cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert cells[0].cell_type == "markdown" and len(cells) <= 25
    assert max(len(cell.source.splitlines()) for cell in code_cells(name)) <= 20
    assert any("$$" in text and "| line |" in text for text in texts)
    assert {number for text in texts for number in lost_in(text, held_by(name))} == set()
    tries = next(n for n, cell in enumerate(cells) if cell.source.startswith("## Try it")) + 1
    shown = set()
    for values in [{}, *OTHER_VALUES[name]]:
        names = {"display": print}
        for cell in [cell for cell in cells[: tries + 1] if cell.cell_type == "code"]:
            plt.close("all")
            capsys.readouterr()
            code = cell.source.replace("results = Results", "Results  # ")
            exec(code, names)
            names |= values if "parameters" in cell.metadata.get("tags", []) else {}
        shown.add(
            (capsys.readouterr().out, *(plots.render(plt.figure(n)) for n in plt.get_fignums()))
        )
    assert len(shown) == 4

"""The notebooks of xiao2010: one pattern, numbers that are saved, and parts that can be tried."""

import pytest
from IPython.display import display
from project.cells import read
from project.test_prose_numbers import held_by, lost_in

from anonpaper import plots

TRIED = {
    "1_running_example": [{"l": 2}, {"groups": [(2, 1, 1), (2, 1, 3)]}, {"l": 9}],
    "2_hardness": [{"q": 4}, {"points": [(0, 0, 0), (1, 1, 1)]}, {"points": [(1, 0, 1)]}],
    "3_star_minimization": [{"tried_rows": 30}, {"tried_l": 2}, {"tried_l": 9}],
    "4_generalization": [{"ages": [20, 30, 40, 60]}, {"diseases": "abcd"}, {"tried_l": 3}],
    "5_time": [{"tried_rows": 500}, {"tried_l": 2}, {"tried_l": 12}],
}
pytestmark = pytest.mark.parametrize("name", TRIED)


def test_it_follows_the_pattern_and_types_no_number_that_is_not_saved(name):
    cells = read(f"xiao2010/{name}").cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert cells[0].source == texts[0] and "**Question.**" in texts[0] and len(cells) <= 25
    assert any("$$" in text and "| line | what happens | function |" in text for text in texts)
    assert max(len(cell.source.splitlines()) for cell in cells if cell.cell_type == "code") <= 20
    assert [*lost_in("\n".join(texts), held_by(f"xiao2010/{name}"))] == []


def test_other_parameters_show_something_else(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ANONPAPER_FIGURES", str(tmp_path))
    cells = {one.id: one.source for one in read(f"xiao2010/{name}").cells if "outputs" in one}
    names, shown = {"display": display}, set()
    for cell in [*cells][: [*cells].index("try-it")]:
        exec(cells[cell], names)
    for values in [{}, *TRIED[name]]:
        plots.plt.close("all")
        capsys.readouterr()
        exec(cells["try-it"], names | values)
        shown.add((plots.render(plots.plt.gcf()), capsys.readouterr().out))
    assert len(shown) == 4

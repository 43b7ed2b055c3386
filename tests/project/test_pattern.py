"""Notebooks on papers follow one pattern, and another value in "Try it" shows something else."""

import re

import matplotlib.pyplot as plt
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from project.cells import NAMES, code_cells, read
from project.test_prose_numbers import held_by, lost_in

from anonpaper.compendium import papers

#: Notebook -> three other values of the parameters that its part to try names.
TRIED = {
    "boger2020/1_three_principles": [{"k": 5, "l": 3}, {"l": 4}, {"theta": 0.2}],
    "boger2020/2_clustering_adult": [{"tiny_k": 2}, {"tiny_l": 4}, {"tiny_theta": 0.3}],
    "boger2020/3_customized_distances": [
        {"weights": {"age": 9}}, {"asked_for": {"age": 20}}, {"asked_for": {"sex": 2}}],
    "boger2020/4_privacy_properties": [
        {"tiny_k": 5}, {"known_attributes": ["age"]}, {"least_share": 0.5}],
    "boger2020/5_open_questions": [
        {"tiny_k": 5}, {"asked_for": {"age": 5}}, {"asked_for": {"sex": 1}}],
    "dewri2009/1_generalization_as_bits": [
        {"bits": "0000000"}, {"k": 5}, {"k": 5, "wish": [0.2, 0.0]}],
    "dewri2009/2_solution_efficiency": [{"k": 4}, {"wish": [1.0, 0.01]}, {"steps": 5_000}],
    "dewri2009/3_population_size": [{"k": 4}, {"size": 60}, {"steps": 40}],
    "dewri2009/4_weights_and_bias": [
        {"k": 5}, {"ten_weights": {"sex": 1.0}}, {"wish": [0.2, 0.0]}],
    "dewri2009/5_how_good_is_it": [{"k": 4}, {"wish": [0.2, 0.01]}, {"steps": 5_000}],
    "diva2021/1_running_example": [
        {"tiny_k": 3}, {"asians": 3}, {"strategy": "basic", "vancouver": 4}],
    "diva2021/2_strategies": [{"tiny_k": 3}, {"vancouver": 4}, {"tiny_seed": 1}],
    "diva2021/3_baselines": [{"tiny_k": 3}, {"tiny_seed": 1}, {"asians": 4}],
    "diva2021/4_cost_of_diversity": [{"tiny_k": 3}, {"tiny_rule": "minimum"}, {"tiny_total": 10}],
    "diva2021/5_on_its_own_terms": [
        {"tiny_k": 2}, {"tiny_slacks": [1]}, {"tiny_attributes": ["ETH"]}],
    "majeed2024/1_why_it_fails": [{"k": 3}, {"added": 4, "k": 4}, {"k": 5}],
    "majeed2024/2_repairing_the_data": [
        {"added": 2}, {"added": 6}, {"added": 3, "threshold": 0.1}],
    "majeed2024/3_shallow_anonymization": [{"k": 3}, {"k": 4, "largest_share": 0.5}, {"k": 8}],
    "majeed2024/4_privacy": [{"k": 3}, {"k": 4, "added": 5}, {"k": 5}],
    "majeed2024/5_utility": [{"share": 0.6}, {"share": 0.9}, {"k": 5}],
    "majeed2024/6_the_printed_numbers": [{"rare": 1}, {"rare": 4, "k": 3}, {"k": 5}],
    "xiao2010/1_running_example": [{"l": 2}, {"groups": [(2, 1, 1), (2, 1, 3)]}, {"l": 9}],
    "xiao2010/2_hardness": [
        {"q": 4}, {"points": [(0, 0, 0), (1, 1, 1)]}, {"points": [(1, 0, 1)]}],
    "xiao2010/3_star_minimization": [{"tried_rows": 30}, {"tried_l": 2}, {"tried_l": 9}],
    "xiao2010/4_generalization": [
        {"ages": [20, 30, 40, 60]}, {"diseases": "abcd"}, {"tried_l": 3}],
    "xiao2010/5_time": [{"tried_rows": 500}, {"tried_l": 2}, {"tried_l": 12}],
}  # fmt: skip
OF_PAPERS = [name for name in NAMES if name.partition("/")[0] in papers()]


@pytest.mark.parametrize("name", OF_PAPERS)
def test_a_notebook_follows_the_pattern_and_types_no_number_that_is_not_saved(name):
    cells = read(name).cells
    texts = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert cells[0].cell_type == "markdown" and len(cells) <= 25
    assert re.search(r"^\*\*(?!Question|After)", cells[0].source, re.MULTILINE)  # the answer
    assert "$$" in texts and re.search(r"^\| line", texts, re.MULTILINE)
    assert max(len(cell.source.splitlines()) for cell in code_cells(name)) <= 20
    assert [*lost_in(texts, held_by(name))] == []


@pytest.mark.parametrize("name", OF_PAPERS)
def test_other_parameters_show_something_else(name, tmp_path, monkeypatch):
    monkeypatch.setenv("ANONPAPER_FIGURES", str(tmp_path))
    cells = read(name).cells
    heading = next(n for n, cell in enumerate(cells) if cell.source.startswith("## Try it"))
    *before, tried = [cell for cell in cells[: heading + 2] if cell.cell_type == "code"]
    last = max(n for n, cell in enumerate(before) if "import " in cell.source)
    again = [cell for cell in before[last + 1 :] if "results." not in cell.source]
    shell, shown = InteractiveShell(), set()

    def run(cells):
        for cell in cells:
            with capture_output():
                shell.run_cell(cell.source).raise_error()

    run(before)
    first = {one: shell.user_ns[one] for values in TRIED[name] for one in values}
    for values in [{}, *TRIED[name]]:
        shell.push(first | values)
        run(again)
        plt.close("all")
        with capture_output() as told:
            done = shell.run_cell(tried.source)
        done.raise_error()
        pictures = [plt.figure(number).canvas for number in plt.get_fignums()]
        pictures = [bytes(canvas.print_to_buffer()[0]) for canvas in pictures]
        outputs = [str(one.data.get("text/html", one.data)) for one in told.outputs]
        shown.add((told.stdout, str(done.result), *outputs, *pictures))
    assert len(shown) == 4

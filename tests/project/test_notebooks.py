"""Committed notebooks: executed, of no one machine, run by both profiles, and true."""

import ast
import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
import yaml
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from project.helpers import NAMES, NOTEBOOKS, ROOT, SOLUTIONS, code_cells, load_tool, read

from anonpaper.compendium import papers

PROFILES = {file.parts[-3]: yaml.safe_load(file.read_text())
            for file in NOTEBOOKS.glob("*/profiles/paper.yaml")}  # fmt: skip
OF_PAPERS = [name for name in NAMES if name.partition("/")[0] in papers()]


@pytest.mark.parametrize("folder", PROFILES)
def test_a_profile_has_a_section_per_notebook_with_parameters_of_its(folder):
    sections = PROFILES[folder]
    assert [f"{folder}/{name}" for name in sections] == [
        name for name in NAMES if name.startswith(f"{folder}/")
    ]
    for name, values in sections.items():
        cells = [cell.source for cell in code_cells(f"{folder}/{name}")
                 if "parameters" in cell.metadata.get("tags", [])]  # fmt: skip
        body = ast.parse("\n".join(cells)).body
        assert all(isinstance(part, ast.Assign) for part in body), "the cell only assigns"
        assert set(values) <= {part.targets[0].id for part in body}, name


@pytest.mark.parametrize("name", NAMES)
def test_cells_are_short_and_were_executed_in_order_without_error_on_no_one_machine(name):
    notebook, cells = read(name), [cell for cell in code_cells(name) if cell.source.strip()]
    assert re.match(r"# \S", notebook.cells[0].source)
    assert [cell.id for cell in cells if len(cell.source.splitlines()) > 25] == []
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs
    assert [one for one in outputs if "ename" in one or one.get("name") == "stderr"] == []
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert not kinds & {"image/svg+xml", "application/vnd.jupyter.widget-view+json"}
    folders = r"/(home|root|tmp|Users|opt|var|mnt|usr|work)/|[A-Z]:\\\\"
    text = (NOTEBOOKS / f"{name}.ipynb").read_text()
    assert not re.search(rf"""["'(\s]({folders})\S*""", text)
    assert notebook.metadata.language_info == {"name": "python"}
    assert "injected-parameters" not in text


# ---- what a quick run saves and shows ---------------------------------------------------------

verify = load_tool("verify")
MADE = ROOT / "figures" / "quick"
after_make = pytest.mark.skipif(not MADE.is_dir(), reason="`make` has not run")
VARIES = re.compile(
    r"0x[0-9a-f]{6,}|\d+(\.\d+)?\s?(ns|µs|ms|s|seconds|min|minutes)\b"
    r"|(/private)?(/var/folders|/tmp)/[\w/.+-]+|[^\n]*\d+%\|[^\n]*"
    r"|\((by hand|official address|package index), sha256"
)
DIGITS = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


@after_make
def test_notebooks_save_what_is_expected(capsys):
    assert verify.main(ROOT / "figures" / "expected.json", MADE) == 0, capsys.readouterr().out


@after_make
@pytest.mark.parametrize("name", sorted(verify.manifest(ROOT / "figures" / "paper")))
def test_a_notebook_shows_what_is_expected(name):
    """A quick run shows the paper edition too: texts, but for durations, and rounded numbers."""
    sides = []
    for folder in (ROOT, MADE):
        cells = json.loads((folder / "notebooks" / f"{name}.ipynb").read_text())["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", ())
                   if "nbval-ignore-output" not in cell["metadata"].get("tags", ())]  # fmt: skip
        texts = [one.get("text", one.get("data", {}).get("text/plain", ())) for one in outputs]
        sides.append(" ".join(VARIES.sub("~", "".join("".join(text) for text in texts)).split()))
    one, other = (DIGITS.sub("#", side) for side in sides)
    assert one == other
    if not name.startswith("majeed2024/"):  # trained models: their tables are compared
        one, other = ([*map(float, DIGITS.findall(side))] for side in sides)
        assert one == pytest.approx(other, rel=0.01, abs=0.01)


# ---- numbers in texts ---------------------------------------------------------------------------

NUMBER = re.compile(r"(?<![\w.,])[-+−]?(\d[\d,]*(?:\.\d+)?)(?![\d.]*\d)(\s?%)?")
# places in a paper, versions and addresses are no measurements
PLACES = re.compile(
    r"`[^`]*`|\]\([^)]*\)|https?://\S+|arXiv:?\s*[\d.]+|\d+(?:\.\d+){2,}"
    r"|\b(?:Exercises?|Lab:|home:|CFR|Sections?|Figures?|Tables?|Examples?|Definitions?|Theorems?"
    r"|Lemmas?|Chapters?|Equations?|Algorithms?|Appendix|Versions?|Python)\s+"
    r"[\d.]*\d(?:(?:,| and| to| or)\s+[\d.]*\d)*",
    re.IGNORECASE,
)
# from the works cited there, or worked out in the sentence
GIVEN = {
    "course/1_linking": ["98 %", "10.3 %", "96.1 %", "51 %", "63 %"],
    "course/2_k_anonymity": ["0.975"],
    "course/3_l_diversity": ["0.950"],
    "course/4_four_ways_to_publish": ["0.6", "0.21"],
    "course/6_trade_off": ["0.19"],
    "course/8_beyond_groups": ["0.73"],
    "course/9_reconstruction": ["46 %"],
    "course/12_cases_and_law": ["1.5", "85.2 %", "73.3 %", "2.09", "1.24", "87 %", "2.47"],
}


def lost_in(name):
    """Yield the numbers of texts with a point or percent sign to which none of code rounds."""
    cells = read(name, solved=SOLUTIONS.is_dir()).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    texts = [cell.source for cell in code]
    for output in (output for cell in code for output in cell.outputs):
        shown = output.get("data", output)
        texts += [str(shown.get(kind, "")) for kind in ("text", "text/plain", "text/html")]
    digits = re.findall(r"\d[\d,]*(?:\.\d+)?", re.sub(r'base64,[^"]*', "", "\n".join(texts)))
    held = np.array([float(one.replace(",", "")) for one in digits])
    told = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for match in NUMBER.finditer(PLACES.sub(" ", told)):
        digits = match[1].rstrip(",").replace(",", "")
        if "." in digits or match[2]:
            half = 0.5 * 10.0 ** -len(digits.partition(".")[2]) * (1 + 1e-6)
            low, high = float(digits) - half, float(digits) + half
            shares = (1, 100) if match[2] else (1,)
            if not any(((held >= low / of) & (held < high / of)).any() for of in shares):
                yield match[0].strip()


@pytest.mark.parametrize("name", [*OF_PAPERS, *(name for name in NAMES if "course/" in name)])
def test_texts_type_no_number_that_nothing_holds(name):
    lost, given = {*lost_in(name)}, {*GIVEN.get(name, ())}
    if SOLUTIONS.is_dir():
        assert lost == given, "print these, or say whose"
    assert lost <= given


# ---- the pattern of notebooks on papers ---------------------------------------------------------

#: Notebook -> other values of the parameters that its part to try names.
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


@pytest.mark.parametrize("name", OF_PAPERS)
def test_a_notebook_on_a_paper_follows_the_pattern(name):
    cells = read(name).cells
    texts = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert cells[0].cell_type == "markdown" and len(cells) <= 25
    assert re.search(r"^\*\*(?!Question|After)", cells[0].source, re.MULTILINE)  # the answer
    assert "$$" in texts and re.search(r"^\| line", texts, re.MULTILINE)
    assert max(len(cell.source.splitlines()) for cell in code_cells(name)) <= 20


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

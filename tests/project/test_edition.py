"""What readers see: the answer first, the paper edition everywhere, figures that can be read."""

import ast
import base64
import json
import re
from pathlib import Path

import pytest
import yaml
from project.cells import NOTEBOOKS, code_cells, python_of, read

from anonpaper.compendium.edition import NO_RUN, QUICK_RUN, picture

ROOT = Path(__file__).parents[2]
EDITION = ROOT / "figures" / "paper"
PROFILES = {file.parts[-3]: yaml.safe_load(file.read_text()) or {}
            for file in NOTEBOOKS.glob("*/profiles/paper.yaml")}  # fmt: skip
RESULTS = sorted(f"{folder}/{name}" for folder, own in PROFILES.items() for name in own)
QUICK = ROOT / "figures" / "expected" / "quick"
WAITING = [name for name in RESULTS if (QUICK / "manifest" / f"{name}.json").exists()
           and not (EDITION / "manifest" / f"{name}.json").exists()]  # fmt: skip
PICTURES = {path[:-4]: about for file in sorted((EDITION / "manifest").glob("*/*.json"))
            for path, about in json.loads(file.read_text())["outputs"].items()
            if path.endswith(".png")}  # fmt: skip
FROM_THE_EDITION = {"answer", "claims", "figure", "saved", "source_of", "table"}


def names_in(node):
    """Return all names that a piece of code reads or assigns."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def calls_in(node):
    """Return the last parts of the names of all functions that a piece of code calls."""
    called = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    return {getattr(function, "attr", getattr(function, "id", "")) for function in called}


def assigned(statement):
    """Return the names to which a statement gives a value, or a part of one."""
    stored = {part.id for part in ast.walk(statement)
              if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}  # fmt: skip
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    for target in filter(None, targets):
        while isinstance(target, ast.Subscript | ast.Attribute):
            target = target.value
        stored |= names_in(target) if isinstance(target, ast.Name) else set()
    return stored


def shown_from_a_quick_run(cells, sizes):
    """Return the code that shows what depends on the sizes, and not by the paper edition."""
    depends, found = set(sizes), []
    for cell in cells:
        body = [] if "parameters" in cell.metadata.get("tags", ()) else python_of(cell).body
        for statement in body:
            if isinstance(statement, ast.Assign) and calls_in(statement) & {"table", "saved"}:
                depends -= assigned(statement)
            elif names_in(statement) & depends:
                depends |= assigned(statement)
            printed = [part for part in ast.walk(statement) if isinstance(part, ast.Call)
                       and getattr(part.func, "id", "") in ("print", "display")]  # fmt: skip
            last = isinstance(statement, ast.Expr) and statement is body[-1]
            ends = any(output.output_type == "execute_result" for output in cell.outputs)
            for code in [*printed, *[statement] * (last and ends)]:
                if names_in(code) & depends and not calls_in(code) & FROM_THE_EDITION:
                    found.append(ast.unparse(code))
    return found


@pytest.mark.parametrize("name", RESULTS)
def test_numbers_that_depend_on_the_sizes_are_those_of_the_paper_edition(name):
    folder, _, own = name.partition("/")
    sizes = PROFILES[folder][own] or {}
    assert shown_from_a_quick_run(code_cells(name), sizes) == []


def test_a_number_of_a_quick_run_would_be_found():
    cells = [
        {"source": "runs = [rows]\nshown = results.table(runs)\nprint(shown)", "outputs": []},
        {"source": "more = {}\nmore['x'] = runs\nprint(more)", "outputs": []},
    ]
    cells = [type("Cell", (), {**cell, "metadata": {}}) for cell in cells]
    assert shown_from_a_quick_run(cells, {"rows"}) == ["print(more)"]


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_opens_with_its_answer(name):
    title, first = read(name).cells[:2]
    assert title.cell_type == "markdown" and "answer" in first.metadata.get("tags", [])
    texts = [output.data.get("text/markdown", "") for output in first.outputs]
    if name not in WAITING:
        assert re.match(r"\*\*[A-Z0-9].*[.?]\*\*", texts[0], re.DOTALL), texts[0]
    (call,) = (part for part in ast.walk(python_of(first))
               if isinstance(part, ast.Call) and ast.unparse(part.func) == "answer")  # fmt: skip
    typed = re.findall(r"\d+\.\d+", "".join(written(call.args[0])))
    used = {
        ast.unparse(part) for part in ast.walk(python_of(first)) if isinstance(part, ast.Constant)
    }
    used |= {*re.findall(r"\d+\.\d+", (NOTEBOOKS / name).with_name("claims.toml").read_text())}
    assert {*typed} <= used, "numbers come from saved tables; limits from the code or the claims"


def written(text):
    """Yield the parts of a text that stand in the source, and are not computed."""
    for part in getattr(text, "values", [text]):
        if isinstance(part, ast.Constant):
            yield part.value
        elif isinstance(part, ast.BinOp):
            yield from (*written(part.left), *written(part.right))


@pytest.mark.parametrize("name", RESULTS)
def test_every_figure_has_a_caption_beside_it(name):
    for cell in code_cells(name):
        for call in ast.walk(python_of(cell)):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "results.figure":
                given = {part.arg: part.value for part in call.keywords}
                told = ast.literal_eval(given["caption"])
                assert len(told.split()) >= 6 and told.endswith("."), told


def outputs_of(name):
    """Return what the code cells of a committed notebook show, by kind of content."""
    cells = code_cells(name)
    return [dict(output.get("data", output)) for cell in cells for output in cell.outputs]


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_pictures_of_the_edition_and_nothing_of_a_quick_run(name):
    shown = outputs_of(name)
    if name in WAITING:
        assert [output.get("text/markdown") for output in shown] == [NO_RUN]
    assert not [output for output in shown if QUICK_RUN in str(output)]
    drawn = {base64.b64decode(output["image/png"]) for output in shown if "image/png" in output}
    share = EDITION / "manifest" / f"{name}.json"
    saved = json.loads(share.read_text())["outputs"] if share.exists() else {}
    own = [path[:-4] for path in saved if path.endswith(".png")]
    assert [path for path in own if picture(path).data not in drawn] == [], f"refresh {name}"


def test_every_picture_of_the_edition_was_checked():
    assert [path for path, about in PICTURES.items() if about["faults"] != []] == []


def test_every_figure_of_a_quick_run_can_be_read():
    found = {}
    for file in sorted((ROOT / "figures" / "quick" / "manifest").glob("*/*.json")):
        for path, about in json.loads(file.read_text())["outputs"].items():
            if path.endswith(".png") and about.get("faults"):
                found[path] = about["faults"]
    assert found == {}

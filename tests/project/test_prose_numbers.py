"""Numbers in texts: each is held by a saved table, a reference, code, claims or an output."""

import json
import re
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from project.cells import NAMES, NOTEBOOKS, code_cells, read

from anonpaper.compendium.tables import read_table

ROOT = Path(__file__).parents[2]
RESULTS = [name for name in NAMES if "/" in name and not name.startswith("course/")]
WRITTEN = r"(?<![\w.,])[-+−]?(?P<digits>\d[\d,]*(?:\.\d+)?)(?![\d.]*\d)"
NUMBER = re.compile(rf"{WRITTEN}(?P<percent>\s?%)?")
# places in a paper, versions and addresses are no measurements
PLACES = (
    r"`[^`]*`|\]\([^)]*\)|https?://\S+|arXiv:?\s*[\d.]+|\d+(?:\.\d+){2,}"
    r"|\b(?:[Ee]xercises?|Lab:|home:|CFR|[Ss]ections?|[Ff]igures?|[Tt]ables?|[Ee]xamples?|[Dd]efinitions?|[Tt]heorems?|[Ll]emmas?"
    r"|[Cc]hapters?|[Ee]quations?|[Aa]lgorithms?|[Aa]ppendix|[Vv]ersions?|Python)\s+"
    r"[\d.]*\d(?:(?:,| and| to| or)\s+[\d.]*\d)*"
)


def typed_numbers(text):
    """Return numbers with a decimal point or percent sign: as written, value, digits, percent."""
    found = []
    for match in NUMBER.finditer(re.sub(PLACES, " ", text)):
        digits, percent = match["digits"].rstrip(","), bool(match["percent"])
        if "." in digits or percent:
            decimals = len(digits.partition(".")[2])
            found.append((match[0].strip(), float(digits.replace(",", "")), decimals, percent))
    return found


def numbers_in(text):
    """Return the sizes of all numbers that a text holds."""
    return [float(digits.replace(",", "")) for digits in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


@cache
def numbers_of_tables(folder, names="*"):
    """Return the sizes of all numbers in a folder's tables, in their texts too, and their rows."""
    found = []
    for path in sorted(folder.glob(f"{names}.csv")):
        table = read_table(path)
        found.append([len(table)])
        for column in table:
            values = table[column].dropna()
            if np.issubdtype(values.dtype, np.number):
                found.append(values.to_numpy(float))
            else:
                found.append(numbers_in(" ".join(map(str, values.unique()))))
    return np.abs(np.concatenate([np.asarray(part, float) for part in found] or [np.empty(0)]))


def held_by(name):
    """Return the sizes of all numbers that the text of a notebook may name."""
    folder = name.split("/")[0]
    texts = [cell.source for cell in code_cells(name)]
    claims = NOTEBOOKS / folder / "claims.toml"
    if claims.is_file():
        texts.append(json.dumps(tomllib.loads(claims.read_text("utf-8"))))
    reference = ROOT / "data" / "reference"
    own = f"{folder}_*" if any(reference.glob(f"{folder}_*.csv")) else "*"
    found = np.r_[
        numbers_in("\n".join(texts)),
        numbers_of_tables(ROOT / "figures" / "paper" / folder),
        numbers_of_tables(reference, own),
    ]
    return np.sort(found[np.isfinite(found)])


def is_held(value, decimals, percent, held):
    """Return whether one of these rounds to the number; percentages also as shares."""
    half = 0.5 * 10.0**-decimals * (1 + 1e-6)
    for factor in (1, 100) if percent else (1,):
        low, high = (np.array([-half, half]) + value) / factor
        if np.searchsorted(held, low, "left") < np.searchsorted(held, high, "right"):
            return True
    return False


# in lessons and their slides: from the works cited there, or worked out in the sentence
GIVEN = {
    "1_linking": "98 % 10.3 % 96.1 % 51 % 63 % 0.4 % 40 %",
    "2_k_anonymity": "0.975",
    "3_l_diversity": "0.950",
    "4_four_ways_to_publish": "0.6 0.21",
    "6_trade_off": "0.19",
    "8_beyond_groups": "0.73",
    "9_reconstruction": "46 %",
    "10_membership": "0.98 1.65 0.165",
    "12_cases_and_law": "1.5 85.2 % 73.3 % 2.09 1.24 87 % 2.47",
}


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("course/")])
def test_lessons_and_slides_type_no_number_that_no_cell_holds(name):
    lesson, stem = read(name), name.partition("/")[2]
    texts = [cell.source for cell in lesson.cells if cell.cell_type == "markdown"]
    texts.append((NOTEBOOKS / "course" / "slides" / f"{stem}.md").read_text("utf-8"))
    shown = [cell.source for cell in code_cells(name)]
    for output in (output for cell in code_cells(name) for output in cell.outputs):
        told = output.get("data", output)
        shown += [str(told.get(kind, "")) for kind in ("text", "text/plain", "text/html")]
    cells = [re.sub(r'base64,[^"]*', "", text) for text in shown]
    held = np.sort(np.array(numbers_in("\n".join(cells)), float))
    lost = [number[0] for text in texts for number in typed_numbers(text)
            if not is_held(*number[1:], held)]  # fmt: skip
    given = re.findall(r"[\d.]+(?: %)?", GIVEN.get(stem, ""))
    assert {*lost} == {*given}, "print these in a cell, or name the work that gives them"


@pytest.mark.parametrize("name", RESULTS)
def test_text_types_no_number_that_nothing_holds(name):
    held, lost = held_by(name), []
    for cell in read(name).cells:
        if cell.cell_type == "markdown":
            lost += [
                f"{written} in ...{cell.source[:60]!r}"
                for written, *number in typed_numbers(cell.source)
                if not is_held(*number, held)
            ]
    assert lost == [], "print these from a saved table, or leave them out"

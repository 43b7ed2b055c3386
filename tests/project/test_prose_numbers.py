"""Numbers in texts: each is held by a saved table, a reference, code, claims or an output."""

import re
from functools import cache

import numpy as np
import pytest
from project.cells import NAMES, NOTEBOOKS, code_cells, read
from project.tools import ROOT

from anonpaper.compendium.tables import read_table

NUMBER = re.compile(r"(?<![\w.,])[-+−]?(\d[\d,]*(?:\.\d+)?)(?![\d.]*\d)(\s?%)?")
# places in a paper, versions and addresses are no measurements
PLACES = re.compile(
    r"`[^`]*`|\]\([^)]*\)|https?://\S+|arXiv:?\s*[\d.]+|\d+(?:\.\d+){2,}"
    r"|\b(?:Exercises?|Lab:|home:|CFR|Sections?|Figures?|Tables?|Examples?|Definitions?|Theorems?"
    r"|Lemmas?|Chapters?|Equations?|Algorithms?|Appendix|Versions?|Python)\s+"
    r"[\d.]*\d(?:(?:,| and| to| or)\s+[\d.]*\d)*",
    re.IGNORECASE,
)
# in lessons: from the works cited there, or worked out in the sentence
GIVEN = {
    "1_linking": ["98 %", "10.3 %", "96.1 %", "51 %", "63 %"],
    "2_k_anonymity": ["0.975"],
    "3_l_diversity": ["0.950"],
    "4_four_ways_to_publish": ["0.6", "0.21"],
    "6_trade_off": ["0.19"],
    "8_beyond_groups": ["0.73"],
    "9_reconstruction": ["46 %"],
    "12_cases_and_law": ["1.5", "85.2 %", "73.3 %", "2.09", "1.24", "87 %", "2.47"],
}


def numbers_in(text):
    """Return the sizes of all numbers that a text holds."""
    return [float(digits.replace(",", "")) for digits in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


@cache
def numbers_of_tables(folder, names="*"):
    """Return the sizes of all numbers in a folder's tables, in their texts too, and their rows."""
    found = []
    for table in map(read_table, sorted(folder.glob(f"{names}.csv"))):
        found.append(len(table))
        for column in table:
            values = table[column].dropna()
            is_number = np.issubdtype(values.dtype, np.number)
            found += [*values] if is_number else numbers_in(" ".join(map(str, values.unique())))
    return np.abs(np.array(found, float)).tolist()


def held_by(name):
    """Return the sizes of all numbers that the text of a notebook may name."""
    folder = name.split("/")[0]
    texts = [cell.source for cell in code_cells(name)]
    if folder == "course":
        for output in (output for cell in code_cells(name) for output in cell.outputs):
            told = output.get("data", output)
            texts += [str(told.get(kind, "")) for kind in ("text", "text/plain", "text/html")]
        return numbers_in(re.sub(r'base64,[^"]*', "", "\n".join(texts)))
    texts += [file.read_text("utf-8") for file in (NOTEBOOKS / folder).glob("claims.*")]
    reference = ROOT / "data" / "reference"
    own = f"{folder}_*" if any(reference.glob(f"{folder}_*.csv")) else "*"
    saved = numbers_of_tables(ROOT / "figures" / "paper" / folder)
    return [*numbers_in("\n".join(texts)), *saved, *numbers_of_tables(reference, own)]


def lost_in(text, held):
    """Return the numbers with a point or percent sign to which nothing rounds, as written."""
    for match in NUMBER.finditer(PLACES.sub(" ", text)):
        digits = match[1].rstrip(",").replace(",", "")
        if "." in digits or match[2]:
            half = 0.5 * 10.0 ** -len(digits.partition(".")[2]) * (1 + 1e-6)
            low, high = float(digits) - half, float(digits) + half
            shares = (1, 100) if match[2] else (1,)
            if not any(((held >= low / of) & (held < high / of)).any() for of in shares):
                yield match[0].strip()


@pytest.mark.parametrize("name", [name for name in NAMES if "/" in name])
def test_text_types_no_number_that_nothing_holds(name):
    folder, stem = name.split("/")
    texts = [cell.source for cell in read(name).cells if cell.cell_type == "markdown"]
    held = np.array(held_by(name), float)
    lost = {number for text in texts for number in lost_in(text, held)}
    assert lost == {*GIVEN.get(stem, ())}, "print these from a table, or name who gives them"

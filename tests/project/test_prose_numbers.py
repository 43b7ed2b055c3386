"""Numbers in the texts of lessons: each is held by code or an output."""

import re

import numpy as np
import pytest
from project.cells import NAMES, code_cells, read

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


def held_by(name):
    """Return the sizes of all numbers that a lesson's code and outputs hold."""
    texts = [cell.source for cell in code_cells(name)]
    for output in (output for cell in code_cells(name) for output in cell.outputs):
        told = output.get("data", output)
        texts += [str(told.get(kind, "")) for kind in ("text", "text/plain", "text/html")]
    return np.array(numbers_in(re.sub(r'base64,[^"]*', "", "\n".join(texts))))


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


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("course/")])
def test_a_lesson_types_no_number_that_nothing_holds(name):
    texts = [cell.source for cell in read(name).cells if cell.cell_type == "markdown"]
    stem = name.removeprefix("course/")
    lost = {number for text in texts for number in lost_in(text, held_by(name))}
    assert lost == {*GIVEN.get(stem, ())}, "print these, or say whose"

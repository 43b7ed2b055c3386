"""What the quick run of each notebook saves is expected, and what it shows is committed."""

import json
import math
import re
from decimal import Decimal
from itertools import zip_longest

import pytest
from project.tools import ROOT, load_tool

verify = load_tool("verify")
MADE = ROOT / "figures" / "quick"
EXPECTED = ROOT / "figures" / "expected.json"
NAMES = sorted(verify.manifest(ROOT / "figures" / "paper"))
TRAINED = "majeed2024/"  # numbers of trained models: tools/verify.py compares their tables
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
DIFFERS = re.compile(
    r"0x[0-9a-f]{6,}|\d+(\.\d+)?\s?(ns|µs|ms|s|seconds|min|minutes)\b"
    r"|(/private)?(/var/folders|/tmp)/[\w/.+-]+|[^\n]*\d+%\|[^\n]*"
    r"|\((by hand|official address|package index), sha256"
)


def texts_of(path):
    """Return what a notebook shows as text, as words: without addresses, durations and folders."""
    shown = []
    for cell in json.loads(path.read_text())["cells"]:
        varies = "nbval-ignore-output" in cell["metadata"].get("tags", ())
        for output in () if varies else cell.get("outputs", ()):
            parts = output.get("text", output.get("data", {}).get("text/plain", ()))
            shown += DIFFERS.sub("~", "".join(parts)).split()
    return shown


def alike(one, other, trained=False):
    """Return whether two words differ at most in the last digit of their numbers."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    for pair in zip(NUMBER.findall(one), NUMBER.findall(other), strict=True):
        last = float(max(10 ** Decimal(Decimal(number).as_tuple().exponent) for number in pair))
        off = math.inf if trained else 1.01 * last if last < 1 else 0.0
        if not math.isclose(*map(float, pair), rel_tol=1e-6, abs_tol=off):
            return False
    return True


pytestmark = pytest.mark.skipif(not MADE.is_dir(), reason="`make` has not run")


def test_notebooks_save_what_is_expected(capsys):
    assert verify.main(EXPECTED, MADE) == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_what_is_expected(name):
    """A quick run shows the paper edition too; without trained models, to the last digit."""
    sides = (texts_of(folder / "notebooks" / f"{name}.ipynb") for folder in (ROOT, MADE))
    pairs = zip_longest(*sides, fillvalue="")
    different = [pair for pair in pairs if not alike(*pair, name.startswith(TRAINED))]
    assert different == []

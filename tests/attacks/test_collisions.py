"""Values and columns of the table that look like what a release writes: stars, sets, counts."""

from enum import Enum

import pandas as pd
import pytest

import anonpaper as ap
from anonpaper.errors import ColumnError


def table(values):
    n = len(values)
    frame = pd.DataFrame({"q": pd.Series(values, dtype=object), "s": (list("xy") * n)[:n]})
    return ap.Microdata(frame, ["q"], "s")


PAIRS = ap.Partition([0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize(
    ("form", "values"),
    [
        ("suppress", ["*", "*", "a", "b", "c", "c"]),
        ("generalize", ["{a, b}", "{a, b}", "a", "b", "c", "c"]),
    ],
)
def test_what_stands_for_two_things_is_refused(form, values, tmp_path):
    rel = getattr(ap, form)(table(values), PAIRS)
    with pytest.raises(ColumnError, match="would have several meanings in 'q'"):
        rel.write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())  # nothing was written


class Sex(str, Enum):  # noqa: UP042 - a StrEnum is written as its text
    """Equal to the text, and written otherwise."""

    F = "f"


class Number(int):
    def __str__(self):
        return f"no. {int(self)}"


@pytest.mark.parametrize("values", [[Sex.F, "f"] * 2, [Number(1), 1] * 2, [True, Number(1)] * 2])
@pytest.mark.parametrize("form", ["suppress", "generalize"])
def test_equal_values_of_other_types_are_written_alike(values, form):
    rel = getattr(ap, form)(table(values), ap.Partition([0] * 4))
    assert rel.public_frame()["q"].nunique() == 1

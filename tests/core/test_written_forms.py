"""Values that are equal are written alike, and values written alike are one value."""

import decimal
from datetime import UTC, datetime, timedelta, timezone

import pandas as pd
import pytest

import anonpaper as ap

D = decimal.Decimal
NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)
ELSEWHERE = NOON.astimezone(timezone(timedelta(hours=2)))

#: Columns in which 0 and 1 of a value are equal but written differently.
FORMS = {
    "zeros": pd.Series([-0.0, 0.0, 1.5, 1.5]),
    "small zeros": pd.Series([-0.0, 0.0, 1.5, 1.5], dtype="float32"),
    "nullable zeros": pd.array([-0.0, 0.0, 1.5, 1.5], "Float64"),
    "zeros among objects": pd.Series([-0.0, 0, "a", "a"], dtype=object),
    "truth and one": pd.Series([True, 1, "b", "b"], dtype=object),
    "one and one": pd.Series([1.0, 1, 2, 2.0], dtype=object),
    "decimals": pd.Series([D("1.00"), D("1.0"), D("2"), D("2")], dtype=object),
    "decimal and number": pd.Series([D("1.0"), 1, "x", "x"], dtype=object),
    "time zones": pd.Series([NOON, ELSEWHERE, NOON + timedelta(1), ELSEWHERE + timedelta(1)]),
    "numbers and their text": pd.Series([1, "1", "b", "b"], dtype=object),
    "truth and its text": pd.Series(["True", True, "b", "b"], dtype=object),
    "all at once": pd.Series(["1", 1.0, True, 1], dtype=object),
    "tuples": pd.Series([(1, 0.0), (1.0, -0.0), (2, 2), (2, 2.0)]),
    "intervals": pd.Series(
        pd.arrays.IntervalArray.from_tuples([(-0.0, 1.0), (0.0, 1.0), (1.0, 2.0), (1.0, 2.0)])
    ),
    "complex": pd.Series([complex(0, -0.0), complex(0, 0.0), 1j, 1j]),
}


def written(frame):
    """The lines of the csv file of a frame."""
    return frame.to_csv(index=False, lineterminator="\n").splitlines()[1:]


@pytest.mark.parametrize("name", FORMS)
def test_every_value_is_written_in_one_way(name):
    frame = pd.DataFrame({"q": FORMS[name], "s": list("abab")})
    for order in ([0, 1, 2, 3], [1, 0, 3, 2]):  # whichever form comes first
        m = ap.Microdata(frame.iloc[order], ["q"], "s")
        lines = written(m.frame[["q"]])
        codes = m.codes[:, 0].tolist()
        assert len(set(lines)) == len(set(codes)) == m.attributes[0].size
        assert len(set(zip(lines, codes, strict=True))) == m.attributes[0].size
        assert codes[0] == codes[1] and codes[2] == codes[3]
        assert m.frame["q"].dtype == frame["q"].dtype or name == "small zeros"  # float64
        assert m.frame.index.tolist() == order

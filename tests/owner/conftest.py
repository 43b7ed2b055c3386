"""Small files that the command line is tried on."""

import csv

import pytest

ILLNESSES = ["flu", "cough", "gout", "mumps"]


@pytest.fixture
def people(tmp_path):
    """48 people: zip codes with leading zeros, a value "NA", a comma in a name of a column."""
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["name", "age", "sex", "zip", "income, monthly", "illness"])
        for i in range(48):
            rows.writerow(
                [
                    f"person {i}",
                    20 + i % 5,
                    "fm"[i % 2],
                    ["02139", "02140", "00501"][i % 3],
                    ["1.50", "2.25", "10.00"][i // 3 % 3],
                    [*ILLNESSES, "NA", "cold"][i * 7 % 6],
                ]
            )
    return path


@pytest.fixture
def few(tmp_path):
    """Eight people of two illnesses, each had by four."""
    path = tmp_path / "few.csv"
    path.write_text(
        "age,sex,illness\n"
        + "".join(f"{20 + i // 4},{'fm'[i // 2 % 2]},{'ab'[i % 2]}\n" for i in range(8))
    )
    return path


@pytest.fixture
def age_tree(tmp_path):
    """A hierarchy of the ages in ARX's format."""
    path = tmp_path / "age.csv"
    path.write_text("20;young;*\n21;young;*\n22;old;*\n23;old;*\n24;old;*\n")
    return path

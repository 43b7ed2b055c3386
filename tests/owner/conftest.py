"""Small files that the command line is tried on."""

import pandas as pd
import pytest


@pytest.fixture
def people(tmp_path):
    """48 people: zip codes with leading zeros, a value "NA", a comma in a name of a column."""
    frame = pd.DataFrame({"name": [f"person {i}" for i in range(48)]})
    frame["age"] = 20 + frame.index % 5
    frame["sex"] = ["f", "m"] * 24
    frame["zip"] = ["02139", "02140", "00501"] * 16
    frame["income, monthly"] = [["1.50", "2.25", "10.00"][i // 3 % 3] for i in range(48)]
    frame["illness"] = ["flu", "cough", "gout", "mumps", "NA", "cold"] * 8
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


@pytest.fixture
def few(tmp_path):
    """Eight people of two illnesses, each had by four."""
    path = tmp_path / "few.csv"
    rows = [f"{20 + i // 4},{'fm'[i // 2 % 2]},{'ab'[i % 2]}" for i in range(8)]
    path.write_text("\n".join(["age,sex,illness", *rows]))
    return path


@pytest.fixture
def age_tree(tmp_path):
    """A hierarchy of the ages in ARX's format."""
    path = tmp_path / "age.csv"
    path.write_text("20;young;*\n21;young;*\n22;old;*\n23;old;*\n24;old;*\n")
    return path

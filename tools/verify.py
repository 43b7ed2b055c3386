"""Compare tables that were made here with the committed ones: verify.py COMMITTED HERE [PAPER].

A row, column or text more or less is a difference. Numbers may differ by a relative 1e-6, and
those that rest on trained models by about as much as seeds vary. Run times, which the manifest
names, are not compared. Of quick runs one file per notebook is committed: its tables one below
the other, named in the first column.
"""

import io
import sys
from pathlib import Path

import inputs
import pandas as pd

CLOSE = {"rtol": 1e-6, "atol": 1e-9}
LEARNT = ("majeed2024/", "beyond/risk_against_a_detector")  # notebooks that train models
TRAINED = {"rtol": 0.05, "atol": 0.05, "check_exact": False}
NAME = "saved as"  # the column of a table's name
TEXTS = {"dtype": str, "keep_default_na": False}


def main(committed: str, here: str, paper: str = "") -> int:
    """Compare two folders of results, and return 1 if anything is different or missing."""
    shares = inputs.known_shares(Path(here))
    made = {
        path: about | {"notebook": name}
        for name, share in shares.items()
        for path, about in share["outputs"].items()
        if path.endswith(".csv") and path.startswith(paper)
    }
    known = expected(Path(committed), paper)
    found = {
        path: difference(was, Path(here, path), made.get(path)) for path, was in known.items()
    }
    found |= {path: "is not committed" for path in made if path not in known}
    different = {path: said for path, said in sorted(found.items()) if said}
    for path, said in different.items():
        print(f"{path}: {said}")
    print(f"{here}: {len(different)} of {len(found)} tables differ from those expected")
    return int(bool(different))


def expected(folder: Path, paper: str) -> dict[str, pd.DataFrame]:
    """Return the committed tables of one paper or all, as texts, by paper and name."""
    files = folder.glob(f"{paper or '*'}/*.csv")
    if (folder / "manifest").is_dir():
        return {f"{path.parent.name}/{path.name}": pd.read_csv(path, **TEXTS) for path in files}
    return {
        f"{path.parent.name}/{name}.csv": part.drop(columns=NAME)
        for path in files
        for name, part in pd.read_csv(path, **TEXTS).groupby(NAME, sort=False)
    }


def stacked(results: Path, tables: list[str]) -> pd.DataFrame:
    """Return the tables of a notebook one below the other, as their files write them."""
    parts = [pd.read_csv(results / table, **TEXTS) for table in tables]
    named = [
        part.assign(**{NAME: Path(table).stem}) for part, table in zip(parts, tables, strict=True)
    ]
    return pd.concat(named).set_index(NAME).reset_index()


def difference(was: pd.DataFrame, file: Path, about: dict | None) -> str:
    """Return the first difference of a table and a file; nothing if they are the same."""
    if about is None or not file.exists():
        return "was not made here"
    was, now = (comparable(one, about["timing"]) for one in (was, pd.read_csv(file, **TEXTS)))
    tolerance = TRAINED if about["notebook"].startswith(LEARNT) else CLOSE
    try:
        pd.testing.assert_frame_equal(
            was, now, check_dtype=False, check_like=True, obj="table", **tolerance
        )
    except AssertionError as error:
        said = str(error).replace("[left]:", "committed").replace("[right]:", "here")
        return " ".join(said.split())
    return ""


def comparable(texts: pd.DataFrame, timing: bool | list[str]) -> pd.DataFrame:
    """Return a table with numbers, without empty columns, and nothing in place of run times."""
    table = pd.read_csv(io.StringIO(texts.to_csv(index=False))).dropna(axis="columns", how="all")
    columns = table.select_dtypes("float").columns if timing is True else timing or []
    return table.assign(**{name: 0.0 for name in columns if name in table})


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

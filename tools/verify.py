"""Compare tables that were made here with the committed ones: verify.py COMMITTED HERE [PAPER].

A row, column or text more or less is a difference. Numbers may differ by a relative 1e-6, and
those that rest on trained models by about as much as seeds vary. Run times, which the manifest
names, are not compared.
"""

import sys
from pathlib import Path

import inputs
import pandas as pd

CLOSE = {"rtol": 1e-6, "atol": 1e-9}
LEARNT = ("majeed2024/", "beyond/risk_against_a_detector")  # notebooks that train models
TRAINED = {"rtol": 0.05, "atol": 0.05, "check_exact": False}


def main(committed: str, here: str, paper: str = "") -> int:
    """Compare two folders of results, and return 1 if anything is different or missing."""
    tables = {
        path.relative_to(folder).as_posix()
        for folder in (committed, here)
        for path in Path(folder).glob(f"{paper or '*'}/*.csv")
        if path.parent.name not in ("manifest", "notebooks")
    }
    made = saved(here)
    found = {path: difference(path, Path(committed), Path(here), made) for path in tables}
    different = {path: told for path, told in sorted(found.items()) if told}
    for path, told in different.items():
        print(f"{path}: {told}")
    print(f"{here}: {len(different)} of {len(tables)} tables differ from those expected")
    return int(bool(different))


def saved(results: str | Path) -> dict[str, dict]:
    """Return what notebooks noted of the tables that they saved, and the notebooks' names."""
    shares = inputs.known_shares(Path(results)).items()
    return {
        path: about | {"notebook": name}
        for name, share in shares
        for path, about in share["outputs"].items()
    }


def difference(path: str, committed: Path, here: Path, made: dict[str, dict]) -> str:
    """Return the first difference of two csv files; nothing if they are the same."""
    if not (committed / path).exists():
        return "is not committed"
    if path not in made or not (here / path).exists():
        return "was not made here"
    was, now = (
        without_times(pd.read_csv(folder / path), made[path]["timing"])
        for folder in (committed, here)
    )
    tolerance = TRAINED if made[path]["notebook"].startswith(LEARNT) else CLOSE
    try:
        pd.testing.assert_frame_equal(was, now, check_dtype=False, obj="table", **tolerance)
    except AssertionError as error:
        told = str(error).replace("[left]:", "committed").replace("[right]:", "here")
        return " ".join(told.split())
    return ""


def without_times(table: pd.DataFrame, timing: bool | list[str]) -> pd.DataFrame:
    """Return a table with nothing in place of run times: in these columns, or all decimals."""
    columns = table.select_dtypes("float").columns if timing is True else timing or []
    return table.assign(**dict.fromkeys(columns, 0.0))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

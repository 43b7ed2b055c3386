"""Compare tables that were made here with the committed ones, number by number.

    verify.py                  figures/quick with figures/expected/quick
    verify.py --profile paper  run at the papers' sizes in build/verify, compare with figures/paper

A row, column or text more or less is a difference. Numbers may differ by a relative 1e-6, and
those that rest on trained models by about as much as seeds vary. Run times are
not compared.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import inputs
import pandas as pd

import notebooks

CLOSE = {"rtol": 1e-6, "atol": 1e-9}
LEARNT = ("majeed2024/", "beyond/risk_against_a_detector")  # notebooks that train models
TRAINED = {"rtol": 0.05, "atol": 0.05, "check_exact": False}


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, compare and return 1 if anything is different or missing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--paper", default="", help="a folder of notebooks/; all by default")
    parser.add_argument("--jobs", type=int, default=1, help="notebooks at a time")
    given = parser.parse_args(arguments)
    committed, here = inputs.reference(given.profile), inputs.FIGURES / given.profile
    failed = 0
    if committed == here:  # results that are committed stay as they are
        here = inputs.ROOT / "build" / "verify" / given.profile
        shutil.rmtree(here, ignore_errors=True)
        command = ["make", *filter(None, [given.paper]), "--profile", given.profile]
        failed = notebooks.main([*command, "--jobs", str(given.jobs), "--to", str(here)])
    tables = dict(inputs.tables_of(committed)) | dict(inputs.tables_of(here))
    tables = {path: about for path, about in tables.items() if path.startswith(given.paper)}
    found = {path: difference(committed / path, here / path, a) for path, a in tables.items()}
    different = {path: told for path, told in found.items() if told}
    for path, told in different.items():
        print(f"{path}: {told}")
    shown = here.relative_to(inputs.ROOT)
    print(f"{shown}: {len(different)} of {len(tables)} tables differ from those expected")
    return int(bool(different or failed))


def difference(committed: Path, here: Path, about: dict) -> str:
    """Return the first difference of two csv files; nothing if they are the same."""
    for file, told in ((committed, "is not committed"), (here, "was not made here")):
        if not file.exists():
            return told
    tolerance = TRAINED if about["notebook"].startswith(LEARNT) else CLOSE
    was, now = (without_times(pd.read_csv(file), about["timing"]) for file in (committed, here))
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
    sys.exit(main())

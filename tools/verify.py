"""Compare tables that were made here with the committed ones: verify.py COMMITTED HERE [PAPER].

A row, column or text more or less is a difference. Numbers may differ by a relative 1e-6, and
those of trained models by about as much as ten seeds vary. Run times, which the manifest names,
are not compared. Of quick runs one file is committed: the lines of each notebook's tables.
"""

import io
import json
import sys
from pathlib import Path

import pandas as pd

from anonpaper.compendium.tables import manifest

CLOSE = {"rtol": 1e-6, "atol": 1e-9}
LEARNT = ("majeed2024/", "beyond/risk_against_a_detector")  # notebooks that train models
TRAINED = {"rtol": 0.05, "atol": 0.05, "check_exact": False}
# its clusters depend on rounding: in ten seeds shares vary by 0.11, percentages of 50 by 13
CLUSTERED = "HyObscure"
TEN_SEEDS = {"rtol": 0.3, "atol": 0.12, "check_exact": False}


def main(committed: str, here: str, paper: str = "") -> int:
    """Compare two folders of results, and return 1 if anything is different or missing."""
    made = {path: about | {"notebook": name} for name, share in manifest(Path(here)).items()
            for path, about in share["outputs"].items() if path.endswith(".csv")}  # fmt: skip
    known = expected(Path(committed))
    names = [path for path in sorted({*known, *made}) if path.startswith(paper)]
    found = [difference(known.get(path), Path(here, path), made.get(path)) for path in names]
    for path, said in zip(names, found, strict=True):
        print(f"{path}: {said}\n" * bool(said), end="")
    print(f"{here}: {sum(map(bool, found))} of {len(found)} tables differ from those expected")
    return int(any(found))


def expected(place: Path) -> dict[str, str]:
    """Return the text of each committed table, by paper and name."""
    if place.is_dir():
        files = place.glob("*/*.csv")
        return {path.relative_to(place).as_posix(): path.read_text() for path in files}
    notebooks = json.loads(place.read_text()).values()
    return {path: "\n".join(lines) for of in notebooks for path, lines in of.items()}


def difference(was: str | None, file: Path, about: dict | None) -> str:
    """Return the first difference of a table and a file; nothing if they are the same."""
    if was is None or about is None or not file.exists():
        return "is not committed" if was is None else "was not made here"
    was, now = (comparable(text, about["timing"]) for text in (was, file.read_text()))
    learnt = about["notebook"].startswith(LEARNT)
    of_clusters = [table.get("method", table.index) == CLUSTERED for table in (was, now)]
    options = {"check_dtype": False, "check_like": True, "obj": "table"}
    try:
        for rows, close in ((False, TRAINED if learnt else CLOSE), (True, TEN_SEEDS)):
            parts = [t[of == rows] for t, of in zip((was, now), of_clusters, strict=True)]
            pd.testing.assert_frame_equal(*parts, **options, **close)
    except AssertionError as error:
        said = " ".join(str(error).split())
        what, _, numbers = said.partition(" [index]: ")
        return what + numbers[numbers.rfind(" At ") :] if numbers else said
    return ""


def comparable(text: str, timing: bool | list[str]) -> pd.DataFrame:
    """Return a table with numbers, without empty columns, and nothing in place of run times."""
    table = pd.read_csv(io.StringIO(text)).dropna(axis="columns", how="all")
    columns = table.select_dtypes("float").columns if timing is True else timing or []
    return table.assign(**{name: 0.0 for name in columns if name in table})


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

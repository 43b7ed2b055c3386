"""Compare results made again with the committed ones, number by number, for the Makefile.

    verify.py --profile paper --paper boger2020    run its notebooks in a scratch folder, compare
    verify.py --profile quick --made               compare what `make FRESH=yes` has made

Committed are figures/paper for the paper profile, and figures/expected/quick for the quick one.
Each notebook runs from an empty cache: no cell of a grid, no trained model and no kept run of
earlier counts as evidence. `--made` runs nothing. It takes figures/<profile>, if the present code
made all of it from an empty cache.

All csv files and the verdicts on the claims are compared. Another file, row, column, order or text
is a difference, and so is 1 for 1.0. Other parameters, data and captions count too, and a
committed file that its manifest does not describe. Numbers with a decimal point may differ by the
tolerance. The exit code is 1 if anything differs or is missing.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from inputs import (
    FIGURES, NOT_KEPT, NOTEBOOKS, ROOT, NotebookError, cells_of, known_shares, notebook_names,
    outputs_of, read_share, reference,
)  # fmt: skip
from report import write_verdicts

from anonpaper.files import sha256
from notebooks import Sizes, make

MAY_DIFFER = """
What may differ between machines, and why:
- seconds, and what is computed from them, in outputs that the manifest marks as timing: only the
  presence of a number is compared, and a verdict that depends on seconds is not counted;
- the last digits of numbers: numpy, BLAS and torch add in an order that depends on the processor;
- whole results of a model trained by torch (majeed2024): over thousands of steps a last digit
  grows into other synthetic rows. They count as different; look at the verdicts then;
- results of a search with a limit of seconds (DIVA, lower bounds of stars) on a slow machine;
- results of data that were not available, where a stand-in took their place."""
TOLERANCE = 1e-9  # largest relative difference of two numbers that count as the same
SMALL = 1e-3  # numbers below it count as that large: sums that should vanish leave last digits
SHOWN = 5  # differences of one file that are printed
NOTED_OF_OUTPUTS = ("kind", "of", "caption", "timing")
NOTED_OF_DATA = ("dataset", "sha256", "stand_in", "substitute_for", "rows", "qi", "sensitive")
NOT_COUNTED = " (timing: not counted)"
DECIMAL = re.compile(r"-?(\d+\.\d*(e[-+]?\d+)?|\d+e[-+]?\d+|inf)")

Found = Iterator[tuple[str, str]]  # file, and what is different in it


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, compare and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--paper", default="", help="a folder of notebooks/; all by default")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE)
    parser.add_argument("--jobs", type=int, default=1, help="notebooks at a time")
    parser.add_argument("--made", action="store_true", help="take what is in figures/<profile>")
    given = parser.parse_args(arguments)
    committed = reference(given.profile)
    scratch = ROOT / "build" / "verify" / given.profile
    here = FIGURES / given.profile if given.made else scratch
    failure = ""
    try:
        names = notebooks_with_results(given.paper)
        sizes = Sizes(given.profile, here, given.jobs, fresh=True)
        if given.made:
            check_made(names, sizes)
        else:
            shutil.rmtree(here, ignore_errors=True)
            make(names, sizes)
    except NotebookError as error:
        failure = f"verify: {error}"
        if given.made or not here.exists():  # nothing ran
            print(failure, file=sys.stderr)
            return 1
    print(f"\n{committed.relative_to(ROOT)} (committed) and {here.relative_to(ROOT)} (here), "
          f"tolerance {given.tolerance:g}{uncommitted(committed)}")  # fmt: skip
    names += [
        name
        for name in known_shares(committed)
        if given.paper in ("", name.partition("/")[0]) and name not in names
    ]
    found = [*compare_runs(names, committed, here)]
    found += compare_tables(names, committed, here, given.tolerance)
    found += compare_verdicts(names, committed, here)
    for file in dict.fromkeys(file for file, _ in found):
        ours = [told for other, told in found if other == file]
        print(f"{file}: {len(ours)} difference{'s' * (len(ours) > 1)}")
        print(*(f"  {told}" for told in ours[:SHOWN]), sep="\n")
    different = any(not told.endswith(NOT_COUNTED) for _, told in found)
    if different:
        print(MAY_DIFFER)
    if failure:
        print(failure, file=sys.stderr)
    print("verify: different" if different or failure else "verify: the same")
    return int(different or bool(failure))


def notebooks_with_results(folder: str) -> list[str]:
    """Return the notebooks whose code names Results, of one folder or of all."""
    found = [
        name
        for name in notebook_names()
        if folder in ("", name.partition("/")[0])
        and any(re.search(r"\bResults\b", "".join(cell["source"]))
                for cell in cells_of(NOTEBOOKS / f"{name}.ipynb"))
    ]  # fmt: skip
    if not found:
        raise NotebookError(f"no notebook with results in notebooks/{folder}")
    return found


def check_made(names: list[str], sizes: Sizes) -> None:
    """Raise NotebookError unless results are the present code's, from an empty cache."""
    shown = sizes.results.relative_to(ROOT)
    if sizes.results == reference(sizes.profile):
        raise NotebookError(f"{shown} is what is committed: leave out MADE")
    for name in names:
        if reasons := sizes.outdated(name):
            raise NotebookError(
                f"{shown}: {name} {reasons[0]}; run `make FRESH=yes PROFILE={sizes.profile}` "
                "first, or verify without MADE"
            )


def uncommitted(committed: Path) -> str:
    """Return a warning where git knows that the committed results were changed since."""
    command = ["git", "-C", str(ROOT), "status", "--porcelain", "--", str(committed)]
    number = len(subprocess.run(command, capture_output=True, text=True).stdout.splitlines())
    return f"\nnot as committed, by git: {number} files of the first" if number else ""


def compare_runs(names: list[str], committed: Path, here: Path) -> Found:
    """Compare what notebooks noted of their runs, and files with what is noted of them."""
    for name in names:
        sides = [read_share(name, folder) for folder in (committed, here)]
        if None in sides:
            was, now = ("missing" if share is None else "has run" for share in sides)
            yield f"notebooks/{name}.ipynb", f"run: committed {was}, here {now}"
            continue
        was, now = (share["parameters"] for share in sides)
        if was != now:
            yield f"notebooks/{name}.ipynb", f"parameters: committed {was}, here {now}"
        was, now = (share["outputs"] for share in sides)
        for path in sorted(path for path in was.keys() | now.keys() if path.endswith(".csv")):
            if path not in was or path not in now:
                yield path, f"manifest: {'not committed' if path in now else 'not here'}"
                continue
            for key in NOTED_OF_OUTPUTS:
                if was[path].get(key) != now[path].get(key):
                    yield path, f"{key}: committed {was[path].get(key)}, here {now[path].get(key)}"
            data = [
                [{key: about.get(key) for key in NOTED_OF_DATA} for about in side[path]["data"]]
                for side in (was, now)
            ]
            if data[0] != data[1]:
                yield path, f"data: committed {data[0]}, here {data[1]}"
        for path, about in was.items():
            if not (committed / path).exists():
                if not path.endswith((*NOT_KEPT, ".csv")):
                    yield path, "file: committed missing, here there"
            elif sha256((committed / path).read_bytes()) != about["sha256"]:
                yield path, "sha256 of the committed file is not the one in its manifest"


def compare_tables(names: list[str], committed: Path, here: Path, tolerance: float) -> Found:
    """Compare the csv files of notebooks, those noted and those that are there."""
    noted = {p: a for side in (committed, here) for n in names for p, a in outputs_of(n, side).items()}
    papers = {name.partition("/")[0] for name in names if "/" in name}
    lying = [(side, file) for side in (committed, here) for paper in papers
             for file in (side / paper).glob("*.csv")]  # fmt: skip
    paths = {*noted, *(file.relative_to(side).as_posix() for side, file in lying)}
    counts = Counter()
    for path in sorted(path for path in paths if path.endswith(".csv")):
        timing = noted.get(path, {}).get("timing", False)
        kind, told = compare_files(committed / path, here / path, timing, tolerance)
        counts[kind] += 1
        if told:
            yield path, told
    print(", ".join(f"{number} tables {kind}" for kind, number in sorted(counts.items())))


def compare_files(
    committed: Path, here: Path, timing: bool | list[str], tolerance: float
) -> tuple[str, str]:
    """Return how two csv files compare, and what the first difference is, if there is one."""
    if not (committed.exists() and here.exists()):
        was, now = ("there" if file.exists() else "missing" for file in (committed, here))
        return "different", f"file: committed {was}, here {now}"
    if committed.read_bytes() == here.read_bytes():
        return "the same but for seconds" if timing else "the same", ""
    was, now = parsed(committed, timing), parsed(here, timing)
    try:
        pd.testing.assert_frame_equal(
            was, now, check_dtype=False, check_exact=False, rtol=tolerance, atol=tolerance * SMALL
        )
    except AssertionError as error:
        return "different", readable(str(error))
    if not was.equals(now):
        return "within the tolerance", ""
    if timing:
        return "the same but for seconds", ""
    return "different", "file: committed written otherwise, here the same values"


def parsed(file: Path, timing: bool | list[str]) -> pd.DataFrame:
    """Return a csv file: numbers with a decimal point, and all else as text; no run times."""
    with file.open(newline="") as lines:
        header, *rows = csv.reader(lines)
    width = max(map(len, [header, *rows]))
    frame = pd.DataFrame([row + ["no cell"] * (width - len(row)) for row in rows], dtype=object)
    frame.columns = header + ["no column"] * (width - len(header))
    frame.index += 1

    def value(cell: str, is_time: bool) -> str | float:
        if not DECIMAL.fullmatch(cell):
            return cell
        return "a run time" if is_time else float(cell)

    for place, name in enumerate(frame.columns):
        is_time = name in timing if isinstance(timing, list) else timing
        values = [value(cell, is_time) for cell in frame.iloc[:, place]]
        frame.isetitem(place, pd.Series(values, frame.index, dtype=object))
    return frame


def readable(message: str) -> str:
    """Return what pandas says of two tables in one line."""
    column = re.search(r'column name="(.*?)"', message)
    first = re.search(r"positional index (\d+), first diff: (.*) != (.*)$", message)
    if column and first:
        return f"row {int(first[1]) + 1}, {column[1]}: committed {first[2]}, here {first[3]}"
    message = message.replace("[left]:", "committed").replace("[right]:", "here")
    return re.sub(r"\s+", " ", message)


def compare_verdicts(names: list[str], committed: Path, here: Path) -> Found:
    """Compare the committed verdicts on the papers' claims with those on the results here."""
    from anonpaper.compendium import judge

    write_verdicts(here)
    outputs = {path: about for name in names for path, about in outputs_of(name, here).items()}
    timed = {Path(path).stem for path, about in outputs.items() if about["timing"]}
    was, now = verdicts_in(committed), verdicts_in(here)
    for paper in sorted({name.partition("/")[0] for name in names}):
        on_times = {c.id for c in judge.of_paper(paper) if timed.intersection(c.tables)}
        for key in sorted(key for key in was.keys() | now.keys() if key[0] == paper):
            sides = [side.get(key, "missing") for side in (was, now)]
            if sides[0] != sides[1]:
                told = f"verdict: committed {sides[0]}, here {sides[1]}"
                yield f"claim {'/'.join(key)}", told + NOT_COUNTED * (key[1] in on_times)


def verdicts_in(folder: Path) -> dict[tuple[str, str], str]:
    """Return the verdict on each claim, by paper and claim."""
    file = folder / "verdicts.csv"
    rows = csv.DictReader(file.read_text().splitlines()) if file.exists() else []
    return {(row["paper"], row["id"]): row["verdict"] for row in rows}


if __name__ == "__main__":
    sys.exit(main())

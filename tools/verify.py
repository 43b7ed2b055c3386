"""Compare results made again with the committed ones, number by number, for the Makefile.

    verify.py --profile paper --paper boger2020    run its notebooks in a scratch folder, compare
    verify.py --profile quick --made               compare what `make FRESH=yes` has made
    verify.py --expected                           say whether figures/quick is as expected

Committed are figures/paper for the paper profile, and figures/expected/quick for the quick one.
Each notebook runs from an empty cache. `--made` runs nothing: it takes figures/<profile>, if the
present code made all of it from an empty cache. All csv files, what runs noted of them, and the
verdicts on the claims are compared. A file, row or column more or less, another order, 1 for 1.0
and another text are differences. Numbers with a decimal point may differ by the tolerance.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import inputs
import pandas as pd
from report import write_verdicts

from anonpaper.compendium import judge
from anonpaper.files import sha256
from notebooks import Sizes, make

MAY_DIFFER = """
What may differ between machines:
- seconds and what follows from them, which are not compared where the manifest marks them;
- last digits: numpy, BLAS and torch add in an order that depends on the processor;
- all that depends on a model trained by torch (majeed2024), since a last digit grows in training;
- what a search with a limit of seconds found on a slow machine, and results of stand-in data."""
TOLERANCE = 1e-9  # largest relative difference of two numbers that count as the same
SMALL = 1e-3  # numbers below it count as that large: sums that should vanish leave last digits
NOTED = ("kind", "of", "caption", "timing")
NOTED_OF_DATA = ("dataset", "sha256", "stand_in", "substitute_for", "rows", "qi", "sensitive")
NOT_COUNTED = " (timing: not counted)"
Found = Iterator[tuple[str, str]]  # a file, and what is different in it


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, compare and return 1 if anything is different or missing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--paper", default="", help="a folder of notebooks/; all by default")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE)
    parser.add_argument("--jobs", type=int, default=1, help="notebooks at a time")
    parser.add_argument("--made", action="store_true", help="take what is in figures/<profile>")
    parser.add_argument("--expected", action="store_true", help="figures/quick, in a line")
    given = parser.parse_args(arguments)
    if given.expected:
        return say_whether_expected()
    committed = inputs.reference(given.profile)
    place = "figures" if given.made else "build/verify"
    here, failure = inputs.ROOT / place / given.profile, ""
    try:
        sizes = Sizes(given.profile, here, given.jobs, fresh=True)
        names = saving_tables(committed, given.paper)
        there = sorted(names.intersection(inputs.notebook_names()))
        if not there:
            raise inputs.NotebookError(f"no committed tables of notebooks/{given.paper}")
        if given.made:
            check_made(there, sizes)
        else:
            shutil.rmtree(here, ignore_errors=True)
            make(there, sizes)
    except inputs.NotebookError as error:
        failure = f"verify: {error}"
        print(failure, file=sys.stderr)
        if given.made or not here.exists():  # nothing ran
            return 1
    both = f"{committed.relative_to(inputs.ROOT)} (committed) and {place}/{given.profile} (here)"
    print(f"\n{both}, tolerance {given.tolerance:g}")
    names = sorted(names | saving_tables(here, given.paper))
    found = [*compare_notes(names, committed, here)]
    found += compare_tables(names, committed, here, given.tolerance)
    for file in dict.fromkeys(file for file, _ in found):
        ours = [told for other, told in found if other == file]
        print(f"{file}: {len(ours)} difference{'s' * (len(ours) > 1)}")
        print(*(f"  {told}" for told in ours[:5]), sep="\n")
    different = any(not told.endswith(NOT_COUNTED) for _, told in found)
    print(*[MAY_DIFFER] * different, sep="\n")
    print("verify: different" if different or failure else "verify: the same")
    return int(different or bool(failure))


def say_whether_expected() -> int:
    """Print whether the quick tables that were made here are those expected; return 0."""
    committed, here = inputs.reference("quick"), inputs.FIGURES / "quick"
    names = [*inputs.known_shares(here)]
    expected, made = outputs_of(names, committed), outputs_of(names, here)
    tables = sorted(path for path in {*expected, *made} if path.endswith(".csv"))
    different = [path for path in tables if compare_files(
        committed / path, here / path, made.get(path, {}).get("timing", False), TOLERANCE
    )[0] == "different"]  # fmt: skip
    told = f"{len(different)} of {len(tables)} quick tables differ: {', '.join(different[:5])}"
    told += ", ..." * (len(different) > 5) + "; `make FRESH=yes && make verify MADE=yes` shows how"
    print(told if different else f"all {len(tables)} quick tables as expected")
    return 0


def saving_tables(results: Path, paper: str) -> set[str]:
    """Return the notebooks that saved tables there, of one folder or of all."""
    return {
        name for name, share in inputs.known_shares(results).items()
        if paper in ("", name.partition("/")[0])
        and any(path.endswith(".csv") for path in share["outputs"])
    }  # fmt: skip


def check_made(names: Sequence[str], sizes: Sizes) -> None:
    """Raise NotebookError unless results are the present code's, from an empty cache."""
    shown = sizes.results.relative_to(inputs.ROOT)
    if sizes.results == inputs.reference(sizes.profile):
        raise inputs.NotebookError(f"{shown} is what is committed: leave out MADE")
    for name in names:
        if reasons := sizes.outdated(name):
            command = f"run `make FRESH=yes PROFILE={sizes.profile}` first, or leave out MADE"
            raise inputs.NotebookError(f"{shown}: {name} {reasons[0]}; {command}")


def compare_notes(names: Sequence[str], committed: Path, here: Path) -> Found:
    """Yield, by file, what runs noted otherwise, and committed files that are not as noted."""
    write_verdicts(here)
    was, now = noted(names, committed), noted(names, here)
    for file, what in sorted(was.keys() | now.keys()):
        sides = [side.get((file, what), "missing") for side in (was, now)]
        whole = what in ("run", "manifest", "verdict") or "missing" not in sides
        if whole and sides[0] != sides[1]:
            seconds = now.get((file, "on seconds")) and what == "verdict"
            told = f"{what}: committed {sides[0]}, here {sides[1]}"
            yield file, told + NOT_COUNTED * bool(seconds)
    for path, about in outputs_of(names, committed).items():
        file = committed / path
        if file.exists() and sha256(file.read_bytes()) != about["sha256"]:
            yield path, "sha256 of the committed file is not the one in its manifest"
        elif not file.exists() and not path.endswith((*inputs.NOT_KEPT, ".csv")):
            yield path, "file: committed missing, here there"


def outputs_of(names: Sequence[str], folder: Path) -> dict[str, dict]:
    """Return what notebooks noted of their outputs."""
    return {p: about for n in names for p, about in inputs.outputs_of(n, folder).items()}


def noted(names: Sequence[str], folder: Path) -> dict[tuple[str, str], object]:
    """Return what is to be the same of runs, by file and what is noted; verdicts are among it."""
    found, outputs = {}, outputs_of(names, folder)
    for name in names:
        share, file = inputs.read_share(name, folder), f"notebooks/{name}.ipynb"
        if share is not None:
            found |= {(file, "run"): "has run", (file, "parameters"): share["parameters"]}
    for path, about in outputs.items():
        if path.endswith(".csv"):
            data = [{key: table.get(key) for key in NOTED_OF_DATA} for table in about["data"]]
            found |= {(path, "manifest"): "there", (path, "data"): data}
            found |= {(path, key): about.get(key) for key in NOTED}
    timed = {Path(path).stem for path, about in outputs.items() if about["timing"]}
    file = folder / "verdicts.csv"
    for row in csv.DictReader(file.read_text().splitlines()) if file.exists() else ():
        if row["paper"] in {name.partition("/")[0] for name in names}:
            found[f"claim {row['paper']}/{row['id']}", "verdict"] = row["verdict"]
    for paper in {name.partition("/")[0] for name in names}:
        for claim in judge.of_paper(paper):
            found[f"claim {paper}/{claim.id}", "on seconds"] = bool(timed & {*claim.tables})
    return found


def compare_tables(names: Sequence[str], committed: Path, here: Path, tolerance: float) -> Found:
    """Yield the first difference of each csv file, of those noted and those that are there."""
    noted = outputs_of(names, committed) | outputs_of(names, here)
    papers = {name.partition("/")[0] for name in names if "/" in name}
    lying = [f.relative_to(side).as_posix() for side in (committed, here) for paper in papers
             for f in (side / paper).glob("*.csv")]  # fmt: skip
    counts = Counter()
    for path in sorted(path for path in {*noted, *lying} if path.endswith(".csv")):
        timing = noted.get(path, {}).get("timing", False)
        kind, told = compare_files(committed / path, here / path, timing, tolerance)
        counts[kind] += 1
        if told:
            yield path, told
    print(", ".join(f"{number} tables {kind}" for kind, number in sorted(counts.items())))


def compare_files(committed: Path, here: Path, timing, tolerance: float) -> tuple[str, str]:
    """Return how two csv files compare, and what the first difference is, if there is one."""
    if not (committed.exists() and here.exists()):
        was, now = ("there" if file.exists() else "missing" for file in (committed, here))
        return "different", f"file: committed {was}, here {now}"
    was, now = parsed(committed, timing), parsed(here, timing)
    try:
        pd.testing.assert_frame_equal(
            was, now, check_dtype=False, check_exact=False, rtol=tolerance, atol=tolerance * SMALL
        )
    except AssertionError as error:
        return "different", readable(str(error))
    if not was.equals(now):
        return "within the tolerance", ""
    if not timing and committed.read_bytes() != here.read_bytes():
        return "different", "file: committed written otherwise, here the same values"
    return f"the same{' but for seconds' * bool(timing)}", ""


def parsed(file: Path, timing: bool | list[str]) -> pd.DataFrame:
    """Return a csv file as a table."""
    header, rows = inputs.values_of(file, timing)
    width = max(map(len, [header, *rows]))
    columns = header + ["no cell"] * (width - len(header))
    return pd.DataFrame(rows, range(1, len(rows) + 1), columns, dtype=object)


def readable(message: str) -> str:
    """Return what pandas says of two tables in one line."""
    column = re.search(r'column name="(.*?)"', message)
    first = re.search(r"positional index (\d+), first diff: (.*) != (.*)$", message)
    if column and first:
        return f"row {int(first[1]) + 1}, {column[1]}: committed {first[2]}, here {first[3]}"
    message = message.replace("[left]:", "committed").replace("[right]:", "here")
    return re.sub(r"\s+", " ", message)


if __name__ == "__main__":
    sys.exit(main())

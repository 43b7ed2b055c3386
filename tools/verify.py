"""Compare results made anew with the committed ones, number by number, for the Makefile.

    verify.py --profile paper --paper boger2020    run its notebooks in a scratch folder, compare
    verify.py --profile quick --made               compare what `make FRESH=yes` has made

Committed are figures/paper for the paper profile and, for quick, figures/expected/quick: the
tables behind the outputs that the notebooks are committed with. Each notebook runs from an empty
cache, so that no cell of a grid and no trained model of an earlier run counts as evidence; only
downloaded data files are used again, whose checksums are checked. `--made` runs nothing: it takes
figures/<profile>, provided that all of it was made by the present code from an empty cache.

Compared are all csv files, which hold the numbers of every table and figure, and the verdicts on
the claims. A file, row or column more or less, another order, another kind of value (1 for 1.0, a
number for none) and another text are differences; so are other parameters, other data, another
caption, and a committed file that is not the one its manifest describes. Numbers with a decimal
point may differ by the tolerance. The exit code is 1 if anything differs or is missing.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

from inputs import (
    FIGURES,
    NOT_KEPT,
    ROOT,
    NotebookError,
    changes,
    known_shares,
    notebook_names,
    parameters_of,
    read_share,
    reference,
    source_of,
)
from report import write_verdicts
from results import as_csv

from anonpaper.files import sha256
from notebooks import make, not_fresh

MAY_DIFFER = """\
What may differ between machines, and why:
- seconds and what is computed from them, in the outputs that the manifest marks as timing: there
  only the presence of a number is compared, and a verdict that rests on them is not counted;
- the last digits of numbers: numpy, BLAS and torch add in an order that depends on the processor.
  On one kind of processor, with the locked versions, all else is the same byte for byte;
- whole results that rest on a model trained by torch (majeed2024): over thousands of steps a last
  digit grows into other synthetic rows. They count as different; look at the verdicts then;
- what a search found that has a limit of seconds (DIVA, lower bounds of stars), where a machine is
  so slow that the search ends there;
- results of data that could not be had, for which a stand-in took the place."""
TOLERANCE = 1e-9
"""Largest relative difference of two numbers that count as the same."""
SMALL = 1e-3
"""Numbers below it count as that large: sums that should vanish leave some last digits."""
SHOWN = 5  # differences of one file on the screen; all of them are in differences.csv
NOTED_OF_OUTPUTS = ("kind", "of", "caption", "timing")
NOTED_OF_DATA = ("dataset", "sha256", "stand_in", "substitute_for", "rows", "qi", "sensitive")


@dataclass(frozen=True)
class Difference:
    """What is not as it was committed: where, and what stands on either side."""

    file: str
    row: int | str
    column: str
    committed: str
    here: str
    counts: bool = True

    def __str__(self):
        place = ", ".join([*([f"row {self.row}"] if self.row else []), self.column])
        return f"{place}: committed {self.committed}, here {self.here}"


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
    failure = ""
    try:
        names = notebooks_with_results(given.paper)
        if given.made:
            here = FIGURES / given.profile
            check_made(names, given.profile, here)
        else:
            here = scratch
            shutil.rmtree(here, ignore_errors=True)
            failure = run_anew(names, given.profile, here, given.jobs)
    except NotebookError as error:
        print(f"verify: {error}", file=sys.stderr)
        return 1
    print(
        f"\n{committed.relative_to(ROOT)} (committed) and {here.relative_to(ROOT)} (here), "
        f"tolerance {given.tolerance:g}{uncommitted(committed)}"
    )
    gone = [
        name
        for name in known_shares(committed)
        if given.paper in ("", name.partition("/")[0]) and name not in names
    ]
    differences = compare(names + gone, committed, here, given.tolerance)
    rows = [asdict(difference) for difference in differences]
    scratch.mkdir(parents=True, exist_ok=True)
    (scratch / "differences.csv").write_text(as_csv(rows, list(Difference.__annotations__)))
    different = any(difference.counts for difference in differences)
    if different:
        print(f"all differences: {scratch.relative_to(ROOT)}/differences.csv\n\n{MAY_DIFFER}")
    if failure:
        print(f"verify: {failure}", file=sys.stderr)
    print("verify: different" if different or failure else "verify: the same")
    return int(different or bool(failure))


# ---- the two sides ----------------------------------------------------------------------------


def notebooks_with_results(folder: str) -> list[str]:
    """Return the notebooks that save results, of one folder or of all."""
    found = [
        name
        for name in notebook_names()
        if folder in ("", name.partition("/")[0]) and saves_results(name)
    ]
    if not found:
        raise NotebookError(f"no notebook with results in notebooks/{folder}")
    return found


def saves_results(name: str) -> bool:
    """Return whether a notebook's code makes a Results, in whichever way."""
    cells = json.loads(source_of(name).read_text())["cells"]
    return any(
        re.search(r"\bResults\b", "".join(cell["source"]))
        for cell in cells
        if cell["cell_type"] == "code"
    )


def run_anew(names: list[str], profile: str, here: Path, jobs: int) -> str:
    """Run notebooks into a folder from an empty cache; return what went wrong, if anything."""
    try:
        make(names, profile, here, jobs, fresh=True)
    except NotebookError as error:
        if not here.exists():
            raise  # nothing ran: the profile is wrong
        return str(error)
    return ""


def check_made(names: list[str], profile: str, here: Path) -> None:
    """Raise NotebookError unless results are the present code's, from an empty cache."""
    if here == reference(profile):
        raise NotebookError(f"{here.relative_to(ROOT)} is what is committed: leave out MADE")
    parameters = parameters_of(profile)
    for name in names:
        reasons = changes(name, parameters[name], here) or not_fresh(name, here)
        if reasons:
            raise NotebookError(
                f"{here.relative_to(ROOT)}: {name} {reasons[0]}; run `make "
                f"FRESH=yes PROFILE={profile}` first, or verify without MADE"
            )


def uncommitted(committed: Path) -> str:
    """Return a warning where git knows that the committed results were changed since."""
    command = ["git", "-C", str(ROOT), "status", "--porcelain", "--", str(committed)]
    done = subprocess.run(command, capture_output=True, text=True)
    number = len(done.stdout.splitlines())
    return f"\nnot as committed, by git: {number} files of the first" if number else ""


# ---- comparing --------------------------------------------------------------------------------


def compare(names: list[str], committed: Path, here: Path, tolerance: float) -> list[Difference]:
    """Compare the results of notebooks and the verdicts on their papers; print what is found."""
    found = compare_runs(names, committed, here)
    marks = outputs_of(names, committed) | outputs_of(names, here)
    counts = Counter()
    for path in tables_of(names, committed, here):
        timing = marks.get(path, {}).get("timing", False)
        differences, deviation = compare_files(path, committed, here, timing, tolerance)
        kind = (
            "different"
            if differences
            else "within the tolerance"
            if deviation
            else "the same but for seconds"
            if timing
            else "the same"
        )
        counts[kind] += 1
        found += differences
    found += compare_verdicts(names, committed, here)
    show(found)
    print(", ".join(f"{number} tables {kind}" for kind, number in sorted(counts.items())))
    return found


def show(differences: list[Difference]) -> None:
    """Print differences by file, the first of each."""
    for file in dict.fromkeys(difference.file for difference in differences):
        ours = [difference for difference in differences if difference.file == file]
        print(f"{file}: {len(ours)} differences" if len(ours) > 1 else f"{file}: 1 difference")
        for difference in ours[:SHOWN]:
            print(f"  {difference}{'' if difference.counts else ' (timing: not counted)'}")


def outputs_of(names: list[str], results: Path) -> dict[str, dict]:
    """Return what the shares of notebooks say of their outputs."""
    shares = [read_share(name, results) or {"outputs": {}} for name in names]
    return {path: about for share in shares for path, about in share["outputs"].items()}


def tables_of(names: list[str], *folders: Path) -> list[str]:
    """Return the csv files of notebooks on either side: those noted, and those that are there."""
    noted = {path for folder in folders for path in outputs_of(names, folder)}
    lying = {
        path.relative_to(folder).as_posix()
        for folder in folders
        for paper in {name.partition("/")[0] for name in names if "/" in name}
        for path in (folder / paper).glob("*.csv")
    }
    return sorted(path for path in noted | lying if path.endswith(".csv"))


def compare_runs(names: list[str], committed: Path, here: Path) -> list[Difference]:
    """Compare what notebooks noted of their runs, and files with what is noted of them."""
    found = []
    for name in names:
        shares = [read_share(name, folder) for folder in (committed, here)]
        if None in shares:
            states = ["missing" if share is None else "has run" for share in shares]
            found.append(Difference(f"notebooks/{name}.ipynb", "", "run", *states))
            continue
        theirs, ours = shares
        found += differing(
            f"notebooks/{name}.ipynb",
            {"parameters": theirs["parameters"]},
            {"parameters": ours["parameters"]},
        )
        kept = {path for path in ours["outputs"] if path.endswith(".csv")}
        for path in sorted(kept | {path for path in theirs["outputs"] if path.endswith(".csv")}):
            sides = [share["outputs"].get(path) for share in shares]
            if None in sides:
                states = ["missing" if side is None else "there" for side in sides]
                found.append(Difference(path, "", "manifest", *states))
            else:
                found += differing(path, *map(described, sides))
        found += altered(theirs, committed)
    return found


def described(about: dict) -> dict:
    """Return what is to be the same of an output, apart from its numbers."""
    data = [{key: table.get(key) for key in NOTED_OF_DATA} for table in about["data"]]
    return {key: about.get(key) for key in NOTED_OF_OUTPUTS} | {"data": data}


def altered(share: dict, folder: Path) -> list[Difference]:
    """Return the files of a run that are gone or are not the ones that it wrote."""
    found = []
    for path, about in share["outputs"].items():
        file = folder / path
        if not file.exists():
            if not path.endswith((*NOT_KEPT, ".csv")):
                found.append(Difference(path, "", "file", "missing", "there"))
        elif sha256(file.read_bytes()) != about["sha256"]:
            found.append(
                Difference(
                    path,
                    "",
                    "sha256 of the committed file",
                    sha256(file.read_bytes())[:12],
                    f"{about['sha256'][:12]} in its manifest",
                )
            )
    return found


def differing(file: str, committed: dict, here: dict) -> list[Difference]:
    """Return the entries of two mappings that are not equal."""
    return [
        Difference(file, "", key, json.dumps(committed[key]), json.dumps(here[key]))
        for key in committed
        if committed[key] != here[key]
    ]


def compare_files(
    path: str, committed: Path, here: Path, timing: bool | list[str], tolerance: float
) -> tuple[list[Difference], float]:
    """Compare a csv file on both sides; see `compare_tables`."""
    files = [committed / path, here / path]
    if not all(file.exists() for file in files):
        states = ["there" if file.exists() else "missing" for file in files]
        return [Difference(path, "", "file", *states)], 0.0
    texts = [file.read_text() for file in files]
    found, deviation = compare_tables(path, *map(parsed, texts), timing, tolerance)
    if not found and not deviation and not timing and texts[0] != texts[1]:
        found = [Difference(path, "", "file", "written otherwise", "the same values")]
    return found, deviation


def parsed(text: str) -> list[list[str]]:
    """Return the rows of a csv file, its header first."""
    return list(csv.reader(text.splitlines(keepends=True)))


def compare_tables(
    path: str,
    committed: list[list[str]],
    here: list[list[str]],
    timing: bool | list[str],
    tolerance: float,
) -> tuple[list[Difference], float]:
    """Compare two tables cell by cell.

    Parameters
    ----------
    path : str
        For the differences.
    committed, here : list of rows
        The header first.
    timing : bool or list of str
        Columns of run times; true stands for all numbers with a decimal point.
    tolerance : float
        Largest relative difference of two numbers with a decimal point.

    Returns
    -------
    differences : list of Difference
    deviation : float
        The largest relative difference within the tolerance.
    """
    (header, *theirs), (other, *ours) = committed or [[]], here or [[]]
    if header != other:
        return [Difference(path, "", "columns", ", ".join(header), ", ".join(other))], 0.0
    found, deviation = [], 0.0
    if len(theirs) != len(ours):
        found.append(Difference(path, "", "number of rows", str(len(theirs)), str(len(ours))))
    for number, (left, right) in enumerate(zip_longest(theirs, ours, fillvalue=[]), start=1):
        for column, was, now in zip_longest(header, left, right, fillvalue="no cell"):
            off = distance(was, now)
            is_time = column in timing if isinstance(timing, list) else timing
            if is_time and {kind_of(was), kind_of(now)} == {"number"}:
                continue
            if off > tolerance:
                found.append(Difference(path, number, column, *told_apart(was, now)))
            else:
                deviation = max(deviation, off)
        if len(theirs) != len(ours) and found[1:]:
            break  # all that follows is shifted
    return found, deviation


def distance(was: str, now: str) -> float:
    """Return the relative difference of two cells: 0 of equal ones, infinite of other kinds."""
    if was == now:
        return 0.0
    if {kind_of(was), kind_of(now)} != {"number"}:
        return math.inf
    a, b = float(was), float(now)
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    return abs(a - b) / max(abs(a), abs(b), SMALL)


def kind_of(cell: str) -> str:
    """Return what a cell of a csv file holds; only `number`, with a decimal point, is inexact."""
    if not cell:
        return "nothing"
    if re.fullmatch(r"-?\d+", cell):
        return "whole number"
    if re.fullmatch(r"-?(\d+\.\d*(e[-+]?\d+)?|\d+e[-+]?\d+|inf)", cell):
        return "number"
    return "text"


def told_apart(was: str, now: str) -> tuple[str, str]:
    """Return two cells, with their kinds where these differ."""
    kinds = [kind_of(was), kind_of(now)]
    if kinds[0] == kinds[1]:
        return was, now
    return tuple(f"{cell} ({kind})".strip() for cell, kind in zip((was, now), kinds, strict=True))


def compare_verdicts(names: list[str], committed: Path, here: Path) -> list[Difference]:
    """Compare the committed verdicts on the papers' claims with those on the results here."""
    from anonpaper.compendium import judge

    write_verdicts(here)
    noted, judged = verdicts_in(committed), verdicts_in(here)
    marks = outputs_of(names, here)
    timed = {Path(path).stem for path, about in marks.items() if about["timing"]}
    found = []
    for paper in sorted({name.partition("/")[0] for name in names}):
        rest_on_times = {
            claim.id for claim in judge.of_paper(paper) if timed.intersection(claim.tables)
        }
        for claim in sorted({id for key, id in noted | judged if key == paper}):
            was, now = (side.get((paper, claim), "missing") for side in (noted, judged))
            if was != now:
                found.append(
                    Difference(
                        f"claim {paper}/{claim}",
                        "",
                        "verdict",
                        was,
                        now,
                        counts=claim not in rest_on_times,
                    )
                )
    return found


def verdicts_in(folder: Path) -> dict[tuple[str, str], str]:
    """Return the verdict on each claim, by paper and claim."""
    file = folder / "verdicts.csv"
    rows = csv.DictReader(file.read_text().splitlines()) if file.exists() else []
    return {(row["paper"], row["id"]): row["verdict"] for row in rows}


if __name__ == "__main__":
    sys.exit(main())

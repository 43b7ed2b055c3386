"""Run the notebooks, for the Makefile.

    notebooks.py plan [NAME ...] --profile quick    say what changed, and why it would run again
    notebooks.py make [NAME ...] --profile quick    what changed, into figures/<profile>
    notebooks.py run NAME --profile quick           one notebook, changed or not
    notebooks.py refresh [NAME ...]                 in place, outputs included

A notebook is named by its path in notebooks/ without the ending, e.g. xiao2010/1_example, and all
of a folder by the folder, e.g. xiao2010. As many run at a time as --jobs says, the longest first.
Each runs in a staging folder; what it wrote moves into place when all of it is there, its share of
the manifest last, so that a run that was cut off counts as not run.

`refresh` also puts the tables behind the outputs into figures/expected/quick, where `make verify`
finds them: what is committed is one run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import results as summaries
from inputs import (
    FETCHED,
    FIGURES,
    ROOT,
    NotebookError,
    changes,
    inputs_of,
    known_shares,
    notebook_names,
    opened_files,
    parameters_of,
    read_share,
    reference,
    share_file,
    snapshot,
    source_of,
)

from anonpaper.files import cache_folder, write_whole

# jsonschema, which nbformat and papermill import, builds a grammar of international addresses at
# every start, for seconds, unless there is no such module: no notebook is checked for addresses
sys.modules["rfc3987_syntax"] = None

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
QUIET_KERNEL = ["--log-level=50"]  # what goes wrong in a cell is reported by papermill
KEPT_CELL_METADATA = {"tags", "nbgrader"}
THREADS = ("MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, do what it asks and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for command in (commands.add_parser(name) for name in ("plan", "make", "refresh", *ONE)):
        command.add_argument("names", nargs="*", metavar="NAME")
        command.add_argument("--profile", default="quick")
        command.add_argument("--results", type=Path, help="figures/<profile> by default")
        command.add_argument("--jobs", type=int, default=1, help="notebooks at a time")
        command.add_argument("--fresh", action="store_true", help="from an empty cache")
    given = parser.parse_args(arguments)
    results = given.results or FIGURES / given.profile
    try:
        if given.command == "plan":
            plan(chosen(given.names), given.profile, results, fresh=given.fresh)
        elif given.command == "make":
            make(chosen(given.names), given.profile, results, given.jobs, fresh=given.fresh)
        elif given.command == "refresh":
            refresh(chosen(given.names), given.jobs)
        else:
            for name in given.names:
                ONE[given.command](name, given.profile, results, fresh=given.fresh)
    except NotebookError as error:
        print(f"{' '.join(given.names) or given.command}: {error}", file=sys.stderr)
        return 1
    return 0


def chosen(names: Sequence[str]) -> list[str]:
    """Return the notebooks that names or folders stand for; all of them by default."""
    known = notebook_names()
    found = [
        name for name in known if not names or name in names or name.partition("/")[0] in names
    ]
    strange = [
        name
        for name in names
        if name not in known and not any(other.startswith(f"{name}/") for other in known)
    ]
    if strange:
        raise NotebookError(
            f"no such notebook or folder: {', '.join(strange)}; there are {', '.join(known)}"
        )
    return found


def plan(names: Sequence[str], profile: str, results: Path, *, fresh: bool = False) -> list[str]:
    """Print which notebooks have to run again, and why; return them, the longest first."""
    parameters = parameters_of(profile)
    reasons = {
        name: changes(name, parameters[name], results) or not_fresh(name, results) * fresh
        for name in names
    }
    outdated = [name for name in names if reasons[name]]
    shown = results.relative_to(ROOT)
    if not outdated:
        print(f"{shown}: {len(names)} notebooks up to date, nothing to be done")
    else:
        print(f"{shown}: {len(outdated)} of {len(names)} notebooks to run", flush=True)
    for name in outdated:
        if reasons[name] != ["has not run"]:
            print(f"  {name}: {', '.join(reasons[name][:3])}", flush=True)
    return longest_first(outdated, reference("quick"), reference(profile), results)


def make(
    names: Sequence[str], profile: str, results: Path, jobs: int = 1, *, fresh: bool = False
) -> None:
    """Run the notebooks whose results are not up to date, and sum up what is there then.

    Parameters
    ----------
    names : sequence of str
    profile : str
    results : Path
        Where results go.
    jobs : int
        Notebooks at a time; with more than one, each computes with one process.
    fresh : bool
        Whether cells of grids and trained models of earlier runs are left aside. Results that
        were not made so are made again.

    Raises
    ------
    NotebookError
        If a notebook fails. The others run nevertheless.
    """
    outdated = plan(names, profile, results, fresh=fresh)
    flags = [f"--profile={profile}", f"--results={results}"]
    with tempfile.TemporaryDirectory() as scratch:
        environment = {}
        if fresh:
            environment["ANONPAPER_CACHE"] = str(empty_cache(Path(scratch)))
            flags.append("--fresh")
        try:
            side_by_side("run", outdated, flags, jobs, environment)
        finally:
            summaries.merge(results, profile)


def side_by_side(
    command: str,
    names: Sequence[str],
    flags: Sequence[str],
    jobs: int,
    environment: Mapping[str, str],
) -> None:
    """Run a command of this program for each notebook; raise NotebookError if one fails."""
    if jobs > 1:  # the notebooks share the cores: one process and one thread each
        environment = {**environment, **dict.fromkeys([*THREADS, "ANONPAPER_WORKERS"], "1")}

    def failing(name: str) -> str:
        done = subprocess.run(
            [sys.executable, __file__, command, name, *flags], env=os.environ | environment
        )
        return name if done.returncode else ""

    with ThreadPoolExecutor(max(jobs, 1)) as pool:
        failed = list(filter(None, pool.map(failing, names)))
    if failed:
        raise NotebookError(
            f"failed: {', '.join(sorted(failed))}; the causes are above, and the "
            "same command runs these again"
        )


def longest_first(names: Sequence[str], *results: Path) -> list[str]:
    """Return notebooks by the seconds of a run, of the last folder that has one; others first."""
    seconds = {
        name: share["seconds"]
        for folder in results
        for name, share in known_shares(folder).items()
    }
    return sorted(names, key=lambda name: -seconds.get(name, float("inf")))


def empty_cache(folder: Path) -> Path:
    """Make a cache that holds nothing but links to the downloaded data files."""
    for name in FETCHED:
        (cache_folder() / name).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to((cache_folder() / name).resolve())
    return folder


def not_fresh(name: str, results: Path) -> list[str]:
    """Return that a notebook's results may rest on an earlier run's, if they may."""
    return [] if read_share(name, results).get("fresh") else ["was not made from an empty cache"]


def run(name: str, profile: str, results: Path, *, fresh: bool = False) -> None:
    """Run one notebook with a profile and put what it wrote into the results."""
    parameters = parameters_of(profile)[name]
    share = execute(name, profile, parameters, results, fresh=fresh)
    print(progress_line(name, share["seconds"], share["outputs"]), flush=True)


def refresh(names: Sequence[str], jobs: int) -> None:
    """Run notebooks in place; the tables they save become those that `make verify` expects."""
    import report

    try:
        side_by_side("in-place", longest_first(names, reference("quick")), [], jobs, {})
    finally:
        report.write_verdicts(reference("quick"))


def run_in_place(name: str, *_, **__) -> None:
    """Run one notebook as it is, with the quick values of its parameters cell, in place."""
    with tempfile.TemporaryDirectory() as folder:
        share = execute(name, "quick", {}, Path(folder))
        write_whole(source_of(name), (Path(folder) / "notebooks" / f"{name}.ipynb").read_bytes())
        expect(name, share, Path(folder))
    print(f"{name:<44} {share['seconds']:7.1f} s   executed in place", flush=True)


def expect(name: str, share: dict, results: Path) -> None:
    """Put the tables of a notebook's run where those are that are committed for comparison."""
    expected = reference("quick")
    before = read_share(name, expected) or {"outputs": {}}
    tables = {path: about for path, about in share["outputs"].items() if path.endswith(".csv")}
    for path in set(before["outputs"]) - set(tables):
        (expected / path).unlink(missing_ok=True)
    for path in tables:
        write_whole(expected / path, (results / path).read_bytes())
    if tables:
        kept = {key: value for key, value in share.items() if key not in ("fresh", "inputs")}
        write_whole(
            share_file(name, expected), json.dumps(kept | {"outputs": tables}, indent=1) + "\n"
        )
    else:
        share_file(name, expected).unlink(missing_ok=True)


def execute(
    name: str, profile: str, parameters: dict, results: Path, *, fresh: bool = False
) -> dict:
    """Run one notebook, put what it wrote into the results and return its share."""
    import papermill
    from kernels import socket_kernel_manager
    from papermill.exceptions import PapermillExecutionError

    source = source_of(name)
    known = papermill.inspect_notebook(source)
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise NotebookError(
            f"the profile {profile} sets {', '.join(unknown)}, but the notebook's "
            f"parameters are {', '.join(known) or 'none (no cell is tagged `parameters`)'}"
        )
    staging = results / ".staging" / name
    shutil.rmtree(staging, ignore_errors=True)  # left behind by a run that was cut off
    opened = staging / ".opened"
    opened.mkdir(parents=True)
    executed = staging / "executed.ipynb"
    files = snapshot()  # before the run: an edit during it is a change
    set_environment(profile, staging, opened)
    began = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory() as sockets:
            papermill.execute_notebook(
                source,
                executed,
                parameters,
                kernel_name="python3",
                cwd=source.parent,
                progress_bar=False,
                extra_arguments=QUIET_KERNEL,
                kernel_manager_class=socket_kernel_manager(sockets),
            )
    except PapermillExecutionError as error:
        failed = FIGURES / profile / ".failed" / f"{name}.ipynb"
        write_whole(failed, executed.read_bytes())
        shutil.rmtree(staging)
        raise NotebookError(f"{error}\nfailed; see {failed.relative_to(ROOT)}") from None
    seconds = time.perf_counter() - began
    clean_file(executed)
    share = noted_share(name, staging, parameters, profile)
    dependencies = {path: files[path] for path in sorted(opened_files(opened)) if path in files}
    share |= {
        "seconds": round(seconds, 1),
        "fresh": fresh,
        "inputs": inputs_of(name, parameters, share, dependencies),
    }
    move_into_place(name, share, staging, results)
    return share


def set_environment(profile: str, figures: Path, opened: Path) -> None:
    """Tell the kernel, which inherits it, where results go and to keep its output the same.

    It also notes which files of the project it opens.
    """
    opener = str(Path(__file__).parent / "opened")
    on_path = [opener, *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ.update(
        ANONPAPER_FIGURES=str(figures),
        ANONPAPER_PROFILE=profile,
        PYTHONHASHSEED="0",
        TQDM_DISABLE="1",
        ANONPAPER_PROJECT=str(ROOT),
        ANONPAPER_OPENED=str(opened),
        PYTHONPATH=os.pathsep.join(on_path),
    )


def noted_share(name: str, staging: Path, parameters: dict, profile: str) -> dict:
    """Return what the notebook noted of its results; of one without results, that it ran."""
    written = list(known_shares(staging))
    if not written:
        return {
            "notebook": f"notebooks/{name}.ipynb",
            "profile": profile,
            "parameters": parameters,
            "outputs": {},
        }
    if written != [name]:
        raise NotebookError(
            f"Results(paper, notebook=...) says this is {' and '.join(sorted(written))}; "
            "give it the names of the notebook's folder and file"
        )
    return read_share(name, staging)


def move_into_place(name: str, share: dict, staging: Path, results: Path) -> None:
    """Put the notebook's results where they belong, replacing those of its last run."""
    before = (read_share(name, results) or {"outputs": {}})["outputs"]
    for other, theirs in known_shares(results).items():
        clash = set(share["outputs"]).intersection(theirs["outputs"])
        if clash and other != name:
            raise NotebookError(f"writes {min(clash)}, which {other} writes too")
    share_file(name, results).unlink(missing_ok=True)  # until all of it is in place
    moves = {output: output for output in share["outputs"]}
    for source, target in (moves | {"executed.ipynb": f"notebooks/{name}.ipynb"}).items():
        (results / target).parent.mkdir(parents=True, exist_ok=True)
        os.replace(staging / source, results / target)
    for output in set(before) - set(share["outputs"]):
        (results / output).unlink(missing_ok=True)
    write_whole(share_file(name, results), json.dumps(share, indent=1) + "\n")
    (results / ".failed" / f"{name}.ipynb").unlink(missing_ok=True)
    shutil.rmtree(staging)


def clean_file(path: Path) -> None:
    """Rewrite an executed notebook without what differs from run to run or machine to machine."""
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    clean(notebook)
    nbformat.validate(notebook)
    write_whole(path, nbformat.writes(notebook, indent=1, ensure_ascii=False).rstrip("\n") + "\n")


def clean(notebook) -> None:
    """Remove times, versions of the machine, papermill's notes and sliders; name injected cells.

    A slider is drawn by a page that can run it, and its picture stands in the cell before it.
    """
    from nbconvert.preprocessors.coalescestreams import CoalesceStreamsPreprocessor

    notebook.metadata = {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    notebook.nbformat_minor = 5
    CoalesceStreamsPreprocessor().preprocess(notebook, {})
    for number, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags", [])
        if "injected-parameters" in tags:
            cell["id"] = "injected-parameters"
        cell.setdefault("id", f"cell-{number}")
        if "slider" in tags:
            cell["outputs"] = []
        cell.metadata = {
            key: value
            for key, value in cell.metadata.items()
            if key in KEPT_CELL_METADATA and value
        }
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = {}


def progress_line(name: str, seconds: float, outputs: dict[str, dict]) -> str:
    """Return the line that says a notebook has run."""
    figures = sum(path.endswith(".svg") for path in outputs)
    tables = sum(path.endswith(".tex") for path in outputs)
    return f"{name:<44} {seconds:7.1f} s   {figures} figures, {tables} tables"


ONE = {"run": run, "in-place": run_in_place}  # what runs one notebook in a process of its own

if __name__ == "__main__":
    sys.exit(main())

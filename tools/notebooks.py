"""Run the notebooks, for the Makefile.

    notebooks.py make [NAME ...] --profile quick    those whose sources changed, to figures/quick
    notebooks.py refresh [NAME ...]                 in place, with what is expected of quick runs

A name is a path in notebooks/ without the ending, or a folder. Each notebook runs in a staging
folder. Its files move into place when all are there, its share of the manifest last.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import inputs
import joblib
import results as summaries

from anonpaper.compendium.edition import NO_RUN
from anonpaper.errors import AnonpaperError
from anonpaper.files import write_whole

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
THREADS = ("MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
REMADE = (".svg", ".tex")  # are not committed: results are up to date without them


@dataclass(frozen=True)
class Sizes:
    """How notebooks run, and where their results go."""

    profile: str
    results: Path
    jobs: int = 1

    def outdated(self, name: str) -> bool:
        """Return whether a notebook's results are missing, or made from other sources."""
        share = inputs.read_share(name, self.results)
        if share is None or share.get("sources") != self.sources(name):
            return True
        kept = [path for path in share["outputs"] if not path.endswith(REMADE)]
        return not all((self.results / path).exists() for path in kept)

    def sources(self, name: str) -> str:
        """Return the digest of a notebook's sources."""
        return inputs.sources_of(name, inputs.parameters_of(self.profile)[name])


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, do what it asks and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=("make", "refresh"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--jobs", type=int, default=1, help="notebooks at a time")
    parser.add_argument("--to", type=Path, help="the folder of results; figures/<profile>")
    given = parser.parse_args(arguments)
    sizes = Sizes(given.profile, given.to or inputs.FIGURES / given.profile, given.jobs)
    try:
        {"make": make, "refresh": refresh}[given.command](given.names, sizes)
    except AnonpaperError as error:
        print(f"{' '.join(given.names) or given.command}: {error}", file=sys.stderr)
        return 1
    return 0


def chosen(names: Sequence[str]) -> list[str]:
    """Return the notebooks that names or folders mean; all of them by default."""
    known = inputs.notebook_names()
    places = {name: {name, name.partition("/")[0]} for name in known}
    if strange := set(names).difference(*places.values()):
        told = f"no such notebook or folder: {', '.join(sorted(strange))}"
        raise inputs.NotebookError(f"{told}; there are {', '.join(known)}")
    return [name for name in known if not names or places[name].intersection(names)]


def make(names: Sequence[str], sizes: Sizes) -> None:
    """Run the notebooks whose results are not up to date.

    At larger sizes those that save no results are left out.
    """
    names = [name for name in chosen(names) if sizes.profile == "quick" or inputs.saves(name)]
    running = [name for name in names if sizes.outdated(name)]
    shown = sizes.results.relative_to(inputs.ROOT)
    print(f"{shown}: {len(running)} of {len(names)} notebooks to run", flush=True)
    try:
        side_by_side(run, running, sizes)
    finally:
        summaries.drop_orphans(sizes.results)


def side_by_side(task: Callable[[str, Sizes], str], names: Sequence[str], sizes: Sizes) -> None:
    """Do a task for each notebook, the longest first, each in a process if several at a time."""
    known = inputs.known_shares(inputs.reference(sizes.profile))
    seconds = {name: share["seconds"] for name, share in known.items()}
    ordered = sorted(names, key=lambda name: -seconds.get(name, float("inf")))
    pool = joblib.Parallel(sizes.jobs, backend="multiprocessing", batch_size=1)
    failed = pool(joblib.delayed(attempt)(task, name, sizes) for name in ordered)
    if any(failed):
        told = f"failed: {', '.join(sorted(filter(None, failed)))}; the causes are above"
        raise inputs.NotebookError(f"{told}, and the same command runs these again")


def attempt(task: Callable[[str, Sizes], str], name: str, sizes: Sizes) -> str:
    """Do a task and print what it says of itself; return the notebook's name if it fails."""
    try:
        print(task(name, sizes), flush=True)
    except Exception as error:  # the others run nevertheless
        told = str(error) if isinstance(error, inputs.NotebookError) else repr(error)
        print(f"{name}: {told}", file=sys.stderr, flush=True)
        return name
    return ""


def run(name: str, sizes: Sizes) -> str:
    """Run one notebook into the results; return a line about it."""
    share = execute(name, sizes, inputs.parameters_of(sizes.profile)[name])
    figures, tables = (sum(p.endswith(end) for p in share["outputs"]) for end in (".svg", ".tex"))
    return f"{name:<44} {share['seconds']:7.1f} s   {figures} figures, {tables} tables"


# ---- in place ---------------------------------------------------------------------------------


def refresh(names: Sequence[str], sizes: Sizes) -> None:
    """Run notebooks in place, where they show the paper edition; keep what quick runs give.

    Tables and outputs of the quick run become those that `make test` and `make verify` expect.
    """
    import report

    names = chosen(names)
    quick = Sizes("quick", inputs.FIGURES / "quick", sizes.jobs)
    try:  # each one, since an edit of claims changes outputs, but no tables
        side_by_side(run, names, quick)
        for name in names:
            expect(name, quick.results)
        side_by_side(run_in_place, names, quick)
    finally:
        report.write_verdicts(inputs.reference("quick"))


def expect(name: str, results: Path) -> None:
    """Keep the tables of a quick run, and its notebook with the outputs that are text.

    A notebook without tables is committed once: nbval compares it with its own outputs.
    """
    expected = inputs.reference("quick")
    share = inputs.read_share(name, results)
    tables = {path: a for path, a in share["outputs"].items() if path.endswith(".csv")}
    kept = {key: value for key, value in share.items() if key != "sources"}
    put(name, kept | {"outputs": tables}, results, expected, executed=False)
    if not tables:
        inputs.share_file(name, expected).unlink()
        return
    notebook = json.loads((results / "notebooks" / f"{name}.ipynb").read_text())
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for output in (output for cell in notebook["cells"] for output in cell["outputs"]):
        if "data" in output:
            output["data"] = {"text/plain": output["data"]["text/plain"]}
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    write_whole(expected / "notebooks" / f"{name}.ipynb", text + "\n")


def run_in_place(name: str, sizes: Sizes) -> str:
    """Run one notebook as it is, with the quick values of its parameters cell, in place."""
    with tempfile.TemporaryDirectory() as folder:
        here = Sizes("quick", Path(folder), sizes.jobs)
        share = execute(name, here, {}, show="paper")
        executed = (here.results / "notebooks" / f"{name}.ipynb").read_text("utf-8")
        write_whole(inputs.NOTEBOOKS / f"{name}.ipynb", of_the_edition(name, executed))
    return f"{name:<44} {share['seconds']:7.1f} s   executed in place"


def of_the_edition(name: str, executed: str) -> str:
    """Return an executed notebook; without results where nothing has run at paper size."""
    has_results = inputs.read_share(name, inputs.reference("quick")) is not None
    if not has_results or inputs.read_share(name, inputs.reference("paper")) is not None:
        return executed
    notebook = json.loads(executed)
    for cell in (cell for cell in notebook["cells"] if cell["cell_type"] == "code"):
        is_answer = "answer" in cell["metadata"].get("tags", ())
        data = {"text/markdown": NO_RUN, "text/plain": NO_RUN}
        told = {"output_type": "display_data", "metadata": {}, "data": data}
        cell |= {"execution_count": None, "outputs": [told] * is_answer}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


# ---- one notebook -----------------------------------------------------------------------------


def execute(name: str, sizes: Sizes, parameters: dict, show: str = "") -> dict:
    """Run one notebook, put what it wrote into the results and return its share."""
    staging = sizes.results / ".staging" / name
    shutil.rmtree(staging, ignore_errors=True)  # left behind by a run that was cut off
    executed = staging / "notebooks" / f"{name}.ipynb"
    executed.parent.mkdir(parents=True)
    sources, began = inputs.sources_of(name, parameters), time.perf_counter()
    environment = kernel_environment(sizes, staging) | {"ANONPAPER_SHOW": show}
    wrong = run_kernel(inputs.NOTEBOOKS / f"{name}.ipynb", executed, parameters, environment)
    seconds = time.perf_counter() - began
    failed = inputs.FIGURES / sizes.profile / ".failed" / f"{name}.ipynb"
    if wrong:
        write_whole(failed, executed.read_bytes())
        shutil.rmtree(staging)
        raise inputs.NotebookError(f"{wrong}\nfailed; see {failed.relative_to(inputs.ROOT)}")
    clean_file(executed)
    if strange := sorted(set(inputs.known_shares(staging)) - {name}):
        told = f"Results(paper, notebook=...) says this is {' and '.join(strange)}"
        raise inputs.NotebookError(f"{told}; give it the names of the notebook's folder and file")
    share = {"notebook": f"notebooks/{name}.ipynb", "profile": sizes.profile,
             "parameters": parameters, "outputs": {}}  # fmt: skip
    share |= inputs.read_share(name, staging) or {}
    share |= {"seconds": round(seconds, 1), "sources": sources}
    put(name, share, staging, sizes.results)
    failed.unlink(missing_ok=True)
    shutil.rmtree(staging)
    return share


def kernel_environment(sizes: Sizes, figures: Path) -> dict[str, str]:
    """Return what tells a kernel where results go, and how much of the machine it may use."""
    found = {
        "ANONPAPER_FIGURES": str(figures),
        "ANONPAPER_PROFILE": sizes.profile,
        "PYTHONHASHSEED": "0",
        "TQDM_DISABLE": "1",
        # pymoo sorts by numpy's quicksort, which orders ties in another way with AVX-512
        "NPY_DISABLE_CPU_FEATURES": "X86_V4",
    }
    if sizes.jobs > 1:  # the notebooks share the cores: one process and one thread each
        found |= dict.fromkeys([*THREADS, "ANONPAPER_WORKERS"], "1")
    return found


def run_kernel(source: Path, target: Path, parameters: dict, environment: dict) -> str:
    """Execute a notebook in a kernel of its own; return the error of a cell, if there is one."""
    import papermill
    from kernels import socket_kernel_manager

    with tempfile.TemporaryDirectory() as sockets:
        options = {
            "kernel_name": "python3",
            "kernel_manager_class": socket_kernel_manager(sockets, environment),
            "extra_arguments": ["--log-level=50"],  # papermill reports what goes wrong in a cell
            "progress_bar": False,
        }
        try:
            papermill.execute_notebook(source, target, parameters, cwd=source.parent, **options)
        except papermill.PapermillExecutionError as error:
            return str(error)
    return ""


def put(name: str, share: dict, source: Path, target: Path, *, executed: bool = True) -> None:
    """Copy what a run left from one folder to another, its share last, over an older run."""
    before = inputs.outputs_of(name, target)
    inputs.share_file(name, target).unlink(missing_ok=True)  # until all of it is in place
    for path in [*share["outputs"], *[f"notebooks/{name}.ipynb"] * executed]:
        write_whole(target / path, (source / path).read_bytes())
    for path in set(before) - set(share["outputs"]):
        (target / path).unlink(missing_ok=True)
    write_whole(inputs.share_file(name, target), json.dumps(share, indent=1) + "\n")


def clean_file(path: Path) -> None:
    """Rewrite an executed notebook without what differs from run to run or machine to machine."""
    import nbformat
    from nbconvert.preprocessors.coalescestreams import CoalesceStreamsPreprocessor

    notebook = nbformat.read(path, as_version=4)
    for number, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags", [])
        cell.setdefault("id", f"cell-{number}")
        if "injected-parameters" in tags:
            cell["id"] = "injected-parameters"
        kept = {key: cell.metadata.get(key) for key in ("nbgrader", "tags")}
        cell.metadata = {key: value for key, value in kept.items() if value}
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = {}
    CoalesceStreamsPreprocessor().preprocess(notebook, {})
    notebook.metadata = {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    notebook.nbformat_minor = 5
    nbformat.validate(notebook)
    write_whole(path, nbformat.writes(notebook, indent=1, ensure_ascii=False).rstrip("\n") + "\n")


if __name__ == "__main__":
    sys.exit(main())

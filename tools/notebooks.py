"""Run the notebooks, for the Makefile.

    notebooks.py plan [NAME ...] --profile quick    say what changed, and why it would run again
    notebooks.py make [NAME ...] --profile quick    what changed, into figures/<profile>
    notebooks.py refresh [NAME ...]                 in place, outputs included
    notebooks.py figure boger2020/group_sizes       its notebook; its files and verdicts
    notebooks.py claim boger2020/equal-sizes        judge it from the tables in figures/<profile>

A name is a path in notebooks/ without the ending, or a folder. Each notebook runs in a staging
folder. Its files move into place when all are there, its share of the manifest last. The newest
run of each notebook and profile is kept in data/cache/runs and used while its inputs are the same.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import shutil
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import inputs
import joblib
import results as summaries

from anonpaper.compendium.edition import NO_RUN
from anonpaper.errors import AnonpaperError
from anonpaper.files import cache_folder, sha256, write_whole

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
SHOWN = "where claim how published measured interval tolerance detail differs reason".split()
THREADS = ("MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
# ties of numpy's quicksort and last digits are those of a processor without AVX-512 then
SAME_WITHOUT_AVX512 = {"NPY_DISABLE_CPU_FEATURES": "X86_V4", "OPENBLAS_CORETYPE": "Haswell"}


@dataclass(frozen=True)
class Sizes:
    """How notebooks run, and where their results go; files as they were before the run."""

    profile: str
    results: Path
    jobs: int = 1
    fresh: bool = False
    cache: str = ""  # in place of the user's, if not empty
    files: dict[str, str] = field(default_factory=inputs.snapshot)

    @cached_property
    def parameters(self) -> dict[str, dict]:
        """The parameters that the profile sets, by notebook."""
        return inputs.parameters_of(self.profile)

    def outdated(self, name: str, results: Path | None = None) -> list[str]:
        """Return why a notebook has to run, also where its results may rest on older ones."""
        results = results or self.results
        given = name, self.parameters[name], results, self.files
        reasons = inputs.changes(*given)
        if reasons and self.profile != "quick":
            reasons = inputs.changes(*given, self.quick_tables(name))
        older = self.fresh and not reasons and not inputs.read_share(name, results).get("fresh")
        return reasons + ["was not made from an empty cache"] * older

    @cached_property
    def quick(self) -> Sizes:
        """The same code at quick sizes."""
        return replace(self, profile="quick", results=inputs.FIGURES / "quick", fresh=False)

    def quick_tables(self, name: str) -> dict[str, str]:
        """Return digests of the tables of a quick run of this code, or else of the committed."""
        has_run = not self.quick.outdated(name)
        return inputs.quick_tables(
            name, self.quick.results if has_run else inputs.reference("quick")
        )

    def unsure(self, names: Sequence[str]) -> list[str]:
        """Return the notebooks with other code, of which no quick run says what that changes."""
        if self.profile == "quick" or self.fresh:
            return []
        known = inputs.known_shares(self.results)
        return [
            name for name in names
            if "quick" in known.get(name, ()) and self.quick.outdated(name)
            and inputs.changes(name, self.parameters[name], self.results, self.files)
        ]  # fmt: skip

    @property
    def kept(self) -> Path:
        """The folder of the runs that are kept, laid out as the results are."""
        return cache_folder() / "runs" / self.profile


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, do what it asks and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--jobs", type=int, default=1, help="notebooks at a time")
    parser.add_argument("--fresh", action="store_true", help="from an empty cache")
    given = parser.parse_args(arguments)
    try:
        sizes = Sizes(given.profile, inputs.FIGURES / given.profile, given.jobs, given.fresh)
        COMMANDS[given.command](given.names, sizes)
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


def with_results(names: Sequence[str], sizes: Sizes) -> list[str]:
    """Return the chosen notebooks; at larger sizes without those that save no results."""
    return [name for name in chosen(names) if sizes.profile == "quick" or inputs.saves(name)]


# ---- what runs, and when ----------------------------------------------------------------------


def plan(names: Sequence[str], sizes: Sizes) -> tuple[list[str], list[str]]:
    """Print what has to run again, and why.

    Returns the notebooks to run, the longest first, and those that the cache has.
    """
    names, shown = with_results(names, sizes), sizes.results.relative_to(inputs.ROOT)
    reasons = {name: sizes.outdated(name) for name in names}
    kept = [name for name in names if reasons[name] and not sizes.fresh and is_kept(name, sizes)]
    running = [name for name in names if reasons[name] and name not in kept]
    told = f"{len(running)} of {len(names)} notebooks to run"
    if not running:
        told = f"{len(names) - len(kept)} notebooks up to date, nothing to be done"
    if kept:
        told += f", {len(kept)} taken from the cache"
    print(f"{shown}: {told}", flush=True)
    for name in running:
        if reasons[name] != ["has not run"]:
            print(f"  {name}: {', '.join(reasons[name][:3])}", flush=True)
    if unsure := sizes.unsure([name for name in names if not reasons[name]]):
        print(f"  {len(unsure)} of other code are judged by figures/expected/quick: "
              "`make` compares quick runs first", flush=True)  # fmt: skip
    return longest_first(running, sizes), kept


def make(names: Sequence[str], sizes: Sizes) -> None:
    """Run the notebooks whose results are not up to date, and sum up what is there then.

    At larger sizes quick runs come first, where these can show that other code changes nothing.
    """
    if unsure := sizes.unsure(chosen(names)):
        make(unsure, sizes.quick)
    running, kept = plan(names, sizes)
    for name in kept:
        put(name, inputs.read_share(name, sizes.kept), sizes.kept, sizes.results)
    try:
        side_by_side(run, running, sizes)
    finally:
        for folder in (sizes.results, sizes.kept):
            summaries.drop_orphans(folder)


def side_by_side(task: Callable[[str, Sizes], str], names: Sequence[str], sizes: Sizes) -> None:
    """Do a task for each notebook, in processes of their own if several at a time."""
    pool = joblib.Parallel(sizes.jobs, backend="multiprocessing", batch_size=1)
    with tempfile.TemporaryDirectory() as cache:
        if sizes.fresh:
            sizes = replace(sizes, cache=cache)
            for folder in inputs.FETCHED:  # downloaded files, whose checksums are checked
                (cache_folder() / folder).mkdir(parents=True, exist_ok=True)
                Path(cache, folder).symlink_to((cache_folder() / folder).resolve())
        failed = pool(joblib.delayed(attempt)(task, name, sizes) for name in names)
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


def longest_first(names: Sequence[str], sizes: Sizes) -> list[str]:
    """Return notebooks by the seconds of a run, of the last folder that has one; others first."""
    committed = inputs.reference("quick"), inputs.reference(sizes.profile)
    seconds = {
        name: share["seconds"]
        for folder in (*committed, sizes.kept, sizes.results)
        for name, share in inputs.known_shares(folder).items()
    }
    return sorted(names, key=lambda name: -seconds.get(name, float("inf")))


def is_kept(name: str, sizes: Sizes) -> bool:
    """Return whether the cache has a notebook's results, whole and with the same inputs."""
    return not sizes.outdated(name, sizes.kept) and all(
        (file := sizes.kept / path).exists() and sha256(file.read_bytes()) == about["sha256"]
        for path, about in inputs.outputs_of(name, sizes.kept).items()
    )


def run(name: str, sizes: Sizes) -> str:
    """Run one notebook into the results, and keep the run; return a line about it."""
    share = execute(name, sizes, sizes.parameters[name])
    put(name, share, sizes.results, sizes.kept)
    figures, tables = (sum(p.endswith(end) for p in share["outputs"]) for end in (".svg", ".tex"))
    return f"{name:<44} {share['seconds']:7.1f} s   {figures} figures, {tables} tables"


# ---- in place ---------------------------------------------------------------------------------


def refresh(names: Sequence[str], sizes: Sizes) -> None:
    """Run notebooks in place, where they show the paper edition; keep what quick runs give.

    Tables and outputs of the quick run become those that `make verify` and nbval expect.
    """
    import report

    names = chosen(names)
    quick = replace(sizes.quick, fresh=sizes.fresh)
    try:  # each one, since an edit of claims changes outputs, but no tables
        side_by_side(run, longest_first(names, quick), quick)
        for name in names:
            expect(name, quick.results)
        side_by_side(run_in_place, longest_first(names, sizes), sizes)
    finally:
        report.write_verdicts(inputs.reference("quick"))


def expect(name: str, results: Path) -> None:
    """Keep the tables of a quick run, and its notebook with the outputs that are text."""
    expected = inputs.reference("quick")
    share = inputs.read_share(name, results)
    tables = {path: a for path, a in share["outputs"].items() if path.endswith(".csv")}
    kept = {key: value for key, value in share.items() if key not in ("fresh", "inputs")}
    put(name, kept | {"outputs": tables}, results, expected, executed=False)
    if not tables:
        inputs.share_file(name, expected).unlink()
    notebook = json.loads((results / "notebooks" / f"{name}.ipynb").read_text())
    notebook["cells"] = texts_of(notebook["cells"])
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    write_whole(expected / "notebooks" / f"{name}.ipynb", text + "\n")


def texts_of(cells: Sequence[dict]) -> list[dict]:
    """Return the code cells with the outputs that are text: nbval compares nothing else."""
    cells = [cell for cell in cells if cell["cell_type"] == "code"]
    for output in (output for cell in cells for output in cell["outputs"]):
        if "data" in output:
            output["data"] = {"text/plain": output["data"]["text/plain"]}
    return cells


def run_in_place(name: str, sizes: Sizes) -> str:
    """Run one notebook as it is, with the quick values of its parameters cell, in place."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        share = execute(name, replace(sizes.quick, results=here), {}, show="paper")
        executed = (here / "notebooks" / f"{name}.ipynb").read_text("utf-8")
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
    import papermill

    source = inputs.NOTEBOOKS / f"{name}.ipynb"
    known = papermill.inspect_notebook(source)
    if unknown := sorted(set(parameters) - set(known)):
        told = ", ".join(known) or "none (no cell is tagged `parameters`)"
        told = f"sets {', '.join(unknown)}, but the notebook's parameters are {told}"
        raise inputs.NotebookError(f"the profile {sizes.profile} {told}")
    staging = sizes.results / ".staging" / name
    shutil.rmtree(staging, ignore_errors=True)  # left behind by a run that was cut off
    executed, opened = staging / "notebooks" / f"{name}.ipynb", staging / ".opened"
    executed.parent.mkdir(parents=True)
    opened.mkdir()
    began = time.perf_counter()
    environment = kernel_environment(sizes, staging, opened) | {"ANONPAPER_SHOW": show}
    wrong = run_kernel(source, executed, parameters, environment)
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
    share |= {"seconds": round(seconds, 1), "fresh": sizes.fresh}
    files = inputs.opened_files(opened)
    if sizes.profile != "quick":  # the edition cannot depend on itself
        files = {file for file in files if not file.startswith("figures/")}
    share["inputs"] = inputs.inputs_of(name, parameters, share, files, sizes.files)
    if sizes.profile != "quick" and (quick := sizes.quick_tables(name)):
        share["quick"] = quick
    for other, theirs in inputs.known_shares(sizes.results).items():
        if other != name and (clash := set(share["outputs"]).intersection(theirs["outputs"])):
            raise inputs.NotebookError(f"writes {min(clash)}, which {other} writes too")
    put(name, share, staging, sizes.results)
    failed.unlink(missing_ok=True)
    shutil.rmtree(staging)
    return share


def kernel_environment(sizes: Sizes, figures: Path, opened: Path) -> dict[str, str]:
    """Return what tells a kernel where results go and which files it opens to be noted."""
    path = [str(Path(__file__).parent / "opened"), os.environ.get("PYTHONPATH")]
    found = {
        "ANONPAPER_FIGURES": str(figures),
        "ANONPAPER_PROFILE": sizes.profile,
        "ANONPAPER_PROJECT": str(inputs.ROOT),
        "ANONPAPER_OPENED": str(opened),
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "TQDM_DISABLE": "1",
    } | SAME_WITHOUT_AVX512
    if sizes.cache:
        found["ANONPAPER_CACHE"] = sizes.cache
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


# ---- one figure, one claim --------------------------------------------------------------------


def make_figure(names: Sequence[str], sizes: Sizes) -> None:
    """Run the notebook that saves an output; print where it is and what it says of the claims."""
    from anonpaper.compendium import judge

    folders = (inputs.reference("quick"), inputs.reference("paper"), sizes.results)
    shares = [(name, s) for folder in folders for name, s in inputs.known_shares(folder).items()]
    homes = {path.rpartition(".")[0]: name for name, s in shares for path in s["outputs"]}
    home = found(names[0], homes, "figure or table")
    paper, _, table = names[0].partition("/")
    side_by_side(run, [home], sizes)
    for path in sorted((sizes.results / paper).glob(f"{table}.*")):
        print(f"  {path.relative_to(inputs.ROOT)}")
    claims = [claim for claim in judge.of_paper(paper) if table in claim.tables]
    show_claims([f"{paper}/{claim.id}" for claim in claims], sizes)


def show_claims(names: Sequence[str], sizes: Sizes) -> None:
    """Print what claims say, what was measured, and the verdicts."""
    from anonpaper.compendium import intervals, judge, papers
    from anonpaper.compendium.catalogue import asked

    claims = [claim for paper in (*papers(), *asked()) for claim in judge.of_paper(paper)]
    known = {f"{claim.paper}/{claim.id}": claim for claim in claims}
    for name in names:
        claim = found(name, known, "claim")
        judged = judge.judge(claim.paper, sizes.results / claim.paper)
        row = judged.set_index("id").loc[claim.id]
        if row["verdict"] == intervals.NOT_RUN:
            raise inputs.NotebookError(
                f"{row['reason']} in figures/{sizes.profile}; run `make figure "
                f"PROFILE={sizes.profile} NAME={claim.paper}/{claim.tables[0]}` first"
            )
        print(f"\n{name}: {row['verdict']} ({sizes.profile} profile)")
        for key in filter(lambda key: row[key], SHOWN):
            line = f"  {key + ':':<11}{row[key]}"
            print(textwrap.fill(line, 99, subsequent_indent=" " * 13))


def found(name: str, known: Mapping[str, object], kind: str):
    """Return what has a name, or raise NotebookError with names that are like it."""
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, 5, 0.4)
    ours = [other for other in known if other.partition("/")[0] == name.partition("/")[0]]
    raise inputs.NotebookError(
        f"no such {kind}; there are {', '.join(close or sorted(ours or known))}"
    )


COMMANDS = {
    "plan": plan, "make": make, "refresh": refresh, "figure": make_figure, "claim": show_claims
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())

"""Run one notebook, for the Makefile.

    notebooks.py run PAPER/NAME [--profile PROFILE] [--to FOLDER]   into figures/<profile>
    notebooks.py refresh PAPER/NAME    in place, and its quick tables into figures/expected.json

The executed notebook is written last, so that it says that all results are there. At quick sizes
it shows the results of the paper edition, as the committed notebook does.
"""

import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import inputs
import nbformat
import papermill
import typer
import yaml
from jupyter_client.manager import AsyncKernelManager
from nbconvert.preprocessors.coalescestreams import CoalesceStreamsPreprocessor
from papermill.execute import ERROR_MARKER_TAG

from anonpaper.compendium.tables import manifest, put_entry

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def main(command: str, name: str, profile: str = "quick", to: Path | None = None) -> None:
    """Run a notebook, PAPER/NAME, or refresh it."""
    results, committed = to or inputs.FIGURES / profile, inputs.NOTEBOOKS / f"{name}.ipynb"
    executed, began = inputs.ROOT / "build" / "failed" / f"{name}.ipynb", time.perf_counter()
    try:
        execute(name, profile, results.resolve(), executed)
    except papermill.PapermillExecutionError as error:
        sys.exit(f"{name}: {error}\nsee {executed}")
    seconds = round(time.perf_counter() - began, 1)
    clean(executed)
    share = manifest(results).get(name)
    if share:
        put_entry(results / "manifest.json", name, share | {"seconds": seconds})
    if command == "refresh":
        shutil.copyfile(executed, committed)
        if share:
            tables = [path for path in share["outputs"] if path.endswith(".csv")]
            lines = {path: (results / path).read_text().split("\n") for path in tables}
            put_entry(inputs.FIGURES / "expected.json", name, lines)
    target = results / "notebooks" / f"{name}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(executed, target)
    os.utime(target)
    print(f"{name:<44} {seconds:7.1f} s")


def execute(name: str, profile: str, results: Path, target: Path) -> None:
    """Run a notebook with the values that a profile sets; the results go to a folder."""
    source, parameters = inputs.NOTEBOOKS / f"{name}.ipynb", {}
    if profile != "quick":  # its cells hold those of quick runs
        sections = source.parent / "profiles" / f"{profile}.yaml"
        text = re.sub(r"(\d+)\.\.(\d+)", _counted, sections.read_text())
        parameters = yaml.safe_load(text)[source.stem] or {}
    os.environ |= {
        "ANONPAPER_FIGURES": str(results),
        "ANONPAPER_PROFILE": profile,
        "ANONPAPER_SHOW": "paper" if profile == "quick" else "",
        "PYTHONHASHSEED": "0",
        "TQDM_DISABLE": "1",
        # pymoo sorts by numpy's quicksort, which orders ties in another way with AVX-512
        "NPY_DISABLE_CPU_FEATURES": "X86_V4",
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as sockets:

        class SocketKernelManager(AsyncKernelManager):
            """Talks through files: kernels started side by side can be given the same port."""

            transport = "ipc"
            ip = str(Path(sockets, "kernel"))

        try:
            papermill.execute_notebook(
                source,
                target,
                parameters,
                cwd=source.parent,
                kernel_name="python3",
                kernel_manager_class=SocketKernelManager,
                extra_arguments=["--log-level=50"],  # papermill reports what goes wrong in a cell
                progress_bar=False,
            )
        except papermill.PapermillExecutionError:
            notebook = nbformat.read(target, as_version=4)
            notebook.cells = [c for c in notebook.cells if ERROR_MARKER_TAG not in _tags(c)]
            # self-checks of lessons raise errors until there is an answer
            for cell in notebook.cells:
                kinds = {output.output_type for output in cell.get("outputs", [])}
                if "error" in kinds and "raises-exception" not in _tags(cell):
                    raise
            nbformat.write(notebook, target)


def _tags(cell) -> list[str]:
    """Return the tags of a cell."""
    return cell.metadata.get("tags", [])


def _counted(ends: re.Match) -> str:
    """Return the whole numbers from one to another, both included: "0..3" is "0, 1, 2, 3"."""
    return ", ".join(map(str, range(int(ends[1]), int(ends[2]) + 1)))


def clean(path: Path) -> None:
    """Rewrite an executed notebook without what differs from run to run or machine to machine."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if "injected-parameters" in _tags(cell):
            cell["id"] = "injected-parameters"
        if "raises-exception" in _tags(cell):  # nothing is answered yet
            cell.outputs = []
        kept = {key: cell.metadata.get(key) for key in ("exercise", "mystnb", "points", "tags")}
        cell.metadata = {key: value for key, value in kept.items() if value}
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = {}
    CoalesceStreamsPreprocessor().preprocess(notebook, {})
    notebook.metadata = {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    path.write_text(nbformat.writes(notebook, indent=1, ensure_ascii=False).rstrip("\n") + "\n")


if __name__ == "__main__":
    typer.run(main)

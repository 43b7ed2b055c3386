"""Run the notebooks, for the Makefile.

    notebooks.py plan --profile quick             what has to run again
    notebooks.py run NOTEBOOK --profile quick     one notebook, into figures/<profile>
    notebooks.py refresh NOTEBOOK                 one notebook, in place, outputs included

A notebook is named by its path in notebooks/ without the ending, e.g. xiao2010/1_example. It runs
in a staging folder; what it wrote moves into place when all of it is there, the executed notebook
last, so that a run that was cut off counts as not run.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from anonpaper.files import project_root, sha256, write_whole
from anonpaper.papers.provenance import code_digest

ROOT = project_root(Path(__file__).parent)
NOTEBOOKS = ROOT / "notebooks"
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
QUIET_KERNEL = ["--log-level=50"]   # what goes wrong in a cell is reported by papermill
KEPT_CELL_METADATA = {"tags", "nbgrader"}


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, do what it asks and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("plan", "run", "refresh"):
        command = commands.add_parser(name)
        if name != "plan":
            command.add_argument("notebook")
        if name != "refresh":
            command.add_argument("--profile", default="quick")
    options = parser.parse_args(arguments)
    try:
        if options.command == "plan":
            plan(options.profile)
        elif options.command == "run":
            run(options.notebook, options.profile)
        else:
            refresh(options.notebook)
    except NotebookError as error:
        print(f"{getattr(options, 'notebook', options.command)}: {error}", file=sys.stderr)
        return 1
    return 0


class NotebookError(Exception):
    """A notebook or its profile cannot be used as it is; the message says what to change."""


def plan(profile: str) -> None:
    """Note for each notebook what its results depend on; make runs those where that changed.

    A note, figures/<profile>/.state/<notebook>.sha256, is written only when its content changes
    or a result is missing, so that its time tells make whether the results are older.
    """
    names = notebook_names()
    results = ROOT / "figures" / profile
    outdated = []
    for name in names:
        note = results / ".state" / f"{name}.sha256"
        inputs = digest_of_inputs(name, profile) + "\n"
        if not note.exists() or note.read_text() != inputs or not is_complete(name, results):
            write_whole(note, inputs)
        executed = results / "notebooks" / f"{name}.ipynb"
        if not executed.exists() or executed.stat().st_mtime_ns < note.stat().st_mtime_ns:
            outdated.append(name)
    if outdated:
        print(f"figures/{profile}: {len(outdated)} of {len(names)} notebooks to run", flush=True)
    else:
        print(f"figures/{profile}: {len(names)} notebooks up to date, nothing to be done")


def run(name: str, profile: str) -> None:
    """Run one notebook with a profile and put what it wrote under figures/<profile>."""
    import papermill
    from papermill.exceptions import PapermillExecutionError

    source = source_of(name)
    parameters = section(name, profile)
    known = papermill.inspect_notebook(source)
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise NotebookError(
            f"the profile {profile} sets {', '.join(unknown)}, but the notebook's parameters "
            f"are {', '.join(known) or 'none (no cell is tagged `parameters`)'}"
        )
    results = ROOT / "figures" / profile
    staging = results / ".staging" / name
    shutil.rmtree(staging, ignore_errors=True)   # left behind by a run that was cut off
    staging.mkdir(parents=True)
    executed = staging / "executed.ipynb"
    set_environment(profile, staging)
    began = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory() as sockets:
            papermill.execute_notebook(source, executed, parameters, kernel_name="python3",
                                       cwd=source.parent, progress_bar=False,
                                       extra_arguments=QUIET_KERNEL,
                                       kernel_manager_class=socket_kernel_manager(sockets))
    except PapermillExecutionError as error:
        failed = results / ".failed" / f"{name}.ipynb"
        failed.parent.mkdir(parents=True, exist_ok=True)
        os.replace(executed, failed)
        shutil.rmtree(staging)
        raise NotebookError(f"{error}\nfailed; see {failed.relative_to(ROOT)}") from None
    seconds = time.perf_counter() - began
    clean_file(executed)
    manifest = read_manifest(name, staging, parameters, profile)
    move_into_place(name, manifest | {"seconds": round(seconds, 1)}, staging, results)
    print(progress_line(name, seconds, manifest["outputs"]), flush=True)


def refresh(name: str) -> None:
    """Run one notebook as it is, with the quick values of its parameters cell, in place."""
    import papermill
    from papermill.exceptions import PapermillExecutionError

    source = source_of(name)
    with tempfile.TemporaryDirectory() as folder:
        set_environment("quick", Path(folder))
        executed = Path(folder) / "executed.ipynb"
        began = time.perf_counter()
        try:
            papermill.execute_notebook(source, executed, kernel_name="python3",
                                       cwd=source.parent, progress_bar=False,
                                       extra_arguments=QUIET_KERNEL,
                                       kernel_manager_class=socket_kernel_manager(folder))
        except PapermillExecutionError as error:
            raise NotebookError(f"{error}\nfailed; the notebook is left as it was") from None
        seconds = time.perf_counter() - began
        clean_file(executed)
        write_whole(source, executed.read_bytes())
    print(f"{name:<44} {seconds:7.1f} s   executed in place", flush=True)


def socket_kernel_manager(folder: str) -> type:
    """Return a kernel manager that talks through socket files in a folder of its own.

    Kernels started side by side can be given the same free TCP port, or the same name of a socket
    in the folder that they run in, and one of them dies.
    """
    from jupyter_client.manager import AsyncKernelManager
    from traitlets import default

    class SocketKernelManager(AsyncKernelManager):
        @default("transport")
        def _transport(self) -> str:
            return "ipc"

        @default("ip")
        def _ip(self) -> str:
            return str(Path(folder) / "kernel")

    return SocketKernelManager


def notebook_names() -> list[str]:
    """Return the names of all notebooks, in order."""
    found = [*NOTEBOOKS.glob("*.ipynb"), *NOTEBOOKS.glob("[!.]*/*.ipynb")]
    return sorted(path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in found)


def source_of(name: str) -> Path:
    """Return a notebook's file."""
    path = NOTEBOOKS / f"{name}.ipynb"
    if not path.is_file():
        raise NotebookError(f"no such notebook; there are {', '.join(notebook_names())}")
    return path


def sections(profile: str) -> dict[str, dict]:
    """Return the parameters that a profile sets, by notebook.

    They stand in notebooks/<folder>/profiles/<profile>.yaml, a section per notebook of the folder.
    A notebook's own parameters cell holds the values of the quick profile.
    """
    import yaml

    known = {"quick", *(file.stem for file in NOTEBOOKS.glob("*/profiles/*.yaml"))}
    if profile not in known:
        raise NotebookError(f"no profile {profile!r}; there are {', '.join(sorted(known))}")
    found = {}
    for file in sorted(NOTEBOOKS.glob(f"*/profiles/{profile}.yaml")):
        folder = file.parents[1].name
        own = yaml.safe_load(file.read_text()) or {}
        found |= {f"{folder}/{name}": values or {} for name, values in own.items()}
        there = {name for name in notebook_names() if name.startswith(f"{folder}/")}
        given = {f"{folder}/{name}" for name in own}
        if given != there:
            raise NotebookError(
                f"{file.relative_to(ROOT)} has sections of no notebook ({listed(given - there)}) "
                f"or lacks sections of notebooks ({listed(there - given)})"
            )
    return found


def listed(names: set[str]) -> str:
    """Return names in order, or "none"."""
    return ", ".join(sorted(names)) or "none"


def section(name: str, profile: str) -> dict:
    """Return the parameters that a profile sets for a notebook."""
    return sections(profile).get(name, {})


def digest_of_inputs(name: str, profile: str) -> str:
    """Return one digest of all that a notebook's results depend on, its outputs left out.

    These are its cells, modules beside it, its section of the profile, the package's code, and
    the data files that were placed by hand.
    """
    notebook = json.loads(source_of(name).read_text())
    cells = [[cell["cell_type"], "".join(cell["source"]), cell["metadata"].get("tags", [])]
             for cell in notebook["cells"]]
    modules = {path.name: path.read_text() for path in sorted(source_of(name).parent.glob("*.py"))}
    raw = Path(os.environ.get("ANONPAPER_DATA") or ROOT / "data" / "raw")
    by_hand = sorted((file.name, file.stat().st_size) for file in raw.glob("*"))
    inputs = [cells, modules, section(name, profile), code_digest(), by_hand]
    return sha256(json.dumps(inputs, sort_keys=True, default=str))


def is_complete(name: str, results: Path) -> bool:
    """Return whether all files of the notebook's last run are there."""
    manifest = manifest_file(name, results)
    if not manifest.exists():
        return False
    outputs = json.loads(manifest.read_text())["outputs"]
    return all((results / output).exists() for output in outputs)


def manifest_file(name: str, results: Path) -> Path:
    """Return the file of the notebook's share of the manifest."""
    return results / "manifest" / f"{name}.json"


def set_environment(profile: str, figures: Path) -> None:
    """Tell the kernel, which inherits it, where results go and to keep its output the same."""
    os.environ.update(
        ANONPAPER_FIGURES=str(figures), ANONPAPER_PROFILE=profile, PYTHONHASHSEED="0",
        TQDM_DISABLE="1",
    )


def read_manifest(name: str, staging: Path, parameters: dict, profile: str) -> dict:
    """Return what the notebook noted of its results; of one without results, that it ran."""
    written = [path.relative_to(staging / "manifest").with_suffix("").as_posix()
               for path in (staging / "manifest").rglob("*.json")]
    if not written:
        return {"notebook": f"notebooks/{name}.ipynb", "profile": profile,
                "parameters": parameters, "outputs": {}}
    if written != [name]:
        raise NotebookError(
            f"Results(paper, notebook=...) says this is {' and '.join(sorted(written))}; "
            "give it the names of the notebook's folder and file"
        )
    return json.loads(manifest_file(name, staging).read_text())


def move_into_place(name: str, manifest: dict, staging: Path, results: Path) -> None:
    """Put the notebook's results where they belong, replacing those of its last run."""
    target = manifest_file(name, results)
    before = json.loads(target.read_text())["outputs"] if target.exists() else {}
    for other in set((results / "manifest").rglob("*.json")) - {target}:
        clash = set(manifest["outputs"]).intersection(json.loads(other.read_text())["outputs"])
        if clash:
            raise NotebookError(f"writes {min(clash)}, which {other.stem} writes too")
    for output in manifest["outputs"]:
        (results / output).parent.mkdir(parents=True, exist_ok=True)
        os.replace(staging / output, results / output)
    for output in set(before) - set(manifest["outputs"]):
        (results / output).unlink(missing_ok=True)
    write_whole(target, json.dumps(manifest, indent=1) + "\n")
    executed = results / "notebooks" / f"{name}.ipynb"
    executed.parent.mkdir(parents=True, exist_ok=True)
    os.replace(staging / "executed.ipynb", executed)
    os.utime(executed)   # newer than all it depends on
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
    """Remove times, versions of the machine and papermill's notes; name injected cells."""
    from nbconvert.preprocessors.coalescestreams import CoalesceStreamsPreprocessor

    notebook.metadata = {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    notebook.nbformat_minor = 5
    CoalesceStreamsPreprocessor().preprocess(notebook, {})
    for number, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags", [])
        if "injected-parameters" in tags:
            cell["id"] = "injected-parameters"
        cell.setdefault("id", f"cell-{number}")
        cell.metadata = {key: value for key, value in cell.metadata.items()
                         if key in KEPT_CELL_METADATA and value}
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = {}


def progress_line(name: str, seconds: float, outputs: dict[str, dict]) -> str:
    """Return the line that says a notebook has run."""
    figures = sum(path.endswith(".svg") for path in outputs)
    tables = sum(path.endswith(".tex") for path in outputs)
    return f"{name:<44} {seconds:7.1f} s   {figures} figures, {tables} tables"


if __name__ == "__main__":
    sys.exit(main())

"""A plugin of nbval: cells are not executed again, the outputs of their last run are compared.

`make` has executed the notebooks and keeps the executed copies. nbval compares them with the quick
outputs in figures/expected: it asks its kernel to execute a cell, and here the kernel answers with
the outputs that the copy has. All else is nbval's.
"""

import sys
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path

import nbformat
from nbval.plugin import IPyNbFile

TOOLS = Path(__file__).parents[1] / "tools"
NUMBERS = count(1)


class Recorded:
    """Stands in for nbval's kernel: it has the outputs of an executed notebook."""

    def __init__(self, cells):
        self.cells, self.messages = iter(cells), []

    def is_alive(self):
        return True

    def execute_cell_input(self, source, allow_stdin=None):
        """Take the messages of the next cell with this source; cells may have been skipped."""
        cell = next((cell for cell in self.cells if cell.source == source), None)
        if cell is None:
            raise RuntimeError("the executed copy has no such cell here")
        number = next(NUMBERS)
        idle = nbformat.from_dict({"output_type": "status", "execution_state": "idle"})
        self.messages = [
            {"msg_type": sent.output_type, "parent_header": {"msg_id": number}, "content": sent}
            for sent in (*cell.outputs, idle)
        ]
        return number

    def await_reply(self, number, timeout=None):
        pass

    def await_idle(self, number, timeout):
        self.messages.clear()

    def get_message(self, stream, timeout=None):
        return self.messages.pop(0)

    def stop(self):
        pass


@cache
def builder():
    """Return the builder of notebooks, and its view of the quick results, with files as now."""
    sys.path.insert(0, str(TOOLS))
    try:
        notebooks, inputs = import_module("notebooks"), import_module("inputs")
    finally:
        sys.path.remove(str(TOOLS))
    return notebooks, notebooks.Sizes("quick", inputs.FIGURES / "quick")


def executed_copy(path):
    """Return the code cells of a notebook's last run, of which nothing has changed since."""
    notebooks, sizes = builder()
    expected = TOOLS.parent / "figures" / "expected" / "quick" / "notebooks"
    name = path.relative_to(expected).with_suffix("").as_posix()
    if reasons := sizes.outdated(name):
        raise RuntimeError(f"figures/quick has no current run of {name}: {reasons[0]}")
    copy = nbformat.read(sizes.results / "notebooks" / f"{name}.ipynb", as_version=4)
    return notebooks.texts_of(copy.cells)


def setup(file):
    """Give a notebook its kernel."""
    file.setup_sanitize_files()
    file.kernel = Recorded(executed_copy(file.path))


IPyNbFile.setup = setup

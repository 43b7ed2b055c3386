"""The programs of tools/, as modules for the tests."""

import importlib.util
import sys
from pathlib import Path

TOOLS = Path(__file__).parents[2] / "tools"


def load_tool(name):
    """Return a program as a module; what it imports of its neighbours is found beside it."""
    spec = importlib.util.spec_from_file_location(f"tools.{name}", TOOLS / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(TOOLS))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(TOOLS))
    return module

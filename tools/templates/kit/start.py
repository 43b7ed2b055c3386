"""Set up the course in this folder, and open it: python start.py.

With arguments it runs the course's own Python on them: python start.py -m anonpaper fetch adult
"""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE / "environment"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
READY = ENVIRONMENT / "ready"  # is there when all packages are


def main() -> int:
    """Set up what is not there yet, and start JupyterLab or what was asked for."""
    if sys.version_info < (3, 11):  # noqa: UP036 - a student's Python may be any
        sys.exit(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}.")
    if not READY.exists():
        print(f"Setting up the course in {ENVIRONMENT}: once, minutes, 1.2 GB of disk", flush=True)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        install()
        fetch_no_news()
        READY.touch()
    folders = {"ANONPAPER_DATA": HERE / "data", "ANONPAPER_CACHE": HERE / "cache"}
    command = sys.argv[1:] or ["-m", "jupyter", "lab", str(HERE / "lessons")]
    return subprocess.run([PYTHON, *command], env=os.environ | folders).returncode


def install() -> None:
    """Install the packages from the folder if it has them all, and from the network if not."""
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--no-compile", "--requirement"]
    packed = len([*(HERE / "wheels").glob("*.whl")]) > 1
    if packed:
        print("Installing the packages of this folder", flush=True)
        offline = ["requirements.txt", "--no-index", "--find-links", "wheels"]
        if subprocess.run([*pip, *offline], cwd=HERE).returncode == 0:
            return
        print("These packages are for another system or another Python.", flush=True)
    print("Fetching the packages: 300 MB", flush=True)
    if subprocess.run([*pip, "requirements.txt"], cwd=HERE).returncode:
        sys.exit("The packages could not be installed; pip's message is above.")


def fetch_no_news() -> None:
    """Let JupyterLab neither ask for nor fetch news: the course needs no network."""
    settings = ENVIRONMENT / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    never = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}
    (settings / "overrides.json").write_text(json.dumps(never))


if __name__ == "__main__":
    sys.exit(main())

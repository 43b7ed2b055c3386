"""Run the tools of benchmarks/tools on the tasks of tasks.toml, and judge what they release.

    python benchmarks/compare.py PROFILE [SEED OF THE QUERIES]

Each tool gets an environment of its own in build/benchmark, from the package index, at the version
in its tool.toml, or the project's. A task is a folder with table.csv, a hierarchy per column and
task.json; the tool's command gets table.csv, task.json and the name of the file to write. The
folder is removed before the next tool runs. Tools run with one thread, for two minutes at most.
Seconds are of processor time, and memory is the peak of 10 looks a second. Both include what the
tool starts. tools.csv says of every tool whether it ran, on what, and the seed of the queries,
drawn anew unless it is given. measured.csv has a row per release. The notebook
together/1_against_other_tools reads both.

Not prevented: a tool runs as the same user as the judge. It can read the project's data, which
contain the outsiders, and a seed that was given. It can leave files and processes behind, and end
or change the judge's own.
"""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import secrets
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

import pandas as pd
import psutil
from judge import Task, judged

import anonpaper as ap

HERE = Path(__file__).parent
BUILD = HERE.parent / "build" / "benchmark"
SECONDS = 120
ONE_THREAD = {
    f"{name}_NUM_THREADS": "1" for name in ("MKL", "NUMBA", "OMP", "OPENBLAS")
}  # so that seconds do not depend on the number of cores


@dataclass
class Tool:
    """What a tool.toml says; `folder` is where it lies."""

    folder: Path
    name: str
    licence: str
    home: str
    version: str = ""
    methods: dict[str, list[str]] = field(default_factory=dict)
    packages: list[str] | None = None
    command: list[str] = field(default_factory=lambda: ["{python}", "{here}/run.py"])
    ready: list[str] | None = None
    absent: str = ""

    @property
    def python(self) -> Path:
        """The interpreter of the tool's environment."""
        return BUILD / "environments" / self.name / "bin" / "python"

    def filled(self) -> list[str]:
        """The command, with what its braces stand for."""
        python = str(self.python) if self.packages else sys.executable
        given = os.environ | {"python": python, "here": str(self.folder.resolve())}
        return [part.format_map(given) for part in self.command]

    def missing(self) -> str:
        """Prepare the tool; say what it lacks here, if anything."""
        if self.absent:
            return self.absent
        for name in re.findall(r"{([A-Z_]+)}", " ".join(self.command)):
            if not Path(os.environ.get(name, "")).is_file():
                return f"{name} is not the path of a file"
        program = self.filled()[0]
        if self.packages and not self.python.exists():
            made = subprocess.run([sys.executable, "-m", "venv", self.python.parents[1]])
            install = [self.python, "-m", "pip", "install", "-qq", *self.packages]
            if made.returncode or subprocess.run(install).returncode:
                shutil.rmtree(self.python.parents[1], ignore_errors=True)
                return f"{', '.join(self.packages)} cannot be installed"
        if not shutil.which(program):
            return f"{program} is not installed"
        if self.ready and subprocess.run(self.ready, capture_output=True).returncode:
            return f"{' '.join(self.ready)} fails"
        self.version = self.version or version(self.name)
        return ""


def tools(folder: Path = HERE / "tools") -> list[Tool]:
    """Read every tool.toml."""
    found = sorted(folder.glob("*/tool.toml"))
    return [Tool(path.parent, **tomllib.loads(path.read_text())) for path in found]


def tasks(profile: dict, about: dict, seed: int) -> Iterator[Task]:
    """What a profile asks for: every principle and level, table by table."""
    for table in profile["tables"]:
        roles = about["tables"][table]
        drawn = draw(ap.load(table).frame, roles, profile["rows"])
        for principle, levels in about["principles"].items():
            for promise in levels[: profile["levels"]]:
                yield Task(table, principle, promise, *roles.values(), *drawn, seed)


def draw(frame: pd.DataFrame, roles: dict, rows: int) -> tuple:
    """Draw people and outsiders, as texts, and make the hierarchies of all their values."""
    qi, numeric, sensitive = roles.values()
    frame = frame[[*qi, sensitive]].dropna().astype(dict.fromkeys(numeric, int)).astype(str)
    frame = frame.sample(min(2 * rows, len(frame)), random_state=0).reset_index(drop=True)
    half, trees = len(frame) // 2, {}
    for name in qi:
        if name in numeric:
            tree = ap.Hierarchy.quantiles(frame[name].astype(int), (16, 8, 4, 2))
        else:
            tree = ap.Hierarchy.balanced(sorted(frame[name].unique()))
        trees[name] = pd.DataFrame(tree.rows)
    return frame[:half], frame[half : 2 * half].reset_index(drop=True), trees


def release(tool: Tool, method: str, task: Task) -> dict:
    """Let a tool do a task in a folder of its own; return how it ended and was judged."""
    files = {name: f"hierarchy_{number}.csv" for number, name in enumerate(task.qi)}
    asked = {
        "method": method, "principle": task.principle, "promise": task.promise,
        "quasi_identifiers": task.qi, "numeric": task.numeric, "sensitive": task.sensitive,
        "hierarchies": files, "seed": 0,
        "domain": task.domain | {task.sensitive: task.secrets},
    }  # fmt: skip
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, TemporaryFile() as said:
        task.people.to_csv(Path(folder, "table.csv"), index=False)
        for name, file in files.items():
            task.hierarchies[name].to_csv(Path(folder, file))
        Path(folder, "task.json").write_text(json.dumps(asked))
        code, found = watched(tool, folder, said)
        said.seek(0)
        lines = said.read().decode(errors="replace").split("\n")
        written = Path(folder, "released.csv")
        raw = written.read_bytes() if written.is_file() else None
    if code is None:
        return found | {"promise": f"none kept: stopped after {SECONDS} seconds"}
    if code or raw is None:
        last = next((line.strip() for line in reversed(lines) if line.strip()), "no file")
        return found | {"promise": f"none kept: {last[:120]}"}
    return found | judged(task, raw)


def watched(tool: Tool, folder: str, said: IO) -> tuple[int | None, dict[str, float]]:
    """Run a tool; return its exit code, none if it was stopped, and its seconds and MiB."""
    before, spent, most = children_seconds(), {}, 0
    running = psutil.Popen(
        [*tool.filled(), "table.csv", "task.json", "released.csv"], cwd=folder,
        env=os.environ | ONE_THREAD | {"TMPDIR": folder}, stdout=said, stderr=said,
    )  # fmt: skip
    until, is_over = time.monotonic() + 20 * SECONDS, False
    while running.poll() is None and not is_over:
        size = 0
        with suppress(psutil.Error):
            for process in (running, *running.children(recursive=True)):
                with suppress(psutil.Error):
                    spent[process] = sum(process.cpu_times()[:2])
                    size += process.memory_info().rss
        most = max(most, size)
        is_over = sum(spent.values()) > SECONDS or time.monotonic() > until
        time.sleep(0.1)
    for process in (running, *spent):
        with suppress(psutil.Error):
            process.kill()
    code = running.wait()
    seconds = max(children_seconds() - before, sum(spent.values()))
    return None if is_over else code, {"seconds": seconds, "memory": most / 2**20}


def children_seconds() -> float:
    """Return the processor time of all processes that this one waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def machine(load: float) -> str:
    """Say on what was measured, and how busy it was at most."""
    name, about = platform.processor(), Path("/proc/cpuinfo")
    if about.exists():
        name = next(iter(re.findall(r"model name\s*: (.*)", about.read_text())), name)
    return (
        f"{platform.system()} {platform.machine()}, {name}, {os.cpu_count()} cores, load "
        f"{load:.1f} at most, Python {platform.python_version()}, {datetime.now(UTC):%Y-%m-%d}"
    )


def done(task: Task, known: list[Tool]) -> list[dict]:
    """Let every tool do a task; return a row per release."""
    rows, level = [], ", ".join(f"{what} = {bound:g}" for what, bound in task.promise.items())
    for tool in known:
        methods = [name for name, kept in tool.methods.items() if task.principle in kept]
        for method in methods:
            row = {"table": task.table, "principle": task.principle, "level": level,
                   "tool": tool.name, "method": method}  # fmt: skip
            rows.append(row | release(tool, method, task))
    return rows


def main(name: str, seed: str = "") -> None:
    """Run a profile, write tools.csv and measured.csv, and say what kept no promise."""
    about = tomllib.loads((HERE / "tasks.toml").read_text())
    results = HERE / "tools" if name == "paper" else BUILD / name
    known, loads, rows = tools(), [os.getloadavg()[0]], []
    drawn = int(seed or secrets.randbits(53))
    lacking = {tool.name: tool.missing() for tool in known}
    able = [tool for tool in known if not lacking[tool.name]]
    results.mkdir(parents=True, exist_ok=True)
    for task in tasks(about[name], about, drawn):
        rows += (found := done(task, able))
        loads.append(os.getloadavg()[0])
        pd.DataFrame(rows).to_csv(results / "measured.csv", index=False, float_format="%.6g")
        for row in found:
            print(*list(row.values())[:5], row["promise"], sep=": ", flush=True)
    on = machine(max(loads))
    pd.DataFrame([
        {"tool": tool.name, "version": tool.version, "licence": tool.licence, "home": tool.home,
         "state": f"not run here: {lack}" if (lack := lacking[tool.name]) else "run", "on": on,
         "seed": drawn}
        for tool in known
    ]).to_csv(results / "tools.csv", index=False)  # fmt: skip
    print(f"on {on}: {results}")


if __name__ == "__main__":
    main(*sys.argv[1:])

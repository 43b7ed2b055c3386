"""Run the benchmarks: every bench_*.py beside this file, each in a process of its own.

    python benchmarks/run.py [NAME ...]

A benchmark module has a docstring, whose first line is its title, and a function `rows()` that
yields rows of `measure.against`. Machines differ, so nothing is measured against the clock: a row
is the ratio of two measurements of one process, and its limit. The exit code is 1 if a ratio is
above its limit.
"""

import importlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "tests"))  # plain versions of algorithms are there
# one thread, so that a ratio does not depend on the number of cores
ONE_THREAD = dict.fromkeys(
    ["MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1"
)


def main(arguments: list[str]) -> int:
    """Run the benchmarks named, or all, and return 1 if one is above its limit."""
    if arguments[:1] == ["--here"]:
        return report(arguments[1])
    names = arguments or sorted(
        path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py")
    )
    codes = [
        subprocess.run(
            [sys.executable, __file__, "--here", name], env=os.environ | ONE_THREAD
        ).returncode
        for name in names
    ]
    return int(any(codes))


def report(name: str) -> int:
    """Run one benchmark in this process, print its table and return 1 if it is too slow."""
    module = importlib.import_module(f"bench_{name}")
    print(f"\n{module.__doc__.partition(chr(10))[0]}", flush=True)
    print(f"{'':<56} {'measured':>10} {'yardstick':>10} {'ratio':>7} {'limit':>7}")
    above = False
    for row in module.rows():
        limit = "" if row["limit"] is None else f"{row['limit']:.3g}"
        over = row["limit"] is not None and row["ratio"] > row["limit"]
        above |= over
        label = f"{row['what']} / {row['yardstick']}"
        print(
            f"{label:<56} {row['measured']:>10.4g} {row['unit']:>10.4g} {row['ratio']:>7.2f} "
            f"{limit:>7}{'  ABOVE' if over else ''}",
            flush=True,
        )
    return int(above)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

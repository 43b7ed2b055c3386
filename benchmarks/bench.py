"""Measure speed and memory against their limits.

    python benchmarks/bench.py [WORD ...]

With words, only rows whose name contains one of them are measured. Machines differ, so nothing is
measured against the clock: a row is the ratio of two measurements of one process, and its limit.
The exit code is 1 if a ratio is above its limit.
"""

import ctypes
import gc
import os
import re
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

for library in ("MKL", "NUMBA", "OMP", "OPENBLAS"):  # before the first import of numpy
    os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

import anonpaper as ap  # noqa: E402
from anonpaper.compendium import timed  # noqa: E402
from anonpaper.constraints import proportion_constraints  # noqa: E402

ROWS = int(os.environ.get("ANONPAPER_ROWS", "10_000_000"))  # of the table in files
TEMPORARY = tempfile.TemporaryDirectory(prefix="bench-")  # removed in the end
load = cache(ap.load)


# ---- measuring --------------------------------------------------------------------------------


def seconds(function: Callable[[], object]) -> float:
    """Return the shorter of two runs, in processor time: the first one fills caches."""
    return timed(function, 2)[0]


def a_look(search: Callable[[], ap.Recoding]) -> float:
    """Return the seconds that a search takes per recoding that it looks at."""
    took, found = timed(search, 2)
    return took / found.info["candidates"]


def peak(function: Callable[[], object]) -> int:
    """Return by how many bytes the process grew at most while the function ran, on Linux.

    The allocator first gives back what it kept, and the kernel's high-water mark is reset: unlike
    tracemalloc this also sees what compiled code allocates.
    """

    def resident(field: str) -> int:
        status = Path("/proc/self/status").read_text()
        return 1024 * int(status.partition(f"{field}:")[2].split()[0])

    function()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    function()
    return resident("VmHWM") - before


@cache
def groupby(table: Callable[[], ap.Microdata]) -> float:
    """Return the seconds that pandas takes to group the coded quasi-identifiers of a table."""
    m = table()
    coded = pd.DataFrame(m.codes, columns=m.qi)
    return timed(lambda: coded.groupby(m.qi, sort=False).ngroup(), 5)[0]


def fresh(algorithm: Callable, table: Callable[[], ap.Microdata], *given, **options) -> object:
    """Run an algorithm on a coded table, with nothing grouped before."""
    m = table()
    m.__dict__.pop("cells", None)
    return algorithm(m, *given, **options)


# ---- tables -----------------------------------------------------------------------------------


sal, census, adult = (partial(load, name) for name in ("sal", "census", "adult"))


@cache
def people() -> ap.Microdata:
    """1,000,000 rows of 250,000 people, with two secrets and seven QI of dominant values."""
    rng = np.random.default_rng(0)
    who = rng.integers(0, 250_000, 1_000_000)
    sizes = {"age": 80, "sex": 2, "race": 9, "birth": 50, "education": 17, "marital": 6, "work": 9}
    frame = pd.DataFrame({
        name: np.minimum(rng.geometric(min(1, 3 / size), 250_000) - 1, size - 1)[who]
        for name, size in sizes.items()
    })  # fmt: skip
    frame["ill"], frame["drug"] = rng.integers(0, 10, len(who)), rng.integers(0, 40, len(who))
    frame["person"] = who
    return ap.Microdata(frame, [*sizes], ["ill", "drug"], person="person")


@cache
def visits() -> ap.Microdata:
    """The same rows with one secret, a person each."""
    return ap.Microdata(people().frame, people().qi, "ill")


@cache
def many_values(distinct: int) -> tuple[ap.Microdata, ap.Partition]:
    """1,000,000 rows with so many values of a quasi-identifier, in groups of ten neighbours."""
    rng, n = np.random.default_rng(0), 1_000_000
    values = np.char.add("v", (rng.permutation(n) % distinct).astype(str))
    frame = {"q": values, "r": rng.integers(0, 50, n), "s": rng.integers(0, 10, n)}
    m = ap.Microdata(pd.DataFrame(frame), ["q", "r"], "s")
    return m, ap.Partition(np.argsort(m.cells.rows) // 10)


def measured(distinct: int) -> None:
    """Write a release of such a table and take its measures."""
    release = ap.generalize(*many_values(distinct))
    release.frame  # noqa: B018
    for name in ("stars", "ncp", "kl_divergence", "discernibility", "disclosure_risk"):
        getattr(ap.measure, name)(release)


@cache
def in_files() -> tuple[Path, object]:
    """Rows of occ in ten parquet files, three of ten ages changed, and DuckDB with 2 GB."""
    import ibis

    rng, occ = np.random.default_rng(0), load("occ")
    folder = Path(TEMPORARY.name)
    for number in range(10):
        part = occ.frame.iloc[rng.integers(0, occ.n, ROWS // 10)][[*occ.qi, occ.sensitive]]
        jitter = rng.integers(-5, 6, len(part)) * (rng.random(len(part)) < 0.3)
        part.assign(Age=part["Age"] + jitter).to_parquet(folder / f"{number}.parquet", index=False)
    return folder, ibis.duckdb.connect(memory_limit="2GB", threads=1, temp_directory=folder / "s")


def scan_to_audit() -> None:
    """Read these files, anonymize, write, and audit what was written."""
    (folder, engine), occ = in_files(), load("occ")
    m = ap.scan(
        engine.read_parquet(f"{folder}/?.parquet"), occ.qi, occ.sensitive, missing="category"
    )
    release = ap.suppress(m, ap.tp_plus(m, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release.write(folder / "release.pq")
    assert ap.FrequencyLDiversity(4).holds(release.audited())


def copy() -> None:
    """Let DuckDB copy these files."""
    folder, engine = in_files()
    engine.to_parquet(engine.read_parquet(f"{folder}/?.parquet"), folder / "copy")


def first_result(call: str) -> float:
    """Return the processor time of a new process with an empty cache, on 1,000 rows of Adult."""
    program = f"import anonpaper as ap; m = ap.load('adult', rows=1_000, seed=0); ap.{call}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as empty:
        given = os.environ | {"NUMBA_CACHE_DIR": empty}
        subprocess.run([sys.executable, "-W", "ignore", "-c", program], env=given, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# ---- what is measured -------------------------------------------------------------------------


def diva() -> ap.Partition:
    """Run DIVA on census, with constraints on both sexes, five races and the women of one."""
    m = census()
    sigma = proportion_constraints(m, ["sex", "race", ("sex", "race")], m.n // 2)[:8]
    return fresh(ap.diva, census, sigma, 20)


def coded(table: Callable[[], ap.Microdata]) -> int:
    """Return the bytes of a coded table."""
    return table().codes.nbytes + table().sensitive_codes.nbytes


flat = cache(lambda: {a.name: ap.Hierarchy.flat(a.values) for a in visits().attributes})
STRICT = [ap.DistinctLDiversity(3), ap.EntropyLDiversity(1.5), ap.TCloseness(0.6), ap.Theta(0.9)]
in_groups = cache(lambda: ap.suppress(people(), ap.mondrian(people(), 50)))
tp_plus = partial(fresh, ap.tp_plus, sal, 6)
FIRST = """
tp(m, 4); tp_plus(m, 4); hilbert(m, 4); mondrian(m, 10); klt(m, 10, 5, 0.5); k_member(m, 10)
oka(m, 10); tds(m, 3); balanced_classes(m, 10, 2); full_domain(m, 10); preference_search(m, 5)
"""

#: What is measured beside a groupby of the rows of a table, how, and the limit of the ratio.
IN_GROUPBYS = (
    ("tp, sal", seconds, partial(fresh, ap.tp, sal, 6), sal, 3),
    ("tp_plus, sal", seconds, tp_plus, sal, 6),
    ("hilbert, sal", seconds, partial(fresh, ap.hilbert, sal, 6), sal, 6),
    ("reading sal from the cache", seconds, partial(ap.load, "sal"), sal, 10),
    ("klt, adult", seconds, partial(fresh, ap.klt, adult), adult, 300),
    ("diva, census, 8 constraints", seconds, diva, census, 100),
    ("k_member, census", seconds, partial(fresh, ap.k_member, census, 20), census, 50),
    ("mondrian, census", seconds, partial(fresh, ap.mondrian, census, 20), census, 5),
    ("mondrian, k", seconds, lambda: ap.mondrian(visits(), 50), people, 10),
    ("mondrian, STRICT", seconds, lambda: ap.mondrian(visits(), 50, require=STRICT), people, 15),
    ("mondrian, people", seconds, lambda: ap.mondrian(people(), 50), people, 10),
    ("attackers", seconds, lambda: ap.measure.attackers(in_groups()), people, 10),
    ("full_domain, a node", a_look, lambda: ap.full_domain(visits(), 50, flat()), people, 10),
    ("tds, a step", a_look, lambda: ap.tds(visits(), 2, flat()), people, 10),
)
#: The same beside other yardsticks.
OTHERS = (
    (f"scan to audit, {ROWS:,} rows / copy", seconds, scan_to_audit, lambda: seconds(copy), 6),
    (
        "1,000,000 values / 100 values",
        seconds,
        partial(measured, 10**6),
        lambda: seconds(partial(measured, 100)),
        3,
    ),
    ("1,000,000 values, bytes / 2 GB", peak, partial(measured, 10**6), lambda: 2e9, 1),
    ("tp_plus, sal, bytes / coded table", peak, tp_plus, partial(coded, sal), 4),
    ("diva, census, bytes / coded table", peak, diva, partial(coded, census), 40),
    ("scan to audit, bytes / 4 GiB", peak, scan_to_audit, lambda: 2**32, 1),
    *(
        (f"{call.strip()}, new process / a second", first_result, call.strip(), lambda: 1, 3)
        for call in re.split("[;\n]", FIRST.strip())
    ),
)


def main(words: list[str]) -> int:
    """Measure all rows, or those whose name has one of the words; return 1 if one is above."""
    above = False
    rows = [
        (f"{name} / pandas groupby", how, run, partial(groupby, table), limit)
        for name, how, run, table, limit in IN_GROUPBYS
    ]
    print(f"{'':<64} {'measured':>10} {'yardstick':>10} {'ratio':>7} {'limit':>7}")
    for name, how, run, unit, limit in (*rows, *OTHERS):
        if words and not any(word in name for word in words):
            continue
        found, of_unit = how(run), unit()
        over = found / of_unit > limit
        above |= over
        print(
            f"{name:<64} {found:>10.4g} {of_unit:>10.4g} {found / of_unit:>7.2f} {limit:>7g}"
            f"{'  ABOVE' if over else ''}",
            flush=True,
        )
    return int(above)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

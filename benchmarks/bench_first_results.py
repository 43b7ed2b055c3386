"""First results: every algorithm on 1,000 rows of Adult, in a new process with an empty cache.

The yardstick is one second: a ratio is the processor time of a whole process, which imports the
package, reads the table and runs the algorithm once. With COMPILED=1 in the environment, a row
without a limit follows each: the same with loops compiled at once. ROWS sets another size.
"""

import os
import resource
import subprocess
import sys
import tempfile

import measure

ROWS = int(os.environ.get("ROWS", "1000"))
CALLS = {
    "tp": "ap.tp(m, 4)",
    "tp_plus": "ap.tp_plus(m, 4)",
    "tp_refined": "ap.tp_refined(m, 4)",
    "hilbert": "ap.hilbert(m, 4)",
    "mondrian": "ap.mondrian(m, 10)",
    "suppress": "ap.suppress(m, ap.tp(m, 4))",
    "generalize": "ap.generalize(m, ap.mondrian(m, 10))",
    "klt": "ap.klt(m, 10, 5, 0.5)",
    "k_member": "ap.k_member(m, 10)",
    "oka": "ap.oka(m, 10)",
    "diva": "ap.diva(m, constraints=[ap.DiversityConstraint({'race': 'Black'}, 20, 60)], k=10)",
    "balanced_classes": "ap.balanced_classes(m, 10, 2)",
    "tds": "ap.tds(m, 3)",
    "full_domain": "ap.full_domain(m, 10)",
    "preference_search": "ap.preference_search(m, 5)",
    "exact": "ap.exact(ap.examples.hospital(), 2)",
    "optimal_two_diverse": """
    halves = m.frame.assign(half=["a", "b"] * (m.n // 2))
    ap.optimal_two_diverse(ap.Microdata(halves, qi=m.qi, sensitive="half"))""",
}
PROGRAM = """
import anonpaper as ap, contextlib
from anonpaper.compiled import at_once
with {way}():
    m = ap.load("adult", rows={rows}, seed=0)
    {call}
"""


def rows():
    seconds("m", "contextlib.nullcontext")  # the table is parsed once
    for name, call in CALLS.items():
        yield measure.against(name, seconds(call, "contextlib.nullcontext"), "a second", 1, 3)
        if os.environ.get("COMPILED"):
            compiled = seconds(call, "at_once")
            yield measure.against(f"{name}, compiled", compiled, "a second", 1, None)


def seconds(call, way):
    """Return the processor time of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as empty:
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PROGRAM.format(way=way, rows=ROWS, call=call)],
            env=os.environ | {"NUMBA_CACHE_DIR": empty}, check=True,
        )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

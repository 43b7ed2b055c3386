"""Fill numba's cache: call what has compiled loops once, on tiny tables; for make env."""

import sys
import warnings

import pandas as pd

import anonpaper as ap
from anonpaper.partition.tp import tp_steps


def main() -> int:
    """Call them and return the exit code."""
    print("environment: compiling the loops of the algorithms, about a minute", flush=True)
    warnings.simplefilter("ignore")
    m = ap.examples.hospital()
    two = ap.Microdata(
        pd.DataFrame({"age": [20, 20, 30, 30], "ill": list("abab")}), qi=["age"], sensitive="ill"
    )
    third_phase = pd.DataFrame(
        [(q, v) for q, values in enumerate(("01244", "023")) for v in values], columns=["q", "s"]
    )
    tp_steps(ap.Microdata(third_phase, qi=["q"], sensitive="s"), 3)
    ap.tp_plus(m, l=2)
    ap.tp_refined(m, l=2)
    ap.optimal_two_diverse(two)
    ap.exact(m, l=2)
    ap.mondrian(m, k=2, l=2)
    ap.oka(m, k=2)
    p = ap.klt(m, k=4, l=2, theta=0.5)
    ap.diva(m, constraints=[ap.DiversityConstraint({m.qi[0]: m.frame[m.qi[0]].iloc[0]}, 1, 10)],
            k=2, seed=0)  # fmt: skip
    ap.balanced_classes(m, k=4, l=2, seed=0)
    ap.tds(m, l=2)
    ap.full_domain(m, k=2)
    ap.branch_and_bound(m, k=2)
    ap.preference_search(m, k=2, preference=(0.2, 1.0), seed=0)
    ap.measure.ncp(ap.generalize(m, p))
    return 0


if __name__ == "__main__":
    sys.exit(main())

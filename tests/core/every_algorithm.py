"""Every algorithm on small tables, as a program: prints a hash of each result, as json.

    python every_algorithm.py compiled | interpreted | without [rows]

Loops are compiled at once, or interpreted, or interpreted where numba and the other packages that
are not needed cannot be imported.
"""

import contextlib
import hashlib
import json
import sys
import warnings
from functools import partial

import numpy as np
import pandas as pd

NOT_NEEDED = ("numba", "lzma", "_lzma", "pyarrow", "sklearn", "pymoo")
MEASURES = ("ncp", "discernibility", "average_class_size", "kl_divergence")
NEEDS_PYMOO = "preference_search"
GROUPED = {"tp": [3], "tp_plus": [3], "tp_refined": [3], "hilbert": [3], "k_member": [5],
           "oka": [5], "klt": [6, 3, 0.5], "tds": [2], "full_domain": [5], "mondrian": [5],
           "balanced_classes": [6, 3]}  # fmt: skip


def results(ap, n):
    """Yield the name and a call of every algorithm, and of what publishes and measures."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "age": rng.integers(20, 45, n), "town": rng.choice(list("abcde"), n),
        "sex": rng.choice(["F", "M"], n), "ill": rng.choice(list("uvwxyz"), n),
    })  # fmt: skip
    m = ap.Microdata(frame, qi=["age", "town", "sex"], sensitive="ill")
    several = frame.reset_index(names="who").take(rng.integers(0, n // 2, n))
    people = ap.Microdata(several, qi=m.qi, sensitive="ill", person="who")
    two = m.replace(frame=frame.assign(ill=["a", "b"] * (n // 2)))
    phases = pd.DataFrame({"q": [0] * 5 + [1] * 3, "s": list("01244023")})
    in_towns = [ap.DiversityConstraint({"town": "a"}, 5, 30)]
    for name, arguments in GROUPED.items():
        seed = {"seed": 0} if name == "balanced_classes" else {}
        yield name, partial(getattr(ap, name), m, *arguments, **seed)
    yield "tp, three phases", lambda: ap.tp(ap.Microdata(phases, qi=["q"], sensitive="s"), 3)
    yield "optimal_two_diverse", lambda: ap.optimal_two_diverse(two)
    yield "exact", lambda: ap.exact(ap.examples.hospital(), 2)
    yield "mondrian, diverse", lambda: ap.mondrian(m, 5, l=2)
    yield "mondrian, close", lambda: ap.mondrian(m, 5, require=[ap.TCloseness(0.4)])
    yield "mondrian, people", lambda: ap.mondrian(people, 5, l=2)
    yield "diva", lambda: ap.diva(m, constraints=in_towns, k=5, seed=0)
    yield NEEDS_PYMOO, lambda: ap.preference_search(m, 2, evaluations=2_000, seed=0)
    yield "suppress", lambda: ap.suppress(m, ap.tp(m, 3))
    yield "generalize", lambda: ap.generalize(m, ap.mondrian(m, 5))
    yield "anatomize", lambda: ap.anatomize(m, ap.hilbert(m, 3))
    yield "audit", lambda: ap.generalize(m, ap.mondrian(m, 5)).audit()
    yield "swap", lambda: ap.swap(m, ap.hilbert(m, 3), seed=0)
    yield "recode", lambda: ap.recode(m, ap.full_domain(m, 5))
    for name in MEASURES:
        yield name, lambda: getattr(ap.measure, name)(ap.generalize(m, ap.mondrian(m, 5)))  # noqa: B023


def digest(ap, result):
    """Return the hash of labels, of sub-domains, or of published rows."""
    if isinstance(result, ap.Partition):
        plain = {key: str(value) for key, value in result.info.items() if key != "seconds"}
        held = result.labels.astype("int64").tobytes() + repr(plain).encode()
    elif isinstance(result, ap.Recoding):
        held = b"".join(np.asarray(ids, "int64").tobytes() for ids in result.maps)
    else:
        frame = getattr(result, "frame", result)
        held = (frame.to_csv() if isinstance(frame, pd.DataFrame) else repr(float(frame))).encode()
    return hashlib.sha256(held).hexdigest()[:16]


def main(way, rows=240):
    without = way == "without"
    if without:
        pd.set_option("mode.string_storage", "python")  # pandas 3 keeps texts by pyarrow
        sys.modules.update(dict.fromkeys(NOT_NEEDED))  # an import of None fails
    import anonpaper as ap
    from anonpaper import compiled

    warnings.simplefilter("error", RuntimeWarning)
    with compiled.at_once() if way == "compiled" else contextlib.nullcontext():
        return {
            name: digest(ap, call())
            for name, call in results(ap, int(rows))
            if not (without and name == NEEDS_PYMOO)
        }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))

"""Fill numba's cache: call what has compiled loops once, on tiny tables; for make env."""

import warnings

import pandas as pd

import anonpaper as ap
from anonpaper.partition.tp import tp_steps

print("environment: compiling the loops of the algorithms, about a minute", flush=True)
warnings.simplefilter("ignore")
m = ap.examples.hospital()
two = pd.DataFrame({"age": [20, 20, 30, 30], "ill": list("abab")})
third_phase = pd.DataFrame({"q": [0] * 5 + [1] * 3, "s": list("01244023")})
tp_steps(ap.Microdata(third_phase, qi=["q"], sensitive="s"), 3)
ap.optimal_two_diverse(ap.Microdata(two, qi=["age"], sensitive="ill"))
for algorithm in (ap.tp_plus, ap.tp_refined, ap.exact, ap.tds):
    algorithm(m, l=2)
for algorithm in (ap.oka, ap.full_domain, ap.branch_and_bound):
    algorithm(m, k=2)
ap.mondrian(m, k=2, l=2)
rare = ap.DiversityConstraint({m.qi[0]: m.frame[m.qi[0]].iloc[0]}, 1, 10)
ap.diva(m, constraints=[rare], k=2, seed=0)
ap.balanced_classes(m, k=4, l=2, seed=0)
ap.preference_search(m, k=2, preference=(0.2, 1.0), seed=0)
ap.measure.ncp(ap.generalize(m, ap.klt(m, k=4, l=2, theta=0.5)))

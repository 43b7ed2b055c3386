"""The level of every principle on a table that was generalized before, by pycanon."""

import json
import time
from importlib.metadata import version

import pandas as pd
from pycanon import anonymity

QI = ["age", "education", "race", "sex"]
SA = ["occupation"]

table = pd.read_csv("release.csv", dtype=str, keep_default_na=False)
asked = {
    "k-anonymity": lambda: anonymity.k_anonymity(table, QI),
    "distinct l-diversity": lambda: anonymity.l_diversity(table, QI, SA),
    "entropy l-diversity": lambda: anonymity.entropy_l_diversity(table, QI, SA),
    "theta": lambda: anonymity.alpha_k_anonymity(table, QI, SA)[0],
    "t-closeness": lambda: anonymity.t_closeness(table, QI, SA),
}
found, total = {}, 0.0
for name, ask in asked.items():
    began = time.process_time()
    found[name] = float(ask())
    found[f"seconds for {name}"] = time.process_time() - began
    total += found[f"seconds for {name}"]
found["seconds"] = total
print(
    json.dumps(
        [
            {
                "task": "levels",
                "tool": "pycanon",
                "version": version("pycanon"),
                "measure": name,
                "value": f"{value:.6g}",
            }
            for name, value in found.items()
        ]
    )
)

"""10-anonymity with one level per column, by anjana: hierarchies as dictionaries of levels."""

import json
import time
from importlib.metadata import version

import numpy as np
import pandas as pd
from anjana.anonymity import k_anonymity_inner

QI = ["age", "education", "race", "sex"]

table = pd.read_csv("adult.csv", dtype=str, keep_default_na=False)
hierarchies = {}
for name in QI:
    tree = pd.read_csv(f"{name}.csv", sep=";", header=None, dtype=str, keep_default_na=False)
    hierarchies[name] = {level: tree[level].to_numpy() for level in tree}
began = time.process_time()
released, withheld, levels = k_anonymity_inner(table, [], QI, 10, 0, hierarchies)
seconds = time.process_time() - began
sizes = released.groupby(QI).size()

# the certainty penalty of what was published, by the sizes of the nodes
lost = 0.0
for name in QI:
    tree = pd.read_csv(f"{name}.csv", sep=";", header=None, dtype=str, keep_default_na=False)
    node = tree[levels[name]]
    if name == "age":
        ages = tree[0].astype(float)
        ends = ages.groupby(node).agg(["min", "max"])
        penalty = (ends["max"] - ends["min"]) / (ages.max() - ages.min())
    else:
        penalty = (node.groupby(node).size() - 1) / (len(tree) - 1)
    of_value = dict(zip(tree[0], penalty[node], strict=True))
    lost += np.mean([of_value[value] for value in table[name]]) / len(QI)
found = {"classes": len(sizes), "gcp": lost, "smallest class": sizes.min(), "withheld": withheld}
found |= {f"level of {name}": level for name, level in levels.items()} | {"seconds": seconds}
print(
    json.dumps(
        [
            {
                "task": "full domain",
                "tool": "anjana",
                "version": version("anjana"),
                "measure": name,
                "value": f"{value:.6g}",
            }
            for name, value in found.items()
        ]
    )
)

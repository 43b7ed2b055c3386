"""One level per column by anjana: hierarchies as dictionaries of levels, no row suppressed.

Frequency l-diversity is its (alpha, k)-anonymity with alpha = 1 / l.
"""

import json
import sys
from pathlib import Path

import pandas as pd
from anjana.anonymity import alpha_k_anonymity, k_anonymity, l_diversity, t_closeness

table, task, released = sys.argv[1:]
task = json.loads(Path(task).read_text())
qi, sensitive, promise = task["quasi_identifiers"], task["sensitive"], task["promise"]
rows = pd.read_csv(table, dtype=str, keep_default_na=False)
trees = {}
for name, file in task["hierarchies"].items():
    tree = pd.read_csv(file, sep=";", header=None, dtype=str, keep_default_na=False)
    trees[name] = {level: tree[level].to_numpy() for level in tree}
k = promise["k"]
if "distinct l" in promise:
    shown = l_diversity(rows, [], qi, sensitive, k, promise["distinct l"], 0, trees)
elif "frequency l" in promise:
    shown = alpha_k_anonymity(rows, [], qi, sensitive, k, 1 / promise["frequency l"], 0, trees)
elif "t" in promise:
    shown = t_closeness(rows, [], qi, sensitive, k, promise["t"], 0, trees)
else:
    shown = k_anonymity(rows, [], qi, k, 0, trees)
shown[[*qi, sensitive]].to_csv(released, index=False)

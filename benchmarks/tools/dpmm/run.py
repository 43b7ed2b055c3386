"""Synthetic rows with differential privacy by dpmm's MST: marginals with OpenDP's noise.

A tenth of epsilon goes to the bounds of its bins. The domain is public and does not cost anything.
"""

import json
import sys
from pathlib import Path

import pandas as pd
from dpmm.pipelines import MSTPipeline

table, task, released = sys.argv[1:]
task = json.loads(Path(task).read_text())
rows = pd.read_csv(table, keep_default_na=False)
domain = {}
for name, values in task["domain"].items():
    if name in task["numeric"]:
        domain[name] = {"lower": int(values[0]), "upper": int(values[-1])}
    else:
        rows[name] = rows[name].astype(str).astype("category").cat.set_categories(values)
        domain[name] = {"categories": values}
epsilon = task["promise"]["epsilon"]
tool = MSTPipeline(epsilon=0.9 * epsilon, proc_epsilon=0.1 * epsilon, delta=1e-5, n_jobs=1)
tool.fit(rows, domain, random_state=task["seed"])
tool.generate(n_records=len(rows), random_state=task["seed"]).to_csv(released, index=False)

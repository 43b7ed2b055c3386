"""Mondrian and MDAV by anonypyx, the successor of anonypy.

Its distance of t-closeness that adds differences up needs quasi-identifiers that are categories.
"""

import json
import re
import sys
from pathlib import Path

import anonypyx
import pandas as pd

table, task, released = sys.argv[1:]
task = json.loads(Path(task).read_text())
qi, sensitive, promise = task["quasi_identifiers"], task["sensitive"], task["promise"]
rows = pd.read_csv(table, keep_default_na=False)
numeric = [] if "t" in promise else task["numeric"]
for name in rows.columns.difference(numeric):
    rows[name] = rows[name].astype(str).astype("category")
found = anonypyx.Anonymiser(
    rows, k=promise["k"], l=promise.get("distinct l"), t=promise.get("t"), feature_columns=qi,
    sensitive_column=sensitive, generalisation_strategy="human-readable",
    closeness_metric="earth mover's distance" if "t" in promise else "max distance",
    algorithm="MDAV-generic" if task["method"] == "MDAV" else "Mondrian",
).anonymise()  # fmt: skip
shown = pd.DataFrame(found)


def text(name, value):
    """Return a published text in the benchmark's notation."""
    ends = re.fullmatch(r"(-?[\d.]+)-(-?[\d.]+)", str(value))
    if name in numeric and ends:
        return f"[{ends[1]} - {ends[2]}]"
    several = sorted(str(value).split(","))
    return "{" + ", ".join(several) + "}" if len(several) > 1 else value


for name in qi:
    shown[name] = [text(name, value) for value in shown[name]]
if "count" in shown:  # without it, a row per person
    shown = shown.loc[shown.index.repeat(shown["count"])]
shown[[*qi, sensitive]].to_csv(released, index=False)

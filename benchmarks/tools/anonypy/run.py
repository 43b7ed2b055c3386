"""Mondrian by anonypy: one row per class and sensitive value, with its count."""

import json
import re
import sys
from pathlib import Path

import anonypy
import pandas as pd

table, task, released = sys.argv[1:]
task = json.loads(Path(task).read_text())
qi, sensitive, promise = task["quasi_identifiers"], task["sensitive"], task["promise"]
rows = pd.read_csv(table, keep_default_na=False)
for name in rows.columns.difference(task["numeric"]):
    rows[name] = rows[name].astype(str).astype("category")
tool = anonypy.Preserver(rows, qi, sensitive)
if "distinct l" in promise:
    found = tool.anonymize_l_diversity(k=promise["k"], l=promise["distinct l"])
elif "t" in promise:
    found = tool.anonymize_t_closeness(k=promise["k"], p=promise["t"])
else:
    found = tool.anonymize_k_anonymity(k=promise["k"])
shown = pd.DataFrame(found)


def text(name, value):
    """Return a published text in the benchmark's notation."""
    value = str(value[0] if isinstance(value, list) else value)
    if name in task["numeric"]:
        ends = re.fullmatch(r"(-?[\d.]+)-(-?[\d.]+)", value)
        return f"[{ends[1]} - {ends[2]}]" if ends else value
    return "{" + ", ".join(sorted(value.split(","))) + "}" if "," in value else value


for name in qi:
    shown[name] = [text(name, value) for value in shown[name]]
shown = shown.loc[shown.index.repeat(shown["count"]), [*qi, sensitive]]
shown.to_csv(released, index=False)

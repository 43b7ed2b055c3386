"""10-anonymity by Mondrian, by anonypy: one row per group and sensitive value, with its count."""

import json
import time
from importlib.metadata import version

import anonypy
import pandas as pd

QI = ["age", "education", "race", "sex"]

table = pd.read_csv("adult.csv", keep_default_na=False)
for name in [*QI[1:], "occupation"]:
    table[name] = table[name].astype("category")
began = time.perf_counter()
rows = anonypy.Preserver(table, QI, "occupation").anonymize_k_anonymity(k=10)
seconds = time.perf_counter() - began
released = pd.DataFrame(rows)
for name in QI:  # lists of one text
    released[name] = [value[0] if isinstance(value, list) else value for value in released[name]]
groups = released.groupby(QI)["count"].sum()


def penalty(name: str, shown: str) -> float:
    """Return the certainty penalty of a published text."""
    if name == "age":
        ends = [float(end) for end in shown.split("-")]
        return (ends[-1] - ends[0]) / float(table["age"].max() - table["age"].min())
    return (len(shown.split(",")) - 1) / (table[name].nunique() - 1)


lost = sum(
    rows * sum(penalty(name, shown) for name, shown in zip(QI, values, strict=True))
    for values, rows in groups.items()
)
found = {"classes": len(groups), "gcp": lost / groups.sum() / len(QI)}
found |= {"smallest class": groups.min(), "seconds": seconds}
print(
    json.dumps(
        [
            {
                "task": "mondrian",
                "tool": "anonypy",
                "version": version("anonypy"),
                "measure": name,
                "value": f"{value:.6g}",
            }
            for name, value in found.items()
        ]
    )
)

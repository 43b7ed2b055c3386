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
began = time.process_time()
rows = anonypy.Preserver(table, QI, "occupation").anonymize_k_anonymity(k=10)
seconds = time.process_time() - began
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
# what t-closeness comes to: the largest distance of a group, every two values 1 apart
few = table.head(1_000)
few = few.assign(occupation=few["occupation"].cat.remove_unused_categories())
reached = {}
for asked in (0.01, 0.1, 0.2, 0.5):
    rows = anonypy.Preserver(few, QI, "occupation").anonymize_t_closeness(k=10, p=asked)
    close = pd.DataFrame(rows)
    for name in QI:
        close[name] = [value[0] if isinstance(value, list) else value for value in close[name]]
    shares = close.groupby([*QI, "occupation"])["count"].sum().unstack(fill_value=0)
    whole = shares.sum() / shares.to_numpy().sum()
    apart = (shares.div(shares.sum(axis=1), axis=0) - whole).abs()
    reached[f"t reached, {asked} asked"] = apart.sum(axis=1).max() / 2
    reached[f"groups, {asked} asked"] = len(shares)

found = {"classes": len(groups), "gcp": lost / groups.sum() / len(QI)}
found |= {"smallest class": groups.min(), "seconds": seconds}
found |= reached
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

"""Synthetic rows by SDV's synthesizers, with their default settings."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sdv.metadata import Metadata
from sdv.single_table import CTGANSynthesizer, GaussianCopulaSynthesizer

warnings.simplefilter("ignore")
table, task, released = sys.argv[1:]
task = json.loads(Path(task).read_text())
np.random.seed(task["seed"])  # noqa: NPY002 (the generator that SDV draws from)
torch.manual_seed(task["seed"])
rows = pd.read_csv(table, keep_default_na=False)
kinds = {True: "numerical", False: "categorical"}
columns = {name: {"sdtype": kinds[name in task["numeric"]]} for name in rows}
metadata = Metadata.load_from_dict({"tables": {"people": {"columns": columns}}})
make = {"GaussianCopula": GaussianCopulaSynthesizer, "CTGAN": CTGANSynthesizer}[task["method"]]
tool = make(metadata)
tool.fit({"people": rows})
found = tool.sample(len(rows))
found["people"].to_csv(released, index=False)

"""Write the summary that a stand-in is made from, from the published file: summarize.py NAME."""

import sys

from anonpaper.datasets import stand_in
from anonpaper.datasets.loading import published_table
from anonpaper.datasets.registry import dataset

entry = dataset(sys.argv[1])
frame, _ = published_table(entry, entry.files)
print(stand_in.write_summary(entry.name, stand_in.summarize(entry.name, frame)))

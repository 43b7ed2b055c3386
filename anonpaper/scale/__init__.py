"""Tables larger than memory: cells are counted in a database engine, and releases written there.

Rows that agree in their quasi-identifiers and sensitive values are interchangeable for every
algorithm, and in what is published. So rows need not come to Python at all: :func:`scan` counts
them where they are, algorithms group the counts, and the release is written as so many copies of
every published row. Expressions are those of Ibis, so DuckDB, Spark or a database do the work.
"""

from anonpaper.scale.source import scan
from anonpaper.scale.table import CountedMicrodata

__all__ = ["CountedMicrodata", "scan"]

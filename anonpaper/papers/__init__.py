"""The papers: what regenerates their figures and tables, and judges their claims."""

from anonpaper.papers.grids import run_grid
from anonpaper.papers.published import reference
from anonpaper.papers.results import Results

__all__ = ["Results", "reference", "run_grid"]

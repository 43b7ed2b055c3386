"""The papers: what regenerates their figures and tables, and judges their claims."""

from __future__ import annotations

from anonpaper.papers.catalogue import Paper, overview, papers
from anonpaper.papers.grids import run_grid
from anonpaper.papers.published import reference
from anonpaper.papers.results import Results
from anonpaper.papers.shown import source_of

__all__ = ["Paper", "Results", "overview", "papers", "reference", "run_grid", "source_of"]

"""The papers, from the paper.toml beside their notebooks."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

import pandas as pd

from anonpaper.compendium.tables import notebooks_folder

__all__ = ["Paper", "overview", "papers"]


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper, with the question that it asks; `picture` is a saved figure, for its page."""

    key: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    question: str
    picture: str

    @property
    def citation(self) -> str:
        """Its authors, title and venue, in Markdown."""
        families = ", ".join(author.partition(",")[0] for author in self.authors)
        return f"{families}: *{self.title}*, {self.venue}"

    @property
    def name(self) -> str:
        """The family names of one or two authors, or the first's, and the year."""
        families = [author.partition(",")[0] for author in self.authors]
        told = f"{families[0]} et al." if len(families) > 2 else ", ".join(families)
        return f"{told} {self.year}"


def papers() -> dict[str, Paper]:
    """Return the papers by key, the oldest first.

    Examples
    --------
    >>> papers()["xiao2010"].name
    'Xiao et al. 2010'
    """
    folder = notebooks_folder()
    files = [] if folder is None else folder.glob("*/paper.toml")
    found = [Paper(key=file.parent.name, **tomllib.loads(file.read_text())) for file in files]
    return {paper.key: paper for paper in sorted(found, key=lambda paper: (paper.year, paper.key))}


def overview() -> pd.DataFrame:
    """Return name, title and question of each paper, one row per paper.

    Examples
    --------
    >>> overview().loc["diva2021", "asks"]
    'can a k-anonymous table keep its minorities?'
    """
    known = papers()
    rows = [(paper.name, paper.title, paper.question) for paper in known.values()]
    return pd.DataFrame(rows, index=[*known], columns=["paper", "title", "asks"])

"""The papers, from the paper.toml beside their notebooks; asked.toml for our own questions."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from anonpaper.compendium.tables import notebooks_folder
from anonpaper.errors import ParameterError

__all__ = ["Asked", "Paper", "asked", "overview", "papers"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Notebooks that belong to no paper but have claims; `sizes` describes a profile's sizes.

    The site shows `picture`, a saved figure, and the answers of the notebooks in `answers`.
    """

    key: str
    title: str
    question: str
    sizes: Mapping[str, str]
    citation: str = "Questions from no paper"
    words: Mapping[str, str] = field(default_factory=dict)
    picture: str = ""
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Paper(Asked):
    """A paper; `words` explains words of its claims."""

    authors: tuple[str, ...]
    year: int
    venue: str

    def __post_init__(self):
        families = ", ".join(author.partition(",")[0] for author in self.authors)
        object.__setattr__(self, "citation", f"{families}: *{self.title}*, {self.venue}")

    @property
    def name(self) -> str:
        """The family names of one or two authors, or the first's, and the year."""
        families = [author.partition(",")[0] for author in self.authors]
        told = f"{families[0]} et al." if len(families) > 2 else ", ".join(families)
        return f"{told} {self.year}"


def asked() -> dict[str, Asked]:
    """Return the folders with our own questions, by key."""
    found = [_read(file, Asked) for file in _files("asked.toml")]
    return {one.key: one for one in sorted(found, key=lambda one: one.key)}


def papers() -> dict[str, Paper]:
    """Return the papers by key, the oldest first.

    Raises
    ------
    ParameterError
        A paper.toml has fields that :class:`Paper` lacks.

    Examples
    --------
    >>> papers()["xiao2010"].name
    'Xiao et al. 2010'
    """
    found = [_read(file, Paper) for file in _files("paper.toml")]
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


def _files(name: str) -> list[Path]:
    folder = notebooks_folder()
    return [] if folder is None else [*folder.glob(f"*/{name}")]


def _read(file: Path, kind: type) -> Asked:
    fields = tomllib.loads(file.read_text(encoding="utf-8"))
    try:
        return kind(key=file.parent.name, **fields)
    except TypeError as error:
        raise ParameterError(f"{file.parent.name}/{file.name}: {error}") from None

"""The papers of this compendium: what is said of each, from the paper.toml in its folder.

What nobody's paper asks has an asked.toml instead: notebooks and claims of ours.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from anonpaper.errors import ParameterError

__all__ = ["Asked", "Paper", "asked", "overview", "papers"]


@dataclass(frozen=True)
class Paper:
    """A paper, as its paper.toml describes it.

    Attributes
    ----------
    key : str
        Name of its folders, e.g. ``"xiao2010"``.
    title, venue, question : str
        What it is called, where it appeared (with the year), what it asks.
    authors : tuple of str
        ``"Family, Given"``, in the paper's order.
    year : int
    sizes : mapping of str to str
        Profile -> what its notebooks run then, in words.
    words : mapping of str to str
        Word that its claims use -> what is meant by it.
    """

    key: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    question: str
    sizes: Mapping[str, str]
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The authors' family names and the year."""
        return f"{self._families} {self.year}"

    @property
    def citation(self) -> str:
        """Authors, title and venue, in Markdown."""
        return f"{self._families}: *{self.title}*, {self.venue}"

    @property
    def _families(self) -> str:
        return ", ".join(author.partition(",")[0] for author in self.authors)


@dataclass(frozen=True)
class Asked:
    """Notebooks that belong to no paper but have claims, as their asked.toml describes them.

    Attributes
    ----------
    key : str
        Name of their folders, e.g. ``"together"``.
    title, question : str
        What they are called, and what they ask.
    sizes : mapping of str to str
        Profile -> what they run then, in words.
    """

    key: str
    title: str
    question: str
    sizes: Mapping[str, str]
    citation: str = "No paper's, asked by us"
    words: Mapping[str, str] = field(default_factory=dict)


def asked() -> dict[str, Asked]:
    """Return by key what is asked beyond the papers.

    Raises
    ------
    ParameterError
        If an asked.toml has other fields than those of :class:`Asked`.

    Examples
    --------
    >>> asked()["together"].title
    'Methods side by side'
    """
    found = [_read(file, Asked) for file in Path(__file__).parent.glob("*/asked.toml")]
    return {one.key: one for one in sorted(found, key=lambda one: one.key)}


def papers() -> dict[str, Paper]:
    """Return the papers by key, the oldest first.

    Raises
    ------
    ParameterError
        If a paper.toml has other fields than those of :class:`Paper`.

    Examples
    --------
    >>> papers()["xiao2010"].name
    'Xiao, Yi, Tao 2010'
    """
    found = [_read(file) for file in Path(__file__).parent.glob("*/paper.toml")]
    return {paper.key: paper for paper in sorted(found, key=lambda paper: (paper.year, paper.key))}


def _read(file: Path, kind: type = Paper) -> Paper | Asked:
    fields = tomllib.loads(file.read_text(encoding="utf-8"))
    try:
        return kind(key=file.parent.name, **fields)
    except TypeError as error:
        raise ParameterError(f"{file.parent.name}/{file.name}: {error}") from None


def overview() -> pd.DataFrame:
    """Return what each paper is and asks, a row per paper.

    Returns
    -------
    DataFrame
        ``paper`` (authors and year), ``title``, ``asks``; indexed by the names of the folders.

    Examples
    --------
    >>> overview().loc["diva2021", "asks"]
    'can a k-anonymous table keep its minorities?'
    """
    known = papers()
    rows = [(paper.name, paper.title, paper.question) for paper in known.values()]
    return pd.DataFrame(rows, index=[*known], columns=["paper", "title", "asks"])

"""Where a data set came from: the one sentence every figure and notebook prints."""

from __future__ import annotations

from dataclasses import asdict, dataclass

__all__ = ["Origin", "StandInWarning"]


class StandInWarning(UserWarning):
    """The published file of a data set is not at hand; generated rows took its place."""


@dataclass(frozen=True)
class Origin:
    """Where the rows of a data set came from.

    Attributes
    ----------
    dataset : str
        Name in the registry, for instance ``"adult"``.
    how : str
        ``"by hand"`` (the user's data folder), ``"official address"``, ``"package index"``,
        ``"stand-in"`` or ``"user's extract"``.
    file : str
        The file, or the files joined by ``" + "``; empty for a stand-in.
    sha256 : str
        sha256 of the unpacked file or files, joined the same way; empty for a stand-in.
    stand_in : bool
        Whether the rows were generated from the published schema instead of read.
    substitute_for : str or None
        The data set of a paper that this one stands for, when it is not the paper's own.
    note : str
        What was left out, sampled or replaced on the way.

    Examples
    --------
    >>> print(Origin("adult", "package index", "adult.data", "5b00264637db"))
    adult: adult.data (package index, sha256 5b00264637db)
    >>> print(Origin("stroke", "stand-in", stand_in=True, note="5,110 generated rows"))
    stroke: STAND-IN DATA generated from the published schema; 5,110 generated rows
    """

    dataset: str
    how: str
    file: str = ""
    sha256: str = ""
    stand_in: bool = False
    substitute_for: str | None = None
    note: str = ""

    def __str__(self) -> str:
        if self.stand_in:
            source = "STAND-IN DATA generated from the published schema"
        else:
            short = " + ".join(part[:12] for part in self.sha256.split(" + "))
            source = f"{self.file} ({self.how}, sha256 {short})"
        stands_for = f"stands for {self.substitute_for}" if self.substitute_for else ""
        return f"{self.dataset}: " + "; ".join(filter(None, [source, stands_for, self.note]))

    def as_dict(self) -> dict[str, str | bool | None]:
        """Return the fields as a dict, for a manifest."""
        return asdict(self)

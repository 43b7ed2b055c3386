"""What is published of one quasi-identifier: a sub-domain for every row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonpaper.microdata import Attribute
from anonpaper.subdomains import SubDomains

__all__ = ["PublishedAttribute"]


@dataclass(frozen=True, eq=False)
class PublishedAttribute:
    """The published values of one quasi-identifier, whose sub-domains all differ.

    ``index``, shape (n,), dtype int32, is the sub-domain of every row; meaningless for rows that
    are withheld.
    """

    sub_domains: SubDomains
    index: np.ndarray

    @property
    def attribute(self) -> Attribute:
        """The attribute and its whole domain."""
        return self.sub_domains.attribute

    @property
    def labels(self) -> np.ndarray:
        """How every sub-domain is written, shape (r,), dtype object."""
        return self.sub_domains.labels

    @property
    def sizes(self) -> np.ndarray:
        """Number of values in every sub-domain, shape (r,), dtype int64."""
        return self.sub_domains.sizes

    @property
    def is_star(self) -> np.ndarray:
        """Whether a sub-domain is the whole domain of at least two values, shape (r,)."""
        return self.sub_domains.is_star

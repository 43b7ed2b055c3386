"""Publish: the only door that turns groups or sub-domains into published values."""

from .judging import check_release
from .methods import anatomize, generalize, recode, shallow_generalize, suppress, swap
from .release import Anatomy, PublishedAttribute, Release

__all__ = [
    "Anatomy", "PublishedAttribute", "Release", "anatomize", "check_release",
    "generalize", "recode", "shallow_generalize", "suppress", "swap",
]  # fmt: skip

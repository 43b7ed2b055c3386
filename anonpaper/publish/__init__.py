"""Publish: the only door that turns groups or sub-domains into published values."""

from anonpaper.publish.attribute import PublishedAttribute
from anonpaper.publish.methods import anatomize, generalize, recode, suppress, swap
from anonpaper.publish.release import Anatomy, GroupRelease, Release, check_release
from anonpaper.publish.shallow import shallow_generalize

__all__ = [
    "Anatomy",
    "GroupRelease",
    "PublishedAttribute",
    "Release",
    "anatomize",
    "check_release",
    "generalize",
    "recode",
    "shallow_generalize",
    "suppress",
    "swap",
]

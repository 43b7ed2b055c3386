"""Doctests: what needs an extra runs where it is installed, and `ap` is the package."""

from importlib.util import find_spec

import pytest

import anonpaper

collect_ignore = [] if find_spec("ibis") else ["anonpaper/owner/scan.py"]


@pytest.fixture(autouse=True, scope="session")
def _package_in_examples(doctest_namespace):
    doctest_namespace["ap"] = anonpaper

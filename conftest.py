"""Doctests begin with the usual imports; a module that needs an extra runs if it is installed."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import anonpaper

collect_ignore = [] if find_spec("ibis") else ["anonpaper/owner/scan.py"]


@pytest.fixture(autouse=True, scope="session")
def _usual_imports(doctest_namespace):
    doctest_namespace.update(ap=anonpaper, np=np, pd=pd)

"""Doctests of what needs an extra run where it is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("ibis") else ["anonpaper/owner/scan.py"]

"""Modules beside the notebooks can be imported once the compendium is."""

import anonpaper.compendium  # noqa: F401

"""Puts the modules beside the notebooks on the path, before the tests import them."""

import anonpaper.compendium  # noqa: F401

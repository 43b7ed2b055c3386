"""The modules beside the notebooks of majeed2024 can be imported once this package is."""

import anonpaper.compendium  # noqa: F401

"""Diversity constraints: their language, rules that make sets of them, and conflicts."""

from anonpaper.constraints import language, rules
from anonpaper.constraints.language import *  # noqa: F403
from anonpaper.constraints.rules import *  # noqa: F403

__all__ = [*language.__all__, *rules.__all__]

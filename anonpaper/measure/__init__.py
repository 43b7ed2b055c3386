"""Measures: numbers about a release. None of them changes anything."""

from anonpaper.measure import loss, queries, risk
from anonpaper.measure.bounds import fewest_stars
from anonpaper.measure.loss import *  # noqa: F403
from anonpaper.measure.minimality_attack import minimality
from anonpaper.measure.queries import *  # noqa: F403
from anonpaper.measure.risk import *  # noqa: F403
from anonpaper.publish.judging import attackers, audit

__all__ = ["attackers", "audit", "fewest_stars", "minimality", *loss.__all__]
__all__ += [*queries.__all__, *risk.__all__]

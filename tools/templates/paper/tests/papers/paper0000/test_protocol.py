"""What the notebooks of paper0000 measure is what releases have."""

import anonpaper as ap
from anonpaper.papers.paper0000 import protocol


def test_stars_are_those_of_the_release():
    m = ap.examples.patients()
    assert protocol.stars_at_level(m, 2) == {
        "stars": ap.measure.stars(ap.suppress(m, ap.tp(m, 2)))
    }

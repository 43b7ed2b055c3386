"""What the notebooks of paper0000 measure is what releases have."""

import paper0000

import anonpaper as ap


def test_stars_are_those_of_the_release():
    m = ap.examples.patients()
    assert paper0000.stars_at_level(m, 2) == {
        "stars": ap.measure.stars(ap.suppress(m, ap.tp(m, 2)))
    }

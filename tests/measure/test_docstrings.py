"""What every measure has to say of itself, and names that measures no longer have."""

import inspect
import re

import pytest

import anonpaper as ap
from anonpaper.errors import AnonpaperError

MEASURES = [name for name in ap.measure.__all__ if inspect.isfunction(getattr(ap.measure, name))]
RANGE = r"\d|from n|above|[Ww]hich|[Aa]t least|counting queries|[Ss]hares?"


def test_there_are_measures():
    assert len(MEASURES) > 25


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_says_what_it_is_its_range_and_an_example(name):
    documented = inspect.getdoc(getattr(ap.measure, name))
    first = documented.splitlines()[0]
    assert first.endswith((".", ").")) and not first.startswith(("Return", "Compute", "Count "))
    assert re.search(RANGE, first), first
    assert ">>> " in documented


def test_an_anatomy_has_no_sensitive_codes_and_measures_that_need_them_say_so():
    m = ap.examples.hospital()
    anatomy = ap.anatomize(m, ap.examples.hospital_two_diverse())
    assert not hasattr(anatomy, "sensitive_codes")
    for measure in (ap.measure.kl_divergence, lambda rel: ap.measure.marginal_similarity(m, rel)):
        with pytest.raises(AnonpaperError, match="rows of an anatomy have no sensitive value"):
            measure(anatomy)

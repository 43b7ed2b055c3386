"""What `help` says of the public functions; their examples are run as doctests."""

import inspect
import re

import pytest

import anonpaper as ap

FUNCTIONS = [name for name in ap.__all__ if inspect.isfunction(getattr(ap, name))]
ALGORITHMS = [name for name in FUNCTIONS if hasattr(getattr(ap, name), "algorithm")]
SECTIONS = ["Parameters", "Returns", "Raises", "References", "Examples"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_says_all_that_a_user_needs(name):
    function = getattr(ap, name)
    documented = inspect.getdoc(function)
    assert ">>> " in documented
    assert set(inspect.signature(function).parameters) <= set(re.findall(r"\w+", documented))
    if name in ALGORITHMS:
        assert documented.startswith("Guarantee")
        said = re.findall(r"^(\w+)\n-+$", documented, flags=re.M)
        assert [section for section in SECTIONS if section not in said] == []

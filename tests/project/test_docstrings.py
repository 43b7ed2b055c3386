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
    parts = re.split(r"^(\w+)\n-+$", documented, flags=re.M)
    said = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert [section for section in SECTIONS if section not in said] == []
    assert ">>> " in said["Examples"]
    lines = re.findall(r"^(\S[^:\n]*)", said["Parameters"], re.M)
    named = {part.strip(" *") for line in lines for part in line.split(",")}
    assert set(inspect.signature(function).parameters) <= named
    assert name not in ALGORITHMS or documented.startswith("Guarantee")

"""Examples of the checks and small helpers that every room uses."""

import numpy as np
import pytest

import anonpaper as ap
from anonpaper import errors
from anonpaper.files import check_place, named_by_user, sha256, whole_files
from anonpaper.hierarchy import exact_number
from anonpaper.principles import l_diversity


def test_checks_return_what_they_were_given_in_one_form():
    assert errors.check_integer("k", np.int64(5), 2, 10) == 5
    assert errors.check_number("theta", 0.3, 0, 1, open_low=True) == 0.3
    assert errors.check_choice("side", "left", ("left", "right")) == "left"
    assert errors.check_sequence("qi", ("age", "sex")) == ["age", "sex"]
    assert errors.check_named("hierarchies", None, ["age"]) == {}
    assert errors.check_weights(["age", "sex"], {"age": 5}).tolist() == [5.0, 1.0]
    assert str(exact_number("width", 0.1, 0)) == "1/10"
    assert l_diversity(3, "distinct") == ap.DistinctLDiversity(3)
    assert ap.tp.algorithm.promised({"l": 3}) == [ap.FrequencyLDiversity(3)]


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: errors.check_integer("k", 1, 2, 10), "k must be an integer from 2 to 10, got 1"),
        (
            lambda: errors.check_integer("k", True, 2),
            "k must be an integer of at least 2, got True",
        ),
        (
            lambda: errors.check_number("theta", 0, 0, 1, open_low=True),
            r"theta must be a number in \(0, 1\], got 0",
        ),
        (
            lambda: errors.check_choice("side", "up", ("left", "right")),
            "side must be 'left' or 'right', got 'up'",
        ),
        (lambda: errors.check_sequence("qi", "age"), "qi must be a sequence, got 'age'"),
        (lambda: errors.check_sequence("qi", np.array(1)), "qi must be a sequence"),
    ],
)
def test_checks_say_what_was_wrong_and_what_would_work(check, message):
    with pytest.raises(errors.ParameterError, match=f"^{message}"):
        check()


def test_files_appear_when_they_are_complete_and_under_a_name_that_fits(tmp_path):
    with whole_files([tmp_path / "new"]) as [stream]:
        stream.write(b"abc")
        assert not (tmp_path / "new").exists()
    assert (tmp_path / "new").read_bytes() == b"abc"
    with pytest.raises(errors.FileError, match="a page is written as .html: change the ending"):
        check_place(tmp_path / "page.txt", endings=[".html"], of="a page is written as .html")
    with (
        pytest.raises(errors.FileError, match="^nothing.csv: No such"),
        named_by_user("nothing.csv"),
    ):
        (tmp_path / "nothing.csv").read_bytes()
    assert sha256("anonpaper").startswith("15c2d30f")

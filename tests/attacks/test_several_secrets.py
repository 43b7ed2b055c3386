"""Who knows one sensitive value of a person looks for the others: the levels do not cover it."""

import pandas as pd
import pytest

import anonpaper as ap

FRAME = pd.DataFrame({"age": [30, 31] * 2, "ill": list("abcd"), "drug": list("wxyz")})


def test_one_known_secret_tells_the_other_and_the_release_says_so(tmp_path):
    """All levels are of four equally likely values; yet who knows the drug knows the illness."""
    m = ap.Microdata(FRAME, ["age"], ["ill", "drug"])
    rel = ap.suppress(m, ap.mondrian(m, 4, 4, diversity="distinct"))
    audit = rel.audit().set_index("principle")["level"]
    assert audit["entropy l-diversity of ill"] == pytest.approx(4)
    with pytest.warns(UserWarning, match="several sensitive values.*surer of the others"):
        [path] = rel.write(tmp_path / "published.csv")
    published = pd.read_csv(path)
    assert (published.groupby(["age", "drug"])["ill"].nunique() == 1).all()
    assert "several sensitive values" in repr(rel)
    assert rel.audit().loc[lambda a: a["principle"] == "warning", "meaning"].str.len().sum() > 0


def test_with_one_secret_there_is_nothing_to_say():
    m = ap.Microdata(FRAME, ["age"], ["ill"])
    assert ap.suppress(m, ap.mondrian(m, 4)).warnings == ()

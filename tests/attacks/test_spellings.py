"""Texts that mislead: spellings, formulas, orders, and values that look like published ones."""

import warnings

import pandas as pd
import pytest

import anonpaper as ap
from anonpaper.errors import ColumnError
from anonpaper.owner.cli import main

HIV = ["HIV", "hiv", "HIV ", "H.I.V.", "h-i-v", "ＨＩＶ"]


def test_spellings_of_one_secret_are_reported_before_and_after(tmp_path, capsys):
    frame = pd.DataFrame({"age": [30] * 6 + [40] * 6, "ill": HIV * 2})
    m = ap.Microdata(frame, ["age"], "ill")
    rel = ap.suppress(m, ap.mondrian(m, k=6))
    said = rel.audit().query("principle == 'warning'")["meaning"].tolist()
    assert len(said) == 1 and all(repr(text) in said[0] for text in HIV)
    frame.to_csv(tmp_path / "in.csv", index=False)
    out = str(tmp_path / "out.csv")
    assert main(["anonymize", str(tmp_path / "in.csv"), "--method", "mondrian", "--k", "2",
                 "--qi", "age", "--sensitive", "ill", "-o", out]) == 0  # fmt: skip
    told = capsys.readouterr().err
    assert told.index("'H.I.V.'") < told.index("grouping")


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1"])
@pytest.mark.parametrize("harmless", ["-5", "+3.5", "-", "a=b", "[-5 - 3]", "-1e5"])
def test_formulas_are_written_as_they_are_with_a_warning(text, harmless, tmp_path):
    frame = pd.DataFrame({"age": [30] * 4, "ill": [harmless, "b", "c", "d"]})
    m = ap.Microdata(frame, ["age"], "ill")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ap.suppress(m, ap.mondrian(m, k=2)).write(tmp_path / "out.csv")
    m = m.replace(frame=frame.assign(ill=[text, "b", "c", "d"]))
    with pytest.warns(UserWarning, match="spreadsheet may run texts"):
        [path] = ap.suppress(m, ap.mondrian(m, k=2)).write(tmp_path / "out.csv")
    assert text in set(pd.read_csv(path)["ill"])


@pytest.mark.parametrize("order", ["abc", "cba", "bca"])
def test_the_declared_order_of_categories_does_not_show(order):
    for column in (pd.Categorical(list("abab"), list(order)), list("abab")):
        domains = {"q": list(order)} if isinstance(column, list) else None
        frame = pd.DataFrame({"q": column, "s": list("xyxy")})
        m = ap.Microdata(frame, ["q"], "s", domains=domains)
        rel = ap.generalize(m, ap.Partition([0, 0, 1, 1]))
        assert set(rel.public_frame()["q"]) == {"{a, b}"}


def test_one_known_secret_tells_the_other_and_the_release_says_so(tmp_path):
    """All levels are of four equally likely values; yet who knows the drug knows the illness."""
    frame = pd.DataFrame({"age": [30, 31] * 2, "ill": list("abcd"), "drug": list("wxyz")})
    m = ap.Microdata(frame, ["age"], ["ill", "drug"])
    rel = ap.suppress(m, ap.mondrian(m, 4, 4, diversity="distinct"))
    audit = rel.audit().set_index("principle")
    assert audit.loc["entropy l-diversity of ill", "level"] == pytest.approx(4)
    with pytest.warns(UserWarning, match="several sensitive values.*surer of the others"):
        [path] = rel.write(tmp_path / "published.csv")
    assert (pd.read_csv(path).groupby(["age", "drug"])["ill"].nunique() == 1).all()
    assert "several sensitive values" in repr(rel) and audit.loc["warning", "meaning"].all()


@pytest.mark.parametrize(("form", "text"), [("suppress", "*"), ("generalize", "{a, b}")])
def test_what_stands_for_two_things_is_refused(form, text, tmp_path):
    frame = pd.DataFrame({"q": [text, text, *"abcc"], "s": list("xyxyxy")})
    rel = getattr(ap, form)(ap.Microdata(frame, ["q"], "s"), ap.Partition([0, 0, 1, 1, 2, 2]))
    with pytest.raises(ColumnError, match="would have several meanings in 'q'"):
        rel.write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())  # nothing was written

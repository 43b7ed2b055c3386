"""Spellings of secrets, formulas in cells, orders of categories, and senseless levels."""

import warnings

import pandas as pd
import pytest

import anonpaper as ap
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
def test_formulas_are_written_as_they_are_with_a_warning(text, tmp_path):
    frame = pd.DataFrame({"age": [30] * 4, "ill": [text, "b", "c", "d"]})
    m = ap.Microdata(frame, ["age"], "ill")
    rel = ap.suppress(m, ap.mondrian(m, k=2))
    with pytest.warns(UserWarning, match="spreadsheet may run texts"):
        [path] = rel.write(tmp_path / "out.csv")
    assert text in set(pd.read_csv(path)["ill"])


@pytest.mark.parametrize("text", ["-5", "+3.5", "-", "a=b", "[-5 - 3]", "-1e5"])
def test_signed_numbers_are_no_formulas(text, tmp_path):
    frame = pd.DataFrame({"age": [30] * 4, "ill": [text, "b", "c", "d"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m = ap.Microdata(frame, ["age"], "ill")
        ap.suppress(m, ap.mondrian(m, k=2)).write(tmp_path / "out.csv")


@pytest.mark.parametrize("order", ["abc", "cba", "bca"])
def test_the_declared_order_of_categories_does_not_show(order):
    for column in (pd.Categorical(list("abab"), list(order)), list("abab")):
        domains = {"q": list(order)} if isinstance(column, list) else None
        frame = pd.DataFrame({"q": column, "s": list("xyxy")})
        m = ap.Microdata(frame, ["q"], "s", domains=domains)
        rel = ap.generalize(m, ap.Partition([0, 0, 1, 1]))
        assert set(rel.public_frame()["q"]) == {"{a, b}"}

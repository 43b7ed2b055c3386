"""The list of data sets, the command line, origins and the papers' numbers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from anonpaper.datasets import available, fetch
from anonpaper.datasets.registry import registry
from anonpaper.errors import DatasetError, DatasetUnavailableError
from anonpaper.owner.cli import main


def test_available_lists_every_data_set_without_fetching(no_network):
    table = available().set_index("name")
    assert table.index.tolist() == list(registry())
    assert table["rows"].to_dict() == {name: data.rows for name, data in registry().items()}
    assert table.loc["adult", "origin"] == "to be fetched"
    assert table.loc["sal", "origin"] == "from census: to be fetched"
    assert table.loc["stroke", "origin"] == "stand-in"
    assert table.loc["diabetes", "origin"] == "to be fetched, else stand-in"
    assert table.notna().all().all()
    assert [path for path in no_network.rglob("*") if path.is_file()] == []
    (no_network / "raw" / "adult.data").write_text("tampered")
    assert "wrong sha256" in available().set_index("name").loc["adult", "origin"]


def test_fetch_returns_origins_without_warning(no_network, recwarn):
    origins = fetch(["stroke"])
    assert origins["stroke"].stand_in
    assert len(recwarn) == 0
    with pytest.raises(DatasetUnavailableError, match=r"german\.data"):
        fetch(["german"])
    with pytest.raises(DatasetError, match="did you mean 'german'"):
        fetch(["germany"])


def test_the_command_line_goes_on_after_a_failure_and_reports_it(no_network, capsys):
    assert main(["fetch", "stroke", "german", "pantheon"]) == 1
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["stroke", "pantheon"]
    assert all("STAND-IN" in line for line in lines)
    assert "german.data" in printed.err


def test_importing_the_data_sets_loads_no_client_of_the_network():
    code = (
        "import sys, anonpaper.datasets; "
        "print([n for n in ('pooch', 'requests', 'scipy', 'pyarrow.parquet') "
        "if n in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"

"""The command line on tables that an engine scans: the same groups, the same rows."""

import json

import pandas as pd
import pytest

from anonpaper.owner.cli import main

pytest.importorskip("ibis", reason="tables are scanned by Ibis: anonpaper[scale]")
pytest.importorskip("duckdb", reason="files are scanned by DuckDB: anonpaper[scale]")


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people"
    path.mkdir()
    frame = pd.DataFrame(
        {
            "zip": ["02139", "02140", "00501"] * 16,
            "age": [20 + i % 5 for i in range(48)],
            "ill": ["flu", "NA", "gout", "mumps"] * 12,
            "name": range(48),
        }
    )
    frame[:24].to_csv(path / "a.csv", index=False)
    frame[24:].to_csv(path / "b.csv", index=False)
    frame.to_csv(tmp_path / "whole.csv", index=False)
    return f"{path}/*.csv"


ROLES = ["--qi", "zip,age", "--sensitive", "ill", "--method", "mondrian", "--k", "4", "--l", "2"]


@pytest.mark.parametrize("publish", ["suppress", "generalize"])
def test_a_pattern_gives_what_the_whole_table_gives(publish, people, tmp_path, capsys):
    more = [*ROLES, "--publish", publish, "--json", "-q"]
    assert (
        main(["anonymize", people, "--engine", "duckdb", *more, "-o", f"{tmp_path}/a.parquet"])
        == 0
    )
    mine = json.loads(capsys.readouterr().out)
    whole = f"{tmp_path}/whole.csv"
    assert main(["anonymize", whole, *more, "-o", f"{tmp_path}/out.parquet"]) == 0
    theirs = json.loads(capsys.readouterr().out)
    for part in ("rows", "levels", "loss"):
        assert mine[part] == theirs[part]
    assert mine["levels of the files"][0]["level"] == mine["levels"][0]["level"] >= 4
    written, expected = (pd.read_parquet(tmp_path / name) for name in ("a.parquet", "out.parquet"))
    assert list(written) == list(expected)
    first, second = (sorted(map(tuple, f.astype(str).to_numpy())) for f in (written, expected))
    assert first == second

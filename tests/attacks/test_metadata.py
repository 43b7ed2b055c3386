"""What files say besides their rows: names, categories, types, notes of programs, times."""

import gzip
import io

import numpy as np
import pandas as pd
import pytest
from referees.published import WAYS, released, with_tables

import anonpaper as ap

pq = pytest.importorskip("pyarrow.parquet", reason="parquet needs pyarrow: anonpaper[parquet]")
pytestmark = pytest.mark.filterwarnings("ignore:minimality attack")
HIDDEN = [b"index-", b"person-", b"attrs-note", b"never-shown", b"not-shown", b"pandas"]


def test_no_file_holds_a_name_a_category_or_a_note(tmp_path):
    for way, seed in with_tables(WAYS):
        rel = released(*way, seed)
        endings = ("csv", "csv.gz", "parquet")
        for path in (path for end in endings for path in rel.write(tmp_path / f"out.{end}")):
            content = path.read_bytes()
            if path.suffix == ".gz":
                assert content[3] == 0 and content[4:8] == bytes(4)  # neither name nor time
                content = gzip.decompress(content)
            for text in HIDDEN:
                assert text not in content, (rel, path, text)
            if path.suffix == ".parquet":
                found = pq.ParquetFile(io.BytesIO(content))
                assert found.schema_arrow.metadata is found.metadata.metadata is None
                assert "dictionary" not in str(found.schema_arrow)
                assert found.num_row_groups == 1


def variants(frame, rng):
    """The same people in other types, another order, with other people's categories."""
    yield frame
    yield frame.iloc[rng.permutation(len(frame))].set_axis(range(len(frame)))
    yield frame.astype({"age": "int8", "ill": "string", "sex": "string"})
    yield frame.astype({"age": "Int64", "sex": object, "ill": object})
    more = frame.astype({"ill": pd.CategoricalDtype(["z", "flu"]), "town": "category"})
    more.attrs["who"], more.columns.name = "did this", "columns"
    yield more


@pytest.mark.parametrize("form", ["suppress", "swap", "anatomize"])
def test_files_depend_on_nothing_but_the_published_rows(form, tmp_path):
    """Two tables of the same rows give the same bytes but for the order."""
    rng = np.random.default_rng(0)
    columns = {"age": rng.integers(20, 23, 40), "sex": rng.choice(["f", "m"], 40)}
    frame = pd.DataFrame(columns | {"town": rng.choice(["Ulm", "Bonn"], 40), "ill": "flu"})
    seen = {"csv": set(), "parquet": set()}
    for variant in variants(frame, rng):
        m = ap.Microdata(variant, ["age", "sex", "town"], "ill")
        ages = m.frame["age"].astype(int)
        p = ap.Partition((ages - ages.min()).to_numpy(dtype=np.int64))
        rel = getattr(ap, form)(m, p)
        path = rel.write(tmp_path / "out.csv")[0]
        rows = pd.read_csv(path, dtype=str)
        sizes = rows.pop("group").value_counts().tolist() if form == "anatomize" else None
        head = path.read_text().splitlines()[0]
        seen["csv"].add((head, str(sizes), *sorted(rows.agg("|".join, axis=1))))
        found = pq.ParquetFile(rel.write(tmp_path / "out.parquet")[0])
        seen["parquet"].add((str(found.schema).partition("\n")[2], str(found.schema_arrow)))
    assert len(seen["csv"]) == len(seen["parquet"]) == 1

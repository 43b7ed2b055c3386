"""SAL and OCC from a user's own extract of the American Community Survey, from IPUMS USA.

The paper prints only the sizes of the domains (Table 6). The recodings here and in ipums.csv have
these sizes and are ours.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.datasets.acs import QI, SAL_AGES, income_brackets
from anonpaper.datasets.fetching import unpacked_sha256
from anonpaper.datasets.registry import Origin
from anonpaper.files import named_by_user
from anonpaper.microdata import Microdata
from anonpaper.randomness import generator

__all__ = ["load_ipums"]

#: Attribute -> variable of IPUMS.
VARIABLES = dict(zip(QI.values(), "AGE SEX RACE MARST BPL EDUCD CLASSWKRD".split(), strict=True))
SENSITIVE = {"sal": ("Income", "INCTOT"), "occ": ("Occupation", "OCC1990")}

NO_INCOME = 9_999_999
NOT_WORKING = 991  # the least code that is no occupation
OCCUPATION_WIDTH = 20


def load_ipums(
    path: str | Path, table: str = "sal", *, rows: int | None = 600_000, seed: int = 0
) -> Microdata:
    r"""Build SAL or OCC of xiao2010 from an IPUMS USA extract, with the attributes of Table 6.

    Adults are persons of at least 17 years; ages above 95 become 95 (79 values). RACE (9), MARST
    (6) and CLASSWKRD (9) keep the codes of IPUMS. EDUCD is joined to 17 levels, BPL to the 51
    states and 5 other areas, INCTOT to 50 classes of $2,000, the last one open. OCC1990 is joined
    to 50 intervals of 20 codes, for people with an occupation. The origin says how many rows were
    kept.

    The extract is a csv file with a header line, gzipped or not, with AGE, SEX, RACE, MARST, BPL,
    EDUCD and CLASSWKRD, and INCTOT for "sal" or OCC1990 for "occ". `rows` adults are drawn without
    replacement; None, or more than there are, is all. DatasetUnavailableError, FileError or
    ColumnError if the file is missing or cannot be read, lacks a variable or has an unknown code.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> header = "AGE,SEX,RACE,MARST,BPL,EDUCD,CLASSWKRD,INCTOT"
    >>> with TemporaryDirectory() as folder:
    ...     extract = Path(folder, "extract.csv")
    ...     _ = extract.write_text(header + "\n41,2,1,4,36,101,22,31500\n16,1,1,6,6,50,0,0\n")
    ...     m = load_ipums(extract)
    >>> m.frame[["Gender", "Race", "Marital Status", "Income"]]
       Gender   Race Marital Status  Income
    0  Female  White       Divorced   30000
    """
    errors.check_choice("table", table, SENSITIVE)
    with named_by_user(path):
        path = Path(path)
        if not path.is_file():
            raise errors.DatasetUnavailableError(
                f"there is no file {path}: order an extract at https://usa.ipums.org"
            )
        extract = pd.read_csv(path, low_memory=False).rename(columns=lambda c: str(c).upper())
    sensitive, variable = SENSITIVE[table]
    needed = [*VARIABLES.values(), variable]
    if lacking := [name for name in needed if name not in extract]:
        raise errors.ColumnError(
            f"{path.name} lacks the variables {lacking}; it has {list(extract.columns)}"
        )
    for name in needed:
        try:
            extract[name] = pd.to_numeric(extract[name])  # blanks are NA
        except (ValueError, TypeError) as error:
            raise errors.ColumnError(f"{name} in {path.name} is no number: {error}") from error
    held = extract[variable]
    wanted = held != NO_INCOME if table == "sal" else held.between(1, NOT_WORKING - 1)
    adults = extract[(extract["AGE"] >= SAL_AGES[0]) & wanted]
    columns: dict = {"Age": adults["AGE"].clip(upper=SAL_AGES[1]).to_numpy(np.int64)}
    known = pd.read_csv(Path(__file__).with_name("ipums.csv"), keep_default_na=False)
    for attribute, name in list(VARIABLES.items())[1:]:
        rows_of = known[known["variable"] == name]
        codes = pd.IntervalIndex.from_arrays(rows_of["first"], rows_of["last"], closed="both")
        place = codes.get_indexer(adults[name])
        if (place < 0).any():
            raise errors.ColumnError(
                f"{name} ({attribute}) in {path.name} has unknown codes "
                f"{adults[name][place < 0].unique().tolist()[:5]}: is it an extract of the "
                "American Community Survey?"
            )
        meaning = rows_of["meaning"]
        columns[attribute] = pd.Categorical(
            meaning.to_numpy()[place], meaning.unique(), ordered=name == "EDUCD"
        )
    held = adults[variable].to_numpy()
    in_intervals = held.astype(np.int64) // OCCUPATION_WIDTH * OCCUPATION_WIDTH
    columns[sensitive] = income_brackets(held) if table == "sal" else in_intervals
    frame = pd.DataFrame(columns)
    note = f"{len(frame):,} adults of {len(extract):,} persons"
    if rows is not None and errors.check_integer("rows", rows, 1) < len(frame):
        drawn = np.sort(generator(seed).choice(len(frame), rows, replace=False))
        frame = frame.take(drawn).reset_index(drop=True)
        note += f", {rows:,} drawn with seed {seed}"
    origin = Origin(table, "user's extract", path.name, unpacked_sha256(path), note=note)
    return Microdata(frame, list(VARIABLES), sensitive, missing="category", origin=origin)

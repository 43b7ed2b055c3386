"""SAL and OCC from a user's own extract of the American Community Survey, from IPUMS USA.

The paper prints only the sizes of the domains (Table 6). The recodings here and in ipums.csv have
these sizes and are ours.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.datasets.acs import SAL_AGES, income_brackets
from anonpaper.datasets.fetching import unpacked_sha256
from anonpaper.datasets.registry import Origin
from anonpaper.files import named_by_user
from anonpaper.microdata import Microdata
from anonpaper.randomness import generator

__all__ = ["load_ipums"]

#: Attribute -> variable of IPUMS.
VARIABLES = {
    "Age": "AGE", "Gender": "SEX", "Race": "RACE", "Marital Status": "MARST",
    "Birth Place": "BPL", "Education": "EDUCD", "Work Class": "CLASSWKRD",
}  # fmt: skip
SENSITIVE = {"sal": ("Income", "INCTOT"), "occ": ("Occupation", "OCC1990")}

#: The 51 states by their FIPS codes, and the first code of each of five areas above them.
STATES = [code for code in range(1, 57) if code not in (3, 7, 14, 43, 52)]
AREAS = {57: "US outlying areas", 150: "Americas", 400: "Europe", 500: "Asia",
         600: "Africa, Oceania and other"}  # fmt: skip

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

    Parameters
    ----------
    path : str or Path
        The extract as csv with a header line, gzipped or not. It needs AGE, SEX, RACE, MARST, BPL,
        EDUCD and CLASSWKRD, and INCTOT for SAL or OCC1990 for OCC.
    table : {"sal", "occ"}
        Sensitive attribute Income, or Occupation.
    rows, seed : int or None, int
        Draw this many adults without replacement; None, or more than there are, for all. The paper
        has 600,000.

    Raises
    ------
    DatasetUnavailableError, FileError, ColumnError
        The file is missing or cannot be read, or it lacks a variable or has an unknown code.

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
    if table not in SENSITIVE:
        raise errors.ParameterError(f'table must be "sal" or "occ", got {table!r}')
    with named_by_user(path):
        path = Path(path)
        there = path.is_file()
    if not there:
        raise errors.DatasetUnavailableError(
            f"there is no file {path}: order an extract at https://usa.ipums.org"
        )
    with named_by_user(path):
        extract = pd.read_csv(path, low_memory=False).rename(columns=lambda c: str(c).upper())
    sensitive, variable = SENSITIVE[table]
    values, age = _numbers(extract, path, variable), _numbers(extract, path, "AGE")
    adults = age >= SAL_AGES[0]
    adults &= values != NO_INCOME if table == "sal" else values.between(1, NOT_WORKING - 1)
    listed = Path(__file__).with_name("ipums.csv")
    known = pd.read_csv(listed, index_col="variable", keep_default_na=False)
    columns = {"Age": age[adults].clip(upper=SAL_AGES[1])}
    for attribute, name in list(VARIABLES.items())[1:]:
        codes = _numbers(extract, path, name)[adults]
        if name == "BPL":
            meaning = {code: f"US state {code:02d}" for code in STATES} | AREAS
            codes = _last_start(codes, AREAS).where(codes >= min(AREAS), codes)
        else:
            meaning = known.loc[name].set_index("code")["meaning"].to_dict()
        if name == "EDUCD":
            codes = _last_start(codes, meaning)
        if unknown := [code for code in codes.unique().tolist() if code not in meaning]:
            raise errors.ColumnError(
                f"{name} ({attribute}) in {path.name} has unknown codes {unknown[:5]}: is it an "
                "extract of the American Community Survey?"
            )
        domain = list(dict.fromkeys(meaning.values()))
        columns[attribute] = pd.Categorical(codes.map(meaning), domain, ordered=name == "EDUCD")
    frame = pd.DataFrame(columns).reset_index(drop=True).astype({"Age": np.int64})
    held = values[adults].to_numpy()
    in_intervals = held.astype(np.int64) // OCCUPATION_WIDTH * OCCUPATION_WIDTH
    frame[sensitive] = income_brackets(held) if table == "sal" else in_intervals
    left = len(frame)
    note = f"{left:,} adults of {len(extract):,} persons"
    if rows is not None and errors.check_integer("rows", rows, 1) < left:
        drawn = np.sort(generator(seed).choice(left, rows, replace=False))
        frame = frame.take(drawn).reset_index(drop=True)
        note += f", {rows:,} drawn with seed {seed}"
    origin = Origin(table, "user's extract", path.name, unpacked_sha256(path), note=note)
    return Microdata(frame, list(VARIABLES), sensitive, missing="category", origin=origin)


def _numbers(extract: pd.DataFrame, path: Path, name: str) -> pd.Series:
    """Return a variable; blanks are NA."""
    if name not in extract:
        raise errors.ColumnError(
            f"{path.name} lacks the variable {name}; it has {list(extract.columns)}"
        )
    try:
        return pd.to_numeric(extract[name])
    except (ValueError, TypeError) as error:
        raise errors.ColumnError(f"{name} in {path.name} is not a number: {error}") from error


def _last_start(codes: pd.Series, starts: dict) -> pd.Series:
    """Return the last start not above each code; NA if there is none."""
    ends = [*starts, np.inf]
    return pd.cut(codes, ends, right=False, labels=list(starts)).astype(float)

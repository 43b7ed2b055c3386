"""SAL and OCC from a user's own extract of the American Community Survey.

Two sources: an IPUMS USA extract (:func:`load_ipums`) and the Census Bureau's public use microdata
(:func:`load_acs_pums`). The paper prints only the sizes of the domains (Table 6). The recodings in
acs.toml have these sizes and are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.datasets.acs import SAL_AGES, income_brackets
from anonpaper.datasets.fetching import unpacked_sha256
from anonpaper.datasets.registry import Origin, listed
from anonpaper.files import named_by_user
from anonpaper.microdata import Microdata
from anonpaper.randomness import generator

__all__ = ["load_acs_pums", "load_ipums"]

QI = ["Age", "Gender", "Race", "Marital Status", "Birth Place", "Education", "Work Class"]
SENSITIVE = {"sal": "Income", "occ": "Occupation"}

#: The 51 states by their FIPS codes.
STATES = [code for code in range(1, 57) if code not in (3, 7, 14, 43, 52)]


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
    return _load(_Extract(path, "ipums"), table, rows, seed)


def load_acs_pums(
    path: str | Path, table: str = "sal", *, rows: int | None = 600_000, seed: int = 0
) -> Microdata:
    r"""Build SAL or OCC of xiao2010 from a person file of the Census Bureau's ACS PUMS.

    As :func:`load_ipums`, except that MAR has 5 values: it does not distinguish absent spouses.
    RAC1P (9) and COW (9, blank or never worked is "not in universe") are kept. SCHL is joined to
    17 levels, POBP to 56 places, PINCP to 50 classes of $2,000, OCCP to 50 intervals of 200 codes.

    Parameters and errors are as for :func:`load_ipums`. The person file (2008 or later) needs
    AGEP, SEX, RAC1P, MAR, POBP, SCHL and COW, and PINCP for SAL or OCCP for OCC.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> header = "AGEP,SEX,RAC1P,MAR,POBP,SCHL,COW,PINCP,OCCP"
    >>> with TemporaryDirectory() as folder:
    ...     extract = Path(folder, "psam_p01.csv")
    ...     _ = extract.write_text(header + "\n41,2,1,3,36,21,1,31500,4720\n")
    ...     m = load_acs_pums(extract, "occ")
    >>> m.frame[["Birth Place", "Work Class", "Occupation"]]
       Birth Place           Work Class  Occupation
    0  US state 36  Private, for profit        4600
    """
    return _load(_Extract(path, "pums"), table, rows, seed)


class _Extract:
    """The variables of an extract under the names of our attributes; `about` lists its codes."""

    def __init__(self, path: str | Path, source: str):
        self.about = listed("acs")[source]
        with named_by_user(path):
            self.path = Path(path)
            there = self.path.is_file()
        if not there:
            raise errors.DatasetUnavailableError(
                f"there is no file {self.path}: order an extract at https://usa.ipums.org or use "
                "a person file from https://www.census.gov/programs-surveys/acs/microdata.html"
            )
        with named_by_user(self.path):
            frame = pd.read_csv(self.path, low_memory=False)
        self.frame = frame.rename(columns=lambda column: str(column).upper())

    def numbers(self, attribute: str) -> pd.Series:
        """Return the variable of an attribute; blanks are NA."""
        name = self.about["variables"][attribute]
        if name not in self.frame:
            raise errors.ColumnError(
                f"{self.path.name} lacks the variable {name}; it has {list(self.frame.columns)}"
            )
        try:
            return pd.to_numeric(self.frame[name])
        except (ValueError, TypeError) as error:
            raise errors.ColumnError(
                f"{name} in {self.path.name} is not a number: {error}"
            ) from error

    def named(self, attribute: str, adults: pd.Series) -> pd.Categorical:
        """Return a variable with its codes written out; an unknown code is an error."""
        name, codes = self.about["variables"][attribute], self.numbers(attribute)
        meaning = {int(code): said for code, said in self.about["codes"][name].items()}
        if name in self.about["blanks"]:
            codes = codes.fillna(self.about["blanks"][name])
        unknown = [code for code in codes[adults].unique().tolist() if code not in meaning]
        if unknown:
            raise errors.ColumnError(f"{name} in {self.path.name} has unknown codes {unknown[:5]}")
        return pd.Categorical(codes.map(meaning), list(dict.fromkeys(meaning.values())))


def _load(extract: _Extract, table: str, rows: int | None, seed: int) -> Microdata:
    """Recode the adults of an extract and draw rows."""
    about, age = extract.about, extract.numbers("Age")
    adults = age >= SAL_AGES[0]
    if table not in SENSITIVE:
        raise errors.ParameterError(f'table must be "sal" or "occ", got {table!r}')
    values = extract.numbers(SENSITIVE[table])
    if table == "sal":
        adults &= ~values.isin(about["no_income"])
    else:
        adults &= values.between(1, about["not_working"] - 1)
    values = values[adults].to_numpy()
    columns = {
        "Age": age.clip(upper=SAL_AGES[1]),
        "Birth Place": _birth_place(extract),
        "Education": _education(extract),
    }
    columns |= {name: extract.named(name, adults) for name in QI if name not in columns}
    frame = pd.DataFrame(columns)[adults].reset_index(drop=True)[QI]
    unknown = [name for name in QI if frame[name].isna().any()]
    if unknown:
        raise errors.ColumnError(
            f"{extract.path.name} has adults with blank or unknown codes in {unknown}: "
            "is it an extract of the American Community Survey?"
        )
    frame["Age"] = frame["Age"].astype(np.int64)
    if table == "sal":
        frame["Income"] = income_brackets(values)
    else:
        width = about["occupation_width"]
        frame["Occupation"] = values.astype(np.int64) // width * width
    left = len(frame)
    note = f"{left:,} adults of {len(extract.frame):,} persons"
    if rows is not None and errors.check_integer("rows", rows, 1) < left:
        drawn = np.sort(generator(seed).choice(left, rows, replace=False))
        frame = frame.take(drawn).reset_index(drop=True)
        note += f", {rows:,} drawn with seed {seed}"
    sha256 = unpacked_sha256(extract.path)
    origin = Origin(table, "user's extract", extract.path.name, sha256, note=note)
    return Microdata(frame, QI, SENSITIVE[table], missing="category", origin=origin)


def _last_start(codes: pd.Series, starts: Sequence[int]) -> np.ndarray:
    """Return the place of the last start not above each code; -1 if there is none."""
    places = np.searchsorted(starts, codes, side="right") - 1
    return np.where(codes.isna(), -1, places)


def _education(extract: _Extract) -> pd.Categorical:
    levels = _last_start(extract.numbers("Education"), extract.about["education_starts"])
    return pd.Categorical.from_codes(levels, listed("acs")["extract"]["education"], ordered=True)


def _birth_place(extract: _Extract) -> pd.Categorical:
    """Return the state, or otherwise the area, in which everybody was born."""
    codes, about = extract.numbers("Birth Place"), extract.about
    places = _last_start(codes, about["area_starts"])
    areas = np.array(about["area_places"])[places] + len(STATES)
    states = codes.map({code: place for place, code in enumerate(STATES)}).fillna(-1)
    names = [f"US state {code:02d}" for code in STATES] + listed("acs")["extract"]["areas"]
    return pd.Categorical.from_codes(np.where(places >= 0, areas, states).astype(int), names)

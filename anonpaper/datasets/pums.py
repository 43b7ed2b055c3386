"""SAL and OCC from a user's own extract of the American Community Survey.

Two sources: an IPUMS USA extract (:func:`load_ipums`) and the Census Bureau's own public use
microdata (:func:`load_acs_pums`). Neither may or need be passed on with this project.
The paper prints only the sizes of the domains (Table 6); the recodings below reach them and
are ours.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.datasets.acs import income_brackets
from anonpaper.datasets.fetching import unpacked_sha256
from anonpaper.datasets.origin import Origin
from anonpaper.errors import (
    ColumnError,
    DatasetError,
    DatasetUnavailableError,
    ParameterError,
    check_integer,
)
from anonpaper.files import named_by_user
from anonpaper.microdata import Microdata
from anonpaper.randomness import generator

__all__ = ["load_acs_pums", "load_ipums"]

QI = ["Age", "Gender", "Race", "Marital Status", "Birth Place", "Education", "Work Class"]
SENSITIVE = {"sal": "Income", "occ": "Occupation"}

#: Youngest adult and top code: the 79 ages of Table 6.
AGES = (17, 95)

GENDERS = {1: "Male", 2: "Female"}

#: IPUMS MARST has the 6 values of Table 6; PUMS MAR does not tell absent spouses apart.
MARST = {
    1: "Married, spouse present",
    2: "Married, spouse absent",
    3: "Separated",
    4: "Divorced",
    5: "Widowed",
    6: "Never married",
}
MAR = {
    1: "Married, spouse present",
    2: "Widowed",
    3: "Divorced",
    4: "Separated",
    5: "Never married",
}

RACE = {
    1: "White",
    2: "Black",
    3: "American Indian or Alaska Native",
    4: "Chinese",
    5: "Japanese",
    6: "Other Asian or Pacific Islander",
    7: "Other",
    8: "Two major races",
    9: "Three or more major races",
}
RAC1P = {
    1: "White",
    2: "Black",
    3: "American Indian",
    4: "Alaska Native",
    5: "American Indian or Alaska Native, tribe not given",
    6: "Asian",
    7: "Pacific Islander",
    8: "Other",
    9: "Two or more races",
}

#: The 17 levels of schooling, from little to much.
EDUCATION = [
    "None",
    "Nursery school to grade 4",
    "Grade 5 or 6",
    "Grade 7 or 8",
    "Grade 9",
    "Grade 10",
    "Grade 11",
    "Grade 12, no diploma",
    "High school diploma",
    "GED",
    "Some college, less than a year",
    "Some college, a year or more",
    "Associate degree",
    "Bachelor's degree",
    "Master's degree",
    "Professional degree",
    "Doctorate",
]

#: First code of IPUMS EDUCD of each level, ascending.
EDUCD_STARTS = [0, 10, 20, 23, 30, 40, 50, 60, 62, 64, 65, 70, 80, 100, 110, 115, 116]

#: First code of PUMS SCHL (2008 and later) of each level, ascending.
SCHL_STARTS = [1, 2, 8, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]

#: Both sources tell nine classes of worker apart, "not in universe" among them.
CLASSWKRD = {
    0: "Not in universe",
    13: "Self-employed, not incorporated",
    14: "Self-employed, incorporated",
    22: "Private, for profit",
    23: "Private, non-profit",
    25: "Federal government",
    27: "State government",
    28: "Local government",
    29: "Unpaid family worker",
}
COW = {
    0: "Not in universe",
    1: "Private, for profit",
    2: "Private, non-profit",
    3: "Local government",
    4: "State government",
    5: "Federal government",
    6: "Self-employed, not incorporated",
    7: "Self-employed, incorporated",
    8: "Unpaid family worker",
    9: "Not in universe",
}

#: 51 states by their FIPS codes and five other areas: the 56 birth places of Table 6.
STATES = [code for code in range(1, 57) if code not in (3, 7, 14, 43, 52)]
AREAS = ["US outlying areas", "Americas", "Europe", "Asia", "Africa, Oceania and other"]
BIRTH_PLACES = [f"US state {code:02d}" for code in STATES] + AREAS

#: First code above the states of each area.
BPL_STARTS = {57: 0, 150: 1, 400: 2, 500: 3, 600: 4}
POBP_STARTS = {57: 0, 100: 2, 200: 3, 300: 1, 400: 4}

#: Occupation codes are cut into 50 intervals of equal width: OCC1990 has three digits,
#: PUMS OCCP has four.
OCCUPATION_WIDTH = {"OCC1990": 20, "OCCP": 200}
OCC1990_NOT_WORKING = 991

#: What IPUMS writes for a person without an income.
INCTOT_NOT_IN_UNIVERSE = 9_999_999

#: Least code of PUMS OCCP that is no occupation ("unemployed").
OCCP_NOT_WORKING = 9920


def load_ipums(
    path: str | Path,
    table: str = "sal",
    *,
    layout: Mapping[str, tuple[int, int]] | str | Path | None = None,
    rows: int | None = 600_000,
    seed: int = 0,
) -> Microdata:
    r"""Build SAL or OCC of xiao2010 from an IPUMS USA extract.

    Parameters
    ----------
    path : str or Path
        The extract: csv with a header line, or fixed width with a `layout`; gzipped or not.
        It needs AGE, SEX, RACE, MARST, BPL, EDUCD and CLASSWKRD, and INCTOT for SAL or
        OCC1990 for OCC.
    table : {"sal", "occ"}
        Sensitive attribute Income, or Occupation.
    layout : mapping or path, optional
        For fixed width: variable -> (first, last) column, counted from 1; or the text codebook
        that IPUMS delivers with the extract (``.cbk``).
    rows : int, optional
        Draw so many of the adults, without replacement; all of them with None or if there are
        fewer. The paper has 600,000.
    seed : int
        Seed of that draw.

    Returns
    -------
    Microdata
        Attributes as in Table 6; its origin says how many rows were kept.

    Raises
    ------
    DatasetUnavailableError
        There is no such file.
    ColumnError
        The extract lacks a variable or has a code that the recoding does not know.
    FileError
        It cannot be read.

    Notes
    -----
    Adults are persons of 17 years and more, ages above 95 count as 95: 79 values. RACE (9),
    MARST (6), CLASSWKRD (9) are as IPUMS codes them; EDUCD is joined to 17 levels; BPL to the
    51 states and 5 other areas; INCTOT to 50 classes of $2,000, the last one open; OCC1990 to
    50 intervals of 20 codes, of those who have an occupation.

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
    extract = _Extract(path, layout)
    age, adults = extract.adults("AGE")
    sensitive = _sensitive(table, income="INCTOT", occupation="OCC1990")
    if sensitive == "INCTOT":
        adults &= extract.numbers("INCTOT") != INCTOT_NOT_IN_UNIVERSE
    else:
        adults &= extract.numbers("OCC1990").between(1, OCC1990_NOT_WORKING - 1)
    frame = pd.DataFrame(
        {
            "Age": age,
            "Gender": extract.named("SEX", GENDERS, adults),
            "Race": extract.named("RACE", RACE, adults),
            "Marital Status": extract.named("MARST", MARST, adults),
            "Birth Place": _birth_place(extract.numbers("BPL"), BPL_STARTS),
            "Education": _level(extract.numbers("EDUCD"), EDUCD_STARTS),
            "Work Class": extract.named("CLASSWKRD", CLASSWKRD, adults),
        }
    )
    return _finish(frame, extract, adults, table, sensitive, rows, seed)


def load_acs_pums(
    path: str | Path,
    table: str = "sal",
    *,
    layout: Mapping[str, tuple[int, int]] | None = None,
    rows: int | None = 600_000,
    seed: int = 0,
) -> Microdata:
    r"""Build SAL or OCC of xiao2010 from a person file of the Census Bureau's ACS PUMS.

    Parameters
    ----------
    path : str or Path
        The person file (2008 or later): csv with a header line, or fixed width with a
        `layout`; gzipped or not. It needs AGEP, SEX, RAC1P, MAR, POBP, SCHL and COW, and
        PINCP for SAL or OCCP for OCC.
    table, layout, rows, seed
        As for :func:`load_ipums`; `layout` is a mapping.

    Returns
    -------
    Microdata
        Attributes as in Table 6, except that MAR has 5 values.

    Raises
    ------
    DatasetUnavailableError, ColumnError
        As for :func:`load_ipums`.

    Notes
    -----
    Recodings as for :func:`load_ipums`: RAC1P (9) and COW (9, "not in universe" being blank
    or never worked) as they are; SCHL to 17 levels, POBP to 56 places, PINCP to 50 classes of
    $2,000, OCCP to 50 intervals of 200 codes.

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
    extract = _Extract(path, layout)
    age, adults = extract.adults("AGEP")
    sensitive = _sensitive(table, income="PINCP", occupation="OCCP")
    if sensitive == "PINCP":
        adults &= extract.numbers("PINCP").notna()
    else:
        adults &= extract.numbers("OCCP").between(1, OCCP_NOT_WORKING - 1)
    frame = pd.DataFrame(
        {
            "Age": age,
            "Gender": extract.named("SEX", GENDERS, adults),
            "Race": extract.named("RAC1P", RAC1P, adults),
            "Marital Status": extract.named("MAR", MAR, adults),
            "Birth Place": _birth_place(extract.numbers("POBP"), POBP_STARTS),
            "Education": _level(extract.numbers("SCHL"), SCHL_STARTS),
            "Work Class": extract.named("COW", COW, adults, blank=0),
        }
    )
    return _finish(frame, extract, adults, table, sensitive, rows, seed)


def _sensitive(table: str, income: str, occupation: str) -> str:
    if table not in SENSITIVE:
        raise ParameterError(f'table must be "sal" or "occ", got {table!r}')
    return income if table == "sal" else occupation


class _Extract:
    """The variables of an extract, as numbers."""

    def __init__(
        self, path: str | Path, layout: Mapping[str, tuple[int, int]] | str | Path | None
    ):
        with named_by_user(path):
            self.path = Path(path)
            there = self.path.is_file()
        if not there:
            raise DatasetUnavailableError(
                f"there is no extract {self.path}: order one at https://usa.ipums.org or take a "
                "person file from https://www.census.gov/programs-surveys/acs/microdata.html"
            )
        columns = read_codebook(layout) if isinstance(layout, (str, os.PathLike)) else layout
        with named_by_user(self.path):
            if columns is None:
                self.frame = pd.read_csv(self.path, low_memory=False)
            else:
                bounds = [(first - 1, last) for first, last in columns.values()]
                self.frame = pd.read_fwf(
                    self.path, colspecs=bounds, names=list(columns), compression="infer"
                )
        self.frame.columns = [str(column).upper() for column in self.frame.columns]

    def numbers(self, name: str) -> pd.Series:
        """Return a variable; blanks are NA."""
        if name not in self.frame:
            raise ColumnError(
                f"{self.path.name} lacks the variable {name}; it has {list(self.frame.columns)}"
            )
        try:
            return pd.to_numeric(self.frame[name])
        except (ValueError, TypeError) as error:
            raise ColumnError(f"{name} in {self.path.name} is not a number: {error}") from error

    def adults(self, name: str) -> tuple[pd.Series, pd.Series]:
        """Return the ages, top-coded, and who is an adult."""
        age = self.numbers(name)
        return age.clip(upper=AGES[1]), age >= AGES[0]

    def named(
        self, name: str, meaning: Mapping[int, str], adults: pd.Series, blank: int | None = None
    ) -> pd.Categorical:
        """Return a variable with its codes written out; an unknown code is an error."""
        codes = self.numbers(name)
        if blank is not None:
            codes = codes.fillna(blank)
        unknown = [code for code in codes[adults].unique().tolist() if code not in meaning]
        if unknown:
            raise ColumnError(f"{name} in {self.path.name} has unknown codes {unknown[:5]}")
        return pd.Categorical(codes.map(meaning), list(dict.fromkeys(meaning.values())))


def read_codebook(path: str | Path) -> dict[str, tuple[int, int]]:
    """Read first and last column of every variable from an IPUMS text codebook.

    Raises
    ------
    DatasetError
        If it lists no variables.
    FileError
        If it cannot be read.
    """
    with named_by_user(path):
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    line = re.compile(
        r"^\s*([A-Z][A-Z0-9_]*)\s+(?:[HP]\s+)?(\d+)(?:-(\d+))?\s+\d+\b", re.MULTILINE
    )
    columns = {name: (int(first), int(last or first)) for name, first, last in line.findall(text)}
    if not columns:
        raise DatasetError(f"{path} lists no variables; expected lines like 'AGE  P  10-12  3'")
    return columns


def _last_start(codes: pd.Series, starts: Sequence[int]) -> np.ndarray:
    """Return the place of the last start that is not above each code; -1 if there is none."""
    places = np.searchsorted(starts, codes, side="right") - 1
    return np.where(codes.isna(), -1, places)


def _level(codes: pd.Series, starts: list[int]) -> pd.Categorical:
    """Return the level of schooling of each code."""
    return pd.Categorical.from_codes(_last_start(codes, starts), EDUCATION, ordered=True)


def _birth_place(codes: pd.Series, area_starts: Mapping[int, int]) -> pd.Categorical:
    """Return the state of each code, or else the area."""
    places = _last_start(codes, list(area_starts))
    areas = np.array(list(area_starts.values()))[places] + len(STATES)
    states = codes.map({code: place for place, code in enumerate(STATES)}).fillna(-1)
    return pd.Categorical.from_codes(
        np.where(places >= 0, areas, states).astype(int), BIRTH_PLACES
    )


def _finish(
    frame: pd.DataFrame,
    extract: _Extract,
    adults: pd.Series,
    table: str,
    variable: str,
    rows: int | None,
    seed: int,
) -> Microdata:
    """Add the sensitive attribute, keep the adults, draw the rows."""
    values = extract.numbers(variable)[adults].to_numpy()
    frame = frame[adults].reset_index(drop=True)
    unknown = [name for name in QI if frame[name].isna().any()]
    if unknown:
        raise ColumnError(
            f"{extract.path.name} has adults with blank or unknown codes in {unknown}: "
            "is it an extract of the American Community Survey?"
        )
    frame["Age"] = frame["Age"].astype(np.int64)
    if table == "sal":
        frame["Income"] = income_brackets(values)
    else:
        width = OCCUPATION_WIDTH[variable]
        frame["Occupation"] = values.astype(np.int64) // width * width
    left = len(frame)
    note = f"{left:,} adults of {len(extract.frame):,} persons"
    if rows is not None and check_integer("rows", rows, 1) < left:
        drawn = np.sort(generator(seed).choice(left, rows, replace=False))
        frame = frame.take(drawn).reset_index(drop=True)
        note += f", {rows:,} drawn with seed {seed}"
    origin = Origin(
        dataset=table,
        how="user's extract",
        file=extract.path.name,
        sha256=unpacked_sha256(extract.path),
        note=note,
    )
    return Microdata(frame, QI, SENSITIVE[table], origin=origin)

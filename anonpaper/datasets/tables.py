"""The published tables: parsing of each file, column names, declared domains and orders.

Every parser takes the data set's files by name and returns a DataFrame in which text is
categorical: its categories are the attribute's domain, in the order that matters where
there is one, else sorted. Missing values are NA.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

__all__ = ["FINISH", "PARSE", "VERSION"]

#: Part of every cache key: raise it when a parser changes.
VERSION = 1

ADULT_COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary-class",
]

#: By years of schooling: position + 1 is education-num.
ADULT_EDUCATION = [
    "Preschool",
    "1st-4th",
    "5th-6th",
    "7th-8th",
    "9th",
    "10th",
    "11th",
    "12th",
    "HS-grad",
    "Some-college",
    "Assoc-voc",
    "Assoc-acdm",
    "Bachelors",
    "Masters",
    "Prof-school",
    "Doctorate",
]

CENSUS_COLUMNS = [
    "age",
    "class of worker",
    "detailed industry recode",
    "detailed occupation recode",
    "education",
    "wage per hour",
    "enroll in edu inst last wk",
    "marital stat",
    "major industry code",
    "major occupation code",
    "race",
    "hispanic origin",
    "sex",
    "member of a labor union",
    "reason for unemployment",
    "full or part time employment stat",
    "capital gains",
    "capital losses",
    "dividends from stocks",
    "tax filer stat",
    "region of previous residence",
    "state of previous residence",
    "detailed household and family stat",
    "detailed household summary in household",
    "instance weight",
    "migration code-change in msa",
    "migration code-change in reg",
    "migration code-move within reg",
    "live in this house 1 year ago",
    "migration prev res in sunbelt",
    "num persons worked for employer",
    "family members under 18",
    "country of birth father",
    "country of birth mother",
    "country of birth self",
    "citizenship",
    "own business or self employed",
    "fill inc questionnaire for veteran's admin",
    "veterans benefits",
    "weeks worked in year",
    "year",
    "income",
]

CENSUS_EDUCATION = [
    "Children",
    "Less than 1st grade",
    "1st 2nd 3rd or 4th grade",
    "5th or 6th grade",
    "7th and 8th grade",
    "9th grade",
    "10th grade",
    "11th grade",
    "12th grade no diploma",
    "High school graduate",
    "Some college but no degree",
    "Associates degree-occup /vocational",
    "Associates degree-academic program",
    "Bachelors degree(BA AB BS)",
    "Masters degree(MA MS MEng MEd MSW MBA)",
    "Prof school degree (MD DDS DVM LLB JD)",
    "Doctorate degree(PhD EdD)",
]

GERMAN_COLUMNS = [
    "status",
    "duration",
    "credit-history",
    "purpose",
    "credit-amount",
    "savings",
    "employment",
    "installment-rate",
    "personal-status-and-sex",
    "other-debtors",
    "residence-since",
    "property",
    "age",
    "other-installment-plans",
    "housing",
    "existing-credits",
    "job",
    "people-liable",
    "telephone",
    "foreign-worker",
    "credit-risk",
]

#: What the codes of german.data mean, in the order of the documentation; the order of
#: status, savings, employment and job is from little to much.
GERMAN_CODES = {
    "status": {"A14": "no account", "A11": "< 0 DM", "A12": "0-200 DM", "A13": ">= 200 DM"},
    "credit-history": {
        "A30": "no credits taken",
        "A31": "all paid at this bank",
        "A32": "existing paid till now",
        "A33": "delay in the past",
        "A34": "critical account",
    },
    "purpose": {
        "A40": "car (new)",
        "A41": "car (used)",
        "A42": "furniture",
        "A43": "radio/television",
        "A44": "appliances",
        "A45": "repairs",
        "A46": "education",
        "A47": "vacation",
        "A48": "retraining",
        "A49": "business",
        "A410": "others",
    },
    "savings": {
        "A65": "unknown or none",
        "A61": "< 100 DM",
        "A62": "100-500 DM",
        "A63": "500-1000 DM",
        "A64": ">= 1000 DM",
    },
    "employment": {
        "A71": "unemployed",
        "A72": "< 1 year",
        "A73": "1-4 years",
        "A74": "4-7 years",
        "A75": ">= 7 years",
    },
    "personal-status-and-sex": {
        "A91": "male divorced/separated",
        "A92": "female divorced/separated/married",
        "A93": "male single",
        "A94": "male married/widowed",
        "A95": "female single",
    },
    "other-debtors": {"A101": "none", "A102": "co-applicant", "A103": "guarantor"},
    "property": {
        "A121": "real estate",
        "A122": "savings agreement/life insurance",
        "A123": "car or other",
        "A124": "unknown or none",
    },
    "other-installment-plans": {"A141": "bank", "A142": "stores", "A143": "none"},
    "housing": {"A151": "rent", "A152": "own", "A153": "for free"},
    "job": {
        "A171": "unskilled non-resident",
        "A172": "unskilled resident",
        "A173": "skilled",
        "A174": "management/self-employed",
    },
    "telephone": {"A191": "none", "A192": "yes"},
    "foreign-worker": {"A201": "yes", "A202": "no"},
    "credit-risk": {1: "good", 2: "bad"},
}

_DOSE = ["No", "Down", "Steady", "Up"]

#: Orders of the diabetes data: brackets from low to high, doses from none to rising.
DIABETES_ORDERS = {
    "age": [f"[{low}-{low + 10})" for low in range(0, 100, 10)],
    "weight": [f"[{low}-{low + 25})" for low in range(0, 200, 25)] + [">200"],
    "max_glu_serum": ["None", "Norm", ">200", ">300"],
    "A1Cresult": ["None", "Norm", ">7", ">8"],
    "readmitted": ["NO", ">30", "<30"],
    **dict.fromkeys(
        [
            "metformin",
            "repaglinide",
            "nateglinide",
            "chlorpropamide",
            "glimepiride",
            "acetohexamide",
            "glipizide",
            "glyburide",
            "tolbutamide",
            "pioglitazone",
            "rosiglitazone",
            "acarbose",
            "miglitol",
            "troglitazone",
            "tolazamide",
            "examide",
            "citoglipton",
            "insulin",
            "glyburide-metformin",
            "glipizide-metformin",
            "glimepiride-pioglitazone",
            "metformin-rosiglitazone",
            "metformin-pioglitazone",
        ],
        _DOSE,
    ),
}

#: Columns whose text looks like numbers in part of the rows.
DIABETES_TEXT = ["diag_1", "diag_2", "diag_3"]


def categorical(frame: pd.DataFrame, orders: dict[str, Sequence[str]]) -> pd.DataFrame:
    """Make every text column categorical: in the declared order, else sorted.

    A declared order may name values that do not occur; they stay in the domain only if the
    documentation of the data set lists them, that is, if `orders` does.
    """
    for column in frame.columns:
        if column in orders:
            frame[column] = pd.Categorical(frame[column], list(orders[column]), ordered=True)
        elif frame[column].dtype == object:
            frame[column] = frame[column].astype("category")
    return frame


def _read(path: Path, **options: object) -> pd.DataFrame:
    """Read a delimited file in which only the given marks mean missing."""
    return pd.read_csv(path, keep_default_na=False, low_memory=False, **options)


def only(files: Mapping[str, Path]) -> Path:
    """Return the path of a data set that consists of one file."""
    (path,) = files.values()
    return path


def parse_adult(files: Mapping[str, Path]) -> pd.DataFrame:
    """Parse adult.data, adult.test or both, one after the other.

    adult.test opens with a line that is no record, and its labels end in a full stop.
    """
    parts = []
    for name, path in files.items():
        frame = _read(
            path,
            names=ADULT_COLUMNS,
            na_values=["?"],
            skipinitialspace=True,
            skiprows=1 if name == "adult.test" else 0,
        )
        frame["salary-class"] = frame["salary-class"].str.rstrip(".")
        parts.append(frame)
    return categorical(pd.concat(parts, ignore_index=True), {"education": ADULT_EDUCATION})


def parse_german(files: Mapping[str, Path]) -> pd.DataFrame:
    """Parse german.data, writing out what its codes stand for."""
    frame = _read(only(files), names=GERMAN_COLUMNS, sep=" ")
    for column, meaning in GERMAN_CODES.items():
        frame[column] = frame[column].map(meaning)
    return categorical(
        frame, {column: [*codes.values()] for column, codes in GERMAN_CODES.items()}
    )


def parse_census(files: Mapping[str, Path]) -> pd.DataFrame:
    """Parse the parts of Census-Income; column `part` tells them apart.

    The labels become "-50000" and "50000+".
    """
    parts = []
    for name, path in files.items():
        frame = _read(path, names=CENSUS_COLUMNS, na_values=["?"], skipinitialspace=True)
        parts.append(frame.assign(part="train" if name == "census-income.data" else "test"))
    frame = pd.concat(parts, ignore_index=True)
    for column in frame.select_dtypes(object):
        frame[column] = frame[column].str.strip()
    frame["income"] = frame["income"].map({"- 50000.": "-50000", "50000+.": "50000+"})
    orders = {
        "education": CENSUS_EDUCATION,
        "part": ["train", "test"],
        "income": ["-50000", "50000+"],
    }
    return categorical(frame, orders)


def parse_diabetes(files: Mapping[str, Path]) -> pd.DataFrame:
    """Parse diabetic_data.csv; "None" is a result (not measured), "?" is missing."""
    text = dict.fromkeys(DIABETES_TEXT, str)
    return finish_diabetes(_read(only(files), na_values=["?"], dtype=text))


def finish_diabetes(frame: pd.DataFrame) -> pd.DataFrame:
    """Declare the orders of the diabetes data."""
    return categorical(frame, DIABETES_ORDERS)


def parse_stroke(files: Mapping[str, Path]) -> pd.DataFrame:
    """Parse the stroke data; "Unknown" smoking is a value, a bmi of "N/A" is missing."""
    return finish_stroke(_read(only(files), na_values={"bmi": ["N/A"]}))


def finish_stroke(frame: pd.DataFrame) -> pd.DataFrame:
    """Declare the domains of the stroke data."""
    return categorical(frame, {})


def parse_pantheon(files: Mapping[str, Path]) -> pd.DataFrame:
    """Parse pantheon.tsv as latin-1; empty fields and unknown birth years are missing."""
    frame = _read(
        only(files),
        sep="\t",
        encoding="latin-1",
        quoting=3,
        na_values={"birthyear": ["", "Unknown"], "LAT": [""], "LON": [""]},
    )
    text = frame.select_dtypes(object).columns
    frame[text] = frame[text].replace("", pd.NA)
    return finish_pantheon(frame)


def finish_pantheon(frame: pd.DataFrame) -> pd.DataFrame:
    """Declare the domains of the Pantheon data; years are whole numbers or missing."""
    frame["birthyear"] = pd.to_numeric(frame["birthyear"], errors="coerce").astype("Int64")
    return categorical(frame, {})


#: Data set -> its parser.
PARSE: dict[str, Callable[[Mapping[str, Path]], pd.DataFrame]] = {
    "adult": parse_adult,
    "german": parse_german,
    "census": parse_census,
    "diabetes": parse_diabetes,
    "stroke": parse_stroke,
    "pantheon": parse_pantheon,
}

#: Data set -> what a parser and a stand-in do alike, for the sets that have a stand-in.
FINISH: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "diabetes": finish_diabetes,
    "stroke": finish_stroke,
    "pantheon": finish_pantheon,
}

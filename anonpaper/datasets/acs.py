"""OCC and SAL of xiao2010: substitutes made from Census-Income, or the user's own extract.

The paper prints only the sizes of the domains (Table 6): the recodings, here and in ipums.csv, are
ours. data/README.md says what they are.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.errors import ColumnError
from anonpaper.randomness import generator

#: Column of Census-Income -> attribute of Table 6.
QI = {
    "age": "Age", "sex": "Gender", "race": "Race", "marital stat": "Marital Status",
    "country of birth self": "Birth Place", "education": "Education",
    "class of worker": "Work Class",
}  # fmt: skip

#: Persons born in the United States are told apart by the birth place of their father or else
#: mother, for the most frequent of those: with the 42 known birth places that makes 56.
_PARENTAL_BIRTH_PLACES = (
    "Mexico Italy Canada Germany Poland Puerto-Rico England Ireland Hungary El-Salvador Scotland "
    "Japan Greece Cuba"
).split()
ROWS = 600_000  # of SAL
SAL_AGES = (17, 95)  # 79 values, as in Table 6; Census-Income itself stops at "90 and over"
LABEL_THRESHOLD = 50_000  # of Census-Income's own income label, in dollars

#: Attribute -> variable of IPUMS.
VARIABLES = dict(zip(QI.values(), "AGE SEX RACE MARST BPL EDUCD CLASSWKRD".split(), strict=True))
#: Table -> sensitive attribute, its variable, the values of people who have one, and classes.
SENSITIVE = {
    "sal": ("Income", "INCTOT", (-np.inf, 9_999_998), 2_000),  # dollars
    "occ": ("Occupation", "OCC1990", (1, 990), 20),
}


def make_occ(census: pd.DataFrame) -> pd.DataFrame:
    """Return the 148,318 persons with an occupation: the detailed recode, 46 codes."""
    recode = "detailed occupation recode"
    occ = census.loc[census[recode] > 0, [*QI, recode]].rename(columns=QI | {recode: "Occupation"})
    for name in occ.select_dtypes("category"):
        occ[name] = occ[name].cat.remove_unused_categories()
    return occ.reset_index(drop=True)


def make_sal(census: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return 600,000 draws from the adults with a known birth place, and a modelled income."""
    rng = generator(seed)
    schooling = pd.read_csv(Path(__file__).with_name("schooling.csv"), index_col="level")["years"]
    adults = census[(census["age"] >= SAL_AGES[0]) & census["country of birth self"].notna()]
    adults = adults.reset_index(drop=True)
    texts = adults.astype(object)
    race, place = texts["race"], texts["country of birth self"]
    hispanic = ~texts["hispanic origin"].isin(["All other", "NA", "Do not know"])
    hispanic &= race != "Asian or Pacific Islander"
    parent = texts["country of birth father"]
    parent = parent.where(parent.isin(_PARENTAL_BIRTH_PLACES), texts["country of birth mother"])
    told_apart = (place == "United-States") & parent.isin(_PARENTAL_BIRTH_PLACES)
    enrolled = texts["enroll in edu inst last wk"] == "College or university"
    enrolled &= texts["education"] == "Some college but no degree"
    school = texts["education"].mask(enrolled, "Some college, still enrolled")
    married = ["Married-A F spouse present", "Married-civilian spouse present"]
    made = {
        "Race": race.mask(hispanic, race + ", Hispanic"),
        "Marital Status": texts["marital stat"].replace(married, "Married-spouse present"),
        "Birth Place": place.mask(told_apart, "United-States, parent from " + parent),
        "Education": school,
    }
    kinds = dict.fromkeys(made, "category")
    kinds["Education"] = pd.CategoricalDtype(schooling.index, ordered=True)
    persons = adults[list(QI)].rename(columns=QI).assign(**made).astype(kinds)
    drawn = rng.integers(len(persons), size=ROWS)
    sal = persons.take(drawn).reset_index(drop=True)
    oldest = sal["Age"] == 90
    years = np.arange(SAL_AGES[1] - 90 + 1)
    share = 0.8**years  # of people aged 90 or more who are at least so much older
    sal.loc[oldest, "Age"] += rng.choice(years, size=oldest.sum(), p=share / share.sum())
    sal["Income"] = _brackets(_income(sal, adults.take(drawn), schooling, rng), 2_000)
    return sal


def _income(sal: pd.DataFrame, of: pd.DataFrame, schooling: pd.Series, rng) -> np.ndarray:
    """Draw a personal income in dollars, log-normal given the person and the census label."""
    from scipy.special import ndtr, ndtri

    weeks, above = of["weeks worked in year"].to_numpy(), (of["income"] == "50000+").to_numpy()
    years = sal["Education"].map(schooling).astype(float).to_numpy()
    age = sal["Age"].to_numpy(dtype=float)
    experience = np.clip(age - np.maximum(years, 9) - 6, 0, 50)
    # Workers: the Mincer form. The coefficients are round numbers of the usual size for the
    # United States in the 1990s, not fitted. Others: pensions, transfers, capital.
    earnings = 9.2 + 0.09 * (years - 12) + 0.05 * experience - 0.0008 * experience**2
    earnings += 0.3 * (sal["Gender"] == "Male") + np.log(np.maximum(weeks, 1) / 52)
    other = 8.9 + 0.06 * (years - 12) + 0.4 * (age >= 62)
    median = np.where(weeks > 0, earnings, other)
    spread = np.where(weeks > 0, 0.6, 1.0)
    below = ndtr((np.log(LABEL_THRESHOLD) - median) / spread)
    # The draw is truncated to the side of $50,000 that the person's label states.
    uniform = rng.random(len(sal))
    quantile = np.where(above, below + uniform * (1 - below), uniform * below)
    # A quantile of exactly 0 or 1 would be an infinite income.
    income = np.exp(median + spread * ndtri(np.clip(quantile, 1e-12, 1 - 1e-12)))
    # Rounding in the tails must not carry anyone over the threshold of the label.
    return np.where(above, income.clip(LABEL_THRESHOLD), income.clip(max=LABEL_THRESHOLD - 1))


def _brackets(values: np.ndarray, width: int) -> np.ndarray:
    """Return the lower ends of 50 classes, the last one open; losses count as 0."""
    return np.clip(values // width, 0, 49).astype(np.int64) * width


def from_survey(extract: pd.DataFrame, table: str) -> pd.DataFrame:
    """Return SAL or OCC, with the sensitive attribute last, from variables of IPUMS."""
    sensitive, variable, held, width = SENSITIVE[table]
    try:
        extract = extract[[*VARIABLES.values(), variable]].apply(pd.to_numeric)  # blanks are NA
    except (KeyError, ValueError, TypeError) as error:
        raise ColumnError(f"the extract has no numbers of a variable: {error}") from None
    wanted = (extract["AGE"] >= SAL_AGES[0]) & extract[variable].between(*held)
    adults = extract[wanted].reset_index(drop=True)
    frame = pd.DataFrame({"Age": adults["AGE"].clip(upper=SAL_AGES[1]).astype(np.int64)})
    known = pd.read_csv(Path(__file__).with_name("ipums.csv"), keep_default_na=False)
    for attribute, name in list(VARIABLES.items())[1:]:
        codes = known[known["variable"] == name]
        ranges = pd.IntervalIndex.from_arrays(codes["first"], codes["last"], closed="both")
        place = ranges.get_indexer(adults[name])
        if (place < 0).any():
            unknown = adults[name][place < 0].unique().tolist()[:5]
            raise ColumnError(f"{name} ({attribute}) has unknown codes {unknown}: is it ACS?")
        frame[attribute] = pd.Categorical(
            codes["meaning"].to_numpy()[place], codes["meaning"].unique(), ordered=name == "EDUCD"
        )
    return frame.assign(**{sensitive: _brackets(adults[variable], width)})

"""OCC and SAL: substitutes for xiao2010's two tables, made from Census-Income.

The paper's tables are extracts of the American Community Survey that may not be redistributed.
Census-Income has the same seven quasi-identifiers. `occ` is its employed persons, `sal` a sample
of its adults with a modelled income. `anonpaper.datasets.ipums` builds the real tables.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.randomness import generator

__all__ = ["QI", "VERSION", "income_brackets", "make_occ", "make_sal"]

#: Part of every cache key: raise it when a table here changes.
VERSION = 1

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
_NOT_HISPANIC = ["All other", "NA", "Do not know"]

SAL_ROWS = 600_000
SAL_AGES = (17, 95)  # 79 values, as in Table 6; Census-Income itself stops at "90 and over"
SURVIVAL_AFTER_90 = 0.8  # share of people aged 90 or more who are at least one year older
INCOME_BRACKET, INCOME_VALUES = 2_000, 50  # dollars of an income class; the last one is open
LABEL_THRESHOLD = 50_000  # of Census-Income's own income label, in dollars


def make_occ(census: pd.DataFrame) -> pd.DataFrame:
    """Return the 148,318 persons with an occupation: the detailed recode, 46 codes."""
    recode = "detailed occupation recode"
    occ = census.loc[census[recode] > 0, [*QI, recode]].rename(columns=QI | {recode: "Occupation"})
    for column in occ.select_dtypes("category"):
        occ[column] = occ[column].cat.remove_unused_categories()
    return occ.reset_index(drop=True)


def make_sal(census: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return 600,000 draws from the adults with a known birth place, and a modelled income."""
    # The paper does not print the values behind Table 6's domains; data/README.md has those here.
    rng = generator(seed)
    schooling = pd.read_csv(Path(__file__).with_name("schooling.csv"), index_col="level")["years"]
    adults = census[(census["age"] >= SAL_AGES[0]) & census["country of birth self"].notna()]

    def text(column: str) -> pd.Series:
        return adults[column].astype(object)

    present = ["Married-A F spouse present", "Married-civilian spouse present"]
    hispanic = ~adults["hispanic origin"].isin(_NOT_HISPANIC)
    hispanic &= adults["race"] != "Asian or Pacific Islander"
    parent = text("country of birth father")
    parent = parent.where(parent.isin(_PARENTAL_BIRTH_PLACES), text("country of birth mother"))
    told_apart = adults["country of birth self"] == "United-States"
    told_apart &= parent.isin(_PARENTAL_BIRTH_PLACES)
    enrolled = adults["enroll in edu inst last wk"] == "College or university"
    enrolled &= adults["education"] == "Some college but no degree"
    place = text("country of birth self").where(
        ~told_apart, "United-States, parent from " + parent
    )
    school = text("education").where(~enrolled, "Some college, still enrolled")
    persons = pd.DataFrame(
        {
            "Age": adults["age"],
            "Gender": adults["sex"],
            "Race": pd.Categorical(text("race").where(~hispanic, text("race") + ", Hispanic")),
            "Marital Status": pd.Categorical(
                text("marital stat").replace(present, "Married-spouse present")
            ),
            "Birth Place": pd.Categorical(place),
            "Education": pd.Categorical(school, schooling.index, ordered=True),
            "Work Class": adults["class of worker"],
        }
    ).reset_index(drop=True)
    drawn = rng.integers(len(persons), size=SAL_ROWS)
    sal = persons.take(drawn).reset_index(drop=True)
    oldest = np.flatnonzero(sal["Age"] == 90)
    years = np.arange(SAL_AGES[1] - 90 + 1)
    share = SURVIVAL_AFTER_90**years
    sal.loc[oldest, "Age"] += rng.choice(years, size=len(oldest), p=share / share.sum())
    weeks = adults["weeks worked in year"].to_numpy()[drawn]
    above = (adults["income"] == "50000+").to_numpy()[drawn]
    return sal.assign(Income=income_brackets(_income(sal, schooling, weeks, above, rng)))


def _income(
    sal: pd.DataFrame, schooling: pd.Series, weeks: np.ndarray, above: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """Draw a personal income in dollars, log-normal given the person and the census label."""
    from scipy.special import ndtr, ndtri

    years = sal["Education"].map(schooling).astype(float).to_numpy()
    age = sal["Age"].to_numpy(dtype=float)
    experience = np.clip(age - np.maximum(years, 9) - 6, 0, 50)
    working = weeks > 0
    # Workers: the Mincer form. The coefficients are round numbers of the usual size for the
    # United States in the 1990s, not fitted. Others: pensions, transfers, capital.
    earnings = 9.2 + 0.09 * (years - 12) + 0.05 * experience - 0.0008 * experience**2
    earnings = earnings + 0.3 * (sal["Gender"] == "Male").to_numpy()
    earnings = earnings + np.log(np.maximum(weeks, 1) / 52)
    other = 8.9 + 0.06 * (years - 12) + 0.4 * (age >= 62)
    median = np.where(working, earnings, other)
    spread = np.where(working, 0.6, 1.0)
    below = ndtr((np.log(LABEL_THRESHOLD) - median) / spread)
    # The draw is truncated to the side of $50,000 that the person's label states.
    uniform = rng.random(len(sal))
    quantile = np.where(above, below + uniform * (1 - below), uniform * below)
    # A quantile of exactly 0 or 1 would be an infinite income.
    z = ndtri(np.clip(quantile, 1e-12, 1 - 1e-12))
    income = np.exp(median + spread * z)
    # Rounding in the tails must not carry anyone over the threshold of the label.
    return np.where(above, income.clip(LABEL_THRESHOLD), income.clip(max=LABEL_THRESHOLD - 1))


def income_brackets(income: np.ndarray) -> np.ndarray:
    """Return the lower ends of 50 income classes, the last one open; losses count as 0."""
    classes = np.clip(np.floor_divide(income, INCOME_BRACKET), 0, INCOME_VALUES - 1)
    return classes.astype(np.int64) * INCOME_BRACKET

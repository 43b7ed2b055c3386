"""The statements of claims: the forms of `says`, judged from the rows of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from anonpaper.compendium import intervals
from anonpaper.compendium.intervals import (
    EACH,
    EVERYWHERE,
    FEWEST_RUNS,
    MOSTLY,
    NOT_TESTABLE,
    REPRODUCED,
    UNDECIDED,
    Settings,
    difference,
    intervals_in_words,
    judge_intervals,
    judge_runs,
    judge_share,
    judge_statement,
    of_draws,
    prediction_interval,
    runs_needed,
    share_interval,
)
from anonpaper.compendium.tables import reference

__all__ = ["VOCABULARY", "Statement", "as_list", "span"]


def span(values, show: str = "{:.3g}") -> str:
    """Return the least and the largest number in words, once where they look alike."""
    values = np.asarray(values, dtype=float)
    ends = show.format(np.nanmin(values)), show.format(np.nanmax(values))
    return " to ".join(dict.fromkeys(ends))


def listed(values: pd.Series, show: str = "{:.3g}") -> str:
    """Return the numbers of a Series by their index: "a: 1, b: 2"."""
    return ", ".join(
        f"{' '.join(map(str, as_list(at)))}: {show.format(value)}" for at, value in values.items()
    )


VOCABULARY = {
    **{name: getattr(intervals, name) for name in intervals.__all__ if name.islower()},
    **{"np": np, "pd": pd, "span": span, "listed": listed, "reference": reference},
}


def _with_columns(text: str) -> str:
    """Return an expression with names in backticks as columns."""
    return re.sub(r"`([^`]+)`", lambda found: f"_of[{found[1]!r}]", str(text))


def as_list(value) -> list:
    """Return a value that may be missing, one, or several, as a list."""
    if value is None or isinstance(value, str) and value == "":
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _setting(values: list, columns) -> str:
    """Return a setting in words, each number with the name of its column."""
    return ", ".join(
        f"{column} = {value}" if column and not isinstance(value, str) else str(value)
        for value, column in zip(values, columns, strict=True)
    )


class Statement:
    """A table, what was derived from it, and the words for what is found.

    Options of an entry: `gaps` ("settings" or "seeds" leaves out those with a missing number,
    "stand for" lets the first draw stand for all), `paired` (false: draws are independent),
    `within` (bounds of a difference), `order` (of the steps along a column), `quantifier`,
    `mostly` (the share of settings that counts as in direction, 0.8), `margin` (of `alike`),
    `direction` (of `all`: such a share; of `is` and `fits`: an expression), `also` (an
    expression: without it, only in direction).
    """

    def __init__(self, entry: Mapping, tables: list[pd.DataFrame], given: Mapping) -> None:
        self.entry, self.measured, self.detail, self.interval, self.spread = entry, "", "", "", ""
        self.needed = None  # how many draws there were, and how many would decide
        self.settings = 0
        self.given, self.df, self.names = {**VOCABULARY, **given}, tables[0], {}
        for other in tables[1:] if "join" in entry else ():
            self.df = self.df.merge(other, on=entry["join"])
        if "rows" in entry:
            self.df = self.df.query(entry["rows"], engine="python", local_dict=self.given)
        for name, text in entry.get("let", {}).items():
            self.names[name] = value = self.value(text)
            if isinstance(value, pd.Series) and value.index.equals(self.df.index):
                self.df = self.df.assign(**{name: value})
        if "value" in entry:
            self.df = self.df.assign(value=self.value(entry["value"]))

    def value(self, text: str, frame: pd.DataFrame | None = None):
        """Evaluate a Python expression; a name in backticks, or a plain one, is a column."""
        return eval(_with_columns(text), self._namespace(self.df if frame is None else frame))

    def told(self, text: str) -> str:
        """Fill in a text whose braces hold expressions and formats, as an f-string does."""
        if not isinstance(text, str) or "{" not in text:
            return text
        return eval(f"f'''{_with_columns(text)} '''", self._namespace(self.df))[:-1]

    def _namespace(self, frame: pd.DataFrame) -> dict:
        """Return what expressions can name: what was derived, then columns, then all else."""
        columns = {name: frame[name] for name in frame if str(name).isidentifier()}
        return {**self.given, **columns, **self.names, "df": self.df, "_of": frame}

    def judged(self, says: str) -> str:
        """Return the verdict on a statement, by its form."""
        mostly = self.entry.get("mostly", MOSTLY)
        word, _, rest = says.partition(": ")
        if says == "not testable":
            return NOT_TESTABLE
        if word == "is":
            return judge_statement(bool(self.value(rest)), in_direction=self._in_direction())
        if word in ("all", "some", "none"):
            return self._cases(word, rest)
        if word.startswith("share "):
            return self._share(word.removeprefix("share "), rest)
        if word in ("above 0", "alike"):
            draws, margin = self.value(rest), self.entry["margin"] if word == "alike" else None
            return self._settled(getattr(draws, "index", None), draws, margin)
        if word == "fits":
            return self._fits(*self.value(rest))
        if word == "intervals above 0":
            return judge_intervals(np.atleast_2d(self.value(rest)), mostly=mostly)
        if along := re.fullmatch(r"(rises|falls) along (.+)", says):
            sides = self._steps(along[2].strip("`"))
            sides = sides if along[1] == "rises" else sides[::-1]
            return self._compared(*sides, of=f"how far it {along[1]}, ")
        if says == "value = published":
            apart = self.df[["value"]].T - self.given["published"]
            margin = self.given["tolerance"] * abs(self.given["published"])
            near = judge_statement((abs(apart) <= margin).all(axis=None))
            verdict = self._settled(None, apart, margin) if self.entry.get("seeds") else near
            self.measured = float(self.df["value"].mean())
            return verdict
        lower, sign, higher = re.fullmatch(r"(.+?) (<=|<) (.+)", says).groups()
        return self._compared(*self._sides(lower, higher), strict=sign == "<")

    def _cases(self, word: str, condition: str) -> str:
        holds = self._holds(condition)
        self.measured = f"{holds.sum()} of {len(holds)}"
        self.names["holds"] = holds
        if word != "all":
            return judge_statement(holds.any() == (word == "some") and len(holds) > 0)
        mostly = self.entry.get("direction")
        return judge_statement(
            holds.all() and len(holds) > 0,
            in_direction=mostly is not None and holds.mean() >= mostly,
        )

    def _holds(self, condition: str) -> pd.Series:
        given = self.given | self.names
        return self.df.eval(condition, engine="python", local_dict=given).astype(bool)

    def _share(self, bounds: str, condition: str) -> str:
        """Judge "share >= 0.5: ...", "share <= 0.1: ..." or "share in [0.25, 0.75]: ..."."""
        holds = self._holds(condition)
        number, trials = int(holds.sum()), len(holds)
        sign, value = bounds.split(" ", 1)
        ends = {"in": value, ">=": f"[{value}, 1]", "<=": f"[0, {value}]"}[sign]
        at_least, at_most = self.value(ends)
        self.names["holds"] = holds
        self.measured, self.spread = f"{number} of {trials}", f"{trials} runs"
        self.interval = share_interval(number, trials)
        bounds = {"at_least": at_least, "at_most": at_most}
        self.needed = lambda: (trials, runs_needed(number, trials, **bounds), "runs")
        return judge_share(number, trials, **bounds)

    def _by_draw(self, *sides: pd.Series) -> list[pd.DataFrame]:
        """Return numbers by setting (rows) and draw (columns), gaps closed as the entry says."""
        seeds, gaps = self.entry.get("seeds"), self.entry.get("gaps")
        if not seeds:
            return [side.to_frame("value") for side in sides]
        if self.entry.get("at"):
            wide = [side.unstack(seeds) for side in sides]
        else:
            wide = [side.to_frame("all").T for side in sides]
        if gaps == "stand for":  # a method that draws nothing was run once
            return [side.ffill(axis=1) for side in wide]
        if gaps:
            axis = {"settings": 1, "seeds": 0}[gaps]
            full = np.logical_and.reduce([side.notna().all(axis=axis) for side in wide])
            wide = [side.loc[full] if axis else side.loc[:, full] for side in wide]
        return wide

    def _means(self, keys: list[str]) -> pd.DataFrame | pd.Series:
        """Return the value, or all columns, by keys in the order of the table."""
        columns = (
            "value"
            if "value" in self.entry
            else [name for name in self.df.select_dtypes(["number", "bool"]) if name not in keys]
        )
        return self.df.groupby(keys, sort=False)[columns].mean() if keys else self.df[columns]

    def _sides(self, *sides: str) -> list[pd.DataFrame]:
        """Return the two sides of a comparison, settings x draws."""
        at, by = as_list(self.entry.get("at")), self.entry.get("by")
        keys = [*at, *as_list(self.entry.get("seeds"))]
        means = self._means([*keys, by] if by else keys)
        frame = means.unstack(by) if by else means
        frame = frame.to_frame() if isinstance(frame, pd.Series) else frame
        self.names["wide"] = frame
        self.names |= {
            "least_but": lambda *names: frame.drop(columns=[*names]).min(axis=1),
            "most_but": lambda *names: frame.drop(columns=[*names]).max(axis=1),
        }
        values = [self.value(side, frame) for side in sides]
        like = next(value for value in values if isinstance(value, pd.Series))
        return self._by_draw(
            *(value if isinstance(value, pd.Series) else 0 * like + value for value in values)
        )

    def _steps(self, along: str) -> list[pd.DataFrame]:
        """Return each value and the next along a column, settings x draws."""
        keys = [*as_list(self.entry.get("at")), *as_list(self.entry.get("seeds"))]
        (wide,) = self._by_draw(self._means(keys))
        places = self.entry.get("order") or sorted(wide.index.unique(along))
        others = [name for name in wide.index.names if name != along]
        parts = wide.groupby(others, sort=False) if others else [("", wide)]
        steps = {
            " ".join(map(str, [*as_list(at), f"{one} to {other}"])): (
                part.loc[one],
                part.loc[other],
            )
            for at, part in ((at, part.droplevel(others).reindex(places)) for at, part in parts)
            for one, other in zip(places, places[1:], strict=False)
        }
        self.names["wide"] = wide
        return [pd.DataFrame({k: s[side] for k, s in steps.items()}).T for side in (0, 1)]

    def _compared(
        self, lower: pd.DataFrame, higher: pd.DataFrame, *, strict=False, of="of the differences, "
    ) -> str:
        """Judge lower <= higher: exactly, or over draws by intervals of their differences."""
        lower, higher = lower.astype(float), higher.astype(float)
        self.names |= {"lower": lower, "higher": higher}
        if not self.entry.get("seeds"):
            holds = lower < higher if strict else lower <= higher
            self.measured = f"at {int(holds.to_numpy().sum())} of {holds.size} settings"
            self.names |= {"holds": holds.iloc[:, 0], "n": len(lower)}
            difference(lower, higher)  # no number is missing
            mostly = self.entry.get("mostly", MOSTLY)
            share = holds.to_numpy().mean()
            return judge_statement(share == 1, in_direction=share >= mostly)
        side = difference(lower, higher, paired=self.entry.get("paired", True))
        return self._settled(lower.index, side, of=of)

    def _settled(self, index, side, margin: float | None = None, of: str = "") -> str:
        """Judge settings by their draws, and keep what is found for the texts of the entry."""
        entry = self.entry
        options = {
            "quantifier": entry.get("quantifier", EVERYWHERE),
            "mostly": entry.get("mostly", MOSTLY),
            "within": tuple(entry.get("within", (-np.inf, np.inf))),
            "exact": entry.get("estimand") == "exact",
        }
        about = Settings(side, **options)
        settings = about if margin is None else Settings(margin - side, margin + side, **options)
        ends, (low, high) = about.at(settings.level), settings.ends.T
        words = partial(intervals_in_words, held=settings.held)
        self.settings = settings.n
        self.names |= {"ends": ends, "low": low, "high": high, "means": about.means}
        self.names |= {"n": settings.n, "held": settings.held, "intervals_in_words": words}
        self.names["draws"], self.needed = of_draws(settings.draws), settings.needed
        counts = f"supported at {(low >= 0).sum()} and refuted at {(high < 0).sum()} of {len(low)}"
        self.measured = f"{span(about.means)} on average"
        self.measured += f"; {counts} settings" if len(low) > 1 else ""
        if options["exact"]:
            return settings.verdict
        names = [options["quantifier"]]
        if isinstance(index, pd.Index) and settings.n == len(index):
            names = [_setting(as_list(at), index.names) for at in index]
        self.spread = self.names["draws"]
        outer = f"{ends.min():.3g} to {ends.max():.3g}"
        self.interval = f"{settings.held}, {len(ends)} intervals of differences: {outer}"
        if len(ends) <= 8 and len(ends) == len(names):
            self.interval = of + words(ends, names)
        return settings.verdict

    def _fits(self, runs: pd.DataFrame, published) -> str:
        """Judge whether published single runs could be runs of ours."""
        ends = np.array([prediction_interval(row) for row in runs.to_numpy(float)])
        inside = (ends[:, 0] <= published) & (published <= ends[:, 1])
        self.settings = len(ends)
        words = partial(intervals_in_words, held=EACH)
        self.names |= {"ends": ends, "inside": inside, "intervals_in_words": words}
        self.measured = f"{inside.sum()} of {len(ends)} fit; " + listed(runs.mean(axis=1))
        names = [" ".join(map(str, as_list(at))) for at in runs.index]
        self.interval = "of one run, " + words(ends, names)
        self.spread = of_draws(runs.shape[1], "runs")
        self.needed = lambda: (runs.shape[1], FEWEST_RUNS, "runs")
        verdict = judge_runs(runs, published, mostly=self.entry.get("mostly", MOSTLY))
        if "direction" in self.entry and verdict not in (REPRODUCED, UNDECIDED):
            return judge_statement(False, in_direction=self._in_direction())
        return verdict

    def _in_direction(self) -> bool:
        return bool(self.value(self.entry.get("direction", "False")))

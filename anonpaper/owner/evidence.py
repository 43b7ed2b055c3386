"""Evidence on a release, of this package or another tool's: what `ap.audit` reports.

Another tool's release is read as an attacker with a register reads it: each published text allows
some values, and each row belongs to somebody whom its texts and sensitive values fit.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from anonpaper import measure
from anonpaper.errors import ColumnError, ParameterError, SizeLimitError, check_sequence, is_among
from anonpaper.groups import Entries, Partition, dense_labels
from anonpaper.hierarchy import STAR, Hierarchy, check_hierarchies
from anonpaper.microdata import MISSING, Attribute, Microdata, check_microdata
from anonpaper.owner import report
from anonpaper.principles import Principle
from anonpaper.publish import PublishedAttribute, Release, writing
from anonpaper.published_values import SubDomains

_MOST_PAIRS = 1_000_000_000  # of a class and different quasi-identifiers
_N = r"([+-]?\d+(?:\.\d+)?)"
_INTERVAL = re.compile(rf"([\[(\]]?)\s*{_N}\s*(?:-|–|,|;|\.\.)\s*{_N}\s*([\])\[]?)")
_BOUND = re.compile(rf"(<=|<|>=|>)\s*{_N}")
_COMPARED = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What speaks for and against a release; the attributes are in the order of a decision.

    ``release`` is the Release. ``promises`` has a row per principle: what was promised, what
    counting the file shows, and what the strongest attacker concludes, of how many people.
    ``attackers`` has a row per attacker: how sure of a secret at best, whether that is exact or a
    bound, and otherwise why not played. ``risk`` and ``utility`` are numbers by name.
    """

    release: Release
    promises: pd.DataFrame
    attackers: pd.DataFrame
    risk: dict
    utility: dict

    def __str__(self) -> str:
        frames = {"promises": self.promises, "attackers": self.attackers}
        tables = {name: frame.to_dict("records") for name, frame in frames.items()}
        return report.as_text(tables | {"risk": self.risk, "utility": self.utility})

    __repr__ = __str__

    def report(self, path: str | os.PathLike) -> Path:
        """Write a page that compares the release with its table, for the table's owner.

        Do not publish it: it shows counts of the original table. `path` ends in
        .html; an existing file is replaced, completely or not at all.
        """
        report.check_page_place(path)
        writing.write_tables({path: report.page(self.release).encode()})
        return Path(path)


def audit(
    original: Microdata,
    released: Release | pd.DataFrame,
    promised: Sequence[Principle] = (),
    *,
    hierarchies: Mapping[object, Hierarchy] | None = None,
) -> Evidence:
    """Report what a release promises, which attackers were tried, its risk and its utility.

    Every attacker of this package is listed; one that was not played has the reason. `released` is
    a Release, which knows what was promised, or the rows that another tool published, in any
    order, with what it `promised`. Their quasi-identifiers may be values, ``*``, sets ``{a, b}``,
    intervals such as ``[20, 30)`` or ``20-29``, bounds such as ``>=65``, prefixes such as
    ``021**``, or names of the `hierarchies`, by attribute.

    ColumnError, ParameterError or SizeLimitError if a column with a role lacks, a text is not
    understood, a row fits nobody, `released` is of another table than `original`, or classes times
    different quasi-identifiers are above 10⁹. Rows are matched to people by a maximum flow, after
    O(c·t·d) comparisons of c classes with t QI tuples. The order of the report is of NIST SP
    800-188 (S. Garfinkel et al., 2023).

    >>> m = ap.examples.hospital()
    >>> rows = ap.suppress(m, ap.examples.hospital_two_diverse()).public_frame()
    >>> found = audit(m, rows, [ap.KAnonymity(3)])
    >>> found.promises[["principle", "promised", "people", "of"]].head(1)
         principle  promised  people  of
    0  k-anonymity       3.0       2  10
    """
    check_microdata(original, people=True)
    if not isinstance(released, Release):
        released = _read(original, released, promised, hierarchies)
    elif not (is_among(promised, [(), []]) and is_among(hierarchies, [None, {}])):
        raise ParameterError("a Release knows its promises: leave out promised and hierarchies")
    elif released.microdata is not original and not (
        released.microdata.qi == original.qi
        and np.array_equal(released.microdata.codes, original.codes)
    ):
        raise ParameterError("released was made from another table than original")
    told = measure.attackers(released).drop(columns=["each", "meaning"])
    found, tried = report.summary(released), report.attackers_tried(released)
    return Evidence(released, told, tried, found["risk"], found["rows"] | found["loss"])


# -- reading another tool's rows --------------------------------------------------------------


def _read(m: Microdata, rows: object, promised, hierarchies) -> Release:
    """Return the Release whose rows these are."""
    if not isinstance(rows, pd.DataFrame):
        raise ParameterError(f"released must be a Release or a DataFrame, got {type(rows)}")
    if lacking := [name for name in [*m.qi, *m.sensitives] if name not in rows]:
        raise ColumnError(f"released lacks {lacking}; it has {list(rows.columns)}")
    if rows.empty:
        raise ParameterError("released has no row")
    trees = check_hierarchies(hierarchies, m.qi)
    numbers, names, masks = [], [], []
    for attribute in m.attributes:
        written = _texts(rows[attribute.name].astype(object), STAR)
        number, texts = pd.factorize(np.array(written, object))
        tree = trees.get(attribute.name)
        numbers.append(number)
        names.append(texts)
        masks.append(np.array([_values_of(text, attribute, tree) for text in texts]))
    # a class is a different tuple of texts
    classes, of_row = np.unique(np.column_stack(numbers), axis=0, return_inverse=True)
    labels = _matched(m, classes, of_row.ravel(), masks, rows)
    published = []
    for attribute, texts, mask, number in zip(m.attributes, names, masks, classes.T, strict=True):
        index = np.where(labels >= 0, number[labels], 0).astype(np.int32)
        sub_domains = SubDomains.sets(attribute, *np.nonzero(mask), texts)
        published.append(PublishedAttribute(sub_domains, index))
    p = Partition(labels, algorithm="another tool")
    p.promised = tuple(check_sequence("promised", promised, Principle))
    return Release(Entries.of_rows(m, labels), published, "another tool", p)


def _texts(values: Iterable, missing: str) -> list[str]:
    return [missing if pd.isna(value) else str(value) for value in values]


def _values_of(text: str, attribute: Attribute, tree: Hierarchy | None) -> np.ndarray:
    """Which values a published text allows, shape (size,), bool: its first meaning that is one."""
    for allowed in _meanings(text, text.strip(), attribute, tree):
        if allowed.any():
            return allowed
    way = f"give its hierarchy, as in hierarchies={{{attribute.name!r}: ...}}"
    told = f"{text!r} of {attribute.name!r} is not understood: {way}"
    raise ParameterError(f"{told}; the table has {attribute.values[:5]}")


def _meanings(text: str, bare: str, attribute: Attribute, tree) -> Iterator[np.ndarray]:
    """What a text, bare of spaces, may allow: a value, a name, a set, a range, a prefix."""
    values, place = [str(value) for value in attribute.values], np.arange(attribute.size)
    yield np.isin(values, [text])
    numbers = attribute.positions if attribute.numeric else np.full(len(values), np.nan)
    if re.fullmatch(_N, text):
        yield numbers == float(text)  # 34.0 is 34
    if tree is not None:
        levels = range(tree.height + 1)
        yield np.array([bare in [tree.generalize(v, i) for i in levels] for v in values])
    if bare == STAR:
        yield place >= 0
    if found := re.fullmatch(rf"\{{([\[(].*[])]), {re.escape(MISSING)}\}}", bare, re.DOTALL):
        yield _values_of(found[1], attribute, tree) | np.isin(values, [MISSING])
    if bare.startswith("{") and bare.endswith("}"):
        yield np.isin(values, next(csv.reader([bare[1:-1]], skipinitialspace=True)))
    ends = [values.index(end) for end in bare[1:-1].split(" - ") if end in values]
    if attribute.ordered and bare.startswith("[") and bare.endswith("]") and len(ends) == 2:
        yield (place >= ends[0]) & (place <= ends[1])
    if found := _INTERVAL.fullmatch(bare):
        left, low, high, right = found.groups()
        above = np.greater if left in ("(", "]") else np.greater_equal
        below = np.less if right in (")", "[") else np.less_equal
        yield above(numbers, float(low)) & below(numbers, float(high))
    if found := _BOUND.fullmatch(f">={bare[:-1]}" if bare.endswith("+") else bare):
        yield _COMPARED[found[1]](numbers, float(found[2]))
    if bare.endswith(STAR):
        start = bare.rstrip(STAR)
        yield np.array([v.startswith(start) and len(v) == len(bare) for v in values])


def _matched(m: Microdata, classes, class_of_row, allowed: list, rows) -> np.ndarray:
    """A class for each person, -1 for the withheld; each published row belongs to somebody."""
    if len(classes) * len(m.cells) > _MOST_PAIRS:
        raise SizeLimitError("too many classes times quasi-identifiers to match: audit a sample")
    secret = np.zeros(m.n + len(rows), np.intp)
    for name in m.sensitives:
        every = [*m.attribute(name).values[m.codes_of(name)], *rows[name].astype(object)]
        code, values = pd.factorize(np.array(_texts(every, MISSING), object))
        secret = dense_labels(secret * len(values) + code)
    people = pd.DataFrame({"tuple": m.cells.tuple_of_row, "secret": secret[: m.n]})
    rows = pd.DataFrame({"class": class_of_row, "secret": secret[m.n :]})
    # people are alike if their quasi-identifiers and secrets are; so are rows
    alike, slots = (side.value_counts(sort=False).reset_index() for side in (people, rows))
    fits = []
    for texts in classes:
        columns = zip(allowed, texts, m.cells.tuples.T, strict=True)
        fit = np.logical_and.reduce([masks[text][codes] for masks, text, codes in columns])
        fits.append(np.flatnonzero(fit))
    of_class = np.repeat(np.arange(len(fits)), [*map(len, fits)])
    fits = pd.DataFrame({"class": of_class, "tuple": np.concatenate(fits)})
    alike["person"], slots["slot"] = alike.index, len(alike) + slots.index
    edges = fits.merge(alike).merge(slots, on=["class", "secret"])
    source, sink = len(alike) + len(slots), len(alike) + len(slots) + 1
    starts = np.r_[np.full(len(alike), source), edges["person"], slots["slot"]]
    ends = np.r_[alike["person"], edges["slot"], np.full(len(slots), sink)]
    both = edges[["count_x", "count_y"]].min(axis=1)
    most = np.r_[alike["count"], both, slots["count"]].astype(np.int32)
    found = maximum_flow(csr_array((most, (starts, ends)), shape=(sink + 1,) * 2), source, sink)
    if found.flow_value < len(rows):
        told = f"{len(rows) - found.flow_value:,} of {len(rows):,} rows fit nobody"
        why = "their quasi-identifiers or sensitive values were changed, or they are synthetic"
        raise ParameterError(f"{told}: {why}")
    taken = np.asarray(found.flow[edges["person"], edges["slot"]]).ravel()
    held = edges.loc[edges.index.repeat(taken), ["tuple", "secret", "class"]]
    for table in (held, people):
        table["place"] = table.groupby(["tuple", "secret"]).cumcount()
    return people.merge(held, "left")["class"].fillna(-1).astype(int).to_numpy()

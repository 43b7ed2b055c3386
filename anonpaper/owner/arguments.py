"""What the texts of the command line mean: names, kinds, hierarchies, and files to write."""

from __future__ import annotations

import csv
import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace

import pandas as pd

import anonpaper as ap
from anonpaper import measure
from anonpaper.constraints import read_constraints
from anonpaper.errors import AnonpaperError, ConstraintError, FileError, ParameterError
from anonpaper.files import check_place, named_by_user
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import MISSING, Microdata
from anonpaper.owner import reader
from anonpaper.owner.page import check_page_place
from anonpaper.owner.reader import LOG, STANDARD_STREAM, Table
from anonpaper.publish import writing

__all__ = ["check_places", "constraints", "for_owner", "hierarchies", "kinds", "names", "outputs",
           "read"]  # fmt: skip


def names(texts: Iterable[str]) -> list[str]:
    """Split lists of column names as lines of csv.

    >>> names(['"income, monthly", age', "zip"])
    ['income, monthly', 'age', 'zip']
    """
    lines = (next(csv.reader([text], skipinitialspace=True), []) for text in texts)
    return [name for line in lines for name in line]


def kinds(texts: Iterable[str]) -> dict[str, str | list[str]]:
    """Return the kinds of columns that texts like NAME=KIND give.

    >>> kinds(["zip=text,answer=no<yes"])
    {'zip': 'text', 'answer': ['no', 'yes']}
    """
    found: dict[str, str | list[str]] = {}
    for text in names(texts):
        name, _, told = text.rpartition("=")
        kind = told.split("<") if "<" in told else told
        if found.setdefault(name, kind) != kind:
            raise ParameterError(f"{name!r} cannot be both {found[name]} and {kind}: choose one")
    return found


def hierarchies(texts: Sequence[str], m: Microdata, kinds: Mapping) -> dict[str, Hierarchy]:
    """Make the hierarchies that texts like NAME=TREE describe; a NAME may contain the sign."""
    found = {}
    for text in texts:
        name = max((name for name in m.qi if text.startswith(f"{name}=")), key=len, default=None)
        tree = text[len(name or "") + 1 :]
        if name is None or not tree:
            raise ParameterError(f"--hierarchy {text}: NAME=TREE, NAME one of {m.qi}")
        try:
            found[name] = _hierarchy(m, name, kinds.get(name, ""), tree)
        except AnonpaperError as error:
            raise type(error)(f"--hierarchy {text}: {error}") from None
    return found


#: What makes a hierarchy of a column, and of which numbers.
_MAKERS = {"prefixes": (Hierarchy.prefixes, int), "dates": (Hierarchy.dates, str),
           "widths": (Hierarchy.intervals, float)}  # fmt: skip


def _hierarchy(m: Microdata, name: str, column: str, tree: str) -> Hierarchy:
    """Make a hierarchy by prefixes, dates or widths of the column, or read a csv."""
    kind, _, numbers = tree.partition(":")
    if kind not in _MAKERS:
        return Hierarchy.from_csv(tree)
    make, number = _MAKERS[kind]
    try:
        steps = [[number(text) for text in numbers.split(",")]] if numbers else []
    except ValueError:
        raise ParameterError(
            f"{kind} takes {'' if number is float else 'whole '}numbers with commas between them"
        ) from None
    if kind == "widths":
        if not steps:
            raise ParameterError("widths needs numbers, as in widths:5,10,20")
        texts = [v for v in m.attribute(name).values if isinstance(v, str) and v != MISSING]
        # widths take 90+ beside numbers
        if texts := [t for t in texts if not re.fullmatch(r"\d+(?:\.\d+)?\+?", t, re.ASCII)]:
            raise ParameterError(
                f"widths needs numbers, but {name!r} was read as {column}, with values such as "
                f"{texts[-1]!r}: give a csv of the values and their names, or leave {name!r} out"
            )
    form = {"form": column} if kind == "dates" and "%" in column else {}
    return make(m.frame[name], *steps, **form)


def constraints(path: str | None) -> list | None:
    """Read the constraints in a file."""
    try:
        return read_constraints(path) if path else None
    except ConstraintError as error:  # a wrong file is an error of usage
        raise ParameterError(str(error)) from None


def outputs(o: SimpleNamespace, form: str) -> list[str]:
    """Return the files of the tables; none if the table goes to standard output."""
    if o.output not in (None, STANDARD_STREAM):
        return [o.output, str(writing.beside(o.output, "sensitive"))][: 1 + (form == "anatomize")]
    if form == "anatomize":
        raise ParameterError("anatomize publishes two tables: name a file with -o")
    return []


def check_places(o: SimpleNamespace, outputs: Sequence[str] = ()) -> None:
    """Raise FileError if a file may not be written: wrong ending, an input, or already there.

    Inputs are never overwritten, however they are spelled or linked, even with --force.
    """
    given = {"schema": None, **vars(o)}.get
    trees = [text[place + 1 :] for text in given("hierarchy", ())
             for place, sign in enumerate(text) if sign == "="]  # fmt: skip
    files = [given(name) for name in ("constraints", "recoding", "population", "schema")]
    taken = ["/dev/stdin" if o.file == STANDARD_STREAM else o.file, *trees, *filter(None, files)]
    checks = {"report": check_page_place, "risks": _check_csv, "save_schema": check_place,
              "save_recoding": check_place}  # fmt: skip
    written = [(name, writing.check_table_place) for name in outputs]
    written += [(name, check) for option, check in checks.items() if (name := given(option))]
    for name, check in written:
        check(name, replace=True)
        for other in taken:
            if _are_the_same(name, other):
                raise FileError(f"{name} is the same file as {other}: name another file")
        check(name, replace=o.force)
        taken.append(name)


def _are_the_same(*paths: str) -> bool:
    with named_by_user(paths[-1]):
        if all(map(os.path.exists, paths)):
            return os.path.samefile(*paths)
        return len({*map(os.path.realpath, paths)}) == 1


def _check_csv(path: str, *, replace: bool) -> None:
    check_place(path, replace=replace, endings=(".csv",), of="risks are written as .csv")


def for_owner(o: SimpleNamespace, table: Table, release: ap.Release, people) -> dict[str, bytes]:
    """Return the content of the files that are written beside a table, for its owner."""
    files = {}
    if o.save_schema:
        files[o.save_schema] = table.schema.encode(errors="surrogateescape")
    if o.risks:
        rows = measure.identification(release, people).reset_index(names="row")
        if pd.api.types.is_integer_dtype(rows["row"]):
            rows["row"] += 1
        files[o.risks] = writing.as_csv(rows)
        LOG.info("do not publish %s: it shows who is at risk", o.risks)
    return files


def read(o: SimpleNamespace) -> tuple:
    """Return the Table of a file, its Microdata, and that of --population."""
    LOG.info("reading %s", o.file)
    given = {name: vars(o).get(name) for name in reader.DEFAULTS}
    given |= {name: names(given[name] or ()) for name in ("qi", "sensitive", "keep")}
    texts = dict.fromkeys(given["qi"], "text") if vars(o).get("stars") else {}
    given["types"], people = texts | kinds(o.type), None
    table, m = reader.with_roles(o.file, given, o.schema)
    if o.population:
        told = {name: given[name] for name in ("na", "missing", "delimiter", "encoding")}
        told["types"] = {name: kind for name, kind in table.kinds.items() if name in m.qi}
        people = reader.with_roles(o.population, told | {"qi": m.qi})[1]
    used = [*m.qi, *m.sensitives, m.person, *given["keep"]]
    if hasattr(o, "keep") and (left := [name for name in table.columns if name not in used]):
        LOG.info("not published: %s (neither --qi nor --sensitive; --keep publishes them)", left)
    if given["keep"]:
        LOG.info("warning: published unchanged, without protection: %s", given["keep"])
    if o.file != STANDARD_STREAM and vars(o).get("report"):
        with open(o.file, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        m = m.replace(origin=f"{o.file}, sha256 {digest}")
    return table, m, people

"""What the texts of the command line mean: names, kinds, hierarchies, and files to write."""

from __future__ import annotations

import csv
import hashlib
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

import anonpaper as ap
from anonpaper import measure
from anonpaper.constraints import read_constraints
from anonpaper.errors import AnonpaperError, ConstraintError, FileError, ParameterError
from anonpaper.files import check_place
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import MISSING, Microdata
from anonpaper.owner import page, reader
from anonpaper.owner.reader import LOG, STANDARD_STREAM, Table
from anonpaper.publish import writing

__all__ = [
    "check_output",
    "constraints",
    "for_owner",
    "for_the_command_line",
    "hierarchies",
    "kept_columns",
    "kinds",
    "names",
    "outputs",
    "read",
]


def names(texts: Iterable[str], columns: Sequence[str] = ()) -> list[str]:
    """Split lists of column names as lines of csv; a text is one name if it is one of `columns`.

    >>> names(['"income, monthly", age', "zip"])
    ['income, monthly', 'age', 'zip']
    """
    found = []
    for text in texts:
        read = csv.reader([text], skipinitialspace=True)
        found += [text] if text in columns else next(read, [])
    return found


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
            raise ParameterError(
                f"{name!r} cannot be both {found[name]} and {kind}: choose one of them"
            )
    return found


_MAKERS = {"prefixes": Hierarchy.prefixes, "dates": Hierarchy.dates,
           "widths": Hierarchy.intervals}  # fmt: skip


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


def _hierarchy(m: Microdata, name: str, column: str, tree: str) -> Hierarchy:
    """Make a hierarchy by prefixes, dates or widths of the column, or read a csv."""
    kind, _, numbers = tree.partition(":")
    if kind not in _MAKERS:
        return Hierarchy.from_csv(tree)
    read = {"dates": str, "widths": float}.get(kind, int)
    try:
        steps = [[read(number) for number in numbers.split(",")]] if numbers else []
    except ValueError:
        raise ParameterError(
            f"{kind} takes {'' if read is float else 'whole '}numbers with commas between them"
        ) from None
    if kind == "widths" and not steps:
        raise ParameterError("widths needs numbers, as in widths:5,10,20")
    texts = [v for v in m.attribute(name).values if isinstance(v, str) and v != MISSING]
    # widths take 90+ beside numbers
    texts = [text for text in texts if not re.fullmatch(r"\d+(?:\.\d+)?\+?", text, re.ASCII)]
    if kind == "widths" and texts:
        raise ParameterError(
            f"{kind} needs numbers, but {name!r} was read as {column}, with values such as "
            f"{texts[-1]!r}: give a csv of the values and their names, or leave {name!r} out"
        )
    form = {"form": column} if kind == "dates" and "%" in column else {}
    return _MAKERS[kind](m.frame[name], *steps, **form)


def constraints(path: str | None) -> list | None:
    """Read the constraints in a file."""
    try:
        return read_constraints(path) if path else None
    except ConstraintError as error:  # a wrong file is an error of usage
        raise ParameterError(str(error)) from None


def kept_columns(keep: Sequence[str], table: Table, m: Microdata) -> list[str]:
    """Return the columns to publish unchanged; report all others."""
    columns = table.columns
    kept = names(keep, columns)
    others = [name for name in columns if name not in (*m.qi, *m.sensitives, m.person)]
    if unknown := [name for name in kept if name not in others]:
        raise ParameterError(
            f"--keep names {unknown}; the columns that --qi and --sensitive leave are {others}"
        )
    if left := [name for name in others if name not in kept]:
        LOG.info("not published: %s (neither --qi nor --sensitive; --keep publishes them)", left)
    if kept:
        LOG.info("warning: published unchanged, without protection: %s", kept)
    return kept


def outputs(output: str | None, form: str, engine: str | None) -> list[str]:
    """Return the files to write; none if the table goes to standard output."""
    found = [] if output in (None, STANDARD_STREAM) else [output]
    if engine and not found:
        raise ParameterError("--engine writes files: name one with -o")
    if form != "anatomize":
        return found
    if not found:
        raise ParameterError("anatomize publishes two tables: name a file with -o")
    return [output, str(writing.beside(output, "sensitive"))]


def check_output(
    name: str, inputs: Iterable[str], *, force: bool, check: Callable = writing.check_table_place
) -> None:
    """Raise FileError if a file may not be written: wrong ending, an input, or already there.

    Inputs are never overwritten, however they are spelled or linked, even with `force`.
    """
    check(name, replace=True)
    path = Path(name)
    for other in inputs:
        if other == STANDARD_STREAM:
            same, other = path.exists() and _is_standard_input(path), "the input standard input"
        elif path.exists() and os.path.exists(other):
            same = os.path.samefile(name, other)
        else:
            same = os.path.realpath(name) == os.path.realpath(other)
        if same:
            raise FileError(f"{name} is the same file as {other}: name another file")
    if path.is_file() and not force:
        raise FileError(f"{name} is there already: name another, or use --force")


def _is_standard_input(path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdin.fileno()))
    except (OSError, ValueError):  # it is closed, or not a file of the system
        return False


def for_owner(options: Mapping, table: Table, release: ap.Release, people) -> dict[str, bytes]:
    """Return the content of the files that are written beside a table, for its owner."""
    named = {}
    if options["save_schema"]:
        named[options["save_schema"]] = table.schema.encode(errors="surrogateescape")
    if options["risks"]:
        rows = measure.identification(release, people).reset_index(names="row")
        if pd.api.types.is_integer_dtype(rows["row"]):
            rows["row"] += 1
        named[options["risks"]] = writing.as_csv(rows)
        LOG.info("do not publish %s: it shows who is at risk", options["risks"])
    return named


def read(file, qi, sensitive, type, engine, schema, outputs=(), **options) -> tuple:
    """Return the Table of a file, its Microdata, and that of --population; check all outputs."""
    trees = [text[place + 1 :] for text in options.get("hierarchy", ())
             for place, sign in enumerate(text) if sign == "="]  # fmt: skip
    inputs = [options.get(name) for name in ("constraints", "recoding", "population")]
    inputs = [file, *trees, *filter(None, [*inputs, schema])]
    checks = {
        "page_at": page.check_page_place, "save_recoding": check_place, "risks": _check_csv,
        "save_schema": check_place,
    }  # fmt: skip
    for name in outputs if not engine else ():
        check_output(name, inputs, force=options["force"])
    inputs += outputs
    for option, check in checks.items():
        if name := options.get(option):
            check_output(name, inputs, force=options["force"], check=check)
            inputs.append(name)
    LOG.info("reading %s", file)
    given_types = kinds(type)
    if engine:
        return *_scanned(file, qi, sensitive, given_types, options | {"schema": schema}), None
    given = {name: options[name] for name in reader.OPTIONS if name in options}
    given |= {"qi": qi, "sensitive": sensitive, "types": given_types, "keep": options.get("keep")}
    given["stars"] = options.get("stars")
    table, m = reader.with_roles(file, given, schema, None, names)
    people = options["population"]
    if people:
        given |= {"types": table.kinds, "sensitive": (), "keep": (), "person": None, "count": None}
        given |= {"qi": m.qi, "types": {name: table.kinds[name] for name in m.qi}}
        people = reader.with_roles(people, given, None)[1]
    if file != STANDARD_STREAM and options.get("page_at"):
        with open(file, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        m = m.replace(origin=f"{file}, sha256 {digest}")
    return table, m, people


def _check_csv(path: str, *, replace: bool = True) -> None:
    check_place(path, replace=replace, endings=(".csv",), of="risks are written as .csv")


def _scanned(file: str, qi, sensitive, types: Mapping, options: Mapping) -> tuple:
    needs_rows = {
        "person": "--person", "count": "--count", "keep": "--keep", "encoding": "--encoding",
        "schema": "--schema", "save_schema": "--save-schema", "page_at": "--report",
        "risks": "--risks", "population": "--population", "save_recoding": "--save-recoding",
    }  # fmt: skip
    if given := [option for name, option in needs_rows.items() if options.get(name)]:
        raise ParameterError(
            f"--engine does not go with {', '.join(given)}: it counts rows of UTF-8 and parquet "
            "files, and keeps none; leave --engine out"
        )
    m = ap.scan(
        file, names(qi), names(sensitive), types=types or None,
        na=options["na"], missing=options["missing"] or "error", delimiter=options["delimiter"],
    )  # fmt: skip
    table = Table(pd.DataFrame(), m.engine.columns)
    for text in reader.notes(table, m):
        warnings.warn(text, stacklevel=2)
    return table, m


#: What a message says for Python -> what it says on the command line.
_PYTHON = {
    r" \((?:types=\{[^}]*\}|na=\[[^]]*\])\)": "",
    r"\bset replace=True \((--force)\)": r"use \1",
    r"\b\w+(?:=(?:\.\.\.|\"[^\"]*\"|'[^']*'|\w+))? \((--[^)]+)\)": r"\1",
    r"\btypes=\{'([^']*)': '([^']*)'\}": r"--type \1=\2",
    r"\bset missing to ['\"](\w+)['\"]|\bmissing=['\"](\w+)['\"]": r"--missing \1\2",
    r"(?:\bap\.)?\bHierarchy\.\w+|\bhierarchies=\{.*?\}": "--hierarchy",
    r"\bap\.(suppress|generalize|recode|swap|anatomize)\b": r"--publish \1",
    r"\bap\.(\w+)": r"\1",
}


def for_the_command_line(message: object) -> str:
    """Return a message that names options in place of Python."""
    text = str(message)
    for python, option in _PYTHON.items():
        text = re.sub(python, option, text)
    return text

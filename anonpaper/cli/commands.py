"""The four commands; each takes the parsed options and a function that tells of the progress."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

import anonpaper as ap
from anonpaper.algorithm import Algorithm
from anonpaper.cli import files, report
from anonpaper.cli.arguments import column_names, pairs
from anonpaper.cli.methods import METHODS, options_of, publish, run
from anonpaper.constraints import DiversityConstraint, check_constraints, read_constraints
from anonpaper.datasets.registry import registry
from anonpaper.errors import (
    AnonpaperError,
    ConstraintError,
    DatasetError,
    DatasetUnavailableError,
    EmptyTableError,
    FileError,
    HierarchyError,
    InfeasibleError,
    ParameterError,
)
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Microdata
from anonpaper.principles import read_principle
from anonpaper.publish import world

__all__ = ["anonymize", "audit", "datasets", "fetch"]

Say = Callable[[str], None]


def datasets(options, say: Say) -> None:
    """Print what data sets there are."""
    found = ap.datasets.available()
    if options.json:
        print(report.as_json({"datasets": found.to_dict("records")}))
        return
    for entry in found.itertuples():
        print(
            f"{entry.name}: {entry.rows:,} rows; {entry.licence}\n"
            f"    now: {entry.origin}\n    {entry.how_to_get}"
        )


def fetch(options, say: Say) -> None:
    """Fetch data sets; print where each came from."""
    unknown = [name for name in options.names if name not in registry()]
    if unknown:
        raise ParameterError(f"no data sets {unknown}; there are {', '.join(registry())}")
    names = options.names or list(registry())
    if options.output and len(names) > 1:
        raise ParameterError("-o takes one data set: fetch them one by one")
    to_file = options.output not in (None, files.STANDARD_STREAM)
    if to_file:
        files.check_output(options.output, [], force=options.force)
    told = sys.stderr if options.output == files.STANDARD_STREAM else sys.stdout
    origins = {}
    failed = []
    for name in names:
        say(f"fetching {name}")
        try:
            origins |= ap.datasets.fetch([name])
        except DatasetError as error:
            failed.append(f"{name}: {error}")
            continue
        if not options.json:
            print(f"{name}: {origins[name]}", file=told, flush=True)
    if failed:
        raise DatasetUnavailableError("\n".join(failed))
    if options.output:
        table = world.plain(ap.load(names[0]).frame)
        if to_file:
            world.write_tables({options.output: table}, replace=options.force)
        else:
            sys.stdout.buffer.write(world.as_csv(table))
    if options.json:
        print(report.as_json({name: str(origin) for name, origin in origins.items()}), file=told)


def audit(options, say: Say) -> None:
    """Print how exposed the people of a table are."""
    if options.top < 0:
        raise ParameterError(f"--top must be at least 0, got {options.top}")
    _, m = _microdata(options, say)
    found = report.audit(m, options.top)
    print(report.as_json(found) if options.json else report.as_text(found))


def anonymize(options, say: Say) -> None:
    """Write an anonymous table and print what was done."""
    method = METHODS[options.method]
    publication = _publication(options, method)
    secrets = method.needs_sensitive or options.l or publication in ("swap", "anatomize")
    if secrets and not options.sensitive:
        raise ParameterError("--sensitive must name the column that nobody should learn")
    inputs = _inputs(options)
    outputs = _outputs(options, publication)
    for name in outputs:
        files.check_output(name, inputs, force=options.force)

    table, m = _microdata(options, say)
    kept = _kept_columns(options, table, m, method, say)
    hierarchies = _hierarchies(options, m, method, publication)
    parameters = _parameters(options, method, m, hierarchies)

    say(f"{options.method}: grouping {m.n:,} rows")
    m, result = run(method, m, parameters)
    release = publish(m, result, publication, hierarchies, options.seed)
    if not release.is_published.any():
        raise EmptyTableError("no row could be published")
    for principle in [*method.promised(parameters), *parameters.get("require", ())]:
        if not principle.holds(*release.audited()):
            raise InfeasibleError(f"the result does not meet {principle}: nothing was written")
    found = report.release_report(release, options.method, _shown(parameters))
    if "constraints" in parameters:
        checked = check_constraints(release, parameters["constraints"])
        found["constraints"] = checked.to_dict("records")

    tables = release.public_tables(kept)
    if not outputs or not outputs[0].lower().endswith((".parquet", ".pq")):
        tables = [files.as_written(public, table) for public in tables]
    for text in release.warnings:
        say(f"warning: {text}")
    if outputs:
        say(f"writing {', '.join(outputs)}")
        named = dict(zip(outputs, tables, strict=True))
        world.write_tables(named, replace=options.force, delimiter=table.delimiter)
        found["written to"] = outputs
        print(report.as_json(found) if options.json else report.as_text(found))
    else:
        sys.stdout.buffer.write(world.as_csv(tables[0], table.delimiter))
        if not options.quiet:
            text = report.as_json(found) if options.json else report.as_text(found)
            print(text, file=sys.stderr)


# -- reading -------------------------------------------------------------------------------


def _microdata(options, say: Say) -> tuple[files.Table, Microdata]:
    say(f"reading {options.file}")
    table = files.read_table(
        options.file,
        delimiter=options.delimiter,
        encoding=options.encoding,
        missing_texts=options.na,
        text=column_names(options.text, []),
        ordered=column_names(options.ordered, []),
    )
    columns = list(table.frame.columns)
    qi = column_names(options.qi, columns)
    sensitive = column_names(options.sensitive, columns)
    strangers = [n for n in [*qi, *sensitive, options.person] if n not in (*columns, None)]
    if strangers and len(columns) == 1:
        raise FileError(
            f"{options.file} has one column only, {columns[0]!r}, when read with the delimiter "
            f"{table.delimiter!r}: --delimiter says which it is"
        )
    m = Microdata(table.frame, qi, sensitive, person=options.person, missing=options.missing)
    if m.dropped:
        say(f"{m.dropped:,} rows with missing values are left out")
    elif lost := [name for name in qi if _loses_its_order(m, name)]:
        say(
            f"missing values are kept as the value ? and take the order from {', '.join(lost)}: "
            "sets are published instead of intervals; --missing drop leaves such rows out"
        )
    return table, m


def _loses_its_order(m: Microdata, name: str) -> bool:
    column = m.frame[name]
    ordered = pd.api.types.is_numeric_dtype(column) or getattr(column.dtype, "ordered", False)
    return bool(ordered and column.isna().any())


def _kept_columns(options, table, m: Microdata, method: Algorithm, say: Say) -> list[str]:
    """Return the columns to be published as they are; say which are not published at all."""
    columns = list(table.frame.columns)
    kept = column_names(options.keep, columns)
    roles = {*m.qi, *m.sensitives, m.person}
    unknown = [name for name in kept if name not in columns or name in roles]
    if unknown:
        raise ParameterError(
            f"--keep names {unknown}; the columns that --qi and --sensitive leave are "
            f"{[name for name in columns if name not in roles]}"
        )
    left = [name for name in columns if name not in roles and name not in kept]
    if left:
        say(f"not published: {left} (neither --qi nor --sensitive; --keep publishes them)")
    if m.person is not None:
        say(f"{m.n_people:,} people are counted by {m.person!r}, which is not published")
    if kept:
        say(f"warning: published as they are, without protection: {kept}")
    return kept


def _hierarchies(options, m, method: Algorithm, publication: str) -> dict[str, Hierarchy]:
    if not options.hierarchy:
        return {}
    if "hierarchy" not in options_of(method) and publication != "shallow":
        raise ParameterError(
            f"{options.method} published by {publication} does not use --hierarchy"
            + ("; --publish shallow does" if "shallow" in method.publications else "")
        )
    found = {}
    for name, path in pairs(options.hierarchy, m.qi):
        if name not in m.qi or not path:
            raise ParameterError(f"--hierarchy {name}={path}: NAME=FILE, NAME one of {m.qi}")
        try:
            found[name] = Hierarchy.from_csv(path, sep=options.hierarchy_delimiter)
        except HierarchyError as error:
            raise HierarchyError(f"{path}: {error}") from None
        except OSError as error:
            raise FileError(f"{path}: {error.strerror}") from None
        except ValueError as error:  # no csv, or not UTF-8
            raise FileError(f"{path}: {error}") from None
    return found


# -- what the method is given --------------------------------------------------------------


def _publication(options, method: Algorithm) -> str:
    form = options.publish or method.publications[0]
    if form not in method.publications:
        raise ParameterError(
            f"--publish {form} does not go with {options.method}, which is published by "
            f"{', '.join(method.publications)}"
        )
    return form


def _parameters(options, method: Algorithm, m: Microdata, hierarchies) -> dict[str, object]:
    """Return the method's parameters; every option given must be one of them."""
    takes = options_of(method)
    every = {name for other in METHODS.values() for name in options_of(other)}
    texts = {name: getattr(options, name.replace("-", "_"), None) for name in every}
    given = {name: text for name, text in texts.items() if text not in (None, [])}
    given.pop("seed", None)
    given.pop("hierarchy", None)
    if wrong := sorted(set(given) - set(takes)):
        raise ParameterError(
            f"{options.method} does not take --{', --'.join(wrong)}; it takes "
            f"{', '.join(f'--{name}' for name in takes) or 'nothing'}"
        )
    if lacking := [f"--{name}" for name, p in takes.items() if p.required and name not in given]:
        raise ParameterError(f"{options.method} needs {' and '.join(lacking)}")
    given = {takes[name].name: value for name, value in given.items()}
    for name in {"weights", "granularity"} & set(given):
        given[name] = _numbers(given[name], m)
    if "require" in given:
        given["require"] = [read_principle(text) for text in given["require"]]
    if "constraints" in given:
        given["constraints"] = _constraints(given["constraints"])
    if "seed" in method.parameters:
        given["seed"] = options.seed
    if hierarchies and "hierarchy" in takes:
        given["hierarchies"] = hierarchies
    return given


def _numbers(texts: Sequence[str], m: Microdata) -> dict[str, float]:
    try:
        return {name: float(value) for name, value in pairs(texts, m.qi)}
    except ValueError:
        raise ParameterError(f"{texts}: each must be NAME=NUMBER, NAME one of {m.qi}") from None


def _constraints(path: str) -> list[DiversityConstraint]:
    """Read constraints from lines, csv or JSON; what is wrong in them is an error of usage."""
    try:
        if path.lower().endswith(".json"):
            entries = json.loads(Path(path).read_text(encoding="utf-8"))
            return [DiversityConstraint(e["target"], e["low"], e["high"]) for e in entries]
        if path.lower().endswith(".csv"):
            return _constraints_of_csv(path)
        return read_constraints(path)
    except ConstraintError as error:
        raise ParameterError(f"{path}: {error}") from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    except AnonpaperError:
        raise
    except (AttributeError, LookupError, TypeError, RecursionError, ValueError) as error:
        raise FileError(
            f"{path}: a list of objects with target, low and high is expected ({error!r})"
        ) from None


def _constraints_of_csv(path: str) -> list[DiversityConstraint]:
    frame = files.read_table(path).frame
    if not {"low", "high"} < set(frame.columns):
        raise ConstraintError("the columns must be attributes, low and high")
    attributes = [name for name in frame.columns if name not in ("low", "high")]
    return [
        DiversityConstraint(
            {name: row[name] for name in attributes if not pd.isna(row[name])},
            row["low"],
            row["high"],
        )
        for row in frame.to_dict("records")
    ]


def _shown(parameters: dict) -> dict:
    """Return parameters as they are reported: files and trees by their number."""
    shown = dict(parameters)
    for name in {"constraints", "hierarchies"} & set(shown):
        shown[name] = len(shown[name])
    return shown


# -- writing -------------------------------------------------------------------------------


def _inputs(options) -> list[str]:
    others = [
        path
        for text in options.hierarchy
        for path in [text[place + 1 :] for place, sign in enumerate(text) if sign == "="]
    ]
    return [options.file, *others, *filter(None, [options.constraints])]


def _outputs(options, publication: str) -> list[str]:
    """Return the files to be written; none if the table goes to standard output."""
    name = options.output or files.STANDARD_STREAM
    if publication == "anatomize":
        if name == files.STANDARD_STREAM:
            raise ParameterError("anatomize publishes two tables: name a file with -o")
        return [name, str(world.beside(name, "sensitive"))]
    return [] if name == files.STANDARD_STREAM else [name]

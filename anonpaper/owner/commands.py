"""The four commands. Each takes the parsed options and a function that reports progress."""

from __future__ import annotations

import csv
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

import anonpaper as ap
from anonpaper import errors
from anonpaper.algorithm import Algorithm
from anonpaper.constraints import check_constraints, read_constraints
from anonpaper.datasets.registry import registry
from anonpaper.files import check_place
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import MISSING, Microdata
from anonpaper.owner import page, reader, report
from anonpaper.owner.reader import STANDARD_STREAM, Table
from anonpaper.principles import read_principle
from anonpaper.publish import Release, writing

__all__ = ["anonymize", "audit", "datasets", "fetch"]

Say = Callable[[str], None]


def datasets(options, say: Say) -> None:
    """Print the available data sets."""
    found = ap.datasets.available()
    if options.json:
        print(report.as_json({"datasets": found.to_dict("records")}))
        return
    for entry in found.itertuples():
        print(f"{entry.name}: {entry.rows:,} rows; {entry.licence}")
        print(f"    now: {entry.origin}\n    {entry.how_to_get}")


def fetch(options, say: Say) -> None:
    """Fetch data sets; print where each came from."""
    unknown = [name for name in options.names if name not in registry()]
    if unknown:
        raise errors.ParameterError(f"no data sets {unknown}; there are {', '.join(registry())}")
    names = options.names or list(registry())
    if options.output and len(names) > 1:
        raise errors.ParameterError("-o takes one data set: fetch them one by one")
    to_file = options.output not in (None, STANDARD_STREAM)
    if to_file:
        check_output(options.output, [], force=options.force)
    told = sys.stderr if options.output == STANDARD_STREAM else sys.stdout
    origins, failed = {}, []
    for name in names:
        say(f"fetching {name}")
        try:
            origins |= ap.datasets.fetch([name])
        except errors.DatasetError as error:
            failed.append(f"{name}: {error}")
            continue
        if not options.json:
            print(f"{name}: {origins[name]}", file=told, flush=True)
    if failed:
        raise errors.DatasetUnavailableError("\n".join(failed))
    if options.output:
        table = writing.plain(ap.load(names[0]).frame)
        if to_file:
            writing.write_tables({options.output: table}, replace=options.force)
        else:
            sys.stdout.buffer.write(writing.as_csv(table))
    if options.json:
        sources = {name: str(origin) for name, origin in origins.items()}
        print(report.as_json(sources), file=told)


def audit(options, say: Say) -> None:
    """Print how exposed the people of a table are."""
    if options.top < 0:
        raise errors.ParameterError(f"--top must be at least 0, got {options.top}")
    _, m = _microdata(options, say)
    print(_told(report.audit(m, options.top), options))


def anonymize(options, say: Say) -> None:
    """Write an anonymous table and print what was done."""
    from anonpaper.owner import methods  # loads all algorithms, which other commands do not need

    method = methods.method_of(options.method)
    publication = (options.publish or method.publications[0]).lower()
    if publication not in method.publications:
        raise errors.ParameterError(
            f"--publish {publication} does not work with {method.name}: "
            f"choose {', '.join(method.publications)}"
        )
    secrets = method.needs_sensitive or options.l or publication in ("swap", "anatomize")
    if secrets and not options.sensitive and not options.schema:
        raise errors.ParameterError("--sensitive must name the column that nobody should learn")
    outputs = _outputs(options, publication)

    table, m = _microdata(options, say)
    kept = _kept_columns(options, table, m, say)
    hierarchies = _hierarchies(options, m, table.kinds, method, publication)
    parameters = _parameters(options, method, m, hierarchies)

    say(f"{method.name}: grouping {m.n:,} rows")
    m, result = methods.run(method, m, parameters)
    release = methods.publish(m, result, publication, hierarchies, options.seed)
    if not release.shown.any():
        raise errors.EmptyTableError("no row could be published")
    counted = {"constraints", "hierarchies"}  # reported by their number
    shown = {n: len(given) if n in counted else given for n, given in parameters.items()}
    found = {"method": method.name, "parameters": shown, **report.summary(release)}
    if "constraints" in parameters:
        checked = check_constraints(release, parameters["constraints"])
        found["constraints"] = checked.to_dict("records")
    if options.engine:
        _write_by_engine(release, outputs[0], found, options, say)
    else:
        _write(release, outputs, found, table, kept, options, say)


def _write(release: Release, outputs: list, found: dict, table: Table, kept: list, options, say):
    tables = release.public_tables(kept, against=options.against, accept=options.accept)
    for warning in (*release.warnings, *writing.formulas(tables)):
        say(f"warning: {warning}")
    printed = None if outputs else writing.as_csv(tables[0], table.delimiter)
    named = dict(zip(outputs, tables, strict=False))
    if options.report:
        named[options.report] = page.page(release, options.call).encode()
        say(f"do not publish {options.report}: it shows the original table")
    if named:
        say(f"writing {', '.join(named)}")
        writing.write_tables(named, replace=options.force, delimiter=table.delimiter)
    if outputs:
        print(_told(found | {"written to": outputs}, options))
        return
    sys.stdout.buffer.write(printed)
    if not options.quiet:
        print(_told(found, options), file=sys.stderr)


def _write_by_engine(release: Release, output: str, found: dict, options, say: Say):
    say(f"writing {output}")
    promise = {"against": options.against, "accept": options.accept}
    written = release.write(output, replace=options.force, **promise)
    found["written to"] = [str(path) for path in written]
    found["levels of the files"] = release.audit().dropna().to_dict("records")
    print(_told(found, options))


def _told(found: Mapping, options) -> str:
    return report.as_json(found) if options.json else report.as_text(found)


def _microdata(options, say: Say) -> tuple[Table, Microdata]:
    say(f"reading {options.file}")
    if options.engine:
        return _scanned(options, say)
    given = {
        "qi": options.qi, "sensitive": options.sensitive, "person": options.person,
        "count": options.count, "types": _types(options),
        "na": options.na, "delimiter": options.delimiter, "sheet": options.sheet,
        "missing": options.missing,
        "encoding": options.encoding,
    }  # fmt: skip
    table, m, given = reader.with_roles(options.file, given, options.schema, say, _names)
    if options.save_schema:
        check_output(options.save_schema, [options.file], force=options.force, check=check_place)
        reader.save(options.save_schema, table, given)
    for text in reader.notes(table, m):
        say(text)
    if options.file != STANDARD_STREAM and getattr(options, "report", None):
        with open(options.file, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        m = m.replace(origin=f"{options.file}, sha256 {digest}")
    return table, m


#: Options that do not go with --engine: why, and what to do.
_NOT_BY_ENGINE = {
    "person": "counts rows: leave --engine out to count people, who must then fit in memory",
    "count": "counts rows: leave --engine out, or repeat the rows in the file",
    "na": "takes only empty fields as missing: leave --engine out, or empty these fields",
    "encoding": "reads UTF-8: leave --engine out, or save the file as UTF-8",
    "sheet": "reads csv and parquet: leave --engine out, or save the sheet as csv",
    "schema": "takes the kinds of columns by --type only: leave --engine out",
    "save_schema": "keeps no schema: leave --engine out",
    "report": "reads no single row: leave --engine out for a page; the levels are printed",
    "keep": "reads no column without a role: leave --engine out, or name it in --qi",
}


def _scanned(options, say: Say) -> tuple[Table, Microdata]:
    if told := [f"--{name.replace('_', '-')}: it {why}" for name, why in _NOT_BY_ENGINE.items()
                if getattr(options, name, None)]:  # fmt: skip
        raise errors.ParameterError(f"--engine does not go with {'; '.join(told)}")
    m = ap.scan(
        options.file, _names(options.qi), _names(options.sensitive),
        missing=options.missing or "error", types=_types(options) or None,
        delimiter=options.delimiter,
    )  # fmt: skip
    table = Table(pd.DataFrame(columns=m.engine.table.columns))
    for text in reader.notes(table, m):
        say(text)
    return table, m


def _types(options) -> dict[str, str | list[str]]:
    """Return the kinds of columns given by --type, --text and --ordered."""
    told = [text.rpartition("=")[::2] for text in _names(options.type)]
    told = [(name, kind.split("<") if "<" in kind else kind) for name, kind in told]
    told += [(name, "text") for name in _names(options.text)]
    told += [(name, "ordered") for name in _names(options.ordered)]
    types: dict[str, str | list[str]] = {}
    for name, kind in told:
        if types.setdefault(name, kind) != kind:
            raise errors.ParameterError(
                f"{name!r} cannot be both {types[name]} and {kind}: choose one of them"
            )
    return types


def _kept_columns(options, table: Table, m: Microdata, say: Say) -> list[str]:
    """Return the columns to publish unchanged; report those that are not published."""
    columns = list(table.frame.columns)
    kept = _names(options.keep, columns)
    others = [name for name in columns if name not in (*m.qi, *m.sensitives, m.person)]
    if unknown := [name for name in kept if name not in others]:
        raise errors.ParameterError(
            f"--keep names {unknown}; the columns that --qi and --sensitive leave are {others}"
        )
    if left := [name for name in others if name not in kept]:
        say(f"not published: {left} (neither --qi nor --sensitive; --keep publishes them)")
    if m.person is not None:
        say(f"{m.n_people:,} people are counted by {m.person!r}, which is not published")
    if kept:
        say(f"warning: published unchanged, without protection: {kept}")
    return kept


def _hierarchies(options, m, kinds, method: Algorithm, publication: str) -> dict[str, Hierarchy]:
    from anonpaper.owner.methods import takes

    if not options.hierarchy:
        return {}
    if "hierarchies" not in takes(method) and publication != "shallow":
        raise errors.ParameterError(
            f"{method.name} published by {publication} does not use --hierarchy"
            + ("; --publish shallow does" if "shallow" in method.publications else "")
        )
    found = {}
    for name, tree in _pairs(options.hierarchy, m.qi):
        if name not in m.qi or not tree:
            raise errors.ParameterError(
                f"--hierarchy {name}={tree}: NAME=TREE, NAME one of {m.qi}"
            )
        try:
            found[name] = _hierarchy(m, name, kinds.get(name, ""), tree, options)
        except errors.AnonpaperError as error:
            raise type(error)(f"--hierarchy {name}={tree}: {error}") from None
    return found


_MAKERS = {"prefixes": Hierarchy.prefixes, "dates": Hierarchy.dates,
           "widths": Hierarchy.intervals, "quantiles": Hierarchy.quantiles}  # fmt: skip


def _hierarchy(m: Microdata, name: str, column: str, tree: str, options) -> Hierarchy:
    """Make a hierarchy by prefixes, dates, widths or quantiles of the column, or read a csv."""
    kind, _, numbers = tree.partition(":")
    if kind not in _MAKERS:
        return Hierarchy.from_csv(tree, sep=options.hierarchy_delimiter or ";")
    read = {"dates": str, "widths": float}.get(kind, int)
    try:
        steps = [[read(number) for number in numbers.split(",")]] if numbers else []
    except ValueError:
        raise errors.ParameterError(
            f"{kind} takes {'' if read is float else 'whole '}numbers with commas between them"
        ) from None
    if kind == "widths" and not steps:
        raise errors.ParameterError("widths needs numbers, as in widths:5,10,20")
    texts = [v for v in m.attribute(name).values if isinstance(v, str) and v != MISSING]
    if kind in ("widths", "quantiles") and texts:
        raise errors.ParameterError(
            f"{kind} needs numbers, but {name!r} was read as {column}, with values such as "
            f"{texts[-1]!r}: give a csv of the values and their names, or leave {name!r} out"
        )
    form = {"form": column} if kind == "dates" and "%" in column else {}
    return _MAKERS[kind](m.frame[name], *steps, **form)


#: Parameters whose options are in the singular, as they may be given per column.
_PER_COLUMN = {"weights": "weight", "hierarchies": "hierarchy"}


def _parameters(options, method: Algorithm, m: Microdata, hierarchies) -> dict[str, object]:
    """Return the method's parameters. Options that the method does not take raise an error."""
    from anonpaper.owner.methods import METHODS, takes

    taken = takes(method)
    every = {name for other in METHODS.values() for name in takes(other)} - {"hierarchies"}
    told = {name: getattr(options, _PER_COLUMN.get(name, name), None) for name in sorted(every)}
    given = {name: value for name, value in told.items() if value or type(value) in (int, float)}
    seed = given.pop("seed", None)
    if wrong := [_option(name) for name in given if name not in taken]:
        raise errors.ParameterError(
            f"{method.name} does not take {', '.join(wrong)}; it takes "
            f"{', '.join(map(_option, taken)) or 'nothing'}"
        )
    if lacking := [name for name, needed in taken.items() if needed and name not in given]:
        needed = " and ".join(map(_option, lacking))
        raise errors.ParameterError(f"{method.name} needs {needed}")
    try:
        for name in {"weights", "granularity"} & set(given):
            given[name] = {column: float(value) for column, value in _pairs(given[name], m.qi)}
        if "preference" in given:
            loss, bias = map(float, given["preference"].split(","))
            given["preference"] = loss, bias
    except ValueError:
        raise errors.ParameterError(
            f"--preference must be a pair such as 0.2,1, --weight and --granularity NAME=NUMBER "
            f"with a NAME from {m.qi}"
        ) from None
    if "require" in given:
        given["require"] = [read_principle(text) for text in given["require"]]
    if "constraints" in given:
        try:
            given["constraints"] = read_constraints(given["constraints"])
        except errors.ConstraintError as error:  # a wrong file is an error of usage
            raise errors.ParameterError(str(error)) from None
    if "seed" in taken:
        given["seed"] = seed
    if hierarchies and "hierarchies" in taken:
        given["hierarchies"] = hierarchies
    return given


def _option(name: str) -> str:
    return f"--{_PER_COLUMN.get(name, name).replace('_', '-')}"


def _names(texts: Sequence[str], columns: Sequence[str] = ()) -> list[str]:
    """Split names at commas. A name with a comma needs double quotes or must be one of `columns`.

    >>> _names(['"income, monthly", age', "zip"])
    ['income, monthly', 'age', 'zip']
    """
    names = []
    for text in texts:
        read = csv.reader([text], skipinitialspace=True)
        names += [text] if text in columns else next(read, [])
    return names


def _pairs(texts: Sequence[str], columns: Sequence[str]) -> list[tuple[str, str]]:
    """Split NAME=VALUE; a NAME among `columns` may contain the sign too.

    >>> _pairs(["a=b=c.csv"], ["a=b"])
    [('a=b', 'c.csv')]
    """
    found = []
    for text in texts:
        places = [place for place, sign in enumerate(text) if sign == "="]
        known = [place for place in places if text[:place] in columns]
        place = max(known, default=min(places, default=len(text)))
        found.append((text[:place], text[place + 1 :]))
    return found


def _outputs(options, publication: str) -> list[str]:
    """Check and return the files to write; none if the table goes to standard output."""
    trees = [text[place + 1 :] for text in options.hierarchy
             for place, sign in enumerate(text) if sign == "="]  # fmt: skip
    inputs = [options.file, *trees, *filter(None, [options.constraints])]
    outputs = [] if options.output in (None, STANDARD_STREAM) else [options.output]
    if publication == "anatomize":
        if not outputs:
            raise errors.ParameterError("anatomize publishes two tables: name a file with -o")
        outputs.append(str(writing.beside(options.output, "sensitive")))
    if options.engine and not outputs:
        raise errors.ParameterError("--engine writes files: name one with -o")
    for name in outputs if not options.engine else ():
        check_output(name, inputs, force=options.force)
    if options.report:
        check_output(
            options.report, [*inputs, *outputs], force=options.force, check=page.check_page_place
        )
    return outputs


def check_output(
    name: str, inputs: Iterable[str], *, force: bool, check: Callable = writing.check_table_place
) -> None:
    """Raise FileError if a file may not be written: wrong ending, an input, or already there.

    Inputs are never overwritten, however they are spelled or linked, even with `force`.
    """
    check(name, replace=True)
    path = Path(name)
    for other in inputs if path.exists() else ():
        if other == STANDARD_STREAM:
            same, other = _is_standard_input(path), "standard input"
        else:
            same = os.path.exists(other) and os.path.samefile(name, other)
        if same:
            raise errors.FileError(
                f"{name} is the same file as the input {other}: name another file"
            )
    if path.is_file() and not force:
        raise errors.FileError(f"{name} is there already: name another, or use --force")


def _is_standard_input(path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdin.fileno()))
    except (OSError, ValueError):  # it is closed, or not a file of the system
        return False

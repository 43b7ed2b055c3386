"""The command line: ``python -m anonpaper COMMAND``.

Results go to standard output, progress and warnings to standard error. Exit codes: 0 done, 1 the
table does not allow the request or a data set cannot be fetched, 2 wrong command or input.
A command writes all of its files or none.
"""

# the annotations are read by Typer when the module is loaded, so they are no texts
import io
import logging
import os
import shlex
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Annotated, Literal, TypeAlias

from typer import Argument, Context, Exit, Option, Typer
from typer.exceptions import TyperException

import anonpaper as ap
from anonpaper import errors
from anonpaper.constraints import check_constraints
from anonpaper.datasets.registry import registry
from anonpaper.owner import arguments, methods, page, reader, report
from anonpaper.owner.methods import METHODS, takes
from anonpaper.owner.reader import LOG, STANDARD_STREAM
from anonpaper.principles import read_principle
from anonpaper.publish import writing

__all__ = ["app", "main"]

_NOT_POSSIBLE = (errors.BudgetExceededError, errors.ConstraintError, errors.PromiseError,
                 errors.DatasetUnavailableError, errors.InfeasibleError)  # fmt: skip

_ANONYMIZE = """
Write a table that hides people, or their sensitive values, in groups of other people. The method
promises how well; the report says which levels the result reaches.

Without -o, or with -o -, the table goes to standard output and the report to standard error;
with -o FILE the report goes to standard output. Only the columns of --qi and --sensitive are
published, unless --keep names others. Input files are never overwritten.

A column of a csv or xlsx file holds numbers if all its values are written as numbers: 02139 is
text; 28,8 is a number, published as 28.8; 1,234 and NA among numbers are in doubt. Equal numbers
are one value, published in the first way they are written. Dates like 2024-12-31 10:15 are
ordered. An empty field is a missing value. Standard error says how each column was read.

\b
Methods, and the options that each takes:
{methods}

In Python, methods take more. The constraints of diva are a file of lines such as
`sex[Female] & race[Black], 20, 400`.
""".format(
    methods="\n".join(
        f"  {name}: {method.title}\n      {' '.join(takes(method))}"
        for name, method in METHODS.items()
    )
)


def _text(metavar: str, meaning: str, *names: str) -> object:
    return Annotated[str | None, Option(*names, metavar=metavar, help=meaning)]


def _texts(metavar: str, meaning: str) -> object:
    meaning = f"{meaning}; may be given again"
    return Annotated[list[str], Option(metavar=metavar, help=meaning)]


def _number(kind: type, meaning: str) -> object:
    return Annotated[kind | None, Option(metavar="N" if kind is int else "X", help=meaning)]


def _be_quiet(asked: bool) -> None:
    LOG.setLevel(logging.ERROR if asked else logging.INFO)


File: TypeAlias = Annotated[
    str, Argument(metavar="FILE", help="csv, xlsx or parquet; - is a csv on standard input")
]
Quiet: TypeAlias = Annotated[
    bool, Option("-q", "--quiet", callback=_be_quiet, help="print only errors to standard error")
]
Json: TypeAlias = Annotated[bool, Option("--json", help="the result as JSON")]
Force: TypeAlias = Annotated[
    bool, Option("--force", help="replace OUT if it is there, unless it is an input")
]
Qi = _texts("NAMES", "columns that others may know about a person: names separated by commas, a "
            "name with a comma in double quotes")  # fmt: skip
Sensitive = _texts("NAMES", "columns whose values nobody should learn; several as for --qi")
Person = _text("NAME", "the column that identifies people with several rows: k counts people; "
               "never published")  # fmt: skip
Count = _text("NAME", "the column that says how many people of this table a row stands for, not a "
              "weight of a survey: k would be too large; never published")  # fmt: skip
Type = _texts("NAME=KIND", "kinds of columns: integer, decimal, decimal-comma, date, a date's "
              "form such as %d.%m.%Y, ordered, text, or all values in their order, as in "
              "answer=never<rarely<often; separated by commas")  # fmt: skip
Na = _texts("TEXT", "a text that means a missing value, such as NA or ?")
Missing: TypeAlias = Annotated[
    Literal["error", "drop", "category"] | None,
    Option(
        help="missing values are an error (the default); or their rows are left out; or they "
        "become the value ?, which counts as one more (category)"
    ),
]
Delimiter = _text("TEXT", "between the fields of a csv (a comma, in .tsv a tab)")
Encoding = _text("NAME", "of a csv (utf-8)")
Schema = _text("JSON", "a file of --save-schema; options given here replace what it says")
SaveSchema = _text("JSON", "save the roles and kinds of the columns, for the next table")
Population = _text(
    "FILE", "all people among whom those of the table are, for the journalist's risk"
)
Risks = _text("CSV", "also write each row's risk of being identified; do not publish it")
Engine: TypeAlias = Annotated[
    Literal["duckdb"] | None,
    Option(
        help="let a database engine count, for tables larger than memory: FILE may be a pattern "
        "such as 'people/*.parquet'"
    ),
]

app = Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"anonpaper {version('anonpaper')}")
        raise Exit


@app.callback()
def _program(
    version: Annotated[bool, Option("--version", callback=_print_version, is_eager=True)] = False,
) -> None:
    """Anonymize tables of people, and see how exposed they are.

    Results go to standard output, progress and warnings to standard error. Exit codes: 0 done;
    1 this table does not allow the request; 2 wrong usage or input.
    """


def _print(found: Mapping, json: bool, file=None) -> None:
    print(report.as_json(found) if json else report.as_text(found), file=file)


@app.command()
def datasets(quiet: Quiet = False) -> None:
    """List the data sets: rows, licence, and where each would be fetched from."""
    for entry in ap.datasets.available().itertuples():
        print(f"{entry.name}: {entry.rows:,} rows; {entry.licence}")
        print(f"    now: {entry.origin}\n    {entry.how_to_get}")


@app.command()
def fetch(
    names: Annotated[
        list[str] | None, Argument(metavar="NAME", help="as `datasets` lists; by default all")
    ] = None,
    output: _text(
        "OUT",
        "also write the table, of one NAME, to a csv or parquet file; - is standard output",
        "-o",
        "--output",
    ) = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Fetch data sets and print where each came from."""
    if unknown := [name for name in names or () if name not in registry()]:
        raise errors.ParameterError(f"no data sets {unknown}; there are {', '.join(registry())}")
    names, failed = names or list(registry()), []
    if output and len(names) > 1:
        raise errors.ParameterError("-o takes one data set: fetch them one by one")
    if output not in (None, STANDARD_STREAM):
        arguments.check_output(output, [], force=force)
    for name in names:
        LOG.info("fetching %s", name)
        try:
            origin = ap.datasets.fetch([name])[name]
        except errors.DatasetError as error:
            failed.append(f"{name}: {error}")
            continue
        told = sys.stderr if output == STANDARD_STREAM else sys.stdout
        print(f"{name}: {origin}", file=told, flush=True)
    if failed:
        raise errors.DatasetUnavailableError("\n".join(failed))
    table = writing.plain(ap.load(names[0]).frame) if output else None
    if output == STANDARD_STREAM:
        sys.stdout.buffer.write(writing.as_csv(table))
    elif output:
        writing.write_tables({output: table}, replace=force)


@app.command()
def audit(
    context: Context,
    file: File,
    qi: Qi = (),
    sensitive: Sensitive = (),
    person: Person = None,
    count: Count = None,
    type: Type = (),
    na: Na = (),
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    schema: Schema = None,
    save_schema: SaveSchema = None,
    population: Population = None,
    risks: Risks = None,
    engine: Engine = None,
    stars: Annotated[
        bool, Option("--stars", help="columns are texts, in which * fits every value")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Report how exposed the people of a table are, and suggest a command that protects them.

    How many are unique, which level of every principle the original table reaches, and which
    groups of equal quasi-identifiers have the highest risk.
    """
    table, m, people = arguments.read(**context.params)
    found = report.audit(m, top=10, population=people) | _of_counts(count)
    if stars:
        found["with stars"] = {"smallest number of rows that fit one row": reader.fitting(m)}
    if not engine:
        found |= {"suggested": report.suggested(m, context.obj)}
    original = ap.recode(m, ap.Recoding.identity(m.attributes))
    writing.write_tables(
        arguments.for_owner(context.params, table, original, people), replace=force
    )
    _print(found, json)


@app.command(help=_ANONYMIZE)
def anonymize(
    context: Context,
    file: File,
    method: _text("NAME", "one of the above") = None,
    qi: Qi = (),
    sensitive: Sensitive = (),
    person: Person = None,
    count: Count = None,
    output: _text(
        "OUT",
        "the file to write, csv or parquet; - (standard output) by default",
        "-o",
        "--output",
    ) = None,
    force: Force = False,
    page_at: _text(
        "PAGE",
        "also write an HTML page that compares the table before and after; do not publish it",
        "--report",
    ) = None,
    publish: _text(
        "FORM",
        "how groups are published. suppress: * where a group differs. generalize: "
        "intervals and sets. shallow: the lowest common level of hierarchies. recode: the same "
        "for all rows. swap: permute sensitive values within a group. anatomize: two tables. By "
        "default recode for tds, full_domain and the searches, swap for klt, shallow for "
        "balanced_classes, otherwise suppress",
    ) = None,
    against: Annotated[
        Literal["file", "register"],
        Option(
            help="whom the promise must withstand: who counts the rows of the file, or also who "
            "has a register of all people and knows the method"
        ),
    ] = "file",
    accept: _text(
        "REASON",
        "write the table although it keeps less than was promised; the page prints the reason",
    ) = None,
    keep: _texts("NAMES", "further columns to publish unchanged, without protection") = (),
    seed: _number(
        int,
        "for experiments: repeat the same groups and swaps; the order of rows is "
        "always random. Do not publish a table that was swapped with a seed",
    ) = None,
    k: _number(int, "smallest class size") = None,
    l: _number(
        int,
        "the l-diversity: of balanced_classes, klt and full_domain distinct sensitive values in "
        "every class, otherwise frequency l-diversity",
    ) = None,
    theta: _number(float, "largest share of one sensitive value in a group, in (0, 1]") = None,
    require: _texts("PRINCIPLE", "further monotone principles that every class must meet") = (),
    suppression: _number(float, "share of the rows that may be withheld, from 0 to 1") = None,
    hierarchy: _texts(
        "NAME=TREE",
        "a csv in the format of ARX (value; level 1; level 2; ...), or prefixes, "
        "dates or widths:5,10; the searches (exhaustive, preference_search) take "
        "only the order of the values from it",
    ) = (),
    constraints: _text("FILE", "what diva keeps of minorities, see above") = None,
    preference: Annotated[
        tuple[float, float] | None,
        Option(metavar="X Y", help="preferred loss (NWP) and bias (NECD), each in [0, 1]"),
    ] = None,
    recoding: _text("JSON", "a file of --save-recoding, in place of a method") = None,
    save_recoding: _text("JSON", "save how values were recoded, for the next table") = None,
    type: Type = (),
    na: Na = (),
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    schema: Schema = None,
    save_schema: SaveSchema = None,
    population: Population = None,
    risks: Risks = None,
    engine: Engine = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write an anonymous table and print what was done."""
    chosen, form = methods.chosen(method, recoding, publish)
    if (chosen.needs_sensitive or l or form in ("swap", "anatomize")) and not (
        sensitive or schema
    ):
        raise errors.ParameterError("--sensitive must name the column that nobody should learn")
    outputs = arguments.outputs(output, form, engine)
    table, m, people = arguments.read(outputs=outputs, **context.params)
    kept = arguments.kept_columns(keep, table, m)
    trees = arguments.hierarchies(hierarchy, m, table.kinds)
    given = methods.checked(chosen, {
        "k": k, "l": l, "theta": theta, "suppression": suppression, "preference": preference,
        "constraints": arguments.constraints(constraints),
        "require": [read_principle(text) for text in require],
        "hierarchies": trees if form != "shallow" else None, "recoding": recoding,
    })  # fmt: skip
    counted = {"constraints", "hierarchies"}  # reported by their number
    shown = {name: len(v) if name in counted else v for name, v in given.items()}
    if "--seed" in takes(chosen):
        given["seed"] = shown["seed"] = seed

    LOG.info("%s: grouping %s rows", chosen.name, f"{m.n:,}")
    m, result = methods.run(chosen, m, given)
    release = methods.publish(m, result, form, trees, seed)
    if not release.shown.any():
        raise errors.EmptyTableError("no row could be published")
    found = {"method": chosen.name, "parameters": shown, **report.summary(release)}
    found |= {"risk": report.risks(release, people)} | _of_counts(count)
    if constraints:
        checked = check_constraints(release, given["constraints"])
        found["constraints"] = checked.to_dict("records")
    promise = {"against": against, "accept": accept}
    if engine:
        written = release.write(output, replace=force, **promise)
        found["written to"] = [str(path) for path in written]
        found["levels of the files"] = release.audit().dropna().to_dict("records")
        _print(found, json)
        return
    tables = release.public_tables(kept, **promise)
    for warning in (*release.warnings, *writing.formulas(tables)):
        LOG.info("warning: %s", warning)
    named = dict(zip(outputs, tables, strict=False))
    printed = None if outputs else writing.as_csv(tables[0], table.delimiter)
    if page_at:
        named[page_at] = page.page(release, shlex.join(context.obj)).encode()
        LOG.info("do not publish %s: it shows the original table", page_at)
    if save_recoding:
        named[save_recoding] = methods.saved(result)
    named |= arguments.for_owner(context.params, table, release, people)
    writing.write_tables(named, replace=force, delimiter=table.delimiter)
    if outputs:
        _print(found | {"written to": outputs}, json)
        return
    sys.stdout.buffer.write(printed)
    if not quiet:
        _print(found, json, sys.stderr)


def _of_counts(count: str | None) -> dict:
    told = f"{count} counts people of this table; weights of a survey would make k too large"
    return {"counts": told} if count else {}


def main(command: Sequence[str] | None = None) -> int:
    """Run a command, by default the one in ``sys.argv``, and return the exit code: 0, 1 or 2."""
    command = sys.argv[1:] if command is None else list(command)
    progress = logging.StreamHandler()
    progress.setFormatter(logging.Formatter("[{relativeCreated:6.0f} ms] {message}", style="{"))
    LOG.handlers, LOG.propagate = [progress], False
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may lack letters of the table
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: LOG.info(
                "warning: %s", arguments.for_the_command_line(message)
            )
            warnings.simplefilter("always", UserWarning)
            call = ["anonpaper", *command]
            app(command, prog_name="python -m anonpaper", standalone_mode=False, obj=call)
        sys.stdout.flush()
        return 0
    except TyperException as error:  # wrong usage
        error.show()
        return 2
    except errors.AnonpaperError as error:
        code, message = 1 if isinstance(error, _NOT_POSSIBLE) else 2, error
    except BrokenPipeError:  # the reader has seen enough, as in `... | head`
        _leave_standard_output()
        return 1
    except OSError as error:  # errors of files are caught where they are read and written
        _leave_standard_output()
        code, message = 2, f"{error.filename or 'standard output'}: {error.strerror}"
    except MemoryError:
        code, message = 2, "the table does not fit in memory"
    except KeyboardInterrupt:
        code, message = 130, "interrupted"
    except Exception as error:  # never a traceback: a message that can be reported
        code, message = 2, f"a fault of anonpaper, please report it: {error!r}"
    print(f"anonpaper: {arguments.for_the_command_line(message)}", file=sys.stderr)
    return code


def _leave_standard_output() -> None:
    """Discard pending output, which would cause an error message at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

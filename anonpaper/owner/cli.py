"""The command line: ``python -m anonpaper COMMAND``.

Results go to standard output, progress and warnings to standard error. Exit codes: 0 done, 1 the
table does not allow the request or a data set cannot be fetched, 2 wrong command or input.
A command writes all of its files or none.
"""

from __future__ import annotations

import io
import os
import shlex
import sys
import time
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from types import SimpleNamespace
from typing import Annotated, Literal, TypeAlias

from typer import Argument, Context, Exit, Option, Typer
from typer.exceptions import TyperException

from anonpaper import errors

__all__ = ["app", "main"]

_BEGAN = time.perf_counter()
_NOT_POSSIBLE = (errors.BudgetExceededError, errors.ConstraintError, errors.PromiseError,
                 errors.DatasetUnavailableError, errors.InfeasibleError)  # fmt: skip

_PROGRAM = """
Anonymize tables of people, and see how exposed they are.

Results go to standard output, progress and warnings to standard error. Exit codes: 0 done;
1 this table does not allow the request; 2 wrong usage or input.
"""
_ANONYMIZE = """
Write a table that hides people, or their sensitive values, in groups of other people. The method
promises how well; the report says which levels the result reaches.

Without -o, or with -o -, the table goes to standard output and the report to standard error;
with -o FILE the report goes to standard output. Only the columns of --qi and --sensitive are
published, unless --keep names others. Input files are never overwritten.

A column of a csv or xlsx file holds numbers if all its values are written as numbers: 02139 and
NA are text; 28,8 is a number, published as 28.8, and 1.50 as 1.5; 1,234 is in doubt. Dates and
timestamps like 2024-12-31 10:15 are ordered. An empty field is a missing value. Standard error
says how each column was read.

\b
Methods, and the options that each needs and takes:
  balanced_classes     classes of k to 2k - 1 similar rows with l distinct secrets
      --k --l --seed --largest-share
  diva                 k-anonymity that keeps as many of every minority as constraints ask for
      --k --constraints --strategy --seed --over-bound --l --max-backtracks --max-seconds
  exact                the optimum, for a dozen rows: --l --objective --max-rows
  exhaustive           the recoding that best meets a preference, of a small table
      --k --preference --weight --granularity --hierarchy
  full_domain          every column on one level of its hierarchy, least loss
      --k --hierarchy --l --diversity --weight --require --suppression
  hilbert              frequency l-diversity along a space-filling curve: --l
  k_member             k-anonymity by greedy clusters of few stars: --k --seed
  klt                  groups of k rows with l distinct secrets, none above a share theta
      --k --l --theta --weight --seed --withheld
  mondrian             k-anonymity by median cuts, l-diverse or what else is asked
      --k --l --diversity --require
  oka                  k-anonymity by one pass of k-means: --k --seed
  optimal_two_diverse  the optimum for two sensitive values, each in half of the rows
  preference_search    k-anonymity with a stated preference of loss and bias, by evolution
      --k --preference --weight --population --evaluations --seed --refine --granularity
      --hierarchy
  tds                  frequency l-diversity by coarser values, the same for all rows
      --l --hierarchy --require --suppression
  tp                   frequency l-diversity, at most l times the fewest suppressed rows: --l
  tp_plus              tp, then the suppressed rows grouped by hilbert: --l
  tp_refined           tp_plus, then its stars searched for fewer: --l --seconds --seed

The constraints of diva are a file of lines such as `sex[Female] & race[Black], 20, 400`.
"""
_EXAMPLES = """
\b
Examples:
  anonymize people.csv --qi age,sex,zip --sensitive illness --method tp+ --l 3 -o out.csv
  anonymize people.csv --qi age,sex --sensitive illness --method klt --k 10 --l 3 \\
      --publish anatomize -o out.csv           writes out.csv and out_sensitive.csv
  anonymize people.csv --qi '"income, monthly",age' --method full_domain --k 5 \\
      --hierarchy age=age.csv -o out.parquet   a column name with a comma, in quotes
  anonymize visits.csv --qi age,sex --sensitive illness,drug --person patient --k 10 \\
      --method mondrian --require 'DistinctLDiversity(3, of="drug")' -o out.csv
"""


def _option(kind: object, meaning: str, metavar: str | None = None, *names: str) -> object:
    return Annotated[kind, Option(*names, metavar=metavar, help=meaning)]


def _text(metavar: str, meaning: str, *names: str) -> object:
    return _option(str | None, meaning, metavar, *names)


def _texts(metavar: str, meaning: str, *names: str) -> object:
    return _option(list[str], f"{meaning}; may be given again", metavar, *names)


def _number(kind: type, meaning: str) -> object:
    return _option(kind | None, meaning, "N" if kind is int else "X")


def _flag(meaning: str, *names: str) -> object:
    return _option(bool, meaning, None, *names)


File: TypeAlias = Annotated[
    str, Argument(metavar="FILE", help="csv, xlsx or parquet; - is a csv on standard input")
]
Quiet = _flag("print only errors to standard error", "-q", "--quiet")
Json = _flag("the result as JSON", "--json")
Force = _flag("replace OUT if it is there, unless it is an input", "--force")
Qi = _texts("NAMES", "columns that others may know about a person: names separated by commas, a "
            "name with a comma in double quotes")  # fmt: skip
Sensitive = _texts("NAMES", "columns whose values nobody should learn; several as for --qi")
Person = _text("NAME", "the column that identifies people with several rows: k counts people; "
               "never published")  # fmt: skip
Count = _text("NAME", "the column that says how many people a row stands for; never published")
Type = _texts("NAME=KIND", "kinds of columns: integer, decimal, decimal-comma, date, a date's "
              "form such as %d.%m.%Y, ordered, text, or all values in their order, as in "
              "answer=never<rarely<often; separated by commas")  # fmt: skip
Text = _texts("NAMES", "columns of codes that only look like numbers: --type NAME=text")
Ordered = _texts("NAMES", "text columns whose order means something, such as zip codes: --type "
                 "NAME=ordered. The numbers in texts are ordered by size, so 85+ comes after "
                 "9")  # fmt: skip
Na = _texts("TEXT", "a text that means a missing value, such as NA or ?")
Missing = _option(
    Literal["error", "drop", "category"] | None,
    "missing values are an error (the default); or their rows are left out; or they become the "
    "value ?, which counts as one more (category)",
)
Delimiter = _text("TEXT", "between the fields of a csv (a comma, in .tsv a tab)")
Encoding = _text("NAME", "of a csv (utf-8)")
Sheet = _text("NAME", "of an xlsx file (the first)")
Schema = _text("JSON", "a file of --save-schema; options given here replace what it says")
SaveSchema = _text("JSON", "save the roles and kinds of the columns, for the next table")
Engine = _option(
    Literal["duckdb"] | None,
    "let a database engine count, for tables larger than memory: FILE may be a pattern such as "
    "'people/*.parquet'",
)

app = Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"anonpaper {version('anonpaper')}")
        raise Exit


@app.callback(help=_PROGRAM)
def _program(
    version: Annotated[bool, Option("--version", callback=_print_version, is_eager=True)] = False,
) -> None: ...


def _given(context: Context) -> SimpleNamespace:
    return SimpleNamespace(command=context.info_name, **context.params)


@app.command()
def datasets(context: Context, quiet: Quiet = False, json: Json = False) -> SimpleNamespace:
    """List the data sets: rows, licence, and where each would be fetched from."""
    return _given(context)


@app.command()
def fetch(
    context: Context,
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
    json: Json = False,
) -> SimpleNamespace:
    """Fetch data sets and print where each came from."""
    return _given(context)


@app.command()
def audit(
    context: Context,
    file: File,
    qi: Qi = (),
    sensitive: Sensitive = (),
    person: Person = None,
    count: Count = None,
    top: _option(int, "how many of the riskiest groups to list", "N") = 10,
    type: Type = (),
    text: Text = (),
    ordered: Ordered = (),
    na: Na = (),
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    schema: Schema = None,
    save_schema: SaveSchema = None,
    engine: Engine = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> SimpleNamespace:
    """Report how exposed the people of a table are.

    How many are unique, which level of every principle the original table reaches, and which
    groups of equal quasi-identifiers have the highest risk.
    """
    return _given(context)


@app.command(help=_ANONYMIZE, epilog=_EXAMPLES)
def anonymize(
    context: Context,
    file: File,
    method: Annotated[str, Option(metavar="NAME", help="one of the above")],
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
    report: _text(
        "PAGE",
        "also write an HTML page that compares the table before and after; do not publish it",
    ) = None,
    publish: _text(
        "FORM",
        "how groups are published. suppress: * where a group differs. generalize: "
        "intervals and sets. shallow: the lowest common level of hierarchies. recode: the same "
        "for all rows. swap: permute sensitive values within a group. anatomize: two tables. By "
        "default recode for tds, full_domain and the searches, swap for klt, shallow for "
        "balanced_classes, otherwise suppress",
    ) = None,
    against: _option(
        Literal["file", "register"],
        "whom the promise must withstand: who counts the rows of the "
        "file, or also who has a register of all people and knows the method",
    ) = "file",
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
        "the l-diversity: of balanced_classes and klt distinct sensitive values in "
        "every class, otherwise that of --diversity or frequency l-diversity",
    ) = None,
    diversity: _option(
        Literal["frequency", "distinct"] | None,
        "frequency: at most one l-th of a class shares a sensitive value (mondrian); distinct: l "
        "differ (full_domain)",
    ) = None,
    theta: _number(float, "largest share of one sensitive value in a group, in (0, 1]") = None,
    require: _texts("PRINCIPLE", "further monotone principles that every class must meet") = (),
    suppression: _number(float, "share of the rows that may be withheld, from 0 to 1") = None,
    hierarchy: _texts(
        "NAME=TREE",
        "a csv in the format of ARX (value; level 1; level 2; ...), or prefixes, "
        "dates, widths:5,10 or quantiles:8,4,2; the searches (exhaustive, preference_search) take "
        "only the order of the values from it",
    ) = (),
    hierarchy_delimiter: _text("TEXT", "between the levels of a hierarchy in a csv (;)") = None,
    weight: _texts("NAME=X", "weights of the attributes") = (),
    granularity: _texts("NAME=X", "width of the finest intervals of a numeric column") = (),
    constraints: _text("FILE", "what diva keeps of minorities, see above") = None,
    strategy: _option(
        Literal["max_fan_out", "min_choice", "basic"] | None,
        "which constraint of diva is next: the one with the most open neighbours, with the fewest "
        "clusterings left, or any",
    ) = None,
    over_bound: _option(
        Literal["star", "reject"] | None,
        "a cluster that would exceed another constraint's upper bound has that value suppressed, "
        "or is rejected, as in the paper",
    ) = None,
    max_backtracks: _number(int, "colours that diva may undo in each component") = None,
    max_seconds: _number(float, "seconds for diva's search and the exact test together") = None,
    objective: _option(
        Literal["stars", "rows"] | None, "what exact minimizes: stars, or rows with a star"
    ) = None,
    max_rows: _number(int, "larger tables raise an error in exact") = None,
    withheld: _option(
        Literal["merge", "drop"] | None,
        "a cluster that klt cannot merge is merged with the closest one that has room for its "
        "most frequent value; or its rows are withheld, as in the paper",
    ) = None,
    largest_share: _number(
        float,
        "balanced_classes: share of a class that one sensitive value should not exceed, in (0, 1]",
    ) = None,
    preference: _text("X,Y", "preferred loss (NWP) and bias (NECD), each in [0, 1]") = None,
    population: _number(int, "size of the population, at least 2") = None,
    evaluations: _number(int, "recodings to evaluate") = None,
    refine: _flag(
        "use half of the evaluations for neighbours of the best recodings found; not in the paper",
        "--refine",
    ) = False,
    seconds: _number(float, "tp_refined begins no further round after this time") = None,
    type: Type = (),
    text: Text = (),
    ordered: Ordered = (),
    na: Na = (),
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    schema: Schema = None,
    save_schema: SaveSchema = None,
    engine: Engine = None,
    quiet: Quiet = False,
    json: Json = False,
) -> SimpleNamespace:
    return _given(context)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default the one in ``sys.argv``, and return the exit code: 0, 1 or 2."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        options = app(arguments, prog_name="python -m anonpaper", standalone_mode=False)
    except TyperException as error:  # wrong usage
        error.show()
        return 2
    if not isinstance(options, SimpleNamespace):  # --help or --version
        return 0
    options.call = shlex.join(["anonpaper", *arguments])
    say = (lambda message: None) if options.quiet else _say
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may lack letters of the table
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: say(f"warning: {message}")
            warnings.simplefilter("always", UserWarning)
            from anonpaper.owner import commands

            getattr(commands, options.command)(options, say)
        sys.stdout.flush()
        return 0
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
    print(f"anonpaper {options.command}: {message}", file=sys.stderr)
    return code


def _leave_standard_output() -> None:
    """Discard pending output, which would cause an error message at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str) -> None:
    print(f"[{time.perf_counter() - _BEGAN:5.1f} s] {message}", file=sys.stderr, flush=True)

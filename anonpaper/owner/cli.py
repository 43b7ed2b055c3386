"""Anonymize tables of people, and see how exposed they are.

Results go to standard output, progress and warnings to standard error. Exit codes: 0 done; 1 this
table does not allow the request, or a data set cannot be fetched; 2 wrong usage or input. A
command writes all of its files or none.
"""

import importlib.metadata
import inspect
import io
import logging
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from types import SimpleNamespace
from typing import Annotated, Literal

from typer import Argument, Context, Exit, Option, Typer
from typer.exceptions import TyperException

import anonpaper as ap
from anonpaper import errors
from anonpaper.algorithm import GROUPED, RECODED
from anonpaper.constraints import check_constraints
from anonpaper.datasets.loading import registry
from anonpaper.owner import arguments, reader, report
from anonpaper.owner.arguments import METHODS, takes
from anonpaper.owner.reader import LOG, STANDARD_STREAM
from anonpaper.publish import writing

_NOT_POSSIBLE = (errors.BudgetExceededError, errors.ConstraintError, errors.PromiseError,
                 errors.DatasetUnavailableError, errors.InfeasibleError)  # fmt: skip

_METHODS = """\b
Methods, and the options that each takes:
{}

In Python, methods take more. The constraints of diva are a file of lines such as
`sex[Female] & race[Black], 20, 400`.
""".format("\n".join(f"  {name}: {method.title}\n      {' '.join(takes(method))}"
                     for name, method in METHODS.items()))  # fmt: skip

#: What both `audit` and `anonymize` take: type, a word for its value, and what it means.
_SHARED: dict[str, tuple] = {
    "qi": (list[str], "NAMES", "columns that others may know about people: names separated by "
           "commas, one with a comma in double quotes"),
    "sensitive": (list[str], "NAMES", "columns whose values nobody should learn"),
    "person": (str, "NAME", "column that identifies people with several rows: k counts people"),
    "count": (str, "NAME", "column that counts people of the table, not the weights of a survey"),
    "type": (list[str], "NAME=KIND", "integer, decimal, decimal-comma, date, a form of dates such "
             "as %d.%m.%Y, ordered, text, or all values in order, as in answer=never<rarely"),
    "na": (list[str], "TEXT", "a text that means a missing value, such as NA or ?"),
    "missing": (Literal["error", "drop", "category"], None, "missing values are an error (the "
                "default), their rows are left out, or they count as one more value, ?"),
    "delimiter": (str, "TEXT", "between the fields of a csv (a comma, in .tsv a tab)"),
    "encoding": (str, "NAME", "of a csv (utf-8)"),
    "schema": (str, "JSON", "a file of --save-schema; options given here replace what it says"),
    "save_schema": (str, "JSON", "save the roles and kinds of the columns, for the next table"),
    "population": (str, "FILE", "all people, also those of the table, a row each: who is meant?"),
    "risks": (str, "CSV", "also write each row's risk of being identified; do not publish it"),
    "force": (bool, None, "replace files that are there, unless they are read"),
    "quiet": (bool, None, "print only errors to standard error"),
    "json": (bool, None, "the result as JSON"),
}  # fmt: skip
#: What only `anonymize` takes.
_OWN: dict[str, tuple] = {
    "method": (str, "NAME", "one of those below"),
    "output": (str, "OUT", "the file to write, csv or parquet; - is standard output"),
    "report": (str, "PAGE", "also write a page of the table before and after; do not publish it"),
    "publish": (Literal[*GROUPED, *RECODED], "FORM", "suppress: * where a group differs; "
                "generalize: intervals and sets; shallow: levels of hierarchies; recode: all rows "
                "alike; swap: sensitive values change places in a group; anatomize: two tables"),
    "against": (Literal["file", "register"], None, "whom the promise must withstand: who counts "
                "rows of the file (the default), or has a register and knows the method"),
    "accept": (str, "REASON", "write the table although it keeps less than was promised"),
    "keep": (list[str], "NAMES", "further columns to publish unchanged, without protection"),
    "seed": (int, "N", "repeat the same groups and swaps; do not publish what was swapped so"),
    "k": (int, "N", "smallest class size"),
    "l": (int, "N", "frequency l-diversity; of balanced_classes, klt and full_domain distinct "
          "sensitive values in every class"),
    "theta": (float, "X", "largest share of one sensitive value in a group, in (0, 1]"),
    "require": (list[str], "PRINCIPLE", "further monotone principles that every class must meet"),
    "suppression": (float, "X", "share of the rows that may be withheld, from 0 to 1"),
    "hierarchy": (list[str], "NAME=TREE", "prefixes, dates, widths:5,10, or a csv in the format "
                  "of ARX (value; level 1; ...); the searches only order values by it"),
    "constraints": (str, "FILE", "what diva keeps of minorities, see below"),
    "preference": (tuple[float, float], "X Y", "preferred loss (NWP) and bias (NECD), 0 to 1"),
    "recoding": (str, "JSON", "a file of --save-recoding, in place of a method"),
    "unseen": (Literal["error", "suppress"], None, "values that --recoding does not know are an "
               "error (the default), or their rows are withheld"),
    "save_recoding": (str, "JSON", "save how values were recoded, for the next table"),
}  # fmt: skip
_ARGUMENTS = {
    "file": (str, "FILE", "csv, xlsx or parquet; - is a csv on standard input"),
    "names": (list[str], "NAME", "as `datasets` lists; by default all"),
}
_STARS = {"stars": (bool, None, "columns are texts, in which * fits every value")}  # of audit
_OPTIONS = _SHARED | _OWN | _ARGUMENTS | _STARS
_SHORT = {"quiet": ["-q"], "output": ["-o"]}

app = Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _version(asked: bool) -> None:
    """Print the version and leave."""
    if asked:
        print(f"anonpaper {importlib.metadata.version('anonpaper')}")
        raise Exit


@app.callback(help=__doc__)
def _program(
    version: Annotated[bool, Option("--version", callback=_version, is_eager=True)] = False,
) -> None:
    """Every command takes it."""


def _parameter(name: str) -> Parameter:
    """The parameter of a command's function that Typer makes an option or an argument of."""
    kind, metavar, meaning = _OPTIONS[name]
    default = Parameter.empty if name == "file" else {list[str]: (), bool: False}.get(kind)
    flags = [f"--{name.replace('_', '-')}", *_SHORT.get(name, ())]
    shown = {"metavar": metavar, "help": meaning + "; may be given again" * (default == ())}
    made = Argument(**shown) if name in _ARGUMENTS else Option(*flags, **shown)
    kind = Annotated[kind | None if default is None else kind, made]
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def _command(*names: str, epilog: str | None = None) -> Callable:
    """Make a command of a function of its options, given as one object with its whole `call`."""

    def made(function: Callable) -> Callable:
        def command(context: Context, **given) -> None:
            LOG.setLevel(logging.ERROR if given["quiet"] else logging.INFO)
            function(SimpleNamespace(**dict.fromkeys(_OPTIONS) | given, call=context.obj))

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        context = Parameter("context", Parameter.POSITIONAL_ONLY, annotation=Context)
        command.__signature__ = inspect.Signature([context, *map(_parameter, names)])
        return app.command(epilog=epilog)(command)

    return made


@_command("quiet")
def datasets(o: SimpleNamespace) -> None:
    """List the data sets: rows, licence, and where each would be fetched from."""
    for entry in ap.datasets.available().itertuples():
        print(f"{entry.name}: {entry.rows:,} rows; {entry.licence}")
        print(f"    now: {entry.origin}\n    {entry.how_to_get}")


@_command("names", "output", "force", "quiet")
def fetch(o: SimpleNamespace) -> None:
    """Fetch data sets and print where each came from; with -o, also write the table of one."""
    names, failed, to_stream = o.names or list(registry()), [], o.output == STANDARD_STREAM
    if unknown := {*names} - {*registry()}:
        raise errors.ParameterError(f"no data sets {unknown}; there are {', '.join(registry())}")
    if o.output and len(names) > 1:
        raise errors.ParameterError("-o takes one data set: fetch them one by one")
    for name in names:
        LOG.info("fetching %s", name)
        try:
            origin = ap.datasets.fetch(name)
            print(f"{name}: {origin}", file=sys.stderr if to_stream else sys.stdout, flush=True)
        except errors.DatasetError as error:
            failed.append(f"{name}: {error}")
    if failed:
        raise errors.DatasetUnavailableError("\n".join(failed))
    if o.output:
        _write({o.output: writing.plain(ap.load(names[0]).frame)}, o)


@_command("file", *_SHARED, "stars")
def audit(o: SimpleNamespace) -> None:
    """Report how exposed the people of a table are, and suggest a command that protects them.

    How many are unique, which level of every principle the original table reaches, and which
    groups of equal quasi-identifiers have the highest risk.
    """
    arguments.outputs(o)
    table, m, people = arguments.read(o)
    found = report.audit(m, top=10, population=people)
    found["suggested"] = arguments.suggested(m, table.kinds, o.call)
    if o.stars:
        found["with stars"] = {"smallest number of rows that fit one row": reader.fitting(m)}
    original = ap.recode(m, ap.Recoding.identity(m.attributes))
    _write(arguments.for_owner(o, table, original, people), o)
    _print(found, o)


@_command("file", *_SHARED, *_OWN, epilog=_METHODS)
def anonymize(o: SimpleNamespace) -> None:
    """Write a table that hides people, or their sensitive values, in groups of other people.

    The method promises how well; the report says which levels the result reaches. Without -o FILE
    the table goes to standard output and the report to standard error. Only the columns of --qi
    and --sensitive are published, unless --keep names others. Input files are never overwritten.
    """
    method, form = arguments.chosen(o)
    outputs = arguments.outputs(o, form)
    table, m, people = arguments.read(o)
    trees = arguments.hierarchies(o.hierarchy, m, table.kinds)
    given = arguments.parameters(o, method, {} if form == "shallow" else trees)
    LOG.info("%s: grouping %s rows", method.name, f"{m.n:,}")
    release = arguments.publish(m, method, form, given, trees, o.seed)
    counted = {"constraints", "hierarchies"}  # reported by their number
    shown = {name: len(v) if name in counted else v for name, v in given.items()}
    found = {"method": method.name, "parameters": shown, **report.summary(release, people)}
    if o.constraints:
        checked = check_constraints(release, given["constraints"])
        found["constraints"] = checked.to_dict("records")
    against, keep = o.against or "file", arguments.names(o.keep)
    tables = release.public_tables(keep, against=against, accept=o.accept)
    for warning in (*release.warnings, *writing.formulas(tables)):
        LOG.info("warning: %s", _said(warning))
    files = dict(zip(outputs, tables, strict=False)) or {STANDARD_STREAM: tables[0]}
    if o.report:
        files[o.report] = report.page(release, shlex.join(o.call)).encode()
        LOG.info("do not publish %s: it shows the original table", o.report)
    files |= arguments.for_owner(o, table, release, people)
    _write(files, o, table.delimiter)
    found |= {"warnings": [*map(_said, release.warnings)]} if release.warnings else {}
    if outputs:
        _print(found | {"written to": outputs}, o)
    elif not o.quiet:
        _print(found, o, sys.stderr)


def _write(files: dict, o: SimpleNamespace, delimiter: str = ",") -> None:
    """Write all files or none, and then a table to standard output."""
    printed = files.pop(STANDARD_STREAM, None)
    content = b"" if printed is None else writing.as_csv(printed, delimiter)
    writing.write_tables(files, replace=o.force, delimiter=delimiter)
    sys.stdout.buffer.write(content)


def _print(found: Mapping, o: SimpleNamespace, file=None) -> None:
    found = ({"counted by": f"{o.count} {arguments.COUNTS}"} if o.count else {}) | dict(found)
    print(report.as_json(found) if o.json else report.as_text(found), file=file)


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
            warnings.showwarning = lambda text, *_, **__: LOG.info("warning: %s", _said(text))
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
    except OSError as error:  # errors of files are caught where they are read and written
        # pending output would cause an error message at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader has seen enough, as in `... | head`
            return 1
        code, message = 2, f"{error.filename or 'standard output'}: {error.strerror}"
    except MemoryError:
        code, message = 2, "the table does not fit in memory"
    except KeyboardInterrupt:
        code, message = 130, "interrupted"
    except Exception as error:  # never a traceback: a message that can be reported
        code, message = 2, f"a fault of anonpaper, please report it: {error!r}"
    print(f"anonpaper: {_said(message)}", file=sys.stderr)
    return code


#: What a message says for Python -> what it says here, where options are named.
_PYTHON = {
    r"; in Python .*|: see ap\.measure\.\w+|set r\.withhold = r\.promised, ": "",
    rf"^({'|'.join(_OPTIONS)}) (?=must)": r"--\1 ",
    r"\bform must": "--type must",
    "form= reads": "--type NAME=FORM reads",
    r"\b\w+(?:=(?:\"[^\"]*\"|\[[^]]*\]|\S+))? \((--[^)]+)\)": r"\1",
    r"\bap\.(suppress|generalize|recode|swap|anatomize)\b": r"--publish \1",
    r"\bap\.": "",
}


def _said(message: object) -> str:
    """Return a message as the command line says it."""
    text = str(message)
    for python, option in _PYTHON.items():
        text = re.sub(python, option, text)
    return text

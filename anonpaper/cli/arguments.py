"""What can be asked on the command line, and how it is read."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from importlib.metadata import version

__all__ = ["column_names", "pairs", "parser"]

_PROGRAM = "python -m anonpaper"

_DESCRIPTION = """\
Anonymize tables of people, and see how exposed they are.

  datasets                      the data sets that the papers are reproduced on
  fetch NAME                    fetch one, and write it to a file if you like
  audit FILE                    how exposed the people in a table are
  anonymize FILE --method ...   publish a table so that they are less so

Results go to standard output, progress and warnings to standard error. Exit codes: 0 done;
1 what was asked for cannot be had from this table; 2 wrong usage or input."""

_DATASETS = """\
List the data sets: rows, licence, and where each would come from now. Nothing is fetched."""

_FETCH = "Fetch data sets and say where each came from."

_AUDIT = """\
Say how exposed the people of a table are: who is unique, which level of every principle the
table reaches as it is, and which groups of equal quasi-identifiers are at most risk."""

_READING = """\
A csv column is numbers if all its values are written as numbers are: 02139 is text, and so is
NA; 28,8 is a number and published as 28.8, 1,234 is in doubt. Dates and timestamps like
2024-12-31 10:15 have an order. An empty field is a missing value. How each column was read is
said on standard error."""

_ANONYMIZE = """\
Write a table in which people are hidden among others, or their sensitive values among those of
others, as far as the method promises and `audit` of the release says.

Without -o, or with -o -, the table goes to standard output and the report to standard error;
with -o FILE the report goes to standard output. Only the columns of --qi and --sensitive are
published, unless --keep names others. A file that was read is never written."""

_FORMS = """\
Groups are published by suppress, generalize, shallow, swap or anatomize, as --publish says: by
suppress if it says nothing, balanced_classes by shallow, klt by swap. diva allows suppress and
generalize. tds, full_domain and the searches give every value one coarser value (recode).

The constraints of diva are lines such as `sex[Female] & race[Black], 20, 400`; or a csv whose
columns are attributes, low and high; or JSON, a list of
{"target": {"sex": "Female"}, "low": 20, "high": 400}."""

_EXAMPLES = """\
examples:
  anonymize people.csv --qi age,sex,zip --sensitive illness --method tp+ --l 3 -o out.csv
  anonymize people.csv --qi age,sex --sensitive illness --method klt --k 10 --l 3 \\
      --publish anatomize -o out.csv           writes out.csv and out_sensitive.csv
  anonymize people.csv --qi '"income, monthly",age' --method full_domain --k 5 \\
      --hierarchy age=age.csv -o out.parquet   a column name with a comma, in quotes
  anonymize visits.csv --qi age,sex --sensitive illness,drug --person patient --method mondrian \\
      --k 10 --require 'DistinctLDiversity(3, of="drug")' -o out.csv
"""


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    The options of "anonymize" are read off the algorithms, which takes a second and is left out
    if another command is going to be parsed.
    """
    raw = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    top = argparse.ArgumentParser(
        prog=_PROGRAM,
        description=_DESCRIPTION,
        usage="%(prog)s COMMAND ...",
        epilog=f"{_PROGRAM} COMMAND --help tells more.",
        **raw,
    )
    top.add_argument("--version", action="version", version=f"anonpaper {version('anonpaper')}")
    commands = top.add_subparsers(
        dest="command", required=True, metavar="COMMAND", prog=_PROGRAM, help=argparse.SUPPRESS
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "-q", "--quiet", action="store_true", help="nothing on standard error but errors"
    )
    common.add_argument("--json", action="store_true", help="the result as JSON")
    raw["parents"] = [common]

    commands.add_parser("datasets", description=_DATASETS, **raw)
    fetching = commands.add_parser("fetch", description=_FETCH, **raw)
    fetching.add_argument(
        "names", nargs="*", metavar="NAME", help="a name that `datasets` lists; all without any"
    )
    _add_output(fetching, "also write the table to a csv or parquet file; - is standard output "
                "(one NAME only)")  # fmt: skip
    auditing = commands.add_parser("audit", description=_AUDIT, **raw)
    _add_table(auditing)
    auditing.add_argument("--top", type=int, default=10, metavar="N",
                          help="how many of the riskiest groups to list (10)")  # fmt: skip
    anonymizing = commands.add_parser(
        "anonymize",
        description=_ANONYMIZE,
        epilog=_EXAMPLES,
        usage="%(prog)s FILE --qi NAMES --method NAME [options]",
        **raw,
    )
    if command == "anonymize":
        _add_anonymize(anonymizing)
    return top


def _several(group, option: str, metavar: str, text: str, **more) -> None:
    """Add an option that may be given several times."""
    more = {"default": [], **more}
    group.add_argument(option, action="append", metavar=metavar, help=text, **more)


def _add_table(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "file", metavar="FILE", help="csv or parquet; - is a csv on standard input"
    )
    roles = command.add_argument_group("columns")
    _several(roles, "--qi", "NAMES", "what others may know of a person: column names with commas "
             "between them, a name with a comma in double quotes; may be given again",
             required=True)  # fmt: skip
    _several(roles, "--sensitive", "NAMES", "what nobody should learn: one column, or several as "
             "for --qi")  # fmt: skip
    text = "whose a row is, where people have several: k counts them; never published"
    roles.add_argument("--person", metavar="NAME", help=text)
    reading = command.add_argument_group("reading", _READING)
    _several(reading, "--type", "NAME=KIND", "what columns are: integer, decimal, decimal-comma, "
             "date, a date's form such as %%d.%%m.%%Y, ordered, text; with commas between "
             "them")  # fmt: skip
    _several(reading, "--text", "NAMES", "columns of codes that look like numbers but are none: "
             "--type NAME=text")  # fmt: skip
    _several(reading, "--ordered", "NAMES", "text columns whose alphabetical order means "
             "something, such as zip codes: --type NAME=ordered")  # fmt: skip
    _several(reading, "--na", "TEXT", "a text that means a missing value, such as NA or ?; may be "
             "given again")  # fmt: skip
    reading.add_argument(
        "--missing",
        choices=["category", "drop", "error"],
        default="category",
        help="what becomes of missing values: the value ?, rows left out, or an error (category)",
    )
    reading.add_argument(
        "--delimiter", metavar="TEXT", help="between the fields of a csv (a comma, in .tsv a tab)"
    )
    reading.add_argument("--encoding", default="utf-8", metavar="NAME", help="of a csv (utf-8)")
    reading.add_argument(
        "--engine", choices=["duckdb"], help="count and write by a database engine, for what "
        "exceeds memory: FILE may be a pattern such as 'people/*.parquet', OUT a folder"
    )  # fmt: skip


def _add_output(command: argparse.ArgumentParser, text: str) -> None:
    command.add_argument("-o", "--output", metavar="OUT", help=text)
    text = "replace OUT if it is there; never a file that was read"
    command.add_argument("--force", action="store_true", help=text)


def _add_anonymize(command: argparse.ArgumentParser) -> None:
    from anonpaper.cli.methods import add_options, descriptions

    _add_table(command)
    _add_output(command, "the file to write, csv or parquet; - (standard output) by default")
    command.add_argument("--report", metavar="PAGE", help="also write a page of HTML on the table "
                         "before and after, for its owner and not to be published")  # fmt: skip
    _several(command, "--keep", "NAMES", "further columns to publish as they are, unprotected")
    command.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="for experiments: the same groups and swaps again, but for the order of the rows, "
        "which is always random. What was swapped with a seed must not be published",
    )
    method = command.add_argument_group("method", f"{descriptions()}\n\n{_FORMS}")
    method.add_argument(
        "--method", required=True, metavar="NAME", type=_method_name, help="one of the above"
    )
    method.add_argument(
        "--publish",
        metavar="FORM",
        type=str.lower,
        help="suppress: * where a group differs. generalize: intervals and sets. "
        "shallow: the lowest common level of hierarchies. recode: the same for "
        "all rows. swap: sensitive values change places within a group. "
        "anatomize: two tables",
    )
    _several(method, "--hierarchy", "NAME=TREE", "a csv in the format of ARX (value; level 1; "
             "level 2; ...), or prefixes, dates, widths:5,10 or quantiles:8,4,2; the searches "
             "(branch_and_bound, exhaustive, hill_climbing, preference_search) take the order of "
             "the values from it and no more")  # fmt: skip
    method.add_argument(
        "--hierarchy-delimiter", default=";", metavar="TEXT", help="between the levels (;)"
    )
    add_options(command.add_argument_group("parameters of methods"))


def _method_name(text: str) -> str:
    from anonpaper.cli.methods import METHODS

    name = text.lower().replace("-", "_").replace("tp+", "tp_plus")
    if name not in METHODS:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(METHODS)}")
    return name


def column_names(texts: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Read names of columns: commas between them, a name with a comma in double quotes.

    A text that is the name of one of `columns`, commas and all, is that one.

    Examples
    --------
    >>> column_names(['"income, monthly", age', "zip"], [])
    ['income, monthly', 'age', 'zip']
    """
    names = []
    for text in texts:
        if text in columns:
            names.append(text)
        else:
            names += next(csv.reader([text], skipinitialspace=True), [])
    return names


def pairs(texts: Sequence[str], columns: Sequence[str]) -> list[tuple[str, str]]:
    """Read NAME=VALUE; the name of a column may hold the sign too.

    Examples
    --------
    >>> pairs(["a=b=c.csv"], ["a=b"])
    [('a=b', 'c.csv')]
    """
    found = []
    for text in texts:
        places = [place for place, sign in enumerate(text) if sign == "="]
        known = [place for place in places if text[:place] in columns]
        place = max(known, default=min(places, default=len(text)))
        found.append((text[:place], text[place + 1 :]))
    return found

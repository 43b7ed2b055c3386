"""The command line: ``python -m anonpaper COMMAND``; ``arguments.toml`` lists the arguments.

Results go to standard output, progress and warnings to standard error. Exit codes: 0 done, 1 the
table does not allow the request or a data set cannot be fetched, 2 wrong command or input.
A command writes all of its files or none.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import shlex
import sys
import time
import tomllib
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from anonpaper import errors

__all__ = ["LISTED", "column_names", "main", "pairs", "parser"]

#: The commands, their arguments, and what methods mean by theirs.
LISTED = tomllib.loads(Path(__file__).with_name("arguments.toml").read_text(encoding="utf-8"))

_PROGRAM = "python -m anonpaper"
_BEGAN = time.perf_counter()
_NOT_POSSIBLE = (errors.BudgetExceededError, errors.ConstraintError, errors.PromiseError,
                 errors.DatasetUnavailableError, errors.InfeasibleError)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default the one in ``sys.argv``, and return the exit code: 0, 1 or 2."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = parser(next(iter(arguments), None)).parse_args(arguments)
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


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser. Only "anonymize" asks all methods for their options (one second)."""
    raw = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    epilog = f"Run {_PROGRAM} COMMAND --help for the options of a command."
    top = argparse.ArgumentParser(prog=_PROGRAM, epilog=epilog, **LISTED["program"], **raw)
    top.add_argument("--version", action="version", version=f"anonpaper {version('anonpaper')}")
    commands = top.add_subparsers(
        dest="command", required=True, metavar="COMMAND", prog=_PROGRAM, help=argparse.SUPPRESS
    )
    for name, words in LISTED["commands"].items():
        added = commands.add_parser(name, **words, **raw)
        if name != "anonymize" or command == "anonymize":
            _add_arguments(added, name)
    return top


def _add_arguments(command: argparse.ArgumentParser, name: str) -> None:
    from_text = {"int": int, "lower": str.lower, "method": _method_name}
    groups: dict = {None: command}
    for listed in LISTED["arguments"]:
        options = dict(listed)
        if name not in options.pop("of"):
            continue
        heading, names = options.pop("group", None), options.pop("names")
        options.pop("engine", None)
        if heading not in groups:
            below = LISTED["groups"][heading]
            if heading == "method":
                from anonpaper.owner.methods import descriptions

                below = f"{descriptions()}\n\n{below}"
            groups[heading] = command.add_argument_group(heading, below or None)
        if "type" in options:
            options["type"] = from_text[options["type"]]
        groups[heading].add_argument(*names, **options)
    if name == "anonymize":
        from anonpaper.owner.methods import add_options

        add_options(command.add_argument_group("parameters of methods"))


def _method_name(text: str) -> str:
    from anonpaper.owner.methods import METHODS

    name = text.lower().replace("-", "_").replace("tp+", "tp_plus")
    if name not in METHODS:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(METHODS)}")
    return name


def column_names(texts: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Split names at commas. A name with a comma needs double quotes or must be one of `columns`.

    >>> column_names(['"income, monthly", age', "zip"], [])
    ['income, monthly', 'age', 'zip']
    """
    names = []
    for text in texts:
        read = csv.reader([text], skipinitialspace=True)
        names += [text] if text in columns else next(read, [])
    return names


def pairs(texts: Sequence[str], columns: Sequence[str]) -> list[tuple[str, str]]:
    """Split NAME=VALUE; a NAME among `columns` may contain the sign too.

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

"""The arguments of the command line, as ``arguments.toml`` lists them, and how they are read."""

from __future__ import annotations

import argparse
import csv
import tomllib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

__all__ = ["LISTED", "column_names", "pairs", "parser"]

#: What ``arguments.toml`` lists: the commands, their arguments, and what methods mean by theirs.
LISTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

_PROGRAM = "python -m anonpaper"


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser; asking all methods for their options, a second, only to "anonymize"."""
    raw = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    epilog = f"{_PROGRAM} COMMAND --help tells more."
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
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(METHODS)}")
    return name


def column_names(texts: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Read names with commas between them, in double quotes if they have one, or all of `columns`.

    >>> column_names(['"income, monthly", age', "zip"], [])
    ['income, monthly', 'age', 'zip']
    """
    names = []
    for text in texts:
        read = csv.reader([text], skipinitialspace=True)
        names += [text] if text in columns else next(read, [])
    return names


def pairs(texts: Sequence[str], columns: Sequence[str]) -> list[tuple[str, str]]:
    """Read NAME=VALUE; the name of a column may hold the sign too.

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

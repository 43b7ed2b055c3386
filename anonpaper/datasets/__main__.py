"""Command line: ``python -m anonpaper.datasets fetch [names]`` and ``... list``."""

from __future__ import annotations

import argparse
import sys

from anonpaper.datasets.catalogue import available, fetch
from anonpaper.datasets.registry import registry
from anonpaper.errors import DatasetError

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 if a data set could not be had.

    Parameters
    ----------
    arguments : list of str, optional
        Instead of ``sys.argv[1:]``.
    """
    parser = argparse.ArgumentParser(prog="python -m anonpaper.datasets", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fetching = commands.add_parser("fetch", help="fetch data sets and say where each came from")
    fetching.add_argument("names", nargs="*", metavar="name", help="data sets; all without any")
    commands.add_parser("list", help="list the data sets and where each would come from")
    options = parser.parse_args(arguments)

    if options.command == "list":
        print(available().to_string(index=False))
        return 0
    failed = False
    for name in options.names or registry():
        try:
            print(fetch([name])[name], flush=True)
        except DatasetError as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

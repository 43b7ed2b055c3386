"""Command line of the data room.

``python -m anonpaper.datasets fetch [name ...]`` fetches data sets and says where each came
from; ``list`` lists them; ``summarize name`` rewrites the summary behind a stand-in from the
published file.
"""

from __future__ import annotations

import argparse
import sys

from anonpaper.datasets import stand_in
from anonpaper.datasets.catalogue import available, fetch
from anonpaper.datasets.loading import published_table
from anonpaper.datasets.registry import dataset, registry
from anonpaper.errors import DatasetError

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 if a data set could not be had.

    Parameters
    ----------
    arguments : list of str, optional
        Instead of ``sys.argv[1:]``.
    """
    parser = argparse.ArgumentParser(
        prog="python -m anonpaper.datasets", description=__doc__.partition("\n")[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    fetching = commands.add_parser("fetch", help="fetch data sets and say where each came from")
    fetching.add_argument("names", nargs="*", metavar="name", help="data sets; all without any")
    commands.add_parser("list", help="list the data sets and where each would come from")
    summarizing = commands.add_parser("summarize", help="rewrite the summary of a stand-in")
    summarizing.add_argument("name", choices=[n for n, e in registry().items() if e.stand_in])
    options = parser.parse_args(arguments)

    if options.command == "list":
        print(available().to_string(index=False))
        return 0
    if options.command == "summarize":
        return _summarize(options.name)
    failed = False
    for name in options.names or registry():
        try:
            print(fetch([name])[name], flush=True)
        except DatasetError as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            failed = True
    return int(failed)


def _summarize(name: str) -> int:
    entry = dataset(name)
    try:
        frame, _ = published_table(entry, entry.files)
    except DatasetError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    print(stand_in.write_summary(name, stand_in.summarize(name, frame)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

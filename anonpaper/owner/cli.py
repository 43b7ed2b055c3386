"""The command line: ``python -m anonpaper COMMAND``.

Results go to standard output, progress and warnings to standard error. The exit code is 0 if all
went well, 1 if this table does not allow what was asked for (or a data set cannot be fetched), and
2 if the command itself is wrong: an unknown column, a file that is not there or must not be
written. Nothing is written unless all of it is.
"""

from __future__ import annotations

import io
import os
import shlex
import sys
import time
import warnings
from collections.abc import Sequence

from anonpaper import errors
from anonpaper.owner.arguments import parser

__all__ = ["main"]

_BEGAN = time.perf_counter()
_CANNOT_BE_HAD = (
    errors.BudgetExceededError,
    errors.ConstraintError,
    errors.DatasetUnavailableError,
    errors.InfeasibleError,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, that of ``sys.argv`` by default, and return the exit code: 0, 1 or 2."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = parser(next(iter(arguments), None)).parse_args(arguments)
    options.call = shlex.join(["anonpaper", *arguments])
    say = (lambda message: None) if options.quiet else _say
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may lack letters of the table's
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
        code, message = 1 if isinstance(error, _CANNOT_BE_HAD) else 2, error
    except BrokenPipeError:  # what reads the output has seen enough, as in `... | head`
        _leave_standard_output()
        return 1
    except OSError as error:  # files are looked after where they are read and written
        _leave_standard_output()
        code, message = 2, f"{error.filename or 'standard output'}: {error.strerror}"
    except MemoryError:
        code, message = 2, "the table does not fit in memory"
    except KeyboardInterrupt:
        code, message = 130, "interrupted"
    print(f"anonpaper {options.command}: {message}", file=sys.stderr)
    return code


def _leave_standard_output() -> None:
    """Let what is still to be written go nowhere, so that the end of Python is quiet."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str) -> None:
    print(f"[{time.perf_counter() - _BEGAN:5.1f} s] {message}", file=sys.stderr, flush=True)

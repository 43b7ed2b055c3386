"""Files and folders: files appear completely or not at all."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from anonpaper.errors import AnonpaperError, FileError


def project_root(start: Path | None = None) -> Path | None:
    """Return the first folder above `start`, here or this file with notebooks and package."""
    starts = [Path.cwd(), Path(__file__)] if start is None else [start]
    folders = [folder for begin in starts for folder in (begin / "_").resolve().parents]
    both = ("notebooks", "anonpaper")
    return next((f for f in folders if all((f / name).is_dir() for name in both)), None)


def _folder(variable: str, name: str) -> Path:
    """The folder that a variable names, one of the project, or else of the user."""
    if os.environ.get(variable):
        return Path(os.environ[variable]).expanduser()
    if root := project_root():
        return root / "data" / name
    from platformdirs import user_cache_path

    return user_cache_path("anonpaper") / name


#: The folder for files placed by hand: $ANONPAPER_DATA or data/raw.
raw_folder = partial(_folder, "ANONPAPER_DATA", "raw")
#: The folder of fetched and parsed files: $ANONPAPER_CACHE or data/cache.
cache_folder = partial(_folder, "ANONPAPER_CACHE", "cache")


@contextmanager
def whole_files(
    paths: Sequence[str | Path], *, replace: bool = True, private: Sequence = ()
) -> Iterator[list[IO[bytes]]]:
    """Open new files; all of them appear under their names only if the block succeeds.

    New files follow the user's umask and are not more accessible than the files they replace, and
    only the user may read those among `private`. Symbolic links stay. Without `replace`,
    FileExistsError if a file exists, even if it was made meanwhile.
    """
    places = [Path(os.path.realpath(path)) for path in paths]
    scratch = [place.with_name(f".writing-{secrets.token_hex(8)}") for place in places]
    with ExitStack() as left_over, ExitStack() as undo:
        streams = []
        for path, place, name in zip(paths, places, scratch, strict=True):
            left_over.callback(name.unlink, missing_ok=True)
            stream = _opened(place, name, 0o600 if path in private else 0o666)
            streams.append(left_over.enter_context(stream))
        yield streams
        for stream, name, place in zip(streams, scratch, places, strict=True):
            stream.close()
            back = place.unlink, True
            if replace and len(places) > 1 and place.exists():
                before = name.with_suffix(".before")
                left_over.callback(before.unlink, missing_ok=True)
                os.link(place, before)
                back = os.replace, before, place
            (os.replace if replace else os.link)(name, place)
            undo.callback(*back)
        undo.pop_all()  # every file is in place


def _opened(place: Path, name: Path, mode: int) -> IO[bytes]:
    """Open a future file, which others may read only if they may read the file in its place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if old := place.exists() and place.stat():
        mode &= old.st_mode  # the system subtracts the umask
    number = os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
    if old and os.fstat(number).st_gid != old.st_gid:
        os.chmod(name, mode & 0o606)
    return os.fdopen(number, "w+b")


@contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open one new file that appears only if the block succeeds; see :func:`whole_files`."""
    with whole_files([path]) as [stream]:
        yield stream


def write_whole(path: str | Path, content: bytes | str) -> None:
    """Write a file, text as UTF-8, completely or not at all."""
    with whole_file(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def write_named(path: str | os.PathLike, content: bytes | str) -> None:
    """Write a file named by the user, completely or not at all; else FileError."""
    check_place(path)
    with named_by_user(path):
        write_whole(path, content)


@contextmanager
def named_by_user(path: object) -> Iterator[None]:
    """Raise FileError for any problem with a file named by the user."""
    try:
        yield
    except AnonpaperError:
        raise
    except (TypeError, ValueError, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path}: {reason}") from None


def check_place(path: str | os.PathLike, *, replace=True, endings=("",), of="") -> None:
    """Raise FileError if no file can be written there, or its name lacks one of `endings`."""
    with named_by_user(f"{path!r} cannot be a file"):
        path = Path(path)
        exists = path.exists()
        problems = {
            "a folder: name a file in it": not path.name or path.is_dir(),
            f"{of}: change the ending": not path.name.lower().endswith(tuple(endings)),
            "its folder is not there: make it first": not path.parent.is_dir(),
            "not an ordinary file: name another": exists and not path.is_file(),
            "there already: name another, or pass replace=True (--force)": exists and not replace,
        }
    if found := [problem for problem, is_so in problems.items() if is_so]:
        raise FileError(f"{path}: {found[0]}")


def sha256(content: bytes | str) -> str:
    """Return the SHA-256 of bytes, or of a text in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()

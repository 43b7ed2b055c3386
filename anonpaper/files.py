"""Files and folders: files appear whole or not at all."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from anonpaper.errors import AnonpaperError, FileError

__all__ = [
    "cache_folder",
    "check_place",
    "named_by_user",
    "project_root",
    "raw_folder",
    "sha256",
    "whole_file",
    "whole_files",
    "write_named",
    "write_whole",
]


def project_root(start: Path | None = None) -> Path | None:
    """Return the project's folder: the first one upwards that holds notebooks and package.

    Parameters
    ----------
    start : Path, optional
        Where to begin. Without it the working directory, and failing that the checkout that this
        package lies in.

    Returns
    -------
    Path or None
        None outside of a project, as for a user of the installed package.
    """
    for begin in (Path.cwd(), Path(__file__)) if start is None else (start,):
        for folder in (begin.resolve(), *begin.resolve().parents):
            if (folder / "notebooks").is_dir() and (folder / "anonpaper").is_dir():
                return folder
    return None


def _folder(variable: str, name: str) -> Path:
    if os.environ.get(variable):
        return Path(os.environ[variable]).expanduser()
    root = project_root()
    if root is not None:
        return root / "data" / name
    from platformdirs import user_cache_path

    return user_cache_path("anonpaper") / name


def raw_folder() -> Path:
    """Return the folder for files placed by hand: $ANONPAPER_DATA or data/raw."""
    return _folder("ANONPAPER_DATA", "raw")


def cache_folder() -> Path:
    """Return the folder of fetched and parsed files: $ANONPAPER_CACHE or data/cache."""
    return _folder("ANONPAPER_CACHE", "cache")


@contextmanager
def whole_files(paths: Sequence[str | Path], *, replace: bool = True) -> Iterator[list[IO[bytes]]]:
    """Open new files that appear under their names, all of them, only if the block succeeds.

    A process that is killed leaves every file as it was or as it shall be. New files have the
    permissions of the user's umask, and none that a file they replace did not have. Folders are
    made if they are missing; a symbolic link stays, what it leads to is replaced.

    Parameters
    ----------
    paths : sequence of path
    replace : bool
        Whether files that are there are replaced. If not, there is a FileExistsError, even if
        another process makes the file in the meantime.

    Yields
    ------
    list of binary files
        One per path.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, whole_files([Path(folder, "new")]) as [stream]:
    ...     _ = stream.write(b"abc")
    ...     print(Path(folder, "new").exists())
    False
    """
    places = [Path(os.path.realpath(path)) for path in paths]
    with ExitStack() as left_over:
        opened = [_open_scratch(place, left_over) for place in places]
        yield [stream for stream, _ in opened]
        names = [
            _close_scratch(stream, name or _beside(place, left_over))
            for (stream, name), place in zip(opened, places, strict=True)
        ]
        with ExitStack() as undo:
            for name, place in zip(names, places, strict=True):
                if not replace:
                    os.link(name, place)
                    undo.callback(place.unlink)
                elif len(places) == 1 or not place.exists():
                    os.replace(name, place)
                    undo.callback(place.unlink, missing_ok=True)
                else:
                    before = _beside(place, left_over)
                    os.link(place, before)
                    undo.callback(os.replace, before, place)
                    os.replace(name, place)
            undo.pop_all()  # every file is in its place: nothing is undone


def _open_scratch(place: Path, left_over: ExitStack) -> tuple[IO[bytes], Path | None]:
    """Open what shall become a file; it has no name yet where the system can do without."""
    place.parent.mkdir(parents=True, exist_ok=True)
    old = place.stat() if place.exists() else None
    mode = 0o666 if old is None else old.st_mode & 0o666  # of which the system takes the umask
    name = None
    try:
        number = os.open(place.parent, os.O_TMPFILE | os.O_RDWR, mode)
    except (AttributeError, OSError):
        name = _beside(place, left_over)
        number = os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
    stream = left_over.enter_context(os.fdopen(number, "w+b"))
    if old is not None and os.fstat(number).st_gid != old.st_gid:
        try:
            os.chown(number, -1, old.st_gid)
        except OSError:  # not for another group than the one that could read it
            os.chmod(number, mode & 0o606)
    return stream, name


def _close_scratch(stream: IO[bytes], name: Path) -> Path:
    """Finish what was written and see to it that it has a name."""
    stream.flush()
    if not name.exists():  # any descriptor lets os.link follow the link that /proc has
        number = stream.fileno()
        os.link(f"/proc/self/fd/{number}", name, src_dir_fd=number)
    stream.close()
    return name


def _beside(place: Path, left_over: ExitStack) -> Path:
    """Return a name that nothing has, in the same folder; it is free again in the end."""
    name = place.with_name(f".writing-{secrets.token_hex(8)}")
    left_over.callback(name.unlink, missing_ok=True)
    return name


@contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open one new file that appears only if the block succeeds; see :func:`whole_files`."""
    with whole_files([path]) as [stream]:
        yield stream


def write_whole(path: str | Path, content: bytes | str) -> None:
    """Write a file's content, text as UTF-8, so that the file is there whole or not at all."""
    with whole_file(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def write_named(path: str | os.PathLike, content: bytes | str) -> None:
    """Write a file that the user named, text as UTF-8; it appears whole or not at all.

    Raises
    ------
    FileError
        As :func:`check_place`, or the disk is full, the folder not writable, or the text no
        Unicode.
    """
    check_place(path)
    with named_by_user(path):
        write_whole(path, content)


@contextmanager
def named_by_user(path: object) -> Iterator[None]:
    """Raise what goes wrong with a file that the user named as a FileError that says so.

    Raises
    ------
    FileError
        `path` names no file, or the system refuses it, or text for it is no Unicode.

    Examples
    --------
    >>> with named_by_user("nothing.csv"):
    ...     open("nothing.csv")
    Traceback (most recent call last):
        ...
    anonpaper.errors.FileError: nothing.csv: No such file or directory
    """
    try:
        yield
    except AnonpaperError:
        raise
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.end]
        raise FileError(f"{path}: {bad!r} is no Unicode, replace it") from None
    except (TypeError, ValueError, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path}: {reason}") from None


def check_place(
    path: str | os.PathLike, *, replace: bool = True, endings: Sequence[str] = ("",), of: str = ""
) -> None:
    """Raise FileError if a file cannot be written there as it is; no folder is made.

    Parameters
    ----------
    path : path
        What the user named.
    replace : bool
        Whether a file that is there may be replaced.
    endings : sequence of str
        Those that the name may have, in lower case.
    of : str
        What is written and which endings there are, for the message.

    Examples
    --------
    >>> check_place("page.txt", endings=[".html"], of="a page is written as .html")
    Traceback (most recent call last):
        ...
    anonpaper.errors.FileError: page.txt: a page is written as .html: name a file that ends so
    """
    with named_by_user(f"{path!r} is no place for a file"):
        path = Path(path)
        with suppress(FileNotFoundError):
            path.stat()
        if not path.name or path.is_dir():
            raise FileError(f"{path} is a folder: name a file in it")
        if not path.name.lower().endswith(tuple(endings)):
            raise FileError(f"{path}: {of}: name a file that ends so")
        if not path.parent.is_dir():
            raise FileError(f"the folder {path.parent} is not there: make it first")
        if path.exists() and not path.is_file():
            raise FileError(f"{path} is no ordinary file")
        if path.exists() and not replace:
            raise FileError(f"{path} is there already: name another file, or have it replaced")


def sha256(content: bytes | str) -> str:
    """Return the SHA-256 of bytes, or of a text's UTF-8, as 64 hexadecimal digits.

    Examples
    --------
    >>> sha256("anonpaper")[:8]
    '15c2d30f'
    """
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()

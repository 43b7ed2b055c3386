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
    "cache_folder", "check_place", "named_by_user", "project_root", "raw_folder", "sha256",
    "whole_file", "whole_files", "write_named", "write_whole",
]  # fmt: skip


def project_root(start: Path | None = None) -> Path | None:
    """Return the first folder above `start` (or here, or this file) with notebooks and package."""
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
    permissions of the user's umask, and never more than a file they replace. A symbolic link
    stays. Without `replace` there is a FileExistsError, whoever made the file in the meantime.
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
    """Write a file that the user named, whole or not at all; FileError if that cannot be."""
    check_place(path)
    with named_by_user(path):
        write_whole(path, content)


@contextmanager
def named_by_user(path: object) -> Iterator[None]:
    """Raise a FileError for anything that goes wrong with a file that the user named."""
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
    """Raise FileError if no file can be written there, or if its name lacks one of `endings`."""
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
    """Return the SHA-256 of bytes, or of a text's UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()

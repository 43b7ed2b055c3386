"""Files and folders: files appear whole or not at all."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["cache_folder", "project_root", "raw_folder", "sha256", "whole_file", "write_whole"]


def project_root(start: Path | None = None) -> Path | None:
    """Return the project's folder: the first one upwards that holds notebooks/profiles.

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
            if (folder / "notebooks" / "profiles").is_dir():
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
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file that appears under its name only if the block succeeds.

    It is written under another name in the same folder, which is made if it is missing.

    Parameters
    ----------
    path : Path

    Yields
    ------
    binary file

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, whole_file(Path(folder, "new")) as stream:
    ...     _ = stream.write(b"abc")
    ...     print(Path(folder, "new").exists())
    False
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".writing-", delete=False) as scratch:
        try:
            yield scratch
            scratch.flush()
            os.chmod(scratch.name, 0o644)  # temporary files are private by default
            os.replace(scratch.name, path)
        except BaseException:
            os.unlink(scratch.name)
            raise


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file's content, text as UTF-8, so that the file is there whole or not at all."""
    with whole_file(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def sha256(content: bytes | str) -> str:
    """Return the SHA-256 of bytes, or of a text's UTF-8, as 64 hexadecimal digits.

    Examples
    --------
    >>> sha256("anonpaper")[:8]
    '15c2d30f'
    """
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()

"""Releases from the Python package index that the user's pip is configured for."""

from __future__ import annotations

import ast
import os
import ssl
import subprocess
import sys
from pathlib import Path

from anonpaper.datasets.registry import Mirror
from anonpaper.errors import DatasetUnavailableError

__all__ = ["download_release", "pip_settings"]


def pip_settings() -> dict[str, str]:
    """Return pip's settings of files and environment; without pip, of ``PIP_*`` alone."""
    command = [sys.executable, "-m", "pip", "config", "list", "--disable-pip-version-check"]
    listed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    settings = {}
    # Later sections override earlier ones: files, then commands, then the environment.
    for section in ("global", "install", "download"):
        for line in listed.stdout.splitlines():
            key, _, value = line.partition("=")
            if key.startswith(f"{section}.") and value:
                settings[key.removeprefix(f"{section}.")] = ast.literal_eval(value)
    for variable, value in os.environ.items():
        if variable.startswith("PIP_") and value:
            settings[variable.removeprefix("PIP_").lower().replace("_", "-")] = value
    return settings


def download_release(mirror: Mirror, folder: Path) -> Path:
    """Download one archive of a release, unchecked, without building or running it."""
    from unearth import PackageFinder
    from unearth.auth import MultiDomainBasicAuth
    from unearth.fetchers.sync import PyPIClient

    settings = pip_settings()
    requirement = f"{mirror.package}=={mirror.version}"
    offline = settings.get("no-index", "").lower() in {"1", "true", "yes", "on"}
    find_links = [
        location
        for location in settings.get("find-links", "").split()
        if "://" in location or Path(location).expanduser().exists()
    ]
    if offline and not find_links:
        raise DatasetUnavailableError(f"{requirement}: pip is configured without any index")
    certificate = settings.get("cert")
    trusted = settings.get("trusted-host", "").split()
    verify = ssl.create_default_context(cafile=certificate) if certificate else True
    session = PyPIClient(trusted_hosts=trusted, verify=verify, timeout=20.0)
    main_index = settings.get("index-url", "").split()  # without one, the finder's own default
    other_indexes = settings.get("extra-index-url", "").split()
    session.auth = MultiDomainBasicAuth(index_urls=[*main_index, *other_indexes])
    unwanted = "no_binary" if mirror.kind == "sdist" else "only_binary"
    with session:
        finder = PackageFinder(
            session,
            index_urls=main_index,
            trusted_hosts=trusted,
            ignore_compatibility=True,  # the archive is data: any Python's will do
            **{unwanted: [mirror.package]},
        )
        if offline:
            finder.sources.clear()
        else:
            for index in other_indexes:
                finder.add_index_url(index)
        for location in find_links:
            finder.add_find_links(location)
        try:
            best = finder.find_best_match(requirement).best
            if best is None:
                raise DatasetUnavailableError(f"no package index at hand has {requirement}")
            return Path(finder.download(best.link, folder))
        except DatasetUnavailableError:
            raise
        except Exception as error:  # unearth lets its HTTP client's own errors through
            raise DatasetUnavailableError(
                f"{requirement} from the package index: {error}"
            ) from error

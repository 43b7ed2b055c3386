"""The README as an index shows it: its links lead to the repository that this is a clone of."""

import re
import subprocess
from pathlib import Path

from setuptools import setup


def address() -> str:
    """Return the web address of the repository; nothing if it has none."""
    told = Path("PKG-INFO")  # in an archive of the sources, which is no clone
    if told.exists():
        return "".join(re.findall(r"(?m)^Project-URL: Source, (.*)", told.read_text())[:1])
    git = ["git", "config", "remote.origin.url"]
    found = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    found = re.sub(r"^git@([^:]+):", r"https://\1/", found).removesuffix(".git")
    return re.sub("//.*@", "//", found) if found.startswith("https://") else ""


def readme(text: str, source: str) -> str:
    """Return the README with links to the repository, or without links into it."""

    def linked(match: re.Match) -> str:
        picture, words, path = match.groups()
        if source:
            return f"{picture}[{words}]({source}/{'raw' if picture else 'blob'}/HEAD/{path})"
        return "" if picture else words

    return re.sub(r"(!?)\[([^\[\]]+)\]\((?![a-z]+:|#)([^)]+)\)", linked, text)


if __name__ == "__main__":
    source, text = address(), Path("README.md").read_text(encoding="utf-8")
    setup(
        long_description=readme(text[text.index("# anonpaper") :], source),  # without badges
        long_description_content_type="text/markdown",
        project_urls={"Source": source, "Issues": f"{source}/issues"} if source else {},
    )

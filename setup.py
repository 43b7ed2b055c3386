"""The README as an index shows it: its links lead to the repository that this is a clone of."""

import re
import subprocess
from pathlib import Path

from setuptools import setup

LINK = r"(!?)\[([^\[\]]+)\]\((?![a-z]+:|#)([^)]+)\)"  # into the repository

if __name__ == "__main__":
    git = ["git", "config", "remote.origin.url"]
    origin = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    origin = re.sub(r"^git@([^:]+):", r"https://\1/", origin).removesuffix(".git")
    source = re.sub("//.*@", "//", origin) if origin.startswith("https://") else ""

    def linked(match: re.Match) -> str:
        """Return a link to the repository, or its words where there is no address."""
        picture, words, path = match.groups()
        if source:
            return f"{picture}[{words}]({source}/{'raw' if picture else 'blob'}/HEAD/{path})"
        return "" if picture else words

    text = Path("README.md").read_text(encoding="utf-8").partition("# anonpaper")
    setup(
        long_description=re.sub(LINK, linked, "".join(text[1:])),  # without badges
        long_description_content_type="text/markdown",
        project_urls={"Source": source, "Issues": f"{source}/issues"} if source else {},
    )

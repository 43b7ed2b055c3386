"""What the owner of a table is told: how exposed it is, and what became of it in a release.

All of it describes the table as it was, so none of it is to be published.
"""

from __future__ import annotations

from anonpaper.reports.numbers import audit, levels, levels_of_release, summary
from anonpaper.reports.text import as_json, as_text
from anonpaper.reports.web import attackers, check_page_place, page, write_page

__all__ = [
    "as_json",
    "as_text",
    "attackers",
    "audit",
    "check_page_place",
    "levels",
    "levels_of_release",
    "page",
    "summary",
    "write_page",
]

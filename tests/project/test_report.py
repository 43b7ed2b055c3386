"""The papers' pages: what is committed is what judging the committed tables gives now."""

import re

import pytest
from project.tools import ROOT, load_tool

MOST_WORDS = 1500


@pytest.fixture(scope="module")
def pages():
    return load_tool("report").pages()


def test_the_committed_pages_are_what_judging_gives_now(pages):
    """After an edit of a claim: `make PROFILE=paper report`."""
    for name, text in pages.items():
        assert (ROOT / name).read_text() == text, f"{name}: run make PROFILE=paper report"
    there = {f"figures/{path.name}" for path in (ROOT / "figures").glob("*.md")}
    assert there == pages.keys() - {"README.md"}


def test_a_page_is_short_and_its_links_lead_somewhere(pages):
    lost = []
    for name, text in pages.items():
        shown = re.sub(r"\]\([^)]*\)", "]", text)
        assert len(re.findall(r"[^\s|]*\w[^\s|]*", shown)) <= MOST_WORDS, name
        for link in re.findall(r"\]\(([^)#:]+)\)", text):
            if not ((ROOT / name).parent / link).exists():
                lost.append((name, link))
    assert lost == []

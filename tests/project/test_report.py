"""The report: what is committed is what judging the committed tables gives now."""

import re

import pytest
from project.tools import ROOT, load_tool

RESULTS = ROOT / "figures" / "paper"
report = load_tool("report")


@pytest.fixture(scope="module")
def papers():
    return report.judged_papers(RESULTS)


def test_the_committed_report_and_verdicts_are_what_judging_gives_now(papers):
    """After an edit of a claim: `make PROFILE=paper report`."""
    for name, text in report.reports(papers).items():
        assert (RESULTS / name).read_text() == text, f"{name}: run make PROFILE=paper report"
    assert (RESULTS / "verdicts.csv").read_text() == report.verdicts(papers)
    readme = (ROOT / "README.md").read_text()
    assert report.with_tables(readme, papers) == readme


def test_every_link_of_the_report_leads_somewhere():
    files = [RESULTS / "REPORT.md", *RESULTS.glob("*/REPORT.md")]
    pages = {file.resolve(): file.read_text() for file in files}
    anchors = {file: set(re.findall(r'<a id="([^"]+)">', text)) for file, text in pages.items()}
    lost = []
    for file, text in pages.items():
        for link in re.findall(r"\]\(([^)]+)\)", text):
            target, _, anchor = link.partition("#")
            there = (file.parent / target).resolve() if target else file
            if not there.exists() or (anchor and anchor not in anchors[there]):
                lost.append((file.parent.name, link))
    assert len(pages) > 5 and lost == []

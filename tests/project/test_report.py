"""The report: what is committed is what judging the committed tables gives now."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from project.tools import load_tool

from anonpaper.compendium import intervals, judge
from anonpaper.compendium.catalogue import papers as known_papers

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "figures" / "paper"
KEY = next(key for key in known_papers() if judge.of_paper(key))
NOTEBOOK = judge.of_paper(KEY)[0].notebook


report = load_tool("report")


@pytest.fixture(scope="module")
def papers():
    return report.judged_papers(RESULTS)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty project with notebooks of one paper, for the report to be written in."""
    monkeypatch.setattr(report, "ROOT", tmp_path)
    monkeypatch.setenv("ANONPAPER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "notebooks" / KEY).mkdir(parents=True)
    return tmp_path


class Page(HTMLParser):
    """The ids and the links of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.tags = [], [], Counter()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags[tag] += 1
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[name] for name in ("href", "src") if name in given]


# ---- what is committed ------------------------------------------------------------------------


def test_the_committed_report_is_what_judging_gives_now(papers):
    written = report.reports(papers)
    assert len(written) == 2 * (1 + len(papers))
    for name, text in written.items():
        assert (RESULTS / name).read_text() == text, f"{name}: run make PROFILE=paper report"


def test_the_committed_verdicts_are_what_judging_gives_now(papers):
    """After an edit of a claim: `make PROFILE=paper report`."""
    assert (RESULTS / "verdicts.csv").read_text() == report.verdicts(papers)


def test_the_readme_lists_the_same_papers_and_verdicts(papers):
    readme = (ROOT / "README.md").read_text()
    assert report.with_tables(readme, papers) == readme
    for key, verdicts in ((paper["key"], paper["counted"]) for paper in papers):
        rows = re.findall(rf"^\| \*\*{key}\*\* .* \| \[(\d+) of (\d+)\]", readme, re.MULTILINE)
        told = (verdicts["verdicts"][intervals.REPRODUCED], verdicts["measured"])
        assert rows == [tuple(map(str, told))] * (key in known_papers()), key


def test_the_findings_of_the_readme_rest_on_claims_that_hold():
    readme = (ROOT / "README.md").read_text()
    begin, end = report.MARKS["findings"]
    said = readme.partition(begin)[2].partition(end)[0]
    claims = {
        "fewest": "beyond,near-the-bound",
        "Swapping": "together,swap-counts",
        "search": "dewri2009,few-percent-above",
        "Synthetic": "together,invented-rows",
    }
    lines = (RESULTS / "verdicts.csv").read_text().splitlines()
    verdicts = [",".join(line.split(",")[:3]) for line in lines]
    headlines = re.findall(r"^- \*\*\[(.*)\]\(.*\)\*\*", said, re.MULTILINE)
    assert headlines
    for headline in headlines:
        (claim,) = (claim for word, claim in claims.items() if word in headline)
        assert f"{claim},holds" in verdicts, headline


def test_what_was_run_at_the_papers_sizes_is_judged(papers):
    """A claim may wait only for a table whose notebook has not run."""
    waiting = {
        f"{claim.paper}/{claim.notebook}"
        for paper in papers
        for claim in judge.of_paper(paper["key"])
        if paper["claims"].set_index("id").loc[claim.id, "verdict"] == intervals.NOT_RUN
        for table in claim.tables
        if not (RESULTS / claim.paper / f"{table}.csv").exists()
    }
    assert all(paper["claims"]["verdict"].ne(intervals.NOT_RUN).any() for paper in papers)
    assert [name for name in waiting if (RESULTS / "manifest" / f"{name}.json").exists()] == []


def test_every_link_of_the_report_leads_somewhere(papers):
    anchors, pages = {}, {}
    for file in [RESULTS / "REPORT.md", *RESULTS.glob("*/REPORT.md")]:
        pages[file] = file.read_text()
        anchors[file] = set(re.findall(r'<a id="([^"]+)">', pages[file]))
    assert len(pages) == 1 + len(papers)
    for file, text in pages.items():
        for link in re.findall(r"\]\(([^)]+)\)", text):
            target, _, anchor = link.partition("#")
            there = (file.parent / target).resolve()
            assert there.exists(), link
            assert not anchor or anchor in anchors[there], link
    for paper in papers:
        card = pages[RESULTS / paper["key"] / "REPORT.md"]
        for claim in paper["claims"].to_dict("records"):
            there = claim["verdict"] != intervals.NOT_RUN  # nothing leads to a missing table
            assert all((f"]({table}.csv)" in card) == there for table in claim["tables"].split())


@pytest.mark.parametrize("name", ["REPORT.html", f"{KEY}/REPORT.html"])
def test_a_page_needs_no_other_file(name):
    page = Page((RESULTS / name).read_text())
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert not [link for link in page.links if "//" in link]
    assert max(Counter(page.ids).values(), default=1) == 1
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)


def test_every_claim_has_a_card_and_a_line_in_the_summary(papers):
    summary = Page((RESULTS / "REPORT.html").read_text()).links
    for paper in papers:
        cards = Page((RESULTS / paper["key"] / "REPORT.html").read_text())
        wanted = {f"{paper['key']}-{id}" for id in paper["claims"]["id"]}
        assert wanted <= set(cards.ids)
        assert {f"{paper['key']}/REPORT.html#{id}" for id in wanted} <= set(summary)


def test_what_contradicts_a_paper_comes_first_and_what_is_trivial_is_folded(papers):
    assert not re.search(
        r"\*\*[^*\n]*(quick|paper) profile", "".join(report.reports(papers).values())
    )
    for paper in papers:
        page = (RESULTS / paper["key"] / "REPORT.md").read_text()
        before, _, folded = page.partition("<details>")
        for claim in paper["claims"].to_dict("records"):
            trivial = claim["kind"] in report.TRIVIAL and claim["verdict"] == judge.HOLDS
            anchor = f'<a id="{paper["key"]}-{claim["id"]}">'
            assert anchor in (folded if trivial else before), claim["id"]
        measured = [c for _, claims in paper["groups"] for c in claims if c["kind"] == "measured"]
        shades = [report.TEXTS["classes"][claim["verdict"]] for claim in measured]
        assert shades == sorted(shades, key=[*report.TEXTS["groups"]].index)


def test_a_notebook_that_has_not_run_is_marked(papers):
    for paper in papers:
        page = (RESULTS / paper["key"] / "REPORT.md").read_text()
        states = [notebook["state"] for notebook in paper["notebooks"]]
        assert page.count(report.NOT_YET) == states.count(report.NOT_YET)


# ---- how it is written ------------------------------------------------------------------------


def test_without_tables_every_claim_is_listed_as_not_run(project, capsys):
    assert report.main() == 0
    number = len(judge.of_paper(KEY))
    assert f"{number} claims of 1 papers judged" in capsys.readouterr().out
    text = (project / "figures/paper/REPORT.md").read_text()
    theirs, _, others = text.partition("### Claims not run")[2].partition("### Our questions")
    assert others.count("- **not run** [") and "**not run**" not in theirs  # the heading says it
    assert len(re.findall(r"^- (?:\*\*not run\*\* )?\[", theirs + others, re.MULTILINE)) == number
    text = (project / f"figures/paper/{KEY}/REPORT.md").read_text()
    assert len(re.findall(r"^\*\*not run\*\*", text, re.MULTILINE)) == number
    assert f"`make PROFILE=paper paper-{KEY}` runs the notebooks." in text


def test_minutes_data_and_verdict_come_from_what_the_notebook_left(project, monkeypatch):
    fields = {
        "where": "Table 1",
        "claim": "no run ends in phase three",
        "notebook": NOTEBOOK,
        "table": "phases",
        "says": "all: third == 0",
        "measured": "in {third.sum()} runs",
    }
    entry = judge.Claim("three", KEY, fields)
    monkeypatch.setattr(judge, "of_paper", lambda paper: (entry,))
    folder = project / "figures/paper"
    (folder / KEY).mkdir(parents=True)
    data = {"origin": "occ: census (package index, sha256 36)", "rows": 1000, "stand_in": True}
    share = {"seconds": 90, "outputs": {f"{KEY}/phases.csv": {"data": [data, data]}}}
    (folder / f"manifest/{KEY}").mkdir(parents=True)
    (folder / f"manifest/{KEY}/{NOTEBOOK}.json").write_text(json.dumps(share))
    for third, verdict in ((0, "reproduced"), (2, "not reproduced")):
        phases = pd.DataFrame({"table": ["OCC"], "third": [third]})
        phases.to_csv(folder / f"{KEY}/phases.csv", index=False)
        report.main()
        text = (folder / f"{KEY}/REPORT.md").read_text()
        assert f"measured: in {third} runs" in text
        assert f"\n**{verdict}**\n" in text
        assert "| 1.5 | occ: census (package index), 1,000 rows (stand-in data) | up" in text


def test_only_what_changed_is_judged_again(project, monkeypatch):
    real, judged = judge.judge, []
    monkeypatch.setattr(judge, "judge", lambda *given: judged.append(given) or real(*given))
    folder = project / "figures/paper"
    (folder / KEY).mkdir(parents=True)
    first = report.judged(KEY, folder)
    pd.testing.assert_frame_equal(report.judged(KEY, folder), first)
    assert len(judged) == 1
    (folder / KEY / "other.csv").write_text("a\n1\n")
    report.judged(KEY, folder)
    assert len(judged) == 2


def test_every_verdict_has_a_meaning_and_a_class():
    named = [*intervals.VERDICTS]
    assert [*report.TEXTS["legend"]] == named
    assert {*report.TEXTS["classes"]} == {*named, judge.HOLDS, judge.PARTLY, judge.FAILS}
    assert {*report.TEXTS["classes"].values()} == {*report.TEXTS["groups"]}
    assert {*report.TEXTS["groups_of_ours"]} == {*report.TEXTS["groups"]}
    assert {*report.TEXTS["shown"].values()} <= {*judge.COLUMNS, "to decide"}


@pytest.mark.parametrize(
    ("needed", "seconds", "words"),
    [
        (
            30,
            60,
            "about 30 seeds in place of 10, with a probability of 90 %; about 3.0 minutes of",
        ),
        (30, 240, "; about 12.0 minutes of a/1_notebook, above the budget of 10"),
        (30, 0, "with a probability of 90 %"),
        (float("inf"), 60, "more than 10,000 seeds in place of 10"),
    ],
)
def test_a_card_says_what_would_decide_an_undecided_claim(needed, seconds, words):
    told, _ = report.to_decide(10, needed, "seeds", seconds, "a/1_notebook")
    assert told.endswith(words) or told.startswith(words)


def test_no_claim_is_undecided_within_the_budget_of_minutes(papers):
    """Each card of an undecided claim has its seeds, its minutes and the budget below them."""
    claims = pd.concat([paper["claims"] for paper in papers])
    undecided = claims[claims["verdict"] == intervals.UNDECIDED]
    assert (undecided["minutes to decide"] > intervals.BUDGET).all()
    words = r" in place of .* minutes of \S+, above the budget of 10$"
    assert undecided["to decide"].str.contains(words).all()
    assert (claims["to decide"] != "").sum() == len(undecided)
    rules = (ROOT / "CONTRIBUTING.md").read_text()
    assert f"The budget is {intervals.BUDGET} minutes on two cores for each claim" in rules


def test_intervals_that_hold_together_are_called_so():
    """`intervals_in_words` calls them as those that decide, which may hold each alone."""
    together = re.compile(r"words\((np\.exp\()?(mean|difference)_intervals")
    for file in ROOT.glob("notebooks/*/claims.toml"):
        for claim in judge.of_paper(file.parent.name):
            assert not together.search(claim.interval) or "held='together'" in claim.interval


def test_cards_show_readings_and_their_words(papers):
    """Readings with the paper's words, and how many seeds decide."""
    for paper in papers:
        page = report.reports([paper])[f"{paper['key']}/REPORT.md"]
        for claim in paper["claims"].to_dict("records"):
            card = page.split(f'<a id="{paper["key"]}-{claim["id"]}">')[1].split("<a id=")[0]
            assert ("| interpretation |" in card) == ("The paper allows these" in card)
            assert ("| interpretation |" in card) == (len(claim["readings"]) > 1)
            assert ("would be decided by" in card) == (claim["verdict"] == intervals.UNDECIDED)
            assert "concerns: concerns" not in card


def test_the_readme_is_written_between_its_marks(project):
    readme = project / "README.md"
    marks = [mark for pair in report.MARKS.values() for mark in pair]
    readme.write_text("\n".join(["before", *marks, "after", ""]))
    report.main()
    once = readme.read_text()
    measured = sum(claim.kind == judge.MEASURED for claim in judge.of_paper(KEY))
    assert f" | [0 of {measured}](figures/paper/{KEY}/REPORT.md) | " in once
    assert f"| **{KEY}** {known_papers()[KEY].name} | " in once
    others = [key for key in known_papers() if key != KEY]
    assert [key for key in others if f"**{key}**" in once] == [], "they have no notebooks here"
    assert once.startswith("before\n") and once.endswith("\nafter\n")
    report.main()
    assert readme.read_text() == once


def test_a_readme_without_marks_is_refused(papers):
    with pytest.raises(SystemExit, match="README.md lacks the lines"):
        report.with_tables("no marks", papers)


def test_a_cell_of_markdown_keeps_its_bars():
    assert report.cell("|R| < 2*k") == r"\|R\| \< 2\*k"


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ("the least (k-member, 50): -628.8 to 636.0 points", "(k-member, 50): undecided, the"),
        ("all: x 4.7e-11 to x 5.8e+09; two: x 0.1 to x 7", "all: undecided, the interval is"),
        ("-3.5 to 9.1 points", "-3.5 to 9.1 points"),
        ("-199 to 2 ms", "-199 to 2 ms"),
    ],
)
def test_an_interval_that_says_nothing_is_not_printed(interval, words):
    assert words in report.plain(interval)


def test_claims_are_counted_in_a_sentence():
    claims = [{"verdict": one, "kind": "measured"} for one in ("undecided", "reproduced")]
    assert report.in_short(claims) == "2 claims: 1 reproduced, 1 undecided."
    proofs = [{"verdict": "holds", "kind": "proof"}] * 2
    told = "4 claims: 1 reproduced, 1 undecided; by proof: 2 hold."
    assert report.in_short(claims + proofs) == told
    assert report.in_short(proofs) == "2 claims: 2 hold."
    assert report.in_short(claims[:1]) == "1 claim: undecided."
    assert report.in_short([]) == "No claim depends on it."

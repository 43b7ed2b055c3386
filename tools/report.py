"""Judge the papers' claims from the tables of a profile and write the report, for the Makefile.

    report.py --profile quick    figures/quick/REPORT.md and .html, <paper>/REPORT.md and .html
    report.py --profile paper    the same in figures/paper, and the tables in README.md

Verdicts come from the saved tables alone; minutes and data from what each notebook noted of its
last run. A claim whose table is missing is listed as not run.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import jinja2
import pandas as pd

from anonpaper.files import project_root, write_whole
from anonpaper.compendium import intervals, judge
from anonpaper.compendium.catalogue import asked
from anonpaper.compendium.catalogue import papers as known_papers

ROOT = project_root(Path(__file__).parent)
TEMPLATES = Path(__file__).parent / "templates"
MARKS = {
    name: (f"<!-- {name}: written by make PROFILE=paper report -->", f"<!-- end of {name} -->")
    for name in ("papers", "verdicts")
}
#: Verdict -> its class in the page's style, and what it means.
LEGEND = {
    intervals.REPRODUCED: ("yes", "what was measured agrees with the paper within the tolerance."),
    intervals.DIRECTION: (
        "partly",
        "it does not everywhere, or by another amount, but points the same way.",
    ),
    intervals.NOT_REPRODUCED: ("no", "it does not; a reason that is given was put to a test."),
    intervals.UNDECIDED: (
        "undecided",
        "the confidence interval over seeds holds both that it agrees and that it does not.",
    ),
    intervals.DEPENDS: (
        "undecided",
        "the paper's text can be read in several ways, and they do not agree.",
    ),
    intervals.NOT_TESTABLE: (
        "untestable",
        "data, details, a program or a machine that only the authors have would be needed.",
    ),
    intervals.NOT_RUN: ("not-run", "a table is missing; the command of the paper makes it."),
}
CLASSES = {verdict: name for verdict, (name, _) in LEGEND.items()} | {
    judge.HOLDS: "yes",
    judge.PARTLY: "partly",
    judge.FAILS: "no",
}
SHOWN = (
    ("in the paper", "where"),
    ("published", "published"),
    ("measured", "measured"),
    ("interval", "interval"),
    ("tolerance", "tolerance"),
    ("spread", "spread"),
    ("in detail", "detail"),
    ("what differs", "differs"),
    ("why", "reason"),
)

NOTHING = "-"  # where there is no such claim


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, write the report and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", default="quick")
    profile = parser.parse_args(arguments).profile
    results = ROOT / "figures" / profile
    papers = judged_papers(results)
    for name, text in reports(papers, profile).items():
        write_whole(results / name, text)
    write_verdicts(results)
    if profile == "paper":
        readme = ROOT / "README.md"
        if readme.exists():
            write_whole(readme, with_tables(readme.read_text(), papers))
    judged = sum(len(paper["claims"]) for paper in papers)
    number = len({paper["key"] for paper in papers}.intersection(known_papers()))
    print(f"figures/{profile}/REPORT.md: {judged} claims of {number} papers judged, ours included")
    return 0


def judged_papers(results: Path) -> list[dict]:
    """Return what has notebooks and claims, with its verdicts and its runs: papers come first."""
    papers = []
    for key, about in {**known_papers(), **asked()}.items():
        if not (ROOT / "notebooks" / key).is_dir():
            continue
        judged = judge.judge(key, results / key)
        notebooks = [
            run_of(key, name, results) | {"claims": part.to_dict("records")}
            for name, part in judged.groupby("notebook", sort=False)
        ]
        seconds = sum(notebook["seconds"] for notebook in notebooks)
        papers.append(
            {
                "key": key,
                "about": about,
                "claims": judged,
                "by_kind": {
                    kind: judged[judged["kind"] == kind].to_dict("records")
                    for kind in judge.KINDS
                },
                "counted": counts(judged),
                "minutes": minutes(seconds),
                "trained": training(results / key),
                "notebooks": notebooks,
            }
        )
    return papers


def write_verdicts(results: Path) -> None:
    """Write the verdicts on all claims of the papers that are there to verdicts.csv."""
    write_whole(results / "verdicts.csv", verdicts(judged_papers(results)))


def verdicts(papers: list[dict]) -> str:
    """Return the verdict on each claim as csv."""
    judged = [paper["claims"][["paper", "id", "verdict"]] for paper in papers]
    table = pd.concat(judged) if judged else pd.DataFrame(columns=["paper", "id", "verdict"])
    return table.to_csv(index=False, lineterminator="\n")


def training(folder: Path) -> str:
    """Return the minutes that models took to train, which a later run finds in the cache."""
    table = folder / "training.csv"
    return minutes(pd.read_csv(table)["seconds"].sum()) if table.exists() else ""


def held(verdicts: pd.Series) -> str:
    """Return in words how many claims hold, and how many nobody has run."""
    told = f"{(verdicts == judge.HOLDS).sum()} of {len(verdicts)} hold"
    missing = (verdicts == intervals.NOT_RUN).sum()
    return f"{told}, {missing} not run" if missing else told


def counts(judged: pd.DataFrame) -> dict[str, object]:
    """Return the number of measured claims by verdict, and how many of the other kinds hold."""
    measured = judged.loc[judged["kind"] == judge.MEASURED, "verdict"]
    number = measured.value_counts()
    others = {
        kind: held(part) if len(part) else NOTHING
        for kind in judge.KINDS
        for part in [judged.loc[judged["kind"] == kind, "verdict"]]
    }
    return others | {
        "measured": len(measured) or NOTHING,
        "verdicts": [
            int(number.get(verdict, 0)) if len(measured) else NOTHING
            for verdict in intervals.VERDICTS
        ],
    }


def rows_of(claim: dict) -> list[tuple[str, str]]:
    """Return what a card says of a claim: names and texts; what we ask is not in the paper."""
    rows = [(name, claim[key]) for name, key in SHOWN if claim[key]]
    if claim["kind"] != judge.OURS:
        return rows
    (_, where), *others = rows
    return [("bears on", where.removeprefix("bears on: ")), *others]


def run_of(paper: str, notebook: str, results: Path) -> dict:
    """Return what a notebook noted of its last run: how long it took and on what data."""
    share = results / "manifest" / paper / f"{notebook}.json"
    noted = json.loads(share.read_text()) if share.exists() else {"seconds": 0, "outputs": {}}
    return {
        "name": notebook,
        "seconds": noted["seconds"],
        "minutes": minutes(noted["seconds"]),
        "data": data_of(noted["outputs"]),
    }


def minutes(seconds: float) -> str:
    """Return seconds as minutes with one decimal, at least 0.1; nothing of nothing."""
    return f"{max(seconds / 60, 0.1):.1f}" if seconds else ""


def data_of(outputs: dict[str, dict]) -> list[str]:
    """Return the tables of people that outputs were made from, each once, with their rows."""
    described = [
        f"{data['origin'] or 'an example of the notebook'}, {data['rows']:,} rows"
        + (" (stand-in data)" if data.get("stand_in") else "")
        for about in outputs.values()
        for data in about["data"]
    ]
    return [
        re.sub(r", sha256 [^)]*", "", text).replace("; ", ", ")
        for text in dict.fromkeys(described)
    ]


def reports(papers: list[dict], profile: str) -> dict[str, str]:
    """Return the report, a summary and a page per paper, in Markdown and HTML, by file.

    The pages of HTML need no other file.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=lambda name: name.endswith(".html.jinja"),
    )
    environment.filters["cell"] = cell
    environment.globals |= {
        "profile": profile,
        "verdicts": intervals.VERDICTS,
        "legend": [(verdict, meaning) for verdict, (_, meaning) in LEGEND.items()],
        "classes": CLASSES,
        "kinds": judge.KINDS,
        "rows": rows_of,
        "command": "make " if profile == "quick" else f"make PROFILE={profile} ",
    }
    written = {}
    for ending in ("md", "html"):
        summary = environment.get_template(f"REPORT.{ending}.jinja")
        written[f"REPORT.{ending}"] = summary.render(papers=papers)
        page = environment.get_template(f"PAPER.{ending}.jinja")
        for paper in papers:
            written[f"{paper['key']}/REPORT.{ending}"] = page.render(paper=paper)
    return written


def cell(text: str) -> str:
    """Return text as it stands in a cell of a Markdown table."""
    return re.sub(r"([|<*])", r"\\\1", text)


def with_tables(readme: str, papers: list[dict]) -> str:
    """Return the README with its two tables, of the papers and of the verdicts, between marks."""
    for name, table in (("papers", table_of_papers(papers)), ("verdicts", counted(papers))):
        before, found, rest = readme.partition(MARKS[name][0])
        _, ended, after = rest.partition(MARKS[name][1])
        if not (found and ended):
            raise SystemExit(f"README.md lacks the lines {' and '.join(MARKS[name])}")
        readme = f"{before}{found}\n\n{table}\n\n{ended}{after}"
    return readme


def table_of_papers(papers: list[dict]) -> str:
    """Return the papers with what they ask and the number of their notebooks."""
    lines = ["| paper | asks | notebooks |", "|---|---|---|"]
    for paper in (paper for paper in papers if paper["key"] in known_papers()):
        key, about = paper["key"], paper["about"]
        number = len(list((ROOT / "notebooks" / key).glob("*.ipynb")))
        lines.append(
            f"| **{key}** {about.citation} | {about.question} | [{number}](notebooks/{key}) |"
        )
    return "\n".join(lines)


def counted(papers: list[dict]) -> str:
    """Return the number of measured claims of each paper by verdict, and the others beside it."""
    totals = [
        sum(number for number in column if number != NOTHING)
        for column in zip(*(p["counted"]["verdicts"] for p in papers), strict=True)
    ]
    shown = [
        place
        for place, (verdict, total) in enumerate(zip(intervals.VERDICTS, totals, strict=True))
        if total or verdict not in (intervals.NOT_RUN, intervals.UNDECIDED, intervals.DEPENDS)
    ]
    heads = ["paper", "measured", *(intervals.VERDICTS[place] for place in shown)]
    heads += [judge.KINDS[kind] for kind in (judge.PROOF, judge.ARITHMETIC, judge.OURS)]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for paper in papers:
        found = paper["counted"]
        link = f"[{paper['key']}](figures/paper/{paper['key']}/REPORT.md)"
        row = [link, found["measured"], *(found["verdicts"][place] for place in shown)]
        row += [found[kind] for kind in (judge.PROOF, judge.ARITHMETIC, judge.OURS)]
        lines.append("| " + " | ".join(map(str, row)) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

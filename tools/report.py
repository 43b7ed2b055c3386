"""Judge the papers' claims from the tables of a profile and write the report, for the Makefile.

    report.py --profile quick    figures/quick/REPORT.md, figures/quick/REPORT.html
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
from anonpaper.papers import claims
from anonpaper.papers.catalogue import papers as known_papers

ROOT = project_root(Path(__file__).parent)
TEMPLATES = Path(__file__).parent / "templates"
MARKS = {
    name: (f"<!-- {name}: written by make PROFILE=paper report -->", f"<!-- end of {name} -->")
    for name in ("papers", "verdicts")
}
KINDS = {
    claims.REPRODUCED: "yes",
    claims.DIRECTION: "partly",
    claims.NOT_REPRODUCED: "no",
    claims.NOT_TESTABLE: "untestable",
    claims.NOT_RUN: "not-run",
}


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
    print(f"figures/{profile}/REPORT.md: {judged} claims of {len(papers)} papers judged")
    return 0


def judged_papers(results: Path) -> list[dict]:
    """Return each paper that has notebooks and claims, with its verdicts and its runs."""
    papers = []
    for key, about in known_papers().items():
        if not (ROOT / "notebooks" / key).is_dir():
            continue
        judged = claims.judge(key, results / key)
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
                "counts": counts(judged),
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


def counts(judged: pd.DataFrame) -> dict[str, int]:
    """Return the number of claims by verdict."""
    number = judged["verdict"].value_counts()
    return {verdict: int(number.get(verdict, 0)) for verdict in claims.VERDICTS}


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
    """Return the report as Markdown and as a page of HTML that needs no other file."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=lambda name: name.endswith(".html.jinja"),
    )
    environment.filters["cell"] = cell
    flag = "" if profile == "quick" else f"PROFILE={profile} "
    given = {
        "papers": papers,
        "profile": profile,
        "verdicts": claims.VERDICTS,
        "kinds": KINDS,
        "command": f"make {flag}",
    }
    return {
        name: environment.get_template(f"{name}.jinja").render(given)
        for name in ("REPORT.md", "REPORT.html")
    }


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
    for paper in papers:
        key, about = paper["key"], paper["about"]
        number = len(list((ROOT / "notebooks" / key).glob("*.ipynb")))
        lines.append(
            f"| **{key}** {about.citation} | {about.question} | [{number}](notebooks/{key}) |"
        )
    return "\n".join(lines)


def counted(papers: list[dict]) -> str:
    """Return the number of claims of each paper by verdict."""
    shown = [
        verdict
        for verdict in claims.VERDICTS
        if verdict != claims.NOT_RUN or any(paper["counts"][verdict] for paper in papers)
    ]
    lines = ["| paper | claims | " + " | ".join(shown) + " |", "|---" * (len(shown) + 2) + "|"]
    for paper in papers:
        numbers = [paper["counts"][verdict] for verdict in shown]
        link = f"[{paper['key']}](figures/paper/REPORT.md#{paper['key']})"
        lines.append("| " + " | ".join(map(str, [link, len(paper["claims"]), *numbers])) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

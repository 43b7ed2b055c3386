"""Judge the papers' claims from the tables of a profile and write the report, for the Makefile.

    report.py --profile quick    figures/quick/REPORT.md and .html, <paper>/REPORT.md and .html
    report.py --profile paper    the same in figures/paper, and the tables in README.md

Verdicts come from the saved tables alone; minutes and data from what each notebook noted of its
last run. A claim whose table is missing is listed as not run. What was judged is kept in the cache
as long as neither the tables nor any Python or TOML that judges them changes.
"""

import argparse
import hashlib
import json
import pickle
import re
import sys
from pathlib import Path

import jinja2
import pandas as pd

from anonpaper.compendium import intervals, judge
from anonpaper.compendium.catalogue import asked
from anonpaper.compendium.catalogue import papers as known_papers
from anonpaper.files import cache_folder, project_root, write_whole

ROOT = project_root(Path(__file__).parent)
TEMPLATES = Path(__file__).parent / "templates"
MARKS = {
    name: (f"<!-- {name}: written by make PROFILE=paper report -->", f"<!-- end of {name} -->")
    for name in ("papers", "verdicts")
}
#: Verdict -> what it means.
LEGEND = {
    intervals.REPRODUCED: "what was measured agrees with the paper within the tolerance.",
    intervals.DIRECTION: "it does not everywhere, or by another amount, but points the same way.",
    intervals.NOT_REPRODUCED: "it does not; a reason that is given was put to a test.",
    intervals.UNDECIDED: "the confidence interval over seeds holds both that it agrees and that "
    "it does not.",
    intervals.DEPENDS: "the paper's text can be read in several ways, and they do not agree.",
    intervals.NOT_TESTABLE: "data, details, a program or a machine that only the authors have "
    "would be needed.",
    intervals.NOT_RUN: "a table is missing; the command of the paper makes it.",
}
#: Verdict -> its class in the page's style.
CLASSES = dict.fromkeys((intervals.REPRODUCED, judge.HOLDS), "yes")
CLASSES |= dict.fromkeys((intervals.DIRECTION, judge.PARTLY), "partly")
CLASSES |= dict.fromkeys((intervals.NOT_REPRODUCED, judge.FAILS), "no")
CLASSES |= dict.fromkeys((intervals.UNDECIDED, intervals.DEPENDS), "undecided")
CLASSES |= {intervals.NOT_TESTABLE: "untestable", intervals.NOT_RUN: "not-run"}
#: What a card shows: its name there -> the column of the judge.
SHOWN = {"in the paper": "where"}
SHOWN |= {name: name for name in ("published", "measured", "interval", "tolerance", "spread")}
SHOWN |= {"in detail": "detail", "what differs": "differs", "why": "reason"}
OTHERS = (judge.PROOF, judge.ARITHMETIC, judge.OURS)
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


def judged(key: str, results: Path) -> pd.DataFrame:
    """Return the verdicts on the claims of a paper, from the cache if nothing has changed."""
    package, root = Path(judge.__file__).parents[1], Path(judge.notebooks_folder()).parent
    places = [(package, "**/*.py"), (root / "notebooks", "*/**/*.py"), (root / "data", "*/*.csv")]
    places += [(root / "notebooks" / key, "claims.toml"), (results / key, "*.csv")]
    digest = hashlib.sha256(repr((key, pd.__version__)).encode())
    for folder, pattern in places:
        for file in sorted(folder.glob(pattern)):
            digest.update(f"{file.relative_to(folder)}\0".encode() + file.read_bytes() + b"\0")
    place = cache_folder() / "judged" / f"{key}-{digest.hexdigest()[:32]}.pickle"
    if not place.exists():
        write_whole(place, pickle.dumps(judge.judge(key, results / key)))
    return pickle.loads(place.read_bytes())


def judged_papers(results: Path) -> list[dict]:
    """Return what has notebooks and claims, with its verdicts and its runs: papers come first."""
    papers = []
    for key, about in {**known_papers(), **asked()}.items():
        if not (ROOT / "notebooks" / key).is_dir():
            continue
        claims = judged(key, results)
        notebooks = [
            run_of(key, name, results) | {"claims": part.to_dict("records")}
            for name, part in claims.groupby("notebook", sort=False)
        ]
        by_kind = {kind: claims[claims["kind"] == kind] for kind in judge.KINDS}
        papers.append(
            {
                "key": key,
                "about": about,
                "claims": claims,
                "by_kind": {kind: part.to_dict("records") for kind, part in by_kind.items()},
                "counted": counts({kind: part["verdict"] for kind, part in by_kind.items()}),
                "minutes": minutes(sum(notebook["seconds"] for notebook in notebooks)),
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
    columns = ["paper", "id", "verdict"]
    table = pd.concat([pd.DataFrame(columns=columns), *(p["claims"][columns] for p in papers)])
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


def counts(verdicts: dict[str, pd.Series]) -> dict[str, object]:
    """Return the number of measured claims by verdict, and how many of the other kinds hold."""
    counted = {kind: held(verdicts[kind]) if len(verdicts[kind]) else NOTHING for kind in OTHERS}
    measured = verdicts[judge.MEASURED]
    number = measured.value_counts().reindex(intervals.VERDICTS, fill_value=0)
    by_verdict = number.tolist() if len(measured) else [NOTHING] * len(number)
    return counted | {"measured": len(measured) or NOTHING, "verdicts": by_verdict}


def rows_of(claim: dict) -> list[tuple[str, str]]:
    """Return what a card says of a claim: names and texts; what we ask is not in the paper."""
    rows = [(name, claim[key]) for name, key in SHOWN.items() if claim[key]]
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
        "legend": LEGEND.items(),
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
    found = {paper["key"]: paper["counted"] for paper in papers}
    table = pd.DataFrame({key: one["verdicts"] for key, one in found.items()}, intervals.VERDICTS)
    rare = (intervals.NOT_RUN, intervals.UNDECIDED, intervals.DEPENDS)
    table = table[[name not in rare or row.isin([0, NOTHING]).sum() < len(row)
                   for name, row in table.iterrows()]]  # fmt: skip
    heads = ["paper", "measured", *table.index, *(judge.KINDS[kind] for kind in OTHERS)]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for key, one in found.items():
        row = [f"[{key}](figures/paper/{key}/REPORT.md)", one["measured"], *table[key]]
        lines.append("| " + " | ".join(map(str, row + [one[kind] for kind in OTHERS])) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

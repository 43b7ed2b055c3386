"""Judge the papers' claims from the tables of a profile and write the report, for the Makefile.

    report.py --profile quick    figures/quick/REPORT.md and .html, <paper>/REPORT.md and .html
    report.py --profile paper    the same in figures/paper, and two parts of README.md

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
import tomllib
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
    for name in ("findings", "papers")
}
TEXTS = tomllib.loads((TEMPLATES / "report.toml").read_text(encoding="utf-8"))
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
    write_whole(results / "verdicts.csv", verdicts(papers))
    readme = ROOT / "README.md"
    if profile == "paper" and readme.exists():
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
    keys = {**known_papers(), **asked()}
    there = {key: about for key, about in keys.items() if (ROOT / "notebooks" / key).is_dir()}
    return [judged_paper(key, about, results) for key, about in there.items()]


def judged_paper(key: str, about: object, results: Path) -> dict:
    """Return what the templates say of a paper."""
    claims = judged(key, results)
    runs = {name: run_of(key, name, results) for name in claims["notebook"].unique()}
    claims["seeds to decide"] = [claim[1] if claim else "" for claim in claims["needed"]]
    claims["to decide"] = [
        to_decide(*claim["needed"], runs[claim["notebook"]]["seconds"])
        if claim["needed"]
        else "more draws; the saved tables do not tell how many"
        if claim["verdict"] == intervals.UNDECIDED
        else ""
        for claim in claims.to_dict("records")
    ]
    notebooks = [
        runs[name] | {"claims": part.to_dict("records")}
        for name, part in claims.groupby("notebook", sort=False)
    ]
    by_kind = {kind: claims[claims["kind"] == kind] for kind in judge.KINDS}
    return {
        "key": key,
        "about": about,
        "claims": claims,
        "by_kind": {kind: part.to_dict("records") for kind, part in by_kind.items()},
        "counted": counts({kind: part["verdict"] for kind, part in by_kind.items()}),
        "minutes": minutes(sum(notebook["seconds"] for notebook in notebooks)),
        "trained": training(results / key),
        "notebooks": notebooks,
        "files": len(list((ROOT / "notebooks" / key).glob("*.ipynb"))),
    }


def to_decide(draws: int, needed: float, unit: str, seconds: float) -> str:
    """Return in words what would decide an undecided claim, and how long that takes."""
    if needed > intervals.MANY:
        return f"more than {intervals.MANY:,} {unit}: no affordable number (there are {draws:,})"
    took = minutes(seconds * needed / draws)
    told = f"about {needed:,} {unit} in place of {draws:,}, with a probability of 90 %"
    return told + (f"; about {took} minutes by the time of the notebook" if took else "")


def write_verdicts(results: Path) -> None:
    """Write the verdicts on all claims of the papers that are there to verdicts.csv."""
    write_whole(results / "verdicts.csv", verdicts(judged_papers(results)))


def verdicts(papers: list[dict]) -> str:
    """Return the verdict on each claim as csv."""
    columns = ["paper", "id", "verdict", "robust", "seeds to decide"]
    table = pd.concat([pd.DataFrame(columns=columns), *(p["claims"][columns] for p in papers)])
    return table.to_csv(index=False, lineterminator="\n")


def training(folder: Path) -> str:
    """Return the minutes that models took to train, which a later run finds in the cache."""
    table = folder / "training.csv"
    return minutes(pd.read_csv(table)["seconds"].sum()) if table.exists() else ""


def counts(verdicts: dict[str, pd.Series]) -> dict[str, object]:
    """Return the number of measured claims by verdict, and how many of the other kinds hold."""
    measured = verdicts[judge.MEASURED]
    number = measured.value_counts()
    return {kind: held(verdicts[kind]) for kind in OTHERS} | {
        "measured": len(measured) or NOTHING,
        "verdicts": {
            verdict: int(number.get(verdict, 0)) if len(measured) else NOTHING
            for verdict in intervals.VERDICTS
        },
    }


def held(verdicts: pd.Series) -> str:
    """Return in words how many claims hold, and how many nobody has run."""
    told = f"{(verdicts == judge.HOLDS).sum()} of {len(verdicts)} hold"
    missing = (verdicts == intervals.NOT_RUN).sum()
    told += f", {missing} not run" if missing else ""
    return told if len(verdicts) else NOTHING


def run_of(paper: str, notebook: str, results: Path) -> dict:
    """Return what a notebook noted of its last run: how long it took and on what data."""
    share = results / "manifest" / paper / f"{notebook}.json"
    noted = json.loads(share.read_text()) if share.exists() else {"seconds": 0, "outputs": {}}
    seconds, data = noted["seconds"], data_of(noted["outputs"])
    return {"name": notebook, "seconds": seconds, "minutes": minutes(seconds), "data": data}


def minutes(seconds: float) -> str:
    """Return seconds as minutes with one decimal, at least 0.1; nothing of nothing."""
    return f"{max(seconds / 60, 0.1):.1f}" if seconds else ""


def data_of(outputs: dict[str, dict]) -> list[str]:
    """Return the tables of people that outputs were made from, each once, with their rows."""
    said = {}
    for data in (data for about in outputs.values() for data in about["data"]):
        text = f"{data['origin'] or 'an example of the notebook'}, {data['rows']:,} rows"
        text += " (stand-in data)" if data.get("stand_in") else ""
        said[re.sub(r", sha256 [^)]*", "", text).replace("; ", ", ")] = None
    return [*said]


def templates(profile: str) -> jinja2.Environment:
    """Return the templates, with what all of them name."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=lambda name: name.endswith(".html.jinja"),
    )
    command = "make " if profile == "quick" else f"make PROFILE={profile} "
    found.filters["cell"] = cell
    found.globals |= {"verdicts": intervals.VERDICTS, "kinds": judge.KINDS, **TEXTS}
    found.globals |= {"profile": profile, "command": command}
    return found


def reports(papers: list[dict], profile: str) -> dict[str, str]:
    """Return the report, a summary and a page per paper, in Markdown and HTML, by file.

    The pages of HTML need no other file.
    """
    found, written = templates(profile), {}
    for ending in ("md", "html"):
        summary = found.get_template(f"REPORT.{ending}.jinja")
        written[f"REPORT.{ending}"] = summary.render(papers=papers)
        page = found.get_template(f"PAPER.{ending}.jinja")
        for paper in papers:
            written[f"{paper['key']}/REPORT.{ending}"] = page.render(paper=paper)
    return written


def saved(name: str) -> pd.DataFrame | None:
    """Return a table of figures/paper, or None where its notebook was taken out."""
    file = ROOT / "figures" / "paper" / f"{name}.csv"
    return pd.read_csv(file) if file.exists() else None


def cell(text: str) -> str:
    """Return text as it stands in a cell of a Markdown table."""
    return re.sub(r"([|<*])", r"\\\1", text)


def with_tables(readme: str, papers: list[dict]) -> str:
    """Return the README with our findings and the table of the papers, between marks."""
    parts = templates("paper").get_template("README.md.jinja").module
    own = [paper for paper in papers if paper["key"] in known_papers()]
    written = {"findings": parts.findings(saved), "papers": parts.papers(own)}
    for name, table in written.items():
        before, found, rest = readme.partition(MARKS[name][0])
        _, ended, after = rest.partition(MARKS[name][1])
        if not (found and ended):
            raise SystemExit(f"README.md lacks the lines {' and '.join(MARKS[name])}")
        readme = f"{before}{found}\n\n{table.strip()}\n\n{ended}{after}"
    return readme


if __name__ == "__main__":
    sys.exit(main())

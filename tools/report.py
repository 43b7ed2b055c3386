"""Judge the papers' claims from the tables in figures/paper and write the report.

Written are REPORT.md and .html, the same for each paper, verdicts.csv and two parts of README.md.

Verdicts come from the saved tables alone. Minutes and data come from each notebook's note of its
last run. A claim whose table is missing is listed as not run. Verdicts are kept in the cache
as long as neither the tables nor any Python or TOML that judges them changes: a paper's own, for
what goes beyond papers that of all.
"""

import hashlib
import json
import pickle
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from posixpath import normpath

import jinja2
import mistune
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
OTHERS = tuple(kind for kind in judge.KINDS if kind != judge.MEASURED)
TRIVIAL = (judge.PROOF, judge.ARITHMETIC, judge.SOFTWARE)  # folded, unless they fail
NOTHING = "-"  # where there is no such claim
NOT_YET = "not run yet at this size"
_NUMBER = r"(-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]\d+)?)"
WIDE = re.compile(rf"(x )?{_NUMBER} to (?:x )?{_NUMBER}( points| %)?")


def main() -> int:
    """Write the report and return the exit code."""
    results = ROOT / "figures" / "paper"
    papers = judged_papers(results)
    for name, text in reports(papers).items():
        write_whole(results / name, text)
    write_whole(results / "verdicts.csv", verdicts(papers))
    readme = ROOT / "README.md"
    if readme.exists():
        write_whole(readme, with_tables(readme.read_text(), papers))
    judged = sum(len(paper["claims"]) for paper in papers)
    number = len({paper["key"] for paper in papers}.intersection(known_papers()))
    print(f"figures/paper/REPORT.md: {judged} claims of {number} papers judged, ours included")
    return 0


def judged(key: str, results: Path) -> pd.DataFrame:
    """Return the verdicts on the claims of a paper, from the cache if nothing has changed."""
    package, root = Path(judge.__file__).parents[1], Path(judge.notebooks_folder()).parent
    folder, tables = ("*", "*") if key in asked() else (key, f"{key}_*")  # papers use no other's
    places = [(package, "**/*.py"), (root / "notebooks", f"{folder}/**/*.py")]
    places += [(root / "data/reference", f"{tables}.csv")]
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
    claims["interval"] = [plain(str(interval)) for interval in claims["interval"]]
    runs = {name: run_of(key, name, results) for name in claims["notebook"].unique()}
    claims["seeds to decide"] = [claim[1] if claim else "" for claim in claims["needed"]]
    costs = [
        to_decide(*needed, run_of(*drawn_by.split("/"), results)["seconds"], drawn_by)
        if needed
        else ("", 0)
        for needed, drawn_by in zip(claims["needed"], claims["drawn by"], strict=True)
    ]
    claims[["to decide", "minutes to decide"]] = pd.DataFrame(costs, claims.index, range(2))
    by_kind = {kind: claims[claims["kind"] == kind] for kind in judge.KINDS}
    all_claims = claims.to_dict("records")
    return {
        "key": key,
        "about": about,
        "asked": key in asked(),
        "claims": claims,
        "groups": grouped(all_claims, key in asked()),
        "counted": counts({kind: part["verdict"] for kind, part in by_kind.items()}),
        "minutes": minutes(sum(run["seconds"] for run in runs.values())),
        "trained": training(results / key),
        "notebooks": [*runs.values()],
        "files": len(list((ROOT / "notebooks" / key).glob("*.ipynb"))),
    }


def grouped(claims: list[dict], asked: bool) -> list[tuple[str, list[dict]]]:
    """Return claims under headings: contradictions first; what holds by itself last, unnamed."""
    claims = sorted(claims, key=lambda claim: claim["kind"] != judge.MEASURED)
    folded = [c for c in claims if c["kind"] in TRIVIAL and shade(c) == "yes"]
    own = [] if asked else [claim for claim in claims if claim["kind"] == judge.OURS]
    rest = [claim for claim in claims if claim not in folded + own]
    headings = TEXTS["groups_of_ours" if asked else "groups"]
    found = [(told, [c for c in rest if shade(c) == name]) for name, told in headings.items()]
    own.sort(key=lambda claim: [*headings].index(shade(claim)))
    return [(told, part) for told, part in (*found, ("Our questions", own), ("", folded)) if part]


def shade(claim: dict) -> str:
    """Return the class of the verdict on a claim."""
    return TEXTS["classes"][claim["verdict"]]


def tally(claims: list[dict]) -> list[tuple[str, int, str]]:
    """Return the verdicts that claims have: class, how many, and both in words."""
    counted = Counter(claim["verdict"] for claim in claims)
    many = {judge.HOLDS: "hold", judge.PARTLY: "hold in part", judge.FAILS: "do not hold"}
    found = [(shade, counted[verdict], verdict) for verdict, shade in TEXTS["classes"].items()]
    return [(shade, n, f"{n} {many.get(v, v) if n > 1 else v}") for shade, n, v in found if n]


def in_short(claims: list[dict]) -> str:
    """Return how many claims have which verdict, in one line."""
    if len(claims) < 2:
        return f"1 claim: {claims[0]['verdict']}." if claims else "No claim depends on it."
    computed = [claim for claim in claims if claim["kind"] in (judge.PROOF, judge.ARITHMETIC)]
    parts = [claim for claim in claims if claim not in computed], computed
    told = [", ".join(words for *_, words in tally(part)) for part in parts if part]
    kinds = " and ".join(dict.fromkeys(claim["kind"] for claim in computed))
    return f"{len(claims)} claims: {f'; by {kinds}: '.join(told)}."


def plain(interval: str) -> str:
    """Return intervals in words where one says nothing: it is wider than its quantity can be."""

    def told(found: re.Match) -> str:
        low, high = (float(found[n].replace(",", "")) for n in (2, 3))
        nothing = low < 1 < high and high > 1000 * low if found[1] else low < -100 < 100 < high
        unknown = nothing and (found[1] or found[4])
        return "undecided, the interval is wider than the range" if unknown else found[0]

    return WIDE.sub(told, interval)


def to_decide(
    draws: int, needed: float, unit: str, seconds: float, notebook: str
) -> tuple[str, float]:
    """Return what would decide an undecided claim, in words, and the minutes that it takes."""
    more, number = ("about", needed) if needed <= intervals.MANY else ("more than", intervals.MANY)
    took = seconds / 60 * number / draws
    told = f"{more} {number:,} {unit} in place of {draws:,}, with a probability of 90 %"
    above = f", above the budget of {intervals.BUDGET}" if took > intervals.BUDGET else ""
    return told + f"; {more} {took:,.1f} minutes of {notebook}{above}" * (took > 0), took


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
        "measured": len(measured),
        "verdicts": {verdict: int(number.get(verdict, 0)) for verdict in intervals.VERDICTS},
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
    told = {"name": notebook, "seconds": seconds, "minutes": minutes(seconds), "data": data}
    return told | {"state": "" if share.exists() else NOT_YET}


def minutes(seconds: float) -> str:
    """Return seconds as minutes with one decimal, at least 0.1; nothing of nothing."""
    return f"{max(seconds / 60, 0.1):.1f}" if seconds else ""


def data_of(outputs: dict[str, dict]) -> list[str]:
    """Return the tables of people that outputs were made from, each once, with their rows."""
    said = {}
    for data in (data for about in outputs.values() for data in about["data"]):
        text = f"{data['origin'] or 'an example of the notebook'}, {data['rows']:,} rows"
        text += " (stand-in data)" if data.get("stand_in") else ""
        text = re.sub(r", sha256 [^)]*", "", text).replace("; stands for", "; in place of")
        said[text.replace("; ", ", ")] = None
    return [*said]


def templates(folder: Path = TEMPLATES) -> jinja2.Environment:
    """Return the templates of a folder, with what all of them name."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    found.filters |= {"cell": cell, "in_short": in_short, "line": one_line}
    found.globals |= {"verdicts": intervals.VERDICTS, "kinds": judge.KINDS, **TEXTS}
    found.globals |= {"others": OTHERS, "budget": intervals.BUDGET}
    return found


def reports(papers: list[dict]) -> dict[str, str]:
    """Return the report, a summary and a page per paper, in Markdown and HTML, by file."""
    found = templates()
    page = found.get_template("PAPER.md.jinja")
    written = {"REPORT.md": found.get_template("REPORT.md.jinja").render(papers=papers)}
    written |= {f"{paper['key']}/REPORT.md": page.render(paper=paper) for paper in papers}
    return written | {f"{Path(n).with_suffix('.html')}": html(t) for n, t in written.items()}


def html(text: str) -> str:
    """Return a report in Markdown as a page of HTML that needs no other file."""
    body = mistune.create_markdown(escape=False, plugins=["table"])(text)
    body = body.replace("REPORT.md", "REPORT.html")
    for verdict, shade in TEXTS["classes"].items():
        badge = f'<span class="badge {shade}">{verdict}</span>'
        body = body.replace(f"<strong>{verdict}</strong>", badge)
    title = re.sub(r"<[^>]+>|[#\\]", "", text.partition("\n")[0]).strip()
    page = (TEMPLATES / "REPORT.html").read_text(encoding="utf-8")
    return page.replace("<!-- title -->", title).replace("<!-- body -->", body)


def findings() -> list[tuple[str, str, str]]:
    """Return what we found: headlines, answers as the notebook printed them, who measured them."""
    file = ROOT / "notebooks" / "beyond" / "0_what_we_found.ipynb"
    cells = json.loads(file.read_text("utf-8"))["cells"] if file.exists() else []
    parts = [part for cell in cells for part in (
        [cell["source"]] if cell["cell_type"] == "markdown"
        else [output.get("data", {}).get("text/markdown", "") for output in cell["outputs"]]
    )]  # fmt: skip
    text = "\n".join("".join(part) for part in parts)
    section = r"^## \d+\. (.*?)\n.*?^\*\*(.+?)\*\*$.*?Measured by \[\w+\]\((.*?)\.ipynb\)"
    found = re.findall(section, text, re.MULTILINE | re.DOTALL)
    return [(headline, told, normpath(f"beyond/{name}")) for headline, told, name in found]


def one_line(text: object) -> str:
    """Return text without line breaks, for HTML within Markdown."""
    return " ".join(str(text).split())


def cell(text: str) -> str:
    """Return text as it stands in a cell of a Markdown table."""
    return re.sub(r"([|<*])", r"\\\1", text)


def with_tables(readme: str, papers: list[dict]) -> str:
    """Return the README with our findings and the table of the papers, between marks."""
    parts = templates().get_template("README.md.jinja").module
    own = [paper for paper in papers if paper["key"] in known_papers()]
    written = {"findings": parts.findings(findings()), "papers": parts.papers(own)}
    for name, table in written.items():
        before, found, rest = readme.partition(MARKS[name][0])
        _, ended, after = rest.partition(MARKS[name][1])
        if not (found and ended):
            raise SystemExit(f"README.md lacks the lines {' and '.join(MARKS[name])}")
        readme = f"{before}{found}\n\n{table.strip()}\n\n{ended}{after}"
    return readme


if __name__ == "__main__":
    sys.exit(main())

"""Write what is reproduced, as the papers' claims judge the tables in figures/paper.

figures/<paper>.md has a row for each claim, figures/README.md one for each place of all papers.
README.md has the papers with their verdicts, and what we found beyond them.
"""

import re
import sys
from collections import Counter
from pathlib import Path
from posixpath import normpath

import inputs
import jinja2
import nbformat

from anonpaper.compendium import claims, papers
from anonpaper.compendium.tables import made_by, manifest
from anonpaper.files import write_whole

PAPER = inputs.FIGURES / "paper"


def main() -> int:
    """Write the pages and return the exit code."""
    for file, text in pages().items():
        write_whole(inputs.ROOT / file, text)
    print(f"figures/README.md: {len(papers())} papers judged")
    return 0


def pages() -> dict[str, str]:
    """Return the text of each page by its file."""
    found, judged = templates(Path(__file__).parent / "templates"), [*map(judged_paper, papers())]
    page, parts = found.get_template("PAPER.md.jinja"), found.get_template("FIGURES.md.jinja")
    written = {f"figures/{paper['key']}.md": page.render(paper) for paper in judged}
    tables = found.get_template("README.md.jinja").module
    readme = (inputs.ROOT / "README.md").read_text(encoding="utf-8")
    readme = between(readme, "findings", tables.findings(findings()).strip())
    readme = between(readme, "papers", tables.papers(judged).strip())
    return written | {"figures/README.md": parts.render(papers=judged), "README.md": readme}


def templates(folder: Path) -> jinja2.Environment:
    """Return the templates of a folder, with what they share."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    found.filters |= {"cell": cell, "counted": counted, "told": told, "worst": worst}
    return found


def judged_paper(key: str) -> dict:
    """Return what the templates say of a paper: its claims as rows, in order and by place."""
    outputs = [one for share in manifest(PAPER).values() for one in share["outputs"].items()]
    own = [(about["of"], path) for path, about in outputs if re.match(rf"{key}/.*\.png", path)]
    pictures = dict(reversed(own))  # the first one of several
    rows, places = [], {}
    for claim, found in claims.judged(key, PAPER / key):
        table = f"{key}/{claim.tables[0]}"
        same = f"{key}/{'_'.join(claim.where.lower().split())}.png"  # figure_4a.png
        shown = [same, pictures.get(claim.where, ""), f"{table}.png", f"{table}.csv"]
        shown = f"paper/{next((path for path in shown if (PAPER / path).is_file()), shown[-1])}"
        rows.append({"claim": claim, "found": found, "notebook": made_by(table), "shown": shown})
        places.setdefault(claim.where, []).append(rows[-1])
    about = {"key": key, "about": papers()[key], "differs": claims.about(key).partition("\n\n")[2]}
    number = len(list((inputs.NOTEBOOKS / key).glob("*.ipynb")))
    return about | {"rows": rows, "places": places, "notebooks": number}


def counted(rows: list[dict]) -> str:
    """Return how many rows have each verdict, the best first: "3 reproduced, 1 in part"."""
    number = Counter(row["found"].verdict for row in rows)
    return ", ".join(f"{number[v]} {v}" for v in reversed(claims.VERDICTS) if number[v])


def worst(rows: list[dict]) -> dict:
    """Return the row with the worst verdict."""
    return min(rows, key=lambda row: claims.VERDICTS.index(row["found"].verdict))


def told(row: dict, room: int = 10**6) -> str:
    """Return what was measured, and why a claim is not reproduced; only why if room is short."""
    found = row["found"]
    counts = re.match(r"(supported )?at \d|true in|\d+ of \d+ published", found.why)
    why = "" if found.verdict == claims.REPRODUCED or counts else found.why
    both = "; ".join(filter(None, (found.measured, why)))
    return why or both if len(both) > room else both


def cell(text: str) -> str:
    """Return text as it stands in Markdown, also in a cell of a table."""
    return re.sub(r"([|<*\[\]])", r"\\\1", " ".join(text.split()))


def findings() -> list[tuple[str, str, str]]:
    """Return what we found: headlines, answers as the notebook printed them, who measured them."""
    texts = []
    for cell in nbformat.read(inputs.NOTEBOOKS / "beyond" / "0_what_we_found.ipynb", 4).cells:
        shown = [one.get("data", {}).get("text/markdown", "") for one in cell.get("outputs", ())]
        texts += [cell.source] if cell.cell_type == "markdown" else shown
    section = r"^## \d+\. (.*?)\n.*?^\*\*(.+?)\*\*$.*?Measured by \[\w+\]\((.*?)\.ipynb\)"
    found = re.findall(section, "\n".join(texts), re.MULTILINE | re.DOTALL)
    return [(headline, told, normpath(f"beyond/{name}")) for headline, told, name in found]


def between(text: str, name: str, table: str) -> str:
    """Return a text with a table between the comments that name it."""
    pattern = rf"(<!-- {name}: [^>]* -->\n).*?(\n<!-- end of {name} -->)"
    return re.sub(pattern, lambda found: f"{found[1]}\n{table}\n{found[2]}", text, flags=re.DOTALL)


if __name__ == "__main__":
    sys.exit(main())

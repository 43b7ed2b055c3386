"""Write the site: notebooks, lessons, papers and guides, to read without a network.

    site.py [FOLDER]    -> FOLDER/index.html, by default in build/site

Lessons are shown as students get them, and results are those of the paper edition. Pages made from
site/pages are staged beside files of the project. Sphinx makes HTML from them, and site/conf.py
leads links to pages. The folder of the site is replaced as a whole.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import report
from inputs import FIGURES, NOTEBOOKS, ROOT, for_pages
from markdown_it import MarkdownIt

from anonpaper.compendium import papers
from anonpaper.files import write_whole

PAPER = FIGURES / "paper"
CONFIGURATION = ROOT / "site"
THEATRE = CONFIGURATION / "theatre"
sys.path.append(str(THEATRE))
import scenes  # noqa: E402, needs the modules beside notebooks

TEXTS = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "data/README.md"]
TEXTS += ["figures/theatre.webp"]  # at the top of the README
#: Lesson -> the page of the theatre that shows what it teaches.
WATCHED = {
    "course/2_k_anonymity": "dewri2009",
    "course/3_l_diversity": "xiao2010",
    "course/4_four_ways_to_publish": "boger2020",
    "course/7_diversity_and_fairness": "diva2021",
}
LIVE_SOURCES = CONFIGURATION / "live"
LIVE = ROOT / "build" / "live" / "index.html"  # made by `make live`; it names its other files
#: What the README says how to make is there, on the site; the last two where LIVE is.
THERE = {
    r"theatre: `make site`, then open `build/site/([\w/.]+)`,": r'<a href="\1">theatre</a>:',
    r" `make site` writes such a page for each paper\.": "",
    r"`make live` \((.*?)\)": r'<a href="live/index.html">\1</a>',
    r"\[Try your table\]\(.*?\)": '<a href="live/index.html">Try your table</a>',
}


def main(target: Path = ROOT / "build" / "site") -> int:
    """Write the site and return the exit code."""
    target.parent.mkdir(parents=True, exist_ok=True)
    package = [*(ROOT / "anonpaper").rglob("*.py"), *LIVE_SOURCES.glob("*")]
    if LIVE.exists() and LIVE.stat().st_mtime < max(file.stat().st_mtime for file in package):
        print("site: left out build/live, which is older than the package: run make live")
        shutil.rmtree(LIVE.parent)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".site-") as folder:
        source, html = Path(folder, "source"), Path(folder, "html")
        stage(source)
        sphinx = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going"]
        sphinx += ["-c", CONFIGURATION, "-d", Path(folder, "doctrees"), source, html]
        path = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(sphinx, cwd=ROOT, capture_output=True, text=True, env=path)
        if done.returncode:
            print(done.stderr.replace(f"{source}/", ""), file=sys.stderr)
            return 1
        if LIVE.exists():
            shutil.copytree(LIVE.parent, html / "live")
            for page in html.glob("live/*.html"):  # made to lie beside the site
                page.write_text(page.read_text("utf-8").replace("../site/", "../"), "utf-8")
        write_theatre(html / "theatre")
        shutil.rmtree(target, ignore_errors=True)
        os.replace(html, target)
    print(f"site: open {os.path.relpath(target / 'index.html')}")
    return 0


def stage(source: Path) -> None:
    """Write all pages to the folder that Sphinx reads."""
    pages = report.templates(CONFIGURATION / "pages")

    def write(place: str, template: str, **values: object) -> None:
        write_whole(source / place, pages.get_template(template).render(values))

    own, files = {}, [*NOTEBOOKS.glob("*.ipynb"), *NOTEBOOKS.glob("*/*.ipynb")]
    names = [path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in files]
    for name in sorted(names, key=by_number):
        write_whole(source / f"notebooks/{name}.ipynb", json.dumps(shown(name)))
        own.setdefault(name.rpartition("/")[0], []).append(f"/notebooks/{name}")
    texts = [*map(ROOT.joinpath, TEXTS), *FIGURES.glob("*.md"), *CONFIGURATION.glob("*.md")]
    for file in (*texts, *PAPER.glob("*/*.png"), *PAPER.glob("*/*.csv")):
        if file.exists():
            write_whole(source / file.relative_to(ROOT), file.read_bytes())
    contents = pages.get_template("listing.md").module.contents
    lists = {key: own.get(key, []) for key in papers()}
    for key, listed in (lists | {"README": [f"/figures/{key}" for key in lists]}).items():
        with (source / f"figures/{key}.md").open("a", encoding="utf-8") as page:
            page.write("\n" + contents(listed))
    ours = [page for key in own.keys() - lists.keys() - {"course", ""} for page in own[key]]
    write("ours.md", "ours.md", pages=sorted(ours, key=by_number))
    lessons = [about_lesson(page.removeprefix("/notebooks/")) for page in own.get("course", [])]
    write("course.md", "course.md", pages=own.get("course", []), lessons=lessons)
    write("api/index.rst", "api.rst", modules=package_modules())
    found = [one for one in report.findings() if one[2] in names]
    watched = {key: scenes.TEXTS[key][0] for key in scenes.PLAYS}
    _, _, door = (ROOT / "README.md").read_text("utf-8").partition("# anonpaper\n")
    for said, link in [*THERE.items()][: len(THERE) if LIVE.exists() else 2]:
        door = re.sub(said, link, door.partition("## Two commands")[0])
    write("index.md", "index.md", findings=found, door=door, watched=watched)


def about_lesson(name: str) -> dict:
    """Return title, question, goals, minutes and the first picture of a lesson."""
    first, goals, *others = ["".join(cell["source"]) for cell in shown(name)["cells"]]
    title, *_, question = first.removeprefix("# ").strip().split("\n\n")
    told = {"name": name, "title": title, "question": question, "live": live_page(name)}
    told["goals"] = goals.partition("## Prerequisites")[0].partition("\n")[2]
    told["minutes"] = re.search(r"\*\*Time:\*\* (\d+) minutes", goals)[1]
    return told | {"picture": re.search(r"!\[.*?\]\(.*?\)", "\n".join(others))[0]}


def live_page(name: str) -> str:
    """Return the page on which a notebook runs, or an empty text."""
    page = f"{name.replace('/', '-')}.html"
    return page * (LIVE.parent / page).exists()


# ---- the theatre ------------------------------------------------------------------------------


def write_theatre(folder: Path) -> None:
    """Write a page for each paper, on which a reader watches its algorithm."""
    files = LIVE.with_name("theatre.json")
    assets = json.loads(files.read_text()) if files.exists() else []
    assets = [one | {"at": f"../live/{one['at']}"} for one in assets]
    size = f"{sum(one['bytes'] for one in assets) / 1e6:.0f}"
    names = {key: papers()[key].name for key in scenes.PLAYS}
    page = report.templates(CONFIGURATION).get_template("theatre/page.html")
    lessons, words = {key: name for name, key in WATCHED.items()}, glossary()
    for key in scenes.PLAYS:
        notebook = next(NOTEBOOKS.glob(f"{key}/1_*.ipynb")).relative_to(NOTEBOOKS).with_suffix("")
        lesson = lessons.get(key, "course/3_l_diversity")
        other = "|".join([*(names.keys() - {key}), "<code>ap"])  # is foreign to this page
        other += "|Mondrian" * ("method" not in scenes.PLAYS[key].parameters)
        told = [re.split(r"(?<=[.:]) (?=[A-Z])", word["text"]) for word in words]
        kept = [" ".join(one for one in text if not re.search(other, one)) for text in told]
        mine = [word | {"text": text} for word, text in zip(words, kept, strict=True) if text]
        ids = {name: word["id"] for word in mine for name in word["names"]}
        longest = sorted(ids, key=len, reverse=True)
        given = {"ids": ids, "pattern": "|".join(f"{re.escape(one)}s?" for one in longest)}
        scene = scenes.as_json(key, words=given).replace("</", "<\\/")
        about = {"paper": key, "name": names[key], "texts": scenes.TEXTS[key]}
        about |= {"names": names, "scene": scene, "notebook": notebook, "lesson": lesson}
        number = int(re.search("[0-9]+", lesson)[0])
        earlier = next(NOTEBOOKS.glob(f"course/{number - 1}_*.ipynb")).stem
        about |= {"words": mine, "lesson_title": f"Lesson {number}"}
        about |= {"earlier": f"course/{earlier}", "earlier_title": f"lesson {number - 1}"}
        text = page.render(about, assets=json.dumps(assets), size=size)
        write_whole(folder / f"{key}.html", text)
    for file in (*THEATRE.glob("theatre.*"), LIVE_SOURCES / "load.js", LIVE_SOURCES / "base.css"):
        write_whole(folder / file.name, file.read_bytes())


def glossary() -> list[dict]:
    """Return the words that the theatre explains, as the glossary does."""
    found, section, markdown = [], "", MarkdownIt()
    text, _, _ = (CONFIGURATION / "glossary.md").read_text("utf-8").partition("## Checking papers")
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:].lower().replace(" ", "-")
        elif match := re.fullmatch(r"- \*\*(.+?)\*\*(?: \((.*?)\)|, .*?)?: (.*)", line):
            told = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", match[3])
            names = [match[1].replace("\\", ""), *(match[2] or "").split(", ")]
            names += [f"{name[0].upper()}{name[1:]}" for name in names if len(name) > 1]
            found.append({"id": f"word-{len(found)}", "name": names[0], "section": section})
            found[-1] |= {"names": [*filter(None, names)], "text": markdown.renderInline(told)}
    return found


# ---- notebooks --------------------------------------------------------------------------------


def shown(name: str) -> dict:
    """Return a notebook as its page shows it: pictures in words, folded code, a link to run it."""
    content, heading = for_pages(name), ""
    if name.startswith("course/"):
        return with_link(content, name)
    for cell in content["cells"]:
        source, tags = "".join(cell["source"]), cell["metadata"].get("tags", [])
        heading = next(iter(re.findall(r"^#+ (.*)$", source, re.M)[::-1]), heading)
        if cell["cell_type"] != "code":
            heading = re.sub(r"[*`$\[\]]", "", heading)
            continue
        picture = {"alt": " ".join(captions(source)) or f"Picture to: {heading}"}
        folded = {"code_prompt_show": "code", "code_prompt_hide": "code"}
        cell["metadata"]["mystnb"] = {"image": picture, **folded}
        if "answer" in tags:
            cell["metadata"]["tags"] = [*tags, "remove-input"]
        elif "plumbing" in tags or source.startswith(("import ", "from ")):
            cell["metadata"]["tags"] = [*tags, "hide-input"]
    return with_link(content, name)


def captions(source: str) -> list[str]:
    """Return the literal captions of figures that the code of a cell saves."""
    literal = r'\.figure\((?:(?!caption=).)*caption=\(?((?:\s*"[^"\n]*")+)'
    found = [re.findall(r'"([^"\n]*)"', text) for text in re.findall(literal, source, re.S)]
    return [" ".join("".join(parts).split()) for parts in found]


def with_link(content: dict, name: str) -> dict:
    """Return a notebook with links below the title: to run it, and to watch its algorithm."""
    up, links = "../" * (name.count("/") + 1), []
    if live := live_page(name):
        links.append(f'<a class="run" href="{up}live/{live}">Run this page</a> in this browser: '
                     "nothing to install.")  # fmt: skip
    if (key := WATCHED.get(name, name.rpartition("/1_")[0])) in scenes.PLAYS:
        links.append(f'<a class="run" href="{up}theatre/{key}.html">Watch the algorithm</a> '
                     "decide, step by step.")  # fmt: skip
    first, *others = content["cells"]
    title, _, text = "".join(first["source"]).partition("\n")
    first = first | {"source": "\n".join([title, "", " ".join(links), text])}
    return content | {"cells": [first, *others]}


def by_number(name: str) -> list:
    """Return a key that puts lesson 10 after lesson 9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def package_modules() -> list[str]:
    """Return the modules whose names a user of the package calls."""
    stub = (ROOT / "anonpaper" / "__init__.pyi").read_text(encoding="utf-8")
    found = re.findall(r"^from \.(\S*) import (\w+)", stub, re.MULTILINE)
    modules = {f"anonpaper.{module or name}" for module, name in found} - {"anonpaper.compendium"}
    return sorted(
        name for name in modules if "__all__" in Path(find_spec(name).origin).read_text()
    )


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))

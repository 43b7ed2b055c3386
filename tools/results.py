"""Sum up what the notebooks of a profile left behind; `results.py` writes figures/README.md.

The manifest is merged from one file per notebook under a lock, so that makes running side by side
lose nothing. The README lists the notebooks with the functions that their grids call, the target
that makes them and the minutes that takes, and every figure and table with its notebook.
"""

import fcntl
import json
import re
from pathlib import Path

import pandas as pd
from inputs import FIGURES, ROOT, known_shares, reference

from anonpaper.files import write_whole

PROFILES = ("quick", "paper")
ABOUT = """\
# Figures and tables

Made by `make notebooks` and `make PROFILE=paper`; do not edit. `make paper-<name>` runs a paper's \
notebooks in the quick profile (into figures/quick), and with `PROFILE=paper` in the paper's own \
sizes (into figures/paper). The tables of notebooks name the functions that the notebook's grids \
call for every setting, and the minutes of a whole run on 2 cores. Every figure is made as svg and \
png with its numbers as csv, every table as csv and LaTeX; of figures/paper, csv and png are \
committed.
"""


def merge(results: Path, profile: str) -> None:
    """Write manifest.json and timings.csv of a profile, and drop what has no notebook any more."""
    (results / ".state").mkdir(parents=True, exist_ok=True)
    with (results / ".state" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        drop_orphans(results)
        shares = list(known_shares(results).values())
        outputs = {
            path: {**about, "notebook": share["notebook"], "parameters": share["parameters"]}
            for share in shares
            for path, about in share["outputs"].items()
        }
        keys = ("seconds", "fresh", "python", "packages")
        notebooks = {s["notebook"]: {key: s[key] for key in keys if key in s} for s in shares}
        manifest = {"profile": profile, "notebooks": notebooks, "outputs": outputs}
        manifest["outputs"] = dict(sorted(outputs.items()))
        write_whole(results / "manifest.json", json.dumps(manifest, indent=1) + "\n")
        rows = [(share["notebook"], share["seconds"]) for share in shares]
        write_csv(results / "timings.csv", pd.DataFrame(rows, columns=["notebook", "seconds"]))


def drop_orphans(results: Path) -> None:
    """Remove the results of notebooks that are gone or were renamed."""
    for name, share in known_shares(results).items():
        if not (ROOT / "notebooks" / f"{name}.ipynb").exists():
            for path in (*share["outputs"], f"notebooks/{name}.ipynb", f"manifest/{name}.json"):
                (results / path).unlink(missing_ok=True)


def write_readme() -> None:
    """Write figures/README.md, and figures/timings.csv with the minutes of both profiles."""
    outputs = {}
    for profile in PROFILES:  # of the paper profile where that made them
        manifest = FIGURES / profile / "manifest.json"
        noted = json.loads(manifest.read_text())["outputs"] if manifest.exists() else {}
        noted = {path: about for path, about in noted.items() if path.endswith((".svg", ".tex"))}
        outputs |= {path: {**about, "profile": profile} for path, about in noted.items()}
    times = minutes()
    write_csv(FIGURES / "timings.csv", times.reset_index())
    lines = [ABOUT.rstrip("\n")]
    for paper in sorted({Path(path).parts[0] for path in outputs}):
        ours = [item for item in outputs.items() if Path(item[0]).parts[0] == paper]
        lines += ["", f"## {paper}", "", *runs(paper, {a["notebook"] for _, a in ours}, times)]
        lines += ["", row("in the paper", "here", "notebook"), row(*["---"] * 3)]
        for path, about in sorted(ours, key=place_in_paper):
            name = Path(path).stem
            here = f"[{name}](paper/{kept(path)})" if about["profile"] == "paper" else name
            lines.append(row(each(about["of"]) or about["kind"], here, link(about["notebook"])))
    write_whole(FIGURES / "README.md", "\n".join(lines) + "\n")


def minutes() -> pd.DataFrame:
    """Return the minutes of each notebook in each profile: of the runs here, or as committed."""
    found = pd.DataFrame(columns=[*PROFILES], index=pd.Index([], name="notebook"))
    if (FIGURES / "timings.csv").exists():
        found = pd.read_csv(FIGURES / "timings.csv", dtype=str, index_col="notebook")
    for profile in PROFILES:
        if (file := FIGURES / profile / "timings.csv").exists():
            seconds = pd.read_csv(file, index_col="notebook")["seconds"]
            found = found.reindex(found.index.union(seconds.index).rename("notebook"))
            found.loc[seconds.index, profile] = [f"{max(s / 60, 0.1):.1f}" for s in seconds]
    return found[[(ROOT / name).exists() for name in found.index]].fillna("").sort_index()


def runs(paper: str, notebooks: set[str], times: pd.DataFrame) -> list[str]:
    """Return the table of a paper's notebooks: functions, target and minutes."""
    shown = [profile for profile in PROFILES if times[profile].any()]
    heads = ["notebook", "functions of its grids", "target", *(f"minutes, {p}" for p in shown)]
    functions = {
        share["notebook"]: share.get("functions", [])
        for profile in PROFILES
        for share in known_shares(reference(profile)).values()
    }
    lines = [row(*heads), row(*["---"] * len(heads))]
    for name in sorted(notebooks):
        called = ", ".join(map(link, functions.get(name, [])))
        took = [times[profile].get(name, "") for profile in shown]
        lines.append(row(link(name), called or "no grid", f"`make paper-{paper}`", *took))
    return lines


def kept(path: str) -> str:
    """Return what is committed of a figure or table: its picture, or its rows."""
    return Path(path).with_suffix(".png" if path.endswith(".svg") else ".csv").as_posix()


def row(*cells: str) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def link(place: str) -> str:
    """Return a link to a notebook, or to the file of a function: <file>:<name>."""
    file, _, name = place.partition(":")
    return f"[{name or Path(file).stem}](../{file})"


def each(of: str) -> str:
    """Return "Tables 6 to 8" as "Table 6, Table 7, Table 8", to be found by each of them."""

    def listed(found: re.Match) -> str:
        return ", ".join(f"{found[1]} {n}" for n in range(int(found[2]), int(found[3]) + 1))

    return re.sub(r"(\w+)s (\d+) to (\d+)", listed, of)


def place_in_paper(item: tuple[str, dict]) -> tuple:
    """Return a key that puts figures and tables in the order of the paper, our own after them."""
    path, about = item
    parts = re.findall(r"\d+|\D+", about["of"])
    numbered = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]
    return (not about["of"], numbered, path)


def write_csv(path: Path, frame: pd.DataFrame) -> None:
    """Write a table as csv."""
    write_whole(path, frame.to_csv(index=False, lineterminator="\n"))


if __name__ == "__main__":
    write_readme()

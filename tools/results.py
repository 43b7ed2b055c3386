"""Sum up what the notebooks of a profile left behind; `results.py` writes figures/README.md.

The manifest is merged from one file per notebook under a lock, so that makes running side by side
lose nothing. The README lists the notebooks with the functions that their grids call, the target
that makes them and the minutes that takes, and every figure and table with its notebook.
"""

import fcntl
import json
import re
from pathlib import Path

import inputs
import jinja2
import pandas as pd

from anonpaper.files import write_whole

PROFILES = ("quick", "paper")


def merge(results: Path, profile: str) -> None:
    """Write manifest.json and timings.csv of a profile, and drop what has no notebook any more."""
    (results / ".state").mkdir(parents=True, exist_ok=True)
    with (results / ".state" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        drop_orphans(results)
        shares = inputs.known_shares(results).values()
        keys = ("seconds", "fresh", "python", "packages")
        outputs = {
            path: {**about, "notebook": share["notebook"], "parameters": share["parameters"]}
            for share in shares
            for path, about in share["outputs"].items()
        }
        manifest = {
            "profile": profile,
            "notebooks": {s["notebook"]: {k: s[k] for k in keys if k in s} for s in shares},
            "outputs": dict(sorted(outputs.items())),
        }
        write_whole(results / "manifest.json", json.dumps(manifest, indent=1) + "\n")
        rows = [(share["notebook"], share["seconds"]) for share in shares]
        write_csv(results / "timings.csv", pd.DataFrame(rows, columns=["notebook", "seconds"]))


def drop_orphans(results: Path) -> None:
    """Remove the results of notebooks that are gone or were renamed."""
    for name, share in inputs.known_shares(results).items():
        if not (inputs.NOTEBOOKS / f"{name}.ipynb").exists():
            for path in (*share["outputs"], f"notebooks/{name}.ipynb", f"manifest/{name}.json"):
                (results / path).unlink(missing_ok=True)


def write_readme() -> None:
    """Write figures/README.md, and figures/timings.csv with the minutes of both profiles."""
    outputs, functions = {}, {}
    for profile in PROFILES:  # of the paper profile where that made them
        manifest = inputs.FIGURES / profile / "manifest.json"
        noted = json.loads(manifest.read_text())["outputs"] if manifest.exists() else {}
        outputs |= {path: about | {"profile": profile} for path, about in noted.items()}
        shares = inputs.known_shares(inputs.reference(profile)).values()
        functions |= {s["notebook"]: s["functions"] for s in shares if s.get("functions")}
    papers = {Path(path).parts[0]: [] for path in sorted(outputs)}
    for path, about in sorted(outputs.items(), key=place_in_paper):
        if path.endswith((".svg", ".tex")):
            papers[Path(path).parts[0]].append((path, about))
    times = minutes()
    write_csv(inputs.FIGURES / "timings.csv", times.reset_index())
    folder = Path(__file__).parent / "templates"
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"each": each, "kept": kept, "stem": lambda path: Path(path).stem}
    text = environment.get_template("FIGURES.md.jinja").render(
        papers=papers,
        functions=functions,
        minutes=times.to_dict("index"),
        shown=[profile for profile in PROFILES if times[profile].any()],
    )
    write_whole(inputs.FIGURES / "README.md", text.rstrip("\n") + "\n")


def minutes() -> pd.DataFrame:
    """Return the minutes of each notebook in each profile: of the runs here, or as committed."""
    found = pd.DataFrame(columns=PROFILES, index=pd.Index([], name="notebook"))
    if (file := inputs.FIGURES / "timings.csv").exists():
        found = pd.read_csv(file, dtype=str, index_col="notebook")
    for profile in PROFILES:
        if (file := inputs.FIGURES / profile / "timings.csv").exists():
            seconds = pd.read_csv(file, index_col="notebook")["seconds"]
            found = found.reindex(found.index.union(seconds.index).rename("notebook"))
            found.loc[seconds.index, profile] = [f"{max(s / 60, 0.1):.1f}" for s in seconds]
    there = [(inputs.ROOT / name).exists() for name in found.index]
    return found.loc[there].fillna("").sort_index()


def kept(path: str) -> str:
    """Return what is committed of a figure or table: its picture, or its rows."""
    return Path(path).with_suffix(".png" if path.endswith(".svg") else ".csv").as_posix()


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

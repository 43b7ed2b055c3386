"""Sum up what the notebooks of a profile left behind, for the Makefile.

    results.py merge --profile quick    figures/<profile>/manifest.json, timings.csv
    results.py readme                   figures/README.md, figures/timings.csv

The manifest is merged from one file per notebook under a lock, so that makes running side by side
lose nothing. The README lists every figure and table of the papers with the functions that compute
it, its notebook, the target that makes it and the minutes that takes, as far as they are known.
"""

import argparse
import csv
import fcntl
import io
import json
import re
import sys
from functools import cache
from pathlib import Path

from computed import functions_of, matching

from anonpaper.files import project_root, write_whole

ROOT = project_root(Path(__file__).parent)
FIGURES = ROOT / "figures"
PROFILES = ("quick", "paper")


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, do what it asks and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("merge").add_argument("--profile", default="quick")
    commands.add_parser("readme")
    options = parser.parse_args(arguments)
    if options.command == "merge":
        merge(FIGURES / options.profile, options.profile)
    else:
        write_readme()
    return 0


def merge(results: Path, profile: str) -> None:
    """Write manifest.json and timings.csv of a profile, and drop what has no notebook any more."""
    (results / ".state").mkdir(parents=True, exist_ok=True)
    with (results / ".state" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        drop_orphans(results)
        shares = [
            json.loads(path.read_text()) for path in sorted((results / "manifest").rglob("*.json"))
        ]
        manifest = json.dumps(merged(shares, profile), indent=1) + "\n"
        write_whole(results / "manifest.json", manifest)
        rows = [{"notebook": share["notebook"], "seconds": share["seconds"]} for share in shares]
        write_whole(results / "timings.csv", as_csv(rows, ["notebook", "seconds"]))


def merged(shares: list[dict], profile: str) -> dict:
    """Return one manifest of the notebooks' shares: each output with what it was made from."""
    outputs = {
        path: {**about, "notebook": share["notebook"], "parameters": share["parameters"]}
        for share in shares
        for path, about in share["outputs"].items()
    }
    notebooks = {
        share["notebook"]: {
            key: share[key] for key in ("seconds", "fresh", "python", "packages") if key in share
        }
        for share in shares
    }
    return {"profile": profile, "notebooks": notebooks, "outputs": dict(sorted(outputs.items()))}


def drop_orphans(results: Path) -> None:
    """Remove the results of notebooks that are gone or were renamed."""
    for path in (results / "manifest").rglob("*.json"):
        name = path.relative_to(results / "manifest").with_suffix(".ipynb")
        if not (ROOT / "notebooks" / name).exists():
            for output in json.loads(path.read_text())["outputs"]:
                (results / output).unlink(missing_ok=True)
            (results / "notebooks" / name).unlink(missing_ok=True)
            path.unlink()


def write_readme() -> None:
    """Write figures/README.md, and figures/timings.csv with the minutes of both profiles."""
    minutes = known_minutes()
    rows = [{"notebook": notebook, **times} for notebook, times in sorted(minutes.items())]
    write_whole(FIGURES / "timings.csv", as_csv(rows, ["notebook", *PROFILES]))
    write_whole(FIGURES / "README.md", readme(known_outputs(), minutes))


def known_outputs() -> dict[str, dict]:
    """Return all figures and tables, of the paper profile where that made them."""
    outputs = {}
    for profile in PROFILES:
        manifest = FIGURES / profile / "manifest.json"
        if manifest.exists():
            outputs |= {
                path: {**about, "profile": profile}
                for path, about in json.loads(manifest.read_text())["outputs"].items()
                if path.endswith((".svg", ".tex"))
            }
    return outputs


def known_minutes() -> dict[str, dict[str, str]]:
    """Return the minutes of each notebook in each profile.

    Those of the runs that are there; where a profile has not run on this machine, those that
    figures/timings.csv was committed with.
    """
    minutes: dict[str, dict[str, str]] = {}
    for row in read_csv(FIGURES / "timings.csv"):
        if (ROOT / row["notebook"]).exists():
            minutes[row["notebook"]] = {profile: row[profile] for profile in PROFILES}
    for profile in PROFILES:
        for row in read_csv(FIGURES / profile / "timings.csv"):
            times = minutes.setdefault(row["notebook"], dict.fromkeys(PROFILES, ""))
            times[profile] = f"{max(float(row['seconds']) / 60, 0.1):.1f}"
    return minutes


def readme(outputs: dict[str, dict], minutes: dict[str, dict[str, str]]) -> str:
    """Return the text of figures/README.md."""
    lines = [
        "# Figures and tables",
        "",
        "Made by `make notebooks` and `make PROFILE=paper`; do not edit. `make paper-<name>` runs "
        "a paper's notebooks in the quick profile (into figures/quick), and with `PROFILE=paper` "
        "in the paper's own sizes (into figures/paper). *Computed by* names the functions whose "
        "results a figure or table shows: those that a grid calls for every setting, or those "
        "that its notebook calls. Minutes are those of a whole notebook on 2 cores; a notebook "
        "makes all of its figures. Every figure is made as svg and png with its numbers as csv, "
        "every table as csv and LaTeX; of figures/paper, csv and png are committed.",
    ]
    shown = [name for name in PROFILES if any(times[name] for times in minutes.values())]
    columns = [
        "in the paper",
        "here",
        "computed by",
        "notebook",
        "target",
        *(f"minutes, {name}" for name in shown),
    ]
    for paper in sorted({Path(path).parts[0] for path in outputs}):
        lines += ["", f"## {paper}", "", row(columns), row(["---"] * len(columns))]
        ours = [item for item in outputs.items() if Path(item[0]).parts[0] == paper]
        for path, about in sorted(ours, key=place_in_paper):
            times = minutes.get(about["notebook"], {})
            name = Path(path).stem
            lines.append(
                row(
                    [
                        each(about["of"]) or about["kind"],
                        f"[{name}](paper/{kept(path)})" if about["profile"] == "paper" else name,
                        ", ".join(map(link_to, matching(computed(about["notebook"]), name))),
                        f"[{Path(about['notebook']).stem}](../{about['notebook']})",
                        f"`make paper-{paper}`",
                        *(times.get(profile, "") for profile in shown),
                    ]
                )
            )
    return "\n".join(lines) + "\n"


def kept(path: str) -> str:
    """Return what is committed of a figure or table: its picture, or its rows."""
    ending = ".png" if path.endswith(".svg") else ".csv"
    return Path(path).with_suffix(ending).as_posix()


def row(cells: list[str]) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def each(of: str) -> str:
    """Return "Tables 6 to 8" as "Table 6, Table 7, Table 8", to be found by each of them."""
    return re.sub(
        r"(\w+)s (\d+) to (\d+)",
        lambda found: ", ".join(
            f"{found[1]} {number}" for number in range(int(found[2]), int(found[3]) + 1)
        ),
        of,
    )


@cache
def computed(notebook: str) -> dict[str, list[tuple[str, str]]]:
    """Return what computes each output of a notebook; nothing of one that is gone."""
    return functions_of(ROOT / notebook) if (ROOT / notebook).exists() else {}


def link_to(found: tuple[str, str]) -> str:
    """Return a link to the module of a function, named after the function."""
    module, name = found
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return f"[{name}](../{path.relative_to(ROOT).as_posix()})"


def place_in_paper(item: tuple[str, dict]) -> tuple:
    """Return a key that puts figures and tables in the order of the paper, our own after them."""
    path, about = item
    parts = re.findall(r"\d+|\D+", about["of"])
    numbered = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]
    return (not about["of"], numbered, path)


def as_csv(rows: list[dict], columns: list[str]) -> str:
    """Return rows as csv."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a csv file; none if it is not there."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    sys.exit(main())

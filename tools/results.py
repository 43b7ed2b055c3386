"""Sum up the results of a profile.

    results.py            write figures/README.md
    results.py picture    draw figures/before_and_after.png, the picture at the top of README.md

figures/README.md lists the notebooks with the functions that their grids call,
their target and their minutes, and every figure and table with its notebook.
"""

import re
import sys
from pathlib import Path

import inputs
import jinja2
import pandas as pd

from anonpaper.files import write_whole

PROFILES = ("quick", "paper")


def write_readme() -> None:
    """Write figures/README.md, and figures/timings.csv with the minutes of both profiles."""
    outputs, functions = {}, {}
    for profile in PROFILES:  # of the paper profile where that made them
        for share in inputs.known_shares(inputs.FIGURES / profile).values():
            about = {"profile": profile, "notebook": share["notebook"]}
            outputs |= {path: given | about for path, given in share["outputs"].items()}
        shares = inputs.known_shares(inputs.FIGURES / profile).values()
        functions |= {s["notebook"]: s["functions"] for s in shares if s.get("functions")}
    papers = {Path(path).parts[0]: [] for path in sorted(outputs)}
    for path, about in sorted(outputs.items(), key=place_in_paper):
        if path.endswith((".svg", ".tex")):
            papers[Path(path).parts[0]].append((path, about))
    times = minutes()
    write_whole(inputs.FIGURES / "timings.csv", times.to_csv(lineterminator="\n"))
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
        for share in inputs.known_shares(inputs.FIGURES / profile).values():
            minutes = max(share.get("seconds", 0) / 60, 0.1)
            found.loc[share["notebook"], profile] = f"{minutes:.1f}"
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


def picture() -> bytes:
    """Draw people of Adult before and after, and a published figure beside ours, as png."""
    import anonpaper as ap  # slow to import, and needed by this function only
    from anonpaper import plots
    from anonpaper.compendium import reference

    plots.use_style()
    figure, (left, right) = plots.subplots(columns=2, cols=2, height=3.1)
    m = ap.load("adult")
    columns = [*m.qi, m.sensitive]
    for top, title, frame in (
        (0.99, "Before: the first six people of Adult", m.frame),
        (0.43, "After TP+ with l = 4", ap.suppress(m, ap.tp_plus(m, l=4)).frame),
    ):
        left.text(0, top, title, fontsize=9, va="center", transform=left.transAxes)
        rows = frame[columns].head(6).astype(str).to_numpy()
        drawn = left.table(rows, colLabels=columns, bbox=(0, top - 0.47, 1, 0.43), edges="B")
        drawn.auto_set_font_size(False)
        drawn.set_fontsize(7)
        drawn.auto_set_column_width(range(len(columns)))
        for (row, _), cell in drawn.get_celld().items():
            cell.set_edgecolor("0.8")
            cell.set_text_props(ha="left", weight="bold" if row == 0 else "normal")
            cell.PAD = 0.02
    left.set_axis_off()

    x, y = "selectivity, %", "relative error, %"
    ours = pd.read_csv(inputs.FIGURES / "paper/boger2020/figures_9_to_12.csv")
    ours = ours[ours["varied"] == "education"]
    theirs = reference("boger2020_fig9-12_relative_error").query("varied_qi == 'education'")
    theirs = theirs.rename(columns={"selectivity_pct": x, "relative_error_pct": y})
    names = [*ours["table"].unique()]  # in the order, and so the colours, of Figures 9 to 12
    plots.lines(right, ours, x, y, "table", order=names, spread="quartiles")
    plots.published(right, theirs, x, y, "table", order=names)
    right.set_title("Figure 10 of boger2020, published and ours", fontsize=9)
    right.legend(loc="upper left", fontsize=7)
    return plots.render(figure, "png")


if __name__ == "__main__":
    if sys.argv[1:] == ["picture"]:
        write_whole(inputs.FIGURES / "before_and_after.png", picture())
    else:
        write_readme()

"""Make one figure or table anew, or judge one claim, for the Makefile.

one.py figure boger2020/group_sizes    runs its notebook; prints its files and verdicts
one.py claim boger2020/equal-sizes     judges it from the tables in figures/<profile>
"""

from __future__ import annotations

import argparse
import difflib
import sys
import tempfile
import textwrap
from collections.abc import Iterable
from pathlib import Path

from inputs import FIGURES, NotebookError, known_shares, reference
from results import merge

from anonpaper.compendium import intervals, judge, papers
from anonpaper.compendium.catalogue import asked
from notebooks import empty_cache, side_by_side


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, do what it asks and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("figure", "claim"))
    parser.add_argument("name", help="<paper>/<file without ending> or <paper>/<id of the claim>")
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--jobs", type=int, default=1, help="has no effect on one notebook")
    parser.add_argument("--fresh", action="store_true", help="from an empty cache")
    given = parser.parse_args(arguments)
    try:
        if given.what == "figure":
            make_figure(given.name, given.profile, fresh=given.fresh)
        else:
            show_claims([found_claim(given.name)], given.profile)
    except NotebookError as error:
        print(f"{given.what} {given.name}: {error}", file=sys.stderr)
        return 1
    return 0


def make_figure(name: str, profile: str, *, fresh: bool) -> None:
    """Run the notebook that saves an output; print where it is and what it says of the claims."""
    homes = {
        path.rpartition(".")[0]: notebook
        for folder in (reference("quick"), reference("paper"), FIGURES / profile)
        for notebook, share in known_shares(folder).items()
        for path in share["outputs"]
    }
    if name not in homes:
        raise NotebookError(f"no such figure or table; {nearest(name, homes)}")
    results = FIGURES / profile
    flags = [f"--profile={profile}", f"--results={results}"]
    with tempfile.TemporaryDirectory() as scratch:
        cache = {"ANONPAPER_CACHE": str(empty_cache(Path(scratch)))} if fresh else {}
        side_by_side("run", [homes[name]], flags + ["--fresh"] * fresh, 1, cache)
    merge(results, profile)
    for path in sorted((results / name).parent.glob(f"{Path(name).name}.*")):
        print(f"  {path.relative_to(FIGURES.parent)}")
    paper, _, table = name.partition("/")
    show_claims([claim for claim in judge.of_paper(paper) if table in claim.tables], profile)


def found_claim(name: str) -> judge.Claim:
    """Return the claim of that name."""
    known = {
        f"{paper}/{claim.id}": claim
        for paper in (*papers(), *asked())
        for claim in judge.of_paper(paper)
    }
    if name not in known:
        raise NotebookError(f"no such claim; {nearest(name, known)}")
    return known[name]


def show_claims(chosen: Iterable[judge.Claim], profile: str) -> None:
    """Print what each claim says, what was measured, and the verdict."""
    for claim in chosen:
        judged = judge.judge(claim.paper, FIGURES / profile / claim.paper)
        row = judged.set_index("id").loc[claim.id]
        if row["verdict"] == intervals.NOT_RUN:
            raise NotebookError(
                f"{row['reason']} in figures/{profile}; run `make figure "
                f"PROFILE={profile} NAME={claim.paper}/{claim.tables[0]}` first"
            )
        print(f"\n{claim.paper}/{claim.id}: {row['verdict']} ({profile} profile)")
        lines = ("where", "claim", "how", "published", "measured", "interval", "tolerance")
        for key in (*lines, "detail", "differs", "reason"):
            if row[key]:
                print(textwrap.fill(f"{key + ':':<11}{row[key]}", 99, initial_indent="  ",
                                    subsequent_indent=" " * 13))  # fmt: skip


def nearest(name: str, known: Iterable[str]) -> str:
    """Return what might have been meant."""
    close = difflib.get_close_matches(name, known, 5, 0.4)
    ours = [other for other in known if other.partition("/")[0] == name.partition("/")[0]]
    return f"there are {', '.join(close or sorted(ours or known))}"


if __name__ == "__main__":
    sys.exit(main())

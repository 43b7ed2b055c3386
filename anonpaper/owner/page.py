"""A release beside the table it was made from, as one page of HTML: a template filled in."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.files import check_place, sha256
from anonpaper.owner import report
from anonpaper.publish import Release, recode
from anonpaper.recoding import Recoding

__all__ = ["check_page_place", "page"]


def check_page_place(path: str | os.PathLike, *, replace: bool = True) -> None:
    """Raise FileError if a page cannot be written there."""
    of = "a report is a page of HTML, .html or .htm"
    check_place(path, replace=replace, endings=(".html", ".htm"), of=of)


def page(rel: Release, call: str | None = None) -> str:
    r"""Return the page, for the table's owner. Half of a surrogate pair is shown as ``\ud800``."""
    import jinja2

    m = rel.microdata
    people = m.take(~m.synthetic) if m.synthetic.any() else m
    sides = {"before": recode(people, Recoding.identity(people.attributes)), "after": rel}
    if m.synthetic.any():
        sides["after, real people only"] = rel.without_synthetic()
    sides = {name: side for name, side in sides.items() if side.shown.any()}
    of_groups = "Quasi-identifiers are unchanged, so everybody sees who is in it."
    source = Path(__file__).with_name("page.html.jinja").read_text(encoding="utf-8")
    tried = report.attackers_tried(rel) if rel.shown.any() else pd.DataFrame()
    tried = tried.assign(sure=tried["sure"].map("{:.4g}".format)) if len(tried) else tried
    template = jinja2.Environment(autoescape=True, trim_blocks=True).from_string(source)
    text = template.render(
        promise=_promise(rel),
        facts=_facts(rel, call),
        tried=tried.astype(str).replace("nan", "").to_numpy().tolist(),
        sides=["", *sides],
        risks=_beside(sides, report.risks),
        levels=_beside(sides, _levels),
        loss=[(name, report.short(value)) for name, value in report.loss(rel).items()],
        warnings=[*rel.warnings, *([of_groups] if rel.shows_groups else [])],
    )
    return f"{text}\n".encode(errors="backslashreplace").decode()


def _promise(rel: Release) -> str:
    if rel.is_seeded:
        return "Do not publish the table either: it was swapped with a seed."
    if not rel.shown.any():
        return "No row of the table is published."
    if not rel.promised:
        return "The promise of the method is not known here: judge the levels below."
    words = {True: "holds", False: "DOES NOT HOLD"}
    found = [f"{p} {words[level is None]}" for p, level in rel.kept().items()]
    accepted = f" Written all the same: {rel.accepted}." if rel.accepted else ""
    whom = "for real people, against readers who count the rows of the file"
    return f"The method promises, {whom}: {', '.join(found)}.{accepted}"


def _facts(rel: Release, call: str | None) -> list[tuple[str, str]]:
    m, (withheld, share) = rel.microdata, rel.withheld
    roles = m.frame[[*m.qi, *m.sensitives]].astype(str)
    hashes = pd.util.hash_pandas_object(roles, index=False, encoding="unicode_escape")
    facts = {
        "call": call or rel.call,
        "input": m.origin,
        "hash of the columns in a role": f"sha256 {sha256(hashes.to_numpy().tobytes())}",
        "quasi-identifiers": ", ".join(map(str, m.qi)),
        "sensitive": ", ".join(map(str, m.sensitives)),
        "people": f"{m.n_people:,}, by {m.person}" if m.people is not None else "",
        "rows": f"{m.n + m.dropped:,} in the table, {m.n - withheld:,} published, "
        f"{withheld:,} withheld, {m.dropped:,} dropped for missing values",
        "largest share of a sensitive value among the withheld": f"{share:.3g}" * (share == share),
        "synthetic rows": f"{int(m.synthetic.sum()):,}" * bool(m.synthetic.any()),
        "published as": f"{rel.method}, {rel.classes.n_groups:,} classes",
        "versions": f"anonpaper {version('anonpaper')}, Python {platform.python_version()}, "
        f"numpy {np.__version__}, pandas {pd.__version__}",
    }
    return [(name, str(fact)) for name, fact in facts.items() if fact]


def _levels(rel: Release) -> dict[str, str]:
    return {f"{e['principle']} ({e['meaning']})": f"{e['level']:.4g}" for e in report.levels(rel)}


def _beside(sides: Mapping[str, Release], told: Callable[[Release], dict]) -> list[list[str]]:
    """Return a row for each name, with what is told of every side."""
    table = pd.DataFrame({name: told(side) for name, side in sides.items()})
    return table.fillna("").reset_index().to_numpy().tolist()

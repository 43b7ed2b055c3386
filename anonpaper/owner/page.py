"""A release beside the table it was made from, as one page of HTML: ``page.html`` filled in."""

from __future__ import annotations

import os
import platform
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template

import numpy as np
import pandas as pd

from anonpaper import measure
from anonpaper.display import html_table
from anonpaper.files import check_place, sha256, write_named
from anonpaper.groups import dense_labels
from anonpaper.measure.boxes import boxes_of, weight_at
from anonpaper.microdata import Attribute, Microdata
from anonpaper.owner.report import attackers_tried, levels_of_release
from anonpaper.principles import GroupCounts
from anonpaper.publish import GroupRelease, PublishedAttribute, Release, recode
from anonpaper.recoding import Recoding

__all__ = ["check_page_place", "page", "risks", "write_page"]

_MOST_BARS = 12


def check_page_place(path: str | os.PathLike, *, replace: bool = True) -> None:
    """Raise FileError if a page cannot be written there."""
    of = "a report is a page of HTML, .html or .htm"
    check_place(path, replace=replace, endings=(".html", ".htm"), of=of)


def page(rel: Release, call: str | None = None) -> str:
    r"""Return the page, for the table's owner. Half of a surrogate pair is shown as ``\ud800``."""
    m = rel.microdata
    people = m.take(~m.synthetic) if m.synthetic.any() else m
    sides = {"before": recode(people, Recoding.identity(people.attributes)), "after": rel}
    if m.synthetic.any():
        sides["after, real people only"] = rel.without_synthetic()
    sides = {name: side for name, side in sides.items() if side.is_published.any()}
    files = (Path(__file__).with_suffix(ending) for ending in (".html", ".css"))
    template, style = (file.read_text(encoding="utf-8") for file in files)
    filled = Template("".join(template.splitlines())).substitute(
        style=f"\n{style}",
        promise=_promise(rel),
        facts=_facts(rel, call),
        risks=_side_by_side({name: risks(side) for name, side in sides.items()}),
        levels=_side_by_side({name: _levels(side) for name, side in sides.items()}),
        loss=_loss(rel),
        measures=_measures(rel),
        distributions=_distributions(people, rel) if rel.is_published.any() else "",
        tried=_tried(rel) if rel.is_published.any() else "",
        attacks=_attacks(rel),
    )
    return f"<!DOCTYPE html>\n{filled}\n".encode(errors="backslashreplace").decode()


def write_page(rel: Release, path: str | os.PathLike, *, call: str | None = None) -> Path:
    """Write the page, completely or not at all; `call` says how the release was made."""
    check_page_place(path)
    write_named(path, page(rel, call))
    return Path(path)


def _promise(rel: Release) -> str:
    if any("must not be published" in text for text in rel.warnings):
        return "Do not publish the table either: it was swapped with a seed."
    if not rel.is_published.any():
        return "No row of the table is published."
    if not rel.promised:
        return "The promise of the method is not known here: judge the levels below."
    words = {True: "holds", False: "DOES NOT HOLD"}
    found = [f"{escape(str(p))} {words[level is None]}" for p, level in rel.kept().items()]
    accepted = f" Written all the same: {escape(rel.accepted)}." if rel.accepted else ""
    whom = "for real people, against readers who count the rows of the file"
    return f"The method promises, {whom}: {', '.join(found)}.{accepted}"


def _facts(rel: Release, call: str | None) -> str:
    m, (withheld, share) = rel.microdata, rel.withheld
    roles = m.frame[m._roles].astype(str)
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
    told = [(name, escape(str(fact))) for name, fact in facts.items() if fact]
    rows = "".join(f"<tr><th>{name}</th><td>{fact}</td></tr>" for name, fact in told)
    return f'<table class="facts">{rows}</table>'


def risks(rel: Release) -> dict[str, object]:
    """Risks of being identified, from the quasi-identifiers as they are published.

    The prosecutor knows that the person is in the table. The journalist does not: without a
    register of all people, the prosecutor's risk is an upper bound. The marketer links everybody.
    See K. El Emam, *Guide to the de-identification of personal health information*, 2013, ch. 16.
    """
    m, labels = rel.microdata, rel.classes.labels
    if isinstance(rel, GroupRelease):
        labels = dense_labels(np.where(rel.is_published, m.cells.tuple_of_row, -1))
    sizes = GroupCounts.of(m.about(None), labels).sizes
    whose = "rows" if m.people is None else "people"
    highest = f"{1 / sizes.min():.2%}"
    return {
        "rows": f"{np.count_nonzero(labels >= 0):,}",
        f"{whose} that are unique": f"{np.count_nonzero(sizes == 1):,}",
        f"{whose} in classes below 5": f"{sizes[sizes < 5].sum():,}",
        "prosecutor: highest risk": highest,
        "prosecutor: rows above one in five": f"{sizes[sizes < 5].sum() / sizes.sum():.2%}",
        "journalist: highest risk, at most": highest,
        "marketer: links that are right": f"{len(sizes) / sizes.sum():.2%}",
    }


def _levels(rel: Release) -> dict[str, str]:
    levels = levels_of_release(rel)
    return {f"{e['principle']} ({e['meaning']})": f"{e['level']:.4g}" for e in levels}


def _side_by_side(columns: dict[str, dict]) -> str:
    table = pd.DataFrame(columns).fillna("")
    table = table.loc[list(dict.fromkeys(name for side in columns.values() for name in side))]
    return f'<div class="wide">{table.to_html(border=0)}</div>'


def _loss(rel: Release) -> str:
    m, shown = rel.microdata, rel.is_published
    rows = []
    for p in rel.published:
        index = p.index[shown]
        lost = p.sub_domains.extents[index].sum() + np.count_nonzero(~shown)
        rows.append({
            "column": p.attribute.name,
            "values kept": f"{np.count_nonzero(p.sub_domains.is_kept[index]) / m.n:.1%}",
            "stars": f"{np.count_nonzero(p.is_star[index]) / m.n:.1%}",
            "detail lost": f"{lost / m.n:.1%}",
            "distinct": f"{p.attribute.size:,} -> {len(np.unique(index)):,}",
        })  # fmt: skip
    table = html_table(pd.DataFrame(rows), index=False, rows=len(rows))
    return f'<div class="wide">{table}</div>'


def _measures(rel: Release) -> str:
    mean = measure.average_class_size(rel) if rel.is_published.any() else float("nan")
    return (
        f"GCP {measure.gcp(rel):.3f}, discernibility {measure.discernibility(rel):,}, "
        f"mean class {mean:.4g} {'rows' if rel.microdata.people is None else 'people'}"
    )


def _tried(rel: Release) -> str:
    rows = pd.DataFrame(attackers_tried(rel))
    rows["sure"] = ["" if sure != sure else f"{sure:.4g}" for sure in rows["sure"]]
    table = html_table(rows, index=False, rows=len(rows))
    return f'<h2>Attackers tried</h2><div class="wide">{table}</div>'


def _attacks(rel: Release) -> str:
    found = [f"<b>{escape(text)}</b>" for text in rel.warnings]
    if isinstance(rel, GroupRelease):
        found.append("<b>Quasi-identifiers are unchanged</b>, so everybody sees who is in it.")
    return "".join(f"<li>{text}</li>" for text in found)


def _distributions(people: Microdata, rel: Release) -> str:
    """Figures of every column: shares of rows before and after, sub-domains spread evenly."""
    shown, published = rel.is_published, rel.audited()[0]
    figures = [
        _figure(p.attribute, np.bincount(codes, minlength=p.attribute.size), _spread(p, shown))
        for p, codes in zip(rel.published, people.codes.T, strict=True)
    ]
    for name in rel.microdata.sensitives:
        attribute = rel.microdata.attribute(name)
        before = np.bincount(people.codes_of(name), minlength=attribute.size)
        after = np.bincount(published.codes_of(name)[shown], minlength=attribute.size)
        figures.append(_figure(attribute, before, after))
    return (
        f'<h2>Distributions</h2><div class="figures">{"".join(figures)}</div>'
        "<p>Shares of rows: hollow before, filled after. A set or an interval that is published "
        "counts evenly for its values.</p>"
    )


def _spread(p: PublishedAttribute, shown: np.ndarray) -> np.ndarray:
    """Rows per value of the domain, each row spread evenly over its sub-domain, shape (size,)."""
    domains, places = (p.sub_domains,), np.arange(p.attribute.size)[:, None]
    boxes = boxes_of(domains, (p.index[shown],))
    return weight_at(places, domains, boxes, boxes.counts / boxes.volume)


def _bins(attribute: Attribute, before: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The bar of every value, at most twelve bars, and the labels of the bars."""
    if attribute.size <= _MOST_BARS:
        return np.arange(attribute.size), [str(value) for value in attribute.values]
    if attribute.ordered:
        ends = np.linspace(attribute.positions[0], attribute.positions[-1], _MOST_BARS + 1)
        bins = np.clip(np.searchsorted(ends, attribute.positions, "right") - 1, 0, _MOST_BARS - 1)
        used, bins = np.unique(bins, return_inverse=True)
        held = [attribute.values[bins == i] for i in range(len(used))]
        return bins, [str(v[0]) if len(v) == 1 else f"{v[0]} - {v[-1]}" for v in held]
    bins = np.full(attribute.size, _MOST_BARS - 1)
    most = np.argsort(-before, kind="stable")[: _MOST_BARS - 1]
    bins[most] = np.arange(len(most))
    return bins, [*map(str, attribute.values[most]), f"{attribute.size - len(most)} others"]


def _figure(attribute: Attribute, before: np.ndarray, after: np.ndarray) -> str:
    """Bars of two shares per label, hollow and filled."""
    bins, labels = _bins(attribute, before)
    shares = [np.bincount(bins, n, len(labels)) / max(n.sum(), 1) for n in (before, after)]
    longest = max(share.max() for share in shares) or 1
    rows = "".join(
        f'<tr><th>{escape(label[:40])}</th><td><i style="width:{old / longest:.1%}"></i>'
        f'<b style="width:{new / longest:.1%}"></b></td><td>{old:.1%} / {new:.1%}</td></tr>'
        for label, old, new in zip(labels, *shares, strict=True)
    )
    name = escape(str(attribute.name))
    return f"<table><caption>{name}: shares of rows before and after</caption>{rows}</table>"

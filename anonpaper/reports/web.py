"""A release beside the table it was made from, as one page of HTML."""

from __future__ import annotations

import os
import platform
from html import escape
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper import measure
from anonpaper.display import html_table
from anonpaper.files import check_place, sha256, write_named
from anonpaper.groups import dense_labels
from anonpaper.measure.loss import certainty_penalty
from anonpaper.microdata import Attribute, Microdata
from anonpaper.principles import GroupCounts
from anonpaper.publish import GroupRelease, Release, recode
from anonpaper.publish.attribute import PublishedAttribute
from anonpaper.recoding import Recoding
from anonpaper.reports.numbers import levels_of_release

__all__ = ["attackers", "check_page_place", "page", "write_page"]

_MOST_BARS = 12
_HIGH_RISK = 0.2  # of a row that is one of five: the threshold of many guidelines

_NOT_COVERED = (
    "<b>Composition.</b> Two releases of one table, or of tables with people in common, can be "
    "compared: publish one.",
    "<b>Minimality.</b> Of a method that looks at sensitive values, whoever knows it can conclude "
    "more than the levels say; <code>ap.measure.minimality</code> measures it on small tables.",
    "<b>What somebody knows besides</b>: that a person does not have a value, how values go with "
    "quasi-identifiers, that people are related; and sensitive values that differ but mean the "
    "same.",
    "<b>Being in the table.</b> No level here is differential privacy: who is in may show.",
    "<b>Columns kept as they are</b>, names and order of columns, and the number of rows.",
)

_STYLE = """
body { font: 16px/1.45 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 0 1rem;
       color: #111; background: #fff }
.for { border: 2px solid #b00; padding: .5rem 1rem; margin: 1rem 0 }
.wide { overflow-x: auto }
table { border-collapse: collapse; margin: .5rem 0 }
th, td { text-align: left; padding: .2rem .7rem .2rem 0; border-bottom: 1px solid #ccc;
         vertical-align: top }
code, .facts td { overflow-wrap: anywhere }
.wide td { white-space: nowrap }
.figures { display: flex; flex-wrap: wrap; gap: 1rem }
figure { margin: 0; flex: 1 1 20rem; max-width: 28rem; break-inside: avoid }
svg { width: 100%; height: auto }
@media (max-width: 30rem) { body { font-size: 15px } th, td { padding-right: .4rem } }
@media print { .wide { overflow: visible } body { max-width: none; font-size: 10pt } }
"""


def attackers(sizes: np.ndarray) -> dict[str, float]:
    """Say how sure attackers are that a row is of a person whose quasi-identifiers they know.

    Parameters
    ----------
    sizes : array of int, shape (c,)
        Rows, or people, of every class of equal quasi-identifiers.

    Returns
    -------
    dict of str to float
        The prosecutor knows that the person is in the table: the highest probability, and the
        share of rows above one in five. The journalist does not know it; without a register of
        all people it could come from, the prosecutor's risk is the bound. The marketer links
        everybody: the share of links that are right on average.

    Notes
    -----
    O(c).

    References
    ----------
    K. El Emam, *Guide to the de-identification of personal health information*, 2013, chapter 16.

    Examples
    --------
    >>> attackers([1, 4, 5])["marketer: links that are right"]
    0.3
    """
    sizes = np.asarray(sizes)
    exposed = float(sizes[1 / sizes > _HIGH_RISK].sum() / sizes.sum())
    return {
        "prosecutor: highest risk": float(1 / sizes.min()),
        "prosecutor: rows above one in five": exposed,
        "journalist: highest risk, at most": float(1 / sizes.min()),
        "marketer: links that are right": float(len(sizes) / sizes.sum()),
    }


def write_page(rel: Release, path: str | os.PathLike, call: str | None = None) -> Path:
    """Write :func:`page` to a file; :meth:`Release.report` documents it."""
    check_page_place(path)
    write_named(path, page(rel, call))
    return Path(path)


def check_page_place(path: str | os.PathLike, *, replace: bool = True) -> None:
    """Raise FileError if a page cannot be written there."""
    of = "a report is a page of HTML, .html or .htm"
    check_place(path, replace=replace, endings=(".html", ".htm"), of=of)


def page(rel: Release, call: str | None = None) -> str:
    r"""Return a page of HTML on a release beside the table it was made from, for the owner.

    What is no Unicode, such as half of a surrogate pair, is shown as ``\ud800``.

    Parameters
    ----------
    rel : Release
    call : str, optional
        How it was made; by default as far as the release knows.

    Raises
    ------
    EmptyTableError
        Every row is synthetic.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> "Not to be published" in page(ap.suppress(m, ap.mondrian(m, k=3)))
    True
    """
    m = rel.microdata
    people = m.take(~m.synthetic) if m.synthetic.any() else m
    sides = {"before": recode(people, Recoding.identity(people.attributes)), "after": rel}
    if m.synthetic.any():
        sides["after, real people alone"] = rel.without_synthetic()
    sides = {name: side for name, side in sides.items() if side.is_published.any()}
    parts = [
        _whom_for(rel),
        _section("What was done", _facts(rel, call)),
        _section("Risk", _side_by_side({n: _risks(side) for n, side in sides.items()}), _MODELS),
        _section("Levels", _side_by_side({n: _levels(side) for n, side in sides.items()}), _WORST),
        _section("Loss", _loss(rel)),
        _distributions(people, rel) if rel.is_published.any() else "",
        _section("Attacks that the levels do not cover", _attacks(rel)),
    ]
    content = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Report on a release</title><style>{_STYLE}</style></head><body>"
        f"<h1>Report on a release</h1>{''.join(parts)}</body></html>\n"
    )
    return content.encode(errors="backslashreplace").decode()


_MODELS = (
    "The probability to find somebody whose quasi-identifiers are known. The journalist does not "
    "know whether the person is in the table: only a register of all people it could come from "
    "would say by how much less he finds."
)
_WORST = "Of the worst class. Before: the table as it is, people with equal quasi-identifiers."


def _section(title: str, *parts: str) -> str:
    return f"<h2>{title}</h2>" + "".join(
        part if part.startswith("<") else f"<p>{part}</p>" for part in parts
    )


def _whom_for(rel: Release) -> str:
    if any("must not be published" in text for text in rel.warnings):
        table = "The table must not be published either: it was swapped with a seed."
    elif not rel.is_published.any():
        table = "No row of the table is published."
    elif not rel.promised:
        table = "What the table was to have is not known here: judge the levels below."
    else:
        found = [
            f"{escape(str(p))} {'holds' if p.holds(*rel.audited()) else 'DOES NOT HOLD'}"
            for p in rel.promised
        ]
        table = f"What the method promised of the table: {', '.join(found)}."
    return (
        '<p class="for"><b>For the owner of the table, and whoever decides on its release. Not '
        "to be published</b>: this page shows counts and distributions of the table as it was, "
        f"and its hash, by which a guessed table can be checked.</p><p>{table} Whether the table "
        "may be published is for its owner to decide: no number here stands for all attackers.</p>"
    )


def _facts(rel: Release, call: str | None) -> str:
    m, (withheld, share) = rel.microdata, rel.withheld
    roles = m.frame[m._roles]
    rows = pd.util.hash_pandas_object(roles.astype(str), index=False, encoding="unicode_escape")
    facts = {
        "call": call or rel.call,
        "input": m.origin,
        "hash of the columns in a role": f"sha256 {sha256(rows.to_numpy().tobytes())}",
        "quasi-identifiers": ", ".join(map(str, m.qi)),
        "sensitive": ", ".join(map(str, m.sensitives)),
        "people": f"{m.n_people:,}, by {m.person}" if m.people is not None else "",
        "rows": f"{m.n + m.dropped:,} in the table, {m.n - withheld:,} published, "
        f"{withheld:,} withheld, {m.dropped:,} dropped for missing values",
        "largest share of a sensitive value among the withheld": f"{share:.3g}" * (share == share),
        "synthetic rows": f"{int(m.synthetic.sum()):,}, of nobody" * bool(m.synthetic.any()),
        "published as": f"{rel.method}, {rel.classes.n_groups:,} classes",
        "versions": f"anonpaper {version('anonpaper')}, Python {platform.python_version()}, "
        f"numpy {np.__version__}, pandas {pd.__version__}",
    }
    rows = "".join(
        f"<tr><th>{name}</th><td>{escape(str(fact))}</td></tr>"
        for name, fact in facts.items()
        if fact
    )
    return f'<table class="facts">{rows}</table>'


def _risks(rel: Release) -> dict[str, object]:
    """Risks of being found; where quasi-identifiers are published as they are, these count."""
    m, labels = rel.microdata, rel.classes.labels
    if isinstance(rel, GroupRelease):
        labels = dense_labels(np.where(rel.is_published, m.cells.tuple_of_row, -1))
    sizes = GroupCounts.of(m.about(None), labels).sizes
    whose = "rows" if m.people is None else "people"
    found = {
        "rows": f"{np.count_nonzero(labels >= 0):,}",
        f"{whose} that are unique": f"{np.count_nonzero(sizes == 1):,}",
        f"{whose} in classes below 5": f"{sizes[sizes < 5].sum():,}",
    }
    return found | {name: f"{risk:.2%}" for name, risk in attackers(sizes).items()}


def _levels(rel: Release) -> dict[str, str]:
    return {
        f"{entry['principle']} ({entry['meaning']})": f"{entry['level']:.4g}"
        for entry in levels_of_release(rel)
    }


def _side_by_side(columns: dict[str, dict]) -> str:
    table = pd.DataFrame(columns).fillna("")
    table = table.loc[list(dict.fromkeys(name for side in columns.values() for name in side))]
    return f'<div class="wide">{table.to_html(border=0)}</div>'


def _loss(rel: Release) -> str:
    m, shown = rel.microdata, rel.is_published
    rows = []
    for p in rel.published:
        kept = p.sub_domains.is_kept[p.index[shown]]
        lost = certainty_penalty(p)[p.index[shown]].sum() + np.count_nonzero(~shown)
        rows.append(
            {
                "column": p.attribute.name,
                "values kept": f"{np.count_nonzero(kept) / m.n:.1%}",
                "stars": f"{np.count_nonzero(p.is_star[p.index[shown]]) / m.n:.1%}",
                "detail lost": f"{lost / m.n:.1%}",
                "distinct": f"{p.attribute.size:,} -> {len(np.unique(p.index[shown])):,}",
            }
        )
    table = html_table(pd.DataFrame(rows), index=False, rows=len(rows))
    return (
        f'<div class="wide">{table}</div><p>Detail lost is the certainty penalty: 0 for a value '
        "as it is, 1 for a star or a row withheld. In all: GCP "
        f"{measure.gcp(rel):.3f}, discernibility {measure.discernibility(rel):,}, mean class "
        f"{measure.average_class_size(rel) if shown.any() else float('nan'):.4g} "
        f"{'rows' if m.people is None else 'people'}.</p>"
    )


def _attacks(rel: Release) -> str:
    found = [f"<b>{escape(text)}</b>" for text in rel.warnings]
    if rel.withheld[0]:
        found.append(
            "<b>People withheld.</b> Who is known to be in the table but not in the release has "
            "the values of the rows that are missing."
        )
    if isinstance(rel, GroupRelease):
        found.append("<b>Who is in the table</b> stays visible: its values are as they were.")
    items = "".join(f"<li>{text}</li>" for text in (*found, *_NOT_COVERED))
    return f"<ul>{items}</ul><p>SECURITY.md says more.</p>"


def _distributions(people: Microdata, rel: Release) -> str:
    """Figures of every column: shares of rows before, and after with sub-domains spread evenly."""
    m, shown = rel.microdata, rel.is_published
    figures = [
        _figure(p.attribute, np.bincount(codes, minlength=p.attribute.size), _spread(p, shown))
        for p, codes in zip(rel.published, people.codes.T, strict=True)
    ]
    published = rel.audited()[0]
    for name in m.sensitives:
        size = m.attribute(name).size
        before = np.bincount(people.codes_of(name), minlength=size)
        after = np.bincount(published.codes_of(name)[shown], minlength=size)
        figures.append(_figure(m.attribute(name), before, after))
    return _section(
        "Distributions",
        f'<div class="figures">{"".join(figures)}</div>',
        "Shares of rows: hollow before, filled after. A set or an interval that is published "
        "counts evenly for its values.",
    )


def _spread(p: PublishedAttribute, shown: np.ndarray) -> np.ndarray:
    """Rows per value of the domain, each row spread evenly over its sub-domain, shape (size,)."""
    sub, size = p.sub_domains, p.attribute.size
    rows = np.bincount(p.index[shown], minlength=len(sub)) / sub.sizes
    in_runs = np.where(sub.has_gaps, 0, rows)
    steps = np.bincount(sub.low, in_runs, size + 1) - np.bincount(sub.high + 1, in_runs, size + 1)
    in_sets = np.bincount(sub.codes, np.repeat(rows, np.diff(sub.start)), size)
    return np.cumsum(steps)[:-1] + in_sets


def _bins(attribute: Attribute, before: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The bar of every value, at most twelve bars, and how bars are labelled."""
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
    """Bars as a picture that scales: labels to the left, two bars a line."""
    bins, labels = _bins(attribute, before)
    shares = [
        np.bincount(bins, rows, len(labels)) / max(rows.sum(), 1) for rows in (before, after)
    ]
    longest = max(share.max() for share in shares) or 1
    lines = []
    for i, label in enumerate(labels):
        for share, y, look in zip(shares, (0, 8), _LOOKS, strict=True):
            width = 210 * share[i] / longest
            lines.append(f'<rect x="120" y="{22 * i + y}" width="{width:.1f}" height="7" {look}/>')
        shown = label if len(label) <= 19 else label[:18] + "…"
        lines.append(
            f'<text x="115" y="{22 * i + 12}" text-anchor="end">{escape(shown)}</text>'
            f'<text x="{125 + 210 * max(s[i] for s in shares) / longest:.1f}" y="{22 * i + 12}">'
            f"{shares[0][i]:.1%} / {shares[1][i]:.1%}</text>"
        )
    name = escape(str(attribute.name))
    return (
        f"<figure><figcaption><b>{name}</b></figcaption>"
        f'<svg viewBox="0 0 430 {22 * len(labels)}" font-size="11" role="img">'
        f"<title>{name}: shares of rows before and after</title>{''.join(lines)}</svg></figure>"
    )


_LOOKS = ('fill="none" stroke="#333" stroke-width="0.8"', 'fill="#4477AA"')

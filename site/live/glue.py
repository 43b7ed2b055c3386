"""What the page asks of the package. It runs in the page's worker, and in any Python.

``call`` takes the name of a function below and its arguments as JSON, and answers with JSON.
"""

import gzip
import json
import os
import re
import time
import zlib
from pathlib import Path

import numpy as np

import anonpaper as ap
from anonpaper import errors
from anonpaper.owner import page, report
from anonpaper.owner.reader import read_table
from anonpaper.principles import GroupCounts
from anonpaper.publish import writing

#: Name -> the sliders it heeds, and how its result may be published.
METHODS = {
    "mondrian": ("k l t", ("generalize", "suppress")),
    "full_domain": ("k l t", ("recode",)),
    "tds": ("l t", ("recode",)),
    "tp_plus": ("l", ("suppress", "generalize")),
    "tp": ("l", ("suppress", "generalize")),
    "hilbert": ("l", ("generalize", "suppress")),
}
MOST_COLUMNS = 12  # proposed as known to others; beyond that the user chooses
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# errors name options of the command line: here are the page's words for them
WORDS = {
    r"is it --delimiter": "choose another separator above:",
    r"delimiter=\.\.\. \(--delimiter\) says which it is": "choose another separator above",
    r"try encoding=.* \(--encoding .*\)": "choose another encoding above",
    r"name (?:all of them, or those|texts) that mean .*": "read the column as another kind",
    r"--type .*=text keeps them": "read the column as text",
    r"(?:Run .*)?or pass accept=.*": "Choose other settings.",
}

_now: dict = {}  # the table, its microdata and the release that the page shows


def call(name: str, arguments: str) -> str:
    """Call a function by name; its answer, or what was wrong, as JSON."""
    try:
        answer = {"answer": CALLS[name](**json.loads(arguments))}
    except errors.AnonpaperError as error:
        text = str(error).replace(str(_now.get("path", "")) or "\0", _now.get("name", ""))
        for told, shown in WORDS.items():
            text = re.sub(told, shown, text, flags=re.DOTALL)
        answer = {"error": text}
    except MemoryError:
        answer = {"error": "The table does not fit in the memory of a browser tab. Use the "
                           "command line, which has no such limit."}  # fmt: skip
    except Exception as error:  # a fault of ours: say so, and go on
        answer = {"error": f"A fault of this page, not of your table: {error!r}"[:400]}
    return json.dumps(answer, default=_plain)


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else str(value)


# ---- reading ----------------------------------------------------------------------------------


def read(path, name, delimiter=None, encoding=None, types=None) -> dict:
    """Read a table; say how each column was read, and propose its role."""
    _now.clear()
    _now.update(path=path, name=name)
    notes = []
    if name.lower().endswith((".xlsx", ".xlsm")):
        encoding, delimiter = "utf-8", ","
    else:
        try:
            with (gzip.open if path.endswith(".gz") else open)(path, "rb") as stream:
                content = stream.read()
        except (OSError, EOFError, zlib.error) as error:
            raise errors.FileError(f"{name}: {error}") from None
        if b"\0" in content[:4096] and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise errors.FileError(f"{name} is no text: the page reads csv and xlsx")
        encoding = encoding or _encoding(content, notes)
        delimiter = delimiter or _separator(content, encoding)
        del content
    table = read_table(path, delimiter=delimiter, encoding=encoding, types=types or {})
    _now.update(table=table)
    n, columns = len(table.frame), []
    for column, values in table.frame.items():
        known = values.dropna()
        distinct = known.unique()
        columns.append({
            "name": column,
            "kind": table.kinds[column],
            "doubt": table.in_doubt.get(column),
            "distinct": len(distinct),
            "missing": n - len(known),
            "examples": [str(value)[:30] for value in distinct[:3]],
            "identifies": len(distinct) == len(known) == n > 20
            and not table.kinds[column].startswith("decimal"),
        })  # fmt: skip
    few = sum(not column["identifies"] for column in columns) <= MOST_COLUMNS
    for column in columns:
        column["role"] = "identifier" if column["identifies"] else "known" if few else "out"
    return {"rows": n, "columns": columns, "notes": notes, "encoding": encoding,
            "separator": delimiter}  # fmt: skip


def _encoding(content: bytes, notes: list) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        notes.append("The file is not UTF-8. It was read as Windows-1252: look at the accents.")
        return "cp1252"
    return "utf-8"


def _separator(content: bytes, encoding: str) -> str:
    """Return the separator that is most frequent in the first line, outside of quotes."""
    head = content[:1_000_000].decode(encoding, errors="replace").lstrip("\ufeff\r\n")
    outside = "".join(head.split("\n", 1)[0].split('"')[::2])
    return max(SEPARATORS, key=outside.count)


# ---- the table as it is -----------------------------------------------------------------------


def prepare(roles: list, missing: str = "category") -> dict:
    """Give columns their roles; say how exposed the people are."""
    table = _now["table"]
    of = {role: [name for name, one in zip(table.frame, roles, strict=True) if one == role]
          for role in ("known", "secret", "identifier")}  # fmt: skip
    person = [name for name in of["identifier"] if table.frame[name].duplicated().any()]
    if not of["known"]:
        raise errors.ColumnError("Choose at least one column that others may know about people.")
    m = ap.Microdata(table.frame, of["known"], of["secret"], person=next(iter(person), None),
                     missing=missing, origin=_now["name"])  # fmt: skip
    _now.update(m=m, release=None)
    found = report.audit(m, 0)
    unique = found["uniqueness"]
    feasible = [f for title, f in found.items() if title.startswith("feasible")]
    without = next((v for name, v in unique.items() if name.endswith(" without")), {})
    return {
        "rows": m.n, "people": m.n_people, "dropped": m.dropped, "by": m.person,
        "unique": next(iter(unique.values())), "below5": unique["in groups below 5"],
        "without": [[name, int(left)] for name, left in without.items()],
        "most_l": min((f["largest frequency l"] for f in feasible), default=1),
        "secrets": [
            {"name": name, "value": str(f["most frequent"])[:40],
             "share": f.get("its rows", f.get("its people")) / m.n_people}
            for name, f in zip(m.sensitives, feasible, strict=True)
        ],
        **_risks(m, ap.recode(m, ap.Recoding.identity(m.attributes))),
    }  # fmt: skip


def _risks(m, rel) -> dict:
    """The smallest class, people who are unique, and the greatest share of a secret in a class."""
    classes = rel.entries.in_groups(rel.classes.group)
    sizes = GroupCounts.of(classes).sizes
    shares = [ap.Theta(1, of=name).level(classes) for name in m.sensitives]
    found = {"smallest": int(sizes.min()), "alone": int((sizes == 1).sum())}
    return found | {"sure": max(shares, default=None)}


# ---- the release ------------------------------------------------------------------------------


def _made(method, form, k, l, t) -> ap.Release:
    """Run a method; return the release."""
    m = _now["m"]
    heeds, forms = METHODS[method]
    if not m.sensitives and ("k" not in heeds or l > 1 or t < 1):
        raise errors.ParameterError("Choose a secret column above for this promise.")
    if form not in forms:
        form = forms[0]
    given = {"require": [ap.TCloseness(t)]} if t < 1 and "t" in heeds else {}
    if "k" not in heeds:
        result = getattr(ap, method)(m, l, **given)
    else:
        given |= {"l": l if l > 1 else None, "diversity": "frequency"} if m.sensitives else {}
        result = getattr(ap, method)(m, k, **given)
    return getattr(ap, form)(m, result)


def protect(method, form, k=5, l=1, t=1.0) -> dict:
    """Make a release; say what it keeps, what it promises and how that was checked."""
    began = time.perf_counter()
    rel = _made(method, form, k, l, t)
    m = _now["m"]
    if not rel.shown.any():
        raise errors.EmptyTableError("No row could be published.")
    _now["release"] = rel
    e, shown = rel.entries, rel.shown
    columns = [
        {"name": p.attribute.name,
         "lost": float(e.counts @ np.where(shown, p.sub_domains.extents[p.index], 1) / m.n)}
        for p in rel.published
    ]  # fmt: skip
    return {
        "loss": float(ap.measure.gcp(rel)), "columns": columns, "published": e.rows(shown),
        "withheld": e.rows(~shown), "classes": rel.classes.n_groups,
        "promises": [{"text": str(p), "holds": level is None}
                     for p, level in rel.kept().items()],
        "warnings": [*rel.warnings, *writing.formulas([writing.plain(rel.frame)])],
        "levels": [[e["principle"], f"{e['level']:,.4g}", e["meaning"]]
                   for e in report.levels(rel)],
        "seconds": time.perf_counter() - began, "call": rel.call,
        **_risks(m, rel),
    }  # fmt: skip


def rows(count: int) -> dict:
    """Return the first rows of the table beside the same rows as they are published."""
    m, rel = _now["m"], _now["release"]
    names = [name for name in m.frame.columns if name in {*m.qi, *m.sensitives}]
    before = m.frame[names].head(count)
    after = rel.frame[names].reindex(before.index).astype(object)
    there = rel.is_published[:count]
    return {
        "names": names,
        "secret": [name in m.sensitives for name in names],
        "rows": [
            {"number": int(number) + 1, "before": [_shown(v) for v in old],
             "after": [_shown(v) for v in new] if shown else None}
            for number, old, new, shown in zip(before.index, before.astype(object).to_numpy(),
                                               after.to_numpy(), there, strict=True)
        ],
    }  # fmt: skip


def _shown(value: object) -> str:
    missing = value is None or (isinstance(value, float) and value != value)
    return "" if missing else str(value)[:60]


# ---- files ------------------------------------------------------------------------------------


def write(path: str) -> dict:
    """Write the release as csv, as the command line writes it, if its promises hold."""
    rel = _now["release"]
    table = _now["table"]
    writing.write_tables({path: rel.public_tables()[0]}, delimiter=table.delimiter)
    return {"path": path, "bytes": os.path.getsize(path)}


def write_report(path: str) -> dict:
    """Write the report for the table's owner."""
    rel = _now["release"]
    page.write_page(rel, path, call=rel.call)
    return {"path": path, "bytes": os.path.getsize(path)}


def example(path: str) -> dict:
    """Write a table of 600 people who do not exist."""
    rng = np.random.default_rng(7)
    n = 600
    age = np.clip(rng.normal(48, 17, n).astype(int), 18, 95)
    towns = ["Ashby", "Brook", "Colne", "Dale", "Esk", "Ford"]
    illnesses = ["asthma", "diabetes", "none", "migraine", "depression", "cancer", "flu"]
    shares = [0.14, 0.13, 0.3, 0.13, 0.12, 0.08, 0.1]
    lines = ["patient,age,sex,town,children,illness"]
    for i in range(n):
        lines.append(
            f"P{i + 1:04d},{age[i]},{rng.choice(['female', 'male'])},{rng.choice(towns)},"
            f"{rng.poisson(1.2)},{rng.choice(illnesses, p=shares)}"
        )
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"path": path}


CALLS = {f.__name__: f for f in (read, prepare, protect, rows, write, write_report, example)}

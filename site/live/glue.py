"""What the page asks of the package. It runs in the page's worker, and in any Python.

``call`` takes the name of a function below and its arguments as JSON, and answers with JSON.
"""

import gzip
import json
import re
import time
import zlib

import numpy as np
import pandas as pd

import anonpaper as ap
from anonpaper import errors
from anonpaper.owner import report
from anonpaper.owner.reader import Table
from anonpaper.principles import GroupCounts, KAnonymity, Principle
from anonpaper.publish import writing

#: Name -> the numbers that it takes, and how its result is published.
METHODS = {
    "mondrian": ("kl", ap.generalize),
    "full_domain": ("kl", ap.recode),
    "tds": ("l", ap.recode),
    "tp_plus": ("l", ap.suppress),
    "hilbert": ("l", ap.generalize),
}
MOST_COLUMNS = 12  # proposed as known to others; beyond that the user chooses
SHOWN = 20  # rows
# errors name options of the command line, which the page does not have
OPTIONS = r"[:;,]? ?(is it --|try encoding=|delimiter=|name (all|texts)|--type|Run |or pass ).*"

_now: dict = {}  # the table, its microdata and the release that the page shows


def call(name: str, arguments: str) -> str:
    """Call a function by name; its answer, or what was wrong, as JSON."""
    try:
        answer = {"answer": CALLS[name](**json.loads(arguments))}
    except errors.AnonpaperError as error:
        text = str(error).replace(str(_now.get("path", "")) or "\0", _now.get("name", ""))
        answer = {"error": re.sub(OPTIONS, "", text, flags=re.DOTALL)}
    except MemoryError:
        answer = {"error": "The table does not fit in the memory of a browser tab. Use the "
                           "command line, which has no such limit."}  # fmt: skip
    except Exception as error:  # a fault of ours: say so, and go on
        answer = {"error": f"A fault of this page, not of your table: {error!r}"[:400]}
    return json.dumps(answer, default=lambda one: getattr(one, "item", one.__str__)())


def read(path: str, name: str) -> dict:
    """Read a table; say how each column was read, and propose its role."""
    _now.clear()
    _now.update(path=path, name=name)
    given = {} if name.lower().endswith((".xlsx", ".xlsm")) else _dialect(path, name)
    _now["table"] = table = Table.opened(path, **given).read()
    n, columns = len(table.frame), []
    for column, values in table.frame.items():
        kind, distinct, doubt = table.kinds[column], values.dropna().unique(), table.doubts[column]
        others = " or ".join(doubt.kinds) if doubt else ""
        unique = len(distinct) == n > 20 and not kind.startswith("decimal")
        about = {"name": column, "role": "identifier" if unique else "known"}
        about["kind"] = f"{kind}, or is it {others}?" if others else kind
        about |= {"distinct": len(distinct), "missing": int(values.isna().sum())}
        columns.append(about | {"examples": [str(value)[:30] for value in distinct[:3]]})
    if sum(column["role"] == "known" for column in columns) > MOST_COLUMNS:
        for column in columns:
            column["role"] = column["role"].replace("known", "out")
    return {"rows": n, "columns": columns, **given}


def _dialect(path: str, name: str) -> dict[str, str]:
    """Return the encoding of a text, and what separates most fields of its first line."""
    try:
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as stream:
            content = stream.read()
    except (OSError, EOFError, zlib.error) as error:
        raise errors.FileError(f"{name}: {error}") from None
    marked = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not marked and b"\0" in content[:4096]:
        raise errors.FileError(f"{name} is no text: the page reads csv and xlsx")
    is_utf8 = content.decode("utf-8", "ignore").encode() == content
    encoding = "utf-16" if marked else "utf-8" if is_utf8 else "cp1252"
    head = content[:1_000_000].decode(encoding, errors="replace").lstrip("\ufeff\r\n")
    outside = "".join(head.split("\n", 1)[0].split('"')[::2])
    return {"encoding": encoding, "delimiter": max(",;\t|", key=outside.count)}


def prepare(roles: list[str]) -> dict:
    """Give columns their roles; say how exposed the people are."""
    table = _now["table"]
    of = {role: [name for name, one in zip(table.frame, roles, strict=True) if one == role]
          for role in ("known", "secret", "identifier")}  # fmt: skip
    if not of["known"]:
        raise errors.ColumnError("Choose at least one column that others may know about people.")
    repeated = [name for name in of["identifier"] if table.frame[name].duplicated().any()]
    _now["m"] = m = ap.Microdata(
        table.frame, of["known"], of["secret"], person=next(iter(repeated), None),
        missing="category", origin=_now["name"],
    )  # fmt: skip
    found = report.audit(m, 0)
    feasible = found["feasible"].values()
    return {
        "people": m.n_people, "by": m.person, "below5": found["uniqueness"]["in groups below 5"],
        "most_l": min((part["largest frequency l"] for part in feasible), default=1),
        "has_secret": bool(m.sensitives),
        **_risks(m, ap.recode(m, ap.Recoding.identity(m.attributes))),
    }  # fmt: skip


def _risks(m: ap.Microdata, rel: ap.Release) -> dict:
    """The smallest class, people who are unique, and the greatest share of a secret in a class."""
    classes = rel.entries.in_groups(rel.classes.group)
    sizes = GroupCounts.of(classes).sizes
    shares = [ap.Theta(1, of=name).level(classes) for name in m.sensitives]
    found = {"smallest": int(sizes.min()), "alone": int((sizes == 1).sum())}
    return found | {"sure": max(shares, default=None)}


def protect(method: str, k: int = 5, l: int = 1) -> dict:
    """Make a release; say what it keeps, what it promises and how that was checked."""
    began, m = time.perf_counter(), _now["m"]
    takes, publish = METHODS[method]
    if not m.sensitives and (takes == "l" or l > 1):
        raise errors.ParameterError("Choose a secret column above for this promise.")
    given = {"l": l, "diversity": "frequency"} if takes == "kl" and l > 1 else {}
    _now["release"] = rel = publish(m, getattr(ap, method)(m, l if takes == "l" else k, **given))
    names = [*m.qi, *m.sensitives]
    return {
        "loss": float(ap.measure.gcp(rel)), "withheld": rel.entries.rows(~rel.shown), "rows": m.n,
        "promises": [[_in_words(p), level is None] for p, level in rel.kept().items()],
        "warnings": [*rel.warnings, *writing.formulas([writing.plain(rel.frame)])],
        "seconds": time.perf_counter() - began, "call": rel.call, "names": names,
        "first": rel.frame[names].head(SHOWN).astype(str).to_numpy().tolist(),
        **_risks(m, rel),
    }  # fmt: skip


def _in_words(promise: Principle) -> str:
    """Return what a promise means for a person."""
    if isinstance(promise, KAnonymity):
        return f"{promise.k}-anonymity: everybody looks like at least {promise.k - 1} others"
    of = "" if promise.of is None else f" of {promise.of}"
    return f"{promise.l}-diversity{of}: a guess is right with probability 1/{promise.l} at most"


def write(path: str) -> dict:
    """Write the release as csv, as the command line writes it, if its promises hold."""
    tables = {path: _now["release"].public_tables()[0]}
    writing.write_tables(tables, delimiter=_now["table"].delimiter)
    return {"path": path}


def example(path: str) -> dict:
    """Write a table of 600 people who do not exist."""
    rng, n = np.random.default_rng(7), 600
    illnesses = ["asthma", "diabetes", "none", "migraine", "depression", "cancer", "flu"]
    columns = {
        "patient": [f"P{i + 1:04d}" for i in range(n)],
        "age": np.clip(rng.normal(48, 17, n).astype(int), 18, 95),
        "sex": rng.choice(["female", "male"], n),
        "town": rng.choice(["Ashby", "Brook", "Colne", "Dale", "Esk", "Ford"], n),
        "children": rng.poisson(1.2, n),
        "illness": rng.choice(illnesses, n, p=[0.14, 0.13, 0.3, 0.13, 0.12, 0.08, 0.1]),
    }
    pd.DataFrame(columns).to_csv(path, index=False)
    return {"path": path}


CALLS = {function.__name__: function for function in (read, prepare, protect, write, example)}

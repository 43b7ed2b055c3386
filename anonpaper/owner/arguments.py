"""What the options of a command mean: tables, hierarchies, methods, releases, files to write."""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from numbers import Number
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np

import anonpaper as ap
from anonpaper import errors, measure
from anonpaper.algorithm import RECODED, Algorithm
from anonpaper.coding import MISSING
from anonpaper.constraints import read_constraints
from anonpaper.errors import AnonpaperError, ParameterError
from anonpaper.files import check_place, named_by_user, sha256
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Attribute, Microdata
from anonpaper.owner import reader
from anonpaper.owner.reader import LOG, STANDARD_STREAM, Table
from anonpaper.owner.report import check_page_place
from anonpaper.principles import read_principle
from anonpaper.publish import Release, writing
from anonpaper.recoding import Recoding

#: Name of a function -> its declaration, for every algorithm of the package.
METHODS: dict[str, Algorithm] = {
    name: getattr(ap, name).algorithm
    for name in ap.__all__
    if name not in ("plots", "compendium") and hasattr(getattr(ap, name), "algorithm")
}  # these two would load matplotlib
#: Parameters that have an option, and its name. Others can be given in Python only.
_OPTIONS = {name: f"--{name}" for name in (
    "k", "l", "theta", "seed", "preference", "require", "constraints", "suppression", "recoding",
    "unseen")}  # fmt: skip
_OPTIONS["hierarchies"] = "--hierarchy"
#: What a column of counts must be.
COUNTS = "counts people of this table; weights of a survey would make k too large"


# -- texts and files ----------------------------------------------------------------------------


def names(texts: Iterable[str]) -> list[str]:
    """Split lists of column names as lines of csv.

    >>> names(['"income, monthly", age', "zip"])
    ['income, monthly', 'age', 'zip']
    """
    return [name for line in csv.reader(texts, skipinitialspace=True) for name in line]


def kinds(texts: Iterable[str]) -> dict[str, str | list[str]]:
    """Return the kinds of columns that texts like NAME=KIND give.

    >>> kinds(["zip=text,answer=no<yes"])
    {'zip': 'text', 'answer': ['no', 'yes']}
    """
    found: dict[str, str | list[str]] = {}
    for text in names(texts):
        name, _, told = text.rpartition("=")
        kind = told.split("<") if "<" in told else told
        if found.setdefault(name, kind) != kind:
            raise ParameterError(f"{name!r} cannot be both {found[name]} and {kind}: choose one")
    return found


#: Options that name files to write, and what refuses a name.
_WRITTEN = {
    "report": check_page_place,
    "risks": partial(check_place, endings=(".csv",), of="risks are written as .csv"),
    "save_schema": check_place,
    "save_recoding": check_place,
}


def outputs(o: SimpleNamespace, form: str = "") -> list[str]:
    """Return the files of the tables; none if the table goes to standard output.

    FileError if a file may not be written: wrong ending, an input, or already there. Inputs are
    never overwritten, however they are spelled or linked, even with --force.
    """
    tables = [] if o.output in (None, STANDARD_STREAM) else [o.output]
    if form == "anatomize":
        if not tables:
            raise ParameterError("anatomize publishes two tables: name a file with -o")
        tables.append(str(writing.beside(o.output, "sensitive")))
    taken = ["/dev/stdin" if o.file == STANDARD_STREAM else o.file]
    taken += filter(None, [o.schema, o.population, o.constraints, o.recoding])
    for text in o.hierarchy or ():
        taken += [text[sign.end() :] for sign in re.finditer("=", text)]
    written = dict.fromkeys(tables, writing.check_table_place)
    for name, check in [*written.items(), *((vars(o)[n], check) for n, check in _WRITTEN.items())]:
        if name is not None:
            if same := [other for other in taken if _are_the_same(name, other)]:
                raise errors.FileError(f"{name} is the same file as {same[0]}: name another file")
            check(name, replace=o.force)
            taken.append(name)
    return tables


def _are_the_same(*paths: str) -> bool:
    with named_by_user(paths[0]):
        there = all(map(os.path.exists, paths))
        return os.path.samefile(*paths) if there else len({*map(os.path.realpath, paths)}) == 1


def read(o: SimpleNamespace) -> tuple[Table, Microdata, Microdata | None]:
    """Return the Table of a file, its Microdata, and that of --population."""
    LOG.info("reading %s", o.file)
    given = {name: vars(o).get(name) for name in reader.DEFAULTS}
    given |= {name: names(given[name] or ()) for name in ("qi", "sensitive", "keep")}
    texts, people = dict.fromkeys(given["qi"], "text") if o.stars else {}, None
    given["types"] = texts | kinds(o.type)
    table, m = reader.with_roles(o.file, given, o.schema)
    o.count = json.loads(table.schema).get("count")  # a schema may have it
    if o.population:
        told = {name: given[name] for name in ("na", "missing", "delimiter", "encoding")}
        told["types"] = {name: kind for name, kind in table.kinds.items() if name in m.qi}
        people = reader.with_roles(o.population, told | {"qi": m.qi})[1]
    used = [*m.qi, *m.sensitives, m.person, *given["keep"]]
    left = [] if o.keep is None else [name for name in table.columns if name not in used]
    for text, columns in {
        "not published: %s (neither --qi nor --sensitive; --keep publishes them)": left,
        "warning: published unchanged, without protection: %s": given["keep"],
        f"warning: %s {COUNTS}": o.count,
    }.items():
        if columns:
            LOG.info(text, columns)
    if o.file != STANDARD_STREAM and o.report:
        m = m.replace(origin=f"{o.file}, sha256 {sha256(Path(o.file).read_bytes())}")
    return table, m, people


def for_owner(o: SimpleNamespace, table: Table, release: Release, people) -> dict[str, bytes]:
    """Return the content of the files that are written beside a table, for its owner."""
    files = {}
    if o.save_schema:
        files[o.save_schema] = table.schema
    if o.risks:
        rows = measure.identification(release, people)
        files[o.risks] = writing.as_csv(rows.set_axis(rows.index + 1).reset_index(names="row"))
        LOG.info("do not publish %s: it shows who is at risk", o.risks)
    if o.save_recoding:
        if release.recoding is None:
            told = "methods that recode all rows alike: full_domain, tds and the searches"
            raise ParameterError(f"--save-recoding goes with {told}")
        with TemporaryDirectory() as folder:
            release.recoding.save(path := Path(folder, "recoding.json"))
            files[o.save_recoding] = path.read_bytes()
    return files


# -- hierarchies --------------------------------------------------------------------------------

#: What makes a hierarchy of a column, and of which numbers.
_MAKERS = {"prefixes": (Hierarchy.prefixes, int), "dates": (Hierarchy.dates, str),
           "widths": (Hierarchy.intervals, float)}  # fmt: skip


def hierarchies(texts: Sequence[str], m: Microdata, kinds: Mapping) -> dict[str, Hierarchy]:
    """Make the hierarchies that texts like NAME=TREE describe; a NAME may contain the sign."""
    found = {}
    for text in texts:
        name = max((name for name in m.qi if text.startswith(f"{name}=")), key=len, default=None)
        tree = text[len(name or "") + 1 :]
        if name is None or not tree:
            raise ParameterError(f"--hierarchy {text}: NAME=TREE, NAME one of {m.qi}")
        kind, _, numbers = tree.partition(":")
        make, number = _MAKERS.get(kind, (None, str))
        form = {"form": kinds[name]} if kind == "dates" and "%" in kinds.get(name, "") else {}
        try:
            steps = [[*map(number, numbers.split(","))]] if numbers or kind == "widths" else []
            found[name] = make(m.frame[name], *steps, **form) if make else Hierarchy.from_csv(tree)
        except AnonpaperError as error:
            raise type(error)(f"--hierarchy {text}: {error}") from None
        except ValueError:
            wanted = "whole numbers" if number is int else "numbers, as in widths:5,10,20"
            raise ParameterError(f"--hierarchy {text}: {kind} takes {wanted}") from None
    return found


def _asked_for(attribute: Attribute, kind: object) -> str:
    """The hierarchy that the values of a column ask for, or "": of dates, codes, and numbers."""
    known = [value for value in attribute.values.tolist() if value != MISSING]
    with suppress(AnonpaperError):
        Hierarchy.dates(known, form=kind if "%" in str(kind) else None)
        return "dates"
    if all(isinstance(value, str) and value.isdecimal() for value in known):
        return "prefixes" if len({*map(len, known)}) == 1 < len(known[0]) else ""
    numbers = [float(value) for value in known if isinstance(value, Number)]
    if len(numbers) < len(known) or (span := np.ptp(numbers)) < 8:
        return ""
    widths = [10.0 ** math.floor(math.log10(span / 4)) / 2 * 2**level for level in range(4)]
    return f"widths:{','.join(map('{:g}'.format, widths))}"


# -- methods ------------------------------------------------------------------------------------


def saved_recoding(m: Microdata, recoding: str, unseen: str = "error") -> Recoding:
    """Return the recoding of a file; `unseen` is for :func:`publish`."""
    return Recoding.load(recoding)


def chosen(o: SimpleNamespace) -> tuple[Algorithm, str]:
    """Return the method of a name (tp+ is tp_plus), or a saved recoding's, and how to publish."""
    name = (o.method or "").lower().replace("-", "_").replace("tp+", "tp_plus")
    if (o.method is None) == (o.recoding is None):
        raise ParameterError("choose one of --method and --recoding")
    if o.method is not None and name not in METHODS:
        raise ParameterError(f"--method {o.method!r} is not one of {', '.join(METHODS)}")
    saved = Algorithm(saved_recoding, "a saved recoding", publications=RECODED)
    found = METHODS.get(name, saved)
    form = o.publish or found.publications[0]
    if form not in found.publications:
        told = f"does not work with {found.name}: choose {', '.join(found.publications)}"
        raise ParameterError(f"--publish {form} {told}")
    needed = found.needs_sensitive or o.l or form in ("swap", "anatomize")
    if needed and not (o.sensitive or o.schema):
        raise ParameterError("--sensitive must name the column that nobody should learn")
    return found, form


def takes(method: Algorithm) -> dict[str, bool]:
    """Return the options of a method's parameters, and whether each is required."""
    offered = {name: p.default is p.empty for name, p in method.parameters.items()}
    offered |= {"hierarchies": False} if method.by_bits else {}
    return {_OPTIONS[name]: needed for name, needed in offered.items() if name in _OPTIONS}


def parameters(o: SimpleNamespace, method: Algorithm, hierarchies: Mapping) -> dict[str, object]:
    """Return the parameters that were given; ParameterError if the method takes others."""
    given = {name: vars(o).get(name) for name in _OPTIONS if name != "seed"}
    given |= {"hierarchies": hierarchies, "require": [*map(read_principle, o.require)]}
    try:
        given["constraints"] = read_constraints(o.constraints) if o.constraints else None
    except errors.ConstraintError as error:  # a wrong file is an error of usage
        raise ParameterError(str(error)) from None
    given = {name: value for name, value in given.items() if value not in (None, [], {})}
    taken, options = takes(method), {_OPTIONS[name] for name in given}
    if wrong := sorted(options - {*taken}):
        told = f"{', '.join(wrong)}; it takes {', '.join(taken) or 'nothing'}"
        raise ParameterError(f"{method.name} does not take {told}")
    if lacking := [name for name, needed in taken.items() if needed and name not in options]:
        raise ParameterError(f"{method.name} needs {' and '.join(lacking)}")
    return given | ({"seed": o.seed} if "--seed" in taken else {})


def publish(
    m: Microdata, method: Algorithm, form: str, parameters: Mapping, trees=None, seed=None
) -> Release:
    """Run a method and publish its result.

    InfeasibleError if `parameters` ask for more people in a group than there are.
    """
    parameters = dict(parameters)
    if parameters.get("k", 0) > m.n_people:
        told = f"no group can meet k = {parameters['k']}"
        raise errors.InfeasibleError(f"{told}: the table has {m.n_people} people")
    if method.by_bits:
        m = ap.in_preorder(m, parameters.pop("hierarchies", {}))
    result = method.function(m, **parameters)
    if form == "shallow":
        return ap.shallow_generalize(m, result, trees or {})
    options = {"swap": {"seed": seed}, "recode": {"unseen": parameters.get("unseen", "error")}}
    return getattr(ap, form)(m, result, **options.get(form, {}))


def suggested(m: Microdata, kinds: Mapping, call: Sequence[str]) -> dict[str, str]:
    """Return one command that protects a table, and how much detail it costs."""
    if m.n_people < 2:
        return {}
    asked = {name: _asked_for(m.attribute(name), kinds.get(name)) for name in m.qi}
    needs_trees = {"dates", "prefixes"} & {*asked.values()}  # else intervals of values do
    texts = [f"{name}={tree}" for name, tree in asked.items() if tree and needs_trees]
    given, mondrian = {"k": min(5, m.n_people), "l": 2}, METHODS["mondrian"]
    try:
        rel = publish(m, mondrian, "generalize", given, {})
    except AnonpaperError:  # no secret, several, or one that more than half of the people share
        rel = publish(m, mondrian, "generalize", given := {"k": given["k"]}, {})
    if texts:  # where hierarchies lose less than intervals and sets of values
        by_trees = publish(m, mondrian, "shallow", given, hierarchies(texts, m, kinds))
        rel, texts = min((rel, []), (by_trees, texts), key=lambda pair: measure.gcp(pair[0]))
    files, flags = ("--risks", "--save-schema", "--population"), ("--json", "--force", "--quiet")
    pairs = itertools.pairwise(["", *call[2:]])
    left = (*files, *flags, "-q", "--stars")
    own = [a for before, a in pairs if before not in files and a.partition("=")[0] not in left]
    form = "shallow" if texts else "generalize"
    own += ["--method=mondrian", *(f"--{name}={value}" for name, value in given.items())]
    own += [f"--publish={form}", *(f"--hierarchy={text}" for text in texts), "-o", "safe.csv"]
    return {
        "command": shlex.join(["python", "-m", "anonpaper", "anonymize", *own]),
        "share of detail lost (GCP)": f"{measure.gcp(rel):.1%}",
    }

"""Every figure of a notebook that rests on data in place of other data says so.

Followed by name, from where a data set or a saved table is named to what is drawn: a figure that
`Results` saves has to be made from those data sets by its manifest, since that is what stamps it,
and one that it does not save has to be stamped by the cell that draws it.
"""

import ast
import json
import re
from pathlib import Path

import pytest
from project.cells import NAMES, code_cells, python_of

from anonpaper.datasets.registry import registry

ROOT = Path(__file__).parents[2]
DATA = registry()
REPLACED = {name for name, entry in DATA.items() if entry.stand_in or entry.substitute_for}
STAMPS = {"stamp", "stamp_saved"}


def made_from():
    """Return for each table that the notebooks save the data sets that it was made from."""
    return {
        path.removesuffix(".csv"): {data.get("dataset") for data in output["data"]}
        for share in sorted((ROOT / "figures/expected/quick/manifest").rglob("*.json"))
        for path, output in json.loads(share.read_text())["outputs"].items()
    }


MADE_FROM = made_from()


def named(text):
    """Return the data sets in place of others that a text names: one, or those of a table."""
    return {text} & REPLACED or MADE_FROM.get(text, set()) & REPLACED


class Followed:
    """Which data sets in place of others stand behind each name of a notebook."""

    def __init__(self):
        self.behind = {}

    def of(self, node):
        """Return the data sets that an expression, or what else of a cell, rests on."""
        if isinstance(node, ast.Constant):
            return named(node.value) if isinstance(node.value, str) else set()
        if isinstance(node, ast.Name):
            return self.behind.get(node.id, set())
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            one = node.slice.value
            return named(one) if one in DATA or one in MADE_FROM else self.of(node.value)
        if isinstance(node, ast.Dict):  # of common={"tables": tables} the grid says which
            pairs = zip(node.keys, node.values, strict=True)
            used = [pair for pair in pairs if getattr(pair[0], "value", None) != "tables"]
            return set().union(*(self.of(part) for pair in used for part in pair if part))
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            inner = Followed()
            inner.behind = dict(self.behind)
            for loop in node.generators:
                inner.give(loop.target, inner.of(loop.iter))
            parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            return set().union(*(inner.of(part) for part in parts))
        return set().union(*map(self.of, ast.iter_child_nodes(node)))

    def give(self, target, found):
        """Note what stands behind the names of a target; part of a thing counts as all of it."""
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.behind[node.id] = found
            elif isinstance(node, ast.Name):
                self.behind[node.id] = self.of(node) | found

    def follow(self, statements):
        """Follow what assignments and loops do."""
        for node in statements:
            if isinstance(node, ast.Assign):
                found = self.of(node.value)
                for target in node.targets:
                    self.give(target, found)
            elif isinstance(node, ast.AugAssign):
                self.give(node.target, self.of(node.target) | self.of(node.value))
            elif isinstance(node, ast.For):
                self.give(node.target, self.of(node.iter))
            called = getattr(node.value, "func", None) if isinstance(node, ast.Expr) else None
            if isinstance(called, ast.Attribute) and called.attr in ("append", "extend", "update"):
                self.give(called.value, self.of(node.value))
            self.follow(getattr(node, "body", []))
            self.follow(getattr(node, "orelse", []))


def calls(tree, *names):
    """Return the calls of methods or functions of these names."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", None)) in names
    ]


def recorded(paper, name):
    """Return what an output was made from by the manifest; of a name with holes, all that fit."""
    parts = name.values if isinstance(name, ast.JoinedStr) else [name]
    pattern = "".join(
        re.escape(part.value) if isinstance(part, ast.Constant) else ".+" for part in parts
    )
    found = [data for path, data in MADE_FROM.items() if re.fullmatch(f"{paper}/{pattern}", path)]
    assert found, f"{paper}/{pattern} is in no manifest"
    return set.intersection(*found)


def unstamped(paper, cells):
    """Return the figures of a notebook's code cells that do not say what they rest on."""
    followed, found = Followed(), []
    for tree, draws in cells:
        followed.follow(tree.body)
        saved = [
            call for call in calls(tree, "figure") if ast.unparse(call.func.value) == "results"
        ]
        for call in saved:
            shown = next(given.value for given in call.keywords if given.arg == "data")
            left_out = followed.of(shown) - recorded(paper, call.args[1])
            found += [(ast.unparse(call.args[1]), name) for name in sorted(left_out)]
        if draws and not saved:
            stamped = set().union(*map(followed.of, calls(tree, *STAMPS)))
            found += [("a figure", name) for name in sorted(followed.of(tree) - stamped)]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_of_data_in_place_of_others_says_so(name):
    cells = [
        (python_of(cell), any("image/png" in output.get("data", {}) for output in cell.outputs)
         and "answer" not in cell.metadata.get("tags", []))  # a saved picture has its stamp
        for cell in code_cells(name)
    ]  # fmt: skip
    assert unstamped(name.partition("/")[0], cells) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("m = ap.load('occ')\nfigure, ax = draw(m)", ["occ"]),
        ("m = ap.load('occ')\nfigure, ax = draw(m)\nplots.stamp(figure, named(m))", []),
        ("m = ap.load('adult')\nfigure, ax = draw(m)", []),
        ("t = {n: ap.load(n) for n in ('adult', 'sal')}\n---\ndraw(t['adult'])", []),
        ("rows = []\nfor n in ('sal',):\n    rows.append(ap.load(n))\ndraw(rows)", ["sal"]),
        ("gaps, _ = saved('any/gaps')\ndraw(gaps)", ["occ"]),
        ("gaps, _ = saved('any/gaps')\ndraw(gaps)\nstamp_saved(f, 'any/gaps')", []),
        ("t = {n: saved(n) for n in ['any/saved']}\ndraw(t['any/saved'])", ["occ", "sal"]),
        ("runs = run_grid(f, [{'d': 2}], common={'tables': occ})\ndraw(runs)", []),
        (
            "grid = [dict(table='pantheon')]\nresults.figure(f, 'figure_4a', data=grid)",
            ["pantheon"],
        ),
    ],
)
def test_a_figure_that_says_nothing_is_found(monkeypatch, source, found):
    """What goes round the names is missed: the last test refuses a function that does."""
    tables = {"any/gaps": {"occ"}, "any/saved": {"occ", "sal"}, "any/figure_4a": set()}
    for name, data in tables.items():
        monkeypatch.setitem(MADE_FROM, name, data)
    *before, last = map(ast.parse, source.split("\n---\n"))
    cells = [*((cell, False) for cell in before), (last, True)]
    assert [name for _, name in unstamped("any", cells)] == found


def test_no_function_of_a_paper_loads_data_in_place_of_others_by_itself():
    for path in sorted((ROOT / "notebooks").rglob("*.py")):
        for call in calls(ast.parse(path.read_text()), "load", "load_tables", "figure_tables"):
            texts = {node.value for node in ast.walk(call) if isinstance(node, ast.Constant)}
            assert not texts & REPLACED, f"{path.name}:{call.lineno}"

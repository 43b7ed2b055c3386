"""The theatre: its steps are those of the package, and everybody can follow them."""

import json
import sys
from itertools import product

import numpy as np
import pytest
from project.helpers import FAULTS, PHONE, ROOT, SCREEN, load_tool, opened, serious

import anonpaper as ap
from anonpaper.errors import AnonpaperError

sys.path.append(str(ROOT / "site" / "theatre"))
import scenes

MOST_BYTES = 300_000


def groups(labels):
    """Return which people are together, whatever the groups are called."""
    labels = np.asarray(labels)
    return {frozenset(np.flatnonzero(labels == one)) for one in np.unique(labels[labels >= 0])}


#: How a user runs the algorithm of a paper.
AGAIN = {
    "xiao2010": lambda m, l, method, **_: ap.tp(m, l) if method == "TP" else ap.mondrian(m, l),
    "boger2020": lambda m, method, **given: (
        ap.klt(m, seed=scenes.SEED, withheld="drop", **given) if method == "klt"
        else ap.mondrian(m, given["k"])),
    "diva2021": lambda m, **given: ap.diva(m, ap.examples.patients_constraints(), seed=0, **given),
    "majeed2024": lambda m, k, synthetic: ap.balanced_classes(m, k, 2, seed=0),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("paper", scenes.PLAYS)
def test_steps_end_where_the_algorithm_ends(paper):
    play, possible = scenes.PLAYS[paper], 0
    for values in product(*play.parameters.values()):
        given = dict(zip(play.parameters, values, strict=True))
        try:
            m, script, release = play.run(scenes.table_of(paper, given), **given)
        except AnonpaperError as error:
            assert str(error) == scenes.run(paper, scenes.table_of(paper, given), given)["error"]
            continue
        possible += 1
        *_, before, last = script.steps
        lines = scenes.TEXTS[script.of or paper][1]
        assert {step["line"] for step in script.steps} <= {*range(1, len(lines) + 1)}
        shown = release.frame.astype(str).reindex(m.frame.index)
        told = np.array(last["cells"], dtype=str)
        assert (told[release.is_published] == shown[release.is_published].to_numpy()).all()
        if paper == "dewri2009":
            assert groups(last["group"]) == groups(release.classes.labels)
            continue
        p = AGAIN[paper](m, **given)
        assert groups(last["group"]) == groups(before["group"]) == groups(p.labels)
        if paper == "diva2021":
            taken = [step["group"] for step in script.steps if step["line"] == 4][-1]
            assert groups(taken) <= groups(p.labels)
    assert possible > 1
    assert len(scenes.as_json(paper)) < MOST_BYTES


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("paper", scenes.PLAYS)
def test_beliefs_and_levels_are_those_of_the_release(paper):
    play = scenes.PLAYS[paper]
    given = {name: values[0] for name, values in play.parameters.items()}
    run = scenes.run(paper, scenes.table_of(paper, given), given)
    for step in run["steps"]:
        for label, counts in step["held"].items():
            rows = np.flatnonzero(np.array(step.get("class", step["group"])) == label)
            assert sum(counts) == len(rows)
            if "cells" in step and paper != "boger2020":  # whose groups are published as groups
                assert len({tuple(step["cells"][row][:-1]) for row in rows}) == 1
            share = ",".join(str(n) for n in sorted(counts, reverse=True) if n)
            best, distinct, *_ = run["levels"][share]
            assert best == round(len(rows) / max(counts), 3) and distinct == np.count_nonzero(
                counts
            )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("paper", scenes.PLAYS)
def test_an_edited_table_is_run_by_the_package(paper):
    m = scenes.PLAYS[paper].people()
    cells = [row[1:] for row in scenes.people_of(m)]
    given = {name: values[0] for name, values in scenes.PLAYS[paper].parameters.items()}
    same = json.loads(scenes.edited(paper, cells, given))
    assert same == json.loads(json.dumps(scenes.run(paper, m, given)))
    cells[0][-1] = cells[-1][-1] = cells[1][-1]
    assert json.loads(scenes.edited(paper, cells, given)) != same
    if "table" in given:  # what the fields say counts, whatever table was chosen
        m = scenes.hospital("Table 1 of the paper")
        cells, given = (
            [row[1:] for row in scenes.people_of(m)],
            given | {"table": "Table 1 of the paper"},
        )
        same = json.loads(json.dumps(scenes.run(paper, m, given)))
        assert json.loads(scenes.edited(paper, cells, given | {"table": "rarer diseases"})) == same


@pytest.fixture(scope="module")
def theatre(tmp_path_factory):
    folder = tmp_path_factory.mktemp("theatre")
    load_tool("site").write_theatre(folder)
    return folder


@pytest.mark.parametrize("paper", scenes.PLAYS)
def test_everybody_can_watch(theatre, browser, paper):
    said = []
    for scheme, size in (("light", PHONE), ("dark", SCREEN)):
        with opened(browser, viewport=size, color_scheme=scheme) as page:
            page.on("pageerror", lambda error: said.append(str(error)))
            page.goto((theatre / f"{paper}.html").as_uri())
            first = page.locator("#say").inner_text()
            page.keyboard.press("ArrowRight")
            assert page.locator("#say").inner_text() != first
            page.keyboard.press("End")
            page.locator("#people tbody button").first.click()
            assert page.locator("#people tr.fits").count() > 1
            page.locator("[data-guess^=Right]").click()
            assert page.locator("#attacked").inner_text().startswith("Right. ")
            page.locator("summary").click()
            assert "distinct l-diversity" in page.locator("#levels").inner_text()
            page.locator("#lines .word").first.click()
            assert page.locator("[popover]:popover-open a").count() == 2
            assert serious(page) == []
            page.keyboard.press("Escape")
            page.locator("summary").click()
            page.keyboard.press("End")
            assert page.locator(".bar").count() >= 4
            assert serious(page) == []
            assert page.evaluate(FAULTS) == []
            address, shown = page.url, page.locator("main").inner_text()
        with opened(browser, viewport=size) as page:  # the address carries the state
            page.goto(address)
            assert page.locator("main").inner_text() == shown
    assert said == []


def test_a_reader_predicts_and_what_is_not_possible_is_said(theatre, browser):
    said = []
    with opened(browser, viewport=SCREEN) as page:
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto((theatre / "xiao2010.html").as_uri() + "#table=Table 1 of the paper")
        page.locator("[data-guess]").first.click()  # k-anonymity alone does not protect Bob
        assert "right with probability 100 %" in page.locator("#attacked").inner_text()
        page.locator("#forward").click()
        assert "Who moves next?" in page.locator("#say").inner_text()
        page.locator("#people tbody button").nth(1).click()
        assert page.locator("#say").inner_text().startswith("Right: Bob could move as well.")
        page.keyboard.press("ArrowRight")  # the person still has the focus
        assert "Who moves next?" in page.locator("#say").inner_text()
        page.locator("#people tbody button").nth(4).click()
        assert page.locator("#say").inner_text().startswith("Not Eva.")
        page.locator("#forward").click()
        page.locator("#p-l").fill("1")  # takes the question back
        page.locator("#people tbody button").nth(1).click()
        assert said == []
        assert "largest feasible l is 2. Possible: " in page.locator("#say").inner_text()
        assert "or l = 2" in page.locator("#say").inner_text()
        page.keyboard.press("End")
        page.goto((theatre / "xiao2010.html").as_uri() + "#l=2&table=six people&step=5&person=Bob")
        assert "2 of the 3 rows that fit Bob" in page.locator("#attacked").inner_text()
        assert page.locator("#people tr.chosen").inner_text().split()[1:4] == ["*"] * 3
        assert "needs other diseases" in page.locator("#say").inner_text()
        page.locator("#people tr.chosen button").click()  # Bob is attacked still
        assert "rows that fit Bob" in page.locator("#attacked").inner_text()
        page.locator("#veil").uncheck()
        assert "Master" in page.locator("#people tr.chosen").inner_text()
        page.goto((theatre / "xiao2010.html").as_uri() + "#l=2&table=rarer diseases&step=7")
        page.locator("#p-l").fill("2")
        assert "Not possible" in page.locator("#say").inner_text() and "step=7" in page.url
        page.locator("#p-l").fill("0")
        page.locator("#p-l").fill("1")  # who is at the last step stays there
        assert page.locator("#say").inner_text().startswith("10 of 10")
        page.evaluate("$('change').click()")  # the fields show the table on screen
        helen = page.locator("#people tbody tr").nth(7).locator("select").last
        assert helen.input_value() == "dyspepsia"
        helen.select_option("HIV")
        assert "Edited: press Run" in page.locator("#loaded").inner_text()
        page.locator("#p-table").select_option("Table 1 of the paper")
        assert "edits are undone" in page.locator("#loaded").inner_text()
        assert helen.input_value() == "pneumonia"
        page.goto(f"{(theatre / 'xiao2010.html').as_uri()}#l=3&step=7&person=Calvin")
        assert page.locator("#p-table").input_value() == "rarer diseases"  # which has a step 7
        assert "rows that fit Calvin" in page.locator("#attacked").inner_text()
        page.goto(f"{(theatre / 'xiao2010.html').as_uri()}?embed")
        assert not page.locator("header").is_visible()

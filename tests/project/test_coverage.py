"""The lists of what the papers say: every sentence has a claim, or a reason for none."""

import csv
from pathlib import Path

import pytest

from anonpaper.compendium import judge
from anonpaper.compendium.catalogue import papers

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.fixture(params=sorted(papers()))
def paper(request):
    return request.param


@pytest.fixture
def said(paper):
    with (NOTEBOOKS / paper / "coverage.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_sentence_has_claims_that_exist_or_a_reason(paper, said):
    known = {claim.id for claim in judge.of_paper(paper)}
    for row in said:
        assert None not in row and row["section"] and row["says"], row
        ids = row["claims"].split()
        assert set(ids) <= known and len(set(ids)) == len(ids), row
        assert bool(ids) != bool(row["reason"]), row


def test_every_measured_claim_judges_a_sentence(paper, said):
    judging = {id for row in said for id in row["claims"].split()}
    measured = {claim.id for claim in judge.of_paper(paper) if claim.kind == judge.MEASURED}
    assert measured - judging == set()


def test_sentences_are_told_once_and_in_short(said):
    assert max(len(row["says"].split()) for row in said) <= 12
    assert len({(row["section"], row["says"]) for row in said}) == len(said)

"""Several secrets, people, any principle and a budget on the command line, held by pandas."""

import json

import numpy as np
import pandas as pd
import pytest

from anonpaper.owner.cli import main


@pytest.fixture
def visits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng, patient = np.random.default_rng(0), np.repeat(np.arange(60), 5)
    frame = pd.DataFrame(
        {
            "age": np.where(patient == 7, 99, 20 + patient // 10), "sex": patient % 2,
            "illness, main": rng.choice(["flu", "hiv", "ulcer"], 300),
            "drug": rng.choice(list("wxyz"), 300), "patient": patient,
        }
    )  # fmt: skip
    frame.to_csv("visits.csv", index=False)
    return frame


TABLE = ["visits.csv", "--qi", "age,sex", "--sensitive", '"illness, main",drug', "-q"]


def anonymized(capsys, *options):
    command = ["anonymize", *TABLE, "-o", "out.csv", "--force", "--json", *options]
    assert main(command) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out), pd.read_csv("out.csv")


def test_people_and_several_secrets(visits, capsys):
    found, out = anonymized(
        capsys, "--person", "patient", "--method", "mondrian", "--k", "8",
        "--publish", "generalize", "--require", "DistinctLDiversity(2)",
        "--require", 'DistinctLDiversity(3, of="illness, main")',
    )  # fmt: skip
    assert set(out.columns) == {"age", "sex", "illness, main", "drug"}
    assert found["parameters"]["require"][0] == "DistinctLDiversity(l=2)"
    levels = {line["principle"]: line["level"] for line in found["levels"]}
    assert levels["k-anonymity"] >= 8
    groups = out.groupby(["age", "sex"])
    assert groups.size().min() >= 8
    assert groups["illness, main"].nunique().min() >= 3 and groups["drug"].nunique().min() >= 2
    assert levels["distinct l-diversity of drug"] == groups["drug"].nunique().min()


def test_a_budget_of_rows(visits, capsys):
    method = ["--method", "full_domain", "--k", "20", "--l", "2"]
    whole, _ = anonymized(capsys, *method)
    found, out = anonymized(capsys, *method, "--suppression", "0.02")
    assert found["rows"]["withheld"] == 300 - len(out) == 5
    assert (
        found["loss"]["share of detail lost (GCP)"] < whole["loss"]["share of detail lost (GCP)"]
    )
    assert out.groupby(["age", "sex"]).size().min() >= 20


def test_the_audit_tells_rows_and_people(visits, capsys):
    assert main(["audit", *TABLE, "--person", "patient", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["table"]["rows"], found["table"]["people"]) == (300, 60)
    people = visits.groupby(["age", "sex"])["patient"].nunique()
    assert found["levels"][0]["level"] == people.min() == 1
    assert found["uniqueness"]["unique people"] == (people == 1).sum()
    value = visits.drop_duplicates(["patient", "drug"])["drug"].value_counts()
    assert found["feasible for drug"]["its people"] == value.max()
    assert main(["audit", *TABLE, "--person", "patient"]) == 0
    assert "smallest class, people" in capsys.readouterr().out


@pytest.mark.parametrize(("options", "code", "message"), [
    (["--method", "mondrian", "--keep", "patient", "--person", "patient"], 2, "--keep"),
    (["--method", "mondrian", "--k", "3", "--person", "age"], 2, "used twice"),
    (["--method", "mondrian", "--k", "3", "--person", "nobody"], 2, "unknown columns"),
    (["--method", "mondrian", "--k", "61", "--person", "patient"], 1, "60 people"),
    (["--method", "mondrian", "--k", "3", "--require", "Privacy(3)"], 2, "is not a principle"),
    (["--method", "mondrian", "--k", "3", "--require", "Theta(0.5, of='age')"], 2, "'age'"),
    (["--method", "mondrian", "--k", "3", "--require", "DistinctLDiversity(9)"], 1, "reach 3"),
    (["--method", "mondrian", "--k", "3", "--suppression", "0.1"], 2, "does not take"),
    (["--method", "full_domain", "--k", "3", "--suppression", "2"], 2, "from 0 to 1|in .0, 1"),
    (["--method", "tp", "--l", "2"], 2, "one sensitive attribute"),
    (["--method", "k_member", "--k", "3", "--person", "patient"], 2, "this counts rows"),
])  # fmt: skip
def test_bad_input_writes_nothing(visits, capsys, tmp_path, options, code, message):
    assert main(["anonymize", *TABLE, "-o", "out.csv", *options]) == code
    assert pd.Series([capsys.readouterr().err]).str.contains(message).all()
    assert not (tmp_path / "out.csv").exists()

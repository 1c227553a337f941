"""`anoncore dossier`: of a recipe and of a certificate, its files, its exit codes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pandas as pd
import pytest

from anoncore import Answers
from anoncore.cli import main

RECIPE = """
format = 2
[source]
path = "people.csv"
[roles]
age = "quasi-identifier"
disease = "sensitive"
[algorithm]
name = "mondrian"
requirements = [{ name = "k-anonymity", k = 5 }]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    people = pd.DataFrame({"age": range(20, 32), "disease": ["flu", "cold"] * 6})
    people.to_csv("people.csv", index=False)
    people.assign(age=people["age"] + 5).to_csv("others.csv", index=False)
    Path("people.toml").write_text(RECIPE)
    for k in (5, 40):
        Path(f"{k}.toml").write_text(f'name = "Ours"\n[levels]\nk = {k}\n')
    Path("answers.toml").write_text('recipients = "the registry"\n')
    return tmp_path


@pytest.mark.slow
def test_of_a_recipe(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["dossier", "people.toml", "--answers", "answers.toml", "--try", "mondrian k=12", "--control", "others.csv"]
    assert main([*asked, "--policy", "5.toml", "--output", "a.html"]) == 0
    assert "Written: a.html and a.json" in capsys.readouterr().out
    told = json.loads(Path("a.json").read_text())
    assert (told["released"]["recipients"], told["reached"]["policy"]["status"]) == ("the registry", "kept")
    assert [one["is_chosen"] for one in told["treatment"]["considered"]] == [True, False]
    assert told["adversaries"]["control"].startswith("12 rows")
    assert "the registry" in Path("a.html").read_text()
    assert main(["dossier", "people.toml", "--output", "a.html"]) == 2
    assert "'a.html' exists" in capsys.readouterr().err
    assert sorted(path.name for path in folder.glob("*release*")) == []


def test_of_a_certificate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "people.toml", "--output", "out"]) == 0
    certificate = "out/people-release-certificate.json"
    assert main(["dossier", certificate, "--policy", "5.toml"]) == 0
    assert main(["dossier", certificate, "--policy", "40.toml", "--force"]) == 1
    assert main(["dossier", certificate, "--policy", "wp216", "--force"]) == 3
    assert main(["dossier", certificate, "--policy", "wp216", "--force", "--strict"]) == 1
    capsys.readouterr()
    assert main(["dossier", certificate, "--force", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["written"], told["dossier"]["basis"]) == (["dossier.html", "dossier.json"], "certificate")
    assert told["dossier"]["decisions"]["certificate_signature"].startswith("nobody signed")
    assert main(["dossier", certificate, "--output", "-"]) == 0
    page = capsys.readouterr().out
    assert page.lstrip().startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")
    table = Path("out/people-release.csv")
    table.write_text(table.read_text().replace("flu", "gout"))
    assert main(["dossier", certificate, "--force"]) == 1


def test_who_signed_the_certificate(folder: Path) -> None:
    pytest.importorskip("cryptography")
    certificate = "out/people-release-certificate.json"
    assert main(["run", "people.toml", "--output", "out", "--quiet"]) == 0
    assert main(["keygen", "--name", "Ann", "--output", "ann.key", "--quiet"]) == 0
    asked = ["dossier", certificate, "--trusted-key", "ann.key.pub", "--force"]
    assert main(asked) == 1
    assert main(["sign", certificate, "--key", "ann.key", "--quiet"]) == 0
    assert main(asked) == 0
    told = json.loads(Path("dossier.json").read_text())
    assert told["decisions"]["certificate_signature"] == "signed by Ann's key."


def test_what_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dossier", "--template"]) == 0
    assert Answers.loads(capsys.readouterr().out) == Answers()
    assert main(["dossier", "--schema"]) == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(capsys.readouterr().out))


def test_answers_of_a_recipe(folder: Path) -> None:
    text = '\n[dossier]\nrecipients = "the clinic"\n[dossier.roles_decided_by]\nage = "the board"\n'
    Path("people.toml").write_text(RECIPE + text)
    asked = ["dossier", "people.toml", "--draws", "0", "--force", "--quiet"]
    assert main(asked) == 0
    told = json.loads(Path("dossier.json").read_text())
    decided = {one["name"]: one["decided_by"] for one in told["people"]["columns"]}
    assert (told["released"]["recipients"], decided) == ("the clinic", {"age": "the board", "disease": ""})
    assert main([*asked, "--answers", "answers.toml"]) == 0
    assert json.loads(Path("dossier.json").read_text())["released"]["recipients"] == "the registry"


@pytest.mark.slow
def test_of_a_release_in_parts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("parts.toml").write_text(RECIPE.replace("mondrian", "rothko-tree"))
    assert main(["run", "parts.toml", "--engine", "disk", "--output", ".", "--quiet"]) == 0
    assert main(["dossier", "parts-release", "--policy", "5.toml", "--answers", "answers.toml", "--quiet"]) == 0
    told = json.loads(Path("dossier.json").read_text())
    assert (told["basis"], told["released"]["recipients"]) == ("certificate", "the registry")
    assert [(one["value"], one["standing"]) for one in told["identifiability"]["levels"]] == [(6, "counted")]
    assert {one["standing"] for one in told["treatment"]["costs"]} == {"not measured"}
    assert main(["dossier", "parts-release", "--policy", "40.toml", "--force", "--quiet"]) == 1
    part = next(Path("parts-release").glob("part-*"))
    pd.read_parquet(part).head(4).to_parquet(part)
    assert main(["dossier", "parts-release", "--force", "--quiet"]) == 1
    told = json.loads(Path("dossier.json").read_text())
    assert (told["reached"]["verdict"][:28], told["released"]["standing"]) == ("The certificate does not hol", "fails")
    assert main(["dossier", "postgresql://nobody.example/clinic", "--force"]) == 2
    assert "Name the release in the database with --table" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Name a recipe"),
        (["people.toml", "people.csv"], "Published files are named after a certificate"),
        (["people-certificate.json", "--try", "mondrian k=2"], "need the original table"),
        (["people.toml", "--output", "a.json"], "'a.json' is where the JSON goes"),
        (["people.toml", "--json", "--output", "-"], "both write to the standard output"),
        (["people.toml", "--answers", "none.toml"], "The file of answers 'none.toml' cannot be read"),
        (["people.toml", "--policy", "cmss"], "There is no policy 'cmss'"),
        (["none-certificate.json"], "cannot be read"),
    ],
)
def test_mistakes_end_with_two(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert main(["dossier", *options]) == 2
    assert message in capsys.readouterr().err
    assert not Path("dossier.html").exists()

"""`anoncore run` with shifted dates and pseudonyms: where the key lies, what is said, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from anoncore import Recipe
from anoncore.cli import main
from tests.recipes.test_prepared_columns import RECIPE, VISITS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    VISITS.to_csv(tmp_path / "visits.csv", index=False)
    (tmp_path / "visits.toml").write_text(RECIPE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_key_lies_beside_the_recipe_and_not_in_the_release(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "visits.toml", "--output", "release", "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "pseudonyms.key (key of the pseudonyms, not for publication)" in said
    assert "joins the rows of a person" in said.splitlines()[0]
    assert "Dates were shifted by a random number of up to 30 days per person: 'admitted'." in said
    key = (folder / "pseudonyms.key").read_text().splitlines()[1]
    published = "".join(path.read_text() for path in (folder / "release").iterdir())
    assert key not in published
    assert key not in said
    assert main(["verify", "release/visits-release-certificate.json", "--quiet"]) == 3
    assert "claimed, not checked: Pseudonyms made with a key: 'patient'." in capsys.readouterr().out


def test_what_joining_breaks_fails_strictly(folder: Path) -> None:
    assert main(["run", "visits.toml", "--output", "release", "--strict", "--quiet"]) == 1


def test_the_same_key_gives_the_same_pseudonyms(folder: Path) -> None:
    for name in ("one", "two"):
        assert main(["run", "visits.toml", "--output", name, "--quiet"]) == 0
    first, second = (pd.read_csv(folder / name / "visits-release.csv") for name in ("one", "two"))
    assert set(first["patient"]) == set(second["patient"])


@pytest.mark.parametrize("output", [".", "deep"])
def test_a_key_in_the_folder_of_the_release_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], output: str
) -> None:
    (folder / "deep").mkdir()
    key = "deep/patients.key" if output == "deep" else "patients.key"
    (folder / "visits.toml").write_text(RECIPE.replace("patient = {}", f'patient = {{key = "{key}"}}'))
    assert main(["run", "visits.toml", "--output", output]) == 2
    assert "which is published; name a file outside of it" in capsys.readouterr().err
    assert not list(folder.rglob("*.key"))


def test_a_key_elsewhere_needs_leave(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "visits.toml").write_text(RECIPE.replace("patient = {}", 'patient = {key = "../patients.key"}'))
    assert main(["run", "visits.toml", "--output", "release"]) == 2
    assert "allow it with --allow-path" in capsys.readouterr().err


def test_disk_refuses(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "visits.toml", "--output", "release", "--engine", "disk"]) == 2
    assert "Only the engine memory shifts dates and makes pseudonyms" in capsys.readouterr().err


def test_the_original_is_compared_but_for_what_was_made_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "visits.toml", "--output", "release", "--key-file", "hash.key", "--quiet"]) == 0
    words = ["verify", "release/visits-release-certificate.json", "--recipe", "visits.toml", "--key-file", "hash.key"]
    capsys.readouterr()
    assert main([*words, "--json", "--quiet"]) == 3
    (found,) = (one for one in json.loads(capsys.readouterr().out)["findings"] if one["check"] == "input")
    assert found["outcome"] == "holds"
    assert found["sentence"] == "The release was made of this table; not compared: 'admitted', 'patient'."


def test_a_first_recipe_offers_to_shift_dates(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "visits.csv", "--output", "-"]) == 0
    text = capsys.readouterr().out
    line = 'dates = { admitted = { shift = 30, by = "patient" } }'
    assert f"# {line}\n" in text
    assert Recipe.loads(text.replace(f"# {line}", line)).dates["admitted"].by == "patient"

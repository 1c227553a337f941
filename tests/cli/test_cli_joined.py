"""Recipes of several tables on the command line: run, written together, verified, refused and forged."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from anoncore.cli import main
from tests.recipes.hospital import write_recipe

FILES = ["hospital-release-certificate.json", "hospital-release-patients.csv", "hospital-release-visits.csv"]


def test_a_run_is_verified_in_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out"
    assert main(["run", str(write_recipe(tmp_path)), "--output", str(output)]) == 0
    assert sorted(path.name for path in output.iterdir()) == FILES
    assert "are in groups of at least 10" in capsys.readouterr().out
    main(["verify", str(output)])
    said = capsys.readouterr().out
    assert "holds: patients, joined: k-anonymity (k = 5) holds: the worst group has size 10" in said
    assert "\nfails" not in said
    # Who knows the diagnosis, too, finds two people of an age, a year and a diagnosis.
    assert main(["verify", str(output), "--known", "age,year,diagnosis"]) == 1
    assert "fails: visits, joined: k-anonymity (k = 5) fails" in capsys.readouterr().out
    assert main(["verify", str(output), "--policy", "cms"]) == 2
    assert "--policy" in capsys.readouterr().err


def test_a_join_that_gives_more_is_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    assert main(["run", str(write_recipe(tmp_path, telling=True)), "--output", str(output)]) == 2
    assert "'patients', 'visits' give more together than each promises" in capsys.readouterr().err
    assert not output.exists()
    assert not list(tmp_path.glob("*.key"))


def test_without_pseudonyms_what_holds_only_unjoined_is_claimed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, output = write_recipe(tmp_path, telling=True, linked=False), tmp_path / "out"
    assert main(["run", str(recipe), "--output", str(output), "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert (told["linked"], told["k"], len(told["broken"])) == (False, 2, 2)
    assert main(["run", str(recipe), "--output", str(output), "--force", "--strict"]) == 1
    capsys.readouterr()
    assert main(["verify", str(output / FILES[0])]) == 3
    assert "claimed, not checked: Joined by 'patient', people are in groups of at least 2." in capsys.readouterr().out


def test_files_that_join_to_one_person_fail_whatever_the_certificate_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    main(["run", str(write_recipe(tmp_path)), "--output", str(output)])
    visits = pd.read_csv(output / FILES[2])
    first = visits.groupby("year")["patient"].first()
    visits["patient"] = visits["patient"].replace(dict(zip(first, first[::-1], strict=True)))
    visits.sort_values("patient").to_csv(output / FILES[2], index=False, lineterminator="\r\n")
    capsys.readouterr()
    assert main(["verify", str(output), "--no-hashes"]) == 1
    assert "fails: patients, joined: k-anonymity (k = 5) fails" in capsys.readouterr().out


def test_a_zip_holds_all_of_it(tmp_path: Path) -> None:
    assert main(["run", str(write_recipe(tmp_path)), "--output", str(tmp_path / "out.zip")]) == 0
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert archive.namelist() == ["out-certificate.json", "out-patients.csv", "out-visits.csv"]


def test_it_can_be_signed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cryptography")
    output, key = tmp_path / "out", tmp_path / "ann.key"
    main(["run", str(write_recipe(tmp_path)), "--output", str(output)])
    assert main(["keygen", "--name", "Ann", "--output", str(key)]) == 0
    assert main(["sign", str(output), "--key", str(key)]) == 0
    capsys.readouterr()
    main(["verify", str(output), "--trusted-key", f"{key}.pub"])
    assert "signed by Ann's key" in capsys.readouterr().out


def test_the_key_is_not_written_where_the_tables_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = write_recipe(tmp_path)
    assert main(["run", str(recipe), "--output", str(tmp_path)]) == 2
    assert "would lie in the folder" in capsys.readouterr().err
    assert not (tmp_path / "pseudonyms.key").exists()
    recipe.write_text(recipe.read_text() + '[output]\npath = "."\n')
    assert main(["run", str(recipe)]) == 2
    assert "would lie in the folder" in capsys.readouterr().err


def test_what_is_published_by_decision_breaks_the_join_only_for_the_strict(tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path)
    visits = pd.read_csv(tmp_path / "visits.csv")
    visits.assign(bed=range(len(visits))).to_csv(tmp_path / "visits.csv", index=False)
    recipe.write_text(recipe.read_text().replace("{year", '{bed = "insensitive", year'))
    assert main(["run", str(recipe), "--output", str(tmp_path / "out")]) == 0
    assert main(["run", str(recipe), "--output", str(tmp_path / "strict"), "--strict"]) == 1
    assert main(["verify", str(tmp_path / "out")]) == 3


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--unit", "patient"], "'--unit': the recipe is of several tables"),
        (["--output", "one.csv"], "is one file, and there are 2 tables"),
        (["--output", "-"], "written to a folder or a zip"),
        (["--engine", "disk"], "leave --engine out"),
    ],
)
def test_options_for_one_table_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], says: str
) -> None:
    assert main(["run", str(write_recipe(tmp_path)), *options]) == 2
    assert says in capsys.readouterr().err


def test_other_commands_say_that_they_are_for_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = str(write_recipe(tmp_path))
    assert main(["evaluate", recipe]) == 2
    assert "is a recipe of several tables, which `anoncore run` makes" in capsys.readouterr().err
    assert main(["recipe", recipe]) == 0
    assert "[tables.visits.algorithm]" in capsys.readouterr().out


def test_a_recipe_reaches_no_further_than_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    recipe = write_recipe(folder)
    recipe.write_text(recipe.read_text().replace('"visits.csv"', '"../visits.csv"'))
    assert main(["run", str(recipe)]) == 2
    assert "which is outside its own folder" in capsys.readouterr().err

"""Recipes that shift dates and make pseudonyms: read, written, run, moved, and refused; and where keys are kept."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pandas as pd
import pytest

from anoncore import AnonymizationError, Recipe, RecipeError
from anoncore.algorithms import Mondrian
from anoncore.base.errors import ParameterError
from anoncore.recipes.engine_choice import on_disk
from anoncore.recipes.reach import require_within_reach
from anoncore.recipes.script import python_script
from anoncore.requirements import KAnonymity
from anoncore.table.pseudonyms import Pseudonyms

RECIPE = """
format = 2
source = {path = "visits.csv"}
algorithm = {name = "mondrian", requirements = [{name = "k-anonymity", k = 2}]}
[roles]
age = "quasi-identifier"
admitted = "quasi-identifier"
illness = "sensitive"
[dates]
admitted = {shift = 30, by = "patient"}
[pseudonyms]
patient = {}
"""
VISITS = pd.DataFrame(
    {
        "patient": [1, 1, 2, 2, 3, 3],
        "age": [40, 40, 41, 41, 42, 42],
        "admitted": ["2024-01-01", "2024-01-11", "2024-02-01", "2024-02-21", "2024-03-01", "2024-03-31"],
        "illness": ["flu", "cold", "flu", "gout", "cold", "gout"],
    }
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    VISITS.to_csv(tmp_path / "visits.csv", index=False)
    (tmp_path / "visits.toml").write_text(RECIPE)
    return tmp_path


def test_a_run_shifts_dates_and_publishes_pseudonyms(folder: Path) -> None:
    run = Recipe.load(folder / "visits.toml").run()
    table = run.release.pandas_tables()["release"]
    made = Pseudonyms.read(folder / "pseudonyms.key").of(VISITS["patient"])
    assert sorted(table["patient"]) == sorted(made)
    assert run.data.n_people == 3
    true = pd.to_datetime(VISITS["admitted"])
    days = (run.data.frame["admitted"] - true).dt.days
    assert days.tolist() == run.data.shifts.days.tolist()
    assert all(len(set(own)) == 1 for _, own in days.groupby(VISITS["patient"]))


def test_a_key_is_made_once_and_kept(folder: Path) -> None:
    recipe = Recipe.load(folder / "visits.toml")
    first, second = recipe.microdata(), recipe.microdata()
    assert first.frame["patient"].tolist() == second.frame["patient"].tolist()
    assert first.frame["admitted"].tolist() != second.frame["admitted"].tolist(), "shifts are drawn anew"
    if os.name == "posix":
        assert (folder / "pseudonyms.key").stat().st_mode & 0o777 == 0o600


def test_looking_at_a_release_again_writes_no_key(folder: Path) -> None:
    Recipe.load(folder / "visits.toml").microdata(as_published=True)
    assert not (folder / "pseudonyms.key").exists()


def test_nothing_of_key_or_shifts_is_written_into_the_recipe(folder: Path) -> None:
    recipe = Recipe.load(folder / "visits.toml")
    recipe.run()
    text = recipe.dumps()
    assert Recipe.loads(text) == recipe
    assert tomllib.loads(text)["dates"] == {"admitted": {"shift": 30, "by": "patient"}}
    assert tomllib.loads(text)["pseudonyms"] == {"patient": {"key": "pseudonyms.key"}}
    assert Pseudonyms.read(folder / "pseudonyms.key").key.hex() not in text


def test_a_prepared_table_tells_its_recipe(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    data = Recipe.load(folder / "visits.toml").microdata()
    recipe = Recipe.of(folder / "visits.csv", data, Mondrian(requirements=[KAnonymity(k=2)]))
    assert recipe.dates["admitted"].shift == 30
    assert recipe.dates["admitted"].by == recipe.unit == "patient"
    assert list(recipe.pseudonyms) == ["patient"]
    assert not recipe.holds_values_of
    again = recipe.microdata()
    assert again.roles == data.roles
    assert again.frame["patient"].tolist() == data.frame["patient"].tolist()


def test_a_moved_recipe_finds_its_key(folder: Path) -> None:
    recipe = Recipe.load(folder / "visits.toml")
    made = recipe.microdata().frame["patient"].tolist()
    (folder / "deep").mkdir()
    recipe.save(folder / "deep" / "moved.toml")
    moved = Recipe.load(folder / "deep" / "moved.toml")
    assert moved.pseudonyms["patient"].key == "../pseudonyms.key"
    assert moved.microdata().frame["patient"].tolist() == made


def test_a_key_outside_of_the_folder_needs_leave(folder: Path) -> None:
    recipe = Recipe.loads(RECIPE.replace("patient = {}", 'patient = {key = "../patients.key"}'), folder)
    with pytest.raises(RecipeError, match=r"\[pseudonyms\] 'patient' of the recipe names '../patients.key'"):
        require_within_reach(recipe)
    require_within_reach(recipe, [folder.parent / "patients.key"])


def test_a_key_in_the_folder_that_is_published_is_refused(folder: Path) -> None:
    text = RECIPE.replace("patient = {}", 'patient = {key = "out/patients.key"}') + '[output]\npath = "out"\n'
    with pytest.raises(ParameterError, match=r"'patients.key' would lie in the folder 'out', which is published"):
        Recipe.loads(text, folder).microdata()
    assert not list(folder.rglob("*.key"))


def test_disk_prepares_nothing(folder: Path) -> None:
    with pytest.raises(RecipeError, match="Only the engine memory shifts dates and makes pseudonyms"):
        on_disk(Recipe.load(folder / "visits.toml"))


def test_a_script_does_the_same(folder: Path) -> None:
    script = folder / "visits.py"
    script.write_text(python_script(Recipe.load(folder / "visits.toml")))
    names = {"__file__": str(script), "__name__": "visits"}
    exec(compile(script.read_text(), str(script), "exec"), names)
    data = names["data"]
    assert data.pseudonym == "patient"
    assert data.shifts.most == 30
    assert data.frame["patient"].tolist() == Pseudonyms.read(folder / "pseudonyms.key").of(VISITS["patient"]).tolist()


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("{shift = 30", "{shift = 0", "dates.admitted: date shift: shift should be greater than or equal to 1, not 0"),
        ("shift = 30", "days = 30", "dates.admitted: date shift: "),
        ('{shift = 30, by = "patient"}', "30", "dates.admitted should be a table such as {shift = 30}, not 30"),
        ("patient = {}", "patient = true", "pseudonyms.patient should be a table such as {}, not True"),
        ("patient = {}", 'patient = {key = ""}', "pseudonyms.patient: pseudonym: '' is no path of a file"),
        ("patient = {}", "doctor = {}", "no column 'doctor' to prepare"),
        ("admitted = {", "age = {", "'age' is to be shifted, and holds integer instead of dates"),
        ('age = "quasi-identifier"', 'patient = "sensitive"', "published as a pseudonym, so it cannot be a sensitive"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, before: str, after: str, sentence: str) -> None:
    with pytest.raises(AnonymizationError, match=sentence):
        Recipe.loads(RECIPE.replace(before, after), folder).microdata()


def test_preparations_are_tables() -> None:
    with pytest.raises(RecipeError, match="dates should be a table, not 30"):
        Recipe(source={"path": "visits.csv"}, algorithm={"name": "anatomy", "l": 2}, dates=30)  # type: ignore[arg-type]

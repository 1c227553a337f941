"""The column that says whose row it is, in recipes, scripts and on the command line."""

from __future__ import annotations

import runpy

import pandas as pd
import pytest

from anoncore import Recipe
from anoncore.base.errors import RecipeError
from anoncore.cli.command import main
from anoncore.recipes.engine_choice import on_disk
from anoncore.recipes.script import python_script

VISITS = "patient,age,disease\n" + "".join(
    f"p{row // 3},{20 + row % 7},{('flu', 'cold', 'gout')[row % 3]}\n" for row in range(30)
)
RECIPE = """
unit = "patient"
[source]
path = "visits.csv"
[roles]
age = "quasi-identifier"
disease = "sensitive"
patient = "identifier"
[algorithm]
name = "mondrian"
strict = true
requirements = [{name = "k-anonymity", k = 4}]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "visits.csv").write_text(VISITS)
    (tmp_path / "visits.toml").write_text(RECIPE)
    (tmp_path / "rows.toml").write_text(RECIPE.replace('unit = "patient"\n', ""))
    return tmp_path


def test_a_recipe_keeps_its_unit(folder):
    recipe = Recipe.load(folder / "visits.toml")
    assert recipe.unit == "patient"
    assert Recipe.loads(recipe.dumps()) == recipe
    assert "unit" not in Recipe.load(folder / "rows.toml").dumps()
    run = recipe.run()
    assert run.data.n_people == 10
    people = pd.read_csv(folder / "visits.csv").groupby(run.release.partition.group)["patient"].nunique()
    assert people.min() >= 4
    assert Recipe.of("visits.csv", run.data, recipe.algorithm).unit == "patient"


def test_a_script_makes_the_same_release(folder):
    recipe = Recipe.load(folder / "visits.toml")
    (folder / "visits.py").write_text(python_script(recipe))
    made = runpy.run_path(str(folder / "visits.py"))
    assert made["data"].unit == "patient"
    assert made["release"].partition.group.tolist() == recipe.run().release.partition.group.tolist()


def test_a_unit_is_a_text():
    with pytest.raises(RecipeError, match="unit should be the name of a column, not 3"):
        Recipe.from_dict({"source": {"builtin": "census"}, "algorithm": {"name": "mondrian"}, "unit": 3})


def test_the_commands_take_a_unit_and_propose_one(folder, capsys):
    rows = [str(folder / "rows.toml")]
    assert main(["run", *rows, "--output", str(folder / "a.csv")]) == 0
    shown = capsys.readouterr().out
    assert "30 rows in " in shown
    assert "Is each of the 10 different values of 'patient' a person? They stand in 30 rows" in shown
    assert main(["run", *rows, "--unit", "patient", "--output", str(folder / "b.csv"), "--report"]) == 0
    shown = capsys.readouterr().out
    assert "Mondrian: 30 rows (10 people) in " in shown
    assert " people\n" in shown
    assert "a person?" not in shown
    assert "patient" not in (folder / "b.csv").read_text()
    assert "30 rows (10 people) in " in (folder / "b-report.html").read_text()
    assert main(["evaluate", *rows, "--unit", "patient", "--measure", "k"]) == 0
    shown = capsys.readouterr()
    assert "Smallest group" in shown.out
    assert "Different people are counted by 'patient': 30 rows are those of 10 people." in shown.err
    assert main(["sweep", *rows, "--try", "mondrian k=2,3"]) == 0
    assert "Is each of the 10 different values of 'patient' a person?" in capsys.readouterr().err


def test_engines_that_count_rows_refuse(folder, capsys):
    with pytest.raises(RecipeError, match="Only the engine memory counts people"):
        on_disk(Recipe.load(folder / "visits.toml"))
    output = folder / "large"
    assert main(["run", str(folder / "visits.toml"), "--engine", "disk", "--output", str(output)]) == 2
    assert "Only the engine memory counts people" in capsys.readouterr().err
    assert not output.exists()

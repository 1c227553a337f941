"""Recipes of several tables: what they say once and for each, what they give, and when they are refused."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from anoncore import Recipe, privacy
from anoncore.base.errors import InfeasibleError, RecipeError
from anoncore.recipes.joined_tables import JoinedRecipe
from tests.recipes.hospital import LINKED, RECIPE, write_recipe


def test_each_table_is_a_recipe_with_what_is_said_once(tmp_path: Path) -> None:
    recipe = JoinedRecipe.load(write_recipe(tmp_path, more='[output]\npath = "release"\n'))
    for one in recipe.tables.values():
        assert (one.unit, list(one.pseudonyms), one.output, one.folder) == (
            "patient",
            ["patient"],
            recipe.output,
            tmp_path,
        )
    assert JoinedRecipe.loads(recipe.dumps(), tmp_path) == recipe


def test_a_run_joins_what_it_made(tmp_path: Path) -> None:
    run = JoinedRecipe.load(write_recipe(tmp_path)).run()
    assert (float(run.joined.k), run.joined.k_alone, run.broken) == (10.0, {"patients": 10, "visits": 20}, ())
    assert run.sentences[0] == "What is promised of each table holds also where they are joined by 'patient'."
    by_hand = privacy.joined({name: one.release for name, one in run.tables.items()}, by="patient")
    assert by_hand.classes.tolist() == run.joined.classes.tolist()


def test_dates_of_a_person_are_shifted_alike_in_all_tables(tmp_path: Path) -> None:
    days = pd.date_range("2024-01-01", periods=40)
    born = pd.DataFrame({"patient": range(40), "day": days, "age": 30})
    born.to_csv(tmp_path / "patients.csv", index=False)
    born.sample(frac=1, random_state=1).to_csv(tmp_path / "visits.csv", index=False)
    table = """
[tables.{name}]
source = {{path = "{name}.csv"}}
roles = {{age = "quasi-identifier", day = "insensitive"}}
dates = {{day = {{shift = {shift}}}}}
algorithm = {{name = "mondrian", requirements = [{{name = "k-anonymity", k = 5}}]}}
"""
    text = 'format = 2\nperson = "patient"\n' + table.format(name="patients", shift=90)
    run = JoinedRecipe.loads(text + table.format(name="visits", shift=90), tmp_path).run()
    patients, visits = (one.data.frame.set_index("patient")["day"] for one in run.tables.values())
    assert (patients.sort_index() == visits.sort_index()).all()
    assert (patients.sort_index().to_numpy() != days.to_numpy()).any()
    with pytest.raises(RecipeError, match="up to 30 and 90 days, and a person has one number of days in all tables"):
        JoinedRecipe.loads(text + table.format(name="visits", shift=30), tmp_path)


def test_tables_that_tell_more_together_are_refused_and_no_key_is_left(tmp_path: Path) -> None:
    recipe = JoinedRecipe.load(write_recipe(tmp_path, telling=True))
    with pytest.raises(InfeasibleError) as refused:
        recipe.run()
    said = str(refused.value)
    assert "'patients', 'visits' give more together than each promises" in said
    assert "the 40 people are in groups of at least 2 (by single rows of one table: 8)" in said
    assert "out, publish one of the tables, or one table with a row per person" in said
    assert not (tmp_path / "pseudonyms.key").exists()


def test_a_key_that_was_there_stays_after_a_refusal(tmp_path: Path) -> None:
    JoinedRecipe.load(write_recipe(tmp_path)).run()
    key = (tmp_path / "pseudonyms.key").read_bytes()
    with pytest.raises(InfeasibleError):
        JoinedRecipe.load(write_recipe(tmp_path, telling=True)).run()
    assert (tmp_path / "pseudonyms.key").read_bytes() == key


def test_without_pseudonyms_it_is_said_what_a_join_would_give(tmp_path: Path) -> None:
    run = JoinedRecipe.load(write_recipe(tmp_path, telling=True, linked=False)).run()
    assert not run.is_linked
    assert {one.fragment for one in run.broken} == {"patients", "visits"}
    assert run.sentences[0].startswith(
        "What is promised of each table holds only if nobody joins them by 'patient', which is not published. Where "
        "somebody does, patients: k-anonymity (k = 5) fails"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (RECIPE.replace('person = "patient"', ""), "lacks 'person'"),
        (RECIPE.replace('person = "patient"', "person = 3"), "person should be the name of a column, not 3"),
        (RECIPE.replace("format = 2", "format = 1"), "write format = 2"),
        (RECIPE.replace("tables.visits", "tables.patients2x").split("[tables.patients2x]")[0], "needs two or more"),
        (RECIPE + LINKED.replace("patient", "visit"), r"pseudonyms names 'visit', .* name 'patient'"),
        (
            RECIPE.replace("[tables.visits]", "[tables.visits]\nunit = 'ward'"),
            r"tables\.visits says 'unit', which is said",
        ),
        (RECIPE.replace("[tables.visits]", "[tables.visits]\nrolls = 1"), r"tables\.visits: .*'rolls'.*'roles'"),
        (RECIPE.replace("[tables.visits]", "[tables.'../x']"), "makes no name of a file"),
        (RECIPE.replace("[tables.visits]", "[tables.Patients]"), "take for one file"),
        ("tables = 3\nperson = 'a'", "needs two or more"),
        (RECIPE + "[more]\n", "has no key 'more'"),
    ],
)
def test_what_does_not_fit_is_named(text: str, says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        JoinedRecipe.loads(text)


def test_a_recipe_of_one_table_says_what_reads_several() -> None:
    with pytest.raises(RecipeError, match=r"a recipe of several tables, .* JoinedRecipe\.load reads it"):
        Recipe.loads(RECIPE)


def test_an_error_names_its_table(tmp_path: Path) -> None:
    recipe = JoinedRecipe.load(write_recipe(tmp_path))
    (tmp_path / "visits.csv").unlink()
    with pytest.raises(RecipeError.__mro__[1], match=r"Table 'visits': .*visits\.csv"):
        recipe.run()

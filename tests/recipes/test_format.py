"""The format of recipes: a saved one makes the same release also where later versions have other defaults."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from anoncore import DataError, Recipe, RecipeError
from anoncore.algorithms import ALGORITHMS, LocalSuppression, Mondrian
from anoncore.recipes.recipe import FIRST, FORMAT
from anoncore.recipes.source import HierarchySpec, Source
from anoncore.requirements import REQUIREMENTS, KAnonymity, TCloseness

FIELDS = json.loads((Path(__file__).parents[1] / "golden" / f"fields_of_format_{FIRST}.json").read_text("utf-8"))
"""By model the fields that a recipe writes, and those that it leaves out where they are not set. Those of format 2 are
the same: it differs in what becomes of a column without a role.
"""
MODELS = {"source": Source, "hierarchy": HierarchySpec, **ALGORITHMS, **REQUIREMENTS}
LEAST = 'source = {builtin = "census", rows = 60}\nalgorithm = {name = "mondrian"}\n'


@pytest.mark.parametrize("name", list(FIELDS))
def test_fields_stay_as_recipes_of_the_format_have_them(name: str) -> None:
    fields, then = MODELS[name].model_fields, FIELDS[name]
    gone = [field for field in (*then["written"], *then["left_out"]) if field not in fields]
    assert not gone, f"Recipes have the fields {gone} of {name}: read them still, or write a new format."
    set_now = [
        field
        for field in then["left_out"]
        if fields[field].is_required() or fields[field].get_default(call_default_factory=True) is not None
    ]
    assert not set_now, f"Recipes leave out {set_now} of {name} to say that they are not set: write a new format."
    new = [field for field in fields if field not in (*then["written"], *then["left_out"])]
    assert not new, (
        f"Recipes that were saved before lack {new} of {name}. Give them a default that does what was done before, and "
        f"add them to tests/golden/fields_of_format_{FIRST}.json."
    )


def test_a_saved_recipe_holds_every_value_of_methods_inside_too() -> None:
    method = LocalSuppression(method=Mondrian(requirements=[KAnonymity(k=5), TCloseness()]))
    hierarchies = {"age": HierarchySpec(width=5), "income": HierarchySpec(quantiles=4)}
    written = Recipe(source=Source(builtin="census"), algorithm=method, hierarchies=hierarchies).to_dict()
    assert written["format"] == FORMAT
    assert written["algorithm"] == {
        "name": "local-suppression",
        "requirements": [{"name": "k-anonymity", "k": 5}],
        "weights": {},
        "suppressed": "value",
        "method": {
            "name": "mondrian",
            "requirements": [{"name": "k-anonymity", "k": 5}, {"name": "t-closeness", "t": 0.2, "ground": "equal"}],
            "split": "median",
            "strict": False,
            "min_gain": 0.01,
            "recoding": "rows",
            "refine": False,
            "search_steps": 0,
        },
    }
    assert written["hierarchies"] == {"age": {"width": 5.0, "fanout": 2}, "income": {"quantiles": 4, "fanout": 2}}


def test_another_default_changes_no_saved_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = Recipe.loads(f"format = 1\n{LEAST}").dumps()
    kind = ALGORITHMS["mondrian"]
    monkeypatch.setattr(kind.model_fields["strict"], "default", True)
    monkeypatch.setattr(kind.model_fields["split"], "default", "loss")
    kind.model_rebuild(force=True)
    try:
        assert Recipe.loads(LEAST).algorithm.strict
        read = Recipe.loads(saved).algorithm
        assert (read.strict, read.split) == (False, "median")
        assert Recipe.loads(saved).dumps() == saved
    finally:
        monkeypatch.undo()
        kind.model_rebuild(force=True)


def test_numbers_are_text_unless_the_recipe_says_otherwise() -> None:
    plain, bounds = Recipe.loads(f"format = 1\n{LEAST}"), Recipe.loads(f'format = 1\nnumbers = "bounds"\n{LEAST}')
    assert (plain.numbers, bounds.numbers) == ("text", "bounds")
    assert "numbers" not in plain.to_dict()
    assert Recipe.loads(bounds.dumps()) == bounds != plain
    assert next(iter(plain.run().release.tables()["release"])) == "age"
    assert list(bounds.run().release.tables()["release"])[:2] == ["age_low", "age_high"]
    with pytest.raises(RecipeError, match="numbers is 'words'; use one of 'text', 'bounds', 'midpoints'"):
        Recipe.loads(f'numbers = "words"\n{LEAST}')


def test_a_recipe_without_a_format_is_read_with_a_sentence() -> None:
    old, new = Recipe.loads(LEAST), Recipe.loads(f"format = {FORMAT}\n{LEAST}")
    assert old == new
    assert (old.format, new.format, Recipe.loads(old.dumps()).format) == (None, FORMAT, FORMAT)
    (note,) = old.reading_notes()
    assert f"Write format = {FORMAT} into its first line" in note
    assert new.reading_notes() == ()


def test_a_column_without_a_role_is_left_out_or_in_the_first_format_refused() -> None:
    people = pd.DataFrame({"age": [20, 30], "weight": [60, 70], "who": ["a", "b"]})
    recipe = Recipe.loads(f'roles = {{age = "quasi-identifier"}}\nunit = "who"\nformat = {FORMAT}\n{LEAST}')
    assert recipe.tagged(people).left_out == ("weight",)
    first = replace(recipe, format=FIRST)
    with pytest.raises(DataError, match="Nobody decided on 'weight': the recipe is of format 1"):
        first.tagged(people)
    assert first.tagged(people.drop(columns="weight")).attributes == ("age",)
    assert Recipe.loads(first.dumps()).format == FIRST, "what nobody decided, writing it again does not decide"
    assert first.publishing_untagged().tagged(people).insensitive == ("weight",)
    before = first.tagged(people, as_published=True)
    assert (before.insensitive, before.undecided) == (("weight",), ("weight",)), "of a release that was made before"
    assert recipe.tagged(people, as_published=True).left_out == ("weight",)
    assert replace(first, roles={"*": "insensitive", **first.roles}).tagged(people).insensitive == ("weight",)
    with pytest.raises(RecipeError, match='write "\\*" = "insensitive" into'):
        recipe.publishing_untagged()


def test_a_key_of_the_first_format_is_read_there_alone() -> None:
    key = 'publish_untagged = ["weight"]\n'
    for first in ("", f"format = {FIRST}\n"):
        recipe = Recipe.loads(f"{first}{key}{LEAST}")
        assert (recipe.roles, recipe.format) == ({"weight": "insensitive"}, FIRST)
    with pytest.raises(RecipeError, match="A recipe has no key 'publish_untagged'"):
        Recipe.loads(f"format = {FORMAT}\n{key}{LEAST}")


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("99", "has the format 99, and this version of anoncore reads formats up to 2; install a newer version"),
        ("0", "format is 0; it should be 2, or 1 for an earlier recipe"),
        ("true", "format is True; it should be 2"),
        ('"1"', "format is '1'; it should be 2"),
        ("1.0", "format is 1.0; it should be 2"),
    ],
)
def test_another_format_is_refused_with_what_to_do(written: str, words: str) -> None:
    # What else stands in a recipe of a later format need not be known here.
    with pytest.raises(RecipeError, match=words):
        Recipe.loads(f"format = {written}\n{LEAST}")

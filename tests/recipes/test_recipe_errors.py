"""Recipes that cannot be read or run: one sentence that names the key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anoncore import Recipe, RecipeError
from anoncore.algorithms import Mondrian
from anoncore.base.errors import AnonymizationError
from anoncore.recipes.source import Source

TEXT = """
measures = ["utility.discernibility"]

[source]
path = "people.csv"

[roles]
age = "quasi-identifier"

[algorithm]
name = "mondrian"
requirements = [{name = "k-anonymity", k = 4}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("age,city\n" + "20,Bonn\n" * 8, encoding="utf-8")
    return tmp_path


BAD: list[tuple[str, str, str]] = [
    ("[source]", "[sauce]", "no key 'sauce'; it has 'format'"),
    ('[source]\npath = "people.csv"', "", "lacks 'source'"),
    ("[source]\n", "[source", "not valid TOML"),
    ('path = "people.csv"', 'paht = "people.csv"', r"\[source\].*no field paht; there is path, builtin"),
    ('path = "people.csv"', 'path = "people.csv"\nbuiltin = "census"', "either path"),
    ('path = "people.csv"', 'path = "people.csv"\nrows = 4', "rows and seed are for generated"),
    ('path = "people.csv"', 'builtin = "census"\nrows = 0', "rows should be greater than or equal to 1"),
    ('path = "people.csv"', 'builtin = "census"\nsheet = "x"', "are for files"),
    ('age = "quasi-identifier"', 'age = "secret"', "roles.age is 'secret'; use one of 'identifier'"),
    ('name = "mondrian"', 'name = "os.system"', "no algorithm 'os.system'; there is"),
    ('name = "mondrian"', 'name = ["mondrian"]', r"\[algorithm\]: There is no algorithm \['mondrian'\]"),
    ('name = "mondrian"', "", r"\[algorithm\]: The algorithm lacks a name; there is 'anatomy'"),
    ('name = "mondrian"', 'name = "mondrian"\nspilt = "median"', r"\[algorithm\]: Mondrian: there is no field spilt"),
    ("k = 4", "k = 0", "k should be greater than or equal to 1"),
    ('"k-anonymity"', '"k-anon"', "no requirement 'k-anon'"),
    ('"k-anonymity"', '["k-anonymity"]', "no requirement"),
    ('"utility.discernibility"', '"os.system"', "measure 1: There is no measure 'os.system'; there is 'privacy"),
    ('"utility.discernibility"', "{}", "measure 1: There is no measure ''"),
    ('"utility.discernibility"', "3", "measure 1 should be a table, not 3"),
    ('["utility.discernibility"]', '"utility.discernibility"', "measures should be a list"),
    ('"utility.discernibility"', '{name = "privacy.emd"}', "privacy.emd needs 'attribute'"),
    ('"utility.discernibility"', '{name = "privacy.emd", attribute = "a", grund = 1}', "takes no 'grund'; it takes"),
    ('"utility.discernibility"', '{name = "privacy.emd", attribute = "a", ground = "x"}', "ground should be 'ordered'"),
    ('"utility.discernibility"', '"privacy.profile", "privacy.profile"', "asks 'privacy.profile' twice"),
    ("[roles]", "[orders]\nage = 3\n[roles]", "orders.age should be a list of values, not 3"),
    ("[roles]", "[orders]\ncity = [['Bonn']]\n[roles]", r"orders.city: \['Bonn'\] stands where a single value"),
    ("[roles]", "[hierarchies.age]\nlevels = [[[20], 'x']]\n[roles]", r"hierarchies.age: .*\[20\] stands where"),
    ("[roles]", "[hierarchies.age.taxonomy]\nx = [{a = 1}]\n[roles]", r"hierarchies.age: .*'a': 1.* stands where"),
    ("[roles]", "[hierarchies.age.taxonomy]\nx = 3\n[roles]", "hierarchies.age: .*'x' must hold a list"),
    ('path = "people.csv"', 'path = ""', "'' is no path of a file"),
    ('path = "people.csv"', 'path = "a\\u0000b"', "is no path of a file"),
    ("[roles]", "[kinds]\nage = 3\n[roles]", "kinds.age is 3; use one of 'numeric'"),
    ("[roles]", "[hierarchies]\nage = 3\n[roles]", "hierarchies.age should be a table, not 3"),
    ("[roles]", "[hierarchies.age]\nwidth = 5\nquantiles = 3\n[roles]", "hierarchies.age.*exactly one of taxonomy"),
    ("[roles]", "[hierarchies.age]\nlevels = [[20], []]\n[roles]", "hierarchies.age.*an entry of levels is empty"),
    ("[roles]", "[hierarchies.city]\nwidth = 5\n[roles]", "hierarchies.city.*need a column of numbers"),
    ("[roles]", "[hierarchies.city]\ncalendar = ['year']\n[roles]", "hierarchies.city.*needs dates.*not 'Bonn'"),
    ("[roles]", "[hierarchies.city]\ncalendar = ['week']\n[roles]", "hierarchies.city.*'week'|calendar"),
    ("[roles]", "[hierarchies.city]\nprefix = [0]\n[roles]", "hierarchies.city.*prefix"),
    ("[roles]", "[hierarchies.city]\ngrid = [1]\n[roles]", "hierarchies.city.*needs numbers.*not 'Bonn'"),
    ("[roles]", "[hierarchies.city]\nrare = [1.5]\n[roles]", "hierarchies.city.*rare"),
    ("[roles]", "[hierarchies.city]\nfirst_letter = false\n[roles]", "hierarchies.city.*exactly one of"),
    ("[roles]", '[hierarchies]\ncity = "gone.csv"\n[roles]', "hierarchies.city.*'gone.csv' cannot be read"),
    ("[roles]", '[hierarchies]\ntown = "gone.csv"\n[roles]', "hierarchies names 'town', which the table lacks"),
    ('path = "people.csv"', 'path = "gone.csv"', "no file 'gone.csv'"),
    ('path = "people.csv"', 'builtin = "gone"', "no built-in table 'gone'"),
    ('path = "people.csv"', 'builtin = "adult"\nrows = 5', "'adult' is not generated"),
    ("[roles]", '[roles]\nshoe = "sensitive"', "roles names 'shoe', which the table lacks"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD, ids=[message[:40] for *_, message in BAD])
def test_a_wrong_recipe_gets_one_sentence_with_the_key(folder: Path, old: str, new: str, message: str) -> None:
    text = TEXT.replace(old, new, 1)
    assert text != TEXT
    with pytest.raises(AnonymizationError, match=message) as caught:
        Recipe.loads(text, folder).run()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfe\x00", "not UTF-8"), (None, r"'recipe\.toml' cannot be read")],
)
def test_an_unreadable_file_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "recipe.toml").write_bytes(content)
    with pytest.raises(RecipeError, match=message):
        Recipe.load(tmp_path / "recipe.toml")


@pytest.mark.parametrize("values", [{"orders": {"a": [None]}}, {"sensitive_values": {"a": [object()]}}])
def test_values_that_cannot_be_written_are_refused_when_the_recipe_is_made(values: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match=r"^(orders|sensitive_values)\.a: .* cannot be written down"):
        Recipe(source=Source(builtin="census"), algorithm=Mondrian(), **values)

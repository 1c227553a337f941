"""A recipe says hierarchies by the rule that makes them; where it has to list values, it says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import Hierarchy, Microdata, Recipe
from anoncore.algorithms import Mondrian
from anoncore.recipes.hierarchy_rules import spec_by_rule
from anoncore.recipes.script import python_script
from anoncore.recipes.source import Source
from anoncore.requirements import KAnonymity
from anoncore.table.hierarchy_defaults import (
    calendar_hierarchy,
    frequency_hierarchy,
    grid_hierarchy,
    letter_hierarchy,
    prefix_hierarchy,
)

RNG = np.random.default_rng(5)
BIRTHS = pd.Series(
    [
        f"{year}-{month:02}-{day:02}"
        for year, month, day in zip(
            RNG.integers(1930, 2010, 200), RNG.integers(1, 13, 200), RNG.integers(1, 29, 200), strict=True
        )
    ]
)
CODES = pd.Series([f"{code:05}" for code in RNG.integers(10_000, 99_999, 200)])
PLACES = pd.Series([f"{a / 100:.2f}, {b / 100:.2f}" for a, b in RNG.integers(100, 5_000, (200, 2))])
TOWNS = pd.Series(RNG.choice(["Ulm", "Bonn", "Trier", "Aachen", "Berlin"], 200, p=[0.6, 0.3, 0.06, 0.03, 0.01]))
INCOMES = pd.Series(RNG.integers(0, 90_000, 200))


def recipe_of(column: pd.Series, hierarchy: Hierarchy, **tags: Any) -> tuple[Recipe, Microdata]:
    frame = pd.DataFrame({"x": column, "y": RNG.integers(0, 9, len(column))})
    data = Microdata(frame, {"x": "quasi-identifier", "y": "sensitive"}, hierarchies={"x": hierarchy}, **tags)
    return Recipe.of("people.csv", data, Mondrian(requirements=[KAnonymity(k=10)])), data


@pytest.mark.parametrize(
    ("column", "hierarchy", "rule"),
    [
        (BIRTHS, calendar_hierarchy(BIRTHS), "calendar"),
        (BIRTHS, calendar_hierarchy(BIRTHS, ["year", "decade"]), "calendar"),
        (CODES, prefix_hierarchy(CODES), "prefix"),
        (CODES, prefix_hierarchy(CODES, [3, 1]), "prefix"),
        (PLACES, grid_hierarchy(PLACES), "grid"),
        (TOWNS, frequency_hierarchy(TOWNS), "rare"),
        (TOWNS, letter_hierarchy(TOWNS), "first_letter"),
        (INCOMES, Hierarchy.by_width(INCOMES, 500, 4), "width"),
        (INCOMES, Hierarchy.by_quantile(INCOMES, 16, 2), "quantiles"),
    ],
)
def test_a_rule_is_written_instead_of_values(column: pd.Series, hierarchy: Hierarchy, rule: str) -> None:
    recipe, _ = recipe_of(column, hierarchy)
    assert getattr(recipe.hierarchies["x"], rule)
    assert recipe.hierarchies["x"].build(column, None).paths == hierarchy.paths
    text = recipe.dumps() + python_script(recipe)
    assert [value for value in map(str, column.unique()) if len(value) > 2 and value in text] == []
    assert recipe.holds_values_of == ()
    assert "Not for publication" not in text


def test_none_of_two_hundred_births_is_in_a_recipe() -> None:
    recipe, _ = recipe_of(BIRTHS, calendar_hierarchy(BIRTHS))
    text = recipe.dumps(with_seed=True) + python_script(recipe)
    assert sum(birth in text for birth in BIRTHS.unique()) == 0


def test_values_where_no_rule_makes_them_are_those_of_the_table_and_are_marked() -> None:
    towns = Hierarchy(
        {
            "Ulm": ["south"],
            "Bonn": ["west"],
            "Trier": ["west"],
            "Aachen": ["west"],
            "Berlin": ["east"],
            "Jena": ["east"],
        }
    )
    recipe, _ = recipe_of(TOWNS, towns)
    assert {line[0] for line in recipe.hierarchies["x"].levels or ()} == set(TOWNS)
    assert recipe.holds_values_of == ("x",)
    assert recipe.dumps().startswith("# Not for publication: it holds values of 'x'.\n")
    assert Recipe.loads(recipe.dumps()) == recipe
    assert "# Not for publication" in python_script(recipe)


def test_a_hierarchy_that_differs_in_one_value_has_no_rule() -> None:
    paths = {value: list(path) for value, path in prefix_hierarchy(CODES, [4, 2]).paths.items()}
    assert spec_by_rule(Hierarchy(paths), CODES).prefix == (4, 2)
    first = next(iter(paths))
    paths[first] = [f"{paths[first][0]} or so", *paths[first][1:]]
    assert spec_by_rule(Hierarchy(paths), CODES).levels is not None


def test_orders_and_protected_values_are_values_too() -> None:
    frame = pd.DataFrame({"x": ["low", "high"] * 10, "y": ["flu", "HIV"] * 10})
    data = Microdata(
        frame,
        {"x": "quasi-identifier", "y": "sensitive"},
        kinds={"x": "ordinal"},
        orders={"x": ["low", "high"]},
        sensitive_values={"y": {"HIV"}},
    )
    algorithm = Mondrian(requirements=[KAnonymity(k=2)])
    assert Recipe.of("people.csv", data, algorithm).holds_values_of == ("x", "y")
    assert Recipe.of(Source(builtin="census"), data, algorithm).holds_values_of == ()


def test_the_name_of_a_column_does_not_end_the_comment() -> None:
    name = "x\n[output]\npath = 'elsewhere'\r\x00#"
    frame = pd.DataFrame({name: ["a", "b"] * 10})
    data = Microdata(frame, {name: "quasi-identifier"}, kinds={name: "ordinal"}, orders={name: ["b", "a"]})
    recipe = Recipe.of("people.csv", data, Mondrian(requirements=[KAnonymity(k=2)]))
    assert recipe.dumps().startswith("# Not for publication")
    assert Recipe.loads(recipe.dumps()).output is None
    compile(python_script(recipe), "script.py", "exec")
    assert "\n[output]" not in python_script(recipe)

"""A script made from a recipe runs with the public API and makes the same release."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import InfeasibleError, Recipe
from anoncore.algorithms import Anatomy, Mondrian, VerticalFragmentation
from anoncore.measures.evaluation import Measure
from anoncore.publishing import Certificate, verify
from anoncore.recipes.script import python_script
from anoncore.recipes.source import HierarchySpec, Source
from anoncore.requirements import DistinctDiversity, KAnonymity
from tests.properties.subjects import build, subjects
from tests.publishing.certification.tables import ROLES, people


def executed(recipe: Recipe, folder: Path, with_seed: bool = True) -> dict[str, Any]:
    """What a script of the recipe defines when it is imported."""
    path = folder / "script.py"
    path.write_text(python_script(recipe, with_seed), encoding="utf-8")
    return runpy.run_path(str(path), run_name="imported")


def same_groups(release: Any, other: Any) -> None:
    for one, two in zip(release.fragments, other.fragments, strict=True):
        assert one.attributes == two.attributes
        np.testing.assert_array_equal(one.partition.group, two.partition.group)
        for name in one.attributes:
            assert one.recodings[name].texts().tolist() == two.recodings[name].texts().tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
def test_the_script_of_every_algorithm_makes_the_same_groups(
    name: str, parameters: dict[str, Any], tmp_path: Path
) -> None:
    people().frame.to_parquet(tmp_path / "people.parquet")
    recipe = Recipe(
        source=Source(path="people.parquet"), algorithm=build(name, parameters), roles=ROLES, folder=tmp_path
    )
    try:
        expected = recipe.run().release
    except InfeasibleError as error:
        pytest.skip(f"not possible on this table: {error}")
    found = executed(recipe, tmp_path)
    assert found["algorithm"] == recipe.algorithm
    same_groups(found["release"], expected)


def test_the_script_publishes_numbers_as_the_recipe_does(tmp_path: Path) -> None:
    algorithm = Mondrian(requirements=[KAnonymity(k=5)])
    recipe = Recipe(Source(builtin="census", rows=60), algorithm, numbers="midpoints")
    found = executed(recipe, tmp_path)["release"]
    assert found.tables()["release"].equals(recipe.run().release.tables()["release"])
    assert found.tables()["release"]["age"].dtype == np.float64


def test_every_tag_every_kind_of_hierarchy_and_measures(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            'it\'s "quoted"': [f"Person {number}" for number in range(8)],
            "age": [20, 21, 22, 23, 40, 41, 42, 43],
            "weight": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5],
            "city": ["Bonn", "Köln", "Bonn", "Köln", "Paris", "Lyon", "Paris", "Lyon"],
            "day": pd.to_datetime(["2020-01-01", "2021-05-02"] * 4),
            "grade": ["low", "high", "mid", "low", "high", "mid", "low", "high"],
            "disease": ["flu", "gout", "flu", "gout", "flu", "gout", "flu", "gout"],
        }
    )
    frame.to_csv(tmp_path / "people 1.csv", index=False)
    (tmp_path / "city.csv").write_text("Bonn;DE;*\nKöln;DE;*\nParis;FR;*\nLyon;FR;*\n", encoding="utf-8")
    known = dict.fromkeys(["age", "weight", "city", "day", "grade"], "quasi-identifier")
    recipe = Recipe(
        source=Source(path="people 1.csv", missing=("nothing",)),
        algorithm=Mondrian(requirements=(KAnonymity(k=2), DistinctDiversity(l=1, attribute="disease"))),
        roles={'it\'s "quoted"': "identifier", **known, "disease": "sensitive"},
        kinds={"grade": "ordinal"},
        orders={"grade": ["low", "mid", "high"]},
        hierarchies={
            "city": HierarchySpec(path="city.csv"),
            "age": HierarchySpec(width=10, start=20, fanout=3),
            "weight": HierarchySpec(quantiles=4),
            "day": HierarchySpec(levels=[[day.to_pydatetime(), str(day.year)] for day in frame["day"].unique()]),
            "grade": HierarchySpec(taxonomy={"lower": ["low", "mid"], "upper": ["high"]}),
        },
        sensitive_values={"disease": ["gout"]},
        measures=(
            Measure("utility.discernibility"),
            Measure("privacy.check", {"requirements": [{"name": "k-anonymity", "k": 3}]}),
        ),
        folder=tmp_path,
    )
    expected = recipe.run()
    found = executed(recipe, tmp_path)
    same_groups(found["release"], expected.release)
    assert found["data"].sensitive_values == expected.data.sensitive_values
    assert list(found["data"].domain["grade"]) == ["low", "mid", "high"]
    assert found["results"]["utility.discernibility"] == expected.measures["utility.discernibility"]
    assert len(found["results"]) == 2


def test_ready_made_hierarchies_are_made_by_the_script_as_by_the_recipe(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "born": pd.to_datetime(["1987-03-01", "1987-03-15", "1991-11-30", "1991-12-24"] * 2),
            "zip": ["80331", "80333", "20095", "20097"] * 2,
            "latitude": [48.13, 48.17, 53.55, 53.58] * 2,
            "work": ["cook", "nurse", "pilot", "cook"] * 2,
            "street": ["Am Wall", "Allee", "Bogen", "Bahnweg"] * 2,
        }
    )
    frame.to_parquet(tmp_path / "people.parquet")
    recipe = Recipe(
        source=Source(path="people.parquet"),
        algorithm=Mondrian(requirements=(KAnonymity(k=2),)),
        roles=dict.fromkeys(frame.columns, "quasi-identifier"),
        hierarchies={
            "born": HierarchySpec(calendar=("month", "year")),
            "zip": HierarchySpec(prefix=(4, 2)),
            "latitude": HierarchySpec(grid=(0.1, 1.0)),
            "work": HierarchySpec(rare=(0.3,)),
            "street": HierarchySpec(first_letter=True),
        },
        folder=tmp_path,
    )
    data = executed(recipe, tmp_path)["data"]
    expected = recipe.run().data
    assert {name: one.paths for name, one in data.hierarchies.items()} == {
        name: one.paths for name, one in expected.hierarchies.items()
    }
    assert data.hierarchies["born"].path_of(frame["born"][0]) == ("1987-03", "1987", "*")


@pytest.mark.parametrize("tagged", [False, True])
def test_a_built_in_table_comes_with_its_own_tags_or_those_of_the_recipe(tagged: bool, tmp_path: Path) -> None:
    recipe = Recipe(source=Source(builtin="census", rows=200, seed=4), algorithm=Mondrian())
    if tagged:
        recipe = Recipe.of(recipe.source, recipe.microdata(), recipe.algorithm)
    same_groups(executed(recipe, tmp_path)["release"], recipe.run().release)


def test_seeds_are_left_out_of_what_is_published_with_the_reason() -> None:
    algorithm = VerticalFragmentation(generalization={"name": "stack-and-deal", "seed": 51}, seed=52)
    recipe = Recipe(source=Source(builtin="census"), algorithm=algorithm)
    text = python_script(recipe)
    assert "seed=" not in text
    assert "The seed is left out: whoever has it could undo the random choices" in text
    assert "seed=51" in python_script(recipe, with_seed=True)
    assert "seed=52" in python_script(recipe, with_seed=True)
    # A generated table's seed says which table it is.
    generated = Recipe(source=Source(builtin="census", seed=3), algorithm=Mondrian())
    assert "entry.load(seed=3)" in python_script(generated)


def test_nothing_in_a_table_is_executed(tmp_path: Path) -> None:
    nasty = "'''\"\"\"\n__import__('os').abort() #{x}\\"
    pd.DataFrame({nasty: [1, 2, 3, 4], "b": ["x", nasty, "x", nasty]}).to_parquet(tmp_path / "t.parquet")
    recipe = Recipe(
        source=Source(path="t.parquet"),
        algorithm=Anatomy(l=2),
        roles={nasty: "quasi-identifier", "b": "sensitive"},
        sensitive_values={"b": [nasty]},
        folder=tmp_path,
    )
    assert executed(recipe, tmp_path)["data"].sensitive_values == {"b": (nasty,)}


def test_run_as_a_program_it_writes_the_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = Recipe(
        source=Source(builtin="census", rows=60),
        algorithm=Anatomy(l=2),
        measures=(Measure("utility.discernibility"),),
    )
    (tmp_path / "script.py").write_text(python_script(recipe), encoding="utf-8")
    runpy.run_path(str(tmp_path / "script.py"), run_name="__main__")
    proof, table = tmp_path / "release-certificate.json", tmp_path / "release.xlsx"
    assert verify(Certificate.load(proof), {table.name: table.read_bytes()}).holds
    assert capsys.readouterr().out.startswith("utility.discernibility ")

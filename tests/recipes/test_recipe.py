"""Recipes: read, written, run again; data and never code."""

from __future__ import annotations

import itertools
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Hierarchy, Microdata, Recipe, RecipeError, Release
from anoncore.algorithms import ALGORITHMS, Algorithm, Anatomy, Mondrian, VerticalFragmentation
from anoncore.base.errors import AnonymizationError, DataError
from anoncore.measures.evaluation import Measure
from anoncore.recipes.source import HierarchySpec, Source
from anoncore.requirements import (
    BetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
    VarianceDiversity,
)

PEOPLE = pd.DataFrame(
    {
        "name": [f"Person {number}" for number in range(8)],
        "age": [20, 21, 22, 23, 40, 41, 42, 43],
        "city": ["Bonn", "Köln", "Bonn", "Köln", "Paris", "Lyon", "Paris", "Lyon"],
        "grade": ["low", "high", "mid", "low", "high", "mid", "low", "high"],
        "disease": ["flu", "gout", "flu", "gout", "flu", "gout", "flu", "gout"],
    }
)
TEXT = """
measures = ["utility.discernibility"]

[source]
path = "people.csv"

[roles]
name = "identifier"
age = "quasi-identifier"
disease = "sensitive"

[algorithm]
name = "mondrian"
requirements = [{name = "k-anonymity", k = 4}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "recipe.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_run_makes_the_release_that_the_recipe_describes(folder: Path) -> None:
    run = Recipe.load(folder / "recipe.toml").run()
    # Two groups of four, cut at the gap in the ages; discernibility is the sum of squared group sizes: 16 + 16.
    assert sorted(run.release.partition.sizes) == [4, 4]
    assert set(run.release.tables()["release"]["age"]) == {"20-23", "40-43"}
    assert run.data.identifiers == ("name",)
    assert run.measures == {"utility.discernibility": 32.0}


def test_relative_paths_start_at_the_recipe_not_at_the_working_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert Recipe.load("../recipe.toml").run().data.n_rows == 8
    with pytest.raises(DataError, match=r"people\.csv"):
        Recipe.loads(TEXT).run()


def test_a_saved_recipe_still_finds_its_files(folder: Path) -> None:
    (folder / "city.csv").write_text("Bonn;DE;*\nKöln;DE;*\nParis;FR;*\nLyon;FR;*\n", encoding="utf-8")
    text = TEXT + '\n[hierarchies]\ncity = "city.csv"\n'
    recipe = Recipe.loads(text, folder)
    target = folder / "deep" / "down"
    target.mkdir(parents=True)
    recipe.save(target / "moved.toml")
    moved = Recipe.load(target / "moved.toml")
    assert moved.source.path == "../../people.csv"
    assert moved.hierarchies["city"].path == "../../city.csv"
    assert moved.run().data.hierarchies["city"].path_of("Lyon") == ("FR", "*")


LABEL = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
PATH = LABEL.filter(lambda path: "\0" not in path)
VALUE = LABEL | st.integers(-(2**53), 2**53) | st.booleans() | st.floats(allow_nan=False) | st.datetimes()
REQUIREMENT = st.one_of(
    st.builds(KAnonymity, k=st.integers(1, 99)),
    st.builds(EntropyDiversity, l=st.floats(1, 9), attribute=st.none() | LABEL),
    st.builds(RecursiveDiversity, c=st.floats(0.1, 9), l=st.integers(1, 9)),
    st.builds(BetaLikeness, beta=st.floats(0, 99), attribute=st.none() | LABEL),
    st.builds(TCloseness, t=st.floats(0, 1), ground=st.sampled_from(["ordered", "equal", "hierarchical"])),
    st.builds(VarianceDiversity, v=st.floats(0, 1e6), attribute=LABEL),
    st.builds(DistinctDiversity, l=st.integers(1, 9)),
)
ALGORITHM = st.one_of(
    st.builds(Anatomy, l=st.integers(2, 9), seed=st.none() | st.integers(0, 2**40)),
    st.builds(Mondrian, requirements=st.lists(REQUIREMENT, min_size=1, max_size=3), strict=st.booleans()),
)
TAXONOMY = st.recursive(
    st.lists(VALUE, min_size=1, max_size=3),
    lambda inner: st.dictionaries(LABEL, inner, min_size=1, max_size=3),
    max_leaves=4,
)
HIERARCHY = st.one_of(
    st.builds(HierarchySpec, taxonomy=st.dictionaries(LABEL, TAXONOMY, min_size=1, max_size=3)),
    st.builds(HierarchySpec, levels=st.lists(st.lists(VALUE, min_size=1, max_size=3), min_size=1, max_size=3)),
    st.builds(HierarchySpec, path=PATH),
    st.builds(HierarchySpec, width=st.floats(0.1, 99), start=st.none() | st.floats(-9, 9), fanout=st.integers(2, 5)),
    st.builds(HierarchySpec, quantiles=st.integers(1, 99), fanout=st.integers(2, 5)),
    st.builds(HierarchySpec, calendar=st.lists(st.sampled_from(["day", "month", "decade"]), min_size=1)),
    st.builds(HierarchySpec, prefix=st.lists(st.integers(1, 9), min_size=1, max_size=3)),
    st.builds(HierarchySpec, grid=st.lists(st.floats(0.1, 99), min_size=1, max_size=3)),
    st.builds(HierarchySpec, rare=st.lists(st.floats(0.01, 0.9), min_size=1, max_size=3)),
    st.just(HierarchySpec(first_letter=True)),
)
SOURCE = st.one_of(
    st.builds(Source, path=PATH, sheet=st.none() | LABEL | st.integers(0, 5), missing=st.lists(LABEL, max_size=2)),
    st.builds(Source, builtin=LABEL, rows=st.none() | st.integers(1, 99), seed=st.none() | st.integers(0, 99)),
)
MEASURE = st.sampled_from(
    [
        Measure("utility.discernibility"),
        Measure("privacy.emd", {"attribute": "a", "ground": "ordered"}),
        Measure("privacy.check", {"requirements": [{"name": "k-anonymity", "k": 3}]}),
    ]
)


@settings(max_examples=30)
@given(
    st.builds(
        Recipe,
        source=SOURCE,
        algorithm=ALGORITHM,
        roles=st.dictionaries(LABEL, st.sampled_from(["identifier", "quasi-identifier", "sensitive", "insensitive"])),
        kinds=st.dictionaries(LABEL, st.sampled_from(["numeric", "ordinal", "nominal"])),
        orders=st.dictionaries(LABEL, st.lists(VALUE, max_size=4), max_size=3),
        hierarchies=st.dictionaries(LABEL, HIERARCHY, max_size=3),
        sensitive_values=st.dictionaries(LABEL, st.lists(VALUE, max_size=4), max_size=3),
        measures=st.lists(MEASURE, max_size=3, unique_by=lambda one: one.name),
    )
)
def test_reads_back_as_the_same_recipe(recipe: Recipe) -> None:
    assert Recipe.loads(recipe.dumps(with_seed=True)) == recipe
    published = Recipe.loads(recipe.dumps())
    assert getattr(published.algorithm, "seed", None) is None
    if getattr(recipe.algorithm, "seed", None) is None:
        assert published == recipe


def example(algorithm: type[Algorithm]) -> Algorithm:
    """The algorithm with its defaults, and the first plain values that fit the fields without one."""
    required = [name for name, info in algorithm.model_fields.items() if info.is_required()]
    for values in itertools.product((2, 0.2, {"a": 0.2}, "a", ["a"], [["a"]]), repeat=len(required)):
        with suppress(AnonymizationError):
            return algorithm(**dict(zip(required, values, strict=True)))
    raise AssertionError(f"No example of {algorithm.title} is known; add values for {required}.")


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_every_algorithm_survives(name: str) -> None:
    algorithm = example(ALGORITHMS[name])
    recipe = Recipe(source=Source(builtin="census"), algorithm=algorithm)
    assert Recipe.loads(recipe.dumps(with_seed=True)).algorithm == algorithm


def test_the_recipe_of_a_table_gives_the_same_codes_again(folder: Path) -> None:
    data = Microdata(
        PEOPLE,
        roles={"name": "identifier", "age": "quasi-identifier", "city": "quasi-identifier", "disease": "sensitive"},
        kinds={"grade": "ordinal"},
        orders={"grade": ["low", "mid", "high"]},
        hierarchies={
            "city": Hierarchy.from_nested({"FR": ["Paris", "Lyon"], "DE": ["Köln", "Bonn"]}),
            "age": Hierarchy.by_width(PEOPLE["age"], 5),
        },
        sensitive_values={"disease": {"gout"}},
    )
    recipe = Recipe.of(folder / "people.csv", data, Anatomy(l=2), ["utility.discernibility"])
    again = Recipe.loads(recipe.dumps()).microdata()
    assert again.roles == data.roles
    assert again.sensitive_values == data.sensitive_values
    for name in data.attributes:
        np.testing.assert_array_equal(again.codes[name], data.codes[name])
        assert list(again.domain[name]) == list(data.domain[name])
        assert again.domain[name].kind is data.domain[name].kind
    for name, hierarchy in data.hierarchies.items():
        assert again.hierarchies[name].paths == hierarchy.paths


def test_no_recipe_is_made_of_a_release_that_does_not_say_how_it_was_made() -> None:
    release = Release.from_published(PEOPLE[["age"]], {"age": "quasi-identifier"})
    with pytest.raises(RecipeError, match="Nobody knows which method made this release"):
        Recipe.of("people.csv", release.data, release.algorithm)


def test_dates_can_be_listed(tmp_path: Path) -> None:
    pd.DataFrame({"age": [1, 2], "day": ["2020-01-01", "2020-01-02"]}).to_csv(tmp_path / "days.csv", index=False)
    text = (
        '[source]\npath = "days.csv"\n[roles]\nage = "quasi-identifier"\nday = "sensitive"\n'
        '[sensitive_values]\nday = [2020-01-02]\n[algorithm]\nname = "anatomy"\n'
    )
    data = Recipe.loads(text, tmp_path).microdata()
    assert data.sensitive_values == {"day": (pd.Timestamp("2020-01-02"),)}


def test_dates_in_a_hierarchy_meet_dates_in_the_table(tmp_path: Path) -> None:
    pd.DataFrame({"day": ["2020-01-01", "2021-05-02"]}).to_csv(tmp_path / "days.csv", index=False)
    text = '[source]\npath = "days.csv"\n[algorithm]\nname = "mondrian"\n[hierarchies.day]\n'
    for lines in (
        'levels = [[2020-01-01, "2020"], [2021-05-02, "2021"]]',
        "taxonomy.2020 = [2020-01-01]\ntaxonomy.2021 = [2021-05-02]",
    ):
        hierarchy = Recipe.loads(text + lines, tmp_path).microdata().hierarchies["day"]
        assert hierarchy.path_of(pd.Timestamp("2021-05-02")) == ("2021", "*")


def test_hierarchies_of_numbers_are_made_from_the_column(folder: Path) -> None:
    text = TEXT + "\n[hierarchies.age]\nwidth = 10\nstart = 20\nfanout = 3\n"
    assert Recipe.loads(text, folder).microdata().hierarchies["age"].path_of(41) == ("40-49", "*")
    text = TEXT + "\n[hierarchies.age]\nquantiles = 2\n"
    assert Recipe.loads(text, folder).microdata().hierarchies["age"].path_of(41) == ("40-43", "*")


def test_a_seed_repeats_the_groups_and_is_written_only_on_request() -> None:
    recipe = Recipe(source=Source(builtin="census", rows=400, seed=1), algorithm=Anatomy(l=3, seed=7))
    kept = Recipe.loads(recipe.dumps(with_seed=True))
    first, second = (one.run().release.partition.group for one in (recipe, kept))
    np.testing.assert_array_equal(first, second)
    assert recipe.to_dict()["algorithm"] == {"name": "anatomy", "l": 3, "refine": False}
    assert "seed = 7" not in recipe.dumps()
    assert recipe.to_dict()["source"]["seed"] == 1


def test_seeds_of_algorithms_inside_the_algorithm_are_left_out_too() -> None:
    inner = {"name": "stack-and-deal", "k": 3, "seed": 9}
    recipe = Recipe(source=Source(builtin="census"), algorithm=VerticalFragmentation(generalization=inner, seed=8))
    assert "seed" not in recipe.dumps()
    assert Recipe.loads(recipe.dumps(with_seed=True)) == recipe


def test_a_builtin_table_brings_its_own_tags_unless_the_recipe_tags_it() -> None:
    own = Recipe(source=Source(builtin="census", rows=50), algorithm=Mondrian()).microdata()
    assert own.sensitive == ("diagnosis",)
    assert "education" in own.hierarchies
    tagged = Recipe(
        source=Source(builtin="census", rows=50), algorithm=Mondrian(), roles={"age": "quasi-identifier"}
    ).microdata()
    assert tagged.quasi_identifiers == ("age",)
    assert not tagged.sensitive
    assert not tagged.hierarchies


def test_progress_only_rises_and_ends_at_one(folder: Path) -> None:
    told: list[tuple[float, str]] = []
    Recipe.load(folder / "recipe.toml").run(lambda fraction, text: told.append((fraction, text)))
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)
    assert any("utility.discernibility" in text for _, text in told)


def test_measures_asked_twice_stand_under_their_arguments(folder: Path) -> None:
    measures = [Measure("privacy.emd", {"attribute": "disease", "ground": ground}) for ground in ("equal", "ordered")]
    recipe = Recipe(
        source={"path": "people.csv"},  # type: ignore[arg-type]
        algorithm=Mondrian(requirements=[KAnonymity(k=4)]),
        roles={"age": "quasi-identifier", "disease": "sensitive"},
        measures=(*measures, Measure("utility.discernibility")),
        folder=folder,
    )
    assert list(recipe.run().measures) == [
        "privacy.emd(attribute='disease', ground='equal')",
        "privacy.emd(attribute='disease', ground='ordered')",
        "utility.discernibility",
    ]

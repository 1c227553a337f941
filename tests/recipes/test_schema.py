"""The printed schemas accept what anoncore writes and refuse what it refuses."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from anoncore import Recipe
from anoncore.algorithms import ALGORITHMS
from anoncore.base.errors import AnonymizationError
from anoncore.cli import main
from anoncore.measures.evaluation import MEASURES
from anoncore.recipes.joined_tables import KEYS as SEVERAL_KEYS
from anoncore.recipes.joined_tables import JoinedRecipe
from anoncore.recipes.recipe import KEYS, PUBLISHED
from anoncore.recipes.schema import recipe_schema
from anoncore.requirements import REQUIREMENTS
from tests.docs.pages import NO_RECIPES, ROOT, blocks, pages
from tests.properties.subjects import build, subjects
from tests.publishing.certification.tables import certificate, people
from tests.recipes.hospital import LINKED
from tests.recipes.hospital import RECIPE as SEVERAL

jsonschema = pytest.importorskip("jsonschema", reason="the extra 'test' brings it")
LEAST = {"source": {"builtin": "census"}, "algorithm": {"name": "mondrian"}}


@pytest.fixture(scope="module")
def checker() -> Any:
    schema = recipe_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_schema_knows_every_key_method_requirement_and_measure(checker: Any) -> None:
    schema = checker.schema
    assert set(schema["properties"]) == {*KEYS, PUBLISHED}
    for name, model in [*ALGORITHMS.items(), *REQUIREMENTS.items()]:
        assert set(schema["$defs"][name]["properties"]) == {"name", *model.model_fields}
    assert schema["properties"]["measures"]["items"]["anyOf"][0]["enum"] == list(MEASURES)
    assert "Requirement" not in schema["$defs"]


@pytest.mark.parametrize(("name", "parameters"), subjects(turn=0))
def test_what_is_written_of_every_method_is_accepted(checker: Any, name: str, parameters: dict[str, Any]) -> None:
    written = Recipe(source={"builtin": "census"}, algorithm=build(name, parameters)).to_dict(with_seed=True)
    checker.validate(json.loads(json.dumps(written)))


def test_every_recipe_of_the_pages_is_accepted(checker: Any) -> None:
    # The settings of a server are no recipe.
    read = [page for page in [*pages(), ROOT / "README.md"] if page.name != "serve.md"]
    shown = [block for page in read for block in blocks(page) if block.language == "toml" and block.is_run]
    shown = [block for block in shown if block.file not in NO_RECIPES]
    assert len(shown) > 10
    for block in shown:
        values = LEAST | tomllib.loads(block.code)
        errors = [error.message for error in checker.iter_errors(json.loads(json.dumps(values, default=str)))]
        assert not errors, f"{block.where}: {errors}"


@pytest.mark.parametrize(
    "wrong",
    [
        {"sauce": 1},
        {"format": 3},
        {"format": "1"},
        {"roles": {"age": "secret"}},
        {"kinds": {"age": "number"}},
        {"unit": 3},
        {"source": {"builtin": "census", "rows": 0}},
        {"source": {"built-in": "census"}},
        {"algorithm": {"name": "magic"}},
        {"algorithm": {"l": 3}},
        {"algorithm": {"name": "anatomy", "l": 1}},
        {"algorithm": {"name": "anatomy", "k": 3}},
        {"algorithm": {"name": "mondrian", "split": "middle"}},
        {"algorithm": {"name": "mondrian", "requirements": [{"name": "k-anonymity", "k": 0}]}},
        {"algorithm": {"name": "mondrian", "requirements": [{"k": 3}]}},
        {"hierarchies": {"age": {"width": 0}}},
        {"hierarchies": {"born": {"calendar": ["week"]}}},
        {"measures": ["utility.beauty"]},
        {"measures": "privacy.profile"},
        {"publish_untagged": [1]},
        {"numbers": "words"},
    ],
    ids=str,
)
def test_what_the_schema_refuses_a_recipe_refuses_too(checker: Any, wrong: dict[str, Any]) -> None:
    assert not checker.is_valid(LEAST | wrong)
    with pytest.raises(AnonymizationError):
        Recipe.from_dict(LEAST | wrong)


def test_a_recipe_of_several_tables_has_a_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipe", "--schema", "tables"]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    checked = jsonschema.Draft202012Validator(schema)
    values = JoinedRecipe.loads(SEVERAL + LINKED + '[output]\npath = "out"\n').to_dict()
    assert set(schema["properties"]) == {*SEVERAL_KEYS}
    checked.validate(json.loads(json.dumps(values)))
    one = values["tables"]["visits"]
    for wrong in (
        {"tables": {"visits": one}},
        {"tables": {**values["tables"], "../x": one}},
        {"tables": {**values["tables"], "more": {**one, "unit": "patient"}}},
        {"person": 3},
        {"format": 1},
        {"unit": "patient"},
    ):
        assert not checked.is_valid(json.loads(json.dumps({**values, **wrong})))
        with pytest.raises(AnonymizationError):
            JoinedRecipe.from_dict({**values, **wrong})


def test_the_command_prints_both_schemas(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipe", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == recipe_schema()
    assert main(["recipe", "--schema", "certificate"]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    checked = jsonschema.Draft202012Validator(schema)
    written = json.loads(certificate(build("mondrian", {}).anonymize(people())).dumps())
    checked.validate(written)
    for wrong in ({"version": 3}, {"tables": 3}, {"format": "other"}, {"made": None}):
        assert not checked.is_valid({**written, **wrong})


def test_the_command_prints_a_recipe_with_all_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "people.toml"
    file.write_text('source = {builtin = "census"}\nalgorithm = {name = "anatomy", seed = 3}\n', encoding="utf-8")
    assert main(["recipe", str(file)]) == 0
    said = capsys.readouterr()
    assert tomllib.loads(said.out)["algorithm"] == {"name": "anatomy", "l": 2, "refine": False}
    assert said.err.count("does not say in which format") == 1
    file.write_text(said.out, encoding="utf-8")
    assert main(["recipe", str(file)]) == 0
    assert capsys.readouterr() == (said.out, "")
    assert main(["recipe"]) == 2
    assert main(["recipe", str(file), "--schema"]) == 2

"""The JSON schema of recipes, with which editors and other programs check one before anoncore reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel

from anoncore.algorithms import ALGORITHMS
from anoncore.base.model import Model
from anoncore.measures.evaluation import MEASURES
from anoncore.recipes.joined_tables import SHARED, TABLE_NAME
from anoncore.recipes.prepared_columns import PseudonymKey
from anoncore.recipes.recipe import FIRST, FORMAT
from anoncore.recipes.source import HierarchySpec, Output, Source
from anoncore.recipes.typed_answers import Answers, Choice, Decision, Review, Signatory
from anoncore.release.published_numbers import Numbers
from anoncore.requirements import REQUIREMENTS
from anoncore.table.domain import Kind
from anoncore.table.microdata import Role
from anoncore.table.preparation import DateShift

DRAFT = "https://json-schema.org/draft/2020-12/schema"
"""Says by which rules a schema is to be read; it is a name, and nothing is fetched from it."""


def recipe_schema() -> dict[str, Any]:
    """The JSON schema of a recipe, its TOML read as plain values.

    It knows every key, every method and requirement with their fields and ranges, and every measure. What depends on
    table, such as whether a column exists, only a run tells.

    Returns
    -------
    dict of str to object
        A schema of the draft 2020-12.

    Examples
    --------
    >>> from anoncore.recipes.schema import recipe_schema
    >>> schema = recipe_schema()
    >>> schema["required"]
    ['source', 'algorithm']
    >>> schema["$defs"]["k-anonymity"]["properties"]["k"]["minimum"]
    1
    """
    parts: dict[str, Any] = {
        "source": _fields(Source),
        "output": _fields(Output),
        "hierarchy": _fields(HierarchySpec),
        "date-shift": _fields(DateShift),
        "pseudonym": _fields(PseudonymKey),
        "answers": _fields(Answers),
        **{model.__name__.lower(): _fields(model) for model in (Choice, Review, Decision, Signatory)},
        "algorithm": _one_of(ALGORITHMS),
        "requirement": _one_of(REQUIREMENTS),
        **{name: _named(name, model) for name, model in [*ALGORITHMS.items(), *REQUIREMENTS.items()]},
    }
    text, values = {"type": "string"}, {"type": "array"}
    properties = {
        "format": {"enum": [FIRST, FORMAT], "description": "The format in which the recipe is written."},
        "source": _reference("source"),
        "output": _reference("output"),
        "unit": {**text, "description": "The column that says whose row it is."},
        "dates": _by_column(_reference("date-shift"), "Dates that are shifted by one number of days per person."),
        "pseudonyms": _by_column(_reference("pseudonym"), "The person's id that is published as a pseudonym."),
        "roles": _by_column(
            {"enum": [role.value for role in Role]}, 'What each column tells about a person; "*" is every other column.'
        ),
        "kinds": _by_column({"enum": [kind.value for kind in Kind]}, "What kind of values each column has."),
        "orders": _by_column(values, "The values of a column in their order."),
        "hierarchies": _by_column({"anyOf": [text, _reference("hierarchy")]}, "Which values belong together."),
        "sensitive_values": _by_column(values, "The values of a sensitive column that need protection."),
        "algorithm": _reference("algorithm"),
        "measures": {
            "type": "array",
            "description": "What is measured of the release.",
            "items": {"anyOf": [{"enum": list(MEASURES)}, _measure()]},
        },
        "publish_untagged": {
            "type": "array",
            "items": text,
            "description": "Only in format 1: columns that are published as they are.",
        },
        "guessable_seed": {
            "type": "boolean",
            "description": "Whether the release is certified although others can guess the seed that the recipe gives.",
        },
        "numbers": {"enum": list(get_args(Numbers)), "description": "How ranges of numbers are published."},
        "dossier": _reference("answers"),
    }
    return {
        "$schema": DRAFT,
        "title": "Recipe of anoncore",
        "description": "A table, its tags, a method and what to measure: everything that makes a release again.",
        "type": "object",
        "required": ["source", "algorithm"],
        "additionalProperties": False,
        "properties": properties,
        "$defs": parts,
    }


def joined_recipe_schema() -> dict[str, Any]:
    """The JSON schema of a recipe of several tables, its TOML read as plain values.

    Returns
    -------
    dict of str to object
        A schema of the draft 2020-12.

    Examples
    --------
    >>> from anoncore.recipes.schema import joined_recipe_schema
    >>> schema = joined_recipe_schema()
    >>> schema["required"], schema["$defs"]["table"]["required"]
    (['person', 'tables'], ['source', 'algorithm'])
    """
    one = recipe_schema()
    of_all: dict[str, Any] = {"format": {"const": FORMAT}}
    of_each = dict(one["properties"])
    for name in SHARED:
        of_all.setdefault(name, of_each.pop(name))
    of_all["person"] = {**of_all.pop("unit"), "description": "The column that says whose row it is, in every table."}
    named = {"pattern": f"^{TABLE_NAME.pattern}$"}
    of_all["tables"] = {
        "type": "object",
        "minProperties": 2,
        "propertyNames": named,
        "additionalProperties": _reference("table"),
        "description": "The tables by their names, each with its source, tags and method.",
    }
    table = {"type": "object", "required": one["required"], "additionalProperties": False, "properties": of_each}
    return {
        **one,
        "title": "Recipe of several tables of anoncore",
        "description": "Tables of the same people, which are made and judged together.",
        "required": ["person", "tables"],
        "properties": of_all,
        "$defs": {**one["$defs"], "table": table},
    }


def _by_column(value: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": value, "description": description}


def _measure() -> dict[str, Any]:
    return {"type": "object", "required": ["name"], "properties": {"name": {"enum": list(MEASURES)}}}


def _one_of(models: Mapping[str, type[Model]]) -> dict[str, Any]:
    """Any of the models, told apart by their names."""
    return {"type": "object", "required": ["name"], "oneOf": [_reference(name) for name in models]}


def _named(name: str, model: type[Model]) -> dict[str, Any]:
    schema = _fields(model)
    schema["properties"] = {"name": {"const": name}, **schema["properties"]}
    schema["required"] = ["name", *schema.get("required", [])]
    return {"title": model.title, **schema}


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model's fields; what it says of models inside leads to their places in the whole schema."""
    schema = model.model_json_schema()
    kept = {name: schema[name] for name in ("properties", "required") if name in schema}
    return {"type": "object", "additionalProperties": False, **_linked(kept)}


def _linked(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_linked(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _reference(reference.rpartition("/")[2].lower())
    return {name: _linked(one) for name, one in schema.items()}


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}

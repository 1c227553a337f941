"""The command `anoncore recipe`: check a recipe and print it with all values, or print the schemas of files."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from anoncore.base.errors import ParameterError
from anoncore.cli.text import tell_reading, tell_unavailable
from anoncore.publishing.certification.certificate import Certificate
from anoncore.recipes.recipe import Recipe
from anoncore.recipes.schema import DRAFT, recipe_schema


def add_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    command.add_argument("recipe", type=Path, nargs="?", help="recipe file (TOML)")
    command.add_argument(
        "--schema",
        nargs="?",
        const="recipe",
        choices=["recipe", "certificate"],
        help="print the JSON schema of recipes, or of certificates, instead",
    )
    command.add_argument("--with-seed", action="store_true", help="keep the seeds of the method, but not to publish it")
    command.set_defaults(command=_recipe)


def _recipe(arguments: argparse.Namespace) -> None:
    if (arguments.recipe is None) == (arguments.schema is None):
        raise ParameterError("Name a recipe to check and print, or ask for --schema, but not both.")
    if arguments.schema is not None:
        schema = recipe_schema() if arguments.schema == "recipe" else certificate_schema()
        print(json.dumps(schema, indent=2, ensure_ascii=False))
        return
    recipe = Recipe.load(arguments.recipe)
    tell_reading(recipe)
    tell_unavailable(recipe)
    print(recipe.dumps(arguments.with_seed), end="")


def certificate_schema() -> dict[str, Any]:
    """The JSON schema of a certificate."""
    described = Certificate.model_json_schema()
    kept = {name: value for name, value in described.items() if name != "description"}
    return {"$schema": DRAFT, **kept, "title": "Certificate of a release by anoncore"}

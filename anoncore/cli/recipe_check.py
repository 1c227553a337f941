"""The command `anoncore recipe`: check a recipe and print it with all values, or print the schemas of files."""

from __future__ import annotations

import argparse
from typing import Any

from anoncore.base.errors import ParameterError
from anoncore.cli.output import add_json_option, print_json, tell
from anoncore.cli.recipe_file import add_recipe_argument, read_recipe, tell_reading, tell_unavailable
from anoncore.publishing.certification.certificate import Certificate
from anoncore.recipes.schema import DRAFT, recipe_schema


def add_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    add_recipe_argument(command, nargs="?")
    command.add_argument(
        "--schema",
        nargs="?",
        const="recipe",
        choices=["recipe", "certificate"],
        help="print the JSON schema of recipes, or of certificates, instead",
    )
    command.add_argument("--with-seed", action="store_true", help="keep the seeds of the method, but not to publish it")
    add_json_option(command)
    command.set_defaults(command=_recipe)


def _recipe(arguments: argparse.Namespace) -> None:
    if (arguments.recipe is None) == (arguments.schema is None):
        raise ParameterError("Name a recipe to check and print, or ask for --schema, but not both.")
    if arguments.schema is not None:
        print_json(recipe_schema() if arguments.schema == "recipe" else certificate_schema())
        return
    recipe = read_recipe(arguments.recipe)
    tell_reading(recipe)
    tell_unavailable(recipe)
    tell(arguments, recipe.dumps(arguments.with_seed).splitlines(), recipe.to_dict(arguments.with_seed))


def certificate_schema() -> dict[str, Any]:
    """The JSON schema of a certificate."""
    described = Certificate.model_json_schema()
    kept = {name: value for name, value in described.items() if name != "description"}
    return {"$schema": DRAFT, **kept, "title": "Certificate of a release by anoncore"}

"""The command `anoncore recipe`: check a recipe and print it with all values, or print the schemas of files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from anoncore.base.errors import ParameterError
from anoncore.cli.output import add_flag, add_json_option, print_json, tell
from anoncore.cli.recipe_file import add_recipe_argument, read_any_recipe, tell_reading, tell_unavailable
from anoncore.publishing.certification.certificate import Certificate, JoinedCertificate
from anoncore.publishing.certification.entries import Entry
from anoncore.recipes.joined_tables import JoinedRecipe
from anoncore.recipes.schema import DRAFT, joined_recipe_schema, recipe_schema


def add_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    add_recipe_argument(command, nargs="?")
    command.add_argument(
        "--schema",
        nargs="?",
        const="recipe",
        choices=list(SCHEMAS),
        help="print a JSON schema instead: that of recipes, of recipes of several tables, or of their certificates",
    )
    add_flag(command, "--with-seed", "keep the seeds of the method, but not to publish it")
    add_json_option(command)
    command.set_defaults(command=_recipe)


def _recipe(arguments: argparse.Namespace) -> None:
    if (arguments.recipe is None) == (arguments.schema is None):
        raise ParameterError("Name a recipe to check and print, or ask for --schema, but not both.")
    if arguments.schema is not None:
        print_json(SCHEMAS[arguments.schema]())
        return
    recipe = read_any_recipe(arguments.recipe)
    tell_reading(recipe)
    for one in recipe.tables.values() if isinstance(recipe, JoinedRecipe) else [recipe]:
        tell_unavailable(one)
    tell(arguments, recipe.dumps(arguments.with_seed).splitlines(), recipe.to_dict(arguments.with_seed))


def certificate_schema(kind: type[Entry], title: str) -> dict[str, Any]:
    """The JSON schema of a kind of certificate."""
    described = kind.model_json_schema()
    kept = {name: value for name, value in described.items() if name != "description"}
    return {"$schema": DRAFT, **kept, "title": title}


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "recipe": recipe_schema,
    "tables": joined_recipe_schema,
    "certificate": partial(certificate_schema, Certificate, "Certificate of a release by anoncore"),
    "joined-certificate": partial(certificate_schema, JoinedCertificate, "Certificate of several tables by anoncore"),
}
"""The schemas that are printed, by what they are of."""

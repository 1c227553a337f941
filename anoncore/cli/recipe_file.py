"""Recipes on the command line: read from a file, and held to their own folder unless an option allows more."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from anoncore.base.errors import RecipeError
from anoncore.base.texts import quoted
from anoncore.cli.log import log
from anoncore.cli.output import is_stream, standard_input
from anoncore.recipes.arx_project import ENDING
from anoncore.recipes.joined_tables import JoinedRecipe
from anoncore.recipes.reach import require_within_reach
from anoncore.recipes.recipe import Recipe
from anoncore.recipes.recipe_text import recipe_text, recipe_values
from anoncore.sources.table_files import DATABASES, PARQUET_ENDINGS, TEXT_ENDINGS, WORKBOOKS
from anoncore.table.microdata import Microdata

TABLES = (*DATABASES, *WORKBOOKS, *PARQUET_ENDINGS, *TEXT_ENDINGS, ENDING)
"""How files end that are tables, of which `init` makes a recipe."""


def add_recipe_argument(command: argparse.ArgumentParser, help: str = "", nargs: str | None = None) -> None:
    """Give the command its recipes: a file each, or `-` for the standard input."""
    text = "recipe file (TOML), or - for the standard input"
    command.add_argument("recipe", type=Path, nargs=nargs, help=f"{text}; {help}" if help else text)


def add_unit_option(command: argparse.ArgumentParser) -> None:
    """Give a command that makes releases the option --unit."""
    command.add_argument(
        "--unit",
        metavar="COLUMN",
        help="the column that says whose row it is, where one person may have several rows: k, l and t then count "
        "different people; the column is not published (default: that of the recipe, else every row is a person)",
    )


def read_any_recipe(file: Path) -> Recipe | JoinedRecipe:
    """The recipe in a file or on the standard input, whose relative paths start in the working folder, of one table or
    of several.

    Raises RecipeError for what is no recipe; of a table it says how a recipe is made.
    """
    if is_stream(file):
        text, folder = standard_input(), Path()
    elif file.is_file() and file.name.lower().endswith(TABLES):
        raise RecipeError(
            f"{quoted(file.name)} is a table and not a recipe; make a recipe of it with: "
            f"{shlex.join(['anoncore', 'init', str(file)])}"
        )
    else:
        text, folder = recipe_text(file), file.parent
    values = recipe_values(text)
    return (JoinedRecipe if JoinedRecipe.is_one(values) else Recipe).from_dict(values, folder)


def read_recipe(file: Path) -> Recipe:
    """The recipe of one table, see `read_any_recipe`. Raises RecipeError also for one of several tables."""
    recipe = read_any_recipe(file)
    if isinstance(recipe, JoinedRecipe):
        raise RecipeError(
            f"{quoted(recipe_name(file))} is a recipe of several tables, which `anoncore run` makes and judges "
            "together; write a recipe of one of them for this command."
        )
    return recipe


def load_any_recipe(file: Path, arguments: argparse.Namespace) -> Recipe | JoinedRecipe:
    """The recipe in a file, of one table or of several.

    Raises RecipeError where it names what is neither in its own folder nor allowed.
    """
    recipe = read_any_recipe(file)
    for one in recipe.tables.values() if isinstance(recipe, JoinedRecipe) else [recipe]:
        require_within_reach(one, arguments.allow_path, arguments.allow_address)
    return recipe


def load_recipe(file: Path, arguments: argparse.Namespace) -> Recipe:
    """The recipe of one table in a file, with the unit that an option names.

    Raises RecipeError where it names what is neither in its own folder nor allowed.
    """
    recipe = read_recipe(file)
    require_within_reach(recipe, arguments.allow_path, arguments.allow_address)
    return recipe.with_unit(getattr(arguments, "unit", None))


def recipe_table(recipe: Recipe, attribute: str | None) -> Microdata:
    """The table of a recipe. Raises DataError where it lacks the attribute that an option names."""
    data = recipe.microdata()
    if attribute is not None:
        data.require_domain(attribute)
    return data


def recipe_name(file: Path) -> str:
    """What a recipe is called, by which the files of its release are named."""
    return "recipe" if is_stream(file) else file.stem


def tell_reading(recipe: Recipe | JoinedRecipe) -> None:
    """Say on the error stream what should be known of how a recipe and its table are read."""
    for note in recipe.reading_notes():
        log().note(note)


def tell_unavailable(recipe: Recipe) -> None:
    """Say on the error stream where the method of a recipe cannot run here, and what helps."""
    if recipe.algorithm.why_unavailable():
        log().note(recipe.algorithm.why_unavailable())

"""Recipes on the command line: read from a file, and held to their own folder unless an option allows more."""

from __future__ import annotations

import argparse
from pathlib import Path

from anoncore.recipes.reach import require_within_reach
from anoncore.recipes.recipe import Recipe
from anoncore.sources.addresses import is_address


def add_reach_options(command: argparse.ArgumentParser) -> None:
    """Give the command the options that say what recipes may read and write outside their own folder."""
    command.add_argument(
        "--allow-path",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="file or folder outside the recipe's own folder that it may read and write, again for more",
    )
    command.add_argument(
        "--allow-address",
        type=_address,
        action="append",
        default=[],
        metavar="ADDRESS",
        help="address that the recipe may read and write, with all below it, such as s3://bucket/people; again for "
        "more",
    )


def load_recipe(file: Path, arguments: argparse.Namespace) -> Recipe:
    """The recipe in a file. Raises RecipeError where it names what is neither in its own folder nor allowed."""
    recipe = Recipe.load(file)
    require_within_reach(recipe, arguments.allow_path, arguments.allow_address)
    return recipe


def _address(text: str) -> str:
    if not is_address(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no address; write one such as s3://bucket/people, or a path with --allow-path"
        )
    return text

"""The commands `anoncore report` and `anoncore script`: recipes as a page to read, and as Python to go on from."""

from __future__ import annotations

import argparse
from pathlib import Path

from anoncore.base.errors import ParameterError
from anoncore.base.extras import require
from anoncore.base.progress import part_of
from anoncore.cli.log import add_log_options, log
from anoncore.cli.output import add_flag, add_reach_options, require_free, tell, write_file
from anoncore.cli.recipe_file import (
    add_recipe_argument,
    add_unit_option,
    load_recipe,
    read_recipe,
    recipe_name,
    recipe_table,
    tell_reading,
    tell_unavailable,
)
from anoncore.publishing.report import MOST, Subject, report
from anoncore.publishing.report.drawing import WRITING_REPORT
from anoncore.recipes.script import python_notebook, python_script


def add_report_options(page: argparse.ArgumentParser) -> None:
    """Give the parser of the command `report` its options."""
    add_recipe_argument(page, "again for more; the first is the baseline", nargs="+")
    page.add_argument(
        "--output",
        type=Path,
        default=Path("report.html"),
        help="file to write, or - for the standard output (default: report.html)",
    )
    page.add_argument("--attribute", help="sensitive attribute that is looked at (default: the first)")
    add_flag(page, "--force", "replace the file if it is there")
    add_unit_option(page)
    add_reach_options(page)
    add_log_options(page)
    page.set_defaults(command=_report)


def add_script_options(script: argparse.ArgumentParser) -> None:
    """Give the parser of the command `script` its options."""
    add_recipe_argument(script, "paths in the script start at the same folder")
    add_flag(script, "--with-seed", "keep the seed: the same groups again, but not for publication")
    add_flag(script, "--notebook", "print a notebook for Jupyter instead; write it to a file that ends .ipynb")
    script.set_defaults(command=_script)


def _report(arguments: argparse.Namespace) -> None:
    if len(arguments.recipe) > MOST:
        raise ParameterError(f"A report takes at most {MOST} recipes, not {len(arguments.recipe)}.")
    require_free(arguments.output, arguments.force)
    require(WRITING_REPORT, "jinja2")
    recipes = [load_recipe(path, arguments) for path in arguments.recipe]
    with log().progress() as progress:
        subjects = []
        for number, (path, recipe) in enumerate(zip(arguments.recipe, recipes, strict=True)):
            progress_of_recipe = part_of(progress, 0.6 * number / len(recipes), 0.6 * (number + 1) / len(recipes))
            release = recipe.algorithm.anonymize(recipe_table(recipe, arguments.attribute), progress_of_recipe)
            table = recipe.source.builtin or recipe.source.path or ""
            subjects.append(Subject(recipe_name(path), release, table))
        text = report(subjects, arguments.attribute, part_of(progress, 0.6, 1.0))
    for recipe in recipes:
        tell_reading(recipe)
    write_file(arguments.output, text.encode())
    tell(
        arguments,
        [f"Written: {arguments.output} (not for publication: measured with the original table at hand)"],
        {"written": str(arguments.output)},
    )


def _script(arguments: argparse.Namespace) -> None:
    write = python_notebook if arguments.notebook else python_script
    recipe = read_recipe(arguments.recipe)
    tell_unavailable(recipe)
    print(write(recipe, arguments.with_seed), end="")

"""The command `anoncore evaluate`: numbers about the releases of recipes, without writing their tables."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anoncore.base.errors import AnonymizationError, ParameterError, RecipeError
from anoncore.base.progress import Progress, part_of
from anoncore.base.shared_work import kept_results
from anoncore.base.texts import did_you_mean
from anoncore.cli.exit_codes import DONE, FAILS, REFUSED
from anoncore.cli.log import add_log_options, log
from anoncore.cli.output import REPEATED, add_json_option, add_reach_options, print_json
from anoncore.cli.plain_values import plain_value
from anoncore.cli.recipe_file import (
    add_recipe_argument,
    add_unit_option,
    load_recipe,
    recipe_table,
    tell_reading,
)
from anoncore.cli.text import result_lines, scores_of
from anoncore.measures import criteria
from anoncore.measures.criteria import CRITERIA
from anoncore.measures.evaluation import MEASURES, Measure
from anoncore.recipes.recipe import Recipe
from anoncore.release.release import Release

Asked = str | Measure


def add_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    command.epilog = f"Numbers on one scale: {', '.join(CRITERIA)}. Measures: {', '.join(MEASURES)}."
    add_recipe_argument(command, "or a folder: every .toml file in it; again for more", nargs="+")
    command.add_argument(
        "--measure",
        **REPEATED,
        metavar="NAME",
        help="what to measure, again for more, e.g. k, information-loss, utility.query_error, or with arguments as in "
        "a recipe 'utility.query_error(n_queries = 500)' (default: the recipe's own measures, else all quick numbers)",
    )
    command.add_argument("--attribute", help="sensitive attribute of numbers that are about one (default: the first)")
    add_json_option(command)
    add_unit_option(command)
    add_reach_options(command)
    add_log_options(command)
    command.set_defaults(command=_evaluate)


def _evaluate(arguments: argparse.Namespace) -> int:
    asked = [_asked(text) for text in arguments.measure]
    files = [file for path in arguments.recipe for file in _recipes(path)]
    results: dict[str, dict[str, Any]] = {}
    for number, file in enumerate(files):
        try:
            recipe = load_recipe(file, arguments)
            with log().progress() as report:
                numbers, note = _measured(recipe, asked, arguments.attribute, report)
            tell_reading(recipe)
            if note:
                log().note(note)
        except AnonymizationError as error:
            if len(files) == 1:
                raise
            log().error(f"{file.name}: {' '.join(str(error).split())}")
            continue
        results[str(file)] = {name: _plain(value) for name, value in numbers.items()}
        if not arguments.json:
            print(f"{chr(10) if number else ''}{file}")
            for line in (line for name, value in numbers.items() for line in _lines(name, value)):
                print(f"  {line}")
    if not results:
        return REFUSED
    if arguments.json:
        print_json(results)
    return DONE if len(results) == len(files) else FAILS


def _recipes(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.toml"))
    if not files:
        raise RecipeError(f"The folder '{path}' has no recipe (.toml).")
    return files


def _asked(text: str) -> Asked:
    """A criterion's name, or a measure with its arguments. Raises ParameterError for anything else."""
    name, opened, rest = text.strip().partition("(")
    if name in CRITERIA and not opened:
        return name
    arguments: dict[str, Any] = {}
    if opened:
        try:
            arguments = tomllib.loads(f"arguments = {{{rest.rstrip().removesuffix(')')}}}")["arguments"]
        except (ValueError, RecursionError):  # ValueError: also a number of too many digits
            raise ParameterError(
                f"The arguments of {text!r} cannot be read; write them as in a recipe: {name}(n_queries = 500)."
            ) from None
    if name not in MEASURES:
        names = [*CRITERIA, *MEASURES]
        raise ParameterError(f"There is no measure {name!r}; there is {', '.join(names)}.{did_you_mean(name, names)}")
    return Measure(name, arguments)


def _measured(
    recipe: Recipe, asked: Sequence[Asked], attribute: str | None, report: Progress
) -> tuple[dict[str, object], str]:
    """Every number that is asked for, or the error that says why there is none; and whether people are counted."""
    report(0.0, "Reading the table")
    data = recipe_table(recipe, attribute)
    release = recipe.algorithm.anonymize(data, part_of(report, 0.1, 0.7))
    wanted = (
        list(asked)
        or list(recipe.measures)
        or [criterion.name for criterion in CRITERIA.values() if not criterion.is_slow]
    )
    numbers: dict[str, object] = {}
    results = kept_results(release)
    for number, measure in enumerate(wanted):
        report(0.7 + 0.3 * number / len(wanted), f"Measuring {measure if isinstance(measure, str) else measure.label}")
        if isinstance(measure, Measure):
            numbers[measure.label] = _attempt(measure, release, recipe)
        else:
            numbers |= criteria.evaluate(release, [measure], attribute, results)
    report(1.0, "Done")
    return numbers, data.unit_note


def _attempt(measure: Measure, release: Release, recipe: Recipe) -> object:
    try:
        return measure.evaluate(release, read=lambda source: recipe.further_table(source, release.data))
    except AnonymizationError as error:
        return error


def _lines(name: str, value: object) -> list[str]:
    if isinstance(value, AnonymizationError):
        return [f"{name}: not defined ({' '.join(str(value).split())})"]
    if name in CRITERIA and isinstance(value, float):
        criterion = CRITERIA[name]
        direction = "higher" if criterion.higher_is_better else "lower"
        return [f"{name}: {criterion.title} {criterion.text(value)}, {direction} is better"]
    return list(result_lines(name, value))


def _plain(value: object) -> Any:
    """The value as JSON holds it: a number, scores by name, fields by name, or null with the reason."""
    if isinstance(value, AnonymizationError):
        return {"value": None, "reason": " ".join(str(value).split())}
    scores = scores_of(value)
    if scores and not isinstance(value, float):
        return [
            {"name": score.name, "attribute": getattr(score, "attribute", None), "value": plain_value(score)}
            for score in scores
        ]
    return plain_value(value)

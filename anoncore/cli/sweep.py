"""The command `anoncore sweep`: many methods and parameters on the table of a recipe, and which are unbeaten."""

from __future__ import annotations

import argparse
import csv
import io
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

from anoncore.algorithms import ALGORITHMS
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.number_lists import numbers_from_text
from anoncore.cli.log import WIDTH, add_log_options, log
from anoncore.cli.recipe_file import add_reach_options, load_recipe
from anoncore.cli.text import add_unit_option, tell_reading
from anoncore.measures.criteria import CRITERIA, chosen
from anoncore.search.candidates import axes, candidates
from anoncore.search.parameters import method_label, parameters, varying_parameters
from anoncore.search.sweeping import FIRST_CRITERIA, Point, pareto, sweep
from anoncore.search.targets import Search, Target, default_candidates

Label = Callable[[Point], str]


def add_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    command.epilog = f"Criteria: {', '.join(CRITERIA)}."
    command.add_argument("recipe", type=Path, help="recipe file (TOML); its table and tags are taken, not its method")
    command.add_argument(
        "--try",
        dest="tried",
        action="append",
        default=[],
        metavar="'METHOD AXIS=VALUES ...'",
        help="a method with the values to try, again for more, e.g. 'mondrian k=2,5,10-50step10 t=0.1,0.2'",
    )
    command.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="CRITERION=LIMIT",
        help="what a release must keep, again for more, e.g. k=10 or t=0.2; without --try methods and values are "
        "chosen for the targets",
    )
    command.add_argument("--spare", default="two-way-error", help="the criterion that should cost least with --target")
    command.add_argument("--criteria", help=f"what to measure, by comma (default: {','.join(FIRST_CRITERIA)})")
    command.add_argument(
        "--attribute", help="sensitive attribute that l, t and criteria are about (default: the first)"
    )
    command.add_argument("--output", type=Path, help="CSV file for all points")
    add_unit_option(command)
    add_reach_options(command)
    add_log_options(command)
    command.set_defaults(command=_sweep)


def _sweep(arguments: argparse.Namespace) -> int:
    targets = [_target(text) for text in arguments.target]
    ranges = _ranges(arguments.tried)
    if not ranges and not targets:
        raise ParameterError("Say what to try with --try 'mondrian k=2,5,10', or what to reach with --target k=10.")
    names = _criteria(arguments.criteria, targets, arguments.spare)
    recipe = load_recipe(arguments.recipe, arguments).with_unit(arguments.unit)
    with log().progress() as report:
        report(0.0, "Reading the table")
        data = recipe.microdata()
        tried = (
            candidates(ranges, data, arguments.attribute)
            if ranges
            else default_candidates(data, targets, arguments.attribute)
        )
        done = [0]

        def take(_place: int, point: Point) -> None:
            done[0] += 1
            report(done[0] / len(tried), f"{done[0]:,} of {len(tried):,}: {point.algorithm.title}")

        points = [point for point in sweep(data, tried, names, arguments.attribute, take) if point is not None]
    tell_reading(recipe)
    if data.unit_note:
        log().note(data.unit_note)
    varying = varying_parameters([point.algorithm for point in points])

    def told(point: Point) -> str:
        return method_label(point.algorithm, varying)

    front = pareto(points, names[0], names[1]) if len(names) > 1 else [False] * len(points)
    for point, unbeaten in zip(points, front, strict=True):
        print(_line(point, told, names, bool(unbeaten)))
    if len(names) > 1:
        print(f"* unbeaten in {CRITERIA[names[0]].title} and {CRITERIA[names[1]].title}")
    if arguments.output is not None:
        _write(arguments.output, points, told, names, [bool(one) for one in front])
    return _answer(Search(tuple(targets), arguments.spare, tuple(points)), told) if targets else 0


def _target(text: str) -> Target:
    name, _equals, limit = text.partition("=")
    try:
        return Target(name.strip(), float(limit))
    except ValueError:
        raise ParameterError(f"The target {text!r} cannot be read; write CRITERION=LIMIT, e.g. k=10.") from None


def _ranges(tried: Sequence[str]) -> dict[str, dict[str, list[float]]]:
    """Read texts such as `mondrian k=2,5 t=0.1`: the values of each axis, by method."""
    ranges: dict[str, dict[str, list[float]]] = {}
    for text in tried:
        name, *settings = text.split()
        known = axes(ALGORITHMS[name])
        values: dict[str, list[float]] = {}
        for setting in settings:
            axis, equals, listed = setting.partition("=")
            if not equals or axis not in known:
                raise ParameterError(
                    f"{setting!r} sets nothing of {name}; write AXIS=VALUES with one of {', '.join(known)}."
                )
            values[axis] = numbers_from_text(listed)
        ranges.setdefault(name, {}).update(values)
    return ranges


def _criteria(given: str | None, targets: Sequence[Target], spare: str) -> list[str]:
    names = [name.strip() for name in given.split(",")] if given else []
    if not names:
        names = [*(one.criterion for one in targets), spare] if targets else list(FIRST_CRITERIA)
    elif targets:
        names += [*(one.criterion for one in targets), spare]
    names = list(dict.fromkeys(names))
    chosen(names)
    return names


def _line(point: Point, told: Label, names: Sequence[str], unbeaten: bool) -> str:
    head = f"{'*' if unbeaten else ' '} {told(point)}"
    if point.error:
        return textwrap.shorten(f"{head}: {point.error}", 2 * WIDTH)
    numbers = (f"{name} {CRITERIA[name].text(point.values[name])}" for name in names if name in point.values)
    return f"{head}: {', '.join(numbers)} ({point.seconds:.2f} s)"


def _write(path: Path, points: Sequence[Point], told: Label, names: Sequence[str], front: Sequence[bool]) -> None:
    """A line per release: its label, its parameters, its numbers. No parameter is called like a number."""
    given = [parameters(point.algorithm) for point in points]
    fields = list(dict.fromkeys(name for one in given for name in one))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["release", *fields, *names, "unbeaten", "seconds", "error"])
    for point, one, unbeaten in zip(points, given, front, strict=True):
        values = [*(one.get(field) for field in fields), *(point.values.get(name) for name in names)]
        writer.writerow([told(point), *values, unbeaten, f"{point.seconds:.4f}", point.error])
    try:
        path.write_text(text.getvalue(), encoding="utf-8")
    except OSError as error:
        raise DataError(f"'{path}' cannot be written: {(error.strerror or 'unknown reason').lower()}.") from None


def _answer(search: Search, told: Label) -> int:
    """Print the cheapest release that keeps the targets, or the nearest miss; gives the exit code, 1 for a miss."""
    spare = CRITERIA[search.spare]
    if search.best is not None:
        print(f"Cheapest that keeps every target: {told(search.best)}, {spare.title} {_cost(search, search.best)}")
    elif search.nearest is not None:
        missed = "; ".join(target.text for target in search.missed(search.nearest))
        print(f"No release keeps every target. Nearest: {told(search.nearest)}, which misses: {missed}")
    for target, point in search.without.items():
        if point is not None:
            print(f"  without '{target.text}': {told(point)}, {spare.title} {_cost(search, point)}")
    if search.costliest is not None:
        print(f"  The target that costs most is '{search.costliest.text}'.")
    return 0 if search.best is not None else 1


def _cost(search: Search, point: Point) -> str:
    return CRITERIA[search.spare].text(point.values[search.spare])

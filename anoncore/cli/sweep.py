"""The command `anoncore sweep`: many methods and parameters on the table of a recipe, and which are unbeaten.

Numbers are listed as people write them: `2, 5, 10` or `2-20 step 3`.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anoncore.algorithms import ALGORITHMS
from anoncore.base.errors import ParameterError
from anoncore.base.texts import did_you_mean
from anoncore.cli.exit_codes import DONE, FAILS, worst_code
from anoncore.cli.log import WIDTH, add_log_options, log
from anoncore.cli.office_rules import add_policy_option, policy_json, policy_lines, policy_of
from anoncore.cli.output import REPEATED, add_json_option, add_reach_options, require_one_output, tell, write_file
from anoncore.cli.plain_values import plain_value
from anoncore.cli.recipe_file import (
    add_recipe_argument,
    add_unit_option,
    load_recipe,
    recipe_table,
    tell_reading,
)
from anoncore.front.policy.judgement import Judgement
from anoncore.front.policy.policy import Policy
from anoncore.front.policy.release_rules import judge_release
from anoncore.front.policy.sections import Limit
from anoncore.measures.criteria import CRITERIA, chosen
from anoncore.search.candidates import candidates
from anoncore.search.keeping import axes
from anoncore.search.parameters import method_label, parameters, varying_parameters
from anoncore.search.sweeping import FIRST_CRITERIA, Point, pareto, sweep
from anoncore.search.targets import Search, Target, default_candidates
from anoncore.table.microdata import Microdata

MOST_NUMBERS = 200
_NUMBER = r"\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\s*(?:-|–|to|\.\.)\s*({_NUMBER})(?:\s*(?:step|by)\s*({_NUMBER}))?")


def numbers_from_text(text: str) -> list[float]:
    """The numbers, in the order written, each once; none for an empty text.

    A range goes in steps of one unless it says otherwise, and its end belongs to it. Raises ParameterError for what is
    no number and for more than 200.
    """
    numbers: list[float] = []
    for part in re.split(r"[,;]", text):
        numbers += _numbers(part.strip()) if part.strip() else []
        if len(numbers) > MOST_NUMBERS:
            raise ParameterError(f"These are more than {MOST_NUMBERS} numbers; choose a larger step.")
    return list(dict.fromkeys(numbers))


def _numbers(part: str) -> list[float]:
    if re.fullmatch(_NUMBER, part):
        return [float(part)]
    limits = _RANGE.fullmatch(part)
    if limits is None:
        raise ParameterError(f"'{part}' is no number and no range; write 2, 5, 10 or 2-20 step 3.")
    low, high, step = float(limits[1]), float(limits[2]), float(limits[3] or 1)
    if step <= 0 or high < low:
        raise ParameterError(f"'{part}' is no range; write the smaller number first, and a step above 0.")
    if (high - low) / step > MOST_NUMBERS:
        raise ParameterError(f"'{part}' has more than {MOST_NUMBERS} numbers; choose a larger step.")
    count = int(np.floor((high - low) / step + 1e-9)) + 1
    return [round(low + step * step_number, 12) for step_number in range(count)]


Label = Callable[[Point], str]


def add_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    command.epilog = f"Criteria: {', '.join(CRITERIA)}."
    add_recipe_argument(command, "its table and tags are taken, not its method")
    command.add_argument(
        "--try",
        **REPEATED,
        dest="tried",
        metavar="'METHOD AXIS=VALUES ...'",
        help="a method with the values to try, again for more, e.g. 'mondrian k=2,5,10-50step10 t=0.1,0.2'",
    )
    command.add_argument(
        "--target",
        **REPEATED,
        metavar="CRITERION=LIMIT",
        help="what a release must keep, again for more, e.g. k=10 or t=0.2; without --try methods and values are "
        "chosen for the targets",
    )
    command.add_argument("--spare", default="two-way-error", help="the criterion that should cost least with --target")
    command.add_argument("--criteria", help=f"what to measure, by comma (default: {','.join(FIRST_CRITERIA)})")
    command.add_argument(
        "--attribute", help="sensitive attribute that l, t and criteria are about (default: the first)"
    )
    add_policy_option(
        command, "; its limits are targets too, and the cheapest release that keeps them, else the nearest, is judged"
    )
    command.add_argument("--output", type=Path, help="CSV file for all points, or - for the standard output")
    add_json_option(command)
    add_unit_option(command)
    add_reach_options(command)
    add_log_options(command)
    command.set_defaults(command=_sweep)


def _sweep(arguments: argparse.Namespace) -> int:
    require_one_output(arguments)
    policy = policy_of(arguments)
    rules = () if policy is None else policy_targets(policy)
    targets = [*(_target(text) for text in arguments.target), *rules]
    ranges = ranges_of(arguments.tried)
    if not ranges and not targets:
        raise ParameterError("Say what to try with --try 'mondrian k=2,5,10', or what to reach with --target k=10.")
    spare = arguments.spare if targets or policy is not None else None
    names = _criteria(arguments.criteria, targets, spare)
    recipe = load_recipe(arguments.recipe, arguments)
    with log().progress() as report:
        report(0.0, "Reading the table")
        data = recipe_table(recipe, arguments.attribute)
        if not data.sensitive:  # the rules about secrets are told as not measured
            targets = [one for one in targets if one not in rules or not one.of.of_attribute]
            names = _criteria(arguments.criteria, targets, spare)
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
    lines = [_line(point, told, names, bool(unbeaten)) for point, unbeaten in zip(points, front, strict=True)]
    if len(names) > 1:
        lines.append(f"* unbeaten in {CRITERIA[names[0]].title} and {CRITERIA[names[1]].title}")
    results: dict[str, Any] = {
        "criteria": names,
        "points": [
            {"release": told(point), **plain_value(point), "unbeaten": bool(unbeaten)}
            for point, unbeaten in zip(points, front, strict=True)
        ],
    }
    answer = None if spare is None else Search(tuple(targets), spare, tuple(points))
    judgement = None
    if answer is not None:
        lines += _answer_lines(answer, told)
        results |= _answer_results(answer, told)
        judgement = _judged(policy, answer, data, arguments.attribute)
        lines += policy_lines(judgement)
        results |= policy_json(judgement)
    tell(arguments, lines, results)
    if arguments.output is not None:
        write_file(arguments.output, _csv(points, told, names, [bool(unbeaten) for unbeaten in front]))
    found = FAILS if answer is not None and answer.best is None else DONE
    return worst_code(found, DONE if judgement is None else judgement.exit_code)


def _judged(policy: Policy | None, answer: Search, data: Microdata, attribute: str | None) -> Judgement | None:
    """What the policy says of the release that was found, which is made once more; None where there is none."""
    point = answer.best or answer.nearest
    if policy is None or point is None:
        return None
    with log().progress() as report:
        release = point.algorithm.anonymize(data, report)
    return judge_release(policy, release, attribute if attribute in data.sensitive else None)


def _target(text: str) -> Target:
    name, _equals, number = text.partition("=")
    try:
        limit = float(number)
    except ValueError:
        raise ParameterError(f"The target {text!r} cannot be read; write CRITERION=LIMIT, e.g. k=10.") from None
    return Target(name.strip(), limit)


def ranges_of(tried: Sequence[str]) -> dict[str, dict[str, list[float]]]:
    """Read texts such as `mondrian k=2,5 t=0.1`: the values of each axis, by method."""
    ranges: dict[str, dict[str, list[float]]] = {}
    for text in tried:
        name, *settings = text.split()
        known = list(axes(ALGORITHMS[name]))
        values: dict[str, list[float]] = {}
        for setting in settings:
            axis, equals, listed = setting.partition("=")
            if not equals or axis not in known:
                raise ParameterError(
                    f"{setting!r} sets nothing of {name}; write AXIS=VALUES with one of {', '.join(known)}."
                    f"{did_you_mean(axis, known)}"
                )
            values[axis] = numbers_from_text(listed)
        ranges.setdefault(name, {}).update(values)
    return ranges


def _criteria(given: str | None, targets: Sequence[Target], spare: str | None) -> list[str]:
    """What to measure: what was named, and what an answer needs, which spares a criterion."""
    names = [name.strip() for name in given.split(",")] if given else []
    if spare is not None:
        names += [*(one.criterion for one in targets), spare]
    elif not names:
        names = list(FIRST_CRITERIA)
    names = list(dict.fromkeys(names))
    chosen(names)
    return names


def _line(point: Point, told: Label, names: Sequence[str], unbeaten: bool) -> str:
    head = f"{'*' if unbeaten else ' '} {told(point)}"
    if point.error:
        return textwrap.shorten(f"{head}: {point.error}", 2 * WIDTH)
    numbers = (f"{name} {CRITERIA[name].text(point.values[name])}" for name in names if name in point.values)
    return f"{head}: {', '.join(numbers)} ({point.seconds:.2f} s)"


def _csv(points: Sequence[Point], told: Label, names: Sequence[str], front: Sequence[bool]) -> bytes:
    """A line per release: its label, its parameters, its numbers. No parameter is called like a number."""
    given = [parameters(point.algorithm) for point in points]
    fields = list(dict.fromkeys(name for one in given for name in one))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["release", *fields, *names, "unbeaten", "seconds", "error"])
    for point, one, unbeaten in zip(points, given, front, strict=True):
        values = [*(one.get(field) for field in fields), *(point.values.get(name) for name in names)]
        writer.writerow([told(point), *values, unbeaten, f"{point.seconds:.4f}", point.error])
    return text.getvalue().encode()


def _answer_lines(search: Search, told: Label) -> Iterator[str]:
    """The cheapest release that keeps the targets, or the nearest miss, and what each target costs."""
    spare = CRITERIA[search.spare]
    if search.best is not None:
        yield f"Cheapest that keeps every target: {told(search.best)}, {spare.title} {_cost(search, search.best)}"
    elif search.nearest is not None:
        missed = "; ".join(target.text for target in search.missed(search.nearest))
        yield f"No release keeps every target. Nearest: {told(search.nearest)}, which misses: {missed}"
    for target, point in search.without.items():
        if point is not None:
            yield f"  without '{target.text}': {told(point)}, {spare.title} {_cost(search, point)}"
    if search.costliest is not None:
        yield f"  The target that costs most is '{search.costliest.text}'."


def _answer_results(search: Search, told: Label) -> dict[str, Any]:
    """The same as JSON has it; releases by their labels, which the points have too."""
    nearest = None if search.best is not None else search.nearest
    return {
        "targets": [target.text for target in search.targets],
        "spare": search.spare,
        "best": None if search.best is None else told(search.best),
        "nearest": None if nearest is None else told(nearest),
        "missed": [] if nearest is None else [target.text for target in search.missed(nearest)],
        "without": {target.text: None if point is None else told(point) for target, point in search.without.items()},
        "costliest": None if search.costliest is None else search.costliest.text,
    }


def _cost(search: Search, point: Point) -> str:
    return CRITERIA[search.spare].text(point.values[search.spare])


def policy_targets(policy: Policy) -> tuple[Target, ...]:
    """The targets of a policy. Other rules, such as what is refused, are judged on the release that is found."""
    return tuple(_targets(policy))


def _targets(policy: Policy) -> Iterator[Target]:
    levels = policy.levels
    if levels.k is not None:
        yield Target("k", levels.k)
    if levels.l is not None and levels.c is None:
        yield Target("max-share", 1 / levels.l)
    if levels.t is not None:
        yield Target("t", levels.t)
    if levels.largest_belief is not None:
        yield Target("largest-belief", levels.largest_belief)
    for name, limit in policy.risks.items():
        if name in CRITERIA and (limit.at_most is None) is bool(CRITERIA[name].higher_is_better):
            yield Target(name, _least_strict(name, limit))


def _least_strict(name: str, limit: Limit) -> float:
    """The limit without rounding: of a chance to be found that of the smallest group that keeps it."""
    if limit.decimals is None:
        return limit.value
    if name == "reidentified-largest":
        return 1 / limit.group_size()
    half = 0.5 * 10.0**-limit.decimals
    return limit.value + half if limit.at_least is None else limit.value - half

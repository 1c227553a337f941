"""What a search aims at for a policy: those of its rules that are a limit of a number that every release has."""

from __future__ import annotations

from collections.abc import Iterator

from anoncore.front.policy.rules import Rules
from anoncore.front.policy.sections import Limit
from anoncore.measures.criteria import CRITERIA
from anoncore.search.found import Target


def policy_targets(policy: Rules) -> tuple[Target, ...]:
    """The targets of a policy. Other rules, such as what is refused, are judged on the release that is found."""
    return tuple(_targets(policy))


def _targets(policy: Rules) -> Iterator[Target]:
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

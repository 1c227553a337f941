"""The levels of a sensitive attribute that a profile reports: the same functions that requirements compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from anoncore.privacy.check import published_levels
from anoncore.release.release import Fragment, Release
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
)
from anoncore.requirements.requirement import Check, Floats
from anoncore.requirements.t_closeness import Ground
from anoncore.table.domain import Kind


class Level(NamedTuple):
    """A kind of level: how it is called, which direction protects, and what its worst value means."""

    title: str
    unit: str
    higher_is_better: bool
    meaning: str


LEVELS = {
    "distinct-l": Level("distinct l", "values", True, "Every {group} has at least this many different values."),
    "entropy-l": Level(
        "entropy l", "values", True, "Every {group} is as diverse as this many equally frequent values, or more so."
    ),
    "frequency-l": Level("frequency l", "", True, "No value has more than 1 / this of the rows of any {group}."),
    "max-share": Level("largest share", "share", False, "The largest share that one value has in any {group}."),
    "recursive-c": Level("recursive c", "", False, "Recursive (c, {l})-diversity holds for every c above this."),
    "t-ordered": Level("t (ordered)", "EMD", False, "No {group} is farther from the table, in steps along the order."),
    "t-equal": Level("t (equal)", "EMD", False, "No {group} is farther from the table, any two values being 1 apart."),
    "t-hierarchical": Level("t (hierarchical)", "EMD", False, "No {group} is farther from the table, by hierarchy."),
}


def grounds(release: Release, attribute: str) -> tuple[Ground, ...]:
    """The ground distances that fit an attribute. One protected set against the rest has one distance only."""
    domain = release.data.domain[attribute]
    if attribute in release.data.sensitive_values:
        return ("equal",)
    fitting: list[Ground] = ["equal"] if domain.kind is Kind.NOMINAL else ["ordered", "equal"]
    return (*fitting, "hierarchical") if domain.tree is not None else tuple(fitting)


def group_levels(release: Release, fragment: Fragment, attribute: str, l: int) -> dict[str, Floats]:
    """Every level of each group of a fragment by what is published, float (n_groups,) each, by name."""
    return _levels(release, attribute, l, lambda check: published_levels(release, fragment, check))


def table_levels(release: Release, attribute: str, l: int) -> dict[str, float]:
    """Every level of the whole original table as one group, by name: no grouping has a better worst group."""
    levels = _levels(release, attribute, l, lambda check: np.array([check.table_level(release.data.n_rows)]))
    return {name: float(level[0]) for name, level in levels.items()}


def _levels(release: Release, attribute: str, l: int, read: Callable[[Check], Floats]) -> dict[str, Floats]:
    requirements: dict[str, Requirement] = {
        "distinct-l": DistinctDiversity(l=1, attribute=attribute),
        "entropy-l": EntropyDiversity(l=1, attribute=attribute),
        "frequency-l": FrequencyDiversity(l=1, attribute=attribute),
        "recursive-c": RecursiveDiversity(c=1, l=l, attribute=attribute),
    }
    for ground in grounds(release, attribute):
        requirements[f"t-{ground}"] = TCloseness(t=1, ground=ground, attribute=attribute)
    levels = {name: read(check) for name, one in requirements.items() for check in one.checks(release.data)}
    levels["max-share"] = 1 / levels["frequency-l"]
    return {name: levels[name] for name in LEVELS if name in levels}

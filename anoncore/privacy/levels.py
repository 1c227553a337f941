"""The levels of a sensitive attribute that a profile reports: the same functions that requirements compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from anoncore.base.number import Number
from anoncore.kernels.arrays import Floats
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
from anoncore.requirements.requirement import Check
from anoncore.requirements.t_closeness import Ground
from anoncore.table.domain import Kind

_OF_TABLE = "the level of the original table as one group, which no worst group can better."
SMALLEST_GROUP = Number(
    name="k",
    title="Smallest group",
    template="{counted} of the smallest {group}: every person hides among at least so many.",
    family="protection",
    source="Samarati and Sweeney, 1998",
    form="count",
    unit="rows",
    higher_is_better=True,
    bounds=(1.0, None),
    baseline="the rows of the original table: all of them as one group.",
    documented_by="k-anonymity",
    short="k",
)
DISTINCT_VALUES = Number(
    name="distinct-l",
    title="Different values",
    template="Fewest different values of {attribute} in any {group}.",
    family="protection",
    source="Machanavajjhala et al., ICDE 2006",
    form="count",
    unit="values",
    higher_is_better=True,
    bounds=(1.0, None),
    baseline=_OF_TABLE,
    documented_by="distinct-diversity",
    of_attribute=True,
    short="distinct l",
)
ENTROPY_LEVEL = replace(
    DISTINCT_VALUES,
    name="entropy-l",
    title="Entropy l",
    template="Every {group} is as diverse in {attribute} as this many equally frequent values, or more so.",
    form="number",
    documented_by="entropy-diversity",
    short="entropy l",
)
FREQUENCY_LEVEL = replace(
    ENTROPY_LEVEL,
    name="frequency-l",
    title="Frequency l",
    template="No value of {attribute} has more than 1 / this of the rows of any {group}.",
    source="Wong et al., KDD 2006",
    unit="",
    documented_by="frequency-diversity",
    short="frequency l",
)
LARGEST_SHARE = replace(
    DISTINCT_VALUES,
    name="max-share",
    title="Largest share",
    template="Largest share that one value of {attribute} has in any {group}.",
    source="Wong et al., KDD 2006",
    form="share",
    unit="share",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    documented_by="frequency-diversity",
    short="largest share",
)
RECURSIVE_LEVEL = replace(
    DISTINCT_VALUES,
    name="recursive-c",
    title="Recursive c",
    template="Every {group} is recursively (c, {l})-diverse in {attribute} for every c above this.",
    form="number",
    unit="",
    higher_is_better=False,
    bounds=(0.0, None),
    documented_by="recursive-diversity",
    short="recursive c",
)
ORDERED_DISTANCE = Number(
    name="t-ordered",
    title="t (ordered)",
    template="Largest distance of any {group} from the table in {attribute}, in steps along the order of its values.",
    family="protection",
    source="Li, Li and Venkatasubramanian, ICDE 2007",
    unit="EMD",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    baseline="0: the original table as one group.",
    documented_by="t-closeness",
    of_attribute=True,
)
INTERVAL_DISTANCE = replace(
    ORDERED_DISTANCE,
    name="t-interval",
    title="t (interval)",
    template="Largest distance of any {group} from the table in {attribute}, by the differences of its numbers.",
)
EQUAL_DISTANCE = replace(
    ORDERED_DISTANCE,
    name="t-equal",
    title="t (equal)",
    template="Largest distance of any {group} from the table in {attribute}, any two values being 1 apart.",
)
HIERARCHICAL_DISTANCE = replace(
    ORDERED_DISTANCE,
    name="t-hierarchical",
    title="t (hierarchical)",
    template="Largest distance of any {group} from the table in {attribute}, by the hierarchy of its values.",
)
DISTANCE = replace(
    ORDERED_DISTANCE,
    name="t",
    title="Distance (t)",
    template="Largest earth mover's distance of any {group} from the table: ordered for numbers, equal for categories.",
)
LEVELS: Mapping[str, Number] = MappingProxyType(
    {
        one.name: one
        for one in (
            DISTINCT_VALUES,
            ENTROPY_LEVEL,
            FREQUENCY_LEVEL,
            LARGEST_SHARE,
            RECURSIVE_LEVEL,
            ORDERED_DISTANCE,
            INTERVAL_DISTANCE,
            EQUAL_DISTANCE,
            HIERARCHICAL_DISTANCE,
        )
    }
)
"""The levels of a sensitive attribute by name, in the order in which they are reported."""


def grounds(release: Release, attribute: str) -> tuple[Ground, ...]:
    """The ground distances that fit an attribute; where only some values are protected there is one distance."""
    domain = release.data.domain[attribute]
    if attribute in release.data.sensitive_values:
        return ("equal",)
    along: dict[Kind, list[Ground]] = {Kind.NUMERIC: ["ordered", "interval"], Kind.ORDINAL: ["ordered"]}
    fitting: list[Ground] = [*along.get(domain.kind, []), "equal"]
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
    levels = {
        name: read(check) for name, requirement in requirements.items() for check in requirement.checks(release.data)
    }
    levels["max-share"] = 1 / levels["frequency-l"]
    return {name: levels[name] for name in LEVELS if name in levels}

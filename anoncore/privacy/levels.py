"""The levels of a sensitive attribute in each group, such as its distance from the table, as requirements compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError
from anoncore.base.number import Number, measure
from anoncore.kernels.arrays import Floats
from anoncore.privacy.published import fragments_of, published_levels, publishing_fragment
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
Combine = Literal["largest", "euclidean"]


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


@measure(title="Earth mover's distance")
@checked
def emd(release: Release, attribute: str, ground: Ground = "ordered", fragment: str | None = None) -> Floats:
    """Earth mover's distance of each group's published distribution from that of the original table.

    A distance of 0 says that the group looks like the table, 1 that all its mass has to move the whole way.

    Parameters
    ----------
    release : Release
        The release whose groups are measured.
    attribute : str
        The sensitive attribute whose distribution is compared.
    ground : {"ordered", "interval", "equal", "hierarchical"}
        How far apart two values are: steps along the order, difference of numbers, 1 for any two, or by their lowest
        common node.
    fragment : str, optional
        Name of the fragment whose groups are measured; by default the first that publishes the attribute.

    Returns
    -------
    ndarray of float, shape (n_groups,)
        The distance of each group, from 0 to 1.

    Raises
    ------
    ParameterError
        For an unknown ground distance or fragment.
    DataError
        For a hierarchical distance of an attribute without a hierarchy.
    ReleaseError
        Where the attribute's single values are not published.

    Notes
    -----
    Assumes: the adversary knows the distribution of the original table.
    Cost: O(m) per group for m values, with a hierarchy the number of its nodes.
    Use: it matters how much a class tells beyond the whole table.
    Avoid: beliefs come from several buckets: see `posterior_emd`.

    References
    ----------
    Li et al., t-closeness, ICDE 2007; t-closeness dissertation, section 3.6.

    Examples
    --------
    In the table 2 of 6 people have the flu, in the first class 2 of 3 and in the second nobody: a third moves in each.

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> privacy.emd(release, "disease", ground="equal").round(3).tolist()
    [0.333, 0.333]
    """
    release.require_people("The distance is that of groups of people from the table")
    (check,) = TCloseness(t=1.0, ground=ground, attribute=attribute).checks(release.data)
    return published_levels(release, publishing_fragment(release, attribute, fragment), check)


@measure()
@checked
def closeness(release: Release, ground: Ground = "ordered", combine: Combine = "largest") -> float:
    """One distance of the release from the table over all its sensitive attributes.

    Of each attribute the distance of the group that lies farthest from the table counts (see `emd`), whichever group
    that is. These distances are made one.

    Parameters
    ----------
    release : Release
        The release that is measured.
    ground : {"ordered", "interval", "equal", "hierarchical"}
        How far apart two values are, as in `emd`; the same for all attributes.
    combine : {"largest", "euclidean"}
        `largest`: the largest distance of any attribute, which is the smallest t that every group keeps in each of
        them: what a requirement promises. `euclidean`: the root of the sum of their squares, by which figure 5.1 of the
        t-closeness dissertation compares partitions; with n attributes it lies between the largest and sqrt(n) times
        the largest.

    Returns
    -------
    float
        The distance: 0 where every group looks like the table in all attributes, at most 1 for `largest` and sqrt(n)
        for `euclidean`.

    Raises
    ------
    ParameterError
        For an unknown ground distance or way to combine.
    DataError
        For a table without sensitive attributes, and a ground distance that an attribute does not have.
    ReleaseError
        Where single values of a sensitive attribute are not published.

    Notes
    -----
    Assumes: the adversary knows the distribution of each attribute in the original table.
    Cost: that of `emd` for each sensitive attribute and each fragment that publishes it.
    Use: partitions are to be compared by one number, or t is looked for that all attributes keep.
    Avoid: combinations of sensitive values matter: attributes are measured one by one.

    References
    ----------
    t-closeness dissertation, section 5.5 (the text calls it the distance formula).

    Examples
    --------
    Two classes of two. Pay 1 to 4 has three steps; the class of 1 and 2 has 1/2, 1, 1, 1 of its people up to each value
    and the table 1/4, 1/2, 3/4, 1, so that (1/4 + 1/2 + 1/4) / 3 = 1/3 separates them. In each class all are ill or
    none, in the table half: 1/2. The root of 1/9 + 1/4 is 0.601.

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 43, 44], "pay": [1, 2, 3, 4], "ill": [0, 0, 1, 1]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "pay": "sensitive", "ill": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> round(privacy.closeness(release), 3), round(privacy.closeness(release, combine="euclidean"), 3)
    (0.5, 0.601)
    """
    if not release.data.sensitive:
        raise DataError("The table has no sensitive attribute, so that there is no distance; give one the role.")
    farthest = [
        max(float(emd(release, name, ground, one.name).max()) for one in fragments_of(release, name))
        for name in release.data.sensitive
    ]
    return float(np.hypot.reduce(farthest)) if combine == "euclidean" else max(farthest)

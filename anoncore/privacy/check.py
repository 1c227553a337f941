"""Do the groups of a release satisfy requirements, and which do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anoncore.release import Fragment, Release
from anoncore.requirements.base import Check, Comparison, Floats, Requirement


@dataclass(frozen=True)
class Violation:
    """One group that fails one requirement. `level` is in the unit of the requirement's threshold."""

    requirement: Requirement
    attribute: str | None
    fragment: str
    group: int
    size: int
    level: float
    sentence: str


def check(release: Release, requirements: Sequence[Requirement]) -> tuple[Violation, ...]:
    """Every violation of the requirements, fragment by fragment and group by group; empty if all hold.

    Sizes are checked on every fragment's groups, sensitive attributes on the groups of the fragment that publishes
    them, by their published values. Raises DataError where a requirement does not fit the table.
    """
    found: list[Violation] = []
    for requirement in requirements:
        for one in requirement.checks(release.data):
            for fragment in checked_fragments(release, one):
                levels = published_levels(release, fragment, one)
                for group in np.flatnonzero(~one.holds(levels)):
                    found.append(_violation(release, fragment, one, int(group), float(levels[group])))
    return tuple(found)


def checked_fragments(release: Release, one: Check) -> tuple[Fragment, ...]:
    """The fragments whose groups a check is about; fragments with a shared partition count once."""
    if one.attribute is not None:
        return (release.fragment_of(one.attribute),)
    return release.fragments[:1] if release.is_shared else release.fragments


def published_levels(release: Release, fragment: Fragment, one: Check) -> Floats:
    """Level of every group of a fragment by what is published of the sensitive attribute, float (n_groups,)."""
    if one.attribute is None:
        return one.levels(fragment.partition)
    published = release.published_codes(one.attribute)
    return one.levels(fragment.partition, release.data.sensitive_view(one.attribute, published).codes)


_WORDS = {Comparison.AT_LEAST: "at least", Comparison.AT_MOST: "at most", Comparison.BELOW: "below"}


def _violation(release: Release, fragment: Fragment, one: Check, group: int, level: float) -> Violation:
    requirement = one.requirement
    size = int(fragment.partition.sizes[group])
    of = f" of '{one.attribute}'" if one.attribute else ""
    sentence = (
        f"{release.group_word.capitalize()} {group} ({size:,} rows) has {requirement.level_name}{of} {level:.4g}, "
        f"but {requirement.label()} asks for {_WORDS[requirement.comparison]} {requirement.threshold:.4g}."
    )
    return Violation(requirement, one.attribute, fragment.name, group, size, level, sentence)

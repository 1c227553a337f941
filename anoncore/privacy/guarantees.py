"""What an algorithm promised or was asked for, and what its release reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anoncore.privacy.check import COMPARISON_WORDS, level_texts, published_levels
from anoncore.privacy.published import fragments_of
from anoncore.release.release import Release
from anoncore.requirements.requirement import Check, Comparison, Requirement


@dataclass(frozen=True)
class Guarantee:
    """One requirement on one attribute: the level of the worst group against what was asked, in the same unit.

    `n_violations` of `n_groups` groups fail it; `fragment` and `group` say which group is the worst.
    """

    requirement: Requirement
    attribute: str | None
    asked: float
    reached: float
    holds: bool
    n_groups: int
    n_violations: int
    fragment: str
    group: int
    sentence: str


@dataclass(frozen=True)
class PersonalGuarantee:
    """A promise about every person rather than every group: what was asked, and what the worst-off person has."""

    attribute: str
    asked: float
    reached: float
    holds: bool
    sentence: str


def personal_guarantees(release: Release) -> tuple[PersonalGuarantee, ...]:
    """What the release's algorithm promises about people, by what is published; empty where it promises no such thing.

    Methods such as slicing bound what is believed of a person who may be in several groups; no group's level tells.

    Assumes: the adversary is the one of the method's own definition.
    Cost: that of the method's own check.
    Use: a method such as slicing bounds beliefs in people, not levels of groups.
    Avoid: a method makes promises about groups: see `guarantees`.
    Source: the definition of the method that made the release.
    """
    return () if release.algorithm is None else release.algorithm.personal_guarantees(release)


def guarantees(release: Release, requirements: Sequence[Requirement] = ()) -> tuple[Guarantee, ...]:
    """Every promise and requirement of the release's algorithm, then the given ones: reached against asked.

    One entry per requirement and sensitive attribute that it covers, by what is published; empty for a release whose
    algorithm is not known. Raises DataError where a requirement does not fit the table.

    Parameters: `requirements` further conditions to look at.
    Assumes: the algorithm and its parameters are those recorded in the release.
    Cost: one pass over the groups per requirement.
    Use: what was promised is to be set beside what was reached.
    Avoid: nothing was promised: `profile` says what is reached anyway.
    Source: the definitions of the requirements, each with its own source.
    """
    asked: list[Requirement] = []
    if release.algorithm is not None:
        asked += release.algorithm.promises(release.data)
        asked += getattr(release.algorithm, "requirements", ())
    asked += requirements
    wanted = [one for place, one in enumerate(asked) if one not in asked[:place]]
    return tuple(_guarantee(release, check) for one in wanted for check in one.checks(release.data))


def _guarantee(release: Release, check: Check) -> Guarantee:
    requirement = check.requirement
    sign = 1 if requirement.comparison is Comparison.AT_LEAST else -1
    fragments = fragments_of(release, check.attribute)
    levels = [published_levels(release, fragment, check) for fragment in fragments]
    worst = min(range(len(levels)), key=lambda place: float((sign * levels[place]).min()))
    group = int((sign * levels[worst]).argmin())
    reached = float(levels[worst][group])
    failing = sum(int((~check.holds(one)).sum()) for one in levels)
    total = sum(len(one) for one in levels)
    return Guarantee(
        requirement=requirement,
        attribute=check.attribute,
        asked=requirement.threshold,
        reached=reached,
        holds=failing == 0,
        n_groups=total,
        n_violations=failing,
        fragment=fragments[worst].name,
        group=group,
        sentence=_sentence(release, check, reached, failing, total),
    )


def _sentence(release: Release, check: Check, reached: float, failing: int, total: int) -> str:
    requirement = check.requirement
    level, threshold = level_texts(reached, requirement.threshold)
    of = f" of '{check.attribute}'" if check.attribute is not None else ""
    state = "holds" if failing == 0 else f"fails in {failing:,} of {total:,} groups"
    return (
        f"{requirement.label()} {state}: the worst {release.group_word} has {requirement.level_name}{of} {level} "
        f"(asked: {COMPARISON_WORDS[requirement.comparison]} {threshold})."
    )

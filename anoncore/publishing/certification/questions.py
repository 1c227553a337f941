"""What every published group is asked, the levels that groups reach, and what these say of a requirement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from anoncore.base.errors import AnonymizationError
from anoncore.base.texts import listing, quoted
from anoncore.kernels.arrays import Floats
from anoncore.privacy.guarantees import level_texts
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.entries import Asked, Attribute
from anoncore.requirements import REQUIREMENTS, Comparison, Requirement
from anoncore.requirements.requirement import Check

MOST_NAMED = 30


@dataclass(frozen=True, eq=False)
class Level:
    """What the groups of one table reach of a requirement, a level per group, and the columns that tell them apart."""

    check: Check
    levels: Floats
    over: tuple[str, ...] = ()

    @property
    def worst(self) -> float:
        """The level of the worst group."""
        level = self.levels.min() if self.check.requirement.comparison is Comparison.AT_LEAST else self.levels.max()
        return float(level)

    @property
    def holds(self) -> bool:
        """Whether every group meets the threshold."""
        return bool(self.check.holds(self.levels).all())


@dataclass(frozen=True)
class Judged:
    """What the tables say of a statement: whether it holds, the level reached where there is one, and a sentence."""

    holds: bool
    sentence: str
    reached: float | None = None


@dataclass(frozen=True)
class Question:
    """What every group is asked: its level of a requirement, on an attribute or on sizes alone."""

    requirement: Requirement
    attribute: str | None

    @classmethod
    def of(cls, asked: Asked) -> Question:
        """What a requirement of a certificate asks. Raises AnonymizationError for one that there is not."""
        return cls(REQUIREMENTS.build(asked.requirement), asked.attribute)

    def hidden_reason(self, attributes: Mapping[str, Attribute]) -> str:
        """Why no table can show whether the requirement holds; empty where they can."""
        name = self.attribute
        form = None if name is None else attributes[name].form
        if form in ("region", None) and name is not None:
            return f"single values of {quoted(name)} are not published"
        if not self.requirement.counts_alone:
            return "the population that the table is compared with is not published"
        if not self.requirement.monotone_under_suppression and form != "exact":
            return f"the original distribution of {quoted(name)} is not published"
        return ""

    def judged(self, levels: Sequence[Level], is_told: bool = True) -> Judged:
        """What the levels of the groups of every table say of the requirement; `is_told` names the columns of the
        groups.
        """
        requirement = self.requirement
        if not levels:
            return Judged(False, f"{requirement.label()} cannot hold: no table shows {quoted(self.attribute)}.")
        at_least = requirement.comparison is Comparison.AT_LEAST
        worst = (min if at_least else max)(levels, key=lambda level: level.worst)
        holds = all(level.holds for level in levels)
        reached, threshold = level_texts(worst.worst, requirement.threshold)
        failing = sum(int((~level.check.holds(level.levels)).sum()) for level in levels)
        total = sum(len(level.levels) for level in levels)
        state = "holds" if holds else f"fails in {failing:,} of {total:,} published groups"
        over = f" over {listing(worst.over, MOST_NAMED)}" if worst.over else " over no column"
        return Judged(
            holds,
            f"{requirement.label()} {state}{over if is_told else ''}: the worst published group has "
            f"{requirement.reached_text(worst.worst, reached, self.attribute)} "
            f"(asked: {requirement.asked_text(threshold)}).",
            worst.worst,
        )


def countable(certificate: Certificate) -> list[Question]:
    """The questions that the tables can answer."""
    attributes, found = {one.name: one for one in certificate.attributes}, []
    for asked in certificate.requirements:
        with suppress(AnonymizationError):  # there is no such requirement, which is told where all are judged
            question = Question.of(asked)
            found += [] if question.hidden_reason(attributes) else [question]
    return found

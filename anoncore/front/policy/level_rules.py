"""Levels of groups, judged: what every group of a release reaches, beside what a policy asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from anoncore import attacks, privacy
from anoncore.base.errors import AnonymizationError
from anoncore.base.texts import share_text
from anoncore.front.policy.judgement import JudgedRule, Status
from anoncore.front.policy.measure_limits import NO_SECRET, NOBODYS, Judged
from anoncore.front.policy.sections import Levels
from anoncore.front.policy.wording import level_rules
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.privacy.check import COMPARISON_WORDS, level_texts
from anoncore.privacy.guarantees import Guarantee
from anoncore.privacy.guarantees import judged as guarantees_of
from anoncore.requirements import Requirement

NO_KNOWN = "no column is tagged as known to others: it would hold only if nobody knows anything of anybody"


def judged_levels(levels: Levels, judged: Judged) -> Iterator[JudgedRule]:
    """A line for every level, and for every secret that it is about."""
    requirements = levels.requirements(judged.release.data)
    for key, rule in level_rules(levels).items():
        axis = key.removeprefix("levels.")
        value = float(getattr(levels, axis))
        requirement = requirements.get(axis)
        reason = NOBODYS if judged.release.is_synthetic else NO_SECRET if requirement is None else ""
        reason = reason or ("" if judged.release.data.quasi_identifiers else NO_KNOWN)
        if requirement is None or reason:
            yield JudgedRule(key, rule, None, f"{value:g}", "", "not measured", reason=reason, limit=value)
            continue
        try:
            guarantees = guarantees_of(judged.release, [requirement])
        except AnonymizationError as error:
            yield JudgedRule(key, rule, None, f"{value:g}", "", "not measured", reason=str(error), limit=value)
            continue
        about = [one for one in guarantees if one.attribute is None or one.attribute in judged.secrets]
        if not about:
            yield JudgedRule(key, rule, None, f"{value:g}", "", "not measured", reason=NO_SECRET, limit=value)
        for guarantee in about:
            yield unless_found(_line(key, rule, guarantee), requirement, judged)


def _line(key: str, rule: str, guarantee: Guarantee) -> JudgedRule:
    reached, asked = level_texts(guarantee.reached, guarantee.asked)
    asked = f"{COMPARISON_WORDS[guarantee.requirement.comparison]} {asked}"
    status: Status = "kept" if guarantee.holds else "broken"
    told = guarantee.requirement.reached_text(guarantee.reached, reached, None)
    return JudgedRule(
        key, rule, guarantee.attribute, asked, told, status, limit=guarantee.asked, value=guarantee.reached
    )


def unless_found(line: JudgedRule, requirement: Requirement, judged: Judged) -> JudgedRule:
    """The line, broken where groups are large enough and hide nobody: by what is known, or by a join of tables.

    A bucket of k rows does not hide whose row is whose, and classes of tables that are joined are smaller than those of
    each.
    """
    if line.status != "kept":
        return line
    release, cache = judged.release, judged.cache
    if requirement.attribute_free:
        with suppress(AnonymizationError):  # without a known attribute nobody is found by one
            largest = float(cache("attacks.reidentification", attacks.reidentification).prosecutor.largest)
            if lies_above(largest, 1 / line.limit, ACCUMULATED):
                reason = (
                    f"what is published of the known columns finds somebody's row with {share_text(largest)}, which "
                    "groups of this size do not hide"
                )
                return replace(line, status="broken", reason=reason)
    if not release.is_shared:
        k, l = (int(line.limit), 1) if requirement.attribute_free else (1, int(getattr(requirement, "l", 1)))
        with suppress(AnonymizationError):  # without a common attribute there is nothing to join on
            joins = cache("privacy.joins", privacy.joins, k, l)
            if not joins.holds:
                return replace(line, status="broken", reason=joins.sentences[0])
    return line

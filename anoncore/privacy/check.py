"""Do the groups of a release satisfy requirements, and which do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anoncore.kernels.checking import most_frequent
from anoncore.privacy.published import fragments_of, published_values
from anoncore.release.release import Fragment, Release
from anoncore.requirements.requirement import Check, Comparison, Floats, Requirement

Groups = npt.NDArray[np.int64]


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

    Sizes are checked on every fragment's groups, sensitive attributes on the groups of every fragment that publishes
    them, by their published values; fragments with one shared partition count once. Raises DataError where a
    requirement does not fit the table, ReleaseError where an attribute's single values are not published.

    Parameters: `requirements` conditions that every group must satisfy.
    Assumes: that is right which is published: distorted values count as they are published.
    Cost: one pass over the groups per requirement.
    Use: it must be known which groups break a requirement, and why.
    Avoid: only the reached levels are wanted: see `profile`.
    Source: the definitions of the requirements, each with its own source.
    """
    found: list[Violation] = []
    for requirement in requirements:
        for one in requirement.checks(release.data):
            for fragment in fragments_of(release, one.attribute):
                levels = published_levels(release, fragment, one)
                failing = np.flatnonzero(~one.holds(levels))
                if len(failing):
                    found.extend(_violations(release, fragment, one, failing, levels))
    return tuple(found)


def published_levels(release: Release, fragment: Fragment, one: Check) -> Floats:
    """Level of every group of a fragment by what is published of the sensitive attribute, float (n_groups,)."""
    if one.attribute is None:
        return one.levels(fragment.partition)
    partition, codes = published_values(fragment, one.attribute)
    return one.levels(partition, release.data.sensitive_view(one.attribute, codes).codes)


COMPARISON_WORDS = {Comparison.AT_LEAST: "at least", Comparison.AT_MOST: "at most", Comparison.BELOW: "below"}


def level_texts(level: float, threshold: float) -> tuple[str, str]:
    """A level and its threshold in as few digits as tell them apart."""
    texts = _number(level, 4), _number(threshold, 4)
    for digits in (6, 9, 12):
        if texts[0] != texts[1] or level == threshold:
            break
        texts = _number(level, digits), _number(threshold, digits)
    return texts


def _number(value: float, digits: int) -> str:
    if np.isinf(value):
        return "infinite"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:.{digits}g}"


def _violations(
    release: Release, fragment: Fragment, one: Check, failing: Groups, levels: Floats
) -> Iterator[Violation]:
    requirement = one.requirement
    word = release.group_word.capitalize()
    inside = "" if release.is_shared else f" of fragment '{fragment.name}'"
    of = f" of '{one.attribute}'" if one.attribute else ""
    asks = f"but {requirement.label()} asks for {COMPARISON_WORDS[requirement.comparison]}"
    sizes = fragment.partition.sizes[failing].tolist()
    reasons = _reasons(release, fragment, one, failing)
    for group, size, level, reason in zip(failing.tolist(), sizes, levels[failing].tolist(), reasons, strict=True):
        reached, asked = level_texts(level, requirement.threshold)
        sentence = (
            f"{word} {group}{inside} ({size:,} {'row' if size == 1 else 'rows'}) has {requirement.level_name}{of} "
            f"{reached}, {asks} {asked}{reason}."
        )
        yield Violation(requirement, one.attribute, fragment.name, group, size, level, sentence)


def _reasons(release: Release, fragment: Fragment, one: Check, failing: Groups) -> list[str]:
    """For each failing group, its most frequent value and how frequent that is in the group and in the table."""
    view = one.values
    if view is None:
        return [""] * len(failing)
    partition, codes = published_values(fragment, view.attribute)
    seen = release.data.sensitive_view(view.attribute, codes).codes
    value, count = most_frequent(partition.order, partition.starts, seen, view.size, view.unique, failing)
    shares = (count / partition.sizes[failing]).tolist()
    table = np.bincount(view.codes, minlength=view.size) / len(view.codes)
    return [
        f"; its most frequent value {view.labels[code]!r} has {share:.0%} of it"
        + ("" if code == view.unique else f" and {table[code]:.0%} of the table")
        for code, share in zip(value.tolist(), shares, strict=True)
    ]

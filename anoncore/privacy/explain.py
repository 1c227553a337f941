"""Why a release is as coarse as it is, and what would have to change for it to hold more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
import numpy.typing as npt

from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.base.showing import Result
from anoncore.base.texts import share_text
from anoncore.kernels.arrays import Bools, Floats, Int64
from anoncore.kernels.rounding import ROUNDING
from anoncore.privacy.check import COMPARISON_WORDS, Violation, check, published_levels
from anoncore.privacy.published import fragments_of
from anoncore.release.partition import Partition
from anoncore.release.release import Fragment, Release
from anoncore.requirements import Comparison, Requirement
from anoncore.requirements.requirement import Check
from anoncore.requirements.worth import protects

DIGITS = 3
"""Decimals of a parameter's nearest value; a value below 0.001 has as many digits after its zeros."""


@dataclass(frozen=True, eq=False)
class Binding(Result):
    """How tightly one requirement holds the groups of a release.

    `levels` float (n_groups,) in the unit of the threshold. `forbids` bool (n_groups,): every cut of the group at the
    median of a quasi-identifier would leave a half that fails this requirement, so it alone keeps the group whole.
    """

    requirement: Requirement
    attribute: str | None
    levels: Floats
    forbids: Bools

    @property
    def n_bound(self) -> int:
        """Groups that this requirement keeps whole."""
        return int(self.forbids.sum())

    @property
    def worst(self) -> float:
        """The level of the group that has least to spare."""
        level = self.levels.min() if self.requirement.comparison is Comparison.AT_LEAST else self.levels.max()
        return float(level)

    def tightest(self, most: int = 20) -> Int64:
        """Groups with least to spare, the tightest first."""
        sign = 1 if self.requirement.comparison is Comparison.AT_LEAST else -1
        return np.argsort(sign * self.levels, kind="stable")[:most].astype(np.int64)


@dataclass(frozen=True, eq=False)
class Explanation(Result):
    """Why the groups of a fragment are not finer.

    `bindings`: one per requirement (and attribute that it covers). `alike` bool (n_groups,): all rows are equal in the
    quasi-identifiers, so there is nothing to cut. `free`: a cut at some median would keep every requirement.
    """

    fragment: str
    bindings: tuple[Binding, ...]
    alike: Bools
    free: Bools

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.free)

    @property
    def together(self) -> Bools:
        """Groups that no requirement alone keeps whole, but several of them do together."""
        single = np.zeros(self.n_groups, dtype=np.bool_)
        for binding in self.bindings:
            single |= binding.forbids
        return ~single & ~self.alike & ~self.free


@dataclass(frozen=True, eq=False)
class WhatIf(Result):
    """Whether a release would keep one more requirement, and the smallest changes that would mend it.

    `violations` has every group that fails with its level; `n_rows` counts the people in them. `nearest` is the
    parameter's value, at three decimals, with which the release does keep it (None: no value does). `suppressing` says
    whether withholding the failing groups mends it; where the requirement compares with the whole table it does not.
    `merging`: whether one group made of all failing ones would keep it.
    """

    requirement: Requirement
    violations: tuple[Violation, ...]
    worst: float
    n_groups: int
    n_rows: int
    nearest: float | None
    suppressing: bool
    merging: bool

    @property
    def holds(self) -> bool:
        """Whether it holds as it is."""
        return not self.violations


@checked
def explain(release: Release, requirements: Sequence[Requirement], fragment: Fragment | None = None) -> Explanation:
    """Why the groups are not finer: which of them a requirement keeps whole, and which could still be cut.

    Each group is cut at the median of each quasi-identifier of the table in turn, by the original values, as Mondrian
    would; a cut is allowed if both halves keep every requirement. `fragment`: whose groups (default: the first). Other
    ways to cut or to regroup are not tried. Raises DataError where a requirement does not fit the table.
    """
    judged = release.fragments[0] if fragment is None else fragment
    partition = judged.partition
    names = [name for name in release.data.quasi_identifiers if name in judged.attributes] or list(
        release.data.quasi_identifiers
    )
    checks = [condition for requirement in requirements for condition in requirement.checks(release.data)]
    n_groups = partition.n_groups
    cuttable = np.zeros(n_groups, dtype=np.bool_)
    free = np.zeros(n_groups, dtype=np.bool_)
    forbids = np.ones((len(checks), n_groups), dtype=np.bool_)
    for name in names:
        halves, can_cut = _halved(partition, release.data.codes[name])
        if not can_cut.any():
            continue
        cuttable |= can_cut
        allowed = can_cut.copy()
        for number, condition in enumerate(checks):
            holds = condition.holds(condition.levels(halves.partition))
            both = holds[halves.left] & holds[halves.right]
            forbids[number] &= ~both | ~can_cut
            allowed &= both
        free |= allowed
    bindings = tuple(
        Binding(condition.requirement, condition.attribute, condition.levels(partition), forbids[number] & cuttable)
        for number, condition in enumerate(checks)
    )
    return Explanation(judged.name, bindings, ~cuttable, free)


@dataclass(frozen=True, eq=False)
class _Halves:
    """Every group cut in two where it can be: the partition into halves, and the two halves of each group.

    A group that cannot be cut is both of its halves.
    """

    partition: Partition
    left: Int64
    right: Int64


def _halved(partition: Partition, codes: npt.NDArray[np.int32]) -> tuple[_Halves, Bools]:
    """Cut each group at the median of its codes, and say which groups can be cut.

    Codes up to the median go to the left; where the median is also the largest code, only those below it do.
    """
    group = partition.group.astype(np.int64)
    ordered = codes[np.lexsort((codes, group))]
    low, high = ordered[partition.starts[:-1]], ordered[partition.starts[1:] - 1]
    median = ordered[partition.starts[:-1] + (partition.sizes - 1) // 2].astype(np.int64)
    last_left = np.where(median == high, median - 1, median)
    can_cut = low < high
    side = (codes > last_left[group]) & can_cut[group]
    _, dense = np.unique(2 * group + side, return_inverse=True)
    cut = Partition(dense.astype(np.int32))
    left = np.zeros(partition.n_groups, dtype=np.int64)
    right = np.zeros(partition.n_groups, dtype=np.int64)
    left[group[~side]] = dense[~side]
    right[:] = left
    right[group[side]] = dense[side]
    return _Halves(cut, left, right), can_cut


def what_if(release: Release, requirement: Requirement) -> WhatIf:
    """Check one more requirement on the release, and say what would mend it where it fails.

    Raises what `privacy.check` raises.
    """
    violations = check(release, [requirement])
    levels = [
        published_levels(release, fragment, condition)
        for condition in requirement.checks(release.data)
        for fragment in fragments_of(release, condition.attribute)
    ]
    if not levels:
        raise ParameterError(f"This release publishes nothing on which {requirement.label()} could be checked.")
    every_level = np.concatenate(levels)
    worst = float(every_level.min() if requirement.comparison is Comparison.AT_LEAST else every_level.max())
    failing = {(violation.fragment, violation.group): violation.size for violation in violations}
    return WhatIf(
        requirement=requirement,
        violations=violations,
        worst=worst,
        n_groups=len(failing),
        n_rows=sum(failing.values()),
        nearest=_nearest(requirement, worst, release),
        suppressing=bool(failing) and requirement.monotone_under_suppression and _some_left(release, failing),
        merging=bool(failing) and _merged_holds(release, requirement, violations),
    )


def _nearest(requirement: Requirement, worst: float, release: Release) -> float | None:
    """The parameter's value that the worst group satisfies, rounded to the safe side; None where it protects nobody."""
    if not np.isfinite(worst):
        return None
    zeros = min(max(-floor(log10(abs(worst))) - DIGITS, 0), 300) if worst else 0
    scale = 10 ** (DIGITS + zeros)
    value = (
        floor(worst * scale * (1 + ROUNDING)) / scale
        if requirement.comparison is Comparison.AT_LEAST
        else ceil(worst * scale * (1 - ROUNDING)) / scale
    )
    if requirement.comparison is Comparison.BELOW:
        value = (floor(worst * scale) + 1) / scale
    whole = isinstance(getattr(requirement, requirement.parameter), int)
    # An upper limit may need one step more, where the last digit was rounded down.
    for tried in (int(value) if whole else value, value + 1 / scale):
        try:
            changed = requirement.replace(**{requirement.parameter: tried})
        except ParameterError:
            continue
        if protects(changed) and not check(release, [changed]):
            return float(tried)
    return None


def _some_left(release: Release, failing: dict[tuple[str, int], int]) -> bool:
    """Whether every fragment keeps a group when the failing ones are left out."""
    for fragment in release.fragments:
        lost = sum(1 for name, _ in failing if name == fragment.name)
        if lost and lost >= fragment.partition.n_groups:
            return False
    return True


def _merged_holds(release: Release, requirement: Requirement, violations: Sequence[Violation]) -> bool:
    """Whether the failing groups of each fragment, put together as one group, keep the requirement."""
    for fragment in release.fragments:
        groups = sorted({violation.group for violation in violations if violation.fragment == fragment.name})
        if not groups:
            continue
        if len(groups) < 2:
            return False
        lost = np.isin(fragment.partition.group, groups)
        # The failing rows come first; where all rows fail there is no second group.
        merged = Partition(np.where(lost, 0, 1).astype(np.int32))
        for condition in requirement.checks(release.data):
            if not _holds_in_first(condition, merged):
                return False
    return True


def _holds_in_first(condition: Check, partition: Partition) -> bool:
    return bool(condition.holds(condition.levels(partition))[0])


def mending_sentences(answer: WhatIf, release: Release) -> tuple[str, ...]:
    """What would mend a requirement that fails, each way in a sentence; empty where it holds."""
    if answer.holds:
        return ()
    requirement, word = answer.requirement, release.group_word
    sentences = []
    if answer.nearest is not None:
        sentences.append(
            f"Ask for less: {requirement.parameter} = {answer.nearest:g} holds as the release is "
            f"({COMPARISON_WORDS[requirement.comparison]} was asked {requirement.threshold:g})."
        )
    part = share_text(answer.n_rows / release.data.n_rows)
    groups = "the one failing group" if answer.n_groups == 1 else f"the {answer.n_groups:,} failing groups"
    if answer.suppressing:
        sentences.append(
            f"Withhold {groups} ({word}): {answer.n_rows:,} {'row' if answer.n_rows == 1 else 'rows'}, "
            f"{part} of the table."
        )
    if answer.merging:
        sentences.append(f"Merge {groups} into one of {answer.n_rows:,} rows: together they keep it.")
    if not sentences:
        sentences.append(
            "Neither another parameter nor leaving out or merging these groups helps; make the release again."
        )
    return tuple(sentences)

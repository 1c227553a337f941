"""Why a release is as coarse as it is, and what would have to change for it to hold more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor, log10

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.base.showing import Result
from anoncore.base.texts import counted, share_text
from anoncore.kernels.arrays import Bools, Floats, Int32, Int64, record
from anoncore.kernels.rounding import ROUNDING
from anoncore.privacy.check import Violation, group_violations
from anoncore.privacy.guarantees import broken, judged
from anoncore.privacy.published import fragments_of, published_view
from anoncore.release.partition import Partition
from anoncore.release.recoding import Exact, GroupValues
from anoncore.release.release import Fragment, Release
from anoncore.requirements import Comparison, Requirement
from anoncore.requirements.requirement import COMPARISON_WORDS, Check
from anoncore.requirements.worth import protects

DIGITS = 3
"""Decimals of a parameter's nearest value; a value below 0.001 has as many digits after its zeros."""


@record
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


@record
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
        single = np.zeros(self.n_groups, np.bool_)
        for binding in self.bindings:
            single |= binding.forbids
        return ~single & ~self.alike & ~self.free


@record
class WhatIf(Result):
    """Whether a release would keep one more requirement, and the smallest changes that would mend it.

    `violations` has every group that fails with its level; `n_rows` counts the rows of them. `nearest` is the
    parameter's value, at three decimals, with which the release does keep it (None: no value does). `suppressing` says
    whether withholding the failing groups mends it; where the requirement compares with the whole table it does not.
    `merging`: whether one group made of all failing ones would keep it, by the values that are published.
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
    would; a cut is allowed if both halves keep every requirement. Sensitive values count as they are published for each
    row; where only sets of groups are, the original ones count. `fragment`: whose groups (default: the first). Other
    ways to cut or to regroup are not tried. Raises DataError where a requirement does not fit the table.
    """
    part = release.fragments[0] if fragment is None else fragment
    partition = part.partition
    names = [name for name in release.data.quasi_identifiers if name in part.attributes] or list(
        release.data.quasi_identifiers
    )
    checks = [
        _as_published(release, part, condition)
        for requirement in requirements
        for condition in requirement.checks(release.data)
    ]
    n_groups = partition.n_groups
    cuttable = np.zeros(n_groups, np.bool_)
    free = np.zeros(n_groups, np.bool_)
    forbids = np.ones((len(checks), n_groups), np.bool_)
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
    return Explanation(part.name, bindings, ~cuttable, free)


def _as_published(release: Release, fragment: Fragment, condition: Check) -> Check:
    """The condition on the values that are published for each row of the fragment's groups, where these are."""
    name = condition.attribute
    if name is None:
        return condition
    publishing = release.fragment_of(name) if release.is_shared else fragment
    if not isinstance(publishing.recodings.get(name), Exact):
        return condition
    return replace(condition, values=published_view(release, publishing, name)[1])


@record
class _Halves:
    """Every group cut in two where it can be: the partition into halves, and the two halves of each group.

    A group that cannot be cut is both of its halves.
    """

    partition: Partition
    left: Int64
    right: Int64


def _halved(partition: Partition, codes: Int32) -> tuple[_Halves, Bools]:
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
    cut = Partition.alike([2 * group + side])
    left = np.zeros(partition.n_groups, dtype=np.int64)
    right = np.zeros(partition.n_groups, dtype=np.int64)
    left[group[~side]] = cut.group[~side]
    right[:] = left
    right[group[side]] = cut.group[side]
    return _Halves(cut, left, right), can_cut


def what_if(release: Release, requirement: Requirement) -> WhatIf:
    """Check one more requirement on the release, and say what would mend it where it fails.

    Raises what `privacy.check` raises.
    """
    violations = group_violations(release, [requirement])
    levels = [one.reached for one in judged(release, [requirement])]
    if not levels:
        raise ParameterError(f"This release publishes nothing on which {requirement.label()} could be checked.")
    worst = min(levels) if requirement.comparison is Comparison.AT_LEAST else max(levels)
    failing = _failing(release, violations)
    some_left = all(len(groups) < fragment.partition.n_groups for fragment, groups in failing)
    return WhatIf(
        requirement=requirement,
        violations=violations,
        worst=worst,
        n_groups=sum(len(groups) for _, groups in failing),
        n_rows=sum(int(fragment.partition.sizes[groups].sum()) for fragment, groups in failing),
        nearest=_nearest(requirement, worst, release),
        suppressing=bool(failing) and requirement.monotone_under_suppression and some_left,
        merging=bool(failing)
        and all(_merged_holds(release, requirement, fragment, groups) for fragment, groups in failing),
    )


def _failing(release: Release, violations: Sequence[Violation]) -> list[tuple[Fragment, Int64]]:
    """The failing groups of each fragment that has some; fragments that share their groups count once."""
    failing = []
    for fragment in fragments_of(release, None):
        groups = {one.group for one in violations if release.is_shared or one.fragment == fragment.name}
        if groups:
            failing.append((fragment, np.array(sorted(groups), np.int64)))
    return failing


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
        if protects(changed) and not broken(release, [changed]):
            return float(tried)
    return None


def _merged_holds(release: Release, requirement: Requirement, fragment: Fragment, groups: Int64) -> bool:
    """Whether several groups of a fragment keep the requirement as one group, by what is then published of it."""
    if len(groups) < 2:
        return False
    for condition in requirement.checks(release.data):
        name = condition.attribute
        if name is None:
            rows = np.flatnonzero(np.isin(fragment.partition.group, groups))
        else:
            publishing = next(
                (one for one in fragments_of(release, name) if release.is_shared or one is fragment), None
            )
            if publishing is None:
                continue
            partition, published = published_view(release, publishing, name)
            condition = replace(condition, values=published, people=published.people)
            rows = np.flatnonzero(np.isin(partition.group, groups))
            recoding = publishing.recodings[name]
            if isinstance(recoding, GroupValues):
                # A group of them all publishes each value of their sets once.
                rows = rows[np.unique(recoding.members[rows], return_index=True)[1]]
        together = Partition(np.zeros(len(rows), np.int32))
        if not condition.holds(condition.levels(together, rows=rows))[0]:
            return False
    return True


def mending_sentences(answer: WhatIf, release: Release) -> tuple[str, ...]:
    """What would mend a requirement that fails, each way in a sentence; empty where it holds."""
    if answer.holds:
        return ()
    requirement = answer.requirement
    sentences = []
    if answer.nearest is not None:
        sentences.append(
            f"Ask for less: {requirement.parameter} = {answer.nearest:g} holds as the release is "
            f"({COMPARISON_WORDS[requirement.comparison]} was asked {requirement.threshold:g})."
        )
    part = share_text(answer.n_rows / release.data.n_rows)
    groups = "the one failing group" if answer.n_groups == 1 else f"the {answer.n_groups:,} failing groups"
    if answer.suppressing:
        sentences.append(f"Withhold {groups}: {counted(answer.n_rows, 'row')}, {part} of the table.")
    if answer.merging:
        sentences.append(f"Merge {groups} into one of {answer.n_rows:,} rows: together they keep it.")
    if not sentences:
        sentences.append(
            "Neither another parameter nor leaving out or merging these groups helps; make the release again."
        )
    return tuple(sentences)

"""What some groups of a large release, and what fewer of them teach, say of the attack on all groups.

Fewer groups teach more noise, and noise gives people away by chance. The same people are attacked with what few groups
teach and with what more of them do: how many fewer these give away tells how many fewer all groups will.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

import numpy as np

from anoncore.attacks.foreground.adversary import Adversary
from anoncore.attacks.foreground.mining import Target, attack_set, published_values, work_of
from anoncore.attacks.foreground.sampled_sets import STANDARD_ERRORS
from anoncore.attacks.foreground.sets import Signatures
from anoncore.attacks.foreground.solver import Precision, Solver, solve
from anoncore.base.random_numbers import generator
from anoncore.kernels.arrays import Bools, Int64, record
from anoncore.kernels.foreground_cases import cases_of, compositions
from anoncore.kernels.foreground_groups import Beliefs, PublishedValues, beliefs
from anoncore.kernels.grouping import owners, runs_from, starts_of
from anoncore.release.group_sample import GroupSample, sampled


@record
class LessonAttack:
    """What some groups teach with one attribute set, turned against others."""

    beliefs: Beliefs
    work: int


@dataclass(frozen=True)
class Lesson:
    """A target of which some groups teach, and some are attacked with what these taught."""

    target: Target
    teaching: PublishedValues
    attacked_groups: PublishedValues

    @classmethod
    def of(cls, target: Target, teach: Bools, count: Bools) -> Lesson:
        """`teach` and `count` bool (n_groups,): which groups teach, and which are attacked."""
        return cls(target, _some(target, teach), _some(target, count))

    @property
    def rows(self) -> Int64:
        """The rows that are attacked, by position."""
        return self.attacked_groups.order

    @property
    def in_order(self) -> Bools:
        """Whether the value of each of them needs protection."""
        return self.target.needs[self.rows]

    def attacked(self, signatures: Signatures, limit: float, solver: Solver, precision: Precision) -> LessonAttack:
        """The attack with one attribute set."""
        target, m, of = self.target, len(signatures), self.teaching
        groups = compositions(of.order, of.starts, signatures.classes, m + 1)
        cases, held, _ = cases_of(groups, m + 1, of.group, of.n, of.value_start)
        # A frequent signature that none of the few people has who teach has no share to be learned.
        rows = np.maximum(np.bincount(signatures.classes[of.order], minlength=m + 1)[:m], 1)
        solution = solve(cases, held, rows, target.shares, target.fixed, solver, precision)
        work = work_of(cases, held, solution.steps, target.n_values)
        # Values whose cases are alike among the groups that teach may differ elsewhere.
        shares = solution.shares._replace(like=np.arange(target.n_values))
        to, classes = self.attacked_groups, signatures.classes
        groups = compositions(to.order, to.starts, classes, m + 1)
        cases, held, occurrence = cases_of(groups, m + 1, to.group, to.n, to.value_start)
        return LessonAttack(beliefs(to, classes, groups, cases, held, occurrence, shares, limit), work)


@dataclass(frozen=True)
class OfSomeRows:
    """A target that has some rows of the table whose signatures it is attacked with, int64 (n_rows,)."""

    target: Target
    rows: Int64

    @property
    def in_order(self) -> Bools:
        """Whether each row's value needs protection, by position."""
        return self.target.needs[self.target.partition.order]

    def attacked(self, signatures: Signatures, limit: float, solver: Solver, precision: Precision) -> LessonAttack:
        """The attack with one attribute set."""
        classes = signatures.classes[self.rows]
        rows = np.maximum(np.bincount(classes, minlength=len(signatures) + 1)[:-1], 1)
        here = Signatures(signatures.attributes, classes, rows, signatures.values)
        found = attack_set(here, self.target, limit, solver, precision)
        return LessonAttack(found.beliefs, found.work)


def _some(target: Target, chosen: Bools) -> PublishedValues:
    """Some groups of a target, numbered anew."""
    published, partition = target.published, target.partition
    groups, number = np.flatnonzero(chosen), np.cumsum(chosen) - 1
    sizes = partition.sizes[groups].astype(np.int64)
    positions = runs_from(partition.starts[groups], sizes)
    here = chosen[published.group]
    value = owners(np.diff(published.value_start))[here]
    return published_values(
        published.order[positions],
        starts_of(sizes),
        published.true[positions],
        value,
        number[published.group[here]],
        published.n[here],
        target.n_values,
    )


SAMPLED_ROWS = 60_000
"""People of a large release who are drawn with their groups."""
FEW = 16
"""Of so many groups of them one teaches at first."""
FEWEST_NEEDING = 200
"""People with a value that needs protection among those who teach at first; where such values are rare, more teach."""
COUNTED_GROUPS = 500
"""Groups of one size, or as many of different sizes as tell as much, that are attacked; and of COUNTED at least one."""
COUNTED = 4
TEACHING_GROUPS = 30
"""The same of those that teach, whatever it takes: a few large groups teach little else than their own noise."""
MOST_WORK = 32_000_000
"""Work of the attack and a control together, as `SetLeak.work` counts it, up to which more groups teach: about half a
second.
"""
OF_WORK = 0.8
"""With which power of the groups the work becomes more."""
SLOWEST, USUAL, OF_MEAN = 0.3, 0.7, 0.5
"""With which power of the groups that teach noise falls at least, and usually, and the error of a mean. Who is given
away by a belief that is mostly noise still is when it has become half of it.
"""

OF_PRECISION = 0.01
"""How far a share may lie off because shares are learned to the third decimal, and where nearly everybody is given away
whatever teaches.
"""


@record
class Stage:
    """What some groups of a sample teach about some of its people, beside a control in which as many teach.

    `share`: which share of all people those are who teach.
    """

    lesson: Lesson
    control: OfSomeRows
    share: float


class Stages:
    """A sample of the groups of a large release, of which more and more teach."""

    def __init__(self, people: GroupSample, adversary: Adversary) -> None:
        self.people = people
        self._adversary = adversary
        self._target = adversary.target(people.release)
        sizes = people.release.partition.sizes
        self._by_size = np.argsort(sizes, kind="stable")
        self._offset = int(generator(adversary.seed).integers(FEW))
        self._tell_as_much = float(sizes.sum()) ** 2 / float((sizes.astype(np.float64) ** 2).sum())
        self._counted = self._one_of(int(min(max(self._tell_as_much / COUNTED_GROUPS, 1), COUNTED)))
        needing = self._target.n_needing // FEWEST_NEEDING
        self.first = 1 << min(max(needing, 1).bit_length() - 1, FEW.bit_length() - 1)

    def times(self, work: int) -> int:
        """How many times as many groups as at first can teach where these took that much `work`, a power of 2."""
        found = 1
        while found < self.first and (
            found == 1
            or self._tell_as_much * found < TEACHING_GROUPS * self.first
            or work * (2 * found) ** OF_WORK <= MOST_WORK
        ):
            found *= 2
        return found

    def stage(self, one_of: int) -> Stage:
        """The stage in which one of so many groups teaches."""
        release, share = self.people.release, self.people.share / one_of
        lesson = Lesson.of(self._target, self._one_of(one_of), self._counted)
        rows = np.arange(release.data.n_rows)
        if one_of > 1:
            some = sampled(release, release.data.n_rows // one_of, self._adversary.seed)
            release, rows = some.release, some.rows
        return Stage(lesson, OfSomeRows(self._adversary.control(release)[0], rows), share)

    def _one_of(self, number: int) -> Bools:
        """One of so many groups, in the order of their sizes."""
        chosen = np.zeros(len(self._by_size), np.bool_)
        chosen[self._by_size[self._offset % number :: number]] = True
        return chosen

    def of_all_groups(
        self, few: Bools, more: Bools, times: float, shares: tuple[float, float, float]
    ) -> tuple[float, float, float]:
        """The share whom all groups give away, and its interval.

        `few` and `more` bool (n_sets, n_needing) tell whom each attribute set gives away with what few groups teach,
        and with what `times` as many do; `shares` is what the latter gives away, with its interval for other sets.
        """
        value, low, high = shares
        partition, order = self.people.release.partition, self._target.published.order
        group = partition.group[order[(self._target.needs & self._counted[partition.group])[order]]]
        breached = np.asarray(more.any(axis=0))
        fallen = np.asarray(few.any(axis=0), np.float64) - breached
        by, error = float(fallen.mean()), self.people.standard_error(breached, group)
        farthest = by / (times**SLOWEST - 1)
        of_fallen = self.people.standard_error(fallen, group) / (times**USUAL - 1)
        margin = hypot(max(value - low, high - value), STANDARD_ERRORS * hypot(error, of_fallen)) + OF_PRECISION
        return (
            with_more_groups(value + by, value, times),
            min(max(min(value, value - farthest) - margin, 0.0), 1.0),
            max(min(max(value, value - farthest) + margin, 1.0), 0.0),
        )


def with_more_groups(before: float, after: float, times: float) -> float:
    """What a share usually comes to with all groups, that was `before` and is `after` with `times` as many.

    A share that falls by a factor goes on to do so, and no share falls below 0.
    """
    return after * min(after / before, 1.0) ** (1 / (times**USUAL - 1)) if before > 0 else after


def control_of_all(before: float, after: float, times: float) -> float:
    """What a control comes to with all groups, that was `before` and is `after` with `times` as many.

    It learns nothing but noise, which becomes less as the error of a mean does.
    """
    return min(max(after - max(before - after, 0.0) / (times**OF_MEAN - 1), 0.0), 1.0)

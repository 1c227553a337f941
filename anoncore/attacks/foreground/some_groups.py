"""The attack on some groups of a release with what fewer of them teach: learning is what takes long."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anoncore.attacks.foreground.mining import Target, attack_set, published_values, work_of
from anoncore.attacks.foreground.sets import Signatures
from anoncore.attacks.foreground.solver import Precision, Solver, solve
from anoncore.kernels.arrays import Bools, Int64, record
from anoncore.kernels.foreground_cases import cases_of, compositions
from anoncore.kernels.foreground_groups import Beliefs, PublishedValues, beliefs
from anoncore.kernels.grouping import runs_from, starts_of


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
    value = np.repeat(np.arange(target.n_values), np.diff(published.value_start))[here]
    return published_values(
        published.order[positions],
        starts_of(sizes),
        published.true[positions],
        value,
        number[published.group[here]],
        published.n[here],
        target.n_values,
    )

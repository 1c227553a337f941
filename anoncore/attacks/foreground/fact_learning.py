"""The foreground-knowledge attack of an adversary who knows facts beside the release."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from math import nan

import numpy as np

from anoncore.attacks.foreground.counted_worlds import ListedWorlds, WeighedCounts
from anoncore.attacks.foreground.fact_worlds import ValueFacts, atoms
from anoncore.attacks.foreground.mining import SetAttack, Target, attack_set, published_values, set_leak
from anoncore.attacks.foreground.sets import SetLeak, Signatures
from anoncore.attacks.foreground.solver import Precision, Solution, Solver, solve
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.kernels.foreground_cases import Compositions, cases_of, compositions
from anoncore.kernels.foreground_groups import Beliefs, PublishedValues, beliefs
from anoncore.kernels.foreground_shares import Supports, shares_of, stored, with_shares_of
from anoncore.kernels.grouping import owners
from anoncore.kernels.rounding import ACCUMULATED, lies_above

COUNTED_PRECISION = Precision(tolerance=1e-7, most_steps=1_000)
"""Where facts count people, plain expectation-maximization is not accelerated; at most so precise."""
ALIKE = 0.5
"""A share that is everybody's: which one it is does not matter to worlds with equally many people who have x."""


@record
class _Learned:
    """The shares of x in the signatures, float (m,), and the belief in x about every row, float (n_rows,)."""

    shares: Floats
    belief: Floats
    steps: int
    converged: bool
    contradicted: int = 0


@record
class ToldValue:
    """One value x and the people of whom facts leave open whether they have it.

    `order` int64: their rows by group, those of group g at `starts[g]:starts[g + 1]`. `n[p]` of those of group
    `group[p]` have x. `start` and `fixed`: the share that learning begins with, and that of rare signatures, negative
    where it is that of the undecided people in the group.
    """

    facts: ValueFacts
    order: Int64
    starts: Int64
    group: Int64
    n: Int64
    start: float
    fixed: float

    @classmethod
    def of(cls, target: Target, value: int, facts: ValueFacts) -> ToldValue:
        """Take those who are known to have x, or to lack it, out of their groups."""
        partition, published = target.partition, target.published
        order = partition.order[facts.undecided[partition.order]]
        n_undecided = np.bincount(partition.group[order], minlength=partition.n_groups)
        pairs = slice(published.value_start[value], published.value_start[value + 1])
        known = np.bincount(partition.group[facts.has], minlength=partition.n_groups)
        group, n = published.group[pairs], published.n[pairs]
        n = n - known[group]
        starts = np.append(0, np.cumsum(n_undecided))
        start, fixed = float(target.shares[value]), float(target.fixed[value])
        return cls(facts, order, starts, group[n > 0], n[n > 0], start, fixed)

    @cached_property
    def published(self) -> PublishedValues:
        """The undecided people by group, as if x were the only value and nobody had it."""
        nobody = np.ones(len(self.order), np.int32)
        value = np.zeros(len(self.group), np.int64)
        return published_values(self.order, self.starts, nobody, value, self.group, self.n, 1)

    @cached_property
    def share_of_group(self) -> Floats:
        """The share of x among the undecided people of each row's group, float (n_rows,); 0 for other rows."""
        share = np.zeros(len(self.facts.has))
        size = np.diff(self.starts)
        in_group = np.zeros(len(size))
        in_group[self.group] = self.n / size[self.group]
        share[self.order] = np.repeat(in_group, size)
        return share

    @cached_property
    def listed(self) -> ListedWorlds | None:
        """All worlds of the undecided people, where they are few."""
        n_rows = len(self.facts.has)
        return ListedWorlds.of(self.order, self.starts, self.group, self.n, self.facts.counted, n_rows)

    def equally_likely(self) -> Floats:
        """The belief in x about every row, float (n_rows,), where all worlds that the facts allow are alike."""
        if not self.facts.counted:
            return np.where(self.facts.has, 1.0, self.share_of_group)
        nobody = Signatures(
            (),
            np.zeros(len(self.facts.has), np.int32),
            np.zeros(0, np.int64),
            np.zeros((0, 0), np.int32),
        )
        return replace(self, fixed=ALIKE)._learned_with_counts(nobody, COUNTED_PRECISION).belief

    def learned(self, signatures: Signatures, solver: Solver, precision: Precision) -> _Learned:
        """Learn from one attribute set what share of each signature has x, and weigh the worlds with it."""
        if self.facts.counted:
            return self._learned_with_counts(signatures, precision)
        m = len(signatures)
        groups = compositions(self.order, self.starts, signatures.classes, m + 1)
        cases, held, occurrence_of_pair = cases_of(groups, m + 1, self.group, self.n, self.published.value_start)
        known = np.bincount(signatures.classes[self.facts.has], minlength=m + 1)[:m]
        held = held._replace(supports=_with_certain(held.supports, known))
        solution = solve(
            cases, held, signatures.rows, np.array([self.start]), np.array([self.fixed]), solver, precision
        )
        believed = beliefs(
            self.published, signatures.classes, groups, cases, held, occurrence_of_pair, solution.shares, 1.0
        )
        return _Learned(
            shares_of(solution.shares, 0),
            self._of_everybody(believed.other),
            solution.steps,
            solution.converged,
            believed.contradicted,
        )

    def _of_everybody(self, by_position: Floats) -> Floats:
        """The belief about every row, by that about the undecided people."""
        belief = self.facts.has.astype(np.float64)
        belief[self.order] = by_position
        return belief

    def _learned_with_counts(self, signatures: Signatures, precision: Precision) -> _Learned:
        """The same where a fact counts people over the groups: plain steps of expectation-maximization."""
        m, kind, fixed = len(signatures), *self._kinds(signatures)
        known = np.bincount(signatures.classes[self.facts.has], minlength=m + 1)[:m]
        shares = np.append(np.full(m, self.start), fixed)
        worlds: _Worlds = (
            _Listed(self.listed, kind) if self.listed is not None else _Weighed.of(self, kind, len(shares))
        )
        tolerance = max(precision.tolerance, COUNTED_PRECISION.tolerance)
        steps, change, is_met = 0, np.inf, False
        while steps < min(precision.most_steps, COUNTED_PRECISION.most_steps) and not (is_met and change <= tolerance):
            expected, is_met = worlds.expected(shares)
            updated = (expected[:m] + known) / signatures.rows
            change = float(np.abs(updated - shares[:m]).max(initial=0.0))
            shares[:m] = updated
            steps += 1
        return _Learned(
            shares[:m].copy(),
            self._of_everybody(worlds.belief(shares)[self.order]),
            steps,
            is_met and change <= tolerance,
        )

    def _kinds(self, signatures: Signatures) -> tuple[Int64, Floats]:
        """People of one share, int64 (n_rows,): the m signatures, then rare ones, whose fixed shares are returned."""
        m, kind = len(signatures), signatures.classes.astype(np.int64)
        if self.fixed >= 0:
            return kind, np.array([self.fixed])
        fixed, place = np.unique(self.share_of_group, return_inverse=True)
        return np.where(kind < m, kind, m + place), fixed


@record
class _Listed:
    """Expectations over all worlds of a small table."""

    worlds: ListedWorlds
    kind: Int64

    def expected(self, shares: Floats) -> tuple[Floats, bool]:
        """How many people of each kind have x, and that the counts are met."""
        expected: Floats = np.bincount(self.kind, weights=self.belief(shares), minlength=len(shares)).astype(np.float64)
        return expected, True

    def belief(self, shares: Floats) -> Floats:
        """The belief in x about every row."""
        return self.worlds.probabilities(shares[self.kind])


@record
class _Weighed:
    """Expectations under the odds that meet the counts of a larger table.

    `classes` int32 (n_rows,): people whom groups and facts do not tell apart; `of_class` int64 (n_classes,): the kind
    of each class. `groups` and `occurrence_of_pair`: see `foreground_cases`.
    """

    told: ToldValue
    classes: Codes
    of_class: Int64
    groups: Compositions
    occurrence_of_pair: Int64
    odds: WeighedCounts

    @classmethod
    def of(cls, told: ToldValue, kind: Int64, n_kinds: int) -> _Weighed:
        """Tell the people of each kind apart by which facts count them."""
        counts = told.facts.counted
        cell = atoms([counted.people for counted in counts])
        key, class_of, people = np.unique(
            cell[told.order] * n_kinds + kind[told.order], return_inverse=True, return_counts=True
        )
        classes = np.zeros(len(kind), np.int32)
        classes[told.order] = class_of
        anybody = np.zeros(len(key), np.int64)
        anybody[class_of] = told.order
        member = np.array([counted.people[anybody] for counted in counts])
        groups = compositions(told.order, told.starts, classes, len(key) + 1)
        cases, held, occurrence_of_pair = cases_of(groups, len(key) + 1, told.group, told.n, told.published.value_start)
        odds = WeighedCounts(cases, held, people, member, counts, np.zeros(len(counts)))
        return cls(told, classes, key % n_kinds, groups, occurrence_of_pair, odds)

    def expected(self, shares: Floats) -> tuple[Floats, bool]:
        """How many people of each kind have x, and whether the counts are met."""
        expected, is_met = self.odds.expected(shares[self.of_class])
        of_kind: Floats = np.bincount(self.of_class, weights=expected, minlength=len(shares)).astype(np.float64)
        return of_kind, is_met

    def belief(self, shares: Floats) -> Floats:
        """The belief in x about every row."""
        odds, told = self.odds, self.told
        weighed = stored(odds.shares(shares[self.of_class])[None, :], np.array([ALIKE]))
        believed = beliefs(
            told.published, self.classes, self.groups, odds.cases, odds.held, self.occurrence_of_pair, weighed, 1.0
        )
        belief = np.zeros(len(self.classes))
        belief[told.order] = believed.other
        return belief


_Worlds = _Listed | _Weighed


@record
class ToldTarget:
    """What is attacked by somebody who knows facts.

    `told`: the values of which these say something, by their codes. `others`: the target without these values, which
    are attacked as without facts.
    """

    target: Target
    told: Mapping[int, ToldValue]
    others: Target

    @classmethod
    def of(cls, target: Target, facts: Mapping[int, ValueFacts]) -> ToldTarget:
        """Attack with these facts by value."""
        published = target.published
        value = owners(np.diff(published.value_start))
        rest = ~np.isin(value, list(facts))
        by_group = published_values(
            published.order,
            published.starts,
            published.true,
            value[rest],
            published.group[rest],
            published.n[rest],
            target.n_values,
        )
        told = {value: ToldValue.of(target, value, of_value) for value, of_value in facts.items()}
        return cls(target, told, replace(target, published=by_group))

    @property
    def weighs_counts(self) -> bool:
        """Whether there is a count over so many groups that their worlds are not listed."""
        return any(told.facts.counted and told.listed is None for told in self.told.values())

    def random_worlds(self) -> tuple[Floats, Floats]:
        """p(t:x) of each row's own value, and the largest of any other, where all worlds that are left are alike."""
        own, other = self.others.random_worlds()
        for value, told in self.told.items():
            own, other = _taken_in(own, other, self.target.true == value, told.equally_likely())
        return own, other

    def attacked(self, signatures: Signatures, limit: float, solver: Solver, precision: Precision) -> SetAttack:
        """The attack with one attribute set; a belief above `limit` is a breach."""
        begin = time.perf_counter()
        target = self.target
        attack = attack_set(signatures, self.others, limit, solver, precision)
        leak, order = attack.leak(), target.partition.order
        own, other = attack.beliefs.own, attack.beliefs.other
        shares = leak.learned_shares
        steps, converged, contradicted = leak.steps, leak.converged, leak.contradicted
        for value, told in self.told.items():
            learned = told.learned(signatures, solver, precision)
            own, other = _taken_in(own, other, target.published.true == value, learned.belief[order])
            shares = with_shares_of(shares, value, learned.shares)
            steps, converged = steps + learned.steps, converged and learned.converged
            contradicted += learned.contradicted
        needs, could = target.needs[order], target.could[order]
        together = Beliefs(
            own,
            other,
            int(lies_above(own[needs], limit, ACCUMULATED).sum()),
            int(lies_above(other[could], limit, ACCUMULATED).sum()),
            float(own[needs].sum()),
            contradicted,
        )
        solution, seconds = Solution(shares, steps, converged), time.perf_counter() - begin

        def leak_told() -> SetLeak:
            return set_leak(signatures, target, solution, together, nan, seconds, attack.work)

        return SetAttack(together, attack.work, leak_told)


def _with_certain(supports: Supports, known: Int64) -> Supports:
    """The support of the only value, with further rows that surely have it, int64 (m,)."""
    certain = known.astype(np.float64)
    certain[supports.classes] += supports.certain
    classes = np.union1d(supports.classes, np.flatnonzero(known)).astype(np.int32)
    return Supports(np.zeros(1, np.int64), np.array([len(classes)]), classes, certain[classes])


def _taken_in(own: Floats, other: Floats, is_own: Bools, belief: Floats) -> tuple[Floats, Floats]:
    """Beliefs in people's own value and the largest in another one, after those in one more value."""
    return np.where(is_own, belief, own), np.where(is_own, other, np.maximum(other, belief))

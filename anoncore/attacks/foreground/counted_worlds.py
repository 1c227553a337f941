"""Worlds in which facts count people with a value over many groups: how many of each kind are expected to have it.

Where the worlds of all groups can be listed, the expectation is that over the worlds in which the counts are as the
facts say. In larger tables it is that of the distribution nearest to the one without facts in which the expected counts
are what the facts let expect: the odds of everybody whom a fact counts are multiplied by one number. A count is a sum
over many groups and so nearly normal; its mean given the fact is that of the truncated normal distribution. The more
people a fact counts, the nearer are both to each other.

Source of the nearest distribution: Ganchev, Graça, Gillenwater and Taskar, Posterior Regularization, JMLR 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from anoncore.attacks.foreground.fact_worlds import Counted
from anoncore.kernels.arrays import Bools, Floats, Int64, record
from anoncore.kernels.foreground_cases import Cases, Occurrences
from anoncore.kernels.foreground_solver import Unknowns, expectation_step

MOST_WORLDS = 4_000
"""Worlds of all groups, each by itself, that are listed at most."""
MOST_COUNTS = 50_000
"""Groups, times the combinations of counts over all of them, that are gone through at most."""
INNER_STEPS = 4
"""Steps towards the counts that facts ask for, between two steps of learning."""
FARTHEST = 3.0
"""Largest change of the logarithm of the odds in one of them."""
STEP = 1e-4
"""Change of the logarithm of the odds by which the variance of a count is found."""
LEAST_SPREAD = 1e-6
CERTAIN = 30.0
"""Logarithm of odds under which as many of the people counted have the value as can have it."""
FARTHEST_MEAN = 1e-3
"""Part of the way between its bounds by which the mean of a count lies inside them at least."""
MET = 1e-6
"""Share of the people whom a fact counts by which the expected count may miss it."""


@record
class _ListedGroup:
    """The worlds of a group, bool (n_worlds, N) over its `rows`, and which counts each adds, as one number."""

    rows: Int64
    worlds: Bools
    adds: Int64


@record
class ListedWorlds:
    """All worlds of a small table, group by group; `allowed` float (n_counts,) is 1 for counts that the facts allow."""

    groups: tuple[_ListedGroup, ...]
    allowed: Floats
    n_rows: int

    @classmethod
    def of(
        cls, order: Int64, starts: Int64, group: Int64, n: Int64, counts: Sequence[Counted], n_rows: int
    ) -> ListedWorlds | None:
        """The worlds in which `n[p]` of the rows of group `group[p]` have the value; None where they are too many."""
        sizes = starts[group + 1] - starts[group]
        n_worlds = 0
        for size, with_value in zip(sizes.tolist(), n.tolist(), strict=True):
            # A group of many people has more worlds than can be counted in reasonable time.
            n_worlds += comb(size, with_value) if size <= MOST_WORLDS else MOST_WORLDS + 1
            if n_worlds > MOST_WORLDS:
                return None
        rows_of = [order[starts[number] : starts[number + 1]] for number in group]
        most = [
            sum(min(int(counted.people[rows].sum()), int(k)) for rows, k in zip(rows_of, n, strict=True))
            for counted in counts
        ]
        widths = np.array(most, np.int64) + 1
        if float(np.prod(widths.astype(np.float64))) * len(group) > MOST_COUNTS:
            return None
        # A combination of counts is one number, each count being a digit that never overflows.
        place = np.append(1, np.cumprod(widths)[:-1])
        listed = []
        for rows, with_value in zip(rows_of, n.tolist(), strict=True):
            worlds = np.zeros((comb(len(rows), with_value), len(rows)), np.bool_)
            for world, people in enumerate(combinations(range(len(rows)), with_value)):
                worlds[world, list(people)] = True
            is_counted = np.column_stack([counted.people[rows] for counted in counts]).astype(np.int64)
            listed.append(_ListedGroup(rows, worlds, worlds.astype(np.int64) @ is_counted @ place))
        number = np.arange(int(np.prod(widths)))
        allowed = np.ones(len(number))
        for counted, width, unit in zip(counts, widths, place, strict=True):
            count = number // unit % width
            allowed *= (count >= counted.least) & (count <= counted.most)
        return cls(tuple(listed), allowed, n_rows)

    def probabilities(self, f: Floats) -> Floats:
        """p(t:x) of every row, float (n_rows,), with the shares `f` of all rows; 0 for rows that no world is about.

        Worlds count alike in a group in which all of them have the weight 0, and in all groups where no world that the
        facts allow is left.
        """
        weights = [np.where(group.worlds, f[group.rows], 1 - f[group.rows]).prod(axis=1) for group in self.groups]
        weights = [own / own.sum() if own.sum() > 0 else np.full(len(own), 1 / len(own)) for own in weights]
        told = self._told(weights)
        if told is None:
            told = self._told([np.full(len(own), 1 / len(own)) for own in weights])
        assert told is not None, "the facts leave a world"
        return told

    def _told(self, weights: Sequence[Floats]) -> Floats | None:
        """p(t:x) by the weights of each group's worlds; None where no world is left.

        `after[g]` has the chance that groups from g on add what the counts so far still need, `before[g]` that of the
        counts of the groups before g.
        """
        after: list[Floats] = [self.allowed]
        shares: list[Floats] = []
        for group, weight in zip(reversed(self.groups), reversed(weights), strict=True):
            share = np.bincount(group.adds, weights=weight).astype(np.float64)
            shares.insert(0, share)
            adds = np.flatnonzero(share)
            after.insert(0, np.sum([share[add] * _shifted(after[0], -int(add)) for add in adds], axis=0))
        if not after[0][0] > 0:
            return None
        before = np.zeros(len(self.allowed))
        before[0] = 1.0
        p = np.zeros(self.n_rows)
        for group, weight, share, rest in zip(self.groups, weights, shares, after[1:], strict=True):
            adds = np.flatnonzero(share)
            chance = np.zeros(len(share))
            chance[adds] = [before @ _shifted(rest, -int(add)) for add in adds]
            weighed = weight * chance[group.adds]
            p[group.rows] = weighed @ group.worlds / weighed.sum()
            before = np.sum([share[add] * _shifted(before, int(add)) for add in adds], axis=0)
        return p


def _shifted(numbers: Floats, by: int) -> Floats:
    """The numbers so many places further on, zeros where there are none."""
    shifted = np.zeros(len(numbers))
    if by >= 0:
        shifted[by:] = numbers[: len(numbers) - by]
    else:
        shifted[:by] = numbers[-by:]
    return shifted


@dataclass(eq=False)
class WeighedCounts:
    """Odds under which the expected counts are those of the facts, for a table whose worlds cannot be listed.

    `people` int64 (n_classes,): rows of each class of people who are alike to groups and facts. `member` bool
    (n_counted, n_classes): whom each fact counts. `added` float (n_counted,): what is added to their log-odds so far.
    """

    cases: Cases
    held: Occurrences
    people: Int64
    member: Bools
    counts: Sequence[Counted]
    added: Floats

    @cached_property
    def _unknowns(self) -> Unknowns:
        every, supports = np.arange(len(self.people)), self.held.supports
        certain = np.zeros(len(every))
        certain[supports.classes] = supports.certain
        people = self.people.astype(np.float64)
        return Unknowns(self.held.case, self.held.groups, every.astype(np.int32), certain, every, people)

    def shares(self, f: Floats) -> Floats:
        """The shares `f` of the classes under the odds so far."""
        factor = np.exp(self.added @ self.member)
        shares: Floats = f * factor / (1 - f + f * factor)
        return shares

    def expected(self, f: Floats) -> tuple[Floats, bool]:
        """How many people of each class have the value, float (n_classes,), and whether the counts are met then."""
        expected = self._expected(f)
        for _ in range(INNER_STEPS):
            counts = self.member @ expected
            spread = self._spread(f, counts)
            missed = self._aimed_at(counts - self.added * spread, np.sqrt(spread)) - counts
            if (np.abs(missed) <= MET * (self.member @ self.people)).all():
                return expected, True
            self.added = self.added + np.clip(missed / spread, -FARTHEST, FARTHEST)
            expected = self._expected(f)
        return expected, False

    def _expected(self, f: Floats) -> Floats:
        updated, _ = expectation_step(self.cases, self._unknowns, len(self.people), np.append(self.shares(f), 0.5))
        return np.clip(updated, 0, 1) * self.people

    def _spread(self, f: Floats, counts: Floats) -> Floats:
        """The variance of each count: how it moves with what is added to the log-odds of the people counted."""
        added, spread = self.added, np.empty(len(counts))
        for place in range(len(counts)):
            self.added = added + STEP * (np.arange(len(counts)) == place)
            spread[place] = ((self.member @ self._expected(f))[place] - counts[place]) / STEP
        self.added = added
        return np.maximum(spread, LEAST_SPREAD)

    def _aimed_at(self, means: Floats, deviations: Floats) -> Floats:
        """The mean of each count given its bounds, by its mean and deviation given those of the other counts."""
        aimed = np.empty(len(means))
        for place, (counted, mean, deviation, (lowest, highest)) in enumerate(
            zip(self.counts, means, deviations, self._ends, strict=True)
        ):
            least, most = max(counted.least, lowest), min(counted.most, highest)
            if least >= most:
                aimed[place] = least
                continue
            low = (least - 0.5 - mean) / deviation if least > lowest else -np.inf
            high = (most + 0.5 - mean) / deviation if most < highest else np.inf
            margin = FARTHEST_MEAN * (most - least)
            conditioned = mean + deviation * truncated_mean(low, high)
            aimed[place] = np.clip(conditioned, least + margin, most - margin)
        return aimed

    @cached_property
    def _ends(self) -> list[tuple[float, float]]:
        """The smallest and the largest number that each count can be."""
        added, ends = self.added, []
        f = np.full(len(self.people), 0.5)
        for place in range(len(self.counts)):
            reached = []
            for side in (-CERTAIN, CERTAIN):
                self.added = side * (np.arange(len(self.counts)) == place)
                reached.append(float(np.round((self.member @ self._expected(f))[place])))
            ends.append((reached[0], reached[1]))
        self.added = added
        return ends


def truncated_mean(low: float, high: float) -> float:
    """The mean of a standard normal number that lies between `low` and `high`, either of which may be infinite."""
    from scipy.special import log_ndtr

    if low + high < 0:
        return -truncated_mean(-high, -low)
    if np.isinf(low):
        return 0.0
    # Far out both chances underflow, and their logarithms do not.
    chance = log_ndtr(-low) + np.log1p(-np.exp(log_ndtr(-high) - log_ndtr(-low)))
    height = -(low**2) / 2 - np.log(2 * np.pi) / 2
    return float(np.exp(height - chance) * -np.expm1((low**2 - high**2) / 2))

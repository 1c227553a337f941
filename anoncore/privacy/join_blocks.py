"""Joins of classes of different fragments on their common attribute, from counts of its values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Self

import numpy as np
import numpy.typing as npt

from anoncore.kernels.arrays import Bools, Floats, Int64, record
from anoncore.kernels.rounding import lies_below
from anoncore.privacy.selectivity import Selectivity

MOST_ENTRIES = 4_000_000
"""Entries of the arrays that are held at once."""


@record
class Classes:
    """Classes of one fragment, or joins of classes of several, reduced to what a further join needs to know.

    `values` float (n, n_values): rows of each value of the common attribute, as float for matrix products. Joins whose
    members publish sets have 1 for a value that all of them have; `sizes` and `n_values` int64 (n, n_members) are then
    the rows and the numbers of values of the members, else of width 0. `weight` float (n,) says how many equal classes
    or joins each line stands for.
    """

    values: Floats
    sizes: Int64
    n_values: Int64
    weight: Floats

    @classmethod
    def of_values(cls, values: Floats) -> Classes:
        """Classes whose sizes decide nothing."""
        nothing = np.zeros((len(values), 0), dtype=np.int64)
        return cls(values, nothing, nothing, np.ones(len(values)))

    def __len__(self) -> int:
        return len(self.values)

    def take(self, places: npt.NDArray[np.integer] | Bools | slice) -> Classes:
        """The classes at some positions."""
        return Classes(self.values[places], self.sizes[places], self.n_values[places], self.weight[places])

    def distinct(self) -> tuple[Classes, Int64]:
        """Merge equal classes, adding up their weights; also says which merged class each one became, int64 (n,)."""
        # Each class as one opaque value of bytes: np.unique sorts these much faster than rows of numbers.
        lines = np.ascontiguousarray(np.hstack((self.values, self.sizes, self.n_values)), np.int32)
        whole = lines.view(np.dtype((np.void, lines.shape[1] * lines.itemsize))).ravel()
        _, first, kind_of = np.unique(whole, return_index=True, return_inverse=True)
        kinds = self.take(first)
        weight = np.bincount(kind_of, weights=self.weight).astype(np.float64)
        return Classes(kinds.values, kinds.sizes, kinds.n_values, weight), kind_of


class TooManyJoins(Exception):  # noqa: N818
    """More joins of three and more fragments than can be looked at one by one."""


class Rule(ABC):
    """When the join of two classes is safe: no common value, or a level that reaches the threshold."""

    threshold: float
    most_joins: int
    """The most different joins that are kept for joining them with a further fragment."""

    @abstractmethod
    def classes(self, counts: Int64, sizes: Int64) -> Classes:
        """Classes with the given rows per value, (n, n_values), and rows, (n,)."""

    @abstractmethod
    def levels(self, classes: Classes, others: Classes) -> Floats:
        """Level of each join, (len(classes), len(others)); infinite where no value is common."""

    def joined(self, classes: Classes, others: Classes) -> Classes:
        """The joins of `classes[i]` with `others[i]`, reduced to what joins with a further fragment need to know.

        They keep the common values, and sizes and numbers of values of all classes that were joined.
        """
        return Classes(
            classes.values * others.values,
            np.hstack((classes.sizes, others.sizes)),
            np.hstack((classes.n_values, others.n_values)),
            classes.weight * others.weight,
        )

    @abstractmethod
    def settled(self, joined: Classes) -> Bools:
        """Whether each of these joins is certain to stay safe, whatever it is joined with further."""

    @abstractmethod
    def value_by_value(self) -> Self:
        """A stricter rule, by which each common value alone makes a join safe, so that larger joins are safe too."""

    def broken(self, levels: Floats) -> Bools:
        """Whether a level is below the threshold."""
        return lies_below(levels, self.threshold)


class ChangeRule(Rule):
    """A rule that every class keeps once all its rows have one value."""

    @abstractmethod
    def reduce(self, counts: Int64, majority: int) -> None:
        """Make one change to a class, whose rows per value are changed in place; it must have more than one value."""


class RowRule(ChangeRule):
    """Class values are published row by row: a join has 0 rows or at least k.

    Source: Zakerzadeh, Aggarwal and Barker, vertical fragmentation, theorem 4.1.
    """

    most_joins = 1_000_000

    def __init__(self, k: int, each_value: bool = False) -> None:
        self.threshold = float(k)
        self.each_value = each_value

    def classes(self, counts: Int64, sizes: Int64) -> Classes:
        """Keep the rows per value as they are."""
        return Classes.of_values(counts.astype(np.float64))

    def levels(self, classes: Classes, others: Classes) -> Floats:
        """Rows of each join, the sum of the products of the frequencies; value by value the smallest one above 0."""
        if not self.each_value:
            rows = classes.values @ others.values.T
            return np.where(rows > 0, rows, np.inf)
        least = np.full((len(classes), len(others)), np.inf)
        for own, other in zip(classes.values.T, others.values.T, strict=True):
            product = np.outer(own, other)
            np.minimum(least, product, out=least, where=product > 0)
        return least

    def joined(self, classes: Classes, others: Classes) -> Classes:
        """Products of the frequencies, capped at k: a value with k rows gives every further join on it k rows too."""
        products = super().joined(classes, others)
        return replace(products, values=np.minimum(products.values, self.threshold))

    def settled(self, joined: Classes) -> Bools:
        """Whether every common value has k rows."""
        enough: Bools = ((joined.values == 0) | (joined.values >= self.threshold)).all(axis=1)
        return enough

    def value_by_value(self) -> Self:
        """The rule that asks for k rows of every common value."""
        return type(self)(int(self.threshold), each_value=True)

    def reduce(self, counts: Int64, majority: int) -> None:
        """One row of the least frequent value takes the majority value."""
        value = _least_frequent(counts, majority)
        counts[value] -= 1
        counts[majority] += 1


class SelectivityRule(ChangeRule):
    """Class values are published as a set per class: eta of every join is at least delta.

    For joins of three and more the level is the largest eta of two of the members with the values that all members
    share; the others only add rows, so the share of versions with k rows is at least that. Source: Zakerzadeh, Aggarwal
    and Barker, vertical fragmentation, definitions 4.4 and 4.5 (for two fragments).
    """

    most_joins = 50_000

    def __init__(self, k: int, delta: float, each_value: bool = False) -> None:
        self.threshold = delta
        self.k = k
        self.each_value = each_value
        self.selectivity = Selectivity(k)

    def classes(self, counts: Int64, sizes: Int64) -> Classes:
        """Keep which values occur, how many they are, and how many rows the class has."""
        occurs = counts > 0
        return Classes(
            occurs.astype(np.float64), sizes[:, None], occurs.sum(axis=1, dtype=np.int64)[:, None], np.ones(len(counts))
        )

    def levels(self, classes: Classes, others: Classes) -> Floats:
        """eta of each join; value by value, eta as if only one value were common."""
        common = np.rint(classes.values @ others.values.T).astype(np.int64)
        members = [(classes.sizes[:, [i]], classes.n_values[:, [i]]) for i in range(classes.sizes.shape[1])]
        members += [(others.sizes[:, i], others.n_values[:, i]) for i in range(others.sizes.shape[1])]
        best = self._best(members, np.minimum(common, 1) if self.each_value else common)
        return np.where(common > 0, best, np.inf)

    def _best(self, members: Sequence[tuple[Int64, Int64]], common: Int64) -> Floats:
        best = np.zeros(common.shape)
        for first, second in combinations(members, 2):
            best = np.maximum(best, self.selectivity.eta(*first, *second, common))
        return best

    def settled(self, joined: Classes) -> Bools:
        """Whether a single common value is enough for delta, as every further join that is not empty has one."""
        members = list(zip(joined.sizes.T, joined.n_values.T, strict=True))
        return ~self.broken(self._best(members, np.ones(len(joined), np.int64)))

    def value_by_value(self) -> Self:
        """The rule that asks for delta from a single common value."""
        return type(self)(self.k, self.threshold, each_value=True)

    def reduce(self, counts: Int64, majority: int) -> None:
        """The value that was least frequent is no longer published."""
        counts[_least_frequent(counts, majority)] = 0


class ValueRule(Rule):
    """A join has no value or at least l different ones; the values in `alike`, bool (n_values,), count as one.

    Source: Zakerzadeh, Aggarwal and Barker, vertical fragmentation, theorem 5.1.
    """

    most_joins = 200_000

    def __init__(self, l: int, alike: Bools, each_value: bool = False) -> None:
        self.threshold = float(l)
        self.alike = alike
        self.each_value = each_value

    def classes(self, counts: Int64, sizes: Int64) -> Classes:
        """Keep which values occur."""
        return Classes.of_values((counts > 0).astype(np.float64))

    def levels(self, classes: Classes, others: Classes) -> Floats:
        """Number of common values; value by value, 0 for sets that overlap without being equal."""
        # Two classes may each have one of the alike values without having one in common.
        common = np.rint(classes.values[:, ~self.alike] @ others.values[:, ~self.alike].T)
        alike = np.rint(classes.values[:, self.alike] @ others.values[:, self.alike].T)
        level = common + (alike > 0)
        if self.each_value:
            own = classes.values.sum(axis=1)[:, None]
            level *= (common + alike == own) & (common + alike == others.values.sum(axis=1))
        return np.where(common + alike > 0, level, np.inf)

    def settled(self, joined: Classes) -> Bools:
        """Never: a further class may have fewer of the values."""
        return np.zeros(len(joined), np.bool_)

    def value_by_value(self) -> Self:
        """The rule that two sets of values are equal or have nothing in common."""
        return type(self)(int(self.threshold), self.alike, each_value=True)


def _least_frequent(counts: Int64, majority: int) -> int:
    """The least frequent value that occurs and is not the majority value, the first of equals."""
    occurs = counts > 0
    occurs[majority] = False
    places = np.flatnonzero(occurs)
    return int(places[np.argmin(counts[places])])


def blocks(classes: Classes, others: Classes) -> Iterator[slice]:
    """Cut `classes` into slices whose joins with all others fit into memory."""
    step = max(1, MOST_ENTRIES // max(len(others) * classes.values.shape[1] // 4, 1))
    for begin in range(0, len(classes), step):
        yield slice(begin, begin + step)


class Joins:
    """The joins of classes of several fragments that may still become unsafe when a further fragment is joined to them.

    A join is kept only if it has fewer common values than each of the joins it was made from: else its join with
    another class has at least the level of theirs. It is also let go once no further join of it can be unsafe. So with
    two class values only pairs are ever looked at. `subsets` has the different joins of each set of fragments, by their
    positions.
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.subsets: dict[tuple[int, ...], Classes] = {}
        self.n_fragments = 0

    def add(self, classes: Classes, larger: bool = True) -> None:
        """Add a fragment; with `larger`, also join it to everything that was added before.

        Raises TooManyJoins where more joins would be kept than the rule allows.
        """
        number = self.n_fragments
        single = classes.distinct()[0]
        for subset, known in list(self.subsets.items()) if larger else ():
            joined = self._narrowing(known, single)
            if len(joined):
                self.subsets[(*subset, number)] = joined
        self.subsets[(number,)] = single
        self.n_fragments += 1

    def _narrowing(self, known: Classes, single: Classes) -> Classes:
        """The joins, each once, that have some common values but fewer than either side and may yet become unsafe."""
        own = (single.values > 0).astype(np.float64)
        n_own = own.sum(axis=1)
        kept = self.rule.joined(known.take(slice(0)), single.take(slice(0)))
        for block in blocks(known, single):
            known_block = known.take(block)
            has = (known_block.values > 0).astype(np.float64)
            common = has @ own.T
            first, second = np.nonzero((common > 0) & (common < has.sum(axis=1)[:, None]) & (common < n_own))
            for begin in range(0, len(first), MOST_ENTRIES // 10):
                end = begin + MOST_ENTRIES // 10
                joined = self.rule.joined(known_block.take(first[begin:end]), single.take(second[begin:end]))
                kept = _together(kept, joined.take(~self.rule.settled(joined))).distinct()[0]
                if len(kept) > self.rule.most_joins:
                    raise TooManyJoins
        return kept


def _together(one: Classes, other: Classes) -> Classes:
    return Classes(
        np.vstack((one.values, other.values)),
        np.vstack((one.sizes, other.sizes)),
        np.vstack((one.n_values, other.n_values)),
        np.concatenate((one.weight, other.weight)),
    )

"""The search for the combination of levels that loses least: from the top down, by bounds of what is below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from heapq import heappop, heappush
from math import floor

import numpy as np

from anoncore.algorithms.full_domain.lattice import Lattice, Node
from anoncore.algorithms.full_domain.refused_levels import TIE
from anoncore.base.errors import CancelledError, InfeasibleError
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Bools, Bytes, Codes, Floats, Int64, Words, record
from anoncore.kernels.grouping import starts_of
from anoncore.kernels.incognito import holding
from anoncore.kernels.optimal_recoding import (
    LevelTables,
    coarser_groups,
    joined_entries,
    published_loss,
)
from anoncore.kernels.rounding import ROUNDING
from anoncore.release.partition import Partition
from anoncore.requirements import CheckSet, Requirement
from anoncore.table.microdata import Microdata

MOST_NODES = 5_000_000
"""Nodes of the largest lattice whose lower bounds are written down."""
WORTH_KEEPING = 0.7
"""Groups are kept for coarser combinations where there are at most this share of those that they were made of."""
SMALL_SIZE = 1_000
"""Rows of the largest group whose answer is looked up where nothing but sizes count."""
COUNTED_EVERY = 50
"""Combinations after which it is counted anew how many are left, for progress."""
MOST_CHOICES = 500
"""Choices of further classes to suppress that are tried at one combination; the cheapest come first."""
NO_LEVELS = (
    "No combination of levels satisfies the requirements, not even all quasi-identifiers as *; lower the requirements."
)
ROOM = 30
"""How many groups are kept for coarser combinations, as a multiple of those of the exact values."""


class Course(IntEnum):
    """What became of a combination of levels in a search.

    Attributes
    ----------
    BOUNDED : int
        Not looked at, because it would not lose less than the best one even if no row were suppressed.
    RULED_OUT : int
        Not looked at, because of a combination above it: that one fails, or so many rows are in too small classes
        there that suppressing them below loses too much.
    FAILED : int
        Looked at, and the promise does not hold at it, or too many rows would be suppressed.
    POSSIBLE : int
        Looked at, and the promise holds at it.
    OPEN : int
        It may lose less than the best one so far: the search was ended before it was looked at, or before all choices
        of classes to suppress were tried at it, of which none so far keeps the promise.
    """

    BOUNDED = 0
    RULED_OUT = 1
    FAILED = 2
    POSSIBLE = 3
    OPEN = 4


@dataclass(frozen=True)
class Proven:
    """What a release loses, and what every release of its kind loses at least.

    Attributes
    ----------
    loss : float
        The information loss of the release, from 0 to 1.
    suppressed : int
        Number of rows that are suppressed.
    bound : float
        Nothing of the kind that was searched loses less than this, whichever classes are suppressed; the loss itself
        where it is proven to be the least.
    n_checked : int
        How often the table was grouped.

    Examples
    --------
    >>> from anoncore.algorithms.full_domain.best_first import Proven
    >>> found = Proven(loss=0.42, suppressed=0, bound=0.4, n_checked=2)
    >>> found.optimal, round(found.gap, 3)
    (False, 0.05)
    """

    loss: float
    suppressed: int
    bound: float
    n_checked: int

    @property
    def optimal(self) -> bool:
        """Whether nothing of the kind loses less, whichever classes are suppressed."""
        return self.loss <= self.bound

    @property
    def gap(self) -> float:
        """By which share of it the loss is above the bound at most; 0 where it is the least."""
        if self.optimal:
            return 0.0
        return self.loss / self.bound - 1 if self.bound > 0 else np.inf


@dataclass(frozen=True, kw_only=True)
class Optimum(Proven):
    """The best combination of levels that a search found, and how far from the least loss it may be.

    Attributes
    ----------
    attributes : tuple of str
        The quasi-identifiers.
    heights : tuple of int
        The top level of each.
    levels : tuple of int
        The published level of each.
    n_nodes : int
        Number of combinations of levels.
    course : ndarray of uint8
        What became of every combination (`Course`), with an axis per quasi-identifier over its levels.
    """

    attributes: tuple[str, ...]
    heights: Node
    levels: Node
    n_nodes: int
    course: Bytes = field(default_factory=lambda: np.zeros(0, np.uint8), compare=False, repr=False)


@record
class Groups:
    """The groups of a node; `codes`, `word`, `rows`, `starts`, `sensitive` and `weight` are as in the kernels."""

    node: Int64
    codes: Codes
    word: Words
    rows: Int64
    starts: Int64
    sensitive: Codes
    weight: Int64


@dataclass(frozen=True)
class Found:
    """A node at which the promise holds, what it loses, and how many rows are suppressed for it."""

    node: Node
    loss: float
    suppressed: int


class GroupedTable:
    """A table that is grouped at nodes of a lattice, of which at most the share `max_suppression` may be suppressed.

    `best` is the best node so far; at most `most_checked` are looked at once there is one. `unsure` is the least loss
    that a node may have at which not all choices of classes to suppress were tried.
    """

    def __init__(
        self,
        data: Microdata,
        requirements: Sequence[Requirement],
        max_suppression: float,
        most_checked: int,
        lattice: Lattice,
    ) -> None:
        self.data, self.most_checked, self.lattice = data, most_checked, lattice
        self.limit = floor(max_suppression * data.n_rows * (1 + ROUNDING))
        self.monotone = self.limit == 0 and all(requirement.is_monotone(data) for requirement in requirements)
        self.top = sum(float(len(levels.domain) > 1) for levels in lattice.levels)
        self.n_cells = data.n_rows * len(lattice.levels)
        self.first: list[Codes] = [levels.first for levels in lattice.levels]
        self.tables = level_tables(self.first, [levels.loss for levels in lattice.levels])
        base = lattice.base
        codes, sizes = base.codes[base.starts[:-1]], np.add.reduceat(base.weight, base.starts[:-1])
        word = np.zeros(len(codes), dtype=np.uint64)
        for column, begin in enumerate(self.tables.begin):
            word += self.tables.salt[begin + codes[:, column]]
        nothing = np.zeros(len(lattice.levels), dtype=np.int64)
        self.known = [Groups(nothing, codes, word, sizes, base.starts, base.sensitive, base.weight)]
        self.known_nodes, self.known_sizes = nothing[None], np.array([len(codes)])
        self.best: Found | None = None
        self.unsure: dict[Node, float] = {}
        self.n_checked, self.n_kept = 0, 0
        # Where nothing but sizes count, a group is one entry, and these are the entries of any groups.
        self._places, self._no_values = np.arange(len(codes) + 1), np.zeros(len(codes), np.int32)

    def _least_lost(self, steps: Sequence[Callable[[Progress], None]], progress: Progress, infeasible: str) -> Found:
        """The best node that the steps of a search find, also where it is ended before its end.

        Raises InfeasibleError where there is none.
        """
        try:
            for step in steps:
                step(progress)
        except CancelledError:
            if self.best is None:
                raise
        if self.best is None:
            raise InfeasibleError(infeasible)
        return self.best

    def _is_enough(self) -> bool:
        """Whether the table was grouped as often as it may be, and there is something to publish."""
        return self.best is not None and self.n_checked >= self.most_checked

    def _lost_below(self, groups: Groups) -> float:
        """What every node from this one down loses beyond its bound at least; infinite where none can be published.

        Rows in groups that are too small for any requirement are in such groups at every node below too, where they are
        suppressed. What is published of them here loses at least what it would lose below, so that suppressing them
        there costs at least what it costs here.
        """
        if not self._is_possible(groups):
            return np.inf
        small = groups.rows < self.lattice.checks.minimum_rows
        published = published_loss(self.tables, groups.codes, groups.rows, small, groups.node)
        return max(0.0, float(groups.rows[small].sum() * self.top - published) / self.n_cells)

    def found(self, groups: Groups) -> Found | None:
        """What is published at a node; None where too many rows would be suppressed."""
        if not self._is_possible(groups):
            return None
        kept = self.kept(groups)
        suppressed = int(groups.rows[~kept].sum())
        if suppressed > self.limit:
            return None
        return Found(tuple(groups.node.tolist()), self.loss(groups, kept), suppressed)

    def groups(self, node: Int64) -> Groups:
        """The groups at a node, made of the fewest known groups of a node below it."""
        lies_below = (self.known_nodes <= node).all(axis=1)
        below = self.known[int(np.argmin(np.where(lies_below, self.known_sizes, np.iinfo(np.int64).max)))]
        groups, _ = self.coarser(below, node)
        if len(groups.rows) <= WORTH_KEEPING * len(below.rows):
            self._keep(groups)
        return groups

    def coarser(self, below: Groups, node: Int64) -> tuple[Groups, Codes]:
        """The groups at a node, made of those of a node below it, and which of them each of those becomes a part of."""
        self.n_checked += 1
        number, finer, word, rows = coarser_groups(self.tables, below.codes, below.word, below.rows, below.node, node)
        n_combinations = self.lattice.n_combinations
        if n_combinations == 1:
            entries = self._places[: len(rows) + 1], self._no_values[: len(rows)], rows
        else:
            entries = joined_entries(number, len(rows), below.starts, below.sensitive, below.weight, n_combinations)
        return Groups(node, below.codes[finer], word, rows, *entries), number

    def _keep(self, groups: Groups) -> None:
        """Keep groups for nodes above theirs; where they become too many, the oldest are forgotten, never the exact."""
        self.known.append(groups)
        self.known_nodes = np.vstack((self.known_nodes, groups.node))
        self.known_sizes = np.append(self.known_sizes, len(groups.rows))
        self.n_kept += len(groups.weight)
        while self.n_kept > ROOM * len(self.known[0].weight) and len(self.known) > 2:
            self.n_kept -= len(self.known.pop(1).weight)
            self.known_nodes, self.known_sizes = (
                np.delete(one, 1, axis=0) for one in (self.known_nodes, self.known_sizes)
            )

    def _is_possible(self, groups: Groups) -> bool:
        """A condition that every node satisfies which lies above one that satisfies it, and every node that can be
        published.
        """
        if self.monotone:
            return bool(self.holding(groups).all())
        return int(groups.rows[groups.rows < self.lattice.checks.minimum_rows].sum()) <= self.limit

    def holding(self, groups: Groups) -> Bools:
        """Whether each group satisfies every requirement, bool (n_groups,)."""
        one = self.lattice
        if one.n_combinations > 1:
            return holding(one.combinations, groups.sensitive, groups.weight, groups.starts)
        return self._sizes_hold(groups.rows)

    def _sizes_hold(self, rows: Int64) -> Bools:
        """Whether groups of so many rows satisfy every requirement, where nothing but sizes count."""
        holds: Bools = self._small_size_holds[np.minimum(rows, SMALL_SIZE)]
        large = np.flatnonzero(rows > SMALL_SIZE)
        if len(large):
            holds[large] = self._asked(rows[large])
        return holds

    @cached_property
    def _small_size_holds(self) -> Bools:
        """Whether a group satisfies every requirement, for 0 to SMALL_SIZE rows."""
        return self._asked(np.arange(SMALL_SIZE + 1))

    def _asked(self, rows: Int64) -> Bools:
        """What the requirements say of groups of so many rows."""
        one, same = self.lattice, np.zeros(len(rows), np.int32)
        return holding(one.combinations, same, rows, np.arange(len(rows) + 1))

    def kept(self, groups: Groups) -> Bools:
        """Which groups are published as they are, bool (n_groups,); the others are suppressed and become one class.

        Where the groups that fail do not satisfy the requirements together, those others join them that lose least.
        """
        kept = self.holding(groups)
        if kept.all() or int(groups.rows[~kept].sum()) > self.limit or self._hold_together(groups, ~kept):
            return kept
        by_size = self._joined_by_size(groups, kept.copy())
        possible = int(groups.rows[~by_size].sum()) <= self.limit and self._hold_together(groups, ~by_size)
        most = self.best.loss + TIE if possible and self.best is not None else np.inf
        cheapest, least = self._cheapest(groups, kept, most)
        if cheapest is not None:
            return cheapest
        if least < most:
            self.unsure[tuple(groups.node.tolist())] = least
        return by_size

    def _cheapest(self, groups: Groups, kept: Bools, most: float) -> tuple[Bools | None, float]:
        """The groups that are kept where those others are suppressed that lose least, and what it loses at least.

        Choices of other groups are tried by what they add to the loss, the least first, so that the first one with
        which the suppressed groups satisfy the requirements is the best. None where no choice does that loses at most
        `most`, or where MOST_CHOICES were tried: then at least the loss that is returned is lost.
        """
        begin = self.tables.begin + groups.node * self.tables.size
        published = self.tables.loss[begin + groups.codes].sum(axis=1)
        added = groups.rows * (self.top - published) / self.n_cells
        spare = self.limit - int(groups.rows[~kept].sum())
        others = np.flatnonzero(kept & (groups.rows <= spare))
        # Groups that add the same are tried by their values, so that the order in which they were met decides nothing.
        cells = [column[others] for column in self.cells(groups)]
        others = others[np.lexsort((*cells[::-1], np.round(added[others], 12)))]
        costs, sizes, lost = added[others].tolist(), groups.rows[others].tolist(), self.loss(groups, kept)
        # A choice is followed by itself with one more group, and with its last group replaced by the next one.
        waiting: list[tuple[float, tuple[int, ...]]] = [(costs[0], (0,))] if costs else []
        for _ in range(MOST_CHOICES):
            if not waiting or lost + waiting[0][0] > most:
                return None, np.inf
            cost, choice = heappop(waiting)
            last, fits = choice[-1], sum(sizes[one] for one in choice) <= spare
            if fits:
                tried = kept.copy()
                tried[others[list(choice)]] = False
                if self._hold_together(groups, ~tried):
                    return tried, lost + cost
            if last + 1 < len(costs):
                if fits:
                    heappush(waiting, (cost + costs[last + 1], (*choice, last + 1)))
                heappush(waiting, (cost - costs[last] + costs[last + 1], (*choice[:-1], last + 1)))
        return None, lost + waiting[0][0] if waiting else np.inf

    def _joined_by_size(self, groups: Groups, kept: Bools) -> Bools:
        """The groups that are kept where the smallest others join those that fail, until all is held together."""
        # Groups of equal size join by their values, so that the order in which groups were met decides nothing.
        order = np.lexsort((*self.cells(groups)[::-1], np.where(kept, groups.rows, np.iinfo(np.int64).max)))
        for group in order[: kept.sum()]:
            kept[group] = False
            if self._hold_together(groups, ~kept) or int(groups.rows[~kept].sum()) > self.limit:
                break
        return kept

    def _hold_together(self, groups: Groups, chosen: Bools) -> bool:
        """Whether the chosen groups satisfy every requirement as one."""
        one = self.lattice
        if one.n_combinations == 1:
            return bool(self._sizes_hold(groups.rows[chosen].sum(keepdims=True))[0])
        inside = np.flatnonzero(np.repeat(chosen, np.diff(groups.starts)))
        # The entries of a person have to follow each other, wherever their groups are.
        order = inside[np.argsort(groups.sensitive[inside], kind="stable")]
        sensitive, weight = groups.sensitive[order], groups.weight[order]
        return bool(holding(one.combinations, sensitive, weight, np.array([0, len(order)]))[0])

    def loss(self, groups: Groups, kept: Bools) -> float:
        """Mean loss of a cell where the groups that are not kept are suppressed."""
        published = published_loss(self.tables, groups.codes, groups.rows, kept, groups.node)
        return float(published + groups.rows[~kept].sum() * self.top) / self.n_cells

    def cells(self, groups: Groups) -> list[Codes]:
        """The first code of the generalized value of each group, int32 (n_groups,) per attribute."""
        return [
            first[level][groups.codes[:, a]]
            for a, (first, level) in enumerate(zip(self.first, groups.node, strict=True))
        ]

    def classes(self, groups: Groups) -> tuple[Partition, Codes]:
        """The classes of the groups, the suppressed rows last, and the codes of any one row of each of the others."""
        levels = zip(self.first, groups.node, self.lattice.columns, strict=True)
        order = np.lexsort(self.cells(groups)[::-1])
        kept = self.kept(groups)[order]
        number = np.where(kept, np.cumsum(kept) - 1, kept.sum())
        by_content = Partition.alike([first[level][column] for first, level, column in levels])
        return Partition(number[by_content.group]), groups.codes[order[kept]]


class BestFirst(GroupedTable):
    """One search of one table for the combination of levels that loses least.

    It ends with the best node so far once the table was grouped `most_checked` times.

    `bounds` float, with an axis per attribute: the loss at every node if no row is suppressed. `more` float of the same
    shape: what the node loses beyond that at least, by what is known of the nodes above it. `course` as in `Optimum`.
    """

    def __init__(
        self, data: Microdata, requirements: Sequence[Requirement], max_suppression: float, most_checked: int
    ) -> None:
        lattice = Lattice(data, CheckSet(requirements, data), MOST_NODES)
        super().__init__(data, requirements, max_suppression, most_checked, lattice)
        self.heights = np.array(lattice.heights, dtype=np.int64)
        self.bounds = lattice.lost
        self.more = np.zeros_like(self.bounds)
        self.course = np.full(self.bounds.shape, Course.BOUNDED, np.uint8)
        self._begun, self._done = 0, 0.0

    def run(self, progress: Progress) -> Optimum:
        """Look at nodes from the top down, and at none that cannot lose less than the best one."""
        best, lattice = self._least_lost((self._descend, self._look_below), progress, NO_LEVELS), self.lattice
        unseen = self.course == Course.BOUNDED
        left = unseen & (self.bounds + self.more < best.loss - TIE)
        self.course[unseen & ~left & (self.bounds < best.loss - TIE)] = Course.RULED_OUT
        self.course[left] = Course.OPEN
        open_bounds = [float((self.bounds + self.more)[left].min())] if left.any() else []
        for node, least in self.unsure.items():
            if least < best.loss - TIE:
                open_bounds.append(least)
                self.course[node] = Course.OPEN if self.course[node] == Course.FAILED else self.course[node]
        bound = min(open_bounds, default=best.loss)
        return Optimum(
            loss=best.loss,
            suppressed=best.suppressed,
            bound=bound,
            n_checked=self.n_checked,
            attributes=lattice.names,
            heights=lattice.heights,
            levels=best.node,
            n_nodes=lattice.n_nodes,
            course=self.course,
        )

    def _descend(self, progress: Progress) -> None:
        """Begin with a node that loses little: from the top, always down the level that lowers the loss most.

        What is left out is left out by the least loss that is known, so that a good node at the start saves much. The
        exact values have the lowest bound of all, so that they are looked at first.
        """
        self._look_at(np.zeros_like(self.heights), progress)
        lowest, nodes = np.inf, [self.heights]
        while nodes and not self._is_enough():
            found = [one for one in (self._look_at(node, progress) for node in nodes) if one is not None]
            best = min(found, key=lambda one: one.loss, default=None)
            if best is None or best.loss >= lowest:
                return
            lowest, at = best.loss, np.array(best.node, np.int64)
            nodes = [at - step for step in np.eye(len(at), dtype=np.int64) if (at >= step).all()]

    def _look_below(self, progress: Progress) -> None:
        """Look at all nodes that may still be the best, from the top down, of one height those of the highest bound."""
        self._begun, height = self._n_left(), np.zeros((), dtype=np.int64)
        for top in self.lattice.heights:
            height = np.add.outer(height, np.arange(top + 1))
        bounds, more, course = (array.reshape(-1) for array in (self.bounds, self.more, self.course))
        most = np.inf if self.best is None else self.best.loss + TIE
        candidates = np.flatnonzero(bounds <= most)
        order = candidates[np.lexsort((-np.round(bounds[candidates], 12), -height.reshape(-1)[candidates]))]
        unseen = int(Course.BOUNDED)
        for number in order:
            if course[number] != unseen or (self.best and bounds[number] + more[number] > self.best.loss + TIE):
                continue
            if self._is_enough():
                return
            self._look_at(np.array(np.unravel_index(number, self.bounds.shape), np.int64), progress)

    def _n_left(self) -> int:
        """Nodes that still have to be looked at, by what is known so far."""
        most = np.inf if self.best is None else self.best.loss + TIE
        left = (self.course == Course.BOUNDED) & (self.bounds + self.more <= most)
        return int(np.count_nonzero(left))

    def _look_at(self, node: Int64, progress: Progress) -> Found | None:
        """Group the table at a node that was not looked at: what it loses, and what that says of all nodes below it."""
        at = tuple(node.tolist())
        if self.course[at] != Course.BOUNDED:
            return None
        if self._begun and self.n_checked % COUNTED_EVERY == 0:
            self._done = 1 - self._n_left() / self._begun
        progress(0.05 + 0.85 * self._done, f"{self.n_checked:,} combinations looked at")
        groups = self.groups(node)
        found, below = self.found(groups), self.more[tuple(slice(None, level + 1) for level in at)]
        np.maximum(below, self._lost_below(groups), out=below)
        self.course[at] = Course.FAILED if found is None else Course.POSSIBLE
        if found is not None and (self.best is None or self._is_better(found, self.best)):
            self.best = found
        return found

    def _is_better(self, one: Found, other: Found) -> bool:
        """Whether a node loses less; of nodes that lose the same, whether its bound is lower."""
        if abs(one.loss - other.loss) > TIE:
            return one.loss < other.loss
        return (round(self.bounds[one.node], 12), one.node) < (round(self.bounds[other.node], 12), other.node)


def level_tables(first: Sequence[Codes], loss: Sequence[Floats]) -> LevelTables:
    """The levels of all attributes as the kernels read them.

    Of each attribute, `first` int32 (n_levels, domain size) is the first code of what becomes of every code at each
    level, and `loss` float of the same shape what a cell of it loses.
    """
    # A random word for every value; any fixed seed does, because the words decide nothing but what is equal.
    rng = np.random.default_rng(20)
    words = [rng.integers(0, 2**64, len(one[0]), dtype=np.uint64)[one].ravel() for one in first]
    return LevelTables(
        loss=np.concatenate([one.ravel() for one in loss]),
        salt=np.concatenate(words),
        begin=starts_of(one.size for one in first[:-1]),
        size=np.array([one.shape[1] for one in first], np.int64),
    )

"""What an engine offers: coded rows that are scanned, sampled and divided; and the engine for rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.grouping import grouped_rows
from anoncore.kernels.rothko import leaves_of

SCAN_ROWS = 131_072
"""Rows that a scan reads at a time."""

Check = Callable[[], None]


def no_check() -> None:
    """Nobody wants to stop."""


class Accumulator(Protocol):
    """What a scan fills."""

    def add(self, rows: Int32, leaf: Int32 | None = None) -> None:
        """Count rows; `leaf` int32 (n_rows,) is where each of them ends in the tree, if that is known already."""

    def shares(self, n: int) -> Sequence[Accumulator]:
        """At most n accumulators, at least one, that fill this one together once every row was added to each of them;
        several threads may do so at a time.
        """

    def merge(self, other: Any) -> None:
        """Count what another accumulator of the same scan has counted."""


class Rows(Protocol):
    """Coded rows somewhere, each int32: quasi-identifiers, views of sensitive attributes, target; maybe more behind."""

    n_rows: int
    most_leaves: int
    """Leaves among which rows are divided at a time."""
    check: Check
    """Called now and then while rows are read; raises CancelledError to stop."""

    def scan(self, accumulator: Accumulator) -> None:
        """Add every row once."""

    def sample(self, n: int, generator: np.random.Generator) -> Int32:
        """A simple random sample of n rows without replacement, (n, width) with one free column at the end."""

    def divide(self, tree: PartitionTree, accumulator: Accumulator | None = None) -> Iterator[tuple[int, Rows]]:
        """Each leaf that has rows, with these rows, from left to right. Afterwards the rows cannot be read here any
        more. The accumulator has counted every row once when the first leaf is given.
        """

    def joined(self, others: Sequence[Any]) -> Rows:
        """These rows and then those of others of the same division; none of them can be read on its own any more."""

    def drop(self) -> None:
        """Free what holds these rows."""


def sampled_places(n: int, n_rows: int, generator: np.random.Generator) -> Int64:
    """The row numbers of a simple random sample of n of n_rows rows, ascending; memory holds n numbers, not n_rows."""
    drawn, wanted = [np.zeros(0, np.int64)], n
    for begin in range(0, n_rows, SCAN_ROWS):
        size, left = min(SCAN_ROWS, n_rows - begin), n_rows - begin
        # How many of the sample lie in this block: drawn as if the whole sample had been drawn at once.
        here = wanted if size == left else int(generator.hypergeometric(size, left - size, wanted)) if wanted else 0
        drawn.append(begin + np.sort(generator.choice(size, here, replace=False, shuffle=False)))
        wanted -= here
    return np.concatenate(drawn)


class MemoryRows:
    """Rows in one array, int32 (n_rows, width); the last column is the number of the row in its table."""

    most_leaves = 1 << 30

    def __init__(self, rows: Int32) -> None:
        self.rows = rows
        self.n_rows = len(rows)
        self.check: Check = no_check

    def scan(self, accumulator: Accumulator) -> None:
        """Add every row once."""
        for begin in range(0, self.n_rows, SCAN_ROWS):
            accumulator.add(self.rows[begin : begin + SCAN_ROWS])

    def sample(self, n: int, generator: np.random.Generator) -> Int32:
        """A simple random sample of n rows."""
        return self.rows[sampled_places(n, self.n_rows, generator)]

    def divide(self, tree: PartitionTree, accumulator: Accumulator | None = None) -> Iterator[tuple[int, MemoryRows]]:
        """Each leaf that has rows with its rows."""
        if accumulator is not None:
            self.scan(accumulator)
        leaves, slot = tree.slots()
        order, starts = grouped_rows(slot[leaves_of(self.rows, tree.arrays())], len(leaves))
        for number, leaf in enumerate(leaves):
            if starts[number] < starts[number + 1]:
                yield leaf, MemoryRows(self.rows[order[starts[number] : starts[number + 1]]])

    def joined(self, others: Sequence[MemoryRows]) -> MemoryRows:
        """These rows and then the others."""
        return MemoryRows(np.concatenate([self.rows, *(one.rows for one in others)])) if others else self

    def drop(self) -> None:
        """Nothing to free."""

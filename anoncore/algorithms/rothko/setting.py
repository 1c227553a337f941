"""What a run of Rothko searches for, laid out for kernels, and what it counts about itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from anoncore.algorithms.mondrian import search_of
from anoncore.algorithms.rothko.fields import RothkoFields
from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rows import Accumulator, Rows
from anoncore.kernels.arrays import Int32, Int64, record
from anoncore.kernels.attributes import Attributes
from anoncore.kernels.checking import KernelChecks
from anoncore.kernels.rothko import LeafStatistics, TreeArrays, add_statistics, leaves_of
from anoncore.kernels.sweep import Search
from anoncore.requirements import Check, CheckSet
from anoncore.table.domain import Domain, kernel_attributes
from anoncore.table.microdata import Microdata


@dataclass(eq=False)
class Counters:
    """What a run did.

    `scans` and `repartitions` count scans and divisions of rows, `prunes` the nodes that violated a requirement, and
    `handed_to_tree` the parts without a confident split. `rows_read` and `rows_written` count the rows of all scans and
    divisions, and of the last reading of each part. `minimal` is false where an allowable split may be left.
    """

    scans: int = 0
    repartitions: int = 0
    prunes: int = 0
    handed_to_tree: int = 0
    minimal: bool = True
    rows_read: int = 0
    rows_written: int = 0


@record
class Setting:
    """One run: the algorithm, the domains that it cuts and the checks that it keeps. Of `data` it reads domains and
    roles.
    """

    model: RothkoFields
    data: Microdata
    domains: Sequence[Domain]
    attributes: Attributes
    checks: CheckSet
    kernel_checks: KernelChecks
    search: Search
    counters: Counters = field(default_factory=Counters)

    @classmethod
    def of(cls, model: RothkoFields, data: Microdata) -> Setting:
        """The setting of an algorithm on a table."""
        checks = CheckSet(model.requirements, data)
        most_rows = min(model.memory_rows, data.n_rows)
        search = search_of(model, data, checks, most_rows, np.zeros((0, 0), dtype=np.int64), None)
        domains = [data.domain[name] for name in data.quasi_identifiers]
        return cls(model, data, domains, kernel_attributes(domains), checks, checks.kernel, search)

    @property
    def width(self) -> int:
        """Columns of a coded row."""
        return self.search.n_attributes + self.search.n_sensitive + int(self.model.uses_target)

    @property
    def sensitive(self) -> slice:
        """The columns of a coded row with the sensitive views."""
        return slice(self.search.n_attributes, self.search.n_attributes + self.search.n_sensitive)

    @property
    def count_start(self) -> Int64:
        """Where each counted column (sensitive views, the class) begins in a node's counts."""
        starts = self.kernel_checks.count_start
        counts_class = self.model.split == "infogain"
        return np.append(starts, starts[-1] + self.search.n_classes) if counts_class else starts

    @property
    def checked_columns(self) -> Iterator[tuple[Check, int | None]]:
        """Each check with the column of a coded row that it looks at, if any."""
        for check, view in zip(self.checks.checks, self.kernel_checks.column.tolist(), strict=True):
            yield check, None if view < 0 else self.search.n_attributes + view

    @property
    def region(self) -> Int32:
        """The whole domain."""
        return np.array([(0, len(domain) - 1) for domain in self.domains], dtype=np.int32)

    def scan(self, rows: Rows, accumulator: Accumulator) -> None:
        """One scan, counted."""
        rows.scan(accumulator)
        self.counters.scans += 1
        self.counters.rows_read += rows.n_rows

    def divide(
        self, rows: Rows, tree: PartitionTree, accumulator: Accumulator | None = None
    ) -> Iterator[tuple[int, Rows]]:
        """One division of rows among the leaves, counted; the accumulator counts the rows on their way."""
        self.counters.repartitions += 1
        self.counters.rows_read += rows.n_rows
        self.counters.rows_written += rows.n_rows
        return rows.divide(tree, accumulator)


@record
class Extent:
    """What is known of a node before its rows are counted: its size, and codes (n_attributes,) between which all of its
    rows lie.
    """

    size: int
    low: Int32
    high: Int32


@record
class Node(Extent):
    """The tightest extent of a node, and its counts of sensitive values, then of the class."""

    totals: Int64


class Statistics:
    """Accumulates what `Node` has for some leaves of a tree, in one scan."""

    def __init__(self, setting: Setting, tree: PartitionTree, leaves: list[int]) -> None:
        self.leaves = leaves
        self._tree: TreeArrays = tree.arrays()
        self._count_start = setting.count_start
        n, d = len(leaves), setting.search.n_attributes
        slot = np.full(len(tree), -1, np.int32)
        slot[leaves] = np.arange(n)
        self._counted = LeafStatistics(
            slot=slot,
            sizes=np.zeros(n, np.int64),
            low=np.full((n, d), np.iinfo(np.int32).max, np.int32),
            high=np.full((n, d), -1, np.int32),
            totals=np.zeros((n, int(self._count_start[-1])), np.int64),
        )

    def add(self, rows: Int32, leaf: Int32 | None = None) -> None:
        """Count rows; `leaf` int32 (n_rows,) is where each of them ends in the tree, if that is known already."""
        add_statistics(rows, leaves_of(rows, self._tree) if leaf is None else leaf, self._counted, self._count_start)

    def shares(self, n: int) -> list[Statistics]:
        """These: what there is to count is little."""
        return [self]

    def merge(self, other: Statistics) -> None:
        """Count what the statistics of other rows have counted."""
        mine, theirs = self._counted, other._counted
        np.add(mine.sizes, theirs.sizes, out=mine.sizes)
        np.add(mine.totals, theirs.totals, out=mine.totals)
        np.minimum(mine.low, theirs.low, out=mine.low)
        np.maximum(mine.high, theirs.high, out=mine.high)

    def nodes(self) -> dict[int, Node]:
        """The leaves that have rows."""
        counted = self._counted
        return {
            leaf: Node(int(counted.sizes[line]), counted.low[line], counted.high[line], counted.totals[line])
            for line, leaf in enumerate(self.leaves)
            if counted.sizes[line]
        }


@record
class Part:
    """Rows that are finished in memory, or (`is_class`) that are one class as they are, with their region."""

    rows: Rows
    region: Int32
    is_class: bool

"""Combinations of sensitive values, and neighbourhood in quasi-identifier space.

A class that is to have so many rows of each combination takes rows that lie near each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from os import cpu_count
from typing import Annotated

import numpy as np
from pydantic import Field

from anoncore.base.compile_time import Pool
from anoncore.kernels.arrays import Codes, Int64, Rows, record
from anoncore.kernels.attributes import NUMBER, Attributes
from anoncore.kernels.dealing import Deal, hand_out, split_classes
from anoncore.kernels.grouping import dense_key, first_rows, grouped_rows, put_at, starts_of
from anoncore.kernels.nearest import Space
from anoncore.kernels.swapping import Classes, ClassesByBucket, Trials, exchange
from anoncore.release.partition import Partition
from anoncore.requirements import CheckSet, Requirement
from anoncore.requirements.t_closeness import Ground
from anoncore.table.domain import kernel_attributes
from anoncore.table.microdata import Microdata, SensitiveValues

Report = Callable[[float], None]
"""Called with the share done, 0 to 1; may raise CancelledError."""
GroundDistance = Annotated[
    Ground, Field(title="Ground distance", description="How far apart two sensitive values are.")
]
BlockRows = Annotated[
    int, Field(ge=100, title="Block size", description="Most rows that are compared with each other.")
]

CELLS = 5_600_000
"""Quasi-identifier cells for which exchanges are tried in one round; larger tables are only refined to be close."""
MOST_TRIALS = 100
"""Exchanges tried for one row in one round."""
WINDOW = 16
"""Up to how many rows of the same bucket away, in the order of the classes, a partner for an exchange is looked for."""
EXTRA_ROUNDS = 8
"""Rounds of refinement that may follow while a class does not meet the requirements."""
TASKS = 32
"""Nodes into which the table is split before they are finished as tasks of their own."""
SMALL_TASK = 20_000
"""Rows up to which a node is not split any further for that."""


@record
class Multiplicity:
    """The combinations of sensitive values that occur: the cells of the array M over all their domains that are not
    empty.

    `cells`, int32 (n_cells, d), has the codes of each in lexicographic order; `of_row`, int32 (n_rows,), is the cell of
    each row. Where only some values of an attribute need protection, its codes are those of its sensitive view. Source:
    t-closeness dissertation, sections 4.2.1 and 4.5.
    """

    views: tuple[SensitiveValues, ...]
    cells: Codes
    of_row: Codes

    @classmethod
    def of(cls, data: Microdata, attributes: Sequence[str] | None = None) -> Multiplicity:
        """Count the combinations of the named attributes (default: every sensitive one)."""
        names = tuple(attributes) if attributes is not None else data.require_sensitive()
        views = tuple(data.sensitive_view(name) for name in names)
        of_row = dense_key((view.codes for view in views), data.n_rows, is_sorted=True)
        first = first_rows(of_row)
        cells = np.column_stack([view.codes[first] for view in views]).astype(np.int32)
        return cls(views, cells, of_row.astype(np.int32))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The sensitive attributes, one per axis."""
        return tuple(view.attribute for view in self.views)

    @cached_property
    def sizes(self) -> Int64:
        """Values per attribute, int64 (d,)."""
        return np.array([view.size for view in self.views], np.int64)

    @cached_property
    def counts(self) -> Rows:
        """Rows per cell, int64 (n_cells,)."""
        return np.bincount(self.of_row, minlength=len(self.cells))

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return len(self.of_row)

    def labels(self, cell: int) -> tuple[str, ...]:
        """The values of one cell as text."""
        return tuple(view.labels[code] for view, code in zip(self.views, self.cells[cell], strict=True))


@record
class Places:
    """What the classes take: place i lies in class `group[i]` and is for a row of bucket `bucket[i]`; both int32
    (n_rows,).

    Classes are numbered from 0 without gaps, and every row fills one place.
    """

    bucket: Codes
    group: Codes

    @cached_property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.group.max()) + 1


@record
class QuasiSpace:
    """The rows of a table as points with one axis per quasi-identifier.

    `order` lists the rows in a random order that depends on the seed and on their content, not on how the table is
    sorted; ties are broken along it.
    """

    data: Microdata
    order: Rows
    rng: np.random.Generator = field(default_factory=np.random.default_rng)

    @classmethod
    def of(cls, data: Microdata, seed: int | None) -> QuasiSpace:
        """The table's rows, with ties in an order drawn from `seed`."""
        rng = np.random.default_rng(seed)
        return cls(data, data.canonical_order[rng.permutation(data.n_rows)], rng)

    @cached_property
    def codes(self) -> Codes:
        """Codes of the quasi-identifiers, int32 (n_rows, n_quasi_identifiers)."""
        return np.column_stack([self.data.codes[name] for name in self.data.require_quasi_identifiers()])

    @cached_property
    def attributes(self) -> Attributes:
        """The axes as kernels see them."""
        return kernel_attributes([self.data.domain[name] for name in self.data.quasi_identifiers])

    @cached_property
    def kernel(self) -> Space:
        """The rows as points, as kernels see them."""
        axes, point = self.attributes, self.codes.astype(np.float64, order="C")
        for a in np.flatnonzero(axes.form == NUMBER):
            position, span = axes.position[axes.code_start[a] : axes.code_start[a + 1]], axes.span[a]
            point[:, a] = (position / span if span > 0 else np.zeros_like(position))[self.codes[:, a]]
        return Space(axes, point)

    def by_bucket(self, bucket: Codes) -> Rows:
        """The rows bucket by bucket, at random inside a bucket, int64 (n_rows,)."""
        return self.order[in_order_of(bucket[self.order])]

    def hand_out(self, bucket: Codes, places: Places, report: Report | None = None) -> Codes:
        """The class of every row, int32 (n_rows,): each class takes what `places` says, of rows near each other.

        `bucket` is each row's bucket. The classes are halved again and again. At each cut every bucket gives the left
        half as many rows as it has places for, namely those that are lowest in one attribute; the attribute is the one
        that leaves the least expected information loss. Time O(d n log n).
        """
        rank = halving_rank(places.n_classes)
        slot = rank[places.group[in_order_of(places.bucket)]].astype(np.int32)
        rows = self.by_bucket(bucket)
        group = np.empty(len(rows), np.int32)
        _fill(rows, bucket, slot, places.n_classes, self, group, report)
        return np.argsort(rank).astype(np.int32)[group]

    def blocks(self, bucket: Codes, places: Places, most_rows: int, k: int) -> list[Rows]:
        """The rows of blocks of neighbours, at most `most_rows` each where that leaves 2k rows in every block.

        A block gets every `n_blocks`-th place of each bucket, so that its sensitive values mirror those of the table.
        """
        n = len(bucket)
        n_blocks = min(-(-n // most_rows), max(n // (2 * k), 1))
        if n_blocks == 1:
            return [self.order]
        block = self.hand_out(bucket, Places(places.bucket, (places.group % n_blocks).astype(np.int32)))
        return np.split(self.by_bucket(block), np.cumsum(np.bincount(block))[:-1])

    def refine(
        self,
        group: Codes,
        bucket: Codes,
        requirements: tuple[Requirement, ...] = (),
        rounds: int = 1,
        report: Report | None = None,
    ) -> tuple[Codes, float]:
        """Exchange rows of one bucket between classes where that helps; returns the new classes and the excess that is
        left.

        An exchange must lower the excess of two classes over the requirements (all of the form "at most", such as
        t-closeness) or, at the same excess, their information loss. Counts per class and bucket never change. `group`
        must number the classes as `hand_out` does. After `rounds` rounds, further ones follow for classes that do not
        meet the requirements.
        """
        checks = CheckSet(requirements, self.data)
        trials = min(max(CELLS // self.codes.size, 1 if requirements else 0), MOST_TRIALS)
        if trials == 0:
            return np.array(group, np.int32), 0.0
        # In the table's random order, so that the order of the input decides nothing.
        codes, mine = self.codes[self.order], bucket[self.order]
        cells = checks.cells[self.order]
        moved = np.array(group[self.order], np.int32)
        bucket_start = starts_of(np.bincount(mine))
        rank, starts = halving_rank(int(moved.max()) + 1), Partition(moved).starts
        excess, before = np.inf, np.inf
        for turn in range(rounds + EXTRA_ROUNDS):
            if turn >= rounds and (excess == 0 or (turn > rounds and excess >= before)):
                break
            before = excess
            classes = Classes(moved, in_order_of(moved), starts)
            by_class = in_order_of(rank[moved].astype(np.int32))
            by_bucket = ClassesByBucket(mine, by_class[in_order_of(mine[by_class])], bucket_start)
            wanted = Trials(trials, WINDOW, turn >= rounds, seed=int(self.rng.integers(2**31)))
            excess = exchange(classes, by_bucket, codes, self.attributes, cells, checks.kernel, wanted)
            if report is not None:
                report(min((turn + 1) / rounds, 1.0))
        return put_at(self.order, moved), float(excess)


def _fill(
    rows: Rows, bucket: Codes, slot: Codes, n_classes: int, space: QuasiSpace, group: Codes, report: Report | None
) -> None:
    """Split the large nodes level by level on all cores, then finish each of the others as a task."""
    deal, attributes = Deal(rows, slot, bucket, space.codes), space.attributes
    nodes = [(0, len(rows), 0, n_classes)]

    def halves(node: tuple[int, int, int, int]) -> list[tuple[int, int, int, int]]:
        lo, hi, first, end = node
        if end - first == 1 or hi - lo <= SMALL_TASK:
            return [node]
        cut = split_classes(deal, lo, hi, first, end, attributes)
        middle = (first + end) // 2
        return [(lo, cut, first, middle), (cut, hi, middle, end)]

    def finish(node: tuple[int, int, int, int]) -> int:
        hand_out(deal, *node, attributes, group)
        return node[1] - node[0]

    with Pool(cpu_count()) as pool:
        while len(nodes) < TASKS:
            finer = [half for both in pool.map(halves, nodes) for half in both]
            if len(finer) == len(nodes):
                break
            nodes = finer
        done = 0
        for count in pool.map(finish, nodes):
            done += count
            if report is not None:
                report(done / len(rows))


def in_order_of(numbers: Codes) -> Rows:
    """Positions in order of their number, int64 (n,); equal ones as they stand. Numbers are small, so they are counted
    instead of sorted.
    """
    return grouped_rows(numbers)[0]


def halving_rank(n_classes: int) -> Rows:
    """The rank of each class in an order whose halves hold every second class, whose quarters every fourth, and so on.

    Classes that were dealt one after the other need nearly the same rows. In this order both sides of every cut need
    the same mixture of rows.
    """
    number = np.arange(n_classes)
    size = np.full(n_classes, n_classes)
    rank = np.zeros(n_classes, np.int64)
    while (size > 1).any():
        odd, half = number % 2 == 1, size // 2
        rank += np.where(odd, 0, half)
        size = np.where(odd, half, size - half)
        number //= 2
    return rank

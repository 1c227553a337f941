"""The search for classes that lose less than refined ones do, as far as a number of steps goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from pydantic import Field

from anoncore.algorithms.refined_work import RefinedCells, Work
from anoncore.algorithms.refinement import numbered, order_of_rows, refined
from anoncore.base.errors import CancelledError
from anoncore.base.progress import Progress, part_of, silent
from anoncore.kernels.annealing import anneal, repair
from anoncore.kernels.cheapest_boxes import UNIT
from anoncore.release.partition import Partition
from anoncore.requirements import CheckSet, Requirement
from anoncore.table.microdata import Microdata
from anoncore.utility.box_rows import DistinctRows
from anoncore.utility.loss_bound import SLACK, BoxClock, PriceSearch

MILLION = 1_000_000
BOXES_PER_MILLION = 10_000
"""Boxes that are looked at for prices per million steps, which take about as long."""
FEWEST_PARTS = 100
"""Parts of the steps, of at most a million each. After each it cools, and the best classes are kept."""
FIRST_HEAT = 0.8
"""What the first steps may cost on the average, as a part of what a row loses on the average."""

Refine = Annotated[
    bool, Field(title="Refine", description="Afterwards move rows between groups, as long as less is lost by it.")
]
SearchSteps = Annotated[
    int,
    Field(
        ge=0,
        le=100_000,
        title="Search steps",
        description="Millions of steps in which a search for groups that lose less follows refining; 0: none.",
    ),
]


def improved(
    data: Microdata, partition: Partition, requirements: Sequence[Requirement], millions: int, progress: Progress
) -> Partition:
    """The classes refined, and searched on for so many millions of steps."""
    if millions == 0:
        return refined(data, partition, requirements, progress)
    partition = refined(data, partition, requirements, part_of(progress, 0.0, 0.05))
    return searched(data, partition, requirements, millions, part_of(progress, 0.05, 1.0))


def searched(
    data: Microdata, partition: Partition, requirements: Sequence[Requirement], millions: int, progress: Progress
) -> Partition:
    """Classes that lose no more than refined ones and keep every requirement, after so many millions of steps.

    First rows get prices, as for `least_loss`: the classes that those are made of, as many as fit beside each other,
    are refined and are the start where they lose less than the given ones. From there random steps lead on, which may
    also cost something at first (see `kernels.annealing`), until the steps are over or it is proven that nothing less
    can be lost; the best classes on the way are refined at the end. It all follows from the table, the classes and the
    number of steps. Where `progress` raises CancelledError, the best classes so far are returned.
    """
    search = _ClassSearch(data, requirements, millions, progress, partition)
    try:
        search.price()
        search.anneal()
    except CancelledError:
        pass
    return search.best


@dataclass(eq=False)
class _ClassSearch:
    """The classes that lose least so far, what they lose per cell, and a bound of what is possible."""

    data: Microdata
    requirements: Sequence[Requirement]
    millions: int
    progress: Progress
    best: Partition
    loss: float = field(init=False)
    bound: float = 0.0

    def __post_init__(self) -> None:
        self.checks, self.cells = CheckSet(self.requirements, self.data), RefinedCells.of(self.data)
        self.loss = _loss(self._work(self.best))

    def price(self) -> None:
        """Bound what is possible, and start from the classes that the bound is made of if they lose less."""
        k = self.checks.kernel.minimum_rows
        if k < 2 or self.loss == 0.0:
            return
        rows = DistinctRows.of(self.data)
        clock = BoxClock(BOXES_PER_MILLION * self.millions, lambda share, _: self._report(0.4 * share))
        search = PriceSearch(rows, k, clock)
        search.compare_boxes()
        search.raise_prices()
        self.bound = search.bound
        self._report(0.4)
        work = self._work(self._packed(search))
        if repair(work.rows, work.classes, self.checks.kernel):
            packed = refined(self.data, numbered(work.classes, work.order), self.requirements, silent)
            self._keep(packed, _loss(self._work(packed)))

    def anneal(self) -> None:
        """Take random steps from the best classes, ever cooler, and refine the best of those on the way."""
        work = self._work(self.best)
        row_at = np.argsort(work.rows.places, axis=1).astype(np.int32)
        spare = max(len(self.best.group) // max(self.checks.kernel.minimum_rows, 1) - self.best.n_groups, 0)
        classes = work.classes.with_empty(min(spare, self.best.n_groups))
        heat, state = FIRST_HEAT * self.loss * self.cells.codes.shape[1], 1
        n_parts = max(self.millions, FEWEST_PARTS)
        n_steps = self.millions * MILLION // n_parts
        for part in range(n_parts):
            if self.loss <= self.bound + SLACK / UNIT:
                # No classes can lose less, but for what the bound leaves open by its own making.
                break
            self._report(0.4 + 0.6 * part / n_parts)
            cooled = heat * (1 - part / n_parts) ** 2
            state = anneal(work.rows, classes, row_at, cooled, n_steps, state, self.checks.kernel)
            loss = float(classes.size @ classes.loss) / work.rows.codes.size
            if loss < self.loss:
                self._keep(numbered(classes, work.order), loss)
        best = refined(self.data, self.best, self.requirements, silent)
        self._keep(best, _loss(self._work(best)))

    def _keep(self, partition: Partition, loss: float) -> None:
        if loss < self.loss:
            self.best, self.loss = partition, loss

    def _report(self, share: float) -> None:
        text = f"Best so far: information loss {self.loss:.4g}"
        # A bound that knows of sizes alone says little where requirements look at secrets.
        if 0.0 < self.loss < 2 * self.bound:
            text += f", at most {max(self.loss / self.bound - 1, 0.0):.0%} above the least"
        self.progress(share, text)

    def _work(self, partition: Partition) -> Work:
        order = order_of_rows(self.data, partition)
        return Work.of(self.cells, self.checks, order, partition.group[order])

    def _packed(self, search: PriceSearch) -> Partition:
        """The class of every row: the sets that share most in the prices, beside what is left of the best classes."""
        rows, sets = search.rows, search.sets
        amounts = rows.boxes.amounts
        ordered = self.data.canonical_order
        ordered = ordered[np.argsort(rows.number[ordered], kind="stable")]
        next_row, end = np.cumsum(amounts) - amounts, np.cumsum(amounts)
        group, n_groups = self.best.group.copy(), self.best.n_groups
        for i in np.flatnonzero(amounts >= search.k):
            group[ordered[next_row[i] : end[i]]] = n_groups
            next_row[i], n_groups = end[i], n_groups + 1
        shares = np.append(search.shares, np.zeros(len(sets.sizes) - len(search.shares)))
        starts = np.cumsum(sets.sizes) - sets.sizes
        worth = np.add.reduceat(search.prices[sets.members] * sets.copies, starts) if len(starts) else starts
        for s in np.lexsort((sets.limits - worth, -shares)):
            of_set = slice(starts[s], starts[s] + sets.sizes[s])
            members, copies = sets.members[of_set], sets.copies[of_set]
            if (next_row[members] + copies <= end[members]).all():
                for i, n in zip(members, copies, strict=True):
                    group[ordered[next_row[i] : next_row[i] + n]] = n_groups
                next_row[members] += copies
                n_groups += 1
        return Partition.alike([group])


def _loss(work: Work) -> float:
    """The loss per cell."""
    return float(work.classes.size @ work.classes.loss) / work.rows.codes.size

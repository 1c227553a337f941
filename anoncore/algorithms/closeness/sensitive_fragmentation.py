"""Fragmentation of the space of sensitive values into boxes, and the deals that it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anoncore.algorithms.closeness.locality import sensitive_columns
from anoncore.algorithms.closeness.multiplicity import Multiplicity
from anoncore.kernels.arrays import Floats, Rows
from anoncore.kernels.sensitive_space import EQUAL, ORDERED, Cells, farthest, find_fragmentation, first_close_deal
from anoncore.requirements import CheckSet, TCloseness
from anoncore.table.microdata import Microdata

LOWER, UPPER = 4, 5
"""Columns of the tree that hold a node's children."""
EVERY_NUMBER = 4_000
"""Up to this number of classes every number is tried; above it a quarter as many, spread evenly in proportion."""


@dataclass(frozen=True, eq=False)
class SensitiveFragmentation:
    """Boxes that tile the array of `multiplicity`, made from a single box by cuts through a whole box each.

    `order` lists the cells so that every box is a run of them. `tree` is as
    `kernels.sensitive_space.find_fragmentation` gives it. `bounds`, float (d,), is the aggregate bound per attribute: a
    class with its exact share of every fragment is at most that far from the table. Source: t-closeness dissertation,
    sections 4.3 to 4.5.
    """

    multiplicity: Multiplicity
    cells: Cells
    order: Rows
    tree: npt.NDArray[np.int64]
    bounds: Floats

    @classmethod
    def search(
        cls, multiplicity: Multiplicity, t: Mapping[str, float], grounds: Mapping[str, str]
    ) -> SensitiveFragmentation:
        """Cut greedily until every aggregate bound is within its attribute's t.

        Each step takes the cut after which the bounds exceed their t least in total. A fragment adds to the bound of an
        attribute the largest distance from its sums per slice to any other distribution of the same mass over the
        slices that are occupied, measured in the whole attribute (`ordered` or `equal` ground distance).
        """
        kinds = [
            EQUAL if grounds[view.attribute] == "equal" or view.unique >= 0 else ORDERED for view in multiplicity.views
        ]
        cells = Cells(
            multiplicity.cells,
            multiplicity.counts / multiplicity.n_rows,
            multiplicity.sizes,
            np.array(kinds, dtype=np.int64),
        )
        limits = np.array([t[name] for name in multiplicity.attributes], dtype=np.float64)
        return cls(multiplicity, cells, *find_fragmentation(cells, limits))

    @cached_property
    def leaves(self) -> Rows:
        """Nodes of the tree that are fragments, int64 (n_fragments,)."""
        return np.flatnonzero(self.tree[:, 2] < 0)

    @property
    def n_fragments(self) -> int:
        """Number of fragments."""
        return len(self.leaves)

    @cached_property
    def of_row(self) -> npt.NDArray[np.int32]:
        """Fragment of every row, int32 (n_rows,)."""
        of_cell = np.empty(len(self.order), dtype=np.int32)
        for fragment, leaf in enumerate(self.leaves):
            of_cell[self.order[self.tree[leaf, 0] : self.tree[leaf, 1]]] = fragment
        return of_cell[self.multiplicity.of_row]

    @cached_property
    def counts(self) -> Rows:
        """Rows per fragment, int64 (n_fragments,)."""
        return np.bincount(self.of_row, minlength=self.n_fragments)

    @cached_property
    def boxes(self) -> npt.NDArray[np.int64]:
        """Lowest and highest code of each fragment per attribute, int64 (n_fragments, d, 2); they tile the space."""
        sizes = self.multiplicity.sizes
        region = np.zeros((len(self.tree), len(sizes), 2), dtype=np.int64)
        region[0, :, 1] = sizes - 1
        for node in np.flatnonzero(self.tree[:, 2] >= 0):
            lower, upper = self.tree[node, LOWER], self.tree[node, UPPER]
            axis, last = self.tree[node, 2], self.tree[node, 3]
            region[lower], region[upper] = region[node], region[node]
            region[lower, axis, 1], region[upper, axis, 0] = last, last + 1
        return region[self.leaves]

    @cached_property
    def box_bounds(self) -> Floats:
        """What each fragment adds to the aggregate bound of each attribute, float (n_fragments, d)."""
        room = np.zeros(int(self.multiplicity.sizes.max()))
        ends, d = self.tree[self.leaves, :2], len(self.multiplicity.views)
        return np.array(
            [[farthest(self.cells, self.order[first:end], axis, room) for axis in range(d)] for first, end in ends]
        )

    def path(self, axis: int) -> Rows:
        """The cells along a path through all fragments that enters each one near where it left the last, int64
        (n_cells,).

        Inside a fragment the cells run along `axis`, upwards or downwards depending on where the path arrives.
        """
        cells = self.multiplicity.cells
        d = cells.shape[1]
        upwards = np.ones(d, dtype=bool)
        axes = [*(other for other in range(d) if other != axis), axis]
        parts: list[Rows] = []
        waiting: list[tuple[str, int, int]] = [("visit", 0, 0)]
        while waiting:
            task, node, direction = waiting.pop()
            if task == "set":
                upwards[node] = bool(direction)
            elif self.tree[node, 2] < 0:
                inside = self.order[self.tree[node, 0] : self.tree[node, 1]]
                signs = np.where(upwards, 1, -1)
                parts.append(inside[np.lexsort([cells[inside, other] * signs[other] for other in axes])])
            else:
                cut = int(self.tree[node, 2])
                up = bool(upwards[cut])
                near, far = (LOWER, UPPER) if up else (UPPER, LOWER)
                waiting += [
                    ("set", cut, int(not up)),
                    ("visit", int(self.tree[node, far]), 0),
                    ("set", cut, int(up)),
                    ("visit", int(self.tree[node, near]), 0),
                ]
        return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class CloseDeal:
    """A number of classes to which dealing `stack` (row numbers, int64 (n_rows,)) round-robin is close enough."""

    fragmentation: SensitiveFragmentation
    stack: Rows
    n_classes: int


def largest_close_deal(
    fragmentation: SensitiveFragmentation,
    data: Microdata,
    requirements: tuple[TCloseness, ...],
    most: int,
    rows: Rows,
) -> CloseDeal:
    """The deal with the most classes, at most `most`, all of which meet the requirements; one class always does.

    Rows are stacked fragment by fragment, so that a round-robin deal spreads every fragment evenly. On small tables
    every number of classes from `most` down is verified. On large ones it is numbers within 1% of each other, and then
    those between the last that failed and the first that passed. `rows` gives the order of rows with equal values.
    """
    checks = CheckSet(requirements, data)
    sensitive = sensitive_columns(checks, data.n_rows)
    best = CloseDeal(fragmentation, rows, 1)
    for axis in range(len(fragmentation.multiplicity.views)):
        position = np.empty(len(fragmentation.order), dtype=np.int64)
        position[fragmentation.path(axis)] = np.arange(len(position))
        stack = rows[np.argsort(position[fragmentation.multiplicity.of_row[rows]], kind="stable")]
        numbers = _numbers(most, best.n_classes)
        first_passing = first_close_deal(stack, sensitive, checks.kernel, numbers)
        if first_passing < 0:
            continue
        n_classes = int(numbers[first_passing])
        # Between the last number that failed and the first that passed there may be larger ones that pass.
        if first_passing > 0:
            between = np.unique(
                np.linspace(n_classes, numbers[first_passing - 1] - 1, EVERY_NUMBER // 10).astype(np.int64)
            )
            falling = between[::-1].copy()
            n_classes = int(falling[first_close_deal(stack, sensitive, checks.kernel, falling)])
        best = CloseDeal(fragmentation, stack, n_classes)
    return best


def _numbers(most: int, above: int) -> Rows:
    """Numbers of classes to try, descending from `most` to `above` + 1."""
    if most <= EVERY_NUMBER:
        return np.arange(most, above, -1, dtype=np.int64)
    spread = np.unique(np.geomspace(above, most, EVERY_NUMBER // 4).astype(np.int64))
    return spread[spread > above][::-1].copy()

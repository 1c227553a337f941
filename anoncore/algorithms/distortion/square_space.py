"""The space in which squares within clusters are measured: every attribute weighs the same, in whatever unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from anoncore.kernels.arrays import Codes, Floats, Rows
from anoncore.kernels.within_squares import People, Points
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata

GRID = np.pi * 1e7
"""Steps of the grid on which coordinates lie, for one standard deviation. The same numbers in another unit round
otherwise; on the grid they are the same again. Its step is no simple fraction, so that real values do not lie just
between two of its places.
"""
NEAR = 20
"""Near rows of each row that are listed."""
MOST_TREE_AXES = 16
"""Axes up to which a tree of points finds near rows quickly; of more, the directions that vary most are taken."""

Axes = list[tuple[npt.NDArray[np.int32], Floats]]
"""Parts of the points, each with the axis and the coordinate of every code of an attribute; both (n_codes,)."""


@dataclass(frozen=True, eq=False)
class SquareSpace:
    """The rows of a table as points, in an order of `rows` that does not depend on how the table is sorted.

    A number is standardised. Ordered categories are numbered by rank and standardised. A category has an axis of its
    own, and in a hierarchy one for every node above it, so that two values lie as far apart as the node that holds both
    is wide. A missing number lies at the mean, one standard deviation off on an axis of its own. The variance of every
    attribute is 1, so that squares are compared with those of the whole table.
    """

    data: Microdata
    rows: Rows

    @cached_property
    def points(self) -> Points:
        """The rows in this order, as kernels see them."""
        axes, values, n_axes = [], [], 0
        for name in self.data.require_quasi_identifiers():
            codes = self.data.codes[name][self.rows]
            for axis, coordinate in _axes(self.data.domain[name], np.bincount(self.data.codes[name])):
                used = np.unique(axis, return_inverse=True)[1].reshape(-1)
                axes.append(used[codes] + n_axes)
                values.append(np.rint(coordinate * GRID)[codes] / GRID)
                n_axes += int(used.max()) + 1
        # Of a table in which every attribute has one value in a hierarchy, nothing is left to measure.
        none = [np.zeros(len(self.rows))]
        value = np.column_stack(values or none)
        return Points(np.column_stack(axes or none).astype(np.int32), value, (value**2).sum(axis=1), max(n_axes, 1))

    def people(self, k: int) -> People:
        """Whose rows they are, in this order."""
        if self.data.people is None:
            return People(np.arange(len(self.rows)), np.ones(len(self.rows), dtype=np.bool_), k)
        person = self.data.people[self.rows].astype(np.int64)
        return People(person, np.bincount(person)[person] == 1, k)

    @property
    def is_one_number(self) -> bool:
        """Whether all rows lie on one axis."""
        return self.points.n_axes == 1 and self.points.axis.shape[1] == 1

    def near(self, blocks: Sequence[Rows]) -> npt.NDArray[np.int32]:
        """Some near rows of every row, all by their places in the order, int32 (n_rows, n_near).

        They are looked for in the row's block; of points with many axes along those that vary most.
        """
        from scipy.spatial import cKDTree

        wanted = max(min(NEAR, *(len(block) - 1 for block in blocks)), 0)
        near = np.zeros((len(self.rows), wanted), dtype=np.int32)
        for block in blocks if wanted else ():
            place = self._directions(block)
            found = np.asarray(cKDTree(place).query(place, wanted + 1)[1])
            # Where many rows lie at one point, a row need not be among its own near ones.
            is_own = found == np.arange(len(block))[:, None]
            is_own[~is_own.any(axis=1), -1] = True
            near[block] = block[found[~is_own]].reshape(len(block), wanted)
        return near

    def _directions(self, block: Rows) -> Floats:
        """Coordinates by which near rows are looked for, float (n, at most MOST_TREE_AXES)."""
        matrix = self._matrix(block)
        if matrix.shape[1] <= MOST_TREE_AXES:
            return np.asarray(matrix.toarray())
        # Axes with the largest variance say most; directions across them would have to be found by a decomposition,
        # whose result depends on the machine.
        mean = np.asarray(matrix.mean(axis=0)).ravel()
        variance = np.asarray(matrix.multiply(matrix).mean(axis=0)).ravel() - mean**2
        largest = np.sort(np.argsort(-variance, kind="stable")[:MOST_TREE_AXES])
        return np.asarray(matrix[:, largest].toarray())

    def joined(self, group: Rows, people: People) -> Rows:
        """Join every cluster with fewer than k people to the one with the nearest mean, the smallest first.

        `group` int64 (n_rows,) numbers the clusters without gaps, and so does what is returned.
        """
        held = np.bincount(np.unique(np.column_stack([group, people.person]), axis=0)[:, 0])
        if held.min() >= people.k:
            return group
        from scipy.sparse import csr_matrix

        n, rows = len(held), np.arange(len(group))
        ones = np.ones(len(group))
        totals = np.asarray((csr_matrix((ones, (group, rows)), (n, len(group))) @ self._matrix(rows)).toarray())
        sizes = np.bincount(group).astype(np.float64)
        there = np.ones(n, dtype=np.bool_)
        while there.sum() > 1 and held[there].min() < people.k:
            smallest = int(np.flatnonzero(there)[held[there].argmin()])
            there[smallest] = False
            others = np.flatnonzero(there)
            means = totals[others] / sizes[others, None]
            to = int(others[((means - totals[smallest] / sizes[smallest]) ** 2).sum(axis=1).argmin()])
            group = np.where(group == smallest, to, group)
            totals[to], sizes[to] = totals[to] + totals[smallest], sizes[to] + sizes[smallest]
            held[to] = len(np.unique(people.person[group == to]))
        return np.unique(group, return_inverse=True)[1].reshape(-1)

    def _matrix(self, block: Rows) -> Any:
        """The points of some rows, as SciPy holds what is mostly 0: float (n, n_axes)."""
        from scipy.sparse import csr_matrix

        points = self.points
        width = points.axis.shape[1]
        starts = np.arange(0, len(block) * width + 1, width)
        parts = (points.value[block].ravel(), points.axis[block].ravel(), starts)
        return csr_matrix(parts, (len(block), points.n_axes))


def _axes(domain: Domain, counts: npt.NDArray[np.intp]) -> Axes:
    """Axis and coordinate of every code of an attribute whose codes occur so often."""
    share = np.zeros(len(domain))
    share[: len(counts)] = counts / counts.sum()
    if domain.kind is Kind.NOMINAL:
        return _axes_of_categories(domain, share)
    missing = domain.missing_code
    position = domain.steps.astype(np.float64) if domain.kind is Kind.NUMERIC else np.arange(len(domain), dtype=float)
    known = share.copy()
    if missing is not None:
        known[missing] = 0.0
    mean = float((known * position).sum() / known.sum()) if known.sum() > 0 else 0.0
    deviation = float(np.sqrt((known * (position - mean) ** 2).sum() / known.sum())) if known.sum() > 0 else 0.0
    value = (position - mean) / deviation if deviation > 0 else np.zeros(len(domain))
    if missing is None:
        return [(np.zeros(len(domain), dtype=np.int32), value)]
    value[missing] = 0.0
    is_missing: Floats = (np.arange(len(domain)) == missing).astype(np.float64)
    none = np.zeros(len(domain), dtype=np.int32)
    return [(none, value), (none, is_missing)]


def _axes_of_categories(domain: Domain, share: Floats) -> Axes:
    """An axis for every category, or for every node of the hierarchy, scaled so that the variance is 1."""
    if domain.tree is None:
        nodes: list[Codes] = [np.arange(len(domain), dtype=np.int32)]
        widths = [np.ones(len(domain))]
    else:
        tree = domain.tree
        width = (tree.last - tree.first).astype(np.float64)
        nodes, widths = [], []
        node = tree.leaf.copy()
        while (node > 0).any():
            # What a node is narrower than the one above it; the root is shared by all and has no axis.
            above = np.where(node > 0, tree.parent[node], 0)
            widths.append(np.where(node > 0, width[above] - width[node], 0.0))
            nodes.append(node)
            node = above.astype(np.int32)
    variance = 0.0
    for node, width in zip(nodes, widths, strict=True):
        held = np.bincount(node, weights=share)
        variance += float((share * width * (1 - held[node])).sum())
    scale = 1 / np.sqrt(variance) if variance > 0 else 0.0
    return [(node, np.sqrt(width) * scale) for node, width in zip(nodes, widths, strict=True)]

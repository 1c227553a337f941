"""Bounds of how many rows of each class have which values, from the groups that local recoding did not make classes.

A cell is a class and a combination of values that its published cells allow. Its count, the rows of the class that have
these values, is not published. Of the counts is known:

- those of a class add up to its size;
- where an earlier class took all rows with these values, the count is 0;
- at every combination of levels that was tried before, fewer than k rows that were left were alike (a refused group):
  the counts of all later classes add up to at most k - 1 there.

These are linear inequalities. They fall apart into parts that share no class and no group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from anoncore.attacks.recoded_classes import RecodedClasses
from anoncore.base.errors import ReleaseError
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Bools, Codes, Int64, record
from anoncore.kernels.grouping import distinct, owners, starts_of

MOST_PAIRS = 20_000_000
"""Pairs of a cell and a combination of levels that are looked at; classes with more cells come last."""
MOST_CELLS = 500
"""Cells up to which a part is solved as a whole."""
MOST_STEPS = 200
"""Nodes of the search for whole numbers, after which the best proven bound is taken."""
NEARLY = 1e-6
"""By how much bounds of the solver may miss whole numbers."""
NOT_MADE_SO = "No table gives these groups by local recoding with k = {k}, so the release was made in another way."


@record
class CountBounds:
    """How many rows of a class may have which values.

    Attributes
    ----------
    of_class : ndarray of int64, shape (n_cells,)
        The class of each cell, ascending.
    codes : ndarray of int32, shape (n_cells, n_attributes)
        The values of each cell.
    low, high : ndarray of int64, shape (n_cells,)
        The fewest and the most rows.
    is_least : ndarray of bool, shape (n_cells,)
        Whether all that is used of the method allows no narrower bounds.
    is_counted : ndarray of bool, shape (n_classes,)
        The classes whose cells these are; of the others nothing was counted.
    n_refused : int
        Refused groups that bound counts of several cells and are implied by no others.
    n_apart : int
        Cells of parts that were too large, of which each class was looked at alone.
    """

    of_class: Int64
    codes: Codes
    low: Int64
    high: Int64
    is_least: Bools
    is_counted: Bools
    n_refused: int
    n_apart: int


@dataclass(eq=False)
class _Counts:
    """The cells that may have rows, and what is known of their counts so far."""

    classes: RecodedClasses
    of_class: Int64
    codes: Codes
    low: Int64
    high: Int64

    def within_sizes(self, is_counted: Bools) -> None:
        """Narrow the bounds by those of the other cells of a class, which add up to its size.

        Raises ReleaseError where the cells cannot hold the rows of their class.
        """
        sizes, n = self.classes.sizes, self.classes.n_classes
        highest = np.bincount(self.of_class, weights=self.high, minlength=n).astype(np.int64)
        self.low = np.maximum(self.low, sizes[self.of_class] - highest[self.of_class] + self.high)
        lowest = np.bincount(self.of_class, weights=self.low, minlength=n).astype(np.int64)
        self.high = np.minimum(self.high, sizes[self.of_class] - lowest[self.of_class] + self.low)
        if (highest < sizes)[is_counted].any() or (self.low > self.high).any():
            raise ReleaseError(NOT_MADE_SO.format(k=self.classes.k))


def count_bounds(classes: RecodedClasses, most_cells: int, progress: Progress) -> CountBounds:
    """Bound the counts of all cells of generalized classes.

    Parameters
    ----------
    classes : RecodedClasses
        The classes of a release.
    most_cells : int
        Cells of a part up to which it is solved as a whole. In larger ones each class is looked at alone, and of
        classes with more cells only their size and single groups are used.
    progress : callable
        Called with the share done and a text.

    Returns
    -------
    CountBounds
        The bounds, sorted by class.

    Raises
    ------
    ReleaseError
        Where no table gives these classes.

    Notes
    -----
    Assumes: every class was made at the first of all combinations of levels where k rows were left; which were tried
      before is what `RecodedClasses.is_later` says.
    Cost: O(m n) for m combinations of levels and n cells, and two integer programs for each cell of a part.
    """
    n_states = int(np.prod([hierarchy.height + 1 for hierarchy in classes.levels]))
    is_counted = _counted(classes, max(MOST_PAIRS // n_states, 1))
    numbers = np.flatnonzero(is_counted)
    empty = np.zeros((0, len(classes.levels)), np.int32)
    codes = np.concatenate([empty, *(classes.combinations(int(number)) for number in numbers)])
    of_class = np.repeat(numbers, classes.n_combinations[numbers])
    low, high = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
    is_least = np.ones(len(codes), np.bool_)
    open_cells = np.flatnonzero(~classes.taken(codes, of_class))
    most = np.where(classes.is_capped, np.minimum(classes.sizes, classes.k - 1), classes.sizes)[of_class[open_cells]]
    counts = _Counts(classes, of_class[open_cells], codes[open_cells], low[open_cells], most)
    counts.within_sizes(is_counted)
    refused = _refused_groups(counts, progress)
    parts, is_apart = _parts(counts, refused, most_cells)
    solved = np.zeros(len(open_cells), np.bool_)
    for number, part in enumerate(parts):
        progress(0.2 + 0.8 * number / len(parts), f"Bounding the counts of part {number + 1:,} of {len(parts):,}")
        counts.low[part.cells], counts.high[part.cells], solved[part.cells] = part.solved()
    low[open_cells], high[open_cells], is_least[open_cells] = counts.low, counts.high, solved & ~is_apart
    return CountBounds(of_class, codes, low, high, is_least, is_counted, len(refused), int(is_apart.sum()))


def _counted(classes: RecodedClasses, most: int) -> Bools:
    """The classes with several cells of which something is known, from those with fewest cells on up to `most`."""
    hidden = np.flatnonzero((classes.n_combinations > 1) & (classes.takes_all | classes.is_capped))
    hidden = hidden[np.argsort(classes.n_combinations[hidden], kind="stable")]
    counted = np.zeros(classes.n_classes, np.bool_)
    counted[hidden[np.cumsum(classes.n_combinations[hidden].astype(np.float64)) <= most]] = True
    return counted


def _refused_groups(counts: _Counts, progress: Progress) -> list[Int64]:
    """The cells of every group of rows that did not become a class, at most k - 1 of which were left.

    Left out are groups that no counts could fill, and those that lie in another one.
    """
    classes = counts.classes
    heights = [hierarchy.height for hierarchy in classes.levels]
    states = sorted(product(*(range(height + 1) for height in heights)), key=sum, reverse=True)
    capped = classes.is_capped[counts.of_class]
    coarser: dict[tuple[int, ...], Bools] = {}
    groups = []
    for number, state in enumerate(states):
        if number % 64 == 0:
            progress(0.2 * number / len(states), "Looking for groups that were refused")
        levels = np.array(state, np.int64)
        tried = capped & classes.is_later(counts.of_class, levels)
        coarser[state] = tried
        cells = np.flatnonzero(tried)
        if not len(cells):
            continue
        key = classes.key(counts.codes[cells], levels)
        order = np.argsort(key, kind="stable")
        cells = cells[order]
        starts = np.flatnonzero(np.append(True, key[order][1:] != key[order][:-1]))
        n_cells = np.diff(np.append(starts, len(cells)))
        is_used = (n_cells > 1) & (np.add.reduceat(counts.high[cells], starts) >= classes.k)
        for a, height in enumerate(heights):
            if state[a] < height:
                above = coarser[(*state[:a], state[a] + 1, *state[a + 1 :])]
                is_used &= ~np.logical_and.reduceat(above[cells], starts)
        groups += [cells[starts[i] : starts[i] + n_cells[i]] for i in np.flatnonzero(is_used)]
    return groups


def _parts(counts: _Counts, refused: list[Int64], most_cells: int) -> tuple[list[_Part], Bools]:
    """The parts that are solved, and the cells of parts of which each class is looked at alone, bool (n_cells,)."""
    number = _component(counts.of_class, refused, counts.classes.n_classes)
    too_large = np.bincount(number)[number] > most_cells if len(number) else np.zeros(0, np.bool_)
    # A class alone has fewer inequalities, each of which still holds: its bounds are right, and may be too wide.
    alone = np.where(too_large, number.max(initial=0) + 1 + counts.of_class, number)
    groups_of: dict[int, list[Int64]] = {}
    for cells in (piece for group in refused for piece in _split(group, alone)):
        if len(cells) > 1 and counts.high[cells].sum() >= counts.classes.k:
            groups_of.setdefault(int(alone[cells[0]]), []).append(cells)
    parts = [
        _Part(counts, cells, groups_of.get(int(alone[cells[0]]), []))
        for cells in _split(np.arange(len(alone)), alone)
        if 0 < len(cells) <= most_cells
    ]
    return parts, too_large


def _split(cells: Int64, label: Int64) -> Iterator[Int64]:
    """The cells of each label."""
    order = np.argsort(label[cells], kind="stable")
    yield from np.split(cells[order], np.flatnonzero(np.diff(label[cells[order]])) + 1)


def _component(of_class: Int64, groups: list[Int64], n_classes: int) -> Int64:
    """Numbers of cells that are linked by classes and groups, int64 (n_cells,)."""
    # It takes longer to import than most programs that import this file run.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_cells, lengths = len(of_class), np.array([len(cells) for cells in groups], np.int64)
    cell = np.concatenate([np.arange(n_cells), *groups])
    link = n_cells + np.concatenate([of_class, n_classes + owners(lengths)])
    size = n_cells + n_classes + len(groups)
    graph = coo_array((np.ones(len(cell), np.bool_), (cell, link)), shape=(size, size))
    number: Int64 = connected_components(graph, directed=False)[1][:n_cells].astype(np.int64)
    return number


class _Part:
    """Cells that share no class and no refused group with others, and the programs that bound their counts."""

    def __init__(self, counts: _Counts, cells: Int64, groups: list[Int64]) -> None:
        from scipy.sparse import csr_array

        self.counts, self.cells = counts, cells
        self.low, self.high = counts.low[cells].copy(), counts.high[cells].copy()
        # The fewest and the most rows of each cell in any solution: bounds that one reaches need no program.
        self.fewest, self.most = self.high + 1, self.low - 1
        self.rows = [np.flatnonzero(counts.of_class[cells] == number) for number in distinct(counts.of_class[cells])]
        self.n_classes = len(self.rows)
        place = np.empty(len(counts.of_class), np.int64)
        place[cells] = np.arange(len(cells))
        self.rows += [place[group] for group in groups]
        starts = starts_of(map(len, self.rows))
        by_row = csr_array((np.ones(starts[-1]), np.concatenate(self.rows), starts), (len(self.rows), len(cells)))
        self.by_row, by_cell = by_row, by_row.tocsc()
        self.rows_of = np.split(by_cell.indices, by_cell.indptr[1:-1])

    def solved(self) -> tuple[Int64, Int64, Bools]:
        """The bounds of all counts, and whether they are the narrowest; raises ReleaseError where there are none."""
        is_least = np.ones(len(self.cells), np.bool_)
        if self.n_classes == len(self.rows) == 1:
            return self.low, self.high, is_least
        for cell in range(len(self.cells)):
            if self.most[cell] < self.high[cell] and not self._fills(cell):
                bound, is_sure = self._extreme(cell, -1.0)
                self.high[cell], is_least[cell] = -bound, is_least[cell] and is_sure
            if self.fewest[cell] > self.low[cell]:
                bound, is_sure = self._extreme(cell, 1.0)
                self.low[cell], is_least[cell] = bound, is_least[cell] and is_sure
        return self.low, self.high, is_least

    def _fills(self, cell: int) -> bool:
        """Whether counts are easily found in which a cell has the most rows; they are remembered."""
        room = self._most_of_rows - (self.by_row @ self.low).astype(np.int64)
        if room.min() < 0:
            return False
        counts = self.low.copy()
        # Cells whose most rows are not yet reached come first, so that one attempt may serve several.
        is_reached = self.most >= self.high
        by_class = (
            in_class[np.argsort(is_reached[in_class], kind="stable")] for in_class in self.rows[: self.n_classes]
        )
        for in_class in (np.array([cell]), *by_class):
            for other in in_class:
                rows = self.rows_of[other]
                added = min(self.high[other] - counts[other], room[rows].min())
                counts[other] += added
                room[rows] -= added
                if not room[rows[0]]:
                    break
        if room[: self.n_classes].any() or counts[cell] < self.high[cell]:
            return False
        self._remember(counts)
        return True

    def _remember(self, counts: Int64) -> None:
        np.minimum(self.fewest, counts, out=self.fewest)
        np.maximum(self.most, counts, out=self.most)

    def _extreme(self, cell: int, sign: float) -> tuple[int, bool]:
        """The least `sign` * count of a cell in whole numbers, and whether it is reached."""
        from scipy.optimize import Bounds, milp

        goal = np.zeros(len(self.cells))
        goal[cell] = sign
        solution = milp(
            goal,
            integrality=np.ones(len(self.cells), np.int64),
            bounds=Bounds(self.low, self.high),
            constraints=self._constraints,
            options={"node_limit": MOST_STEPS, "mip_rel_gap": 0.0},
        )
        if solution.x is not None:
            self._remember(np.rint(solution.x).astype(np.int64))
        if solution.mip_dual_bound is None:
            raise ReleaseError(NOT_MADE_SO.format(k=self.counts.classes.k))
        return int(np.ceil(solution.mip_dual_bound - NEARLY)), solution.status == 0

    @cached_property
    def _constraints(self) -> Any:
        """The sizes of the classes, and at most k - 1 rows in every refused group."""
        from scipy.optimize import LinearConstraint

        least = self._most_of_rows.copy()
        least[self.n_classes :] = 0
        return LinearConstraint(self.by_row, least, self._most_of_rows)

    @cached_property
    def _most_of_rows(self) -> Int64:
        """The size of every class, and k - 1 for every refused group."""
        classes = self.counts.classes
        numbers = distinct(self.counts.of_class[self.cells])
        return np.append(classes.sizes[numbers], np.full(len(self.rows) - len(numbers), classes.k - 1))

"""Fragmenting the space of the sensitive values: greedy guillotine cuts, and how many classes a deal can make.

The space has one axis per sensitive attribute; a table occupies some of its cells, each with a share of the rows. A
guillotine cut divides a fragment into two by a threshold on one attribute. The cells of a fragment stay a run of every
order of the cells, so that a fragment is described by two positions lo and hi.

- `members`, `order` int64 (n,): cells of one fragment; in `order` sorted by the attribute that is cut.
- `sorted_by` int64 (d, n_cells): line s has all cells fragment by fragment, inside a fragment sorted by attribute s.
- `bound` float (d,): how far, at most, classes whose cells lie in the same fragments can be from the table by each
  attribute, summed over the fragments at hand.
- `effects` float (d, n_cells, d): how the cut by attribute s behind position i changes the bound of attribute a; inf
  where there can be no cut.
- `slices` float (most codes of any attribute,): memory for sums by code; all 0 before and after every call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.checking import KernelChecks, count_cells
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.rounding import lies_above
from anoncore.kernels.sorting import stable_positions, taken
from anoncore.kernels.swapping import worst_excess

ORDERED, EQUAL = 0, 1


class Cells(NamedTuple):
    """Occupied cells of the multiplicity array.

    `code` int32 (n_cells, d): code of each of the d sensitive attributes. `share` float (n_cells,): share of the rows.
    `size` int64 (d,): number of codes of each attribute; `ground` int64 (d,): its ground distance, ORDERED or EQUAL.
    """

    code: Int32
    share: Floats
    size: Int64
    ground: Int64


@kernel
def farthest(cells: Cells, members: Int64, a: int, slices: Floats) -> float:
    """Largest distance from a fragment's shares by code of attribute a to any vector of their sum over these codes.

    Ordered: the farthest vector has all mass at the farther end of the codes, at distance mass x steps / (size - 1).
    Equal: it has all mass at the code with the smallest share.
    """
    if cells.size[a] < 2:
        return 0.0
    mass, moment = 0.0, 0.0
    low, high = cells.code[members[0], a], cells.code[members[0], a]
    for cell in members:
        code = cells.code[cell, a]
        mass += cells.share[cell]
        moment += cells.share[cell] * code
        low, high = min(low, code), max(high, code)
        if cells.ground[a] == EQUAL:
            slices[code] += cells.share[cell]
    if cells.ground[a] == ORDERED:
        return end_distance(mass, moment, low, high, cells.size[a])
    smallest = mass
    for cell in members:
        smallest = min(smallest, slices[cells.code[cell, a]])
    for cell in members:
        slices[cells.code[cell, a]] = 0.0
    return mass - smallest


@inner_kernel
def end_distance(mass: float, moment: float, low: int, high: int, size: int) -> float:
    """Ordered distance to all mass at the farther end of the codes low..high, from the mass and its first moment."""
    if low == high:
        return 0.0
    return max(mass * high - moment, moment - mass * low) / (size - 1)


@inner_kernel
def _cut_effects(cells: Cells, order: Int64, s: int, effect: Floats, bound: Floats, slices: Floats) -> None:
    """Write how each cut of a fragment by attribute s changes the bound of every attribute.

    `order` has the fragment's cells sorted by attribute s, `effect` float (n, d) the fragment's lines of `effects[s]`;
    `bound` is that of the fragment alone.
    """
    n, d = len(order), len(cells.size)
    above = np.zeros(n + 1)
    for a in range(d):
        if cells.ground[a] == EQUAL:
            for i in range(1, n):
                if cells.code[order[i], s] != cells.code[order[i - 1], s]:
                    change = farthest(cells, order[:i], a, slices) + farthest(cells, order[i:], a, slices)
                    effect[i - 1, a] = change - bound[a]
            continue
        # The upper sides first, from the last cell back, then the lower sides: an extent can be updated when a side
        # gains a cell, but not when it loses one.
        for is_lower in range(2):
            moment, mass = 0.0, 0.0
            low, high = np.int64(1) << 40, np.int64(-1)
            for step in range(n - is_lower):
                i = step if is_lower else n - 1 - step
                code = np.int64(cells.code[order[i], a])
                mass += cells.share[order[i]]
                moment += cells.share[order[i]] * code
                low, high = min(low, code), max(high, code)
                distance = end_distance(mass, moment, int(low), int(high), cells.size[a])
                if is_lower:
                    effect[i, a] = distance + above[i + 1] - bound[a]
                else:
                    above[i] = distance
    for i in range(n):
        if i == n - 1 or cells.code[order[i], s] == cells.code[order[i + 1], s]:
            effect[i] = np.inf


@inner_kernel
def _open_fragment(cells: Cells, lo: int, hi: int, sorted_by: Int64, effects: Floats, slices: Floats) -> Floats:
    """Sort the new fragment lo..hi-1 along every attribute and write the effects of its cuts; returns its bound."""
    d = len(cells.size)
    bound = np.empty(d)
    for a in range(d):
        bound[a] = farthest(cells, sorted_by[0, lo:hi], a, slices)
    for s in range(d):
        mine = sorted_by[s, lo:hi]
        mine[:] = taken(mine, stable_positions(taken(cells.code[:, s], mine)))
        _cut_effects(cells, mine, s, effects[s, lo:hi], bound, slices)
    return bound


@inner_kernel
def _best_cut(effects: Floats, bound: Floats, t: Floats) -> tuple[int, int]:
    """Attribute and position of the cut after which the bounds exceed t least in total; -1 if there is no cut.

    Among equals the cut with the least total bound wins, then the first.
    """
    best_s, best_position, least, smallest = -1, -1, np.inf, np.inf
    for s in range(len(effects)):
        for i in range(effects.shape[1]):
            if effects[s, i, 0] == np.inf:
                continue
            over, total = 0.0, 0.0
            for a in range(len(t)):
                after = bound[a] + effects[s, i, a]
                over += max(0.0, after - t[a])
                total += after
            if over < least - 1e-12 or (over < least + 1e-12 and total < smallest - 1e-12):
                best_s, best_position, least, smallest = s, i, over, total
    return best_s, best_position


@inner_kernel
def _is_beyond(bound: Floats, t: Floats) -> bool:
    """Whether the bound of any attribute lies above its t."""
    is_beyond = False
    for a in range(len(t)):
        is_beyond |= lies_above(bound[a], t[a])
    return is_beyond


@kernel
def find_fragmentation(cells: Cells, t: Floats) -> tuple[Int64, Int64, Floats]:
    """Cut the space greedily until every aggregate bound is within its t.

    Returns the cells ordered so that each fragment is a run, int64 (n_cells,); the tree, int64 (n_nodes, 6), with
    first cell, end, attribute cut (-1: a fragment), last code of the lower side, lower and upper child per node; and
    the aggregate bound per attribute, float (d,), the sum of the fragments'. A cut costs O(d^2 n_cells) additions.
    """
    n, d = cells.code.shape
    sorted_by, effects = np.empty((d, n), np.int64), np.full((d, n, d), np.inf)
    sorted_by[:] = np.arange(n)
    slices, tree = np.zeros(cells.size.max()), np.full((2 * n, 6), -1)
    leaf = np.zeros(n, np.int64)
    tree[0, 0], tree[0, 1] = 0, n
    n_nodes = 1
    bound = _open_fragment(cells, 0, n, sorted_by, effects, slices)
    while _is_beyond(bound, t):
        s, last = _best_cut(effects, bound, t)
        if s < 0:
            break
        node = leaf[last]
        lo, hi = tree[node, 0], tree[node, 1]
        bound += effects[s, last]
        # Every order takes that of the attribute that is cut, so that each side is a run of all of them.
        # `_open_fragment` then sorts the sides along their own attributes.
        for other in range(d):
            if other != s:
                sorted_by[other, lo:hi] = sorted_by[s, lo:hi]
        tree[node, 2], tree[node, 3] = s, cells.code[sorted_by[s, last], s]
        for side in range(2):
            first, end = (lo, last + 1) if side == 0 else (last + 1, hi)
            tree[n_nodes, 0], tree[n_nodes, 1] = first, end
            tree[node, 4 + side] = n_nodes
            leaf[first:end] = n_nodes
            n_nodes += 1
            _open_fragment(cells, first, end, sorted_by, effects, slices)
    # The bound is summed anew: the one that was kept has the rounding of all steps.
    total = np.zeros(d)
    for node in range(n_nodes):
        if tree[node, 2] < 0:
            for a in range(d):
                total[a] += farthest(cells, sorted_by[0, tree[node, 0] : tree[node, 1]], a, slices)
    return sorted_by[0].copy(), tree[:n_nodes].copy(), total


@kernel
def first_close_deal(stack: Int64, cells: Int32, checks: KernelChecks, numbers: Int64) -> int:
    """Position in `numbers` of the first number of classes that all meet the checks if rows are dealt to them in turn.

    `stack` int64 (n_rows,): row numbers in the order in which they are dealt, so that every n_classes-th is of one
    class. `cells` int32 (n_rows, n_sensitive) are as in `checking`. `numbers` int64: candidates. -1 if none does. A
    number is given up at the first class that fails.
    """
    counts = np.zeros(checks.count_start[-1], np.int64)
    for tried in range(len(numbers)):
        n_classes = numbers[tried]
        close = True
        for c in range(n_classes):
            counts[:] = 0
            size = 0
            for i in range(c, len(stack), n_classes):
                size += 1
                count_cells(counts, cells[stack[i]], 1)
            if worst_excess(checks, counts, size) > 0:
                close = False
                break
        if close:
            return tried
    return -1

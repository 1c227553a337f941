"""Fragmenting the space of the sensitive values: greedy guillotine cuts, and how many classes a deal can make."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.checking import KernelChecks
from anoncore.kernels.compiler import kernel
from anoncore.kernels.swapping import worst_excess

ORDERED, EQUAL = 0, 1


class Cells(NamedTuple):
    """Occupied cells of the multiplicity array: `code` int32 (n_cells, d), `share` of the rows (n_cells,).

    `size` and `ground` (ORDERED, EQUAL) per attribute.
    """

    code: Int32
    share: Floats
    size: Int64
    ground: Int64


@kernel
def farthest(cells: Cells, members: Int64, lo: int, hi: int, a: int, slices: Floats) -> float:
    """Largest distance from the slice sums of attribute a to any vector of their mass over the occupied slices.

    Ordered: all mass at the farther end / (size - 1). Equal: all mass at the smallest slice. `slices` is zero.
    """
    if cells.size[a] < 2:
        return 0.0
    mass, moment = 0.0, 0.0
    low, high = cells.code[members[lo], a], cells.code[members[lo], a]
    for i in range(lo, hi):
        code = cells.code[members[i], a]
        mass += cells.share[members[i]]
        moment += cells.share[members[i]] * code
        low, high = min(low, code), max(high, code)
        if cells.ground[a] == EQUAL:
            slices[code] += cells.share[members[i]]
    if cells.ground[a] == ORDERED:
        return end_distance(mass, moment, low, high, cells.size[a])
    smallest = mass
    for i in range(lo, hi):
        smallest = min(smallest, slices[cells.code[members[i], a]])
    for i in range(lo, hi):
        slices[cells.code[members[i], a]] = 0.0
    return mass - smallest


@kernel
def end_distance(mass: float, moment: float, low: int, high: int, size: int) -> float:
    """Distance to all mass at the farther end of low..high, from the mass and its first moment."""
    if low == high:
        return 0.0
    return max(mass * high - moment, moment - mass * low) / (size - 1)


@kernel
def _cut_effects(
    cells: Cells, order: Int64, lo: int, hi: int, s: int, effect: Floats, bound: Floats, slices: Floats
) -> None:
    """For each cut of the fragment order[lo:hi] (sorted by attribute s): change of every attribute's bound.

    `effect[place, a]` belongs to the cut behind the place; inf where the next cell has the same code.
    """
    n, d = hi - lo, cells.size.shape[0]
    above = np.zeros(n + 1)
    for a in range(d):
        moment, mass = 0.0, 0.0
        low, high = np.int64(1) << 40, np.int64(-1)
        if cells.ground[a] == EQUAL:
            for place in range(lo + 1, hi):
                if cells.code[order[place], s] != cells.code[order[place - 1], s]:
                    change = farthest(cells, order, lo, place, a, slices) + farthest(cells, order, place, hi, a, slices)
                    effect[place - 1, a] = change - bound[a]
            continue
        for place in range(hi - 1, lo - 1, -1):
            code = np.int64(cells.code[order[place], a])
            mass += cells.share[order[place]]
            moment += cells.share[order[place]] * code
            low, high = min(low, code), max(high, code)
            above[place - lo] = end_distance(mass, moment, int(low), int(high), cells.size[a])
        moment, mass = 0.0, 0.0
        low, high = np.int64(1) << 40, np.int64(-1)
        for place in range(lo, hi - 1):
            code = np.int64(cells.code[order[place], a])
            mass += cells.share[order[place]]
            moment += cells.share[order[place]] * code
            low, high = min(low, code), max(high, code)
            below = end_distance(mass, moment, int(low), int(high), cells.size[a])
            effect[place, a] = below + above[place + 1 - lo] - bound[a]
    for place in range(lo, hi):
        if place == hi - 1 or cells.code[order[place], s] == cells.code[order[place + 1], s]:
            effect[place, :] = np.inf


@kernel
def _open_fragment(cells: Cells, lo: int, hi: int, sorted_by: Int64, effects: Floats, slices: Floats) -> Floats:
    """Sort a new fragment along every attribute and weigh its cuts; its bounds."""
    d = cells.size.shape[0]
    bound = np.empty(d)
    for a in range(d):
        bound[a] = farthest(cells, sorted_by[0], lo, hi, a, slices)
    for s in range(d):
        keys = cells.code[:, s][sorted_by[s, lo:hi]]
        sorted_by[s, lo:hi] = sorted_by[s, lo:hi][np.argsort(keys, kind="mergesort")]
        _cut_effects(cells, sorted_by[s], lo, hi, s, effects[s], bound, slices)
    return bound


@kernel
def _best_cut(effects: Floats, bound: Floats, t: Floats) -> tuple[int, int]:
    """The cut after which the bounds exceed t least in total; among equals, the one with the least total bound."""
    best_s, best_place, least, smallest = -1, -1, np.inf, np.inf
    for s in range(effects.shape[0]):
        for place in range(effects.shape[1]):
            if effects[s, place, 0] == np.inf:
                continue
            over, total = 0.0, 0.0
            for a in range(t.shape[0]):
                after = bound[a] + effects[s, place, a]
                over += max(0.0, after - t[a])
                total += after
            if over < least - 1e-12 or (over < least + 1e-12 and total < smallest - 1e-12):
                best_s, best_place, least, smallest = s, place, over, total
    return best_s, best_place


@kernel
def find_fragmentation(cells: Cells, t: Floats) -> tuple[Int64, Int64, Floats]:
    """Cut the space greedily until every aggregate bound is within its t.

    Returns the cells ordered so that each fragment is a run, int64 (n_cells,); the tree, int64 (n_nodes, 6), with
    first cell, end, attribute cut (-1: a fragment), last code of the lower side, lower and upper child per node; and
    the aggregate bound per attribute. Step: O(d^2 n_cells) additions.
    """
    n, d = cells.code.shape
    sorted_by = np.empty((d, n), np.int64)
    for s in range(d):
        sorted_by[s] = np.arange(n)
    effects = np.full((d, n, d), np.inf)
    slices = np.zeros(cells.size.max())
    tree = np.full((2 * n, 6), -1, np.int64)
    leaf = np.zeros(n, np.int64)
    tree[0, 0], tree[0, 1] = 0, n
    n_nodes = 1
    bound = _open_fragment(cells, 0, n, sorted_by, effects, slices)
    while (bound > t + 1e-12).any():
        s, place = _best_cut(effects, bound, t)
        if s < 0:
            break
        node = leaf[place]
        lo, hi = tree[node, 0], tree[node, 1]
        bound += effects[s, place]
        for other in range(d):
            if other != s:
                sorted_by[other, lo:hi] = sorted_by[s, lo:hi]
        tree[node, 2], tree[node, 3] = s, cells.code[sorted_by[s, place], s]
        for side in range(2):
            first, end = (lo, place + 1) if side == 0 else (place + 1, hi)
            tree[n_nodes, 0], tree[n_nodes, 1] = first, end
            tree[node, 4 + side] = n_nodes
            leaf[first:end] = n_nodes
            n_nodes += 1
            _open_fragment(cells, first, end, sorted_by, effects, slices)
    total = np.zeros(d)
    for node in range(n_nodes):
        if tree[node, 2] < 0:
            for a in range(d):
                total[a] += farthest(cells, sorted_by[0], tree[node, 0], tree[node, 1], a, slices)
    return sorted_by[0].copy(), tree[:n_nodes].copy(), total


@kernel
def first_close_deal(stack: Int64, sensitive: Int32, checks: KernelChecks, numbers: Int64) -> int:
    """Position in `numbers` of the first number of classes that, dealt round-robin from `stack`, all meet the checks.

    -1 if none does. A number is given up at the first class that fails.
    """
    counts = np.zeros(checks.count_start[-1], np.int64)
    for tried in range(numbers.shape[0]):
        n_classes = numbers[tried]
        close = True
        for c in range(n_classes):
            counts[:] = 0
            size = 0
            for place in range(c, stack.shape[0], n_classes):
                size += 1
                for column in range(sensitive.shape[1]):
                    counts[checks.count_start[column] + sensitive[stack[place], column]] += 1
            if worst_excess(checks, counts, size) > 0:
                close = False
                break
        if close:
            return tried
    return -1

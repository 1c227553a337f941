"""Mondrian: greedy recursive partitioning of coded rows into the leaves of a tree.

A node of the tree is a run of rows lo..hi-1 of the matrix `rows`. A split moves the node's rows so that each side is a
run again; what remains in memory of the tree is the order of the rows and where the leaves begin.

- `rows` int32 (n_rows, n_columns): as in `splitting`, with the row's number in the input table in the last column.
- `low`, `high` int32 (n_attributes,): smallest and largest code of a node's rows.
- counts int64 (n_counts,): rows with each sensitive value, laid out as in `KernelChecks`.
- `regions` int32 (n_rows, n_attributes, 2), or no rows where nobody asks for them: the box of a node as lowest and
  highest code per attribute, in the line of the node's first row. Boxes cover the domain, also where no row lies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Bytes, Int32, Int64
from anoncore.kernels.attributes import HIERARCHY, Attributes, common_node, widest, width
from anoncore.kernels.checking import KernelChecks, KernelPeople, add_row, all_hold, count_cells, forget_row
from anoncore.kernels.code_sweep import best_code, gather, has_few_codes, loss_costs
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sorting import sort_in_place
from anoncore.kernels.splitting import (
    NO_BOUNDS,
    NO_SPLIT,
    NODE_CHILDREN,
    SHARED_MEDIAN,
    THRESHOLD,
    Node,
    Split,
    extent_within,
    make_split,
    mark_left,
    split_rows,
)
from anoncore.kernels.sweep import (
    INFOGAIN,
    LOSS,
    TIE,
    Search,
    Workspace,
    best_threshold,
    children_allowed,
    children_cost,
    new_workspace,
    sort_rows,
    threshold_costs,
)


class Partitioning(NamedTuple):
    """The rows of a table while they are cut into leaves.

    `rows` int32 (n_rows, n_columns) and `regions` as above, `starts` uint8 (n_rows,): 1 at the first row of each leaf
    that is final. `spare` is memory of the shape of `rows`. Of a node that waits, the line of its first row holds
    codes below which no row of it lies, and the next line those above which none does.
    """

    rows: Int32
    spare: Int32
    regions: Int32
    starts: Bytes


def spare_for(rows: Int32) -> Int32:
    """The spare memory for rows of which no codes are known to have bounds."""
    spare = np.empty_like(rows)
    for line, bound in zip(spare, NO_BOUNDS, strict=False):
        line[:] = bound
    return spare


@inner_kernel
def _count_values(rows: Int32, lo: int, hi: int, search: Search, counts: Int64) -> None:
    """Write the counts of the sensitive values of rows lo..hi-1 into `counts`."""
    counts[:] = 0
    cells = rows[:, search.n_attributes : search.n_attributes + search.n_sensitive]
    for row in range(lo, hi):
        count_cells(counts, cells[row], 1)


FEW_CODES = 24
"""Codes among which the middle one is found by sorting them."""
MOST_RANGES = 1 << 16
"""Counters that are set to 0 for a node: these stay in fast memory."""


@inner_kernel
def median_code(rows: Int32, lo: int, hi: int, a: int, low: int, high: int) -> tuple[int, int, int]:
    """Code of the middle row in the order of attribute a, whose codes lie in low..high; rows below it, rows up to it.

    The middle row is number n // 2, counted from 0: of an even number of rows the first of the upper half.
    """
    n = hi - lo
    middle, below, first, last = n // 2, 0, low, high
    codes = np.empty(n, np.int64)
    for i in range(n):
        codes[i] = rows[lo + i, a]
    # Codes are counted by ranges, and those of the range with the middle one are looked at further: O(n) in all, where
    # sorting costs O(n log n), and with few counters for few rows, however far apart their codes lie.
    while n > FEW_CODES:
        shift = 0
        while (last - first) >> shift >= min(2 * n, MOST_RANGES):
            shift += 1
        counts = np.zeros(((last - first) >> shift) + 1, np.int64)
        for i in range(n):
            counts[(codes[i] - first) >> shift] += 1
        chosen = 0
        while below + counts[chosen] <= middle:
            below += counts[chosen]
            chosen += 1
        if shift == 0:
            return first + chosen, below, below + counts[chosen]
        kept = 0
        for i in range(n):
            code = codes[i]
            codes[kept] = code
            kept += (code - first) >> shift == chosen
        n, first = kept, first + (chosen << shift)
        last = min(last, first + (1 << shift) - 1)
    rest = codes[:n]
    sort_in_place(rest)
    value, up_to = rest[middle - below], below
    for i in range(n):
        below += rest[i] < value
        up_to += rest[i] <= value
    return value, below, up_to


@inner_kernel
def _count_left(rows: Int32, lo: int, hi: int, split: Split, search: Search, is_left: Bools, counts: Int64) -> None:
    """Add the sensitive values of those of the rows lo..hi-1 that a binary split sends left to `counts`.

    Counting nothing for a row of the other side is cheaper than a branch that the processor cannot foresee.
    """
    cells = rows[:, search.n_attributes : search.n_attributes + search.n_sensitive]
    if split.kind == THRESHOLD:
        for row in range(lo, hi):
            count_cells(counts, cells[row], int(rows[row, split.attribute] <= split.value))
        return
    mark_left(rows, lo, hi, split, search.content, is_left)
    for row in range(lo, hi):
        count_cells(counts, cells[row], int(is_left[row - lo]))


@inner_kernel
def _sides_allowed(
    rows: Int32,
    node: Node,
    split: Split,
    search: Search,
    people: KernelPeople | None,
    checks: KernelChecks,
    work: Workspace,
) -> bool:
    """Whether both sides of a binary split satisfy the checks; the left side has `split.left` rows.

    Where people are counted, they may be on both sides.
    """
    lo, hi, is_left, number = node.lo, node.hi, work.is_left, rows.shape[1] - 1
    n_left, n_right = split.left, hi - lo - split.left
    if n_left < checks.minimum_rows or n_right < checks.minimum_rows:
        return False
    left, right = work.counts[1], work.counts[2]
    left[:] = 0
    right[:] = 0
    if search.n_sensitive > 0 or people is not None:
        cells = rows[:, search.n_attributes : search.n_attributes + search.n_sensitive]
        if people is None:
            _count_left(rows, lo, hi, split, search, is_left, left)
            # The right side has what the node has and the left side has not, so its rows need no count of their own.
            for cell in range(len(left)):
                right[cell] = node.counts[cell] - left[cell]
        else:
            mark_left(rows, lo, hi, split, search.content, is_left)
            n_left, n_right = 0, 0
            for row in range(lo, hi):
                if is_left[row - lo]:
                    n_left += add_row(people, work.left, rows[row, number], cells[row], left)
                else:
                    n_right += add_row(people, work.right, rows[row, number], cells[row], right)
            for row in range(lo, hi):
                forget_row(people, work.left, rows[row, number])
                forget_row(people, work.right, rows[row, number])
    return all_hold(checks, left, n_left) and all_hold(checks, right, n_right)


@inner_kernel
def _into_children(attributes: Attributes, a: int, low: int, high: int) -> Split:
    """The split into the children of the lowest node that holds the codes low..high."""
    leaf = attributes.leaf[attributes.code_start[a] + low]
    return make_split(NODE_CHILDREN, a, common_node(attributes, a, leaf, low, high), 0)


@inner_kernel
def _median_split(
    rows: Int32, node: Node, attributes: Attributes, search: Search, checks: KernelChecks, work: Workspace
) -> Split:
    """The median split of the widest attribute that has an allowable one.

    A clean threshold lies below or above the rows that share the median value, whichever is more balanced. Where it is
    not allowable, rows that share the median are divided between the sides, unless the search is strict.
    """
    lo, hi, low, high, widths = node.lo, node.hi, node.low, node.high, work.widths
    n = hi - lo
    for a in range(len(low)):
        widths[a] = width(attributes, a, low[a], high[a])
    for _ in range(len(low)):
        a = widest(widths)
        if widths[a] <= 0.0:
            break
        widths[a] = -1.0
        if attributes.form[a] == HIERARCHY:
            split = _into_children(attributes, a, low[a], high[a])
            if children_allowed(rows, lo, hi, split, attributes, search, search.people, checks, work):
                return split
            continue
        value, below, up_to = median_code(rows, lo, hi, a, low[a], high[a])
        split = make_split(THRESHOLD, a, value, up_to)
        if min(below, n - below) > min(up_to, n - up_to):
            split = make_split(THRESHOLD, a, value - 1, below)
        if _sides_allowed(rows, node, split, search, search.people, checks, work):
            return split
        if not search.strict and below < n // 2:
            split = make_split(SHARED_MEDIAN, a, value, n // 2)
            if _sides_allowed(rows, node, split, search, search.people, checks, work):
                return split
    return make_split(NO_SPLIT, 0, 0, 0)


@inner_kernel
def _most_balanced_split(
    rows: Int32, node: Node, attributes: Attributes, search: Search, checks: KernelChecks, work: Workspace
) -> Split:
    """The most balanced threshold that the checks allow, of the first attribute that has an allowable one."""
    n, low, high = node.hi - node.lo, node.low, node.high
    for a in range(len(low)):
        if low[a] == high[a] or attributes.form[a] == HIERARCHY:
            continue
        sort_rows(rows, node, a, work)
        # How unequal the sides are: the rows of the one less the rows of the other.
        for i in range(n + 1):
            work.cost[i] = abs(2 * i - n)
        _, value = best_threshold(rows, node, a, np.inf, search, search.people, checks, work)
        if value >= 0:
            return make_split(THRESHOLD, a, value, 0)
    return make_split(NO_SPLIT, 0, 0, 0)


@inner_kernel
def _cheapest_split(
    rows: Int32,
    node: Node,
    criterion: int | None,
    attributes: Attributes,
    search: Search,
    checks: KernelChecks,
    work: Workspace,
) -> Split:
    """The allowable split of lowest cost over all thresholds and attributes (ties: the first).

    NO_SPLIT where there is none, where it gains too little information, and where the median decides alone.
    """
    # For MEDIAN, which is None, numba compiles this line alone, and none of the functions called below.
    if criterion is None:
        return make_split(NO_SPLIT, 0, 0, 0)
    n, low, high = node.hi - node.lo, node.low, node.high
    counts_people = search.people is not None
    best, split = np.inf, make_split(NO_SPLIT, 0, 0, 0)
    for a in range(len(low)):
        if low[a] == high[a]:
            continue
        few = criterion == LOSS and has_few_codes(n, high[a] - low[a] + 1, len(node.counts), attributes)
        if attributes.form[a] != HIERARCHY and few and not counts_people:
            at_codes = gather(rows, node, a, attributes, len(node.counts), search.n_sensitive)
            cost, code = best_code(at_codes, loss_costs(at_codes, attributes), best, TIE * n, checks)
            if code >= 0:
                best, split = cost, make_split(THRESHOLD, a, low[a] + code, 0)
        elif attributes.form[a] != HIERARCHY:
            sort_rows(rows, node, a, work)
            threshold_costs(rows, n, criterion, search, attributes, work)
            cost, value = best_threshold(rows, node, a, best, search, search.people, checks, work)
            if value >= 0:
                best, split = cost, make_split(THRESHOLD, a, value, 0)
        else:
            candidate = _into_children(attributes, a, low[a], high[a])
            if not children_allowed(rows, node.lo, node.hi, candidate, attributes, search, search.people, checks, work):
                continue
            sort_rows(rows, node, a, work)
            cost = children_cost(rows, n, criterion, candidate, search, attributes, work)
            if cost < best - TIE * n:
                best, split = cost, candidate
    # Too small a gain is none: then the median decides.
    if criterion == INFOGAIN and split.kind != NO_SPLIT:
        gain = _class_entropy(rows, node.lo, node.hi, search) - best
        split = split if gain >= search.min_gain * n else make_split(NO_SPLIT, 0, 0, 0)
    return split


@inner_kernel
def choose_split(
    rows: Int32,
    lo: int,
    hi: int,
    attributes: Attributes,
    search: Search,
    checks: KernelChecks,
    work: Workspace,
) -> Split:
    """The split of the node of rows lo..hi-1 by the search's criterion, or NO_SPLIT if no split is allowable.

    Where the criterion finds no split, or too small a gain, the median decides; and where the sensitive values or the
    people of the sides allow no median split, the most balanced threshold that they do allow.
    """
    if hi - lo < 2 * checks.minimum_rows or hi - lo < 2:
        return make_split(NO_SPLIT, 0, 0, 0)
    node = Node(lo, hi, work.extent[0], work.extent[1], work.counts[0])
    extent_within(rows, lo, hi, work.bounds, node.low, node.high)
    _count_values(rows, lo, hi, search, node.counts)
    split = _cheapest_split(rows, node, search.criterion, attributes, search, checks, work)
    if split.kind == NO_SPLIT:
        split = _median_split(rows, node, attributes, search, checks, work)
    if split.kind == NO_SPLIT and (search.n_sensitive > 0 or search.people is not None):
        split = _most_balanced_split(rows, node, attributes, search, checks, work)
    return split


@inner_kernel
def _class_entropy(rows: Int32, lo: int, hi: int, search: Search) -> float:
    """Entropy of the class label in bits times the number of rows."""
    column = search.n_attributes + search.n_sensitive
    counts = np.zeros(search.n_classes, np.int64)
    for row in range(lo, hi):
        counts[rows[row, column]] += 1
    entropy = search.xlogx[hi - lo]
    for label in range(search.n_classes):
        entropy -= search.xlogx[counts[label]]
    return entropy


@inner_kernel
def narrow_regions(regions: Int32, rows: Int32, lo: int, ends: Int64, split: Split, attributes: Attributes) -> None:
    """Hand the region of the node that begins at row lo down to its sides, narrowed to what each side covers."""
    a, n_sides = split.attribute, len(ends)
    start = lo
    # All sides get the node's region before the first one is narrowed: the first side begins where the node does, so
    # narrowing it overwrites the region of the node.
    for side in range(n_sides):
        if side > 0:
            for column in range(regions.shape[1]):
                regions[start, column, 0] = regions[lo, column, 0]
                regions[start, column, 1] = regions[lo, column, 1]
        start = ends[side]
    start = lo
    for side in range(n_sides):
        if split.kind == NODE_CHILDREN:
            # Children without rows have no side, so which child a side is shows only in a code of its rows.
            base = attributes.node_start[a]
            child = attributes.leaf[attributes.code_start[a] + rows[start, a]]
            while attributes.parent[base + child] != split.value:
                child = attributes.parent[base + child]
            regions[start, a, 0] = attributes.first[base + child]
            regions[start, a, 1] = attributes.last[base + child]
        elif side == 0:
            regions[start, a, 1] = split.value
        else:
            # Rows with the shared median value lie on both sides, so both regions include it.
            regions[start, a, 0] = split.value + (1 if split.kind == THRESHOLD else 0)
        start = ends[side]


@inner_kernel
def _bound_sides(spare: Int32, lo: int, ends: Int64, split: Split, extent: Int32) -> None:
    """Say of each side of the node that begins at row lo, and had this extent, outside which codes it has none."""
    start = lo
    for side in range(len(ends)):
        # A side of one row is a leaf, which nobody asks.
        if ends[side] - start > 1:
            for a in range(extent.shape[1]):
                spare[start, a], spare[start + 1, a] = extent[0, a], extent[1, a]
            if split.kind == THRESHOLD and side == 0:
                spare[start + 1, split.attribute] = split.value
            elif split.kind == THRESHOLD:
                spare[start, split.attribute] = split.value + 1
        start = ends[side]


@inner_kernel
def _split_once(
    table: Partitioning,
    lo: int,
    hi: int,
    attributes: Attributes,
    search: Search,
    checks: KernelChecks,
    work: Workspace,
    ends: Int64,
) -> int:
    """Split the node of rows lo..hi-1 and write the ends of its sides into `ends`; returns how many, 1 for a leaf."""
    spare, bounds = table.spare, work.bounds
    if hi - lo > 1:
        for a in range(search.n_attributes):
            bounds[0, a], bounds[1, a] = spare[lo, a], spare[lo + 1, a]
    split = choose_split(table.rows, lo, hi, attributes, search, checks, work)
    if split.kind == NO_SPLIT:
        return 1
    n_sides = split_rows(table.rows, spare, lo, hi, split, search.content, attributes, work.is_left, ends)
    _bound_sides(spare, lo, ends[:n_sides], split, work.extent)
    if len(table.regions) > 0:
        narrow_regions(table.regions, table.rows, lo, ends[:n_sides], split, attributes)
    return n_sides


@kernel
def grow(
    table: Partitioning,
    lo: int,
    hi: int,
    small: int,
    attributes: Attributes,
    search: Search,
    checks: KernelChecks,
) -> Int64:
    """Partition rows lo..hi-1 to the leaves if they are at most `small`, else cut them once.

    Returns the ends of the sides that remain to be grown, none if all is done. `table.starts` becomes 1 at the first
    row of each leaf. Of rows that no call has cut before, the first two lines of `table.spare` hold `NO_BOUNDS`.
    """
    n_codes, n_counts = len(attributes.position), checks.count_start[-1]
    work = new_workspace(hi - lo, n_codes, search.n_attributes, n_counts, search.people)
    ends = np.empty(hi - lo, np.int64)
    once = hi - lo > small
    # Nodes wait on a stack: depth first keeps it short, and the rows of the node that is cut next are still in cache.
    # No two of them share a row, so that there are never more of them than rows.
    waiting, n_waiting = np.empty((max(hi - lo, 1), 2), np.int64), 1
    waiting[0, 0], waiting[0, 1] = lo, hi
    while n_waiting > 0:
        n_waiting -= 1
        begin, end = waiting[n_waiting, 0], waiting[n_waiting, 1]
        n_sides = _split_once(table, begin, end, attributes, search, checks, work, ends)
        if n_sides == 1:
            table.starts[begin] = 1
            continue
        if once:
            return ends[:n_sides]
        for side in range(n_sides):
            waiting[n_waiting, 0], waiting[n_waiting, 1] = begin, ends[side]
            n_waiting += 1
            begin = ends[side]
    return np.empty(0, np.int64)

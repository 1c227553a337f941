"""The cost of every threshold of an attribute, from one sweep over a node's rows in the attribute's order.

A threshold can only lie between two rows that differ in the attribute. The sweep visits the n - 1 boundaries between
neighbouring rows in order and updates what it knows of the two sides by one row each time, so all thresholds of an
attribute cost O(n) instead of O(n) each. Beside the arrays of `splitting` the functions share:

- `work.order` int64 (n_rows,): the row numbers lo..hi-1 of the node, sorted by the attribute, in the first n entries.
- `work.cost` float (n_rows + 1,): entry i is the cost of the threshold that puts the first i rows of the order on the
  left. Lower is better; in units per node, not per row.
- counts int64 (n_counts,): rows with each sensitive value, laid out as in `KernelChecks`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Floats, Int32, Int64
from anoncore.kernels.attributes import CATEGORY, HIERARCHY, Attributes, common_node
from anoncore.kernels.checking import (
    KernelChecks,
    KernelPeople,
    Tally,
    add_row,
    all_hold,
    count_cells,
    forget_row,
    new_tally,
    side_holds,
    take_row,
)
from anoncore.kernels.compiler import inner_kernel
from anoncore.kernels.grouping import group_starts, rows_by_group
from anoncore.kernels.sorting import sort_in_place
from anoncore.kernels.splitting import NO_BOUNDS, Node, Split, rows_of_children

MEDIAN = None
INFOGAIN, REGRESSION, LOSS = 1, 2, 3

TIE = 1e-10
"""Costs per row that differ by less are equal, so that rounding never decides between two cuts: the first wins."""


class Search(NamedTuple):
    """What a search optimizes.

    `criterion` is MEDIAN, INFOGAIN, REGRESSION or LOSS; of kernels that search by MEDIAN, which is None, numba leaves
    out what the others need. `strict`: rows with the median value stay together. `min_gain`:
    the least gain of information (bits per row) for which a split is made by INFOGAIN. The columns of `rows` are
    `n_attributes` quasi-identifiers, then `n_sensitive` sensitive attributes, then the target where there is one.
    `n_classes` counts the target's codes (INFOGAIN), `target` float (n_codes,) has a number for each (REGRESSION).
    `xlogx[c]` is c log2 c for the counts that occur. `content` int64 (n_words, n_rows) orders rows by their content.
    `people` says whose rows they are, by their number in the last column of `rows`; None where every row is another
    person, which leaves out what counts people.
    """

    criterion: int | None
    strict: bool
    min_gain: float
    n_attributes: int
    n_sensitive: int
    n_classes: int
    target: Floats
    xlogx: Floats
    content: Int64
    people: KernelPeople | None


class Workspace(NamedTuple):
    """Memory that one task uses for all its nodes: `order` and `cost` as above, and which codes were met.

    `stamp` int64 (n_codes,), with the codes of all attributes one after the other, holds the time at which a code was
    last met; `clock` int64 (1,) is the time now. A new sweep sets the clock forward: then no code counts as met, and
    no stamp has to be cleared. `left` and `right` tally the people of both sides of a cut.

    Of the node at hand, `bounds` int32 (2, n_attributes) says outside which codes it has none, `extent` int32
    (2, n_attributes) holds `low` and `high`, `widths` float (n_attributes,) how
    wide these are apart, `is_left` bool (n_rows,) which of its rows go left, and `counts` int64 (3, n_counts) its own
    counts and those of both sides.
    """

    order: Int64
    cost: Floats
    stamp: Int64
    clock: Int64
    left: Tally
    right: Tally
    bounds: Int32
    extent: Int32
    widths: Floats
    is_left: Bools
    counts: Int64


@inner_kernel
def new_workspace(
    n_rows: int, n_codes: int, n_attributes: int, n_counts: int, people: KernelPeople | None
) -> Workspace:
    """Buffers for nodes of up to n_rows rows over n_codes codes in all, of which no bounds are known."""
    bounds = np.empty((2, n_attributes), np.int32)
    for a in range(n_attributes):
        bounds[0, a], bounds[1, a] = NO_BOUNDS
    return Workspace(
        np.empty(n_rows, np.int64),
        np.empty(n_rows + 1),
        np.zeros(n_codes, np.int64),
        np.zeros(1, np.int64),
        new_tally(people),
        new_tally(people),
        bounds,
        np.empty((2, n_attributes), np.int32),
        np.empty(n_attributes),
        np.empty(n_rows, np.bool_),
        np.empty((3, n_counts), np.int64),
    )


@inner_kernel
def sort_rows(rows: Int32, node: Node, a: int, work: Workspace) -> None:
    """Write the node's row numbers, sorted by their code of attribute a, into `work.order`; equal ones keep order."""
    n, low = node.hi - node.lo, node.low[a]
    n_codes = node.high[a] - low + 1
    # Sorting codes costs O(n log n); counting them costs O(n + n_codes), because the codes are small integers. Counting
    # loses only where a node's codes spread over a range that is wide beside its number of rows.
    if n_codes > 2 * n + 64:
        # The position in the low half of each key keeps equal codes in order, though the sort itself is not stable.
        keys = np.empty(n, np.int64)
        for i in range(n):
            keys[i] = (np.int64(rows[node.lo + i, a]) << 32) | i
        sort_in_place(keys)
        for i in range(n):
            work.order[i] = node.lo + (keys[i] & 0xFFFFFFFF)
        return
    begin = np.zeros(n_codes + 1, np.int64)
    for row in range(node.lo, node.hi):
        begin[rows[row, a] - low + 1] += 1
    for code in range(n_codes):
        begin[code + 1] += begin[code]
    for row in range(node.lo, node.hi):
        code = rows[row, a] - low
        work.order[begin[code]] = row
        begin[code] += 1


@inner_kernel
def threshold_costs(
    rows: Int32, n: int, criterion: int, search: Search, attributes: Attributes, work: Workspace
) -> None:
    """Write the cost of cutting after the first i rows of the order into `work.cost[i]`, i = 1..n-1."""
    if criterion == INFOGAIN:
        _entropy_costs(rows, n, search, work)
    elif criterion == REGRESSION:
        _squared_error_costs(rows, n, search, work)
    else:
        work.cost[: n + 1] = 0.0
        _add_losses(rows, n, attributes, work, True)
        _add_losses(rows, n, attributes, work, False)


@inner_kernel
def _entropy_costs(rows: Int32, n: int, search: Search, work: Workspace) -> None:
    """Write the entropy of the class on both sides, in bits times rows, for every boundary."""
    # A side of c rows with c_v of class v has c H = c log2 c - sum of c_v log2 c_v. Moving one row changes one summand
    # of each side, so a boundary costs O(1) whatever the number of classes.
    column = search.n_attributes + search.n_sensitive
    left = np.zeros(search.n_classes, np.int64)
    right = np.zeros(search.n_classes, np.int64)
    for i in range(n):
        right[rows[work.order[i], column]] += 1
    left_sum, right_sum = 0.0, 0.0
    for label in range(search.n_classes):
        right_sum += search.xlogx[right[label]]
    for i in range(n):
        label = rows[work.order[i], column]
        left_sum += search.xlogx[left[label] + 1] - search.xlogx[left[label]]
        right_sum += search.xlogx[right[label] - 1] - search.xlogx[right[label]]
        left[label] += 1
        right[label] -= 1
        work.cost[i + 1] = search.xlogx[i + 1] - left_sum + search.xlogx[n - i - 1] - right_sum


@inner_kernel
def _squared_error_costs(rows: Int32, n: int, search: Search, work: Workspace) -> None:
    """Write the squared error of the target around the mean of its side, summed over both, for every boundary."""
    # Sum of squares less (sum of values)^2 / rows, for each side. Values are taken relative to the node's mean first:
    # else two large numbers would be subtracted that agree in most of their digits.
    column = search.n_attributes + search.n_sensitive
    mean = 0.0
    for i in range(n):
        mean += search.target[rows[work.order[i], column]] / n
    squares, total = 0.0, 0.0
    for i in range(n):
        value = search.target[rows[work.order[i], column]] - mean
        squares += value * value
        total += value
    left = 0.0
    for i in range(n - 1):
        left += search.target[rows[work.order[i], column]] - mean
        right = total - left
        work.cost[i + 1] = squares - left * left / (i + 1) - right * right / (n - i - 1)


@inner_kernel
def _add_losses(rows: Int32, n: int, attributes: Attributes, work: Workspace, forward: bool) -> None:
    """Add rows * summed width of one side at every boundary, growing that side row by row.

    A side's extent can be updated when it gains a row, but not when it loses one. So the left sides grow from the first
    row on, and the right sides, in a pass of their own (not `forward`), from the last row back.
    """
    for a in range(len(attributes.form)):
        span = attributes.span[a]
        if span == 0.0:
            continue
        begin = attributes.code_start[a]
        form = attributes.form[a]
        base = attributes.node_start[a]
        start = rows[work.order[0 if forward else n - 1], a]
        work.clock[0] += 1
        clock = work.clock[0]
        low, high, distinct, node = start, start, 0, attributes.leaf[begin + start]
        loss = 0.0
        for i in range(n):
            code = rows[work.order[i if forward else n - 1 - i], a]
            if form == CATEGORY:
                if work.stamp[begin + code] != clock:
                    work.stamp[begin + code] = clock
                    distinct += 1
                    loss = (distinct - 1) / span
            elif code < low or code > high:
                low, high = min(low, code), max(high, code)
                if form == HIERARCHY:
                    node = common_node(attributes, a, node, low, high)
                    loss = (attributes.last[base + node] - attributes.first[base + node]) / span
                else:
                    loss = (attributes.position[begin + high] - attributes.position[begin + low]) / span
            work.cost[i + 1 if forward else n - 1 - i] += (i + 1) * loss


@inner_kernel
def best_threshold(
    rows: Int32,
    node: Node,
    a: int,
    bound: float,
    search: Search,
    people: KernelPeople | None,
    checks: KernelChecks,
    work: Workspace,
) -> tuple[float, int]:
    """Cost of the cheapest allowable cut below cost `bound`, and the last code on its left; -1 if there is none.

    Where one person may have several rows, both sides count people, who may be on both.
    """
    n, number, least, tie = node.hi - node.lo, rows.shape[1] - 1, checks.minimum_rows, TIE * (node.hi - node.lo)
    cells = rows[:, search.n_attributes : search.n_attributes + search.n_sensitive]
    left, right, n_left, n_right = work.counts[1], work.counts[2], 0, n
    for cell in range(len(left)):
        left[cell], right[cell] = 0, node.counts[cell]
    if people is not None:
        right[:] = 0
        n_right = 0
        for row in range(node.lo, node.hi):
            n_right += add_row(people, work.right, rows[row, number], cells[row], right)
    best, value = bound, -1
    for i in range(1, n):
        row = work.order[i - 1]
        n_left += add_row(people, work.left, rows[row, number], cells[row], left)
        n_right -= take_row(people, work.right, rows[row, number], cells[row], right)
        # The checks come last: they are the dearest, and few boundaries are cheaper than the best one so far.
        if n_left < least or n_right < least or work.cost[i] >= best - tie:
            continue
        code = rows[row, a]
        if code == rows[work.order[i], a]:
            continue
        if all_hold(checks, left, n_left) and all_hold(checks, right, n_right):
            best, value = work.cost[i], code
    for row in range(node.lo, node.hi):
        forget_row(people, work.left, rows[row, number])
        forget_row(people, work.right, rows[row, number])
    return best, value


@inner_kernel
def children_allowed(
    rows: Int32,
    lo: int,
    hi: int,
    split: Split,
    attributes: Attributes,
    search: Search,
    people: KernelPeople | None,
    checks: KernelChecks,
    work: Workspace,
) -> bool:
    """Whether every non-empty child of the split's hierarchy node satisfies the checks."""
    sizes, own = rows_of_children(rows, lo, hi, split, attributes)
    # Sizes first: a child that is too small refuses the split before its sensitive values are counted.
    n_sides = 0
    for size in sizes:
        n_sides += size > 0
        if 0 < size < checks.minimum_rows:
            return False
    n_sides = max(n_sides, 2)
    counts = np.zeros((len(sizes), checks.count_start[-1]), np.int64)
    cells = rows[:, search.n_attributes : search.n_attributes + search.n_sensitive]
    if people is None:
        for row in range(lo, hi):
            count_cells(counts[own[row - lo]], cells[row], 1)
    else:
        # People are tallied for one child at a time.
        starts, number = group_starts(own, len(sizes)), rows.shape[1] - 1
        order = rows_by_group(own, starts)
        for child in range(len(sizes)):
            sizes[child] = 0
            for row in order[starts[child] : starts[child + 1]]:
                sizes[child] += add_row(people, work.left, rows[lo + row, number], cells[lo + row], counts[child])
            for row in order[starts[child] : starts[child + 1]]:
                forget_row(people, work.left, rows[lo + row, number])
    for child in range(len(sizes)):
        if sizes[child] > 0 and not side_holds(checks, counts[child], sizes[child], n_sides):
            return False
    return True


@inner_kernel
def children_cost(
    rows: Int32, n: int, criterion: int, split: Split, search: Search, attributes: Attributes, work: Workspace
) -> float:
    """Cost of cutting n rows, which stand in `work.order`, into the children of the split's hierarchy node."""
    a = split.attribute
    base = attributes.node_start[a]
    begin = attributes.child_start[base + a + split.value]
    end = attributes.child_start[base + a + split.value + 1]
    total = 0.0
    row = 0
    # A node's codes are a run, and children follow each other in order of code: so each has a run of the sorted rows.
    for child in range(begin, end):
        last = attributes.last[base + attributes.children[child]]
        first = row
        while row < n and rows[work.order[row], a] <= last:
            row += 1
        if row > first:
            side = Workspace(
                work.order[first:row],
                work.cost[: row - first + 1],
                work.stamp,
                work.clock,
                work.left,
                work.right,
                work.bounds,
                work.extent,
                work.widths,
                work.is_left,
                work.counts,
            )
            total += _side_cost(rows, row - first, criterion, search, attributes, side)
    return total


@inner_kernel
def _side_cost(rows: Int32, n: int, criterion: int, search: Search, attributes: Attributes, side: Workspace) -> float:
    """Cost of one side alone, n rows: that of a threshold which puts everything on the left."""
    if criterion == REGRESSION:
        column = search.n_attributes + search.n_sensitive
        mean = 0.0
        for i in range(n):
            mean += search.target[rows[side.order[i], column]] / n
        cost = 0.0
        for i in range(n):
            cost += (search.target[rows[side.order[i], column]] - mean) ** 2
        return cost
    if criterion == INFOGAIN:
        _entropy_costs(rows, n, search, side)
    else:
        side.cost[: n + 1] = 0.0
        _add_losses(rows, n, attributes, side, True)
    return side.cost[n]

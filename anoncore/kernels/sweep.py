"""Scoring every threshold of an attribute in one sweep over the node's rows in the attribute's order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.attributes import CATEGORY, HIERARCHY, Attributes, common_node
from anoncore.kernels.checking import KernelChecks, all_hold, side_holds
from anoncore.kernels.compiler import inner_kernel
from anoncore.kernels.splitting import Split, child_sizes

MEDIAN, INFOGAIN, REGRESSION, LOSS = 0, 1, 2, 3

TIE = 1e-10
"""Costs per row that differ by less are equal, so that rounding never decides between two cuts: the first wins."""


class Search(NamedTuple):
    """What a search optimizes. `target` holds a number per code of the target column (regression); `n_classes` counts
    its codes (information gain); `xlogx[c]` is c log2 c. `content` (n_words, n_rows) orders rows by their content.
    """

    criterion: int
    strict: bool
    min_gain: float
    n_attributes: int
    n_sensitive: int
    n_classes: int
    target: Floats
    xlogx: Floats
    content: Int64


class Workspace(NamedTuple):
    """Buffers of one task: a node's rows in an attribute's order, a cost per boundary, stamps per code."""

    order: Int64
    cost: Floats
    stamp: Int64
    clock: Int64


@inner_kernel
def new_workspace(n_rows: int, n_codes: int) -> Workspace:
    """Buffers for nodes of up to n_rows rows over n_codes codes in all."""
    return Workspace(
        np.empty(n_rows, np.int64),
        np.empty(n_rows + 1, np.float64),
        np.zeros(n_codes, np.int64),
        np.zeros(1, np.int64),
    )


@inner_kernel
def sort_rows(rows: Int32, lo: int, hi: int, a: int, low: int, high: int, work: Workspace) -> None:
    """Row numbers lo..hi-1 by their code in column a, into `work.order[:hi - lo]`, stable."""
    n = hi - lo
    n_codes = high - low + 1
    if n_codes > 2 * n + 64:
        codes = np.empty(n, np.int64)
        for i in range(n):
            codes[i] = (np.int64(rows[lo + i, a]) << 32) | i
        codes.sort()
        for i in range(n):
            work.order[i] = lo + (codes[i] & 0xFFFFFFFF)
        return
    place = np.zeros(n_codes + 1, np.int64)
    for row in range(lo, hi):
        place[rows[row, a] - low + 1] += 1
    for code in range(n_codes):
        place[code + 1] += place[code]
    for row in range(lo, hi):
        code = rows[row, a] - low
        work.order[place[code]] = row
        place[code] += 1


@inner_kernel
def threshold_costs(
    rows: Int32, lo: int, n: int, criterion: int, search: Search, attributes: Attributes, work: Workspace
) -> None:
    """Cost of cutting after the first i rows of the order, into `work.cost[i]`, i = 1..n-1 (lower is better)."""
    if criterion == INFOGAIN:
        _entropy_costs(rows, n, search, work)
    elif criterion == REGRESSION:
        _squared_error_costs(rows, n, search, work)
    elif criterion == LOSS:
        work.cost[: n + 1] = 0.0
        _add_losses(rows, n, attributes, work, True)
        _add_losses(rows, n, attributes, work, False)
    else:
        for i in range(n + 1):
            work.cost[i] = abs(2 * i - n)


@inner_kernel
def _entropy_costs(rows: Int32, n: int, search: Search, work: Workspace) -> None:
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
    """Add rows * summed width of one side at every boundary, growing that side row by row."""
    for a in range(attributes.form.shape[0]):
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
    lo: int,
    hi: int,
    a: int,
    counts: Int64,
    bound: float,
    search: Search,
    checks: KernelChecks,
    work: Workspace,
) -> tuple[float, int]:
    """Cheapest allowable cut below cost `bound` in `work.cost`: its cost and its code (left: up to it), -1 if none."""
    n = hi - lo
    left = np.zeros(counts.shape[0], np.int64)
    right = counts.copy()
    best, value = bound, -1
    tie = TIE * n
    least = checks.minimum_rows
    for i in range(1, n):
        row = work.order[i - 1]
        for s in range(search.n_sensitive):
            place = checks.count_start[s] + rows[row, search.n_attributes + s]
            left[place] += 1
            right[place] -= 1
        if i < least or n - i < least or work.cost[i] >= best - tie:
            continue
        code = rows[row, a]
        if code == rows[work.order[i], a]:
            continue
        if all_hold(checks, left, i) and all_hold(checks, right, n - i):
            best, value = work.cost[i], code
    return best, value


@inner_kernel
def children_allowed(
    rows: Int32, lo: int, hi: int, split: Split, attributes: Attributes, search: Search, checks: KernelChecks
) -> bool:
    """Whether every non-empty child of the split's hierarchy node satisfies the checks."""
    node = attributes.node_start[split.attribute] + split.value
    offset = attributes.first[node]
    side = np.empty(attributes.last[node] - offset + 1, np.int32)
    sizes = child_sizes(rows, lo, hi, split, attributes, side)
    for child in range(sizes.shape[0]):
        if 0 < sizes[child] < checks.minimum_rows:
            return False
    counts = np.zeros((sizes.shape[0], checks.count_start[-1]), np.int64)
    for row in range(lo, hi):
        child = side[rows[row, split.attribute] - offset]
        for s in range(search.n_sensitive):
            counts[child, checks.count_start[s] + rows[row, search.n_attributes + s]] += 1
    n_sides = max(int((sizes > 0).sum()), 2)
    for child in range(sizes.shape[0]):
        if sizes[child] > 0 and not side_holds(checks, counts[child], sizes[child], n_sides):
            return False
    return True


@inner_kernel
def children_cost(
    n: int, a: int, rows: Int32, criterion: int, split: Split, attributes: Attributes, search: Search, work: Workspace
) -> float:
    """Cost of cutting into the children of a hierarchy node, from the rows in order of the attribute."""
    base = attributes.node_start[a]
    begin = attributes.child_start[base + a + split.value]
    end = attributes.child_start[base + a + split.value + 1]
    total = 0.0
    at = 0
    for place in range(begin, end):
        last = attributes.last[base + attributes.children[place]]
        start = at
        while at < n and rows[work.order[at], a] <= last:
            at += 1
        if at > start:
            part = Workspace(work.order[start:at], work.cost[: at - start + 1], work.stamp, work.clock)
            total += _side_cost(rows, at - start, criterion, search, attributes, part)
    return total


@inner_kernel
def _side_cost(rows: Int32, n: int, criterion: int, search: Search, attributes: Attributes, part: Workspace) -> float:
    """Cost of one side alone: that of a cut with everything on the left."""
    if criterion == REGRESSION:
        column = search.n_attributes + search.n_sensitive
        mean = 0.0
        for i in range(n):
            mean += search.target[rows[part.order[i], column]] / n
        cost = 0.0
        for i in range(n):
            cost += (search.target[rows[part.order[i], column]] - mean) ** 2
        return cost
    if criterion == INFOGAIN:
        _entropy_costs(rows, n, search, part)
    else:
        part.cost[: n + 1] = 0.0
        _add_losses(rows, n, attributes, part, True)
    return part.cost[n]

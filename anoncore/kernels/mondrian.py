"""Mondrian: recursive greedy partitioning of coded rows, moved physically so that a node is a run of rows."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Bytes, Int32, Int64
from anoncore.kernels.attributes import HIERARCHY, Attributes, common_node, width
from anoncore.kernels.checking import KernelChecks, all_hold
from anoncore.kernels.code_sweep import best_code, gather, has_few_codes, loss_costs
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.splitting import (
    NO_SPLIT,
    NODE_CHILDREN,
    SHARED_MEDIAN,
    THRESHOLD,
    Split,
    extent,
    goes_left,
    make_split,
    split_rows,
)
from anoncore.kernels.sweep import (
    INFOGAIN,
    LOSS,
    MEDIAN,
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


@inner_kernel
def _count(rows: Int32, lo: int, hi: int, search: Search, checks: KernelChecks) -> Int64:
    counts = np.zeros(checks.count_start[-1], np.int64)
    for row in range(lo, hi):
        for s in range(search.n_sensitive):
            counts[checks.count_start[s] + rows[row, search.n_attributes + s]] += 1
    return counts


@inner_kernel
def median_code(rows: Int32, lo: int, hi: int, a: int, low: int, high: int) -> tuple[int, int, int]:
    """Code of the middle row in the attribute's order, rows below it, rows up to it."""
    n = hi - lo
    middle = n // 2
    if high - low + 1 > 4 * n + 1024:
        codes = rows[lo:hi, a].copy()
        codes.sort()
        value = int(codes[middle])
        return value, int(np.searchsorted(codes, value, side="left")), int(np.searchsorted(codes, value, side="right"))
    counts = np.zeros(high - low + 1, np.int64)
    for row in range(lo, hi):
        counts[rows[row, a] - low] += 1
    below = 0
    code = 0
    while below + counts[code] <= middle:
        below += counts[code]
        code += 1
    return low + code, below, below + counts[code]


@inner_kernel
def _sides_allowed(
    rows: Int32, lo: int, hi: int, split: Split, counts: Int64, search: Search, checks: KernelChecks
) -> bool:
    """Whether both sides of a binary split satisfy the checks."""
    n_left = split.left
    if n_left < checks.minimum_rows or hi - lo - n_left < checks.minimum_rows:
        return False
    left = np.zeros(counts.shape[0], np.int64)
    if search.n_sensitive > 0:
        inside = goes_left(rows, lo, hi, split, search.content)
        for row in range(lo, hi):
            if inside[row - lo]:
                for s in range(search.n_sensitive):
                    left[checks.count_start[s] + rows[row, search.n_attributes + s]] += 1
    return all_hold(checks, left, n_left) and all_hold(checks, counts - left, hi - lo - n_left)


@inner_kernel
def _median_split(
    rows: Int32,
    lo: int,
    hi: int,
    low: Int32,
    high: Int32,
    counts: Int64,
    attributes: Attributes,
    search: Search,
    checks: KernelChecks,
) -> Split:
    """The median split of the widest attribute that has an allowable one."""
    n = hi - lo
    widths = np.empty(low.shape[0], np.float64)
    for a in range(low.shape[0]):
        widths[a] = width(attributes, a, low[a], high[a])
    for _ in range(low.shape[0]):
        a = int(np.argmax(widths))
        if widths[a] <= 0.0:
            break
        widths[a] = -1.0
        if attributes.form[a] == HIERARCHY:
            node = common_node(attributes, a, attributes.leaf[attributes.code_start[a] + low[a]], low[a], high[a])
            split = make_split(NODE_CHILDREN, a, node, 0)
            if children_allowed(rows, lo, hi, split, attributes, search, checks):
                return split
            continue
        value, below, up_to = median_code(rows, lo, hi, a, low[a], high[a])
        split = make_split(THRESHOLD, a, value, up_to)
        if min(below, n - below) > min(up_to, n - up_to):
            split = make_split(THRESHOLD, a, value - 1, below)
        if _sides_allowed(rows, lo, hi, split, counts, search, checks):
            return split
        if not search.strict and below < n // 2:
            split = make_split(SHARED_MEDIAN, a, value, n // 2)
            if _sides_allowed(rows, lo, hi, split, counts, search, checks):
                return split
    return make_split(NO_SPLIT, 0, 0, 0)


@inner_kernel
def _best_split(
    rows: Int32,
    lo: int,
    hi: int,
    low: Int32,
    high: Int32,
    counts: Int64,
    criterion: int,
    attributes: Attributes,
    search: Search,
    checks: KernelChecks,
    work: Workspace,
) -> tuple[float, Split]:
    """The allowable split of lowest cost over all thresholds and attributes (ties: the first), and its cost.

    With the median criterion costs of different attributes do not compare: the first attribute with a split wins.
    """
    best, split = np.inf, make_split(NO_SPLIT, 0, 0, 0)
    for a in range(low.shape[0]):
        if low[a] == high[a]:
            continue
        few = criterion == LOSS and has_few_codes(hi - lo, high[a] - low[a] + 1, counts.shape[0], attributes)
        if attributes.form[a] != HIERARCHY and few:
            at_codes = gather(rows, lo, hi, a, low, high, attributes, checks)
            cost, place = best_code(at_codes, loss_costs(at_codes, attributes), best, TIE * (hi - lo), checks)
            if place >= 0:
                best, split = cost, make_split(THRESHOLD, a, low[a] + place, 0)
        elif attributes.form[a] != HIERARCHY:
            sort_rows(rows, lo, hi, a, low[a], high[a], work)
            threshold_costs(rows, lo, hi - lo, criterion, search, attributes, work)
            cost, value = best_threshold(rows, lo, hi, a, counts, best, search, checks, work)
            if value >= 0:
                best, split = cost, make_split(THRESHOLD, a, value, 0)
        elif criterion != MEDIAN:
            node = common_node(attributes, a, attributes.leaf[attributes.code_start[a] + low[a]], low[a], high[a])
            candidate = make_split(NODE_CHILDREN, a, node, 0)
            if not children_allowed(rows, lo, hi, candidate, attributes, search, checks):
                continue
            sort_rows(rows, lo, hi, a, low[a], high[a], work)
            cost = children_cost(hi - lo, a, rows, criterion, candidate, attributes, search, work)
            if cost < best - TIE * (hi - lo):
                best, split = cost, candidate
        if criterion == MEDIAN and split.kind != NO_SPLIT:
            break
    return best, split


@inner_kernel
def choose_split(
    rows: Int32,
    lo: int,
    hi: int,
    low: Int32,
    high: Int32,
    attributes: Attributes,
    search: Search,
    checks: KernelChecks,
    work: Workspace,
) -> Split:
    """The split of a node by the search's criterion, or NO_SPLIT if no split is allowable."""
    none = make_split(NO_SPLIT, 0, 0, 0)
    if hi - lo < 2 * checks.minimum_rows or hi - lo < 2:
        return none
    counts = _count(rows, lo, hi, search, checks)
    if search.criterion != MEDIAN:
        cost, split = _best_split(rows, lo, hi, low, high, counts, search.criterion, attributes, search, checks, work)
        enough = split.kind != NO_SPLIT
        if search.criterion == INFOGAIN and enough:
            enough = _class_entropy(rows, lo, hi, search) - cost >= search.min_gain * (hi - lo)
        if enough:
            return split
    split = _median_split(rows, lo, hi, low, high, counts, attributes, search, checks)
    if split.kind == NO_SPLIT and search.n_sensitive > 0:
        balance = search.criterion * 0 + MEDIAN  # a variable: a constant would compile everything below twice
        _, split = _best_split(rows, lo, hi, low, high, counts, balance, attributes, search, checks, work)
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
def narrow_regions(
    regions: Int32, rows: Int32, lo: int, ends: Int64, n_sides: int, split: Split, attributes: Attributes
) -> None:
    """Hand a node's region (stored at its first row as [low, high] per attribute) down to its sides."""
    a = split.attribute
    start = lo
    for side in range(n_sides):
        if side > 0:
            for column in range(regions.shape[1]):
                regions[start, column, 0] = regions[lo, column, 0]
                regions[start, column, 1] = regions[lo, column, 1]
        start = ends[side]
    start = lo
    for side in range(n_sides):
        if split.kind == NODE_CHILDREN:
            base = attributes.node_start[a]
            node = attributes.leaf[attributes.code_start[a] + rows[start, a]]
            while attributes.parent[base + node] != split.value:
                node = attributes.parent[base + node]
            regions[start, a, 0] = attributes.first[base + node]
            regions[start, a, 1] = attributes.last[base + node]
        elif side == 0:
            regions[start, a, 1] = split.value
        else:
            regions[start, a, 0] = split.value + (1 if split.kind == THRESHOLD else 0)
        start = ends[side]


@inner_kernel
def _split_once(
    rows: Int32,
    spare: Int32,
    lo: int,
    hi: int,
    regions: Int32,
    attributes: Attributes,
    search: Search,
    checks: KernelChecks,
    work: Workspace,
) -> Int64:
    """Split one node; returns the ends of its sides (one end: it is a leaf)."""
    low = np.empty(search.n_attributes, np.int32)
    high = np.empty(search.n_attributes, np.int32)
    extent(rows, lo, hi, low, high)
    split = choose_split(rows, lo, hi, low, high, attributes, search, checks, work)
    if split.kind == NO_SPLIT:
        return np.full(1, hi, np.int64)
    n_sides = 2
    if split.kind == NODE_CHILDREN:
        node = attributes.node_start[split.attribute] + split.value
        n_sides = attributes.last[node] - attributes.first[node] + 1
    ends = np.empty(n_sides, np.int64)
    n_sides = split_rows(rows, spare, lo, hi, split, search.content, attributes, ends)
    if regions.shape[0] > 0:
        narrow_regions(regions, rows, lo, ends, n_sides, split, attributes)
    return ends[:n_sides]


@kernel
def grow(
    rows: Int32,
    spare: Int32,
    lo: int,
    hi: int,
    small: int,
    regions: Int32,
    starts: Bytes,
    attributes: Attributes,
    search: Search,
    checks: KernelChecks,
) -> Int64:
    """Partition rows lo..hi-1 to the leaves if they are at most `small`, else cut them once; `starts` marks leaves.

    Returns the ends of the sides that remain to be grown, none if all is done. `starts` becomes 1 at the first row of
    each leaf. Columns of `rows`: quasi-identifiers, sensitive attributes, target, row number. `spare` has its shape.
    """
    work = new_workspace(hi - lo, attributes.position.shape[0])
    once = hi - lo > small
    open_lo, open_hi = [lo], [hi]
    while len(open_lo) > 0:
        begin, end = open_lo.pop(), open_hi.pop()
        ends = _split_once(rows, spare, begin, end, regions, attributes, search, checks, work)
        if ends.shape[0] == 1:
            starts[begin] = 1
            continue
        if once:
            return ends
        for side in range(ends.shape[0]):
            open_lo.append(begin)
            open_hi.append(ends[side])
            begin = ends[side]
    return np.empty(0, np.int64)

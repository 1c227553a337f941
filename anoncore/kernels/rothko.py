"""Sending rows down a partition tree, and what one scan of the rows counts about its leaves.

- `rows` int32 (n_rows, n_columns): codes of the `n_attributes` quasi-identifiers, then of the counted columns (the
  sensitive attributes, then the class where the search has one). A scan gives them chunk by chunk, so what is counted
  is added to what earlier chunks had.
- `leaf` int32 (n_rows,): number of the leaf, as a node of the tree, in which each row ends.
- `slot` int32 (n_nodes,): the line of a leaf in the results that are asked for; -1 where it has none.
- `count_start` int64 (n_counted + 1,): where the values of each counted column begin among all counted values.

Choosing a cut of a node from the frequency set of one attribute, as the row kernels of Mondrian choose it.

The rows of such a node lie on disk or on other machines; its frequency sets are all that is known of them.

- `counts` uint32 (n_codes, 1 + n_values): the frequency set of an attribute in a node. Line c is for the c-th code of
  the node's range: how many rows have it, then how many of them have each value of each counted column. Counted are the
  sensitive attributes (the first `n_bins` values) and then the class, where the search has one.
- `n`: rows of the node; `totals` int64 (n_values,): how many of them have each value of each counted column.

Source: LeFevre and DeWitt, Rothko (TR 1590), section 2: the frequency sets AV, AVS and AVC.

Growing a partition tree on a sample of rows and writing down its splits, with which other rows are divided later.

- `rows` int32 (n_rows, n_columns): the sample, as in `splitting`; its rows are moved. `spare` has the same shape.
- splits int32 (n_splits, 4), in the order in which they were made: number of the node, then `kind`, `attribute` and
  `value` of its `Split`. Nodes are numbered from the root, 0, on, the children of a split consecutively.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Counts, Int32, Int64
from anoncore.kernels.attributes import Attributes
from anoncore.kernels.checking import KernelChecks, all_hold, side_holds
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.mondrian import choose_split
from anoncore.kernels.splitting import NO_SPLIT, NODE_CHILDREN, extent, rows_of_children, split_rows
from anoncore.kernels.sweep import TIE, Search, new_workspace


class TreeArrays(NamedTuple):
    """A partition tree, one entry per node: `attribute` is the column of `rows` that decides, -1 at a leaf.

    A node with `route_start` -1 sends codes up to `value` to its first child and all others to the next one; else code
    c goes to child `route[route_start + c]`. The children of a node have consecutive numbers from `first_child` on.
    """

    attribute: Int32
    value: Int32
    first_child: Int32
    route_start: Int64
    route: Int32


class LeafStatistics(NamedTuple):
    """What is counted about some leaves, one line for each: its rows, their extents, their counted values.

    `slot` as above; `sizes` int64 (n_slots,); `low`, `high` int32 (n_slots, n_attributes); `totals` int64 (n_slots,
    n_counted_values).
    """

    slot: Int32
    sizes: Int64
    low: Int32
    high: Int32
    totals: Int64


class Requests(NamedTuple):
    """Frequency sets to be counted in one scan, those of node v at `node_start[v]:node_start[v + 1]`.

    Set r counts the codes of `attribute[r]` from `low[r]` on, from `base[r]` of the flat counts on; `width` numbers
    per code: rows, then one for each value of each counted column. A frequency set is thus a matrix (n_codes, width).
    """

    node_start: Int64
    attribute: Int32
    low: Int32
    base: Int64
    width: int


@inner_kernel
def _leaf(rows: Int32, row: int, tree: TreeArrays) -> int:
    """The leaf in which one row ends."""
    node = 0
    while tree.attribute[node] >= 0:
        code = rows[row, tree.attribute[node]]
        child = 0
        if tree.route_start[node] >= 0:
            child = tree.route[tree.route_start[node] + code]
        elif code > tree.value[node]:
            child = 1
        node = tree.first_child[node] + child
    return node


@kernel
def leaves_of(rows: Int32, tree: TreeArrays) -> Int32:
    """The leaf of every row, int32 (n_rows,)."""
    leaf = np.empty(len(rows), np.int32)
    for row in range(len(rows)):
        leaf[row] = _leaf(rows, row, tree)
    return leaf


@kernel
def extents_of_runs(rows: Int32, starts: Int64, low: Int32, high: Int32) -> None:
    """Write the smallest and the largest codes of runs of rows, which begin at `starts` int64 (n_runs + 1,), into `low`
    and `high` int32 (n_runs, n_attributes).
    """
    for run in range(len(low)):
        extent(rows, starts[run], starts[run + 1], low[run], high[run])


@inner_kernel
def _widen(rows: Int32, begin: int, end: int, low: Int32, high: Int32) -> None:
    """Widen the extent of a leaf by rows begin..end-1, which lie in it."""
    for row in range(begin, end):
        for a in range(len(low)):
            low[a] = min(low[a], rows[row, a])
            high[a] = max(high[a], rows[row, a])


@kernel
def add_statistics(rows: Int32, leaf: Int32, statistics: LeafStatistics, count_start: Int64) -> None:
    """Add rows to the statistics of their leaves. Rows that follow each other in one leaf are added together."""
    n_attributes, begin = statistics.low.shape[1], 0
    while begin < len(rows):
        line, end = statistics.slot[leaf[begin]], begin + 1
        while end < len(rows) and leaf[end] == leaf[begin]:
            end += 1
        if line >= 0:
            statistics.sizes[line] += end - begin
            _widen(rows, begin, end, statistics.low[line], statistics.high[line])
            totals = statistics.totals[line]
            for row in range(begin, end):
                for column in range(len(count_start) - 1):
                    totals[count_start[column] + rows[row, n_attributes + column]] += 1
        begin = end


@kernel
def add_frequencies(
    rows: Int32, leaf: Int32, requests: Requests, counts: Counts, count_start: Int64, n_attributes: int
) -> None:
    """Add rows to the frequency sets that are asked for their leaf; `counts` holds all sets one after the other."""
    for row in range(len(rows)):
        node = leaf[row]
        for r in range(requests.node_start[node], requests.node_start[node + 1]):
            line = requests.base[r] + np.int64(rows[row, requests.attribute[r]] - requests.low[r]) * requests.width
            counts[line] += np.uint32(1)
            for column in range(len(count_start) - 1):
                counts[line + 1 + count_start[column] + rows[row, n_attributes + column]] += np.uint32(1)


NONE = -1
"""No cut is allowable."""


@kernel
def median_cut(counts: Counts, n: int, totals: Int64, n_bins: int, checks: KernelChecks) -> int:
    """Line of the last code on the left of the more balanced clean cut beside the median; NONE if not allowable."""
    middle = n // 2
    below, code = 0, 0
    while below + counts[code, 0] <= middle:
        below += int(counts[code, 0])
        code += 1
    up_to = below + int(counts[code, 0])
    n_left = up_to
    if min(below, n - below) > min(up_to, n - up_to):
        code, n_left = code - 1, below
    if n_left < checks.minimum_rows or n - n_left < checks.minimum_rows:
        return NONE
    left = np.zeros(n_bins, np.int64)
    for value in range(code + 1):
        for b in range(n_bins):
            left[b] += np.int64(counts[value, 1 + b])
    if all_hold(checks, left, n_left) and all_hold(checks, totals[:n_bins] - left, n - n_left):
        return code
    return NONE


@inner_kernel
def _xlogx(count: float) -> float:
    """x log2 x, and 0 for 0."""
    return count * np.log2(max(count, 1.0))


@kernel
def best_cut(
    counts: Counts, n: int, totals: Int64, n_bins: int, gain: bool, bound: float, checks: KernelChecks
) -> tuple[float, int]:
    """Cost of the cheapest allowable cut below cost `bound`, and the line of its last code on the left, or NONE.

    Cost: the entropy of the class on both sides, in bits times rows (`gain`), or how unequal the sides are.
    """
    left = np.zeros(len(totals), np.int64)
    best, last = bound, NONE
    tie = TIE * n
    n_left = 0
    for code in range(len(counts)):
        if counts[code, 0] == 0:
            continue
        n_left += int(counts[code, 0])
        for b in range(len(totals)):
            left[b] += np.int64(counts[code, 1 + b])
        n_right = n - n_left
        if n_left < checks.minimum_rows or n_right < checks.minimum_rows or n_right == 0:
            continue
        cost = float(abs(2 * n_left - n))
        if gain:
            cost = _xlogx(n_left) + _xlogx(n_right)
            for b in range(n_bins, len(totals)):
                cost -= _xlogx(left[b]) + _xlogx(totals[b] - left[b])
        if cost >= best - tie:
            continue
        if all_hold(checks, left[:n_bins], n_left) and all_hold(checks, (totals - left)[:n_bins], n_right):
            best, last = cost, code
    return best, last


@kernel
def children_cut(counts: Counts, side: Int32, n_children: int, n_bins: int, checks: KernelChecks) -> tuple[bool, float]:
    """Whether all non-empty children of a hierarchy node satisfy the checks, and the entropy of the class in them.

    `side` int32 (n_codes,) is the child of each code of the range; the entropy is in bits times rows.
    """
    n_columns = counts.shape[1]
    sums = np.zeros((n_children, n_columns), np.int64)
    for code in range(len(counts)):
        for column in range(n_columns):
            sums[side[code], column] += np.int64(counts[code, column])
    n_sides = 0
    for child in range(n_children):
        n_sides += sums[child, 0] > 0
    cost = 0.0
    for child in range(n_children):
        size = sums[child, 0]
        if size == 0:
            continue
        if size < checks.minimum_rows or not side_holds(checks, sums[child, 1 : 1 + n_bins], size, max(n_sides, 2)):
            return False, cost
        if n_columns > 1 + n_bins:
            cost += _xlogx(size)
            for column in range(1 + n_bins, n_columns):
                cost -= _xlogx(sums[child, column])
    return True, cost


@kernel
def sample_splits(
    rows: Int32,
    spare: Int32,
    small: int,
    most_leaves: int,
    attributes: Attributes,
    search: Search,
    checks: KernelChecks,
) -> Int32:
    """Splits of the tree over `rows`, int32 (n_splits, 4): node, kind, attribute, value.

    The largest node is split first; nodes of at most `small` rows are left, and no node is split once there are
    `most_leaves`. A split at a hierarchy node numbers all its children, also those without rows in the sample: other
    rows may lie in them.
    """
    n_codes, n_counts = len(attributes.position), checks.count_start[-1]
    work = new_workspace(len(rows), n_codes, search.n_attributes, n_counts, search.people)
    side_ends = np.empty(len(rows), np.int64)
    splits = np.empty((16, 4), np.int32)
    n_splits, n_nodes, n_leaves = 0, 1, 1
    nodes, begins, ends = [0], [0], [len(rows)]
    while len(nodes) > 0 and n_leaves < most_leaves:
        largest = 0
        for i in range(len(nodes)):
            if ends[i] - begins[i] > ends[largest] - begins[largest]:
                largest = i
        node, lo, hi = nodes.pop(largest), begins.pop(largest), ends.pop(largest)
        if hi - lo <= small:
            break
        split = choose_split(rows, lo, hi, attributes, search, checks, work)
        if split.kind == NO_SPLIT:
            continue
        if n_splits == len(splits):
            splits = np.concatenate((splits, splits))
        splits[n_splits, 0], splits[n_splits, 1] = node, split.kind
        splits[n_splits, 2], splits[n_splits, 3] = split.attribute, split.value
        n_splits += 1
        sizes = np.full(2, 1, np.int64)
        if split.kind == NODE_CHILDREN:
            sizes, _ = rows_of_children(rows, lo, hi, split, attributes)
        split_rows(rows, spare, lo, hi, split, search.content, attributes, work.is_left, side_ends)
        begin, side = lo, 0
        for child in range(len(sizes)):
            if sizes[child] == 0:
                continue
            nodes.append(n_nodes + child)
            begins.append(begin)
            ends.append(side_ends[side])
            begin = int(side_ends[side])
            side += 1
        n_nodes += len(sizes)
        n_leaves += len(sizes) - 1
    return splits[:n_splits]

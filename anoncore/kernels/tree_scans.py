"""Sending rows down a partition tree, and what one scan of the rows counts about its leaves.

- `rows` int32 (n_rows, n_columns): codes of the `n_attributes` quasi-identifiers, then of the counted columns (the
  sensitive attributes, then the class where the search has one). A scan gives them chunk by chunk, so what is counted
  is added to what earlier chunks had.
- `leaf` int32 (n_rows,): number of the leaf, as a node of the tree, in which each row ends.
- `slot` int32 (n_nodes,): the line of a leaf in the results that are asked for; -1 where it has none.
- `count_start` int64 (n_counted + 1,): where the values of each counted column begin among all counted values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Counts, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel


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
def add_statistics(rows: Int32, tree: TreeArrays, statistics: LeafStatistics, count_start: Int64) -> None:
    """Add rows to the statistics of their leaves."""
    low, high, totals = statistics.low, statistics.high, statistics.totals
    n_attributes = low.shape[1]
    for row in range(len(rows)):
        line = statistics.slot[_leaf(rows, row, tree)]
        if line < 0:
            continue
        statistics.sizes[line] += 1
        for a in range(n_attributes):
            code = rows[row, a]
            low[line, a] = min(low[line, a], code)
            high[line, a] = max(high[line, a], code)
        for column in range(len(count_start) - 1):
            totals[line, count_start[column] + rows[row, n_attributes + column]] += 1


@kernel
def add_frequencies(
    rows: Int32, tree: TreeArrays, requests: Requests, counts: Counts, count_start: Int64, n_attributes: int
) -> None:
    """Add rows to the frequency sets that are asked for their leaf; `counts` holds all sets one after the other."""
    for row in range(len(rows)):
        node = _leaf(rows, row, tree)
        for r in range(requests.node_start[node], requests.node_start[node + 1]):
            line = requests.base[r] + np.int64(rows[row, requests.attribute[r]] - requests.low[r]) * requests.width
            counts[line] += np.uint32(1)
            for column in range(len(count_start) - 1):
                counts[line + 1 + count_start[column] + rows[row, n_attributes + column]] += np.uint32(1)

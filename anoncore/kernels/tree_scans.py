"""Sending rows down a partition tree, and what one scan counts about its leaves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Counts, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel


class TreeArrays(NamedTuple):
    """A partition tree, one entry per node: `attribute` is -1 at a leaf.

    A node with `route_start` -1 sends codes up to `value` to its first child and all others to the next one; else code
    c goes to child `route[route_start + c]`. The children of a node have consecutive numbers from `first_child` on.
    """

    attribute: Int32
    value: Int32
    first_child: Int32
    route_start: Int64
    route: Int32


class Requests(NamedTuple):
    """Frequency sets to be counted in one scan, those of node v at `node_start[v]:node_start[v + 1]`.

    Set r counts the codes of `attribute[r]` from `low[r]` on, from `base[r]` of the flat counts on; `width` numbers
    per code: rows, then one for each value of each counted column.
    """

    node_start: Int64
    attribute: Int32
    low: Int32
    base: Int64
    width: int


@inner_kernel
def _leaf(rows: Int32, row: int, tree: TreeArrays) -> int:
    node = 0
    while tree.attribute[node] >= 0:
        code = rows[row, tree.attribute[node]]
        side = 0
        if tree.route_start[node] >= 0:
            side = tree.route[tree.route_start[node] + code]
        elif code > tree.value[node]:
            side = 1
        node = tree.first_child[node] + side
    return node


@kernel
def leaves_of(rows: Int32, tree: TreeArrays) -> Int32:
    """The leaf of every row, int32 (n_rows,)."""
    leaf = np.empty(rows.shape[0], np.int32)
    for row in range(rows.shape[0]):
        leaf[row] = _leaf(rows, row, tree)
    return leaf


@kernel
def order_by_leaf(leaf: Int32, slot: Int32, n_slots: int) -> tuple[Int64, Int64]:
    """Rows sorted by the slot of their leaf, stable, and where each slot begins, (n_slots + 1,)."""
    starts = np.zeros(n_slots + 1, np.int64)
    for row in range(leaf.shape[0]):
        starts[slot[leaf[row]] + 1] += 1
    for place in range(n_slots):
        starts[place + 1] += starts[place]
    at = starts[:-1].copy()
    order = np.empty(leaf.shape[0], np.int64)
    for row in range(leaf.shape[0]):
        place = slot[leaf[row]]
        order[at[place]] = row
        at[place] += 1
    return order, starts


@kernel
def rows_in_order(rows: Int32, order: Int64) -> Int32:
    """The rows in another order."""
    moved = np.empty_like(rows)
    for place in range(order.shape[0]):
        for column in range(rows.shape[1]):
            moved[place, column] = rows[order[place], column]
    return moved


@kernel
def add_statistics(
    rows: Int32,
    tree: TreeArrays,
    slot: Int32,
    sizes: Int64,
    low: Int32,
    high: Int32,
    totals: Int64,
    count_start: Int64,
    n_attributes: int,
) -> None:
    """Add rows to the size, extents and counted values of their leaf's slot; a leaf with slot -1 is left out."""
    for row in range(rows.shape[0]):
        place = slot[_leaf(rows, row, tree)]
        if place < 0:
            continue
        sizes[place] += 1
        for a in range(n_attributes):
            code = rows[row, a]
            low[place, a] = min(low[place, a], code)
            high[place, a] = max(high[place, a], code)
        for column in range(count_start.shape[0] - 1):
            totals[place, count_start[column] + rows[row, n_attributes + column]] += 1


@kernel
def add_frequencies(
    rows: Int32, tree: TreeArrays, requests: Requests, counts: Counts, count_start: Int64, n_attributes: int
) -> None:
    """Add rows to the frequency sets that are asked for their leaf."""
    for row in range(rows.shape[0]):
        node = _leaf(rows, row, tree)
        for r in range(requests.node_start[node], requests.node_start[node + 1]):
            place = requests.base[r] + np.int64(rows[row, requests.attribute[r]] - requests.low[r]) * requests.width
            counts[place] += np.uint32(1)
            for column in range(count_start.shape[0] - 1):
                counts[place + 1 + count_start[column] + rows[row, n_attributes + column]] += np.uint32(1)

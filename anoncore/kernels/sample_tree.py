"""Growing a partition tree on rows in memory and writing down its splits."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32
from anoncore.kernels.attributes import Attributes
from anoncore.kernels.checking import KernelChecks
from anoncore.kernels.compiler import kernel
from anoncore.kernels.mondrian import choose_split
from anoncore.kernels.splitting import NO_SPLIT, NODE_CHILDREN, child_sizes, extent, split_rows
from anoncore.kernels.sweep import Search, new_workspace


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
    """Splits of the tree over `rows` (which are moved), int32 (n_splits, 4): node, kind, attribute, value.

    The largest node is split first; nodes of at most `small` rows are left, and no node is split once there are
    `most_leaves`. The root is node 0; a split numbers its children consecutively, two or, for a hierarchy, all the
    children of the node.
    """
    work = new_workspace(rows.shape[0], attributes.position.shape[0])
    found = np.empty((16, 4), np.int32)
    n_found, n_nodes, n_leaves = 0, 1, 1
    nodes, begins, ends = [0], [0], [rows.shape[0]]
    low = np.empty(search.n_attributes, np.int32)
    high = np.empty(search.n_attributes, np.int32)
    while len(nodes) > 0 and n_leaves < most_leaves:
        largest = 0
        for i in range(len(nodes)):
            if ends[i] - begins[i] > ends[largest] - begins[largest]:
                largest = i
        node, lo, hi = nodes.pop(largest), begins.pop(largest), ends.pop(largest)
        if hi - lo <= small:
            break
        extent(rows, lo, hi, low, high)
        split = choose_split(rows, lo, hi, low, high, attributes, search, checks, work)
        if split.kind == NO_SPLIT:
            continue
        if n_found == found.shape[0]:
            wider = np.empty((2 * n_found, 4), np.int32)
            wider[:n_found] = found
            found = wider
        found[n_found, 0], found[n_found, 1] = node, split.kind
        found[n_found, 2], found[n_found, 3] = split.attribute, split.value
        n_found += 1
        sizes = np.full(2, 1, np.int64)
        if split.kind == NODE_CHILDREN:
            place = attributes.node_start[split.attribute] + split.value
            side = np.empty(attributes.last[place] - attributes.first[place] + 1, np.int32)
            sizes = child_sizes(rows, lo, hi, split, attributes, side)
        sides = np.empty(sizes.shape[0], np.int64)
        split_rows(rows, spare, lo, hi, split, search.content, attributes, sides)
        begin, at = lo, 0
        for child in range(sizes.shape[0]):
            if sizes[child] == 0:
                continue
            nodes.append(n_nodes + child)
            begins.append(begin)
            ends.append(sides[at])
            begin = int(sides[at])
            at += 1
        n_nodes += sizes.shape[0]
        n_leaves += sizes.shape[0] - 1
    return found[:n_found]

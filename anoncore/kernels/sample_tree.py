"""Growing a partition tree on a sample of rows and writing down its splits, with which other rows are divided later.

- `rows` int32 (n_rows, n_columns): the sample, as in `splitting`; its rows are moved. `spare` has the same shape.
- splits int32 (n_splits, 4), in the order in which they were made: number of the node, then `kind`, `attribute` and
  `value` of its `Split`. Nodes are numbered from the root, 0, on, the children of a split consecutively.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32
from anoncore.kernels.attributes import Attributes
from anoncore.kernels.checking import KernelChecks
from anoncore.kernels.compiler import kernel
from anoncore.kernels.mondrian import choose_split
from anoncore.kernels.splitting import NO_SPLIT, NODE_CHILDREN, child_sizes, split_rows
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
            longer = np.empty((2 * n_splits, 4), np.int32)
            for i in range(n_splits):
                for part in range(4):
                    longer[i, part] = splits[i, part]
            splits = longer
        splits[n_splits, 0], splits[n_splits, 1] = node, split.kind
        splits[n_splits, 2], splits[n_splits, 3] = split.attribute, split.value
        n_splits += 1
        sizes = np.full(2, 1, np.int64)
        if split.kind == NODE_CHILDREN:
            ancestor = attributes.node_start[split.attribute] + split.value
            child_of = np.empty(attributes.last[ancestor] - attributes.first[ancestor] + 1, np.int32)
            sizes = child_sizes(rows, lo, hi, split, attributes, child_of)
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

"""How little groups of rows can lose once their ranges are cut further.

A range of an attribute is cut at some points already, and may be cut at others. The finest ranges, cut at all of them,
are blocks. A group of equal ranges has its rows in some of the blocks that its range consists of. Whatever is cut,
rows of it that are published stand together with at least k rows of it in every attribute, so that the range of each
covers neighboring blocks in which k rows of the group lie.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import kernel
from anoncore.kernels.grouping import group_starts, rows_by_group


@kernel
def least_losses(
    codes: Int32,
    rows: Int64,
    group: Int32,
    n_groups: int,
    begin: Int64,
    first: Int32,
    last: Int32,
    share: Floats,
    k: int,
) -> Floats:
    """At least what a cell of each combination of values loses in a class of at least k rows, summed over attributes.

    `codes` int32 (n, d): combinations of values, of `rows` int64 (n,) rows each, in the groups `group` int32 (n,). Code
    c of attribute a stands at `begin[a] + c`: `first` and `last` are the ends of its block, and `share` float says
    where it lies between the first code (0) and the last (1). Returns float (n,), infinite in groups of less than k
    rows.
    """
    n, d = codes.shape
    starts = group_starts(group, n_groups)
    losses = np.zeros(n)
    begins, ends, counts = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    by_code, of_code = np.empty(n, np.int32), np.empty(n, np.int32)
    for a in range(d):
        n_codes = (begin[a + 1] if a + 1 < d else len(first)) - begin[a]
        for i in range(n):
            by_code[i] = codes[i, a]
        order = rows_by_group(by_code, group_starts(by_code, n_codes))
        for i in range(n):
            of_code[i] = group[order[i]]
        of_group = rows_by_group(of_code, starts)
        for g in range(n_groups):
            n_blocks = 0
            for i in range(starts[g], starts[g + 1]):
                row = order[of_group[i]]
                at = begin[a] + codes[row, a]
                if n_blocks == 0 or begins[n_blocks - 1] != first[at]:
                    begins[n_blocks], ends[n_blocks], counts[n_blocks] = first[at], last[at], 0
                    n_blocks += 1
                counts[n_blocks - 1] += rows[row]
            block, loss = -1, np.inf
            for i in range(starts[g], starts[g + 1]):
                row = order[of_group[i]]
                if block < 0 or begins[block] != first[begin[a] + codes[row, a]]:
                    block += 1
                    loss = _narrowest(begins, ends, counts, n_blocks, block, share[begin[a] :], k)
                losses[row] += loss
    return losses


@kernel
def _narrowest(begins: Int64, ends: Int64, counts: Int64, n_blocks: int, block: int, share: Floats, k: int) -> float:
    """The narrowest run of blocks with at least k rows that has a given block in it; infinite where there is none."""
    least, inside = np.inf, 0
    low = block
    # The run begins ever earlier; it ends at the block where the rows up to there are enough, and ever earlier too.
    high = block
    inside = counts[block]
    while high + 1 < n_blocks and inside < k:
        high += 1
        inside += counts[high]
    while True:
        if inside >= k:
            while high > block and inside - counts[high] >= k:
                inside -= counts[high]
                high -= 1
            least = min(least, share[ends[high]] - share[begins[low]])
            if high == block:
                break
        if low == 0:
            break
        low -= 1
        inside += counts[low]
    return least

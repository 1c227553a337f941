"""Merging clusters that are not close enough to the table with their nearest neighbours.

- `centers` float (d, n_clusters): the clusters' averages, points as `nearest.center` gives them, one column each.
- `sizes` int64 (n_clusters,): rows of each cluster; `counts` int32 (n_clusters, n_values): their sensitive values.
- `before`, `after` int64 (n_clusters,): the neighbours of each cluster, in order of number, among those that are left:
  a linked list in both directions, so that a cluster that is merged away leaves it in O(1).

Source: Soria-Comas, Domingo-Ferrer, Sanchez and Martinez, IEEE TKDE 27(11), 2015.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.attributes import HIERARCHY, NUMBER, Attributes, width
from anoncore.kernels.checking import KernelChecks
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.nearest import rounded
from anoncore.kernels.swapping import worst_excess


@kernel
def merge_until_close(
    attributes: Attributes, centers: Floats, sizes: Int64, counts: Int32, checks: KernelChecks, reach: int
) -> Int64:
    """Merge the cluster of largest excess with the nearest one until none is in excess; each cluster's survivor.

    `centers`, `sizes` and `counts` are changed. The nearest cluster is looked for among the `reach` ones before and
    after in number. The merged center is the mean of numbers and the larger cluster's categories.
    """
    n = len(sizes)
    into, before, after = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for c in range(n):
        into[c], before[c], after[c] = c, c - 1, c + 1
    near, apart = np.empty(min(2 * reach, n), np.int64), np.empty(min(2 * reach, n))
    own = np.empty(counts.shape[1], np.int64)
    # A tree of matches: every node names the cluster of largest excess below it, the leaves are the clusters, and the
    # root is node 1. A cluster whose excess changes plays the matches up to the root again.
    leaves = 1
    while leaves < n:
        leaves *= 2
    excess, winner = np.zeros(leaves), np.empty(2 * leaves, np.int64)
    for c in range(leaves):
        winner[leaves + c] = c
        if c < n:
            excess[c] = _excess(checks, counts, c, sizes[c], own)
    for node in range(leaves - 1, 0, -1):
        _play(winner, excess, node)
    while excess[winner[1]] > 0.0:
        worst = winner[1]
        nearest = _nearest_cluster(attributes, centers, before, after, worst, reach, near, apart)
        if nearest < 0:
            break
        total = sizes[worst] + sizes[nearest]
        for a in range(len(centers)):
            if attributes.form[a] == NUMBER:
                centers[a, nearest] = (centers[a, worst] * sizes[worst] + centers[a, nearest] * sizes[nearest]) / total
            elif sizes[worst] > sizes[nearest]:
                centers[a, nearest] = centers[a, worst]
        sizes[nearest] = total
        for value in range(counts.shape[1]):
            counts[nearest, value] += counts[worst, value]
        into[worst] = nearest
        if before[worst] >= 0:
            after[before[worst]] = after[worst]
        if after[worst] < n:
            before[after[worst]] = before[worst]
        excess[worst], excess[nearest] = 0.0, _excess(checks, counts, nearest, total, own)
        for changed in (worst, nearest):
            node = (leaves + changed) // 2
            while node > 0:
                _play(winner, excess, node)
                node //= 2
    # A survivor may have been merged away later: follow the chain to the cluster that is left.
    for c in range(n):
        survivor = into[c]
        while into[survivor] != survivor:
            survivor = into[survivor]
        into[c] = survivor
    return into


@inner_kernel
def _nearest_cluster(
    attributes: Attributes,
    centers: Floats,
    before: Int64,
    after: Int64,
    c: int,
    reach: int,
    near: Int64,
    apart: Floats,
) -> int:
    """The cluster whose center lies nearest to that of cluster c, among those still there; -1 if there is no other."""
    n_near = 0
    other = before[c]
    while other >= 0 and n_near < reach:
        near[n_near] = other
        n_near += 1
        other = before[other]
    limit = n_near + reach
    other = after[c]
    while other < centers.shape[1] and n_near < limit:
        near[n_near] = other
        n_near += 1
        other = after[other]
    # Attribute by attribute for all clusters: the loops are short and free of choices, which a processor does fastest.
    apart[:n_near] = 0.0
    for a in range(len(centers)):
        column, here = centers[a], centers[a, c]
        if attributes.form[a] == NUMBER:
            for i in range(n_near):
                apart[i] += abs(column[near[i]] - here)
        elif attributes.form[a] == HIERARCHY:
            for i in range(n_near):
                there = column[near[i]]
                if there != here:
                    apart[i] += width(attributes, a, int(min(there, here)), int(max(there, here)))
        else:
            for i in range(n_near):
                apart[i] += 1.0 if column[near[i]] != here else 0.0
    best, least = -1, np.inf
    for i in range(n_near):
        far = rounded(apart[i])
        if far < least:
            best, least = near[i], far
    return best


@inner_kernel
def _excess(checks: KernelChecks, counts: Int32, c: int, size: int, own: Int64) -> float:
    """By how much cluster `c`, of so many rows, is in excess, at least 0; `own` int64 (n_values,) is memory."""
    for value in range(len(own)):
        own[value] = counts[c, value]
    return max(float(worst_excess(checks, own, size)), 0.0)


@inner_kernel
def _play(winner: Int64, excess: Floats, node: int) -> None:
    """Let the two sides of a node play; the one on the left, of lower number, wins where both are equal."""
    left, right = winner[2 * node], winner[2 * node + 1]
    winner[node] = left if excess[left] >= excess[right] else right

"""Clusters of nearest rows: maximum distance to average vector (MDAV), with and without a sensitive attribute.

- `Space.point` float (n_rows, d): every row as a point with one axis per quasi-identifier. Numbers are a share of their
  domain's width, so that no unit of measurement outweighs the others; categories are their codes.
- `rows` int64 (n,): the row numbers that are to be clustered, or are left to be.
- `group` int32 (n_rows,): number of the cluster of every row, written here; numbers count on from `first`.
- `cells` int32 (n_rows, n_sensitive): where the sensitive values of a row are counted, as in `checking`.

Clusters that are not close enough to the table are merged with their nearest neighbours:

- `centers` float (d, n_clusters): the clusters' averages, points as `center` gives them, one column each.
- `sizes` int64 (n_clusters,): rows of each cluster; `counts` int32 (n_clusters, n_values): their sensitive values.
- `before`, `after` int64 (n_clusters,): the neighbours of each cluster, in order of number, among those that are left:
  a linked list in both directions, so that a cluster that is merged away leaves it in O(1).

Source: Soria-Comas, Domingo-Ferrer, Sanchez and Martinez, IEEE TKDE 27(11), 2015.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.attributes import HIERARCHY, NUMBER, Attributes, largest_domain, width
from anoncore.kernels.checking import KernelChecks, count_cells
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sorting import filled_with, lowest_positions
from anoncore.kernels.swapping import worst_excess

GRID = np.pi * 1e8
"""Steps of the grid of distances from 0 to the width of one attribute."""
CANDIDATES = 1_000
"""Nearest rows that are tried as replacements in one cluster; the paper tries all that are left."""


class Space(NamedTuple):
    """The space of the quasi-identifiers: its axes, and `point` (n_rows, d) as above."""

    attributes: Attributes
    point: Floats


@inner_kernel
def distance(attributes: Attributes, p: Floats, q: Floats) -> float:
    """Sum over the attributes of how far two points (d,) lie apart, 0 to 1 each.

    Numbers: difference / width of the domain; categories: 0 if equal, else 1, or in a hierarchy the width of the lowest
    common ancestor.
    """
    total = 0.0
    for a in range(len(p)):
        if p[a] == q[a]:
            continue
        if attributes.form[a] == NUMBER:
            total += abs(p[a] - q[a])
        elif attributes.form[a] == HIERARCHY:
            total += width(attributes, a, int(min(p[a], q[a])), int(max(p[a], q[a])))
        else:
            total += 1.0
    return total


@inner_kernel
def rounded(apart: float) -> float:
    """A distance as a whole number of grid steps, so that rounding does not choose between equal distances.

    The same numbers in another unit round otherwise. The grid is finer than any difference that matters, and its step
    is no simple fraction, so that the distances of real tables do not lie just between two of its numbers.
    """
    return float(np.rint(apart * GRID))


@inner_kernel
def center(space: Space, rows: Int64, count: Int64) -> Floats:
    """The average of the rows, a point (d,): mean of numbers, most frequent category (the lowest code of several).

    `count` int64 (at least as many as any attribute has codes,) is memory: all 0 before and after.
    """
    attributes, point = space.attributes, space.point
    d = point.shape[1]
    average = np.zeros(d)
    for a in range(d):
        if attributes.form[a] == NUMBER:
            for row in rows:
                average[a] += point[row, a]
            average[a] /= len(rows)
        else:
            for row in rows:
                count[int(point[row, a])] += 1
            most, largest = 0, np.int64(0)
            for row in rows:
                code = int(point[row, a])
                if count[code] > largest or (count[code] == largest and code < most):
                    most, largest = code, count[code]
            for row in rows:
                count[int(point[row, a])] = 0
            average[a] = most
    return average


@kernel
def centers(space: Space, order: Int64, starts: Int64) -> Floats:
    """The average of every cluster, (d, n_clusters); rows of cluster c are `order[starts[c]:starts[c + 1]]`."""
    n = len(starts) - 1
    averages = np.empty((space.point.shape[1], n))
    count = np.zeros(largest_domain(space.attributes), np.int64)
    for c in range(n):
        averages[:, c] = center(space, order[starts[c] : starts[c + 1]], count)
    return averages


@inner_kernel
def farthest_row(space: Space, rows: Int64, origin: Floats) -> int:
    """The row that lies farthest from the point `origin` (d,), the first of several (see `rounded`)."""
    farthest, most = rows[0], -1.0
    for row in rows:
        apart = rounded(distance(space.attributes, space.point[row], origin))
        if apart > most:
            farthest, most = row, apart
    return farthest


@inner_kernel
def nearest_positions(space: Space, rows: Int64, seed: int, k: int) -> Int64:
    """Positions in `rows` of the k rows nearest to row `seed`, itself first, nearest first, int64 (k,)."""
    apart = np.empty(len(rows))
    for i in range(len(rows)):
        # Below every distance, so that the seed comes first even where other rows lie at the same point.
        far = rounded(distance(space.attributes, space.point[rows[i]], space.point[seed]))
        apart[i] = -1.0 if rows[i] == seed else far
    return lowest_positions(apart, k)


@inner_kernel
def _without(rows: Int64, positions: Int64) -> Int64:
    """The rows that do not stand at these positions."""
    gone = np.zeros(len(rows), np.bool_)
    for position in positions:
        gone[position] = True
    n_left = 0
    for i in range(len(rows)):
        n_left += not gone[i]
    left = np.empty(n_left, np.int64)
    n_left = 0
    for i in range(len(rows)):
        if not gone[i]:
            left[n_left] = rows[i]
            n_left += 1
    return left


@kernel
def mdav(space: Space, rows: Int64, k: int, cells: Int32, checks: KernelChecks, group: Int32, first: int) -> int:
    """Cluster the rows, write the clusters' numbers from `first` on into `group`, and return the next free number.

    In turn the row farthest from the average of those left, and the row farthest from it, take the k - 1 nearest rows;
    fewer than 2k rows are one cluster. With checks (k-anonymity first), a cluster that fails them exchanges rows for
    the next nearest ones. Time O(n^2 d / k).
    """
    left, count = rows.copy(), np.zeros(largest_domain(space.attributes), np.int64)
    # -1: the next cluster begins at the row farthest from the average; else at the row farthest from row `seed`.
    seed = -1
    while len(left) > 0:
        origin = center(space, left, count) if seed < 0 else space.point[seed]
        chosen = farthest_row(space, left, origin)
        seed = chosen if seed < 0 else -1
        if len(left) < 2 * k:
            members = np.arange(len(left))
        else:
            members = nearest_positions(space, left, chosen, k)
            if len(checks.address) > 0:
                members = _closer(space, left, chosen, members, cells, checks)
        for position in members:
            group[left[position]] = first
        first += 1
        left = _without(left, members)
    return first


@inner_kernel
def _closer(space: Space, rows: Int64, seed: int, members: Int64, cells: Int32, checks: KernelChecks) -> Int64:
    """Exchange members of a cluster for the next nearest rows as long as it is in excess and that lowers the excess.

    `members` int64 (k,) are the cluster's positions in `rows`, those of the k rows nearest to row `seed`.
    """
    k, counts = len(members), np.zeros(checks.count_start[-1], np.int64)
    for position in members:
        count_cells(counts, cells[rows[position]], 1)
    excess = worst_excess(checks, counts, k)
    if excess == 0:
        return members
    reach = min(len(rows), k + CANDIDATES)
    candidates = nearest_positions(space, rows, seed, reach)
    for new in candidates[k:]:
        best, lowest = -1, excess
        # The counts are those of a cluster with the new row and without one member in turn; none is counted anew.
        count_cells(counts, cells[rows[new]], 1)
        for member in range(k):
            count_cells(counts, cells[rows[members[member]]], -1)
            after = worst_excess(checks, counts, k)
            count_cells(counts, cells[rows[members[member]]], 1)
            if after < lowest - 1e-12:
                best, lowest = member, after
        gone = new if best < 0 else members[best]
        count_cells(counts, cells[rows[gone]], -1)
        if best >= 0:
            members[best] = new
            excess = lowest
        if excess == 0:
            break
    return members


@kernel
def draw_strata(space: Space, rows: Int64, stratum: Int32, n_strata: int, middle: int, group: Int32, first: int) -> int:
    """Clusters with one row of every stratum, the nearest to a row chosen as in `mdav`; the next free number.

    `stratum` int32 (n_rows,), 0..n_strata-1. The stratum `middle` may have more rows than the others: then clusters
    take two of it while it has.
    """
    left, count = rows.copy(), np.zeros(largest_domain(space.attributes), np.int64)
    seed = -1
    while len(left) > 0:
        origin = center(space, left, count) if seed < 0 else space.point[seed]
        chosen = farthest_row(space, left, origin)
        seed = chosen if seed < 0 else -1
        nearest, least = filled_with(n_strata, -1), np.empty(n_strata)
        least[:] = np.inf
        n_left = np.zeros(n_strata, np.int64)
        # Of the middle stratum the second nearest row is kept as well, in the same pass.
        second, second_least = -1, np.inf
        for i in range(len(left)):
            s = stratum[left[i]]
            n_left[s] += 1
            apart = -1.0
            if left[i] != chosen:
                apart = distance(space.attributes, space.point[left[i]], space.point[chosen])
            if apart < least[s]:
                if s == middle:
                    second, second_least = nearest[s], least[s]
                nearest[s], least[s] = i, apart
            elif s == middle and apart < second_least:
                second, second_least = i, apart
        n_members = n_strata
        for s in range(n_strata):
            if n_left[middle] > n_left[s]:
                n_members = n_strata + 1
        members = np.empty(n_members, np.int64)
        for s in range(n_strata):
            members[s] = nearest[s]
        if n_members > n_strata:
            members[n_strata] = second
        for position in members:
            group[left[position]] = first
        first += 1
        left = _without(left, members)
    return first


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

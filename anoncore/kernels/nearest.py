"""Clusters of nearest rows: maximum distance to average vector (MDAV), with and without a sensitive attribute."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.attributes import HIERARCHY, NUMBER, Attributes, width
from anoncore.kernels.checking import KernelChecks
from anoncore.kernels.compiler import kernel
from anoncore.kernels.swapping import worst_excess

CANDIDATES = 1_000
"""Nearest rows that are tried as replacements in one cluster; the paper tries all that are left."""


@kernel
def points(attributes: Attributes, codes: Int32) -> Floats:
    """Rows as points (n_rows, d): numbers as a share of their domain's width, categories as their codes."""
    n, d = codes.shape
    found = np.empty((n, d))
    for a in range(d):
        begin, span = attributes.code_start[a], attributes.span[a]
        for row in range(n):
            code = codes[row, a]
            found[row, a] = code
            if attributes.form[a] == NUMBER:
                found[row, a] = attributes.position[begin + code] / span if span > 0 else 0.0
    return found


@kernel
def distance(attributes: Attributes, one: Floats, other: Floats) -> float:
    """Sum over the attributes of how far two points lie apart, 0 to 1 each.

    Numbers: difference / width of the domain; categories: 0 if equal, else 1, or in a hierarchy the width of the lowest
    common ancestor.
    """
    total = 0.0
    for a in range(one.shape[0]):
        if one[a] == other[a]:
            continue
        if attributes.form[a] == NUMBER:
            total += abs(one[a] - other[a])
        elif attributes.form[a] == HIERARCHY:
            total += width(attributes, a, int(min(one[a], other[a])), int(max(one[a], other[a])))
        else:
            total += 1.0
    return total


@kernel
def center(attributes: Attributes, rows: Int64, point: Floats) -> Floats:
    """The average of the rows: mean of numbers, most frequent category."""
    d = point.shape[1]
    average = np.zeros(d)
    for a in range(d):
        if attributes.form[a] == NUMBER:
            for row in rows:
                average[a] += point[row, a]
            average[a] /= rows.shape[0]
        else:
            count = np.zeros(attributes.code_start[a + 1] - attributes.code_start[a], np.int64)
            for row in rows:
                count[int(point[row, a])] += 1
            average[a] = np.argmax(count)
    return average


@kernel
def centers(attributes: Attributes, order: Int64, starts: Int64, point: Floats) -> Floats:
    """The average of every cluster, (n_clusters, d), from rows sorted by cluster."""
    n = starts.shape[0] - 1
    found = np.empty((n, point.shape[1]))
    for c in range(n):
        found[c] = center(attributes, order[starts[c] : starts[c + 1]], point)
    return found


@kernel
def farthest_row(attributes: Attributes, rows: Int64, point: Floats, origin: Floats) -> int:
    """The first of the rows that lie farthest from a point."""
    best, most = rows[0], -1.0
    for row in rows:
        apart = distance(attributes, point[row], origin)
        if apart > most:
            best, most = row, apart
    return best


@kernel
def nearest_places(attributes: Attributes, rows: Int64, point: Floats, seed: int, k: int) -> Int64:
    """Places in `rows` of the k rows nearest to row `seed`, itself first, nearest first."""
    apart = np.empty(rows.shape[0])
    for i in range(rows.shape[0]):
        apart[i] = -1.0 if rows[i] == seed else distance(attributes, point[rows[i]], point[seed])
    if k >= rows.shape[0]:
        return np.argsort(apart, kind="mergesort")
    limit = np.partition(apart, k - 1)[k - 1]
    chosen = np.empty(k, np.int64)
    n_chosen = 0
    for closer in range(2):
        for i in range(rows.shape[0]):
            if n_chosen < k and (apart[i] < limit if closer == 0 else apart[i] == limit):
                chosen[n_chosen] = i
                n_chosen += 1
    return chosen[np.argsort(apart[chosen], kind="mergesort")]


@kernel
def _without(rows: Int64, places: Int64) -> Int64:
    keep = np.ones(rows.shape[0], np.bool_)
    keep[places] = False
    return rows[keep]


@kernel
def mdav(
    attributes: Attributes,
    point: Floats,
    rows: Int64,
    k: int,
    sensitive: Int32,
    checks: KernelChecks,
    group: Int32,
    first: int,
) -> int:
    """Cluster the rows, write the clusters' numbers from `first` on into `group`, and return the next free number.

    In turn the row farthest from the average of those left, and the row farthest from it, take the k - 1 nearest rows;
    fewer than 2k rows are one cluster. With checks (k-anonymity first), a cluster that fails them exchanges rows for
    the next nearest ones. Time O(n^2 d / k).
    """
    left = rows.copy()
    seed = -1
    while left.shape[0] > 0:
        origin = center(attributes, left, point) if seed < 0 else point[seed]
        chosen = farthest_row(attributes, left, point, origin)
        seed = chosen if seed < 0 else -1
        if left.shape[0] < 2 * k:
            places = np.arange(left.shape[0])
        else:
            places = nearest_places(attributes, left, point, chosen, k)
            if checks.address.shape[0] > 0:
                places = _closer(attributes, left, point, chosen, places, sensitive, checks)
        for place in places:
            group[left[place]] = first
        first += 1
        left = _without(left, places)
    return first


@kernel
def _closer(
    attributes: Attributes,
    rows: Int64,
    point: Floats,
    seed: int,
    places: Int64,
    sensitive: Int32,
    checks: KernelChecks,
) -> Int64:
    """Exchange members of a cluster for the next nearest rows as long as it is in excess and that lowers the excess."""
    k, n_columns = places.shape[0], sensitive.shape[1]
    counts = np.zeros(checks.count_start[-1], np.int64)
    for place in places:
        for column in range(n_columns):
            counts[checks.count_start[column] + sensitive[rows[place], column]] += 1
    excess = worst_excess(checks, counts, k)
    if excess == 0:
        return places
    reach = min(rows.shape[0], k + CANDIDATES)
    candidates = nearest_places(attributes, rows, point, seed, reach)
    for new in candidates[k:]:
        best, lowest = -1, excess
        for column in range(n_columns):
            counts[checks.count_start[column] + sensitive[rows[new], column]] += 1
        for member in range(k):
            for column in range(n_columns):
                counts[checks.count_start[column] + sensitive[rows[places[member]], column]] -= 1
            after = worst_excess(checks, counts, k)
            for column in range(n_columns):
                counts[checks.count_start[column] + sensitive[rows[places[member]], column]] += 1
            if after < lowest - 1e-12:
                best, lowest = member, after
        gone = new if best < 0 else places[best]
        for column in range(n_columns):
            counts[checks.count_start[column] + sensitive[rows[gone], column]] -= 1
        if best >= 0:
            places[best] = new
            excess = lowest
        if excess == 0:
            break
    return places


@kernel
def draw_strata(
    attributes: Attributes,
    point: Floats,
    rows: Int64,
    stratum: Int32,
    n_strata: int,
    middle: int,
    group: Int32,
    first: int,
) -> int:
    """Clusters with one row of every stratum, the nearest to a row chosen as in `mdav`; the next free number.

    The stratum `middle` may have more rows than the others: then clusters take two of it while it has.
    """
    left = rows.copy()
    seed = -1
    while left.shape[0] > 0:
        origin = center(attributes, left, point) if seed < 0 else point[seed]
        chosen = farthest_row(attributes, left, point, origin)
        seed = chosen if seed < 0 else -1
        best, least = np.full(n_strata, -1, np.int64), np.full(n_strata, np.inf)
        held = np.zeros(n_strata, np.int64)
        second, spare = -1, np.inf
        for i in range(left.shape[0]):
            b = stratum[left[i]]
            held[b] += 1
            apart = -1.0 if left[i] == chosen else distance(attributes, point[left[i]], point[chosen])
            if apart < least[b]:
                if b == middle:
                    second, spare = best[b], least[b]
                best[b], least[b] = i, apart
            elif b == middle and apart < spare:
                second, spare = i, apart
        places = best
        if held[middle] > held.min():
            places = np.append(best, second)
        for place in places:
            group[left[place]] = first
        first += 1
        left = _without(left, places)
    return first

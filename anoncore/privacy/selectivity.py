"""Equijoin selectivity: how likely two classes that publish only their sets of class values join to k rows."""

from __future__ import annotations

from functools import lru_cache
from math import comb

import numpy as np

from anoncore.kernels.arrays import Floats, Int64

MOST_K = 1000
MOST_K_ALL_VALUES = 120
"""Up to this k every common value is counted; above it only two, which gives a lower bound of eta."""
MOST_ENTRIES = 4_000_000


class Selectivity:
    """eta for one k. A class of n rows that publishes c values has C(n - 1, c - 1) versions.

    A version gives each published value at least one row: a vector (a_1 .. a_c) of whole numbers from 1 with sum n.
    eta of two classes is the share of pairs of their versions whose join, the sum of a_v b_v over the common values v,
    has at least k rows. It depends only on both sizes, both numbers of values, the number of common values and k: pairs
    below k are counted by what the common values sum up to, and the rest of a class is spread in a binomial number of
    ways. Source: Zakerzadeh, Aggarwal and Barker, vertical fragmentation, definition 4.4 and appendix C.
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self._known: dict[tuple[int, ...], float] = {}

    def eta(self, n: Int64, values: Int64, other_n: Int64, other_values: Int64, common: Int64) -> Floats:
        """eta of pairs of classes of n and other_n rows; arrays of one shape. 1 where nothing is common: no join.

        For k above 120 at most two common values are counted, so the result is a lower bound.
        """
        n, values, other_n, other_values, common = np.broadcast_arrays(n, values, other_n, other_values, common)
        kinds, first = np.unique(_kind(n, values), return_inverse=True)
        others, second = np.unique(_kind(other_n, other_values), return_inverse=True)
        width = int(common.max(initial=0)) + 1
        keys, inverse = np.unique((first * len(others) + second) * width + common, return_inverse=True)
        pairs, shared = np.divmod(keys, width)
        lines = np.stack([*_sizes(kinds[pairs // len(others)]), *_sizes(others[pairs % len(others)]), shared], axis=1)
        known = self._look_up(lines)
        return known[inverse].reshape(common.shape)

    def _look_up(self, lines: Int64) -> Floats:
        """eta by line: rows and number of values of one class, the same of the other, number of common values."""
        keys = [tuple(line) for line in lines.tolist()]
        missing = [position for position, key in enumerate(keys) if key not in self._known]
        if missing:
            counted = self._count(*lines[missing].T)
            self._known |= zip((keys[position] for position in missing), counted.tolist(), strict=True)
        return np.array([self._known[key] for key in keys])

    def _count(self, n: Int64, values: Int64, other_n: Int64, other_values: Int64, common: Int64) -> Floats:
        counted = common if self.k <= MOST_K_ALL_VALUES else np.minimum(common, 2)
        eta = np.ones(len(n))
        step = max(1, MOST_ENTRIES // self.k)
        # With k or more common values every version pair joins to k rows.
        for number in range(1, min(int(counted.max()), self.k - 1) + 1):
            below = _below(self.k, number)
            wanted = np.flatnonzero(counted == number)
            for begin in range(0, len(wanted), step):
                block = wanted[begin : begin + step]
                left = _shares(n[block], values[block], number, self.k)
                right = _shares(other_n[block], other_values[block], number, self.k)
                eta[block] = 1 - np.einsum("is,st,it->i", left, below, right, optimize=True)
        return np.clip(eta, 0.0, 1.0)


def versions(n: int, values: int) -> int:
    """Number of versions of a class of n rows that publishes so many values."""
    return comb(n - 1, values - 1)


@lru_cache(maxsize=64)
def _pairs(k: int, values: int) -> Floats:
    """Number of pairs of vectors over so many values, by their product and both their sums, all below k, (k, k, k).

    Two classes with a_v and b_v rows of class value v join to the sum over v of a_v b_v rows, their product. Numbers of
    pairs are floats, because they may exceed 64 bits.
    """
    if values == 0:
        nothing = np.zeros((k, k, k))
        nothing[0, 0, 0] = 1.0
        return nothing
    pairs, fewer = np.zeros((k, k, k)), _pairs(k, values - 1)
    # All numbers are at least 1, so neither sum of a vector exceeds the product.
    for a, b in _products(k).tolist():
        pairs[a * b :, a:, b:] += fewer[: k - a * b, : k - a, : k - b]
    return pairs


@lru_cache(maxsize=64)
def _products(k: int) -> Int64:
    """All pairs of whole numbers from 1 whose product is below k, by that product, int64 (n_pairs, 2)."""
    pairs = [(a, b) for a in range(1, k) for b in range(1, (k - 1) // a + 1)]
    return np.array(sorted(pairs, key=lambda pair: pair[0] * pair[1]), np.int64).reshape(-1, 2)


@lru_cache(maxsize=64)
def _below(k: int, values: int) -> Floats:
    """Number of pairs of vectors over so many values whose product is below k, by both their sums, (k, k)."""
    if values > 2:
        return _pairs(k, values).sum(axis=0)
    below, (a, b) = np.zeros((k, k)), _products(k).T
    if values == 1:
        below[a, b] = 1.0
        return below
    # With each pair of numbers of the one value go those of the other whose product is below what it leaves.
    for first, second, n in zip(a.tolist(), b.tolist(), np.searchsorted(a * b, k - a * b).tolist(), strict=True):
        below[first + a[:n], second + b[:n]] += 1.0
    return below


def _shares(n: Int64, values: Int64, counted: int, k: int) -> Floats:
    """Share of each class's versions that have one given vector of the counted values, by its sum, (n_classes, k)."""
    rest = np.broadcast_to((n[:, None] - np.arange(k)[None, :]).astype(np.float64), (len(n), k))
    left = (values - counted).astype(np.float64)[:, None]
    ways = np.where(left > 0, _log_binomial(rest - 1, left - 1), np.where(rest == 0, 0.0, -np.inf))
    every = _log_binomial(n.astype(np.float64) - 1, values.astype(np.float64) - 1)
    shares: Floats = np.exp(ways - every[:, None])
    return shares


def _log_binomial(n: Floats, k: Floats) -> Floats:
    """ln C(n, k); minus infinity where C(n, k) is 0."""
    n, k = np.broadcast_arrays(n, k)
    possible = (k >= 0) & (n >= k)
    top, bottom = np.where(possible, n, 0.0), np.where(possible, k, 0.0)
    # scipy.special is slow to import, and only joins of fragments need it.
    from scipy.special import gammaln

    logs = gammaln(top + 1) - gammaln(bottom + 1) - gammaln(top - bottom + 1)
    result: Floats = np.where(possible, logs, -np.inf)
    return result


def _kind(n: Int64, values: Int64) -> Int64:
    """Size and number of values of each class in one number, so that equal classes are found by a single sort."""
    return (n.astype(np.int64) << 24) | values


def _sizes(kind: Int64) -> tuple[Int64, Int64]:
    """Size and number of values of each class, taken out of the number that `_kind` made."""
    return kind >> 24, kind & ((1 << 24) - 1)

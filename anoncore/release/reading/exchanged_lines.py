"""Lines of two tables joined inside groups, so that as many as possible of the pairs of lines are those of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anoncore.kernels.arrays import Bools, Int64
from anoncore.kernels.group_places import Places, exchange_at_random, exchange_in_chains

MOST_PAIRS = 20_000_000
"""Pairs of codes up to which lines are joined by exchanges."""
STEPS = 300
"""Exchanges at random that are tried for each line."""
MOST_LOOKED_AT = 300_000_000
"""Lines of the same group that are looked at for exchanges, which takes some seconds; with more of them, fewer
exchanges are tried."""
ROUNDS = 100
"""Rounds of chains of exchanges; most end much earlier."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """The rows that have lines to come: `first` and `second` are their codes in both tables, and `count` how many rows
    have these, int64 (n_classes,) each.
    """

    first: Int64
    second: Int64
    count: Int64

    def fits(self, first: Int64, second: Int64) -> bool:
        """Whether each code has as many rows as lines."""
        return all(
            np.array_equal(
                np.bincount(rows, weights=self.count), np.bincount(lines, minlength=rows.max(initial=-1) + 1)
            )
            for rows, lines in ((self.first, first), (self.second, second))
        )


def joined_in_groups(first: Int64, second: Int64, group: Int64, wanted: Wanted) -> Int64:
    """The line of the second table for each line of the first one, int64 (n_lines,), each in the same group.

    Parameters
    ----------
    first, second : ndarray of int64, shape (n_lines,)
        What the lines of each table show, as codes.
    group : ndarray of int64, shape (n_lines,)
        The group of the lines of both tables, ascending.
    wanted : Wanted
        The rows that there are.
    """
    n_lines = len(group)
    mixed = np.lexsort((np.random.default_rng(0).random(n_lines), group))
    other = second[mixed].astype(np.int32)
    excess = np.zeros((int(first.max()) + 1, int(second.max()) + 1), dtype=np.int32)
    np.add.at(excess, (first, other), 1)
    np.subtract.at(excess, (wanted.first, wanted.second), wanted.count.astype(np.int32))
    different, number = np.unique(group, return_inverse=True)
    places = Places(
        first.astype(np.int32),
        other,
        number.astype(np.int32),
        np.searchsorted(number, np.arange(len(different) + 1)).astype(np.int64),
        np.searchsorted(np.sort(first), np.arange(len(excess) + 1)).astype(np.int64),
        np.argsort(first, kind="stable"),
        excess,
    )
    exchange_at_random(places, min(STEPS * n_lines, MOST_LOOKED_AT * len(different) // n_lines), 1)
    exchange_in_chains(places, ROUNDS)
    joined = np.empty(n_lines, dtype=np.int64)
    joined[np.lexsort((other, group))] = np.lexsort((second, group))
    return joined


def rows_of_pairs(first: Int64, second: Int64, wanted: Wanted) -> tuple[Int64, Bools]:
    """The class of rows for each pair of lines, int64 (n_lines,), and whether the pair is one of its rows, bool.

    Pairs that no row has are given to rows without a pair that agree with the line of the first table.
    """
    width = int(max(second.max(), wanted.second.max())) + 1
    known, asked = wanted.first * width + wanted.second, first * width + second
    by_key = np.argsort(known)
    place = np.minimum(np.searchsorted(known[by_key], asked), len(known) - 1)
    row = by_key[place]
    order = np.argsort(asked, kind="stable")
    rank = np.empty(len(asked), dtype=np.int64)
    rank[order] = np.arange(len(asked)) - np.searchsorted(asked[order], asked[order])
    is_own = (known[row] == asked) & (rank < wanted.count[row])
    over = wanted.count - np.bincount(row[is_own], minlength=len(known))
    left = np.repeat(np.arange(len(known)), over)
    others = np.flatnonzero(~is_own)
    row[others[np.argsort(first[others], kind="stable")]] = left[np.argsort(wanted.first[left], kind="stable")]
    return row, is_own

"""The fewest cells to suppress so that every row fits the own values of k people, where `*` stands for any value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Bools, Codes
from anoncore.kernels.wildcards import add_matches
from anoncore.privacy.wildcards import CellsAlike, words_of


def fewest_cells(codes: Codes, tiers: Sequence[Sequence[Bools]], k: int, progress: Progress) -> Bools:
    """Which cells every row loses, bool (n_rows, n_attributes).

    A row needs a set of attributes without which k rows of the table, itself among them, have its values. That depends
    on the table alone and not on what other rows lose, so each gets one of the cheapest of its sets. Which one of them
    is free: the set that serves most rows goes first, so that many rows are published alike.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_rows, n_attributes)
        The table.
    tiers : sequence of sequence of ndarray of bool, shape (n_attributes,)
        Sets of attributes to suppress, the cheapest first; those of one tier cost the same. One of them is that of all
        attributes.
    k : int
        How many rows have to agree; at most as many as there are.
    progress : callable
        Is told which share of the tiers is done.
    """
    alike, number = CellsAlike.of_rows(codes, np.zeros(codes.shape, dtype=np.bool_))
    salt, begin = words_of(alike.codes)
    everybody = np.arange(len(alike.rows))
    lost = np.zeros(alike.codes.shape, dtype=np.bool_)
    left = np.flatnonzero(alike.rows < k)
    n_left = len(left)
    for done, masks in enumerate(tiers):
        if not len(left):
            break
        fits = np.zeros((len(masks), len(left)), dtype=np.int64)
        for mask, counts in zip(masks, fits, strict=True):
            add_matches(alike.codes, alike.codes, salt, begin, ~mask, left, everybody, alike.rows, counts)
        enough = fits >= k
        waiting = enough.any(axis=0)
        rows = alike.rows[left]
        remaining = left[~waiting]
        while waiting.any():
            served = (enough & waiting) @ rows
            best = int(served.argmax())
            chosen = enough[best] & waiting
            lost[left[chosen]] = masks[best]
            waiting &= ~chosen
        left = remaining
        progress((done + 1) / len(tiers), f"{n_left - len(left):,} of {n_left:,} kinds of rare rows lose cells")
    return lost[number]

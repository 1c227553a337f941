"""The extent of a large node is that of all its rows, whatever is known of its bounds."""

from __future__ import annotations

import numpy as np
import pytest

from anoncore.kernels.splitting import BLOCK, NO_BOUNDS, SHARED_MEDIAN, extent_within, make_split, mark_left
from tests.kernels.from_python import from_python

EXTENT_WITHIN = from_python(extent_within)
MAKE_SPLIT, MARK_LEFT = from_python(make_split), from_python(mark_left)


@pytest.mark.slow
@pytest.mark.parametrize("known", ["nothing", "some", "everything", "too much room"])
@pytest.mark.parametrize("n", [2, 8 * BLOCK, 8 * BLOCK + 1, 5_000])
def test_the_extent_is_that_of_all_rows(n: int, known: str) -> None:
    rng = np.random.default_rng(n)
    # The last column has each of its extreme codes in one row, far behind the first block or anywhere.
    rows = np.column_stack([rng.integers(0, 3, n), rng.integers(0, 90, n), rng.permutation(n)]).astype(np.int32)
    lo, hi = (1, n - 1) if n > 2 else (0, n)
    least, most = rows[lo:hi].min(axis=0), rows[lo:hi].max(axis=0)
    bounds = np.empty((2, 3), np.int32)
    bounds[0], bounds[1] = NO_BOUNDS
    if known != "nothing":
        which = slice(0, 2) if known == "some" else slice(None)
        bounds[0, which], bounds[1, which] = least[which], most[which]
    if known == "too much room":
        bounds[0], bounds[1] = bounds[0] - 1, bounds[1] + 1
    low, high = np.empty(3, np.int32), np.empty(3, np.int32)
    EXTENT_WITHIN(rows, lo, hi, bounds, low, high)
    assert low.tolist() == least.tolist()
    assert high.tolist() == most.tolist()


@pytest.mark.parametrize("n_words", [1, 2, 3])
@pytest.mark.parametrize("seed", range(10))
def test_rows_at_a_shared_median_go_left_in_the_order_of_their_content(n_words: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, lo, hi = 60, 7, 52
    rows = np.column_stack([rng.integers(0, 3, n), rng.permutation(n)]).astype(np.int32)
    # Large words that few bits tell apart, most of them alike.
    content = rng.integers(0, 3, (n_words, n)) + 2**60
    at, below = (rows[lo:hi, 0] == 1).sum(), (rows[lo:hi, 0] < 1).sum()
    n_left = int(below + rng.integers(0, at + 1))
    left = np.zeros(n, np.bool_)
    MARK_LEFT(rows, lo, hi, MAKE_SPLIT(SHARED_MEDIAN, 0, 1, n_left), content, left)
    in_order = sorted(range(lo, hi), key=lambda row: (rows[row, 0], *content[:, rows[row, 1]].tolist(), row))
    in_order = [row for row in in_order if rows[row, 0] < 1] + [row for row in in_order if rows[row, 0] == 1]
    assert np.flatnonzero(left[: hi - lo]).tolist() == sorted(row - lo for row in in_order[:n_left])

"""The extent of a large node is that of all its rows, whatever is known of its bounds."""

from __future__ import annotations

import numpy as np
import pytest

from anoncore.kernels.splitting import BLOCK, NO_BOUNDS, extent_within
from tests.kernels.from_python import from_python

EXTENT_WITHIN = from_python(extent_within)


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

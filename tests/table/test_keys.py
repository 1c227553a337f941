"""Pairs of codes counted in a table of all pairs or by sorting: the same, and those that a dictionary counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from anoncore.table.keys import occurring_pairs


@pytest.mark.parametrize(("n_one", "n_other"), [(1, 1), (3, 5), (40, 50), (2_000, 3_000)])
def test_pairs_are_sorted_and_counted(n_one: int, n_other: int) -> None:
    rng = np.random.default_rng(n_one)
    one, other = (rng.integers(0, size, 600).astype(np.int32) for size in (n_one, n_other))
    first, second, rows = occurring_pairs(one, other, n_one, n_other)
    expected = Counter(zip(one.tolist(), other.tolist(), strict=True))
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == sorted(expected)
    assert rows.tolist() == [expected[pair] for pair in sorted(expected)]

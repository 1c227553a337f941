"""Joint frequencies of two attributes whose rows are linked inside groups, against a sum over all groups."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from anoncore.kernels.two_way import linked_frequencies
from anoncore.release.partition import Partition


@pytest.mark.parametrize(
    ("n_x", "n_y", "n_groups", "n_more"),
    [(1, 1, 1, 1), (3, 5, 4, 4), (4, 60, 150, 150), (60, 4, 2, 2), (90, 90, 300, 300), (90, 90, 20, 300)],
)
@pytest.mark.parametrize("asked", [0.3, 1.0])
def test_pairs_get_what_all_groups_leave_them(n_x: int, n_y: int, n_groups: int, n_more: int, asked: float) -> None:
    """Few pairs are all summed. Of many, those of groups of two rows are looked up, and large groups go through all."""
    rng = np.random.default_rng(n_x + n_y)
    group = np.concatenate((np.arange(n_groups), rng.integers(0, n_groups, n_more))).astype(np.int32)
    x, y = (rng.integers(0, size, len(group)).astype(np.int32) for size in (n_x, n_y))
    pairs = [pair for pair in product(range(n_x), range(n_y)) if rng.random() < asked] or [(0, 0)]
    first, second = np.array(pairs, np.int32).T
    partition = Partition(group)
    ordered = x[partition.order], y[partition.order]
    found = linked_frequencies(first.copy(), second.copy(), *ordered, n_x, n_y, partition.starts)
    counts = [(codes[:, None] == np.arange(size)).astype(float) for codes, size in ((x, n_x), (y, n_y))]
    in_group = (group == np.arange(n_groups)[:, None]).astype(float)
    of_x, of_y = (in_group @ one for one in counts)
    expected = of_x.T @ (of_y / partition.sizes[:, None])
    assert found == pytest.approx(expected[first, second])

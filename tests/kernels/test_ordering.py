"""Sorting digit by digit against numpy's sorts."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.kernels.ordering import stable_order
from anoncore.table.coding import content_order


@given(st.integers(0, 62), st.integers(0, 2**32 - 1), st.integers(1, 300))
@settings(max_examples=100)
def test_keys_of_any_width_are_sorted_and_equal_ones_kept(bits: int, seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 2**bits, n)
    keys[rng.random(n) < 0.5] = keys[0]
    start = rng.permutation(n)
    assert stable_order(keys, bits, start).tolist() == start[np.argsort(keys[start], kind="stable")].tolist()


@given(st.lists(st.sampled_from([1, 2, 3, 70, 5_000, 2**31 - 1]), min_size=1, max_size=9), st.integers(0, 2**32 - 1))
@settings(max_examples=100)
def test_columns_order_rows_from_the_first_on(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, min(size, 4), 60).astype(np.int32) * (size // 4 or 1) for size in sizes]
    columns = [np.minimum(column, size - 1) for column, size in zip(columns, sizes, strict=True)]
    assert content_order(columns, sizes).tolist() == np.lexsort(columns[::-1]).tolist()

"""The short loops that sort, against numpy's functions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.kernels import sorting
from anoncore.table.coding import content_head, content_order
from tests.kernels.from_python import from_python

stable_positions, sort_in_place = from_python(sorting.stable_positions), from_python(sorting.sort_in_place)
taken, kth_smallest = from_python(sorting.taken), from_python(sorting.kth_smallest)
place_after, filled_with = from_python(sorting.place_after), from_python(sorting.filled_with)


def numbers(n: int, different: int, seed: int, kind: str) -> np.ndarray:
    """Numbers of one type, many of them equal."""
    rng = np.random.default_rng(seed)
    return (rng.integers(0, different, n) - different // 3).astype(kind)


DRAWN = (st.integers(0, 200), st.integers(1, 60), st.integers(0, 2**32 - 1), st.sampled_from(["int64", "float64"]))


@pytest.mark.slow
@given(*DRAWN)
@settings(max_examples=75)
def test_values_are_sorted_and_equal_ones_keep_their_order(n: int, different: int, seed: int, kind: str) -> None:
    values = numbers(n, different, seed, kind)
    order = stable_positions(values)
    assert order.tolist() == np.argsort(values, kind="stable").tolist()
    assert taken(values, order).tolist() == np.sort(values).tolist()
    sort_in_place(values)
    assert values.tolist() == sorted(values.tolist())


@given(*DRAWN)
@settings(max_examples=75)
def test_the_value_at_a_position_needs_no_sort(n: int, different: int, seed: int, kind: str) -> None:
    values = numbers(n + 1, different, seed, kind).astype(np.float64)
    before = values.copy()
    for k in {0, n // 2, n}:
        assert kth_smallest(values, k) == np.sort(values)[k]
    assert values.tolist() == before.tolist()


@given(*DRAWN)
@settings(max_examples=75)
def test_the_values_up_to_a_number_are_counted(n: int, different: int, seed: int, kind: str) -> None:
    values = np.sort(numbers(n, different, seed, kind).astype(np.float64))
    for wanted in (-100.0, 0.0, 0.5, 3.0, 100.0):
        assert place_after(values, wanted) == np.searchsorted(values, wanted, side="right")


@pytest.mark.parametrize("n", [0, 1, 5])
def test_an_array_of_one_number(n: int) -> None:
    assert filled_with(n, -1).tolist() == [-1] * n


@given(st.integers(0, 62), st.integers(0, 2**32 - 1), st.integers(1, 300))
@settings(max_examples=50)
def test_keys_of_any_width_are_sorted_and_equal_ones_kept(bits: int, seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 2**bits, n)
    keys[rng.random(n) < 0.5] = keys[0]
    start = rng.permutation(n)
    assert sorting.stable_order(keys, bits, start).tolist() == start[np.argsort(keys[start], kind="stable")].tolist()


@given(st.lists(st.sampled_from([1, 2, 3, 70, 5_000, 2**31 - 1]), min_size=1, max_size=9), st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_columns_order_rows_from_the_first_on(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, min(size, 4), 60).astype(np.int32) * (size // 4 or 1) for size in sizes]
    columns = [np.minimum(column, size - 1) for column, size in zip(columns, sizes, strict=True)]
    order = np.lexsort(columns[::-1]).tolist()
    assert content_order(columns, sizes).tolist() == order
    for most in (0, 1, 7, 59, 60, 90):
        assert content_head(columns, most).tolist() == order[:most]

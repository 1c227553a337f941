"""Grouping entries by the keys of their generalized values against sorting the values themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.kernels.incognito import entry_groups, rows_in_small_groups


def groups_of(codes, columns, tables):
    """The groups by the kernel, with the tables of numbers laid out one after the other."""
    number = np.concatenate([np.zeros(0, dtype=np.int32), *tables])
    starts = np.cumsum([0, *(len(table) for table in tables)])[: len(tables)]
    n_numbers = np.array([int(table.max()) + 1 for table in tables], dtype=np.int64)
    return entry_groups(
        np.ascontiguousarray(codes, dtype=np.int32),
        np.array(columns, dtype=np.int64),
        number.astype(np.int32),
        starts.astype(np.int64),
        n_numbers,
    )


def plain(codes, columns, tables):
    """The number of every entry's generalized values, in the order in which they are met."""
    met: dict[tuple[int, ...], int] = {}
    return [
        met.setdefault(tuple(int(table[codes[a, e]]) for a, table in zip(columns, tables, strict=True)), len(met))
        for e in range(codes.shape[1])
    ]


@settings(max_examples=30)
@given(
    n=st.integers(1, 300),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=8),
    seed=st.integers(0, 2**31),
    data=st.data(),
)
def test_entries_with_equal_generalized_values_are_a_group(n, sizes, seed, data):
    rng = np.random.default_rng(seed)
    codes = np.vstack([rng.integers(0, size, n) for size in sizes])
    columns = sorted(data.draw(st.sets(st.integers(0, len(sizes) - 1))))
    tables = [np.unique(rng.integers(0, sizes[a], sizes[a]), return_inverse=True)[1].reshape(-1) for a in columns]
    group, n_groups = groups_of(codes, columns, tables)
    expected = plain(codes, columns, tables)
    assert group.tolist() == expected
    assert n_groups == max(expected) + 1


@pytest.mark.parametrize("n_attributes", [3, 9, 14])
def test_keys_that_would_outgrow_int64_are_numbered_on_the_way(n_attributes):
    # 1,000 values each: 3 attributes make keys that are hashed, 9 and 14 ones that are numbered once and more often.
    rng = np.random.default_rng(n_attributes)
    some = rng.integers(0, 1000, (n_attributes, 50))
    codes = some[:, rng.integers(0, 50, 400)]
    codes[-1, ::7] = 999
    tables = [rng.permutation(1000) for _ in range(n_attributes)]
    group, n_groups = groups_of(codes, range(n_attributes), tables)
    assert group.tolist() == plain(codes, range(n_attributes), tables)
    assert n_groups == len({tuple(column) for column in codes.T.tolist()})


def test_rows_of_small_groups_are_counted_by_weight():
    group = np.array([0, 1, 1, 2, 0], dtype=np.int32)
    weight = np.array([1, 5, 1, 2, 1], dtype=np.int64)
    assert rows_in_small_groups(group, 3, weight, 3) == 4
    assert rows_in_small_groups(group, 3, weight, 7) == 10
    assert rows_in_small_groups(group, 3, weight, 1) == 0

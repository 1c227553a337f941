"""Pairs of codes counted in a table of all pairs or by sorting: the same, and those that a dictionary counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from anoncore.kernels.grouping import (
    dense_key,
    distinct,
    first_rows,
    looked_up,
    numbered_inside_groups,
    occurring_pairs,
    order_by_nearness,
    owners,
    places_in,
)


@pytest.mark.parametrize(("n_one", "n_other"), [(1, 1), (3, 5), (40, 50), (2_000, 3_000)])
def test_pairs_are_sorted_and_counted(n_one: int, n_other: int) -> None:
    rng = np.random.default_rng(n_one)
    one, other = (rng.integers(0, size, 600).astype(np.int32) for size in (n_one, n_other))
    first, second, rows = occurring_pairs(one, other)
    expected = Counter(zip(one.tolist(), other.tolist(), strict=True))
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == sorted(expected)
    assert rows.tolist() == [expected[pair] for pair in sorted(expected)]


@pytest.mark.parametrize(("n_groups", "n_keys"), [(1, 1), (1, 400), (60, 5), (200, 2**31 - 1)])
def test_keys_are_numbered_group_by_group(n_groups: int, n_keys: int) -> None:
    rng = np.random.default_rng(n_keys)
    group, keys = rng.integers(0, n_groups, 600).astype(np.int32), rng.integers(0, n_keys, 600)
    number, of_group, different, count = numbered_inside_groups(group, keys)
    pairs = list(zip(group.tolist(), keys.tolist(), strict=True))
    expected = Counter(pairs)
    in_order = sorted(expected)
    assert number.tolist() == [in_order.index(pair) for pair in pairs]
    assert list(zip(of_group.tolist(), different.tolist(), strict=True)) == in_order
    assert count.tolist() == [expected[pair] for pair in in_order]


def test_rows_that_are_alike_in_all_columns_stand_near_each_other() -> None:
    """Two columns of four values, halved in turn: first the lower half of both, then of the first one, and so on."""
    one, other = (codes.ravel().astype(np.int32) for codes in np.indices((4, 4)))
    order = order_by_nearness([one, other], 16)
    pairs = list(zip(one[order].tolist(), other[order].tolist(), strict=True))
    assert pairs[:8] == [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3), (1, 2), (1, 3)]
    assert pairs[8:] == [(a + 2, b) for a, b in pairs[:8]]


@pytest.mark.parametrize("width", [0, 1, 3, 80])
def test_the_order_by_nearness_has_every_row_once_and_halves_by_people(width: int) -> None:
    rng = np.random.default_rng(width)
    columns = [(rng.pareto(1.0, 500) * 3).astype(np.int32) for _ in range(width)]
    order = order_by_nearness(columns, 500)
    assert sorted(order.tolist()) == list(range(500))
    if width == 1:
        halves = np.searchsorted(np.sort(columns[0]), columns[0][order]) >= 250
        assert (np.diff(halves.astype(int)) != 0).sum() <= 1


def test_first_rows_are_those_in_which_a_number_comes_up() -> None:
    assert first_rows(np.array([0, 0, 1, 0, 2, 1])).tolist() == [0, 2, 4]
    key = dense_key([np.random.default_rng(0).integers(0, 50, 300).astype(np.int32)], 300)
    assert first_rows(key).tolist() == np.unique(key, return_index=True)[1].tolist()


def test_of_no_rows_nothing_is_numbered():
    none = np.zeros(0, dtype=np.int32)
    for is_sorted in (False, True):
        assert dense_key([none, none], 0, is_sorted=is_sorted).tolist() == []
    assert first_rows(none).tolist() == []


def test_owners_of_runs_by_hand() -> None:
    assert owners(np.array([2, 0, 3])).tolist() == [0, 0, 2, 2, 2]
    assert owners([]).tolist() == []


def test_values_are_looked_up_by_keys_that_ascend() -> None:
    keys, wanted = np.array([2, 5, 9]), np.array([9, 1, 5, 10])
    place, is_there = places_in(keys, wanted)
    assert is_there.tolist() == [True, False, True, False]
    assert place[is_there].tolist() == [2, 1]
    assert looked_up(keys, np.array([0.2, 0.5, 0.9]), wanted).tolist() == [0.9, 0.0, 0.5, 0.0]
    nothing = np.zeros(0, np.int64)
    assert looked_up(nothing, np.zeros(0), wanted).tolist() == [0.0] * 4


@pytest.mark.parametrize("size", [None, 400, 10**9])
def test_different_values_ascend_whether_they_are_marked_or_sorted(size: int | None) -> None:
    values = np.random.default_rng(0).integers(0, 400, 300)
    assert distinct(values, size).tolist() == sorted(set(values.tolist()))
    assert distinct(values[:0], size).tolist() == []

"""Lines of two tables joined inside groups: every line once, in its group, and nearly all pairs those of rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.kernels.group_places import Places, exchange_at_random, exchange_in_chains
from anoncore.release.reading.joined_alignment import Wanted, joined_in_groups, rows_of_pairs


def drawn(seed, n_groups=60, size=4, n_first=40, n_second=6):
    """Rows in groups, in which every row has another second code, as the codes of each table's lines, and the rows."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), size)
    first = rng.integers(0, n_first, len(group))
    second = np.concatenate([rng.permutation(n_second)[:size] for _ in range(n_groups)])
    pairs, count = np.unique(np.column_stack((first, second)), axis=0, return_counts=True)
    wanted = Wanted(pairs[:, 0], pairs[:, 1], count)
    # What is published does not tell which lines of a group belong together.
    shown = np.lexsort((rng.random(len(group)), group))
    return first, second[shown], group, wanted


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 4), st.integers(1, 6))
def test_every_line_is_joined_once_in_its_group_and_every_row_gets_a_pair(seed, n_groups, size, n_first):
    first, second, group, wanted = drawn(seed, n_groups, size, n_first)
    assert wanted.fits(first, second)
    joined = joined_in_groups(first, second, group, wanted)
    assert sorted(joined) == list(range(len(group)))
    assert (group[joined] == group).all()
    row, is_own = rows_of_pairs(first, second[joined], wanted)
    assert Counter(row.tolist()) == dict(enumerate(wanted.count.tolist()))
    assert (wanted.first[row] == first).all()
    assert (wanted.second[row][is_own] == second[joined][is_own]).all()
    # A pair is nobody's only where all rows with it have one.
    seen = Counter(zip(first.tolist(), second[joined].tolist(), strict=True))
    rows = {
        (a, b): n for a, b, n in zip(wanted.first.tolist(), wanted.second.tolist(), wanted.count.tolist(), strict=True)
    }
    assert is_own.sum() == sum(min(n, rows.get(pair, 0)) for pair, n in seen.items())


@pytest.mark.parametrize("seed", range(5))
def test_nearly_all_pairs_are_those_of_rows(seed):
    first, second, group, wanted = drawn(seed, n_groups=500, n_first=300, n_second=10)
    joined = joined_in_groups(first, second, group, wanted)
    by_chance = rows_of_pairs(first, second, wanted)[1].mean()
    assert by_chance < 0.8
    assert rows_of_pairs(first, second[joined], wanted)[1].mean() > 0.99


def test_two_groups_by_hand():
    # The first group has to give a to 0 and b to 1, as the second one has b alone.
    first, second, group = np.array([0, 1, 0, 2]), np.array([1, 0, 1, 2]), np.array([0, 0, 1, 1])
    wanted = Wanted(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]), np.array([1, 1, 1, 1]))
    joined = joined_in_groups(first, second, group, wanted)
    assert second[joined].tolist() == [0, 1, 1, 2]
    assert rows_of_pairs(first, second[joined], wanted)[1].all()


def test_rows_that_lines_cannot_have_do_not_fit():
    wanted = Wanted(np.array([0, 1]), np.array([0, 0]), np.array([1, 1]))
    assert wanted.fits(np.array([0, 1]), np.array([0, 0]))
    assert not wanted.fits(np.array([0, 0]), np.array([0, 0]))
    assert not wanted.fits(np.array([0, 2]), np.array([0, 0]))


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_excess_is_counted_along_and_chains_only_take_it_away(seed):
    first, second, group, wanted = drawn(seed, n_groups=30, n_first=12)
    asked = np.zeros((12, 6), dtype=np.int32)
    asked[wanted.first, wanted.second] = wanted.count
    other = second.astype(np.int32)
    excess = -asked
    np.add.at(excess, (first, other), 1)
    places = Places(
        first.astype(np.int32),
        other,
        group.astype(np.int32),
        np.arange(0, len(group) + 1, 4),
        np.searchsorted(np.sort(first), np.arange(13)),
        np.argsort(first, kind="stable"),
        excess,
    )
    exchange_at_random(places, 200, seed)
    before = np.abs(excess).sum()
    exchange_in_chains(places, 50)
    counted = -asked
    np.add.at(counted, (first, other), 1)
    assert (counted == excess).all()
    assert np.abs(excess).sum() <= before
    for begin in range(0, len(group), 4):
        assert sorted(other[begin : begin + 4]) == sorted(second[begin : begin + 4])

"""The compiled dealing of Anatomy against a plain one, and its leftovers against a maximum matching."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from anoncore.kernels import anatomy
from anoncore.kernels.anatomy import deal
from tests.kernels.from_python import from_python

make_room = from_python(anatomy._make_room)


@st.composite
def dealings(draw):
    """Counts per value of which none has more than n / l rows."""
    l = draw(st.integers(1, 5))
    counts = draw(st.lists(st.integers(0, 8), min_size=l, max_size=12).filter(any))
    n = sum(counts)
    while max(counts) * l > n:
        counts = [min(count, n // l) for count in counts]
        n = sum(counts)
        if n < l:
            counts = [1] * l
            n = l
    values = np.repeat(np.arange(len(counts)), counts)
    order = draw(st.permutations(range(n)))
    by_value = np.array(order, dtype=np.int64)
    tie = np.array(draw(st.permutations(range(len(counts)))), dtype=np.int64)
    chance = np.array(draw(st.lists(st.floats(0, 1, exclude_max=True), min_size=n, max_size=n)))
    codes = np.empty(n, dtype=np.int64)
    codes[by_value] = values
    return by_value, np.array(counts, dtype=np.int64), l, tie, chance, codes


def plainly_dealt(by_value, counts, l, tie):
    """Buckets before the leftovers (as lists of rows), and the leftover rows."""
    piles, begin = [], 0
    for count in counts:
        piles.append([int(row) for row in by_value[begin : begin + count]])
        begin += count
    buckets = []
    while sum(bool(pile) for pile in piles) >= l:
        fullest = sorted(
            (value for value in range(len(piles)) if piles[value]), key=lambda value: (-len(piles[value]), tie[value])
        )
        buckets.append([piles[value].pop() for value in fullest[:l]])
    return buckets, [row for pile in piles for row in pile]


@settings(max_examples=30)
@given(dealings())
def test_dealing_equals_its_plain_twin(case):
    by_value, counts, l, tie, chance, codes = case
    bucket = deal(by_value, counts, l, tie, chance)
    buckets, leftovers = plainly_dealt(by_value, counts, l, tie)
    assert len(leftovers) < l
    for number, rows in enumerate(buckets):
        assert all(bucket[row] == number for row in rows)
    assert bucket.min() >= 0
    assert bucket.max() < len(buckets)
    for number in range(len(buckets)):
        inside = codes[bucket == number]
        assert len(set(inside)) == len(inside)


@settings(max_examples=30)
@given(dealings())
def test_as_many_leftovers_as_can_have_a_bucket_of_their_own(case):
    by_value, counts, l, tie, chance, codes = case
    bucket = deal(by_value, counts, l, tie, chance)
    buckets, leftovers = plainly_dealt(by_value, counts, l, tie)
    if not leftovers:
        return
    lacks = [[codes[row] not in codes[rows] for rows in buckets] for row in leftovers]
    most = int((maximum_bipartite_matching(csr_array(np.array(lacks, dtype=int)), perm_type="column") >= 0).sum())
    assert len({int(bucket[row]) for row in leftovers}) == most


def test_a_leftover_moves_to_make_room_for_another():
    # l = 3; rows per value: a 1, b 2, c 2, d 2, e 1. The first bucket takes b, c, d. Of the single rows that are left,
    # ties favour c, d, e, so that a (row 0) and b (row 1) are left over. Bucket 0 has b, so b needs bucket 1. A high
    # chance sends a there first; it must move to bucket 0.
    by_value, counts = np.arange(8, dtype=np.int64), np.array([1, 2, 2, 2, 1])
    bucket = deal(by_value, counts, 3, np.array([3, 4, 0, 1, 2]), np.full(8, 0.9))
    assert bucket.tolist() == [0, 1, 0, 1, 0, 1, 0, 1]


@settings(max_examples=30)
@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=6))
def test_augmenting_one_by_one_gives_a_maximum_matching(rows):
    lacks = np.array(rows)
    owner, place_of = np.full(5, -1, np.int64), np.full(len(rows), -1, np.int64)
    made = [make_room(leftover, lacks, owner, place_of) for leftover in range(len(rows))]
    most = int((maximum_bipartite_matching(csr_array(lacks.astype(int)), perm_type="column") >= 0).sum())
    assert sum(made) == most
    for leftover, bucket in product(range(len(rows)), range(5)):
        assert (owner[bucket] == leftover) == (place_of[leftover] == bucket)
    assert all(lacks[leftover, place] for leftover, place in enumerate(place_of) if place >= 0)

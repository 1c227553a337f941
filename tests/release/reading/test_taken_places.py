"""Places given out so that rows and lines are used up, beside a search through all ways to give them out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncore.release.reading import taken_places as module
from anoncore.release.reading.taken_places import taken_places

PLACES = list(itertools.product(range(3), range(2)))
"""A class of rows, and one of lines: every place that there can be."""
sizes = st.integers(0, 3)


@given(
    st.lists(st.sampled_from(PLACES), min_size=1, max_size=5, unique=True),
    st.tuples(*[sizes] * 3),
    st.tuples(sizes, sizes),
)
def test_places_are_given_out_whenever_they_can_be(places, rows, lines):
    owners = [np.array(owner) for owner in zip(*places, strict=True)]
    wanted = [np.array(rows), np.array(lines)]
    ways = [
        amounts
        for amounts in itertools.product(range(4), repeat=len(places))
        if all(np.array_equal(used(owner, amounts, sums), sums) for owner, sums in zip(owners, wanted, strict=True))
    ]
    taken, is_found = taken_places(owners, wanted)
    assert is_found
    assert (taken is None) == (not ways)
    assert taken is None or tuple(taken.tolist()) in ways


def used(owner, amounts, sums):
    return np.bincount(owner, weights=amounts, minlength=len(sums))


def test_rows_in_groups_of_two_tables_need_a_program_that_counts():
    # Rows 0 and 1 fit both groups; lines of the second table leave one of each in each group.
    owners = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 2, 1, 3])]
    taken, is_found = taken_places(owners, [np.array([2, 2]), np.array([2, 2]), np.array([1, 1, 1, 1])])
    assert is_found
    assert taken.tolist() == [1, 1, 1, 1]


def test_no_place_suits_nobody():
    nothing = np.array([], dtype=np.int64)
    assert taken_places([nothing, nothing], [np.array([1]), np.array([1])]) == (None, True)


@pytest.mark.parametrize("is_in_time", [False, True])
def test_what_has_no_choice_is_given_out_even_where_there_is_no_time(monkeypatch, is_in_time):
    if not is_in_time:
        monkeypatch.setattr(module, "SECONDS", ())
    # The class of rows 2 fits one place only; the two others can be in either of two.
    owners = [np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2])]
    wanted = [np.array([1, 1, 4]), np.array([1, 1, 4])]
    taken, is_found = taken_places(owners, wanted)
    assert is_found == is_in_time
    assert taken[4] == 4
    assert taken[:4].tolist() in ([[1, 0, 0, 1], [0, 1, 1, 0]] if is_in_time else [[0, 0, 0, 0]])

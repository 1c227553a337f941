"""Products of counts of any size against Python's whole numbers, which have no largest one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncore.kernels.checking import counts_level, levels_of_counts
from anoncore.kernels.proportions import Proportions, worst_distance
from anoncore.kernels.rounding import fits_word, product_difference
from anoncore.requirements import DistinctDiversity, KAnonymity, TCloseness
from tests.kernels.from_python import from_python

difference, fits = from_python(product_difference), from_python(fits_word)
counts = st.one_of(st.integers(0, 2**62), st.integers(0, 2**33), st.sampled_from([0, 1, 2**32 - 1, 2**32, 2**62]))


@given(counts, counts, counts, counts)
def test_the_difference_is_that_of_whole_numbers(a, b, c, d):
    found = difference(a, b, c, d, False)
    assert found == difference(c, d, a, b, False)
    if fits(a, b) and fits(c, d):
        assert found == difference(a, b, c, d, True)
    assert found == pytest.approx(float(abs(a * b - c * d)), rel=4e-16, abs=0)


def test_equal_products_of_different_counts_leave_nothing():
    assert difference(3 * 2**40, 5 * 2**20, 5 * 2**40, 3 * 2**20, False) == 0.0
    assert difference(2**40, 2**40, 2**40, 2**40, False) == 0.0
    assert difference(2**40 + 1, 2**40, 2**40, 2**40, False) == 2.0**40


@given(st.lists(st.tuples(st.integers(0, 10**11), st.integers(1, 10**11)), min_size=2, max_size=5))
def test_distances_of_billions_of_rows_are_those_of_fractions(pairs):
    held, table = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    if held.sum() == 0:
        return
    surplus = [
        Fraction(a, int(held.sum())) - Fraction(b, int(table.sum()))
        for a, b in zip(*map(np.ndarray.tolist, (held, table)), strict=True)
    ]
    edges = [(code, code, 0.5) for code in range(len(held))]
    reference = np.array([*table, len(edges), *np.ravel(edges)], dtype=np.float64)
    found = counts_level(held, int(held.sum()), TCloseness.level.address, -1, reference)
    assert found == pytest.approx(float(sum(map(abs, surplus)) / 2), rel=1e-12)
    ordered = [(0, code, 1 / (len(held) - 1)) for code in range(len(held) - 1)]
    reference = np.array([*table, len(ordered), *np.ravel(ordered)], dtype=np.float64)
    found = counts_level(held, int(held.sum()), TCloseness.level.address, -1, reference)
    crossing = [abs(sum(surplus[: code + 1])) for code in range(len(held) - 1)]
    assert found == pytest.approx(float(sum(crossing) / (len(held) - 1)), rel=1e-12)


@pytest.mark.parametrize("rows", [4, 4 * 10**6, 4 * 10**12])
def test_the_worst_class_of_billions_of_rows_is_that_of_four(rows):
    # Two buckets of two values each; a class of three rows of the first bucket and one of the second. All of them at
    # one value: 3/4 - 1/4 there, -1/4 at the other; and 1/4 - 1/4 and -1/4. Half of 1/2 + 1/4 + 0 + 1/4 is 1/2.
    quarter = rows // 4
    whole = np.arange(5, dtype=np.int64)
    proportions = Proportions(
        weight=np.full(4, 0.5),
        rows=np.full(4, quarter, dtype=np.int64),
        n_rows=rows,
        begin=np.array([0, 0, 1, 1], dtype=np.int64),
        end=np.array([0, 0, 1, 1], dtype=np.int64),
        first=whole[:4],
        last=whole[:4],
        edge_start=np.array([0, 2, 4], dtype=np.int64),
        probe=whole[:4],
        probe_start=np.array([0, 2, 4], dtype=np.int64),
    )
    assert worst_distance(proportions, np.array([3 * quarter, quarter], dtype=np.int64)) == 0.5


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 6)), min_size=1, max_size=6), min_size=1, max_size=5)
)
def test_levels_of_counts_are_those_of_the_rows_that_they_stand_for(groups):
    """A code may stand several times in a group, and what one group has does not stay for the next."""
    codes, rows = (np.array([pair[side] for group in groups for pair in group]) for side in (0, 1))
    starts = np.cumsum([0, *map(len, groups)])
    found = levels_of_counts(starts, codes.astype(np.int32), rows, 5, DistinctDiversity.level.address, -1, np.zeros(0))
    assert found.tolist() == [len({code for code, _ in group}) for group in groups]
    sizes = levels_of_counts(starts, codes.astype(np.int32) * 0, rows, 1, KAnonymity.level.address, -1, np.zeros(0))
    assert sizes.tolist() == [sum(n for _, n in group) for group in groups]

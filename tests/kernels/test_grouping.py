import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.kernels.grouping import grouped_rows, numbered_keys
from anoncore.release.partition import Partition


@st.composite
def grouped_codes(draw):
    """Dense group ids and codes of n rows; domain sizes on both sides of a word of 64 bits."""
    n = draw(st.integers(1, 40))
    n_groups = draw(st.integers(1, n))
    group = [*range(n_groups), *draw(st.lists(st.integers(0, n_groups - 1), min_size=n - n_groups, max_size=n))]
    group = np.array(draw(st.permutations(group[:n])), dtype=np.int32)
    size = draw(st.sampled_from([1, 2, 63, 64, 65, 128, 129]))
    codes = draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n))
    return group, np.array(codes, dtype=np.int32), int(group.max()) + 1, size


@pytest.mark.slow
@settings(max_examples=30)
@given(grouped_codes())
def test_group_statistics_equal_their_plain_twins(case):
    group, codes, n_groups, size = case
    members = [[row for row in range(len(group)) if group[row] == g] for g in range(n_groups)]
    order = grouped_rows(group)[0]
    assert order.tolist() == [row for rows in members for row in rows]
    partition = Partition(group)
    histogram = partition.histogram(codes, size)
    assert histogram.tolist() == [[sum(codes[row] == code for row in rows) for code in range(size)] for rows in members]
    low, high = partition.extent(codes)
    assert low.tolist() == [min(codes[row] for row in rows) for rows in members]
    assert high.tolist() == [max(codes[row] for row in rows) for rows in members]
    offsets, values = partition.value_sets(codes, size)
    found = [values[offsets[g] : offsets[g + 1]].tolist() for g in range(n_groups)]
    assert found == [sorted({int(codes[row]) for row in rows}) for rows in members]
    assert len(values) == offsets[-1]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from([0, 1, 2, 8, 16, 2**63, 2**64 - 1]), st.integers(0, 2)), max_size=60))
def test_keys_are_numbered_as_they_first_come_also_where_they_share_half_or_a_slot(keys):
    distinct = list(dict.fromkeys(keys))
    number, first = numbered_keys(np.array(keys, dtype=np.uint64).reshape(-1, 2))
    assert number.tolist() == [distinct.index(key) for key in keys]
    assert first.tolist() == [keys.index(key) for key in distinct]

import numpy as np
import pytest

from anoncore import DataError, Partition


def test_sizes_order_and_rows():
    partition = Partition(np.array([1, 0, 1, 2, 1]))
    assert (partition.n_rows, partition.n_groups) == (5, 3)
    assert partition.group.dtype == np.int32
    assert partition.sizes.tolist() == [1, 3, 1]
    assert partition.starts.tolist() == [0, 1, 4, 5]
    assert partition.order.tolist() == [1, 0, 2, 4, 3]
    assert partition.rows(1).tolist() == [0, 2, 4]


def test_statistics_of_groups():
    partition = Partition(np.array([1, 0, 1, 1]))
    codes = np.array([3, 1, 0, 3], dtype=np.int32)
    assert partition.histogram(codes, 4).tolist() == [[0, 1, 0, 0], [1, 0, 0, 2]]
    low, high = partition.extent(codes)
    assert (low.tolist(), high.tolist()) == ([1, 0], [1, 3])
    for size in (4, 300):
        offsets, members = partition.value_sets(codes, size)
        assert (offsets.tolist(), members.tolist()) == ([0, 1, 3], [1, 0, 3])


@pytest.mark.parametrize(
    "group", [[], [0, 2], [1, 1], [-1, 0], [0, 2**31 - 1], [0.0, 1.0], [[0], [1]], ["a"], [0, 2**40]]
)
def test_ids_must_be_whole_and_dense(group):
    with pytest.raises(DataError, match="every id from 0 to the largest must occur"):
        Partition(np.array(group))

"""Random partitions: the properties of every group, and that every partition is as likely as the next."""

from __future__ import annotations

from collections import Counter
from math import comb, factorial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, InfeasibleError, Microdata
from anoncore.algorithms import RandomPartition
from anoncore.algorithms.closeness.locality import Multiplicity
from anoncore.kernels.random_partition import log_partitions, mix

from .close_tables import close_tables, contents, shuffled


def draws(model: RandomPartition, bucket, n: int, times: int) -> Counter[frozenset[frozenset[int]]]:
    found: Counter[frozenset[frozenset[int]]] = Counter()
    bucket = np.array(bucket, dtype=np.int32)
    for seed in range(times):
        rng = np.random.default_rng(seed)
        group = model.draw(bucket, rng.permutation(n), rng)
        found[frozenset(frozenset(np.flatnonzero(group == number).tolist()) for number in set(group.tolist()))] += 1
    return found


def partitions(n: int, least: int) -> int:
    if n == 0:
        return 1
    return sum(comb(n - 1, size - 1) * partitions(n - size, least) for size in range(least, n + 1))


@pytest.mark.slow
@settings(max_examples=20)
@given(data=close_tables(), k=st.integers(1, 8), equal=st.booleans(), uniform=st.booleans(), seed=st.integers(0, 99))
def test_every_group_has_its_properties(data, k, equal, uniform, seed):
    k = min(k, data.n_rows)
    release = RandomPartition(k=k, equal_sizes=equal, uniform_frequencies=uniform, seed=seed).anonymize(data)
    sizes = release.partition.sizes
    assert sizes.min() >= k
    if equal:
        assert len(sizes) == data.n_rows // k
        assert np.ptp(sizes) <= 1
    if uniform:
        multiplicity = Multiplicity.of(data)
        held = release.partition.histogram(multiplicity.of_row, len(multiplicity.cells))
        assert np.ptp(held, axis=0).max() <= 1


@pytest.mark.parametrize(("n", "least"), [(1, 1), (6, 2), (9, 3), (12, 1)])
def test_partitions_are_counted(n, least):
    log_count, _ = log_partitions(n, least, n)
    assert np.exp(log_count[n]) * factorial(n) == pytest.approx(partitions(n, least))


@pytest.mark.parametrize(("equal", "n", "k", "possible"), [(False, 6, 2, 41), (True, 6, 3, 10), (True, 5, 2, 10)])
def test_every_partition_is_as_likely_as_the_next(equal, n, k, possible):
    times = 60 * possible
    found = draws(RandomPartition(k=k, equal_sizes=equal), [0] * n, n, times)
    assert len(found) == possible
    assert equal or partitions(n, k) == possible
    chi = sum((count - 60) ** 2 / 60 for count in found.values())
    assert chi < possible - 1 + 5 * np.sqrt(2 * possible)


def test_mixing_reaches_every_table_with_the_same_sums():
    """Rows with sums 1, 1, 1 and columns with sums 1, 1, 1: the six permutations."""
    found: Counter[tuple[int, ...]] = Counter()
    for seed in range(1200):
        grid = np.eye(3, dtype=bool)
        mix(grid, 60, seed)
        assert grid.sum(axis=0).tolist() == grid.sum(axis=1).tolist() == [1, 1, 1]
        found[tuple(grid.argmax(axis=1).tolist())] += 1
    assert len(found) == 6
    assert min(found.values()) > 140


def test_even_classes_differ_in_who_has_the_extra_rows():
    model = RandomPartition(k=2, uniform_frequencies=True)
    found = draws(model, [0, 0, 0, 1, 1, 1], 6, 200)
    counts = {tuple(sorted(tuple(sorted(row < 3 for row in block)) for block in partition)) for partition in found}
    assert counts == {((False, True),) * 3}


def test_uneven_classes_of_even_frequencies_have_several_sizes():
    bucket = np.repeat(np.arange(6), [17, 15, 13, 10, 9, 9])
    model = RandomPartition(k=5, equal_sizes=False, uniform_frequencies=True)
    found = draws(model, bucket, 73, 60)
    assert len({len(partition) for partition in found}) > 2
    assert any(max(map(len, partition)) - min(map(len, partition)) > 1 for partition in found)


def test_row_order_does_not_matter_and_the_seed_repeats():
    frame = pd.DataFrame({"q": range(60), "s": [number % 7 for number in range(60)]})
    data = Microdata(frame, roles={"q": "quasi-identifier", "s": "sensitive"})
    for uniform in (False, True):
        model = RandomPartition(k=4, uniform_frequencies=uniform, seed=1)
        assert contents(model.anonymize(data)) == contents(model.anonymize(shuffled(data, 2)))


def test_what_cannot_be_done_is_said():
    frame = pd.DataFrame({"q": range(3)})
    data = Microdata(frame, roles={"q": "quasi-identifier"})
    with pytest.raises(InfeasibleError):
        RandomPartition(k=4).anonymize(data)
    with pytest.raises(DataError, match="sensitive"):
        RandomPartition(k=2, uniform_frequencies=True).anonymize(data)
    assert RandomPartition(k=2).anonymize(data).partition.n_groups == 1


def partitions_by_number(counts: tuple[int, int], k: int) -> list[float]:
    """By their number of classes the partitions of uniform frequencies into classes of k rows or more."""
    found = []
    for e in range(1, sum(counts) // k + 1):
        each, left = [count // e for count in counts], [count % e for count in counts]
        # Classes with an extra row of the first value only, of both, of the second only: `both` decides the rest.
        matrices = 0
        for both in range(max(0, sum(left) - e), min(left) + 1):
            kinds = [both, left[0] - both, left[1] - both, e - sum(left) + both]
            extras = [2, 1, 1, 0]
            if all(not kind or sum(each) + extra >= k for kind, extra in zip(kinds, extras, strict=True)):
                ways = factorial(e)
                for kind in kinds:
                    ways //= factorial(kind)
                matrices += ways
        rows = 1
        for count, one, more in zip(counts, each, left, strict=True):
            rows *= factorial(count) // factorial(one + 1) ** more // factorial(one) ** (e - more)
        found.append(matrices * rows / factorial(e))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("counts", "k"), [((20, 14), 5), ((30, 30), 3), ((41, 7), 6)])
def test_the_number_of_classes_is_that_of_a_partition_drawn_from_all(counts, k):
    exact = np.array(partitions_by_number(counts, k))
    exact /= exact.sum()
    model = RandomPartition(k=k, equal_sizes=False, uniform_frequencies=True)
    bucket = np.repeat(np.arange(2, dtype=np.int32), counts)
    numbers = []
    for seed in range(1_500):
        rng = np.random.default_rng(seed)
        numbers.append(int(model.draw(bucket, rng.permutation(len(bucket)), rng).max()) + 1)
    found = np.bincount(numbers, minlength=len(exact) + 1)[1:] / len(numbers)
    assert np.abs(found - exact).sum() / 2 < 0.12
    # Evenly drawn numbers would be far from it.
    assert np.abs(1 / len(exact) - exact).sum() / 2 > 0.3

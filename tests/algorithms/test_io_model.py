"""The input and output model of the Rothko paper, section 4, by hand and beside what runs count."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from anoncore import Microdata
from anoncore.algorithms import RothkoSampling, RothkoTree
from anoncore.datasets.rothko_synthetic import load_rothko
from anoncore.requirements import KAnonymity
from tests.papers.rothko_io import (
    confident_levels,
    sampling_io,
    sampling_repartitions,
    tree_height,
    tree_io,
    tree_repartitions,
)


def test_the_papers_table():
    # 50 million rows, 2 million in memory: ceil(log2 25) = 5 levels.
    assert tree_height(50_000_000, 2_000_000) == 5
    assert [tree_repartitions(5, cache) for cache in (1, 2, 4, 8, 16, 32)] == [5, 3, 2, 2, 1, 1]
    assert tree_io(1.0, 50_000_000, 2_000_000, 1) == (11.0, 5.0)
    assert tree_io(1.0, 50_000_000, 2_000_000, 8) == (8.0, 2.0)
    # "the data was repartitioned just once, meaning that the algorithm read the entire data set 3 times" (section 5.3)
    for sample in (25_000, 100_000, 500_000, 2_000_000):
        assert sampling_repartitions(50_000_000, sample, 1000) <= 2
    assert sampling_io(1.0, 50_000_000, 2_000_000, 1000) == (3.0, 1.0)


def test_a_table_that_fits_is_read_once():
    assert tree_io(7.0, 1_000, 1_000, 4) == (7.0, 0.0)
    assert sampling_io(7.0, 1_000, 1_000, 10) == (7.0, 0.0)


def test_without_a_confident_level_nothing_is_divided():
    assert confident_levels(1_000, 10, 400) == 0
    assert sampling_io(1.0, 1_000, 10, 400) == (1.0, 0.0)


@given(n_rows=st.integers(2, 10**8), memory=st.integers(2, 10**6), k=st.integers(1, 1_000))
@settings(max_examples=30)
def test_confident_levels_are_the_papers(n_rows, memory, k):
    n, p0 = min(n_rows, memory), min(k / n_rows, 1.0)
    bound = norm.isf(0.025) * sqrt(p0 * (1 - p0) / n * (n_rows - n) / (n_rows - 1))
    levels = confident_levels(n_rows, memory, k)
    assert levels == 0 or 1 / 2**levels - p0 >= bound - 1e-9
    assert 1 / 2 ** (levels + 1) - p0 < bound + 1e-9


@pytest.mark.parametrize(("frontier", "repartitions"), [(100.0, 1), (1e-9, 3)])
def test_runs_divide_as_often_as_the_model_says(frontier, repartitions):
    roles = dict.fromkeys(("salary", "loan", "hvalue"), "quasi-identifier")
    data = Microdata(load_rothko(8_000, seed=1), roles)
    found = RothkoTree((KAnonymity(k=10),), memory_rows=1_100, frontier_memory=frontier).anonymize(data)
    # Height 3: with memory for every group one division of all rows; with memory for one, one per inner node.
    nodes = {1: 1, 3: 1 + 2 + 4}[repartitions]
    assert tree_repartitions(tree_height(8_000, 1_100), 8 if repartitions == 1 else 1) == repartitions
    assert f"{nodes} divisions of the rows" in found.notes[-1]
    sampled = RothkoSampling((KAnonymity(k=10),), memory_rows=1_100, seed=0, growth="confident").anonymize(data)
    assert sampling_repartitions(8_000, 1_100, 10) == 1
    assert "1 divisions of the rows" in sampled.notes[-1]

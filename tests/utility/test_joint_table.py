"""The table of two attributes before and after: by hand, and against its plain definition on every method's release."""

from __future__ import annotations

from itertools import combinations, islice
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import AnonymizationError, Microdata, Partition, Release, utility
from anoncore.utility.joint_table import joint_table
from tests.privacy.releases import fragment
from tests.properties.strategies import tagged_tables
from tests.properties.subjects import build, subjects
from tests.utility.test_two_way import reconstructed


def binned(joint: dict[tuple[int, int], float], bins: tuple[Any, Any]) -> np.ndarray:
    """The plain table, each pair of codes put into its pair of bins."""
    table = np.zeros((bins[0].max() + 1, bins[1].max() + 1))
    for (first, second), rows in joint.items():
        table[bins[0][first], bins[1][second]] += rows
    return table


def rows_of(data: Microdata, first: str, second: str) -> dict[tuple[int, int], float]:
    joint: dict[tuple[int, int], float] = {}
    for pair in zip(data.codes[first].tolist(), data.codes[second].tolist(), strict=True):
        joint[pair] = joint.get(pair, 0) + 1
    return joint


def test_by_hand():
    frame = pd.DataFrame({"age": [20, 20, 60, 60], "ill": ["flu", "cold", "cold", "gout"]})
    data = Microdata(frame, roles={"age": "quasi-identifier", "ill": "sensitive"})
    mixed = Partition(np.array([0, 1, 0, 1], dtype=np.int32))
    buckets = Release(data, (fragment(data, "known", mixed, ["age"]), fragment(data, "ill", mixed, ["ill"])))
    found = joint_table(buckets, "age", "ill", (np.arange(2), np.arange(3)))
    # Ages down, then cold, flu and gout. A bucket has one person of each age and two illnesses, so half of each is
    # expected at either age: of (20, flu) and (60, gout) a half lies at the other age.
    assert found.before.tolist() == [[1, 1, 0], [1, 0, 1]]
    assert found.after.tolist() == [[1, 0.5, 0.5], [1, 0.5, 0.5]]
    assert found.moved == 0.25
    assert utility.two_way_error(buckets) == 0.25
    coarse = joint_table(buckets, "age", "ill", (np.arange(2), np.array([0, 0, 1])))
    assert coarse.before.tolist() == [[2, 0], [1, 1]]
    assert coarse.after.tolist() == [[1.5, 0.5], [1.5, 0.5]]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
def test_each_method_against_the_plain_definition(name: str, parameters: dict[str, Any]) -> None:
    @settings(max_examples=5)
    @given(tagged_tables(max_rows=25), st.integers(0, 2**32))
    def holds(table: Any, seed: int) -> None:
        data = table.microdata()
        try:
            release = build(name, parameters).anonymize(data)
        except AnonymizationError:
            return
        rng = np.random.default_rng(seed)
        for first, second in islice(combinations(release.attributes, 2), 6):
            sizes = len(data.domain[first]), len(data.domain[second])
            bins = tuple(rng.integers(0, max(size // 2, 1), size) for size in sizes)
            found = joint_table(release, first, second, bins)
            assert found.before == pytest.approx(binned(rows_of(data, first, second), bins))
            assert found.after == pytest.approx(binned(reconstructed(release, first, second), bins), abs=1e-9)

    holds()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=0))
def test_with_a_bin_for_each_value_the_share_that_moved_is_the_two_way_error(
    name: str, parameters: dict[str, Any]
) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, 60),
            "town": rng.choice(list("ABC"), 60),
            "ill": np.resize(list("uvwxyz"), 60)[rng.permutation(60)],
        }
    )
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"}
    release = build(name, parameters).anonymize(Microdata(frame, roles=roles))
    pairs = utility.two_way_error(release).pairs
    for first, second in combinations(pairs.index, 2):
        bins = tuple(np.arange(len(release.data.domain[one])) for one in (first, second))
        assert joint_table(release, first, second, bins).moved == pytest.approx(pairs.loc[first, second], abs=1e-9)

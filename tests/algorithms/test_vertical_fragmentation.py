"""Vertical fragmentation as a whole: joins counted pair by pair, and what each strategy may publish."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from anoncore import DataError, GroupValues, InfeasibleError, Microdata
from anoncore.algorithms import VerticalFragmentation


def wide(seed: int, n: int = 90) -> Microdata:
    rng = np.random.default_rng(seed)
    label = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    frame = pd.DataFrame({f"x{i}": rng.integers(0, 6, n) + 2 * (label == "b") * (i % 2) for i in range(6)})
    frame["label"] = label
    return Microdata(frame, roles={**dict.fromkeys(frame.columns[:-1], "quasi-identifier"), "label": "sensitive"})


def joined_rows(release):
    """Rows of the join of every two classes of the two fragments on the published class value."""
    first, second = release.fragments
    counts = []
    for fragment in (first, second):
        codes = fragment.recodings["label"].codes
        rows = (fragment.partition.rows(group) for group in range(fragment.partition.n_groups))
        counts.append([Counter(codes[inside].tolist()) for inside in rows])
    return [sum(one[value] * other[value] for value in one) for one in counts[0] for other in counts[1]]


@pytest.mark.parametrize("enforce", ["naive", "dependency"])
@pytest.mark.parametrize("seed", range(4))
def test_no_two_classes_join_to_fewer_than_k_rows(enforce, seed):
    release = VerticalFragmentation(k=4, enforce=enforce, seed=seed).anonymize(wide(seed))
    sizes = joined_rows(release)
    assert len(release.fragments) == 2
    assert all(size == 0 or size >= 4 for size in sizes)
    assert max(sizes) > 0
    assert all(fragment.partition.sizes.min() >= 4 for fragment in release.fragments)


def test_naive_enforcement_publishes_each_classs_majority():
    data = wide(1)
    release = VerticalFragmentation(k=5, enforce="naive", seed=0).anonymize(data)
    for fragment in release.fragments:
        published = fragment.recodings["label"].codes
        for group in range(fragment.partition.n_groups):
            rows = fragment.partition.rows(group)
            assert len(set(published[rows].tolist())) == 1
            counts = Counter(data.codes["label"][rows].tolist())
            assert counts[int(published[rows][0])] == max(counts.values())


def test_selectivity_publishes_sets_of_true_values():
    data = wide(2)
    release = VerticalFragmentation(k=4, enforce="selectivity", seed=0).anonymize(data)
    for fragment in release.fragments:
        cells = fragment.recodings["label"]
        assert isinstance(cells, GroupValues)
        for group in range(fragment.partition.n_groups):
            true = set(data.codes["label"][fragment.partition.rows(group)].tolist())
            assert set(cells.values(group).tolist()) <= true
            assert len(cells.values(group)) >= 1


def test_a_seed_repeats_the_release_and_every_quasi_identifier_is_in_one_fragment():
    data = wide(3)
    one, again = (VerticalFragmentation(k=4, seed=5).anonymize(data) for _ in range(2))
    for left, right in zip(one.fragments, again.fragments, strict=True):
        np.testing.assert_array_equal(left.partition.group, right.partition.group)
        np.testing.assert_array_equal(left.recodings["label"].codes, right.recodings["label"].codes)
    names = [name for fragment in one.fragments for name in fragment.attributes if name != "label"]
    assert sorted(names) == sorted(data.quasi_identifiers)


def test_what_cannot_be_done_says_why():
    data = wide(0)
    with pytest.raises(InfeasibleError, match="k = 91"):
        VerticalFragmentation(k=91).anonymize(data)
    with pytest.raises(DataError):
        VerticalFragmentation(k=2).anonymize(Microdata(data.frame[["x0", "label"]], roles={"x0": "quasi-identifier"}))

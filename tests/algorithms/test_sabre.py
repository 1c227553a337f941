"""SABRE: buckets and their worst distance against enumeration, proportional classes, and the promised closeness."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import CancelledError, DataError, Microdata, privacy
from anoncore.algorithms import Sabre
from anoncore.algorithms.closeness.sabre import Buckets
from anoncore.datasets import table
from anoncore.kernels.proportions import halve
from anoncore.requirements import TCloseness
from tests.shared_data import needs

from .close_tables import ILLNESSES, close_tables, contents, shuffled

needs_adult = needs("adult.csv")
GROUNDS = ["ordered", "interval", "equal", "hierarchical"]


def ill(counts, roles=None) -> Microdata:
    """A table with these counts of the five illnesses."""
    names = ["flu", "cold", "gout", "ache", "burn"]
    values = [name for name, count in zip(names, counts, strict=True) for _ in range(count)]
    frame = pd.DataFrame({"age": np.arange(len(values)) % 7, "illness": values})
    return Microdata(
        frame, roles={"age": "quasi-identifier", "illness": "sensitive"}, hierarchies={"illness": ILLNESSES}
    )


def distances(data: Microdata, ground: str, histograms) -> np.ndarray:
    """EMD of classes with these histograms, by the requirement itself."""
    (check,) = TCloseness(t=1.0, ground=ground).checks(data)
    codes = np.concatenate([np.repeat(np.arange(len(h)), h) for h in histograms]).astype(np.int32)
    from anoncore.release.partition import Partition

    group = np.repeat(np.arange(len(histograms)), [sum(h) for h in histograms])
    return check.levels(Partition(group), codes)


@settings(max_examples=20)
@given(
    counts=st.lists(st.integers(1, 9), min_size=5, max_size=5),
    ground=st.sampled_from(GROUNDS),
    bound=st.sampled_from([0.6, 0.4, 0.2, 0.1]),
    taken=st.lists(st.integers(0, 3), min_size=5, max_size=5),
)
def test_the_worst_distance_is_the_largest_of_all_classes_with_these_counts(counts, ground, bound, taken):
    data = ill(counts)
    buckets = Buckets.within(data, data.sensitive_view("illness"), ground, bound)
    shares = np.array(taken[: buckets.n_buckets])
    if shares.sum() == 0:
        shares[0] = 1
    ways = []
    for b, number in enumerate(shares):
        codes = range(buckets.begins[b], buckets.begins[b + 1])
        ways.append([np.bincount(way, minlength=5) for way in combinations_with_replacement(codes, number)])
    histograms = [sum(parts) for parts in product(*ways)]
    assert buckets.worst_distance(shares) == pytest.approx(distances(data, ground, histograms).max(), abs=1e-9)


@settings(max_examples=20)
@given(
    data=close_tables(sensitive=1), bound=st.sampled_from([0.5, 0.2, 0.05, 0.0]), ground=st.sampled_from(GROUNDS[:3])
)
def test_buckets_are_ranges_within_their_bound(data, bound, ground):
    buckets = Buckets.within(data, data.sensitive_view("pay"), ground, bound)
    assert buckets.begins[0] == 0
    assert buckets.begins[-1] == len(data.domain["pay"])
    assert (np.diff(buckets.begins) > 0).all()
    assert buckets.worst_distance(buckets.counts) <= bound + 1e-9
    assert buckets.counts.sum() == data.n_rows


@pytest.mark.parametrize(("bound", "begins"), [(1.0, [0, 5]), (0.45, [0, 2, 5]), (0.0, [0, 1, 2, 3, 4, 5])])
def test_under_a_hierarchy_buckets_are_subtrees(bound, begins):
    data = ill([4, 4, 4, 2, 2])
    buckets = Buckets.within(data, data.sensitive_view("illness"), "hierarchical", bound)
    assert buckets.begins.tolist() == begins


@settings(max_examples=20)
@given(
    counts=st.lists(st.integers(0, 40), min_size=5, max_size=5),
    t=st.sampled_from([0.5, 0.2, 0.05]),
    k=st.integers(1, 6),
)
def test_halves_share_every_bucket_and_stop_before_they_break_t_or_k(counts, t, k):
    counts[0] += k
    data = ill(counts)
    buckets = Buckets.within(data, data.sensitive_view("illness"), "ordered", t)
    bucket, group = halve(buckets.proportions, buckets.counts, t, k)
    n_classes = group.max() + 1
    held = np.zeros((n_classes, buckets.n_buckets), dtype=int)
    np.add.at(held, (group, bucket), 1)
    assert (held.sum(axis=0) == buckets.counts).all()
    assert held.sum(axis=1).min() >= k
    for row in held:
        assert n_classes == 1 or buckets.worst_distance(row) <= t + 1e-9
        # A class is what 0, 1, 2, ... halvings leave of every bucket.
        depths = [d for d in range(12) if (np.abs(row - buckets.counts / 2**d) < 2).all()]
        assert depths


@settings(max_examples=20)
@given(
    data=close_tables(sensitive=1),
    t=st.sampled_from([0.5, 0.2, 0.05, 0.0]),
    ground=st.sampled_from(GROUNDS[:3]),
    k=st.integers(1, 6),
)
def test_every_class_is_t_close_and_has_k_rows(data, t, ground, k):
    k = min(k, data.n_rows)
    release = Sabre(t=t, ground=ground, k=k, seed=0).anonymize(data)
    assert privacy.emd(release, "pay", ground=ground).max() <= t + 1e-9
    assert release.partition.sizes.min() >= k


def test_the_hierarchical_distance_is_kept():
    data = ill([40, 30, 20, 10, 10])
    release = Sabre(t=0.2, ground="hierarchical").anonymize(data)
    assert privacy.emd(release, "illness", ground="hierarchical").max() <= 0.2 + 1e-9
    assert release.partition.n_groups > 4


def test_a_table_that_can_be_shared_out_exactly_is():
    data = ill([16, 8, 8, 16, 16])
    release = Sabre(t=0.0, ground="equal").anonymize(data)
    assert release.partition.n_groups == 8
    assert set(release.partition.sizes) == {8}


def test_row_order_does_not_matter():
    data = ill([20, 15, 10, 5, 5])
    model = Sabre(t=0.2, seed=1)
    assert contents(model.anonymize(data)) == contents(model.anonymize(shuffled(data, 3)))


def test_what_cannot_be_done_is_said():
    frame = pd.DataFrame({"age": range(4), "x": [1, 2, 3, 4], "y": list("abab")})
    two = Microdata(frame, roles={"age": "quasi-identifier", "x": "sensitive", "y": "sensitive"})
    with pytest.raises(DataError, match="one sensitive attribute"):
        Sabre().anonymize(two)
    one = Microdata(frame, roles={"age": "quasi-identifier", "x": "sensitive"})
    with pytest.raises(DataError, match="hierarchy"):
        Sabre(ground="hierarchical").anonymize(one)

    def stop(done: float, text: str) -> None:
        if done > 0.1:
            raise CancelledError("stop")

    with pytest.raises(CancelledError):
        Sabre().anonymize(one, stop)


@pytest.mark.slow
@needs_adult
def test_adult_is_close_in_far_more_classes_than_the_bound_of_equal_shares_needs():
    quasi = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]
    frame = table("adult").load()[[*quasi, "hours-per-week"]]
    data = Microdata(frame, roles={**dict.fromkeys(quasi, "quasi-identifier"), "hours-per-week": "sensitive"})
    release = Sabre(t=0.1, k=5).anonymize(data)
    assert privacy.emd(release, "hours-per-week").max() <= 0.1 + 1e-9
    assert release.partition.sizes.min() >= 5
    assert release.partition.n_groups > 3_000

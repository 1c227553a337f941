"""Handing out rows by neighbourhood: exact counts, the expected width against enumeration, exchanges that only help."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Hierarchy, Microdata
from anoncore.algorithms.base import generalized_release
from anoncore.algorithms.closeness.locality import Places, QuasiSpace, halving_rank
from anoncore.algorithms.closeness.stack_and_deal import StackAndDeal
from anoncore.kernels import dealing, swapping
from anoncore.kernels.dealing import largest_domain
from anoncore.release.partition import Partition
from anoncore.requirements import TCloseness
from anoncore.table.kernel_attributes import kernel_attributes
from anoncore.utility import information_loss
from tests.algorithms.close_tables import QUASI, close_tables
from tests.kernels.from_python import from_python

best_attribute, divide = from_python(dealing.best_attribute), from_python(dealing.divide)
node_spread, sample_node = from_python(dealing.node_spread), from_python(dealing.sample_node)
spread, class_loss = from_python(dealing.spread), from_python(swapping.class_loss)

TREE = Hierarchy.from_nested({"low": ["a", "b"], "high": {"odd": ["c", "d"], "even": ["e"]}})


def loss_of(data: Microdata, group: np.ndarray) -> float:
    return float(information_loss(generalized_release(StackAndDeal(), data, Partition(group))))


def one_attribute(values, **options) -> Microdata:
    return Microdata(pd.DataFrame({"q": values}), roles={"q": "quasi-identifier"}, **options)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 100])
def test_every_halving_takes_every_second_class(n):
    rank = halving_rank(n)
    assert sorted(rank) == list(range(n))
    left = np.flatnonzero(rank < n // 2)
    assert left.tolist() == list(range(1, n, 2))
    if n >= 8:
        quarter = np.flatnonzero(rank < n // 2 // 2)
        assert set(np.diff(quarter)) == {4}


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        one_attribute([1, 1, 4, 9, 9, 9, 10]),
        one_attribute(list("aabcccd"), kinds={"q": "nominal"}),
        one_attribute(list("aabcded"), hierarchies={"q": TREE}),
        one_attribute(list("ccdce"), hierarchies={"q": TREE}),
    ],
    ids=["numbers", "categories", "hierarchy", "subtree"],
)
@pytest.mark.parametrize("drawn", [1, 2, 3])
def test_the_expected_width_is_that_of_all_draws(data, drawn):
    domain, codes = data.domain["q"], data.codes["q"]
    attributes = kernel_attributes([domain])

    def width(taken) -> float:
        taken = np.array(taken, dtype=np.int32)
        return loss_of(Microdata(data.frame, roles=data.roles, **options(data)), whole_of(taken, codes))

    def whole_of(taken, codes):
        # One class has the draw's distinct codes, every other row is a class of its own with width 0.
        group = np.arange(1, len(codes) + 1)
        for code in set(taken.tolist()):
            group[np.flatnonzero(codes == code)[0]] = 0
        return np.unique(group, return_inverse=True)[1]

    def cell_width(taken) -> float:
        group = whole_of(np.array(taken), codes)
        members = int((group == group[np.flatnonzero(codes == taken[0])[0]]).sum())
        return width(taken) * len(codes) / members

    draws = [cell_width(taken) for taken in product(codes.tolist(), repeat=drawn)]
    present, counts = np.unique(codes, return_counts=True)
    found = spread(attributes, 0, 0, present.astype(np.int64), counts.astype(np.int64), drawn)
    assert found == pytest.approx(np.mean(draws))


def options(data: Microdata):
    if data.hierarchies:
        return {"hierarchies": data.hierarchies}
    return {"kinds": {"q": data.domain["q"].kind}}


@settings(max_examples=40, deadline=None)
@given(data=close_tables(most=30))
def test_the_width_of_all_rows_is_the_loss_of_one_class(data):
    attributes = kernel_attributes([data.domain[name] for name in QUASI])
    codes = np.column_stack([data.codes[name] for name in QUASI])
    rows = np.arange(data.n_rows)
    tally, keys = np.zeros(largest_domain(attributes), dtype=np.int64), np.zeros(data.n_rows, dtype=np.int64)
    found = node_spread(attributes, codes, rows, 0, tally, keys)
    assert found / len(QUASI) == pytest.approx(loss_of(data, np.zeros(data.n_rows, dtype=int)))
    assert not tally.any()


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(data=close_tables(most=40), n_classes=st.integers(1, 12), seed=st.integers(0, 99))
def test_classes_take_exactly_what_their_places_say(data, n_classes, seed):
    rng = np.random.default_rng(seed)
    n = data.n_rows
    n_classes = min(n_classes, n)
    bucket = rng.integers(0, 4, n).astype(np.int32)
    group = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]).astype(np.int32)
    places = Places(rng.permutation(bucket), group)
    handed = QuasiSpace.of(data, seed).hand_out(bucket, places)

    def table(classes, buckets):
        return np.bincount(classes * 4 + buckets, minlength=4 * n_classes).tolist()

    assert table(handed, bucket) == table(places.group, places.bucket)


def test_numbers_that_can_be_sorted_are_sorted_into_the_classes():
    values = np.random.default_rng(0).permutation(64)
    space = QuasiSpace.of(one_attribute(values), 0)
    bucket = np.zeros(64, dtype=np.int32)
    group = space.hand_out(bucket, Places(bucket, (np.arange(64) % 8).astype(np.int32)))
    spans = [np.ptp(values[group == number]) for number in range(8)]
    assert spans == [7] * 8


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 30), seed=st.integers(0, 999))
def test_a_node_is_divided_by_the_lowest_rows_of_every_bucket(n, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 9, (n, 2)).astype(np.int32)
    bucket = rng.integers(0, 3, n).astype(np.int32)
    rows = np.lexsort((rng.random(n), bucket))
    quota = np.zeros(n, dtype=np.int64)
    expected = []
    for value in range(3):
        mine = rows[bucket[rows] == value]
        if len(mine) == 0:
            continue
        taken = int(rng.integers(0, len(mine) + 1))
        quota[np.flatnonzero(bucket[rows] == value)[0]] = taken
        expected += sorted(codes[mine, 1].tolist())[:taken]
    left, right = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    n_left = divide(rows.copy(), quota, bucket, codes, 1, left, right)
    assert sorted(codes[left[:n_left], 1].tolist()) == sorted(expected)
    assert sorted([*left[:n_left], *right[: n - n_left]]) == list(range(n))


def test_the_attribute_that_leaves_least_width_is_chosen():
    """Two attributes: halving by the first leaves both halves narrow in both, the second is noise."""
    rng = np.random.default_rng(1)
    first = np.repeat([0, 9], 20) + rng.integers(0, 2, 40)
    frame = pd.DataFrame({"noise": rng.integers(0, 3, 40), "first": first})
    data = Microdata(frame, roles=dict.fromkeys(frame, "quasi-identifier"))
    space = QuasiSpace.of(data, 0)
    rows, bucket, quota = np.arange(40), np.zeros(40, dtype=np.int32), np.zeros(40, dtype=np.int64)
    quota[0] = 20
    tally = np.zeros(largest_domain(space.attributes), dtype=np.int64)
    chosen = best_attribute(rows, quota, bucket, space.codes, space.attributes, (5, 5), tally)
    assert data.quasi_identifiers[chosen] == "first"


def test_a_sample_keeps_the_quotas_in_proportion():
    bucket = np.repeat([0, 1, 2], [50, 30, 20]).astype(np.int32)
    quota = np.zeros(100, dtype=np.int64)
    quota[[0, 50, 80]] = 25, 0, 20
    sample, taken = sample_node(np.arange(100), quota, bucket, 5)
    assert np.bincount(bucket[sample]).tolist() == [10, 6, 4]
    assert [taken[:10].sum(), taken[10:16].sum(), taken[16:20].sum()] == [5, 0, 4]


@settings(max_examples=40, deadline=None)
@given(data=close_tables(most=30), n_classes=st.integers(1, 6), seed=st.integers(0, 99))
def test_the_loss_of_classes_adds_up_to_the_information_loss(data, n_classes, seed):
    group = np.unique(np.random.default_rng(seed).integers(0, n_classes, data.n_rows), return_inverse=True)[1]
    partition = Partition(group)
    space = QuasiSpace.of(data, 0)
    seen = np.zeros(space.attributes.code_start[-1], dtype=np.int64)
    total, stamp = 0.0, 0
    for number in range(partition.n_groups):
        members = partition.order[partition.starts[number] : partition.starts[number + 1]]
        total += class_loss(space.codes, space.attributes, members, -1, -1, seen, stamp)
        stamp += len(QUASI)
    assert total / data.n_rows / len(QUASI) == pytest.approx(loss_of(data, group))


@settings(max_examples=40, deadline=None)
@given(data=close_tables(most=40), seed=st.integers(0, 99))
def test_exchanges_keep_every_count_and_never_raise_the_loss(data, seed):
    n = data.n_rows
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.arange(n) % max(n // 3, 1)).astype(np.int32)
    bucket = rng.integers(0, 3, n).astype(np.int32)
    moved, excess = QuasiSpace.of(data, seed).refine(group, bucket)
    assert excess == 0
    assert (np.bincount(moved * 3 + bucket, minlength=3 * n) == np.bincount(group * 3 + bucket, minlength=3 * n)).all()
    assert loss_of(data, moved) <= loss_of(data, group) + 1e-9


@settings(max_examples=30, deadline=None)
@given(data=close_tables(most=40), seed=st.integers(0, 99), t=st.sampled_from([0.1, 0.3]))
def test_exchanges_lower_the_excess_and_say_what_is_left(data, seed, t):
    n = data.n_rows
    group = (np.arange(n) % max(n // 6, 1)).astype(np.int32)
    whole = np.zeros(n, dtype=np.int32)
    wanted = TCloseness(t=t, ground="ordered")
    moved, left = QuasiSpace.of(data, seed).refine(group, whole, (wanted,))

    def excess(classes):
        checks = wanted.checks(data)
        return sum(np.maximum(check.levels(Partition(classes)) - t, 0).sum() for check in checks)

    assert excess(moved) == pytest.approx(left, abs=1e-6)
    assert excess(moved) <= excess(group) + 1e-9

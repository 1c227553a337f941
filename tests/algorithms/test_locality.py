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
from anoncore.kernels import dealing, grouping, swapping
from anoncore.kernels.dealing import WHOLE, Deal, hand_out
from anoncore.kernels.swapping import Classes, ClassesByBucket, Outlines, Trials, exchange
from anoncore.release.partition import Partition
from anoncore.requirements import CheckSet, TCloseness
from anoncore.table.domain import kernel_attributes
from anoncore.utility import information_loss
from tests.algorithms.close_tables import QUASI, close_tables
from tests.algorithms.plain_locality import PlainDealing, PlainSpace, plain_exchanges
from tests.kernels.from_python import from_python

best_attribute, divide = from_python(dealing.best_attribute), from_python(dealing.divide)
chances, new_draft = from_python(dealing.chances), from_python(dealing.new_draft)
rank_codes, spreads = from_python(dealing.rank_codes), from_python(dealing.spreads)
find_runs, sample_node = from_python(dealing.find_runs), from_python(dealing.sample_node)
write_outline = from_python(swapping.write_outline)
class_excess, ones = from_python(swapping.class_excess), from_python(grouping.ones)

TREE = Hierarchy.from_nested({"low": ["a", "b"], "high": {"odd": ["c", "d"], "even": ["e"]}})


def loss_of(data: Microdata, group: np.ndarray) -> float:
    return float(information_loss(generalized_release(StackAndDeal(), data, Partition(group))))


def outlines_of(space: QuasiSpace, n_classes: int) -> Outlines:
    """Memory for the outlines of so many classes."""
    d = len(space.attributes.form)
    return Outlines(
        np.zeros((n_classes, d, 2), dtype=np.int64),
        np.zeros((n_classes, d), dtype=np.int32),
        np.zeros(space.attributes.code_start[-1], dtype=np.int64),
    )


def crowded(n: int, seed: int) -> Microdata:
    """Rows with more categories than a word has bits, with a hierarchy, and numbers with many ties."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "shop": rng.choice([f"s{number:03d}" for number in range(150)], n),
            "job": rng.choice(list("abcde"), n),
            "age": rng.integers(0, 12, n),
            "town": rng.choice(list("xyz"), n),
            "pay": rng.integers(0, 6, n),
        }
    )
    roles = dict.fromkeys(["shop", "job", "age", "town"], "quasi-identifier")
    return Microdata(
        frame,
        roles={**roles, "pay": "sensitive"},
        kinds={"shop": "nominal", "town": "nominal"},
        hierarchies={"job": TREE},
    )


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
    draft, n = new_draft(attributes, len(codes)), len(codes)
    rank_codes(attributes, codes.reshape(-1, 1), np.arange(n), draft)
    found = spreads(attributes, draft, WHOLE, n, chances(n, drawn), np.empty(1))
    assert found == pytest.approx(np.mean(draws))


def options(data: Microdata):
    if data.hierarchies:
        return {"hierarchies": data.hierarchies}
    return {"kinds": {"q": data.domain["q"].kind}}


@pytest.mark.slow
@settings(max_examples=20)
@given(data=close_tables(most=30))
def test_the_width_of_all_rows_is_the_loss_of_one_class(data):
    attributes = kernel_attributes([data.domain[name] for name in QUASI])
    codes = np.column_stack([data.codes[name] for name in QUASI])
    draft, n = new_draft(attributes, data.n_rows), data.n_rows
    rank_codes(attributes, codes, np.arange(n), draft)
    found = spreads(attributes, draft, WHOLE, n, chances(n, 0), np.empty(len(QUASI)))
    assert found / len(QUASI) == pytest.approx(loss_of(data, np.zeros(n, dtype=int)))
    assert not draft.tally.any()


@pytest.mark.slow
@settings(max_examples=25)
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


@pytest.mark.slow
@settings(max_examples=20)
@given(n=st.integers(2, 150), seed=st.integers(0, 999), codes_end=st.sampled_from([9, 1_000, 2_000_000_000]))
def test_a_node_is_divided_by_the_lowest_rows_of_every_bucket(n, seed, codes_end):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, codes_end, (n, 2)).astype(np.int32)
    bucket = rng.integers(0, 3, n).astype(np.int32)
    rows = np.lexsort((rng.random(n), bucket))
    slot, expected, others = np.ones(n, dtype=np.int32), [], []
    for value in range(3):
        mine = rows[bucket[rows] == value]
        taken = int(rng.integers(0, len(mine) + 1))
        slot[np.flatnonzero(bucket[rows] == value)[:taken]] = 0
        ordered = sorted(mine.tolist(), key=lambda row: codes[row, 1]) if 0 < taken < len(mine) else mine.tolist()
        expected += ordered[:taken]
        others += ordered[taken:]
    runs, n_left = find_runs(rows, slot, bucket, 1)
    assert n_left == len(expected)
    moved, tally = rows.copy(), np.zeros(4096, dtype=np.int64)
    divide(moved, runs, n_left, codes, 1, tally)
    assert moved.tolist() == expected + others
    assert not tally.any()


@pytest.mark.slow
def test_the_attribute_that_leaves_least_width_is_chosen():
    """Two attributes: halving by the first leaves both halves narrow in both, the second is noise."""
    rng = np.random.default_rng(1)
    first = np.repeat([0, 9], 20) + rng.integers(0, 2, 40)
    frame = pd.DataFrame({"noise": rng.integers(0, 3, 40), "first": first})
    data = Microdata(frame, roles=dict.fromkeys(frame, "quasi-identifier"))
    space = QuasiSpace.of(data, 0)
    rows, runs, draft = np.arange(40), np.array([[0, 40, 20]]), new_draft(space.attributes, 40)
    chosen = best_attribute(rows, runs, 20, space.codes, space.attributes, (5, 5), draft)
    assert data.quasi_identifiers[chosen] == "first"


def test_a_sample_keeps_the_quotas_in_proportion():
    bucket = np.repeat([0, 1, 2], [50, 30, 20])
    sample, runs, n_left = sample_node(np.arange(100), np.array([[0, 50, 25], [50, 80, 0], [80, 100, 20]]), 5)
    assert np.bincount(bucket[sample]).tolist() == [10, 6, 4]
    assert runs.tolist() == [[0, 10, 5], [10, 16, 0], [16, 20, 4]]
    assert n_left == 9


@pytest.mark.slow
@settings(max_examples=20)
@given(data=close_tables(most=30), n_classes=st.integers(1, 6), seed=st.integers(0, 99))
def test_the_loss_of_classes_adds_up_to_the_information_loss(data, n_classes, seed):
    group = np.unique(np.random.default_rng(seed).integers(0, n_classes, data.n_rows), return_inverse=True)[1]
    partition = Partition(group)
    space = QuasiSpace.of(data, 0)
    total, stamp, outlines = 0.0, 0, outlines_of(space, partition.n_groups)
    for number in range(partition.n_groups):
        members = partition.order[partition.starts[number] : partition.starts[number + 1]]
        total += write_outline(space.codes, space.attributes, members, number, outlines, stamp)
        stamp += len(QUASI)
    assert total / data.n_rows / len(QUASI) == pytest.approx(loss_of(data, group))


@settings(max_examples=20)
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


@settings(max_examples=30)
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


def dealt_by_both(data: Microdata, n_buckets: int, n_classes: int, seed: int) -> tuple[list[int], list[int]]:
    """The class of every row by the kernel and by the plain twin."""
    rng = np.random.default_rng(seed)
    space, n = QuasiSpace.of(data, seed), data.n_rows
    bucket = rng.integers(0, n_buckets, n).astype(np.int32)
    rows = space.by_bucket(bucket)
    slot = np.empty(n, dtype=np.int32)
    places = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    slot[np.argsort(bucket, kind="stable")] = rng.permutation(places)
    group = np.full(n, -1, dtype=np.int32)
    hand_out(Deal(rows.copy(), slot.copy(), bucket, space.codes), 0, n, 0, n_classes, space.attributes, group)
    plain = PlainDealing(PlainSpace(space.attributes, space.codes), bucket)
    plain.hand_out(rows.tolist(), slot.tolist(), 0, n_classes)
    return group.tolist(), plain.group.tolist()


@settings(max_examples=20)
@given(data=close_tables(most=60), n_classes=st.integers(1, 12), seed=st.integers(0, 999))
def test_rows_are_handed_out_as_the_plain_twin_does(data, n_classes, seed):
    found, expected = dealt_by_both(data, 4, min(n_classes, data.n_rows), seed)
    assert found == expected


@pytest.mark.parametrize(("n", "n_buckets", "n_classes"), [(400, 1, 80), (400, 60, 50), (2_500, 3, 12)])
def test_many_rows_are_handed_out_as_the_plain_twin_does(n, n_buckets, n_classes):
    found, expected = dealt_by_both(crowded(n, 1), n_buckets, n_classes, 2)
    assert found == expected


def exchanged_by_both(data: Microdata, n_classes: int, t: float | None, seed: int):
    """Classes and excess after two rounds of exchanges, by the kernel and by the plain twin."""
    rng = np.random.default_rng(seed)
    space, n = QuasiSpace.of(data, seed), data.n_rows
    checks = CheckSet(() if t is None else (TCloseness(t=t, ground="ordered"),), data)
    group = rng.permutation(np.arange(n) % n_classes).astype(np.int32)
    bucket = rng.integers(0, 2, n).astype(np.int32)
    by_bucket = ClassesByBucket(
        bucket, np.lexsort((group, bucket)), np.concatenate(([0], np.cumsum(np.bincount(bucket)))).astype(np.int64)
    )
    trials = Trials(6, 4, False, seed=seed)
    partition, counts = Partition(group), np.zeros(checks.kernel.count_start[-1], dtype=np.int64)
    moved = Classes(group.copy(), partition.order.copy(), partition.starts)
    left = exchange(moved, by_bucket, space.codes, space.attributes, checks.cells, checks.kernel, trials)
    plain, over = plain_exchanges(
        PlainSpace(space.attributes, space.codes),
        group,
        by_bucket,
        trials,
        lambda rows: class_excess(checks.cells, checks.kernel, np.array(rows), -1, -1, counts),
    )
    return (moved.group.tolist(), left), (plain.tolist(), pytest.approx(over))


@pytest.mark.slow
@settings(max_examples=30)
@given(data=close_tables(most=40), seed=st.integers(0, 99), t=st.sampled_from([None, 0.1, 0.3]))
def test_rows_are_exchanged_as_the_plain_twin_does(data, seed, t):
    found, expected = exchanged_by_both(data, max(data.n_rows // 4, 1), t, seed)
    assert found == expected


@pytest.mark.parametrize("t", [None, 0.15])
@pytest.mark.parametrize("n_classes", [100, 25, 8])
def test_rows_with_many_categories_are_exchanged_as_the_plain_twin_does(t, n_classes):
    found, expected = exchanged_by_both(crowded(100, 3), n_classes, t, 5)
    assert found == expected


@given(st.integers(-(2**63), 2**63 - 1))
def test_the_bits_of_a_word_are_counted(word):
    assert ones(np.uint64(word & (2**64 - 1))) == (word & (2**64 - 1)).bit_count()

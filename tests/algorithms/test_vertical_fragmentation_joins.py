"""Rules for joins, what is changed or merged to keep them, and eta, each against plain enumeration."""

from itertools import combinations, product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.algorithms.vertical.chunks import merge_unsafe, unsafe_classes
from anoncore.algorithms.vertical.strategies import enforce, majority_values
from anoncore.privacy.join_blocks import Joins, RowRule, SelectivityRule, TooManyJoins, ValueRule
from anoncore.privacy.selectivity import Selectivity, versions

some = settings(max_examples=25)


@st.composite
def fragmentations(draw, most_fragments=3, most_classes=5):
    """k and class-value counts of 2 or more fragments, every class with at least k rows."""
    k, n_values = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    counts = []
    for _ in range(draw(st.integers(2, most_fragments))):
        classes = []
        for _ in range(draw(st.integers(1, most_classes))):
            one = draw(st.lists(st.integers(0, 4), min_size=n_values, max_size=n_values))
            one[draw(st.integers(0, n_values - 1))] += max(k - sum(one), 0)
            classes.append(one)
        counts.append(np.array(classes, dtype=np.int64))
    return k, counts


def all_joins(counts):
    """Rows per value of the join of one class each, for every two or more fragments."""
    for size in range(2, len(counts) + 1):
        for some_fragments in combinations(counts, size):
            for classes in product(*some_fragments):
                yield [prod(int(one[value]) for one in classes) for value in range(len(classes[0]))]


def vectors(n, values):
    """All versions of a class: vectors of whole numbers from 1 with the given sum."""
    if values == 1:
        yield (n,)
        return
    for first in range(1, n - values + 2):
        for rest in vectors(n - first, values - 1):
            yield (first, *rest)


def plain_eta(k, *classes, common):
    """Share of combinations of versions whose join on the first `common` values has k rows."""
    every = list(product(*(list(vectors(n, values)) for n, values in classes)))
    return sum(sum(prod(a[v] for a in one) for v in range(common)) >= k for one in every) / len(every)


def eta(k, n, values, other_n, other_values, common):
    arrays = [np.array([number]) for number in (n, values, other_n, other_values, common)]
    return Selectivity(k).eta(*arrays)[0]


def test_table_3_has_two_ambiguous_slots_and_six_versions():
    # Five rows, of which flu, pneumonia and dyspepsia are published: C(4, 2) versions.
    assert versions(5, 3) == 6 == len(list(vectors(5, 3))) == comb(4, 2)


def test_eta_by_hand():
    # Two classes of 3 rows and 2 values, both common: versions (1, 2) and (2, 1). Joins: 1 + 4, 2 + 2, 2 + 2, 4 + 1.
    assert eta(5, 3, 2, 3, 2, 2) == pytest.approx(0.5)
    assert eta(4, 3, 2, 3, 2, 2) == 1
    # With one value in common: 1, 2, 2, 4 rows.
    assert eta(2, 3, 2, 3, 2, 1) == pytest.approx(0.75)
    # A class of one value joins with all its rows; nothing in common is no join.
    assert eta(4, 4, 1, 4, 3, 1) == 1
    assert eta(9, 3, 2, 3, 2, 0) == 1


@given(st.data())
@some
def test_eta_is_that_of_the_enumeration(data):
    k = data.draw(st.integers(1, 14))
    n, other_n = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    values, other_values = data.draw(st.integers(1, min(n, 5))), data.draw(st.integers(1, min(other_n, 5)))
    common = data.draw(st.integers(1, min(values, other_values)))
    expected = plain_eta(k, (n, values), (other_n, other_values), common=common)
    assert eta(k, n, values, other_n, other_values, common) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_eta_of_large_classes_counts_two_values_and_is_a_lower_bound():
    # k = 130 counts two of the three common values; k = 120 counts all.
    exact = plain_eta(130, (40, 3), (40, 3), common=3)
    bound = eta(130, 40, 3, 40, 3, 3)
    assert plain_eta(130, (40, 3), (40, 3), common=2) == pytest.approx(bound)
    assert bound <= exact
    assert eta(120, 40, 3, 40, 3, 3) == pytest.approx(plain_eta(120, (40, 3), (40, 3), common=3))


@given(fragmentations(), st.integers(0, 3))
@some
def test_no_join_has_1_to_k_minus_1_rows_after_dependency_enforcement(case, seed):
    k, counts = case
    changed = enforce(counts, RowRule(k), np.random.default_rng(seed))
    assert all(sum(join) == 0 or sum(join) >= k for join in all_joins(changed))
    for before, after in zip(counts, changed, strict=True):
        assert (before.sum(axis=1) == after.sum(axis=1)).all()
        majority = np.argmax(before, axis=1)
        rest = np.ones(before.shape, dtype=bool)
        rest[np.arange(len(before)), majority] = False
        assert (after[rest] <= before[rest]).all()
    if all(sum(join) == 0 or sum(join) >= k for join in all_joins(counts)):
        assert all((before == after).all() for before, after in zip(counts, changed, strict=True))


@given(fragmentations(most_fragments=4, most_classes=3))
@some
def test_classes_of_one_value_join_to_0_or_at_least_k_squared_rows(case):
    k, counts = case
    changed = majority_values(counts)
    assert all(sum(join) == 0 or sum(join) >= k**2 for join in all_joins(changed))
    for before, after in zip(counts, changed, strict=True):
        assert (after.max(axis=1) == before.sum(axis=1)).all()
        assert (np.argmax(after, axis=1) == np.argmax(before, axis=1)).all()


@given(fragmentations(most_fragments=3, most_classes=3), st.sampled_from([0.2, 0.5, 0.9, 1.0]))
@settings(max_examples=25)
def test_every_join_has_eta_of_at_least_delta_after_selectivity_enforcement(case, delta):
    k, counts = case
    counts = [np.minimum(one, 3) + (one == one.max(axis=1, keepdims=True)) * k for one in counts]
    changed = enforce(counts, SelectivityRule(k, delta), np.random.default_rng(0))
    for number in range(2, len(counts) + 1):
        for places in combinations(range(len(counts)), number):
            for classes in product(*(range(len(counts[place])) for place in places)):
                sets = [frozenset(np.flatnonzero(changed[p][c])) for p, c in zip(places, classes, strict=True)]
                sizes = [int(counts[p][c].sum()) for p, c in zip(places, classes, strict=True)]
                common = len(frozenset.intersection(*sets))
                kinds = list(zip(sizes, map(len, sets), strict=True))
                # Enumerating triples takes too long; a pair with the common values of all bounds them from below.
                best = max((eta(k, *one, *other, common) for one, other in combinations(kinds, 2)), default=1.0)
                assert common == 0 or best >= delta - 1e-9
    for before, after in zip(counts, changed, strict=True):
        assert ((after == before) | (after == 0)).all()
        assert (after.max(axis=1) == before.max(axis=1)).all()


def test_the_bound_for_three_fragments_is_below_their_true_eta():
    for common in (1, 2):
        true = plain_eta(6, (5, 3), (5, 2), (4, 2), common=common)
        pairs = [plain_eta(6, *two, common=common) for two in combinations([(5, 3), (5, 2), (4, 2)], 2)]
        assert max(pairs) <= true + 1e-12


def test_pairs_that_are_safe_may_be_unsafe_together():
    # k = 10. Each pair joins to 1 + 25 rows, all three to 1 row of the first value.
    counts = [np.array([one]) for one in ([1, 5, 5, 0], [1, 5, 0, 5], [1, 0, 5, 5])]
    assert sorted(sum(join) for join in all_joins(counts)) == [1, 26, 26, 26]
    changed = enforce(counts, RowRule(10), np.random.default_rng(0))
    assert all(sum(join) == 0 or sum(join) >= 10 for join in all_joins(changed))
    # The first two fragments are safe with each other, so only the third is changed.
    assert (changed[0] == counts[0]).all()
    assert (changed[1] == counts[1]).all()
    assert changed[2].tolist() == [[0, 0, 6, 5]]


def test_one_value_at_a_time_the_least_frequent_first():
    # k = 8: 2*1 + 1*4 = 6 rows. The neighbour gives up its least frequent value, one row at a time: 1*1 + 1*5... The
    # start is random, so either class may be the one that is changed.
    counts = [np.array([[2, 1, 0, 5]]), np.array([[1, 4, 3, 0]])]
    for seed in range(4):
        first, second = enforce(counts, RowRule(8), np.random.default_rng(seed))
        joined = int((first * second).sum())
        assert joined == 0 or joined >= 8
        kept = (first == counts[0]).all(), (second == counts[1]).all()
        assert kept in ((True, False), (False, True))
        if kept[0]:
            # Rows of the first value, then of the third, take the second: 1 * 5, 1 * 6, 1 * 7, 1 * 8.
            assert second.tolist() == [[0, 8, 0, 0]]
        else:
            # The row of the second value goes first: 2 * 1; then one by one those of the first: 1 * 1, 0.
            assert first.tolist() == [[0, 0, 0, 8]]


def test_a_seed_gives_the_same_changes():
    rng = np.random.default_rng(5)
    counts = [rng.integers(0, 3, (20, 6)) for _ in range(3)]
    for one in counts:
        one[:, 0] += np.maximum(8 - one.sum(axis=1), 0)
    runs = [enforce(counts, RowRule(8), np.random.default_rng(7)) for _ in range(2)]
    assert any((one != other).any() for one, other in zip(runs[0], counts, strict=True))
    assert all((one == other).all() for one, other in zip(*runs, strict=True))


class FewJoins(RowRule):
    most_joins = 0


@given(fragmentations())
@some
def test_where_larger_joins_are_too_many_pairs_are_made_safe_value_by_value(case):
    k, counts = case
    changed = enforce(counts, FewJoins(k), np.random.default_rng(0))
    assert all(sum(join) == 0 or sum(join) >= k for join in all_joins(changed))


def test_joins_beyond_the_limit_are_refused():
    counts = [np.array([[1, 5, 5, 0]]), np.array([[1, 5, 0, 5]])]
    rule = FewJoins(10)
    joins = Joins(rule)
    joins.add(rule.classes(counts[0], counts[0].sum(axis=1)))
    with pytest.raises(TooManyJoins):
        joins.add(rule.classes(counts[1], counts[1].sum(axis=1)))


@st.composite
def tables(draw):
    """Class values of some rows and a class of every row in each of 2 or 3 fragments, as counts."""
    values = draw(st.lists(st.integers(0, 4), min_size=4, max_size=30))
    rng = np.random.default_rng(draw(st.integers(0, 1_000)))
    counts = []
    for _ in range(draw(st.integers(2, 3))):
        groups = rng.integers(0, draw(st.integers(1, 6)), len(values))
        dense = np.unique(groups, return_inverse=True)[1]
        one = np.zeros((dense.max() + 1, 5), dtype=np.int64)
        np.add.at(one, (dense, values), 1)
        counts.append(one)
    return counts


@given(tables(), st.integers(1, 4), st.integers(1, 5), st.sampled_from([0, 2]))
@some
def test_merging_leaves_safe_joins_and_nothing_to_merge_where_they_are_safe(counts, k, l, n_alike):
    alike = np.arange(5) < n_alike

    def values_of(join):
        return {"alike" if alike[value] else value for value, rows in enumerate(join) if rows}

    def is_safe(join):
        return not any(join) or (sum(join) >= k and len(values_of(join)) >= l)

    l = min(l, len(values_of(counts[0].sum(axis=0))))
    rules = (RowRule(k), ValueRule(l, alike))
    unsafe = unsafe_classes(counts, rules)
    if len(counts) == 2:
        for place, other in ((0, 1), (1, 0)):
            expected = [all(is_safe(one * another) for another in counts[other]) for one in counts[place]]
            assert (~unsafe[place]).tolist() == expected
    all_safe = all(map(is_safe, all_joins(counts)))
    assert any(one.any() for one in unsafe) == (not all_safe)
    low = [np.random.default_rng(0).random((len(one), 2)) for one in counts]
    groups = merge_unsafe(counts, low, [one + 0.1 for one in low], rules)
    merged = [
        np.stack([one[group == g].sum(axis=0) for g in range(group.max() + 1)])
        for one, group in zip(counts, groups, strict=True)
    ]
    assert all(map(is_safe, all_joins(merged)))
    assert all((one.sum(axis=0) == before.sum(axis=0)).all() for one, before in zip(merged, counts, strict=True))
    if all_safe:
        assert [len(one) for one in merged] == [len(one) for one in counts]


def test_a_class_is_merged_with_the_one_that_needs_least_width():
    # The first class joins to one row of x; the third lies nearer to it than the second.
    counts = [np.array([[1, 4], [5, 0], [5, 0]]), np.array([[1, 0], [10, 4]])]
    low = [np.array([[0.0], [0.8], [0.1]]), np.zeros((2, 1))]
    groups = merge_unsafe(counts, low, [one + 0.05 for one in low], (RowRule(3), ValueRule(1, np.zeros(2, dtype=bool))))
    assert groups[0].tolist() == [0, 1, 0]
    assert groups[1].tolist() == [0, 1]

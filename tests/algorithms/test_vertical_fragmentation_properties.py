"""What every release by vertical fragmentation keeps, whatever the table: joins counted from what is published."""

from collections import Counter
from functools import cache
from itertools import combinations, product
from math import prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import GroupValues, InfeasibleError, Microdata, privacy
from anoncore.algorithms import Mondrian, VerticalFragmentation
from anoncore.algorithms.vertical.chunks import generalize_chunks
from anoncore.privacy.common_attribute import common_attribute
from anoncore.requirements import DistinctDiversity, KAnonymity
from tests.algorithms.test_vertical_fragmentation_joins import plain_eta

few = settings(max_examples=25)


@st.composite
def wide_tables(draw):
    """20 to 60 rows of 3 to 6 numbers, some of which tell the class, and a class of 2 to 5 values, some rare."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, n_values = draw(st.integers(20, 60)), draw(st.integers(2, 5))
    shares = rng.dirichlet(np.full(n_values, draw(st.sampled_from([0.4, 1.0, 5.0]))))
    label = rng.choice(n_values, n, p=shares)
    frame = pd.DataFrame(
        {f"q{i}": rng.integers(0, 60, n) + 20 * label * (i % 2) for i in range(draw(st.integers(3, 6)))}
    )
    frame["c"] = np.array(list("vwxyz"))[label]
    return Microdata(frame, {**dict.fromkeys(frame.columns[:-1], "quasi-identifier"), "c": "sensitive"})


def classes_of(release):
    """Per fragment, the published rows per class value of each class, counted row by row."""
    found = []
    for fragment in release.fragments:
        codes = fragment.recodings["c"].codes
        groups = range(fragment.partition.n_groups)
        found.append([Counter(codes[fragment.partition.rows(group)].tolist()) for group in groups])
    return found


def joins_of(classes):
    """Rows per value of the join of one class of each of some fragments, for every two or more of them."""
    for number in range(2, len(classes) + 1):
        for fragments in combinations(classes, number):
            for some in product(*fragments):
                common = set.intersection(*(set(one) for one in some))
                yield {value: prod(one[value] for one in some) for value in common}


@cache
def enumerated_eta(k, kinds, common):
    """eta by enumeration; sizes and numbers of values are all that it depends on."""
    return plain_eta(k, *kinds, common=common)


@pytest.mark.slow
@few
@given(wide_tables(), st.integers(2, 5), st.integers(2, 3), st.sampled_from(["naive", "dependency"]), st.integers(0, 9))
def test_no_join_has_1_to_k_minus_1_rows(data, k, fragments, enforce, seed):
    release = VerticalFragmentation(k=k, fragments=fragments, enforce=enforce, seed=seed).anonymize(data)
    classes = classes_of(release)
    assert len(classes) == fragments
    assert all(sum(one.values()) >= k for side in classes for one in side)
    sizes = [sum(join.values()) for join in joins_of(classes)]
    assert all(size == 0 or size >= k for size in sizes)
    check = privacy.joins(release)
    assert check.holds
    # Only a join that needs it is looked at for three fragments, so a smallest one is known for pairs.
    pairs = [sum(join.values()) for two in combinations(classes, 2) for join in joins_of(two)]
    assert min(one.lowest or np.inf for one in check.joins if len(one.fragments) == 2) == min(
        (size for size in pairs if size), default=np.inf
    )


@pytest.mark.slow
@few
@given(wide_tables(), st.integers(2, 4), st.integers(2, 3), st.sampled_from([0.3, 0.5, 0.9]), st.integers(0, 9))
def test_eta_reaches_delta_on_every_edge(data, k, fragments, delta, seed):
    release = VerticalFragmentation(k=k, fragments=fragments, enforce="selectivity", delta=delta, seed=seed).anonymize(
        data
    )
    sides = []
    for fragment in release.fragments:
        cells = fragment.recodings["c"]
        assert isinstance(cells, GroupValues)
        sides.append(
            [
                (int(size), frozenset(cells.values(group).tolist()))
                for group, size in enumerate(fragment.partition.sizes)
            ]
        )
    for number in range(2, fragments + 1):
        for some_sides in combinations(sides, number):
            for some in product(*some_sides):
                common = len(frozenset.intersection(*(values for _, values in some)))
                kinds = tuple(sorted((size, len(values)) for size, values in some))
                if common and prod(size ** (values - 1) for size, values in kinds) < 50_000:
                    assert enumerated_eta(k, kinds, common) >= delta - 1e-9
    assert privacy.joins(release).holds


@pytest.mark.slow
@few
@given(
    wide_tables(),
    st.integers(2, 4),
    st.integers(2, 3),
    st.integers(2, 3),
    st.sampled_from(["none", "as-needed", "full"]),
)
def test_joins_of_chunks_keep_k_and_l_different_values(data, k, l, fragments, segmentation):
    method = VerticalFragmentation(k=k, l=l, fragments=fragments, segmentation=segmentation, seed=0)
    try:
        release = method.anonymize(data)
    except InfeasibleError:
        assert len(np.unique(data.codes["c"])) < l
        return
    classes = classes_of(release)
    assert all(sum(one.values()) >= k and len(one) >= l for side in classes for one in side)
    assert all(sum(join.values()) >= k and len(join) >= l for join in joins_of(classes) if join)
    # No class value is changed.
    for fragment in release.fragments:
        np.testing.assert_array_equal(fragment.recodings["c"].codes, data.codes["c"])


@pytest.mark.slow
@few
@given(wide_tables(), st.integers(2, 4), st.integers(2, 3))
def test_classes_of_one_segment_need_no_merging(data, k, fragments):
    # Theorem 5.1: classes that all have the segment's l values join to at least l of them and k rows.
    l = len(np.unique(data.codes["c"]))
    names = [list(data.quasi_identifiers[place::fragments]) for place in range(fragments)]
    asked = (KAnonymity(k=k), DistinctDiversity(l=l, attribute="c"))
    made = generalize_chunks(
        data, "c", names, asked, lambda wanted: Mondrian(requirements=wanted), "none", lambda done: None
    )
    assert (made.n_segments, made.n_merged) == (1, 0)
    counts = [partition.histogram(data.codes["c"], len(data.domain["c"])) for partition in made.partitions]
    for number in range(2, fragments + 1):
        for sides in combinations(counts, number):
            for some in product(*sides):
                rows = np.prod(some, axis=0)
                assert (rows > 0).sum() == l
                assert rows.sum() >= k


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters",
    [{"enforce": "naive"}, {"enforce": "dependency"}, {"enforce": "selectivity"}, {"l": 2}, {"t": 0.4}],
    ids=str,
)
@given(wide_tables(), st.integers(0, 99))
@settings(max_examples=8)
def test_a_seed_gives_the_same_release_in_any_order_of_the_rows(parameters, data, seed):
    method = VerticalFragmentation(k=3, fragments=2, seed=seed, **parameters)
    order = np.random.default_rng(seed).permutation(data.n_rows)
    turned = Microdata(data.frame.iloc[order], data.roles)
    try:
        release, again, other = (method.anonymize(one) for one in (data, data, turned))
    except InfeasibleError:
        assert len(np.unique(data.codes["c"])) < 2
        return
    assert common_attribute(release) == "c"
    for one, two, three in zip(release.fragments, again.fragments, other.fragments, strict=True):
        np.testing.assert_array_equal(one.partition.group, two.partition.group)
        published = [
            np.column_stack([np.column_stack(recoding.bounds()) for recoding in fragment.recodings.values()])
            for fragment in (one, two, three)
            if not isinstance(fragment.recodings["c"], GroupValues)
        ]
        if published:
            np.testing.assert_array_equal(published[0], published[1])
            assert Counter(map(tuple, published[0].tolist())) == Counter(map(tuple, published[2].tolist()))
        else:
            first, second, third = (
                [tuple(one.recodings["c"].values(g).tolist()) for g in range(one.partition.n_groups)]
                for one in (one, two, three)
            )
            assert first == second
            assert sorted(first) == sorted(third)

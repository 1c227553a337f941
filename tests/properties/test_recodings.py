"""Recodings of random partitions against what they say in words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Exact, Generalized, GroupValues, Kind, Partition
from tests.properties.strategies import microdata


@st.composite
def grouped_microdata(draw):
    data = draw(microdata(max_rows=20))
    n_groups = draw(st.integers(1, data.n_rows))
    rest = draw(
        st.lists(st.integers(0, n_groups - 1), min_size=data.n_rows - n_groups, max_size=data.n_rows - n_groups)
    )
    return data, Partition(np.array(draw(st.permutations([*range(n_groups), *rest]))))


def smallest_node(tree, codes):
    """Codes of the smallest node that holds all the codes."""
    holding = [
        (last - first, first, last)
        for first, last in zip(tree.first.tolist(), tree.last.tolist(), strict=True)
        if first <= min(codes) and max(codes) <= last
    ]
    _, first, last = min(holding)
    return list(range(first, last + 1))


def lost(domain, region, form):
    """The loss of a region by its definition."""
    if len(domain) == 1:
        return 0.0
    if domain.kind is Kind.NUMERIC and form == "interval":
        return (domain.positions[region[-1]] - domain.positions[region[0]]) / domain.span
    return (len(region) - 1) / (len(domain) - 1)


@pytest.mark.slow
@settings(max_examples=30)
@given(grouped_microdata(), st.randoms(use_true_random=False))
def test_a_region_is_the_tightest_that_holds_its_rows(case, random):
    data, partition = case
    for name in data.quasi_identifiers:
        domain, codes = data.domain[name], data.codes[name]
        recoding = Generalized.of_rows(domain, partition, codes)
        wanted = np.array([random.random() < 0.5 for _ in domain])
        loss, mass = recoding.loss(), recoding.mass(wanted)
        texts: dict[tuple[int, ...], str] = {}
        for group in range(partition.n_groups):
            present = sorted(set(codes[partition.rows(group)].tolist()))
            if domain.tree is not None:
                expected = smallest_node(domain.tree, present)
            elif domain.kind is Kind.NUMERIC:
                expected = list(range(present[0], present[-1] + 1))
            else:
                expected = present
            assert recoding.values(group).tolist() == expected
            assert recoding.sizes[group] == len(expected)
            assert loss[group] == pytest.approx(lost(domain, expected, recoding.form))
            assert mass[group] == pytest.approx(wanted[expected].mean())
            assert texts.setdefault(tuple(expected), recoding.group_texts[group]) == recoding.group_texts[group]
            if len(expected) == 1:
                assert recoding.group_texts[group] == domain.text(expected[0])
        assert recoding.texts().tolist() == [recoding.group_texts[group] for group in partition.group]


@pytest.mark.slow
@settings(max_examples=30)
@given(grouped_microdata())
def test_coarser_groups_never_lose_less_and_never_lower_k(case):
    data, partition = case
    merged = Partition(np.maximum(partition.group - 1, 0))
    assert merged.sizes.min() >= partition.sizes.min()
    for name in data.quasi_identifiers:
        domain, codes = data.domain[name], data.codes[name]
        fine = Generalized.of_rows(domain, partition, codes).loss()[partition.group]
        coarse = Generalized.of_rows(domain, merged, codes).loss()[merged.group]
        assert (coarse >= fine - 1e-12).all()


@pytest.mark.slow
@settings(max_examples=30)
@given(grouped_microdata(), st.randoms(use_true_random=False))
def test_exact_values_and_value_sets_count_what_is_there(case, random):
    data, partition = case
    for name in data.attributes:
        domain, codes = data.domain[name], data.codes[name]
        wanted = np.array([random.random() < 0.5 for _ in domain])
        exact = Exact(domain, partition, codes).mass(wanted)
        values = GroupValues(domain, partition, *partition.value_sets(codes, len(domain)))
        for group in range(partition.n_groups):
            inside = codes[partition.rows(group)]
            present = sorted(set(inside.tolist()))
            assert exact[group] == pytest.approx(wanted[inside].mean())
            assert values.values(group).tolist() == present
            assert values.ambiguous[group] == len(inside) - len(present)
            assert values.mass(wanted)[group] == pytest.approx(wanted[present].mean())

"""The earth mover's distance: the dissertation's numbers, and three independent definitions on random tables."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from anoncore import Hierarchy
from anoncore.base.errors import DataError, ParameterError
from anoncore.requirements import TCloseness
from tests.requirements.tables import grouped, random_groups, shares

few = settings(max_examples=20)


def distance_between(p, q):
    """Ordered EMD of a group of ten rows with shares p from a table of ten rows with shares q."""
    rows = [value for value, share in enumerate(p) for _ in range(round(10 * share))]
    (check,) = TCloseness(t=1, ground="ordered").checks(grouped([0, 1, 2], [0, 0, 0], numeric=True).data)
    reference = check.reference.copy()
    reference[:3] = [round(10 * share) for share in q]
    table = grouped(rows, [0] * 10, numeric=True)
    return dataclasses.replace(check, reference=reference).levels(table.partition, np.array(rows, dtype=np.int32))[0]


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [
        ((0.2, 0.1, 0.7), (0.3, 0, 0.7), 0.05),
        ((0.3, 0, 0.7), (0.1, 0, 0.9), 0.2),
        ((0.2, 0.1, 0.7), (0.1, 0, 0.9), 0.15),
    ],
)
def test_the_numbers_of_section_2_6_4(p, q, expected):
    assert distance_between(p, q) == pytest.approx(expected, abs=1e-12)


@few
@given(random_groups((10, 20, 50, 90, None), numeric=True))
def test_the_ordered_distance_is_that_of_ranks(table):
    (check,) = TCloseness(t=1, ground="ordered").checks(table.data)
    codes, m = table.data.codes["s"], len(table.data.domain["s"])
    for group, level in enumerate(check.levels(table.partition)):
        inside = codes[table.partition.group == group]
        expected = wasserstein_distance(inside / (m - 1), codes / (m - 1)) if m > 1 else 0.0
        assert level == pytest.approx(expected, abs=1e-12)


@few
@given(random_groups((-3.5, 10, 20, 50, 90), numeric=True))
def test_the_interval_distance_is_that_of_the_numbers_themselves(table):
    (check,) = TCloseness(t=1, ground="interval").checks(table.data)
    span = max(table.values) - min(table.values)
    for group, level in enumerate(check.levels(table.partition)):
        expected = wasserstein_distance(table.members(group), table.values) / span if span else 0.0
        assert level == pytest.approx(expected, abs=1e-12)


def test_values_that_do_not_occur_count_as_way_for_the_interval_distance_only():
    """Ten bins of which two are empty: all in bin 0 against half in bin 0 and half in bin 9."""
    bins = [0, 0, 9, 9, 1, 1]
    found = {}
    for ground in ("ordered", "interval"):
        (check,) = TCloseness(t=1, ground=ground).checks(grouped(bins, [0, 0, 1, 1, 2, 2], numeric=True).data)
        found[ground] = check.levels(grouped(bins, [0, 0, 1, 1, 2, 2], numeric=True).partition)
    # A third of the mass goes from 0 to 1, a third from 0 to 9: (1/3 * 1 + 1/3 * 2) / 2 and (1/3 * 1 + 1/3 * 9) / 9.
    assert found["ordered"][0] == pytest.approx(1 / 2)
    assert found["interval"][0] == pytest.approx(10 / 27)


@few
@given(random_groups((3, 5, 7, 9, 11, None), numeric=True))
def test_without_gaps_the_interval_distance_is_the_ordered_one(table):
    if len(set(table.values)) > 1 and set(table.values) - {None} == set(
        range(3, max(filter(None, table.values)) + 1, 2)
    ):
        levels = [
            TCloseness(t=1, ground=ground).checks(table.data)[0].levels(table.partition)
            for ground in ("ordered", "interval")
        ]
        assert levels[0] == pytest.approx(levels[1], abs=1e-12)


def test_missing_lies_a_mean_step_above_the_largest_number():
    table = grouped([0, 1, 4, None], [0, 0, 1, 1], numeric=True)
    (check,) = TCloseness(t=1, ground="interval").checks(table.data)
    # Places 0, 1, 4 and 6: the first group has 1/4 too much at 0 and 1, the second as much too little.
    assert check.levels(table.partition) == pytest.approx([(0.25 * 1 + 0.5 * 3 + 0.25 * 2) / 6] * 2)


@few
@given(random_groups(("a", "b", "c", "d", None)))
def test_the_equal_distance_is_the_total_variation(table):
    (check,) = TCloseness(t=1, ground="equal").checks(table.data)
    domain = ["a", "b", "c", "d", None]
    whole = shares(table.values, domain)
    for group, level in enumerate(check.levels(table.partition)):
        assert level == pytest.approx(np.abs(shares(table.members(group), domain) - whole).sum() / 2, abs=1e-12)


@few
@given(
    random_groups(("a", "b", "c", None), sensitive_values=None),
    st.sampled_from(["ordered", "interval", "equal", "hierarchical"]),
)
def test_a_protected_set_is_one_step_from_the_rest(table, ground):
    if "a" not in table.values:
        return
    table = grouped(table.values, table.group, sensitive_values={"s": {"a"}})
    (check,) = TCloseness(t=1, ground=ground).checks(table.data)
    whole = table.values.count("a") / len(table.values)
    for group, level in enumerate(check.levels(table.partition)):
        inside = table.members(group)
        assert level == pytest.approx(abs(inside.count("a") / len(inside) - whole), abs=1e-12)


LEAVES = tuple("abcdefg")


@st.composite
def taxonomies(draw, leaves=LEAVES, name="g"):
    """Trees over the leaves, branches of any depth beside each other."""
    if len(leaves) == 1 or draw(st.booleans()):
        return list(leaves)
    cuts = sorted(draw(st.sets(st.integers(1, len(leaves) - 1), min_size=1, max_size=2)))
    parts = [leaves[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(leaves)], strict=True)]
    return {f"{name}{i}": draw(taxonomies(part, f"{name}{i}")) for i, part in enumerate(parts)}


def height(taxonomy):
    return 1 + max(map(height, taxonomy.values())) if isinstance(taxonomy, dict) else 1


def leaves_of(taxonomy):
    return [x for part in taxonomy.values() for x in leaves_of(part)] if isinstance(taxonomy, dict) else list(taxonomy)


def ground_distance(taxonomy, x, y):
    """Height of the lowest common ancestor / height of the tree; missing joins the others at the root."""
    if x == y:
        return 0.0
    top, node = height(taxonomy), taxonomy
    while isinstance(node, dict):
        below = [part for part in node.values() if {x, y} <= set(leaves_of(part))]
        if not below:
            break
        node = below[0]
    return height(node) / top


def transport(p, q, cost):
    m = len(p)
    rows, columns = np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))
    return linprog(np.ravel(cost), A_eq=np.vstack([rows, columns]), b_eq=[*p, *q], method="highs").fun


@few
@given(taxonomies(), random_groups((*LEAVES, None)))
def test_the_hierarchical_distance_is_the_cheapest_transport(taxonomy, table):
    hierarchy = Hierarchy.from_nested(taxonomy)
    table = grouped(table.values, table.group, hierarchies={"s": hierarchy})
    (check,) = TCloseness(t=1, ground="hierarchical").checks(table.data)
    domain = [*LEAVES, None]
    cost = [[ground_distance(taxonomy, x, y) for y in domain] for x in domain]
    for group, level in enumerate(check.levels(table.partition)):
        expected = transport(shares(table.members(group), domain), shares(table.values, domain), cost)
        assert level == pytest.approx(expected, abs=1e-9)


def test_the_hierarchical_distance_by_hand():
    # Two diseases of one organ are 1/2 apart, of two organs 1. Only stomach: half the mass moves by 1; one of each
    # organ: a quarter moves by 1/2 on either side.
    tree = Hierarchy.from_nested({"stomach": ["ulcer", "gastritis"], "lung": ["flu", "bronchitis"]})
    values = ["ulcer", "gastritis", "flu", "bronchitis"]
    table = grouped(values, [0, 0, 1, 1], hierarchies={"s": tree})
    (check,) = TCloseness(t=1, ground="hierarchical").checks(table.data)
    np.testing.assert_allclose(check.levels(table.partition), [0.5, 0.5])
    across = grouped(values, [0, 1, 0, 1], hierarchies={"s": tree})
    np.testing.assert_allclose(TCloseness(ground="hierarchical").checks(across.data)[0].levels(across.partition), 0.25)


def test_a_distance_of_exactly_t_holds():
    # Ten rows, two groups of five: each group is 0.2 from the table in the equal distance.
    table = grouped(list("aaabb" + "abbbb"), [0] * 5 + [1] * 5)
    levels = TCloseness(t=0.2).checks(table.data)[0].levels(table.partition)
    np.testing.assert_allclose(levels, 0.2)
    assert TCloseness(t=0.2).checks(table.data)[0].holds(levels).all()
    assert not TCloseness(t=0.199).checks(table.data)[0].holds(levels).any()


def test_one_value_is_at_distance_zero():
    for ground in ("ordered", "equal"):
        table = grouped(["x"] * 3, [0, 1, 1])
        assert TCloseness(t=0, ground=ground).checks(table.data)[0].levels(table.partition).tolist() == [0, 0]


def test_what_the_distance_needs_is_said():
    with pytest.raises(DataError, match="'s' has no hierarchy"):
        TCloseness(ground="hierarchical").checks(grouped(["a", "b"], [0, 0]).data)
    with pytest.raises(ParameterError, match="ground should be"):
        TCloseness(ground="taxicab")
    with pytest.raises(ParameterError, match="t should be"):
        TCloseness(t=1.2)

"""The plan that moves a group's mass: it ends at the table's distribution and costs what the distance says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Exact, Fragment, Hierarchy, Microdata, Partition, Release, privacy
from anoncore.base.errors import DataError, ParameterError
from tests.privacy.releases import builtin, generalized
from tests.requirements.tables import Grouped, grouped, random_groups
from tests.requirements.test_t_closeness import LEAVES, ground_distance, taxonomies

few = settings(max_examples=20)


def release_of(table: Grouped) -> Release:
    data = table.data
    exact = Exact(data.domain["s"], table.partition, data.codes["s"])
    return Release(data, (Fragment("release", table.partition, {"s": exact}),))


def check_plans(table: Grouped, ground: str, distance) -> None:
    """Every group's plan moves its distribution to the table's, each move costs the ground distance, in sum the EMD."""
    release = release_of(table)
    emd = privacy.emd(release, "s", ground)
    for group in range(table.partition.n_groups):
        plan = privacy.transport(release, "s", group, ground)
        assert plan.cost == pytest.approx(emd[group], abs=1e-9)
        assert (plan.mass > 0).all()
        moved = plan.group.copy()
        np.subtract.at(moved, plan.source, plan.mass)
        np.add.at(moved, plan.target, plan.mass)
        assert moved == pytest.approx(plan.table, abs=1e-12)
        for source, target, one in zip(plan.source, plan.target, plan.distance, strict=True):
            assert one == pytest.approx(distance(plan.values, int(source), int(target)))


@few
@given(random_groups((10, 20, 50, 90, 91, None), numeric=True))
def test_ordered_moves_go_along_the_ranks(table):
    check_plans(table, "ordered", lambda values, i, j: abs(i - j) / (len(values) - 1))
    release = release_of(table)
    for group in range(table.partition.n_groups):
        plan = privacy.transport(release, "s", group, "ordered")
        if len(plan.values) > 1:
            assert np.abs(plan.crossing).mean() == pytest.approx(plan.cost, abs=1e-9)
        for gap, net in enumerate(plan.crossing):
            over = (plan.source <= gap) & (plan.target > gap)
            back = (plan.source > gap) & (plan.target <= gap)
            assert plan.mass[over].sum() - plan.mass[back].sum() == pytest.approx(net, abs=1e-12)


@few
@given(random_groups((10, 20, 50, 90, 91), numeric=True))
def test_moves_of_numbers_cost_their_difference(table):
    span = max(table.values) - min(table.values)
    check_plans(table, "interval", lambda values, i, j: abs(int(values[i]) - int(values[j])) / span)


@few
@given(random_groups(("a", "b", "c", "d", None)))
def test_equal_moves_all_cost_the_same(table):
    check_plans(table, "equal", lambda values, i, j: 1.0)


@few
@given(taxonomies(), random_groups((*LEAVES, None)))
def test_hierarchical_moves_turn_at_the_lowest_common_node(taxonomy, table):
    table = grouped(table.values, table.group, hierarchies={"s": Hierarchy.from_nested(taxonomy)})
    domain = list(table.data.domain["s"])
    check_plans(table, "hierarchical", lambda values, i, j: ground_distance(taxonomy, domain[i], domain[j]))
    if len(domain) == 1:
        return
    release = release_of(table)
    for group in range(table.partition.n_groups):
        plan = privacy.transport(release, "s", group, "hierarchical")
        assert plan.node_cost.sum() == pytest.approx(plan.cost, abs=1e-12)
        tree = plan.tree
        for source, target, turn in zip(plan.source, plan.target, plan.turn, strict=True):
            ancestor = tree.common_ancestor(np.array([min(source, target)]), np.array([max(source, target)]))[0]
            assert turn == ancestor
        for node in range(len(tree.labels)):
            inside = [(tree.first[node] <= side) & (side <= tree.last[node]) for side in (plan.source, plan.target)]
            net = plan.mass[inside[0] & ~inside[1]].sum() - plan.mass[inside[1] & ~inside[0]].sum()
            assert plan.leaving[node] == pytest.approx(net, abs=1e-12)


@few
@given(random_groups(("a", "b", "c", None)), st.sampled_from(["ordered", "interval", "equal", "hierarchical"]))
def test_protected_values_move_as_one(table, ground):
    if "a" not in table.values:
        return
    table = grouped(table.values, table.group, sensitive_values={"s": {"a"}})
    check_plans(table, ground, lambda values, i, j: 1.0)


@few
@given(
    st.lists(
        st.tuples(st.sampled_from("ABCD"), st.sampled_from((10, 20, 50)), st.integers(0, 2)), min_size=1, max_size=12
    ),
    st.sampled_from(["ordered", "interval", "equal"]),
)
def test_the_plan_counts_people_where_one_has_several_rows(rows, ground):
    frame = pd.DataFrame(rows, columns=["who", "s", "group"])
    data = Microdata(frame[["who", "s"]], {"s": "sensitive"}, unit="who")
    partition = Partition(np.unique(frame["group"], return_inverse=True)[1])
    release = Release(
        data, (Fragment("release", partition, {"s": Exact(data.domain["s"], partition, data.codes["s"])}),)
    )
    emd = privacy.emd(release, "s", ground)
    plans = [privacy.transport(release, "s", group, ground) for group in range(partition.n_groups)]
    assert [plan.cost for plan in plans] == pytest.approx(emd.tolist(), abs=1e-9)
    for plan, (_, part) in zip(plans, frame.groupby("group"), strict=True):
        pairs = part.drop_duplicates(["who", "s"])["s"].astype(str)
        assert plan.group == pytest.approx([(pairs == value).mean() for value in plan.values])


def test_three_visits_of_one_person_move_as_one_by_hand():
    # Ann has the flu three times and Bob a cold: half of the people of class 0 have either, as in the table.
    frame = pd.DataFrame({"who": [*"AAABCD"], "s": ["flu", "flu", "flu", "cold", "flu", "cold"]})
    data = Microdata(frame, {"s": "sensitive"}, unit="who")
    partition = Partition([0, 0, 0, 0, 1, 1])
    release = Release(
        data, (Fragment("release", partition, {"s": Exact(data.domain["s"], partition, data.codes["s"])}),)
    )
    plan = privacy.transport(release, "s", 0, "equal")
    assert plan.group.tolist() == plan.table.tolist() == [0.5, 0.5]
    assert len(plan.mass) == 0


def test_the_plan_of_one_class_by_hand():
    # Six rows; the class has 1, 1, 2 and the table 1, 1, 2, 2, 3, 3: a third each. Surplus 1/3 at 1 goes to 3, two
    # steps of two: the mass crosses both gaps. Distance 1/3.
    table = grouped([1, 1, 2, 2, 3, 3], [0, 0, 0, 1, 1, 1], numeric=True)
    plan = privacy.transport(release_of(table), "s", 0)
    assert (plan.source.tolist(), plan.target.tolist()) == ([0], [2])
    assert plan.mass == pytest.approx([1 / 3])
    assert plan.crossing == pytest.approx([1 / 3, 1 / 3])
    assert plan.cost == pytest.approx(1 / 3)


def test_the_plan_along_a_tree_by_hand():
    # Only ulcer in the class, a quarter of each in the table: a quarter turns at the stomach at half the height, the
    # other half goes over the top.
    tree = Hierarchy.from_nested({"stomach": ["ulcer", "gastritis"], "lung": ["flu", "bronchitis"]})
    values = ["ulcer", "gastritis", "flu", "bronchitis"]
    table = grouped(
        [*values, "ulcer", "gastritis", "flu", "bronchitis"], [0, 1, 1, 1, 0, 1, 1, 1], hierarchies={"s": tree}
    )
    plan = privacy.transport(release_of(table), "s", 0, "hierarchical")
    turning = {plan.tree.labels[node]: mass for node, mass in enumerate(plan.node_mass) if mass}
    assert turning == pytest.approx({"stomach": 0.25, "*": 0.5})
    assert plan.cost == pytest.approx(0.25 / 2 + 0.5)


def test_real_salaries_move_as_far_as_their_distance_says():
    data = builtin("t-closeness-salaries")
    release = generalized(data, np.arange(250) % 5)
    for ground in ("ordered", "interval", "equal"):
        distances = privacy.emd(release, "salary", ground)
        assert [privacy.transport(release, "salary", g, ground).cost for g in range(5)] == pytest.approx(distances)


def test_what_cannot_be_moved_is_said():
    data = Microdata(pd.DataFrame({"q": [1, 2], "s": ["a", "b"]}), roles={"q": "quasi-identifier", "s": "sensitive"})
    release = generalized(data, [0, 0])
    with pytest.raises(ParameterError, match="no group 1; groups are numbered 0 to 0"):
        privacy.transport(release, "s", 1)
    with pytest.raises(ParameterError, match="ground is 'taxicab'; use one of 'ordered'"):
        privacy.transport(release, "s", 0, "taxicab")
    with pytest.raises(DataError, match="no hierarchy"):
        privacy.transport(release, "s", 0, "hierarchical")
    with pytest.raises(ParameterError, match="No fragment 'x' publishes 's'"):
        privacy.transport(release, "s", 0, fragment="x")
    with pytest.raises(DataError, match="along a tree"):
        _ = privacy.transport(release, "s", 0, "equal").node_cost

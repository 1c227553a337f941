"""Stack & Deal: the worked examples of the dissertation, even classes, and what locality leaves as it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import CancelledError, DataError, InfeasibleError, Microdata, ParameterError, privacy
from anoncore.algorithms import StackAndDeal
from anoncore.datasets import Table, table
from anoncore.utility import information_loss
from tests.shared_data import needs

from .close_tables import close_tables, contents, plain_ordered, shuffled

needs_adult = needs("adult.csv")

# Table 3.3, one row per class; columns 70K, 75K, 85K, 55K, 50K, 65K, 80K, 60K, 90K, 95K.
TABLE_3_3 = [
    [9, 8, 7, 6, 5, 4, 3, 4, 3, 1],
    [9, 7, 8, 6, 5, 4, 3, 3, 3, 2],
    [8, 8, 8, 6, 5, 4, 3, 3, 3, 2],
    [8, 8, 7, 7, 4, 4, 4, 3, 3, 2],
    [8, 8, 7, 6, 5, 4, 4, 3, 3, 2],
]
STACKED_SALARIES = [70_000, 75_000, 85_000, 55_000, 50_000, 65_000, 80_000, 60_000, 90_000, 95_000]
IN_STACK_ORDER = [0.009778, 0.005778, 0.005333, 0.006667, 0.008]
IN_SALARY_ORDER = [0.016889, 0.005778, 0.006222, 0.006222, 0.004889]


def microdata(entry: Table) -> Microdata:
    return Microdata(entry.load(), roles=entry.roles, kinds=entry.kinds, orders=entry.orders)


def class_counts(release, stack=None):
    """Rows of every combination of sensitive values in every class."""
    stack = stack if stack is not None else release.algorithm.stack_of(release.data)
    cell = stack.multiplicity.of_row
    return release.partition.histogram(cell, len(stack.multiplicity.cells))[:, stack.order]


@pytest.mark.parametrize("locality", [False, True])
def test_the_dealt_counts_are_those_of_table_3_3(locality):
    data = microdata(table("t-closeness-salaries"))
    release = StackAndDeal(k=50, locality=locality).anonymize(data)
    domain = data.domain["salary"]
    counts = release.partition.histogram(data.codes["salary"], len(domain))
    assert counts[:, [domain.code_of(salary) for salary in STACKED_SALARIES]].tolist() == TABLE_3_3


def test_table_3_4_is_in_stack_order_and_the_release_reports_the_true_distance():
    data = microdata(table("t-closeness-salaries"))
    release = StackAndDeal(k=50).anonymize(data)
    whole = np.array(TABLE_3_3).sum(axis=0)
    assert [plain_ordered(np.array(row), whole) for row in TABLE_3_3] == pytest.approx(IN_STACK_ORDER, abs=5e-7)
    true = privacy.emd(release, "salary", ground="ordered")
    assert true == pytest.approx(IN_SALARY_ORDER, abs=5e-7)
    assert true.max() == pytest.approx(0.016889, abs=5e-7)


def test_the_stack_knows_the_counts_before_rows_are_dealt():
    data = microdata(table("t-closeness-salaries"))
    assert StackAndDeal(k=50).stack_of(data).class_counts().tolist() == TABLE_3_3


@settings(max_examples=20)
@given(data=close_tables(), k=st.integers(1, 8), classes=st.integers(1, 6))
def test_cards_are_dealt_round_by_round_from_the_top(data, k, classes):
    stack = StackAndDeal(k=min(k, data.n_rows)).stack_of(data)
    pile = np.repeat(np.arange(len(stack.order)), stack.multiplicity.counts[stack.order])
    rounds = -(-len(pile) // stack.n_classes)
    cards = stack.cards(rounds, classes)
    shown = min(classes, stack.n_classes)
    assert cards.shape == (rounds, shown)
    for number in range(shown):
        mine = pile[number :: stack.n_classes]
        assert cards[: len(mine), number].tolist() == mine.tolist()
        assert (cards[len(mine) :, number] == -1).all()
    assert stack.class_counts(classes).tolist() == stack.class_counts()[:classes].tolist()


def test_combinations_are_counted_and_stacked_as_in_tables_5_2_and_5_3():
    data = microdata(table("t-closeness-table-5.1"))
    stack = StackAndDeal(k=5).stack_of(data)
    multiplicity = stack.multiplicity
    counted = {multiplicity.labels(cell): int(multiplicity.counts[cell]) for cell in range(len(multiplicity.cells))}
    assert counted == {("a1", "b1"): 2, ("a1", "b2"): 3, ("a2", "b1"): 5, ("a2", "b2"): 1, ("a2", "b3"): 4}
    stacked = [("".join(multiplicity.labels(cell)), int(multiplicity.counts[cell])) for cell in stack.order]
    assert stacked == [("a2b1", 5), ("a2b3", 4), ("a1b2", 3), ("a1b1", 2), ("a2b2", 1)]
    assert stack.n_classes == 3


def test_the_number_of_classes_is_the_floor():
    data = microdata(table("t-closeness-table-5.1"))
    release = StackAndDeal(k=4).anonymize(data)
    assert sorted(release.partition.sizes) == [5, 5, 5]


def test_ties_go_to_the_higher_index_for_one_attribute_and_the_lower_for_several():
    frame = pd.DataFrame({"q": range(6), "s": [1, 2, 3, 1, 2, 3], "u": [7] * 6})
    one = Microdata(frame, roles={"q": "quasi-identifier", "s": "sensitive"})
    assert StackAndDeal(k=2).stack_of(one).order.tolist() == [2, 1, 0]
    two = Microdata(frame, roles={"q": "quasi-identifier", "s": "sensitive", "u": "sensitive"})
    assert StackAndDeal(k=2).stack_of(two).order.tolist() == [0, 1, 2]


@settings(max_examples=25)
@given(data=close_tables(), k=st.integers(1, 8), stack=st.sampled_from(["frequency", "value"]), locality=st.booleans())
def test_sizes_and_frequencies_differ_by_at_most_one(data, k, stack, locality):
    k = min(k, data.n_rows)
    release = StackAndDeal(k=k, stack=stack, locality=locality, seed=1).anonymize(data)
    assert release.partition.n_groups == data.n_rows // k
    assert release.partition.sizes.min() >= k
    assert np.ptp(release.partition.sizes) <= 1
    assert np.ptp(class_counts(release), axis=0).max() <= 1


@settings(max_examples=30)
@given(data=close_tables(most=60, sensitive=1), k=st.integers(1, 12))
def test_value_stacking_keeps_the_ordered_distance_below_its_bound(data, k):
    k = min(k, data.n_rows)
    release = StackAndDeal(k=k, stack="value", seed=0).anonymize(data)
    n_classes = data.n_rows // k
    sizes = release.partition.sizes
    found = privacy.emd(release, "pay", ground="ordered")
    assert (found <= (1 - 1 / n_classes) / sizes + 1e-12).all()
    assert found.max() <= 1 / k


def test_the_bound_of_value_stacking_is_reached():
    """One rare low value: its class has the share 1/k, the table 1/(k e)."""
    frame = pd.DataFrame({"q": range(20), "s": [0] + [1] * 19})
    data = Microdata(frame, roles={"q": "quasi-identifier", "s": "sensitive"})
    release = StackAndDeal(k=4, stack="value").anonymize(data)
    assert privacy.emd(release, "s", ground="ordered").max() == pytest.approx((1 - 1 / 5) / 4)
    assert any(promise.name == "t-closeness" for promise in release.algorithm.promises(data))


@settings(max_examples=20)
@given(data=close_tables(), k=st.integers(1, 8), stack=st.sampled_from(["frequency", "value"]))
def test_locality_changes_no_class_count(data, k, stack):
    k = min(k, data.n_rows)
    dealt = StackAndDeal(k=k, stack=stack, locality=False).anonymize(data)
    near = StackAndDeal(k=k, stack=stack, locality=True).anonymize(data)
    assert class_counts(near).tolist() == class_counts(dealt).tolist()
    assert class_counts(near).tolist() == near.algorithm.stack_of(data).class_counts().tolist()


@pytest.mark.parametrize("locality", [False, True])
def test_row_order_does_not_matter_and_the_seed_repeats(locality):
    data = microdata(table("t-closeness-salaries"))
    model = StackAndDeal(k=10, locality=locality, seed=3)
    again = model.anonymize(shuffled(data, 5))
    assert contents(again) == contents(model.anonymize(data))
    other = model.replace(seed=4).anonymize(data)
    assert locality or contents(other) != contents(again)


def test_only_protected_values_count_where_a_table_names_them():
    frame = pd.DataFrame({"q": range(12), "s": ["hiv", "flu", "cold", "flu"] * 3})
    data = Microdata(frame, roles={"q": "quasi-identifier", "s": "sensitive"}, sensitive_values={"s": {"hiv"}})
    release = StackAndDeal(k=4).anonymize(data)
    hiv = data.frame["s"].to_numpy() == "hiv"
    assert np.bincount(release.partition.group, weights=hiv).tolist() == [1, 1, 1]


def test_the_inputs_are_not_changed():
    data = microdata(table("t-closeness-table-5.1"))
    before, codes = data.frame.copy(), {name: column.copy() for name, column in data.codes.items()}
    StackAndDeal(k=3).anonymize(data)
    pd.testing.assert_frame_equal(data.frame, before)
    assert all((data.codes[name] == column).all() for name, column in codes.items())


def test_what_cannot_be_done_is_said():
    frame = pd.DataFrame({"q": range(3), "s": [1, 2, 3]})
    with pytest.raises(DataError, match="sensitive"):
        StackAndDeal().anonymize(Microdata(frame, roles={"q": "quasi-identifier"}))
    data = Microdata(frame, roles={"q": "quasi-identifier", "s": "sensitive"})
    for stack in ("frequency", "value"):
        with pytest.raises(InfeasibleError) as caught:
            StackAndDeal(k=4, stack=stack).anonymize(data)
        assert caught.value.nearest == 3
    with pytest.raises(ParameterError):
        StackAndDeal(k=0)


def test_it_reports_progress_and_stops_when_asked():
    data = microdata(table("t-closeness-salaries"))
    seen: list[float] = []
    StackAndDeal(k=5).anonymize(data, lambda done, text: seen.append(done))
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(seen) > 4

    def stop(done: float, text: str) -> None:
        if done > 0.1:
            raise CancelledError("stop")

    with pytest.raises(CancelledError):
        StackAndDeal(k=5).anonymize(data, stop)


@pytest.mark.slow
@needs_adult
@pytest.mark.parametrize(("stack", "k"), [("value", 6), ("frequency", 11)])
def test_locality_lowers_the_information_loss_on_adult_by_40_percent(stack, k):
    quasi = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]
    frame = table("adult").load()[[*quasi, "hours-per-week"]]
    roles = {**dict.fromkeys(quasi, "quasi-identifier"), "hours-per-week": "sensitive"}
    data = Microdata(frame, roles=roles)
    dealt = StackAndDeal(k=k, stack=stack, locality=False, seed=0).anonymize(data)
    near = StackAndDeal(k=k, stack=stack, locality=True, seed=0).anonymize(data)
    reached = [privacy.emd(release, "hours-per-week").max() for release in (dealt, near)]
    assert reached[0] == reached[1] <= 0.1
    assert information_loss(near) <= 0.6 * information_loss(dealt)

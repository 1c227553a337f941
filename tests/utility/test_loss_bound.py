"""The least loss: never above what trying everything finds, and proven by prices that no class breaks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from anoncore import CancelledError, DataError, InfeasibleError, Microdata, ParameterError, utility
from anoncore.algorithms import Mondrian, Suppression
from anoncore.kernels.cheapest_boxes import UNIT, search_boxes
from anoncore.requirements import KAnonymity
from anoncore.utility.box_rows import DistinctRows
from tests.utility.plain_least_loss import class_loss, is_close, is_diverse, least_loss, random_table, sets_of

ROUNDING = Fraction(1, 2**28)
"""What the whole numbers in which losses are counted may be off by, of one table."""


def search(data, k, prices=None, slack=0, most_boxes=10**6):
    """The different rows, and what the kernel says of each: with prices, these as it lowers them."""
    rows = DistinctRows.of(data)
    m = len(rows.boxes.amounts)
    is_priced = prices is not None
    prices = np.zeros(m, dtype=np.int64) if prices is None else prices
    order = np.argsort(prices, kind="stable")
    ranks = np.argsort(order) if is_priced else np.zeros(m, dtype=np.int64)
    excess, sizes, losses = (np.zeros(m, dtype=np.int64) for _ in range(3))
    members, copies = (np.zeros((m, k), dtype=np.int32) for _ in range(2))
    search_boxes(
        rows.boxes, order, k, prices, ranks, is_priced, slack, most_boxes, excess, sizes, losses, members, copies
    )
    back = np.argsort(order)
    return rows, prices, excess[back], sizes[back], losses[back], members[back], copies[back]


def loss_in_units(rows, which):
    """The loss of the box of some of the different rows, counted as the kernel does but by looking at all of them."""
    boxes, which = rows.boxes, list(which)
    loss = sum(int(np.ptp(boxes.numbers[which, a])) for a in range(boxes.numbers.shape[1]))
    for a in range(boxes.values.shape[1]):
        loss += (len(set(boxes.values[which, a].tolist())) - 1) * int(boxes.added[a])
    for a in range(boxes.leaves.shape[1]):
        codes = boxes.leaves[which, a]
        nodes = zip(boxes.first.tolist(), boxes.last.tolist(), boxes.loss.tolist(), strict=True)
        loss += min(own for first, last, own in nodes if first <= codes.min() and last >= codes.max())
    return loss


@pytest.mark.parametrize("seed", range(20))
def test_the_cheapest_box_is_that_of_all_sets_with_the_row(seed):
    rng = np.random.default_rng(seed)
    data, k = random_table(rng), int(rng.integers(2, 5))
    rows, _, excess, sizes, losses, members, copies = search(data, k)
    number = rows.number.tolist()
    for i in range(len(excess)):
        least = min(
            loss_in_units(rows, {number[row] for row in chosen})
            for chosen, _ in sets_of(data, k)
            if i in {number[row] for row in chosen}
        )
        assert -excess[i] == k * least == k * losses[i]
        assert copies[i, : sizes[i]].sum() == k
        assert i in members[i, : sizes[i]]
        assert loss_in_units(rows, members[i, : sizes[i]]) == least


@pytest.mark.parametrize("seed", range(20))
def test_what_is_plain_without_a_search_is_no_more_than_the_cheapest_box(seed):
    rng = np.random.default_rng(seed)
    data, k = random_table(rng), int(rng.integers(2, 5))
    rows, _, excess, *_ = search(data, k)
    plain = rows.least_steps(k)
    assert (k * plain <= -excess).all()


def test_rows_of_many_attributes_are_told_apart():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.integers(0, 300, (50, 12)), columns=list("abcdefghijkl"))
    frame = pd.concat([frame, frame.head(10)], ignore_index=True)
    rows = DistinctRows.of(Microdata(frame, dict.fromkeys(frame, "quasi-identifier")))
    assert sorted(rows.boxes.amounts.tolist()) == [1] * 40 + [2] * 10
    assert (rows.number[:10] == rows.number[50:]).all()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("most_boxes", [1, 3, 10**6])
def test_lowered_prices_are_broken_by_no_set_whatever_they_were(seed, most_boxes):
    rng = np.random.default_rng(seed)
    data, k = random_table(rng), int(rng.integers(2, 5))
    m = len(DistinctRows.of(data).boxes.amounts)
    given = (rng.normal(0.3, 0.5, m) * UNIT).astype(np.int64)
    amounts = DistinctRows.of(data).boxes.amounts
    given[amounts >= k] = np.minimum(given[amounts >= k], 0)
    rows, prices, *_ = search(data, k, given.copy(), most_boxes=most_boxes)
    assert (prices <= given).all()
    for chosen, _ in sets_of(data, k):
        which = rows.number[list(chosen)]
        assert prices[which].sum() <= k * loss_in_units(rows, which)


@pytest.mark.parametrize("seed", range(10))
def test_a_single_row_is_lowered_by_what_it_breaks_and_by_little_more(seed):
    rng = np.random.default_rng(seed)
    data, k = random_table(rng), 3
    m = len(DistinctRows.of(data).boxes.amounts)
    given = np.zeros(m, dtype=np.int64)
    given[0] = UNIT
    rows, prices, *_ = search(data, k, given)
    sets = [rows.number[list(chosen)] for chosen, _ in sets_of(data, k)]
    broken = max(int((which == 0).sum()) * UNIT - k * loss_in_units(rows, which) for which in sets if 0 in which)
    lowered = UNIT - int(prices[0])
    if rows.boxes.amounts[0] < k:
        assert max(broken, 0) <= lowered <= max(broken, 0) * 9 // 8


def bound_and_least(seed, k, promise):
    rng = np.random.default_rng(seed)
    data = random_table(rng, most_rows=8)
    holds = {"k": lambda rows: True, "l": is_diverse(data, 2), "t": is_close(data, 0.5)}[promise]
    least = least_loss(data, k, holds)
    return utility.least_loss(data, k).bound, least


@pytest.mark.parametrize("promise", ["k", "l", "t"])
@pytest.mark.parametrize("seed", range(8))
def test_no_partition_loses_less(seed, promise):
    bound, least = bound_and_least(seed, 2 + seed % 2, promise)
    assert least is None or bound <= least


@pytest.mark.slow
def test_no_partition_of_500_tables_loses_less():
    rng = np.random.default_rng(500)
    reached = []
    for number in range(500):
        data, k = random_table(rng), 2 + number % 3
        promise = (lambda rows: True, is_diverse(data, 2), is_close(data, 0.5))[number // 3 % 3]
        bound, least = utility.least_loss(data, k).bound, least_loss(data, k, promise)
        if least is None:
            continue
        assert bound <= least
        if number // 3 % 3 == 0 and least > 0:
            reached.append(bound / float(least))
    assert len(reached) > 100
    # The bound is of use: that of prices lies close below the least loss.
    assert np.mean(reached) > 0.82


def test_prices_prove_the_bound():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data, k = random_table(rng), 2 + seed % 3
        least = utility.least_loss(data, k)
        assert least.prices.mean() == pytest.approx(least.bound, abs=1e-8) or least.bound == 0
        for chosen, loss in sets_of(data, k):
            assert least.prices[list(chosen)].sum() <= k * (loss + ROUNDING)
        # Rows that are suppressed lose everything, however few they are.
        assert (least.prices <= 1).all()
        assert least.least_box <= least.bound


@pytest.mark.parametrize("k", [2, 3])
def test_released_tables_lose_no_less(k):
    rng = np.random.default_rng(k)
    frame = pd.DataFrame({"age": rng.integers(20, 60, 80), "town": rng.choice(list("uvwx"), 80)})
    data = Microdata(frame, dict.fromkeys(frame, "quasi-identifier"))
    least = utility.least_loss(data, k)
    mondrian = Mondrian(requirements=[KAnonymity(k=k)], split="loss", refine=True)
    for method in (mondrian, Suppression(method=mondrian, max_suppression=0.1)):
        assert least.bound <= utility.information_loss(method.anonymize(data))


def test_where_the_classes_are_plain_the_bound_is_reached():
    frame = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "sex": list("fffmmm")})
    least = utility.least_loss(Microdata(frame, dict.fromkeys(frame, "quasi-identifier")), k=3)
    assert least.bound == pytest.approx(0.04, abs=1e-6)
    assert least.bound < 0.04 + 1e-9


def test_alike_rows_lose_nothing():
    frame = pd.DataFrame({"age": [30, 30, 30, 40, 40, 40]})
    assert utility.least_loss(Microdata(frame, {"age": "quasi-identifier"}), k=3).bound == 0.0


def test_a_constant_attribute_is_a_cell_that_loses_nothing():
    frame = pd.DataFrame({"age": [20, 30], "sex": ["f", "f"]})
    least = utility.least_loss(Microdata(frame, dict.fromkeys(frame, "quasi-identifier")), k=2)
    assert least.bound == pytest.approx(0.5, abs=1e-6)


def test_without_time_the_bound_is_what_is_plain_without_a_search():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 50, (400, 3)), columns=list("abc"))
    data = Microdata(frame, dict.fromkeys(frame, "quasi-identifier"))
    plain, all_of_it = utility.least_loss(data, 4, seconds=0), utility.least_loss(data, 4)
    # No four rows are alike, and the least step of any of the three attributes is 1 of 49.
    assert plain.bound == plain.least_box == pytest.approx(1 / 49 / 3, abs=1e-6)
    assert plain.certified
    assert plain.bound < all_of_it.least_box < all_of_it.bound


def test_large_classes_are_searched_in_parts():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"age": rng.integers(0, 30, 300), "town": rng.choice(list("uv"), 300)})
    data = Microdata(frame, dict.fromkeys(frame, "quasi-identifier"))
    bounds = [utility.least_loss(data, k).bound for k in (2, 20, 150, 300)]
    assert bounds == sorted(bounds)
    # One class of all rows loses everything.
    assert bounds[-1] == pytest.approx(1, abs=1e-6)


def test_people_with_several_rows_are_no_more_rows():
    frame = pd.DataFrame({"who": [1, 1, 2, 3], "age": [20, 20, 30, 50]})
    roles = {"who": "identifier", "age": "quasi-identifier"}
    data = Microdata(frame, roles, unit="who")
    assert utility.least_loss(data, 2).bound <= float(least_loss(data, 2))
    with pytest.raises(InfeasibleError, match=r"k = 4 is not possible: the table has 3 people; choose k at most 3\."):
        utility.least_loss(data, 4)


def test_what_cannot_be_asked_is_refused():
    data = Microdata(pd.DataFrame({"age": [20, 30]}), {"age": "quasi-identifier"})
    with pytest.raises(ParameterError, match="k should be greater than or equal to 1, not 0"):
        utility.least_loss(data, 0)
    with pytest.raises(ParameterError, match="seconds should be greater than or equal to 0, not nan"):
        utility.least_loss(data, 2, seconds=float("nan"))
    with pytest.raises(DataError, match="No attribute is tagged as quasi-identifier"):
        utility.least_loss(Microdata(pd.DataFrame({"age": [20, 30]}), {"age": "sensitive"}), 2)


def test_it_tells_its_progress_and_can_be_stopped():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 50, (400, 3)), columns=list("abc"))
    data = Microdata(frame, dict.fromkeys(frame, "quasi-identifier"))
    told = []
    utility.least_loss(data, 3, progress=lambda share, text: told.append((share, text)))
    assert [share for share, _ in told] == sorted(share for share, _ in told)
    assert {text for _, text in told} >= {"Comparing the cheapest groups", "Proving the prices"}

    def stop(share, text):
        raise CancelledError

    with pytest.raises(CancelledError):
        utility.least_loss(data, 3, progress=stop)


def test_a_class_of_the_plain_search_loses_what_its_release_does():
    rng = np.random.default_rng(9)
    data = random_table(rng)
    whole = Mondrian(requirements=[KAnonymity(k=data.n_rows)]).anonymize(data)
    assert float(class_loss(data, range(data.n_rows))) == pytest.approx(float(utility.information_loss(whole)))

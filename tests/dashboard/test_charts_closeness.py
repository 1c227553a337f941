"""Figures of closeness, dealing, boxes and the choice of k hold what was measured, on small and on large domains."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import Exact, Fragment, Hierarchy, Microdata, Partition, Release, privacy
from anoncore.algorithms import SensitiveSpaceFragmentation, StackAndDeal
from anoncore.datasets import table
from dashboard.charts.dealing import MOST_CLASSES, MOST_ROUNDS, MOST_RUNS, Cards, dealing, held, in_order
from dashboard.charts.groups import (
    MOST_COLUMNS,
    MOST_LEAVES,
    MOST_ROWS,
    MOST_STEPS,
    Branches,
    along_order,
    from_surplus_to_lack,
    through_tree,
    widest_rows,
)
from dashboard.charts.palette import run_style
from dashboard.charts.planes import MOST_BINS, Plane, bound_bars, box_map, intervals

STYLE = run_style(0)


def plan_of(values: list[object], group: list[int], ground: str, number: int = 0, **tags: object):
    kind = "numeric" if ground == "ordered" else "nominal"
    data = Microdata(pd.DataFrame({"s": values}), roles={"s": "sensitive"}, kinds={"s": kind}, **tags)
    partition = Partition(np.array(group, dtype=np.int32))
    exact = Exact(data.domain["s"], partition, data.codes["s"])
    return privacy.transport(Release(data, (Fragment("release", partition, {"s": exact}),)), "s", number, ground)


def dealt(values: list[object], n_groups: int, ground: str):
    return plan_of(values, [row % n_groups for row in range(len(values))], ground)


def test_many_values_are_joined_in_columns_and_steps_are_thinned() -> None:
    rng = np.random.default_rng(0)
    plan = dealt(rng.integers(0, 2_000, 3_000).tolist(), 7, "ordered")
    table_bars, group_bars, crossing = along_order(plan, STYLE, "group 0").data
    assert len(table_bars.y) <= MOST_COLUMNS
    assert sum(table_bars.y) == pytest.approx(1)
    assert sum(group_bars.y) == pytest.approx(1)
    assert len(crossing.y) <= MOST_STEPS + 2
    assert set(np.round(crossing.y[1:-1], 12)) <= set(np.round(plan.crossing, 12))


def test_a_constant_attribute_has_a_figure() -> None:
    plan = plan_of([3, 3, 3], [0, 0, 1], "ordered")
    assert along_order(plan, STYLE, "group 0").data[2].y.tolist() == [0, 0]
    assert len(from_surplus_to_lack(plan_of(["x"] * 3, [0, 0, 1], "equal"), STYLE, "group 0").data) == 2


def test_ribbons_are_as_wide_as_what_moves() -> None:
    values = ["a"] * 4 + ["b"] * 4 + ["c"] * 2 + ["d"] * 2
    plan = plan_of(values, [0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1], "equal")
    ribbons = from_surplus_to_lack(plan, STYLE, "group 0").data[2:]
    widths = [abs(ribbon.y[0] - ribbon.y[-1]) for ribbon in ribbons]
    assert np.array(widths) / sum(widths) == pytest.approx(plan.mass / plan.mass.sum())


@pytest.mark.parametrize("width", [380, 500, 700])
def test_the_words_under_the_ribbons_are_clear_of_the_shares_under_the_bars(width: int) -> None:
    shown = from_surplus_to_lack(plan_of(["a"] * 4 + ["b"] * 4, [0, 0, 0, 1, 0, 1, 1, 1], "equal"), STYLE, "group 0")
    axis, of_character = shown.layout.xaxis2, 6.5
    low, high = axis.range
    first, last = (
        width * (axis.domain[0] + (axis.domain[1] - axis.domain[0]) * (place - low) / (high - low))
        for place in axis.tickvals
    )
    half = [len(text) * of_character / 2 for text in axis.ticktext]
    # The last share stands at the end of its axis at the most, half of it beside that.
    assert first - half[0] > width * shown.layout.xaxis.domain[1] + len("100%") * of_character / 2
    assert first + half[0] < last - half[1]
    assert last + half[1] <= width + shown.layout.margin.r


def test_of_many_values_those_that_differ_most_have_rows() -> None:
    values = [f"v{number % 40}" for number in range(400)]
    plan = plan_of(values, [0 if value in ("v1", "v7") else 1 for value in values], "equal")
    rows = widest_rows(plan)
    assert len(rows.texts) == MOST_ROWS
    assert {"v1", "v7", f"{40 - MOST_ROWS + 1} other values"} <= set(rows.texts)
    assert np.bincount(rows.row_of).tolist() == [1] * (MOST_ROWS - 1) + [40 - MOST_ROWS + 1]
    figure = from_surplus_to_lack(plan, STYLE, "group 0")
    assert sum(figure.data[0].x) == pytest.approx(1)


def wide_tree():
    taxonomy = {f"g{i}": {f"g{i}h{j}": [f"{i}.{j}.{n}" for n in range(5)] for j in range(4)} for i in range(3)}
    values = [f"{i}.{j}.{n}" for i in range(3) for j in range(4) for n in range(5)] * 3
    group = [0 if value.startswith(("0.1", "2.3.1")) else 1 for value in values]
    return plan_of(values, group, "hierarchical", hierarchies={"s": Hierarchy.from_nested(taxonomy)})


def test_of_a_wide_tree_the_branches_that_cost_are_open() -> None:
    plan = wide_tree()
    branches = Branches.of(plan)
    assert len(branches.ends) <= MOST_LEAVES
    assert branches.cost.sum() == pytest.approx(plan.cost)
    assert branches.mass.sum() == pytest.approx(plan.mass.sum())
    rows = branches.rows(plan)
    assert sorted(set(rows.row_of.tolist())) == list(range(len(branches.ends)))
    assert any("values)" in text for text in rows.texts)
    figure = through_tree(plan, STYLE, "group 0")
    assert sum(figure.data[0].x) == pytest.approx(1)
    assert sum(row[2] for row in figure.data[-1].customdata) == pytest.approx(plan.cost)


def test_bands_are_as_wide_as_the_mass_that_leaves_or_enters() -> None:
    tree = Hierarchy.from_nested({"stomach": ["ulcer", "gastritis"], "lung": ["flu", "bronchitis"]})
    values = ["ulcer", "gastritis", "flu", "bronchitis"] * 2
    plan = plan_of(values, [0, 1, 1, 1, 0, 1, 1, 1], "hierarchical", hierarchies={"s": tree})
    figure = through_tree(plan, STYLE, "group 0")
    up, down = (next(trace for trace in figure.data if trace.name == name) for name in ("goes up", "comes down"))
    heights = [np.ptp(np.reshape(trace.y, (-1, 6))[:, :5], axis=1) for trace in (up, down)]
    # Up: ulcer 3/4 and its organ 1/2. Down: gastritis 1/4, the lung 1/2, its two diseases 1/4 each.
    assert sorted(heights[0] / max(heights[0])) == pytest.approx([2 / 3, 1])
    assert sorted(heights[1] / max(heights[0])) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 2 / 3])


def salaries() -> Microdata:
    entry = table("t-closeness-salaries")
    return Microdata(entry.load(), roles=entry.roles)


def test_the_cards_of_the_salaries_are_dealt_as_in_table_3_3() -> None:
    cards = Cards.of(StackAndDeal(k=50).stack_of(salaries()))
    assert cards.texts[:3] == ("70000", "75000", "85000")
    assert cards.held[0].tolist() == [9, 8, 7, 6, 5, 4, 3, 4, 3, 1]
    assert (cards.n_classes, cards.n_rounds) == (5, 50)
    assert cards.left(0).tolist() == cards.counts.tolist()
    assert cards.left(9).tolist() == [0, 36, *cards.counts[2:].tolist()]
    assert cards.left(50).sum() == 0
    assert (cards.after(3).dealt[3:] == -1).all()
    on_stack, gone, grid = dealing(cards, 9).data
    assert sum(on_stack.x) + sum(gone.x) == 250
    assert np.isfinite(grid.z).sum() == 45
    figure = held(cards)
    assert figure.data[0].customdata.T.tolist() == cards.held.tolist()


def test_a_large_stack_is_drawn_in_part() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"q": rng.integers(0, 9, 9_000), "s": rng.integers(0, 300, 9_000)})
    data = Microdata(frame, roles={"q": "quasi-identifier", "s": "sensitive"})
    for stack in ("frequency", "value"):
        cards = Cards.of(StackAndDeal(k=100, stack=stack).stack_of(data))
        assert len(cards.texts) <= MOST_RUNS
        assert cards.counts.sum() == 9_000
        assert cards.dealt.shape == (MOST_ROUNDS, MOST_CLASSES)
        assert np.ptp(cards.held, axis=0).max() <= 1
        assert cards.held.sum(axis=1).tolist() == [100] * MOST_CLASSES
        dealing(cards, 7)
    assert " to " in cards.texts[0]


def test_counted_values_keep_their_order() -> None:
    bars = in_order(["b", "a"], np.array([3, 9]), STYLE).data[0]
    assert (list(bars.y), list(bars.x)) == (["b", "a"], [3, 9])


def boxes_of(frame: pd.DataFrame, t: float):
    data = Microdata(frame, roles={"q": "quasi-identifier", **{name: "sensitive" for name in frame if name != "q"}})
    return SensitiveSpaceFragmentation(other_t=t).fragmentation(data)


def test_boxes_lie_over_the_counts_of_both_attributes() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"q": 1, "x": rng.integers(0, 8, 300), "y": rng.integers(0, 6, 300)})
    parts = boxes_of(frame, 0.2)
    plane = Plane.of(parts, 0, 1)
    assert plane.counts.tolist() == pd.crosstab(frame["y"], frame["x"]).to_numpy().tolist()
    cells, outlines, filled, texts = box_map(plane, STYLE, 1).data
    corners = np.reshape(outlines.x, (-1, 6)), np.reshape(outlines.y, (-1, 6))
    areas = (corners[0][:, 1] - corners[0][:, 0]) * (corners[1][:, 2] - corners[1][:, 1])
    assert len(areas) == parts.n_fragments
    assert areas.sum() == 8 * 6
    assert len(filled.x) == 6
    assert np.nansum(np.expm1(cells.z)) == pytest.approx(300)
    assert np.sum(texts.text) == 300


def test_wide_domains_are_joined_in_bins() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"q": 1, "x": rng.permutation(500), "y": rng.permutation(500)})
    plane = Plane.of(boxes_of(frame, 0.3), 1, 0)
    assert max(plane.counts.shape) <= MOST_BINS
    assert plane.counts.sum() == 500
    assert box_map(plane, STYLE).data[0].x[-1] == 499.5


def test_one_attribute_has_intervals() -> None:
    frame = pd.DataFrame({"q": 1, "x": [1, 1, 1, 2, 3, 3, 9, 9]})
    parts = boxes_of(frame, 0.1)
    bars, lines, chosen = intervals(parts, STYLE, 0).data
    assert list(bars.y) == [3, 1, 2, 2]
    assert len(lines.x) == 3 * parts.n_fragments
    assert (chosen.x[0], chosen.x[1]) == (parts.boxes[0, 0, 0] - 0.5, parts.boxes[0, 0, 1] + 0.5)


def test_bounds_stand_beside_true_distances_and_t() -> None:
    bound, reached, asked = bound_bars(["x"], np.array([0.1]), np.array([0.08]), np.array([0.2]), STYLE).data
    assert (list(bound.x), list(reached.x), list(asked.x)) == ([0.08], [0.1], [0.2])

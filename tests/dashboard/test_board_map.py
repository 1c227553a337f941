"""The map of the board: every release so far by two of its rows, and the frontier of those that keep the promise."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncore import utility
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.requirements import KAnonymity
from dashboard.board import shipped
from dashboard.board.wording import ROWS
from dashboard.charts.palette import run_style
from dashboard.views.board_map import AXES, Map, Tried, frontier, gained, numbers, trade_off
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import figure, layout, people

PLAIN = Mondrian(requirements=(KAnonymity(k=5),))
TRIED = [
    Tried("Mondrian", 0.3, 0.2, run_style(0), PLAIN),
    Tried("Anatomy", 0.1, 0.5, None, Anatomy(l=2)),
    Tried("refined", 0.2, 0.2, None, PLAIN.replace(refine=True)),
    Tried("other k", 0.1, 0.6, None, Mondrian(requirements=(KAnonymity(k=2),), refine=True)),
    Tried("unknown", 0.4, 0.1),
]
LOST, DISTANCE, SIZE = AXES["lost"], AXES["distance"], AXES["hides"]
ABOUT = Map("lost", "distance", (KAnonymity(k=5),), "disease", "disease", 2, 5)


def joined(tried: list[Tried], right: object = LOST, up: object = DISTANCE) -> list[tuple[float, float]]:
    """The points of the frontier as it is drawn."""
    lines = [trace for trace in trade_off(tried, right, up).data if trace.mode == "lines"]
    return [(x, y) for line in lines for x, y in zip(line.x, line.y, strict=True)]


def test_only_the_same_method_refined_is_a_gain() -> None:
    assert gained(TRIED, ABOUT) == ((0, 2),)
    assert gained(TRIED[1:], ABOUT) == ()


def test_the_frontier_is_the_least_cost_at_each_risk_and_gains_are_lines() -> None:
    drawn = trade_off(TRIED, LOST, DISTANCE, gained(TRIED, ABOUT)).data
    lines = {trace.name: trace for trace in drawn if trace.mode == "lines"}
    best = lines["best that keeps all that is asked"]
    assert list(zip(best.x, best.y, strict=True)) == [(0.1, 0.5), (0.2, 0.2), (0.4, 0.1)]
    # Less distance than a release has costs as much as the next one: a step, not a way between the two.
    assert best.line.shape == "hv"
    gain = lines["gained by refining"]
    assert list(zip(gain.x, gain.y, strict=True))[:2] == [(0.3, 0.2), (0.2, 0.2)]
    assert len(gain.x) == 3, "the line ends there"
    assert np.isnan(gain.x[2])
    assert "gained by refining" not in {trace.name for trace in trade_off(TRIED[1:], LOST, DISTANCE).data}


def test_the_frontier_joins_only_releases_that_keep_what_is_asked() -> None:
    tried = [
        Tried("misses k", 0.05, 0.05, run_style(0), keeps=False, verdict="Misses k"),
        Tried("keeps", 0.3, 0.2, run_style(1)),
        Tried("not judged", 0.1, 0.1, keeps=False),
        Tried("keeps too", 0.2, 0.4),
    ]
    assert joined(tried) == [(0.2, 0.4), (0.3, 0.2)]
    assert joined([tried[0], tried[2]]) == []
    marks = {trace.name: trace for trace in trade_off(tried, LOST, DISTANCE).data if trace.mode == "markers"}
    assert marks["misses k"].marker.symbol.endswith("-open")
    assert not marks["keeps"].marker.symbol.endswith("-open")
    assert marks["misses k"].customdata[0][1] == "Misses k"


def test_where_more_is_better_the_frontier_is_on_that_side() -> None:
    tried = [Tried("a", 0.1, 5), Tried("b", 0.2, 20), Tried("c", 0.3, 10), Tried("d", 0.4, 50, keeps=False)]
    assert joined(tried, LOST, SIZE) == [(0.1, 5), (0.2, 20)]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), max_size=12))
def test_the_frontier_is_what_no_other_that_keeps_is_better_than(values: list[tuple[int, int, bool]]) -> None:
    for right, up in ((LOST, DISTANCE), (SIZE, LOST), (LOST, SIZE)):
        tried = [Tried(str(place), x, y, keeps=keeps) for place, (x, y, keeps) in enumerate(values)]
        costs = {(right.cost(one.x), up.cost(one.y)) for one in tried if one.keeps}
        unbeaten = {
            one
            for one in costs
            if not any(other != one and other[0] <= one[0] and other[1] <= one[1] for other in costs)
        }
        assert {(right.cost(one.x), up.cost(one.y)) for one in frontier(tried, right, up)} == unbeaten


def test_an_axis_is_a_row_of_the_board_and_holds_the_numbers_of_its_cells(visitor: Visitor) -> None:
    rows = set(AXES) - {"information"}
    assert rows == set(ROWS) - {"promise"}
    assert all(AXES[row].title == ROWS[row][0] for row in rows)
    visitor.open("board")
    held = shipped._held()["columns"]
    for row in rows:
        next(one for one in visitor.at.selectbox if one.key == "board-map-up").set_value(row)
        visitor.run()
        marks = {trace["name"]: trace for trace in figure(visitor, "board-map") if trace["mode"] == "markers"}
        assert list(marks) == [column["title"] for column in held]
        for column in held:
            wanted = numbers(column["quick"], column["slow"])
            assert [*marks[column["title"]]["x"], *marks[column["title"]]["y"]] == [wanted["lost"], wanted[row]]
            keeps = all(mark["state"] in ("kept", "met") for mark in column["marks"])
            assert marks[column["title"]]["marker"]["symbol"].endswith("-open") != keeps
    # Some of the marks miss what is asked and are known to.
    assert any("hollow marks miss some of it or are not known to keep it." in one.value for one in visitor.at.caption)


def test_of_an_estimate_the_worse_end_is_drawn() -> None:
    quick = {"distance": {}, "lost": {}}
    slow = {name: {"value": 0.3, "low": 0.2, "high": 0.5} for name in ("given", "predictable")}
    assert numbers(quick, slow) == {"given": 0.5, "predictable": 0.2}
    exact = {name: {"value": 0.3} for name in slow}
    assert numbers(quick, exact) == {"given": 0.3, "predictable": 0.3}


@pytest.mark.slow
def test_the_edge_that_is_proven_stands_at_the_least_loss_of_classes_of_k(visitor: Visitor) -> None:
    loss = AXES["information"]
    plain, edged = trade_off(TRIED, loss, SIZE), trade_off(TRIED, loss, SIZE, edges=(0.07, None))
    assert len(plain.layout.shapes) == 0
    (edge,) = edged.layout.shapes
    assert (edge.x0, edge.x1) == (0.07, 0.07)

    visitor.upload("people.csv", people(120).drop(columns="visits").to_csv(index=False).encode())
    visitor.tag(age="quasi-identifier", town="quasi-identifier", illness="sensitive")
    visitor.make("mondrian", "anatomy", k=5)
    visitor.open("board")
    next(one for one in visitor.at.selectbox if one.key == "board-map-right").set_value("information")
    visitor.run()
    end = time.monotonic() + 60
    bench = visitor.here.jobs["board"]
    while (bench.is_busy or bench.lacks_late_numbers) and time.monotonic() < end:
        bench.look()
        time.sleep(0.05)
    visitor.run()
    data = visitor.here.runs[0].data
    least = utility.least_loss(data, 5).bound
    (edge,) = layout(visitor, "board-map")["shapes"]
    assert edge["x0"] == pytest.approx(least)
    # Buckets publish what is known as it is: they lose none of it, and no bound is about them.
    marks = {trace["name"]: trace for trace in figure(visitor, "board-map") if trace["mode"] == "markers"}
    assert "Anatomy" not in marks
    mark = marks["Mondrian"]
    assert mark["x"][0] >= least > 0
    loss = float(utility.information_loss(visitor.here.runs[0].release))
    assert mark["x"][0] == loss


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_what_has_no_number_has_no_place(missing: float | None) -> None:
    quick = {"smallest": 5, "distance": {"why": "none"}, "lost": {"at_most": 0.3}}
    assert numbers(quick, {"given": {"value": missing}, "predictable": None}) == {"hides": 5}


def test_the_map_cuts_no_mark_and_writes_no_tick_twice() -> None:
    for cost, ticks in ((0.003, ".1%"), (0.3, ".0%")):
        axis = trade_off([Tried("least", 0.0, 0.2), Tried("most", cost, 0.1)], LOST, DISTANCE).layout.xaxis
        assert axis.range[0] < 0
        assert axis.range[1] > cost
        assert axis.tickformat == ticks

"""The map of the board: every release so far, the frontier as steps, and what refining gained."""

from __future__ import annotations

from time import monotonic

from anoncore.algorithms import Anatomy, Mondrian
from anoncore.requirements import KAnonymity
from dashboard.charts.trade_off import Tried, trade_off
from dashboard.palette import run_style
from dashboard.views.board_map import gained
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, figure

PLAIN = Mondrian(requirements=(KAnonymity(k=5),))
TRIED = [
    Tried("Mondrian", 0.3, 0.2, run_style(0), PLAIN),
    Tried("Anatomy", 0.1, 0.5, None, Anatomy(l=2)),
    Tried("refined", 0.2, 0.2, None, PLAIN.replace(refine=True)),
    Tried("other k", 0.1, 0.6, None, Mondrian(requirements=(KAnonymity(k=2),), refine=True)),
    Tried("unknown", 0.4, 0.1),
]


def test_only_the_same_method_refined_is_a_gain() -> None:
    assert gained(TRIED) == ((0, 2),)
    assert gained(TRIED[1:]) == ()


def test_the_frontier_is_the_least_cost_at_each_risk_and_gains_are_lines() -> None:
    lines = {trace.name: trace for trace in trade_off(TRIED, "risk", gained(TRIED)).data if trace.mode == "lines"}
    frontier = lines["least cost at each risk"]
    assert list(zip(frontier.x, frontier.y, strict=True)) == [(0.1, 0.5), (0.2, 0.2), (0.4, 0.1)]
    # Less risk than a release has costs as much as the next one: a step, not a way between the two.
    assert frontier.line.shape == "hv"
    gain = lines["gained by refining"]
    assert list(zip(gain.x, gain.y, strict=True)) == [(0.3, 0.2), (0.2, 0.2), (None, None)]
    assert "gained by refining" not in {trace.name for trace in trade_off(TRIED[1:], "risk").data}


def test_runs_of_other_pages_stand_on_the_map(visitor: Visitor) -> None:
    # Both are made with the same table and tags as the board's columns.
    plain = Mondrian(requirements=(KAnonymity(k=20),))
    for model in (plain, plain.replace(refine=True)):
        add_run(visitor, model)
    visitor.open("board")
    deadline, labels = monotonic() + 60, set[str]()
    while not {"k = 20" in one for one in labels} >= {True}:
        assert monotonic() < deadline
        visitor.run()
        labels = set().union(*(trace.get("text", ()) for trace in figure(visitor, "board-map")))

"""The pages Sweep and Choose: many releases in the background, cancelled, gone on with, and opened as runs."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from anoncore import Microdata
from anoncore.algorithms import Anatomy
from anoncore.algorithms.synthesis import marginal_synthesis
from anoncore.measures.criteria import CRITERIA
from anoncore.search.candidates import candidates
from anoncore.search.sweeping import Point, sweep
from anoncore.search.targets import Search, Target
from dashboard import state
from dashboard.charts.trade_off import Tried
from dashboard.charts.trade_off import trade_off as board_map
from dashboard.charts.trials import method_styles, trade_off
from dashboard.loaded_table import LoadedTable
from dashboard.palette import STYLES
from dashboard.trials import Trial
from dashboard.views.board_map import AXES
from dashboard.views.sweep import refusals
from dashboard.views.targets import costs_table
from dashboard.workspace import run_title
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import ROLES, figure, people, table_of, tagged


def _load(visitor: Visitor) -> None:
    frame = people()
    tags = tagged(frame, ROLES)
    state._workspaces.get(visitor.workspace).load(
        LoadedTable("test-trials", "people.csv", frame, "test-trials", (), None, tags), tags
    )


def _trial(visitor: Visitor, name: str) -> Trial:
    return state._workspaces.get(visitor.workspace).jobs[name]


def _until(done: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


def _data() -> Microdata:
    return Microdata(people(), ROLES)


def test_a_sweep_measures_every_combination_and_draws_it(visitor: Visitor) -> None:
    _load(visitor)
    visitor.open("sweep")
    entered = {one.key: one.value for one in visitor.at.text_input if one.value}
    assert entered == {
        "sweep-mondrian-k": "2, 5, 10, 20, 50",
        "sweep-anatomy-l": "2, 3, 4",
        "sweep-slicing-l": "2, 3, 4",
        "sweep-stack-and-deal-k": "2, 5, 10, 20, 50",
    }
    visitor.at.multiselect(key="sweep-methods").set_value(["mondrian", "anatomy"])
    visitor.run()
    visitor.at.text_input(key="sweep-mondrian-k").set_value("3, 6-8")
    visitor.at.text_input(key="sweep-anatomy-l").set_value("2")
    visitor.run()
    assert "5 releases will be made." in visitor.texts()
    visitor.press("Start")
    trial = _trial(visitor, "sweep")
    _until(lambda: trial.is_done and not trial.running)
    visitor.run()
    table = table_of(visitor, "release", "unbeaten")
    expected = sweep(trial.data, trial.algorithms, trial.criteria)
    assert table["release"].tolist() == [run_title(point.algorithm) for point in expected if point is not None]
    losses = [f"{point.values['two-way-error']:.1%}" for point in expected if point is not None]
    assert table["Two-way error"].tolist() == losses
    marks = [trace for trace in figure(visitor, "sweep-chart") if trace["mode"] == "markers"]
    assert sum(len(trace["x"]) for trace in marks) == 5


def test_why_there_is_no_release_is_told_once_for_all_that_have_the_reason() -> None:
    algorithms = [Anatomy(l=2), Anatomy(l=3), Anatomy(l=4)]
    points = tuple(
        Point(one, {}, {}, 0.0, error) for one, error in zip(algorithms, ["too few", "", "too few"], strict=True)
    )
    assert refusals(points, ["l = 2", "l = 3", "l = 4"]) == ["l = 2; l = 4: too few"]


def test_the_map_of_the_board_cuts_no_mark_and_writes_no_tick_twice() -> None:
    for cost, ticks in ((0.003, ".1%"), (0.3, ".0%")):
        tried = [Tried("least", 0.0, 0.2), Tried("most", cost, 0.1)]
        axis = board_map(tried, AXES["lost"], AXES["distance"]).layout.xaxis
        assert axis.range[0] < 0
        assert axis.range[1] > cost
        assert axis.tickformat == ticks


def test_text_that_is_no_list_of_numbers_is_told_at_once(visitor: Visitor) -> None:
    _load(visitor)
    visitor.open("sweep")
    visitor.at.text_input(key="sweep-mondrian-k").set_value("many")
    visitor.run()
    assert any("Mondrian, k: 'many' is no number" in item.value.replace("\\", "") for item in visitor.at.warning)
    assert next(item for item in visitor.at.button if item.label == "Start").disabled


def test_a_mark_opens_as_a_run(visitor: Visitor) -> None:
    _load(visitor)
    visitor.open("sweep")
    visitor.at.multiselect(key="sweep-methods").set_value(["anatomy"])
    visitor.run()
    visitor.press("Start")
    trial = _trial(visitor, "sweep")
    _until(lambda: not trial.running)
    visitor.at.session_state["_sweep-point"] = 0
    visitor.run()
    assert any(run_title(trial.algorithms[0]) in item.value.replace("\\", "") for item in visitor.at.markdown)
    next(item for item in visitor.at.button if item.label == "Open as a run").click()
    visitor.at.run()
    _until(lambda: not (job := state._workspaces.get(visitor.workspace).jobs.get("run")) or not job.job.running)
    visitor.open("anonymize")
    (run,) = state._workspaces.get(visitor.workspace).runs
    assert run.algorithm == trial.algorithms[0]


def test_a_cancelled_trial_keeps_its_points_and_goes_on() -> None:
    data = _data()
    tried = candidates({"mondrian": {"k": list(range(2, 40))}}, data)
    trial = Trial(data, tried, ("k", "two-way-error"), None, ("table", "tags"))
    trial.go_on()
    _until(lambda: len(trial.points) >= 1)
    trial.cancel()
    _until(lambda: not trial.running)
    time.sleep(0.2)
    before = dict(trial.points)
    trial.go_on()
    _until(lambda: trial.is_done)
    assert [trial.points[place].values for place in before] == [point.values for point in before.values()]
    sizes = [trial.points[place].values["k"] for place in range(len(tried))]
    assert all(size >= k for size, k in zip(sizes, range(2, 40), strict=True))


def test_another_table_lets_the_trial_go(visitor: Visitor) -> None:
    _load(visitor)
    visitor.open("sweep")
    visitor.press("Start")
    trial = _trial(visitor, "sweep")
    visitor.open("attributes")
    here = state._workspaces.get(visitor.workspace)
    here.tags = here.tags.changed("roles", "sex", "insensitive")
    visitor.open("sweep")
    assert "sweep" not in here.jobs
    assert not trial.running


@pytest.mark.slow
def test_a_search_shows_the_cheapest_release_and_what_each_target_costs(visitor: Visitor) -> None:
    _load(visitor)
    visitor.open("choose")
    visitor.press("Search")
    trial = _trial(visitor, "targets")
    _until(lambda: not trial.running)
    visitor.run()
    found = Search((Target("k", 10), Target("t", 0.3)), "two-way-error", trial.found())
    assert found.best is not None
    assert f"Cheapest release that keeps every target: {run_title(found.best.algorithm)}".replace("&", "") in (
        visitor.texts().replace("\\", "").replace("&", "")
    )
    table = table_of(visitor, "without the target")
    assert table["Two-way error"].tolist() == costs_table(found)["Two-way error"].tolist()


def test_methods_keep_the_colours_of_their_columns_and_others_get_those_that_are_left() -> None:
    found = method_styles(["sabre", "anatomy", "mask"], {"anatomy": 0, "slicing": 1})
    assert found == {"sabre": STYLES[1], "anatomy": STYLES[0], "mask": STYLES[2]}


def test_faded_marks_are_those_that_another_beats() -> None:
    data = _data()
    points = [
        point
        for point in sweep(
            data, candidates({"mondrian": {"k": [2, 5, 20], "l": [1.2, 2]}}, data), ("t", "two-way-error")
        )
        if point is not None and point.made
    ]
    labels = [run_title(point.algorithm) for point in points]
    chart = trade_off(points, labels, CRITERIA["t"], CRITERIA["two-way-error"])
    marks = chart.data[-1]
    order = [int(one[0]) for one in marks.customdata]
    for place, opacity in zip(order, marks.marker.opacity, strict=True):
        mine = points[place].values
        beaten = any(
            other.values["t"] <= mine["t"]
            and other.values["two-way-error"] <= mine["two-way-error"]
            and dict(other.values) != dict(mine)
            for other in points
        )
        assert (opacity < 1) == beaten
    assert np.ptp(marks.x) > 0


@pytest.mark.parametrize("name", ["sweep", "choose"])
def test_without_quasi_identifiers_the_page_says_what_to_do(visitor: Visitor, name: str) -> None:
    frame = people()
    tags = tagged(frame, dict.fromkeys(frame.columns, "insensitive"))
    state._workspaces.get(visitor.workspace).load(LoadedTable("t", "t", frame, "t-none", (), None, tags), tags)
    visitor.open(name)
    assert len(visitor.at.error) == 1


def test_a_method_whose_package_is_missing_is_not_swept_and_says_why(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marginal_synthesis, "is_installed", lambda: False)
    _load(visitor)
    visitor.open("sweep")
    visitor.at.multiselect(key="sweep-methods").set_value(["mondrian", "dp-marginals"])
    visitor.run()
    assert visitor.at.text_input(key="sweep-dp-marginals-epsilon").value == "0.5, 1, 2"
    assert visitor.warnings == ["Marginal synthesis needs OpenDP; install it with: pip install 'anoncore[dp]'."]
    assert next(item for item in visitor.at.button if item.label == "Start").disabled


def test_a_sweep_whose_releases_lack_a_number_says_so_instead_of_drawing_nothing(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marginal_synthesis, "is_installed", lambda: True)
    monkeypatch.setattr(marginal_synthesis, "generated", lambda cells, order, progress: cells[::-1])
    _load(visitor)
    visitor.open("sweep")
    visitor.at.multiselect(key="sweep-methods").set_value(["dp-marginals"])
    visitor.run()
    visitor.press("Start")
    trial = _trial(visitor, "sweep")
    _until(lambda: trial.is_done and not trial.running)
    visitor.run()
    assert "No release has both numbers, Two-way error and Distance (t)" in visitor.texts()
    table = table_of(visitor, "release", "unbeaten")
    assert table["Distance (t)"].tolist() == ["–"] * 3
    assert all(text.endswith("%") for text in table["Two-way error"])

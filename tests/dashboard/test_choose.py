"""The page Choose k: the search runs beside the page, weighs without computing anew, and hands k over."""

from __future__ import annotations

import threading

import pytest

from anoncore import CancelledError
from anoncore.algorithms import StackAndDeal
from anoncore.search.choosing import choose_k
from dashboard import state
from dashboard.views import choose
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import ROLES, add_run, figure, metrics, people

VISITS = {**ROLES, "illness": "insensitive", "visits": "sensitive"}


@pytest.fixture
def ready(visitor: Visitor) -> Visitor:
    """A visitor whose table has visits as its sensitive attribute."""
    add_run(visitor, StackAndDeal(k=5, seed=0), people(), VISITS)
    visitor.open("choose k")
    visitor.at.number_input(key="choose-most").set_value(9)
    return visitor.run()


def search_done(visitor: Visitor) -> choose.Search:
    found = state._workspaces.get(visitor.workspace).jobs["choose-k"]
    assert found.job.wait(120)
    visitor.run()
    return found


@pytest.mark.slow
def test_every_k_is_tried_and_the_best_is_marked(ready: Visitor) -> None:
    assert "8 releases are made: k = 2 to 9" in ready.texts()
    ready.press("Try every k")
    found = search_done(ready)
    data = state._workspaces.get(ready.workspace).runs[0].data
    expected = choose_k(data, ks=range(2, 10), algorithm=StackAndDeal())
    losses = found.job.value
    assert losses.k.tolist() == list(range(2, 10))
    assert losses.t == pytest.approx(expected.t)
    half = losses.weighted(0.5)
    assert metrics(ready)["Best k"] == str(half.best)
    cost = figure(ready, "choose-losses")[3]
    assert cost["y"] == pytest.approx(half.cost)


@pytest.mark.slow
def test_the_weight_moves_the_best_k_without_a_new_search(ready: Visitor) -> None:
    ready.press("Try every k")
    found = search_done(ready)
    for alpha in (0.0, 1.0):
        ready.at.slider(key="choose-alpha").set_value(alpha)
        ready.run()
        assert metrics(ready)["Best k"] == str(found.job.value.weighted(alpha).best)
    assert state._workspaces.get(ready.workspace).jobs["choose-k"] is found
    ready.open("privacy").open("choose k")
    assert ready.at.slider(key="choose-alpha").value == 1.0


def test_the_chosen_k_is_taken_over(ready: Visitor) -> None:
    ready.press("Try every k")
    best = search_done(ready).job.value.weighted(0.5).best
    choose_state = state._workspaces.get(ready.workspace).forms
    ready.at.button(key="choose-use").click()
    ready.at.run()
    assert choose_state["method"] == "stack-and-deal"
    assert choose_state["parameters-stack-and-deal"]["k"] == best
    ready.open("anonymize")
    assert ready.at.selectbox(key="method").value == "stack-and-deal"
    assert ready.at.number_input(key="parameter.stack-and-deal.k").value == best


def test_a_search_can_be_cancelled_and_does_not_block_the_page(ready: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def slow(data, ks, algorithm, ground, progress):
        while not go_on.wait(0.02):
            progress(0.5, "k = 4")
        raise CancelledError("stop")

    monkeypatch.setattr(choose, "choose_k", slow)
    ready.press("Try every k")
    job = state._workspaces.get(ready.workspace).jobs["choose-k"].job
    assert job.running
    assert ready.has_button("Cancel")
    assert not ready.has_button("Try every k")
    ready.open("privacy").open("choose k")
    assert ready.has_button("Cancel")
    ready.press("Cancel")
    assert job.status == "cancelled"
    go_on.set()
    ready.run()
    assert "The search was cancelled." in ready.texts()
    assert ready.has_button("Try every k")


def test_losses_of_another_table_are_not_shown(ready: Visitor) -> None:
    ready.press("Try every k")
    search_done(ready)
    assert "Best k" in metrics(ready)
    ready.tag(visits="insensitive", illness="sensitive")
    assert "Best k" not in metrics(ready)
    assert "Here a release is made for every k" in ready.texts()


def test_only_methods_with_one_distance_per_k_are_offered() -> None:
    offered = choose.methods()
    assert offered[0] == "stack-and-deal"
    assert {"microaggregation", "sabre"} <= set(offered)
    assert not {"vertical-fragmentation", "anatomy", "mask"} & set(offered)


def test_what_cannot_be_searched_is_said(visitor: Visitor) -> None:
    add_run(visitor, StackAndDeal(k=5), people(40), VISITS)
    visitor.open("choose k")
    visitor.at.number_input(key="choose-least").set_value(30)
    visitor.at.number_input(key="choose-most").set_value(20)
    visitor.run()
    assert any("k should run" in text for text in visitor.warnings)
    assert not visitor.has_button("Try every k")
    visitor.tag(visits="insensitive")
    assert any("sensitive" in text for text in visitor.errors)

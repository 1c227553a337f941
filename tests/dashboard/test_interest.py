"""What no page asks for any more is stopped, and what somebody else waits for goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from anoncore import CancelledError
from anoncore.algorithms import Mondrian
from dashboard.closer import attack
from dashboard.session import compute, state, workspace
from dashboard.session.compute import Interest
from dashboard.session.loaded_table import Tags
from dashboard.session.workspace import Run, Workspaces
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run

WAIT = 20


def test_a_session_waits_for_what_its_page_asks_for() -> None:
    interest = Interest()
    interest.begin("one")
    interest.ask("one", ("a",))
    interest.ask("one", ("b",))
    assert interest.end("one") == set()
    # A part of the page that is drawn again alone asks for more.
    interest.ask("one", ("c",))
    interest.begin("one")
    interest.ask("one", ("b",))
    assert interest.end("one") == {("a",), ("c",)}
    assert interest.end("one") == set(), "only a page that was begun ends"


def test_what_another_session_waits_for_is_wanted() -> None:
    interest = Interest()
    for session in ("one", "other"):
        interest.begin(session)
        interest.ask(session, ("a",))
        assert interest.end(session) == set()
    interest.begin("one")
    assert interest.end("one") == set()
    assert interest.leave("other") == {("a",)}
    assert interest.sessions() == ("one",)


def test_a_page_that_is_not_drawn_to_its_end_stops_nothing() -> None:
    interest = Interest()
    interest.begin("one")
    interest.ask("one", ("a",))
    interest.end("one")
    interest.begin("one")
    # The visitor changed something, and the page is drawn anew from its top.
    interest.begin("one")
    interest.ask("one", ("a",))
    assert interest.end("one") == set()


class Endless:
    """A measure that takes until it is stopped."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()

    def __call__(self, release: Any, progress: Any) -> None:
        while True:
            try:
                progress(0.5, "working")
            except CancelledError:
                self.ended.set()
                raise
            self.begun.set()


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Whose page is drawn, as a list of one."""
    drawn_for = ["one"]
    monkeypatch.setattr(compute, "session_id", lambda: drawn_for[0])
    monkeypatch.setattr(compute, "_interest", Interest())
    yield drawn_for
    for name in ("one", "other"):
        compute._stop(compute._interest.leave(name))


def _run() -> Run:
    nothing: Any = SimpleNamespace()
    return Run("interest", "x", nothing, nothing, None, 0.0, datetime.now(UTC), 0, "t", Tags())  # type: ignore[arg-type]


def test_a_page_that_asks_no_more_stops_the_work_and_the_next_one_begins_it_anew(session: list[str]) -> None:
    run, first = _run(), Endless()
    compute.begin_page()
    assert compute.later("endless", run, first).status == "running"
    compute.end_page()
    assert first.begun.wait(WAIT)
    assert not first.ended.is_set(), "the page has asked for it"
    compute.begin_page()
    compute.end_page()
    assert first.ended.wait(WAIT)
    again = Endless()
    compute.begin_page()
    assert compute.later("endless", run, again).status == "running"
    compute.end_page()
    assert again.begun.wait(WAIT)


def test_a_closed_tab_stops_what_nobody_else_waits_for(session: list[str]) -> None:
    run, shared, own = _run(), Endless(), Endless()
    for name in ("one", "other"):
        session[0] = name
        compute.begin_page()
        compute.later("shared", run, shared)
        if name == "one":
            compute.later("own", run, own)
        compute.end_page()
    assert shared.begun.wait(WAIT)
    assert own.begun.wait(WAIT)
    compute.leave("other".__eq__)
    assert own.ended.wait(WAIT)
    assert not shared.ended.is_set()
    compute.leave(lambda name: False)
    assert shared.ended.wait(WAIT)


def test_a_workspace_that_nobody_looks_at_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("dashboard.session.workspace.time.monotonic", lambda: clock[0])
    kept, rested = Workspaces(), []
    one = kept.new()
    one.sessions.add("tab")
    one.jobs["board"] = SimpleNamespace(running=True, rest=lambda: rested.append(clock[0]))
    kept.take_left("tab".__eq__, 600)
    clock[0] = 2 * workspace.LEFT_SECONDS
    kept.take_left("tab".__eq__, 600)
    clock[0] += workspace.LEFT_SECONDS / 2
    kept.take_left(lambda session: False, 600)
    assert rested == [], "the page may only be loaded again"
    clock[0] += workspace.LEFT_SECONDS
    kept.take_left(lambda session: False, 600)
    assert rested == [clock[0]]


def test_a_visitor_who_leaves_a_page_stops_its_work(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    add_run(visitor, Mondrian())
    measure = Endless()
    monkeypatch.setattr(attack, "render", lambda: compute.later("endless", state.runs()[0], measure))
    visitor.open("attack")
    assert measure.begun.wait(WAIT)
    assert not measure.ended.is_set()
    visitor.open("learn")
    assert measure.ended.wait(WAIT)

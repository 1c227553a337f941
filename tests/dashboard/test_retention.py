"""A workspace outlives its last visitor for a while, and then nothing of it is left."""

from __future__ import annotations

import threading
import weakref

import pytest

from anoncore.algorithms import Mondrian
from dashboard.process import retention
from dashboard.serving import quotas
from dashboard.session import compute, state
from dashboard.session.workspace import Workspaces
from dashboard.tasks import jobs
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, people


def test_who_is_connected_or_computing_keeps_the_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("dashboard.session.workspace.time.monotonic", lambda: clock[0])
    kept = Workspaces()
    reading, gone, busy = kept.new(), kept.new(), kept.new()
    for one, session in ((reading, "reader"), (gone, "left"), (busy, "left too")):
        one.sessions.add(session)
    go = threading.Event()
    busy.jobs["run"] = jobs.start(lambda report: go.wait(20))
    there = {"reader"}.__contains__
    try:
        clock[0] += 59
        assert kept.take_left(there, 60) == []
        clock[0] += 2
        assert kept.take_left(there, 60) == [gone]
        assert set(kept.all()) == {reading, busy}
    finally:
        go.set()
    assert busy.jobs["run"].wait(20)
    clock[0] += 59
    assert kept.take_left(there, 60) == []
    clock[0] += 2
    assert kept.take_left(there, 60) == [busy]
    assert kept.get(reading.id) is reading


def test_who_comes_back_in_time_finds_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("dashboard.session.workspace.time.monotonic", lambda: clock[0])
    kept = Workspaces()
    one = kept.new()
    one.sessions.add("first")
    clock[0] = 50.0
    assert kept.take_left(lambda session: False, 60) == []
    assert kept.get(one.id) is one
    one.sessions.add("second")
    clock[0] = 500.0
    assert kept.take_left("second".__eq__, 60) == []


@pytest.mark.slow
def test_nothing_of_a_workspace_that_ended_is_left(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "_workspaces", Workspaces())
    frame = people(70)
    visitor = Visitor()
    run = add_run(visitor, Mondrian(), frame, name="left.csv")
    for page in ("table", "groups", "utility"):
        visitor.open(page)
    assert any(key[0] == run.id for key in compute._values._futures)
    digest = run.table.digest
    assert any(digest in key for key in compute._values._futures)
    watched = [weakref.ref(run.data), weakref.ref(run.release)]
    for one in state._workspaces.all():
        one.sessions.clear()
    assert state.let_go(lambda session: False, -1.0) == 1
    assert not any(run.id in key or digest in key for key in compute._values._futures)
    assert all(digest not in key for key in state._microdata._memo._futures)
    del run, visitor, one
    quotas.give_back()
    assert [one() for one in watched] == [None, None]


@pytest.mark.parametrize(("text", "seconds"), [("5", 300.0), ("0", 0.0), ("-1", 0.0), ("soon", 1800.0), (None, 1800.0)])
def test_the_time_can_be_set(text: str | None, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(retention.VARIABLE, raising=False)
    if text is not None:
        monkeypatch.setenv(retention.VARIABLE, text)
    assert retention.keep_seconds() == seconds

"""The server ends at once when it is told to, whatever is being computed or compiled, and clears up behind itself."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import psutil
import pytest
from streamlit.runtime import Runtime

from anoncore.base import temporary
from anoncore.engines.output_folder import folder_when_complete
from dashboard.process import ending
from dashboard.tasks import jobs, warmup
from tests.dashboard import browser

PATIENCE = 30


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests of this process keep their jobs, folders and workshop."""
    monkeypatch.setattr(jobs, "_running", {})
    monkeypatch.setattr(temporary, "_open", set())
    monkeypatch.setattr(warmup, "_workshop", None)


def test_jobs_that_clear_up_behind_themselves_are_waited_for() -> None:
    begun, cleared = threading.Event(), threading.Event()

    def work(report: jobs.Report) -> None:
        try:
            while True:
                begun.set()
                time.sleep(0.01)
                report(0.5, "working")
        finally:
            cleared.set()

    working = jobs.start(work)
    queued = [jobs.start(lambda report: None) for _ in range(3)]
    assert begun.wait(PATIENCE)
    ending.clear_up(PATIENCE)
    assert cleared.is_set()
    assert working.status == "cancelled"
    assert all(not job.running for job in queued)
    assert jobs._running == {}


def test_a_job_that_does_not_listen_holds_up_nothing() -> None:
    go_on, begun = threading.Event(), threading.Event()

    def work(report: jobs.Report) -> None:
        begun.set()
        go_on.wait(PATIENCE)

    deaf = jobs.start(work)
    assert begun.wait(PATIENCE)
    assert not jobs.cancel_all(0.05)
    assert deaf.status == "cancelled"
    go_on.set()


def test_what_is_half_written_is_removed_and_what_was_there_stays(tmp_path: Path) -> None:
    target = tmp_path / "release"
    target.mkdir()
    (target / "old.csv").write_text("as before")
    # Two pieces of work that the server's end finds in the middle.
    writing, working = folder_when_complete(target, replace=True), temporary.temporary_directory(tmp_path)
    (writing.__enter__() / "new.csv").write_text("half of")
    (working.__enter__() / "rows").write_text("rows as they were")
    ending.clear_up(0.0)
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    assert (target / "old.csv").read_text() == "as before"


def test_only_a_server_that_has_stopped_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not ending._has_stopped(None)
    # Not put in the place of this process's server: a thread of another test may be watching that one.
    server = Runtime.__new__(Runtime)
    server._async_objs = None
    assert not ending._has_stopped(server), "it has not started"
    stopped: asyncio.Future[None] = asyncio.Future(loop=asyncio.new_event_loop())
    server._async_objs = SimpleNamespace(stopped=stopped)
    assert not ending._has_stopped(server)
    stopped.set_result(None)
    assert ending._has_stopped(server)
    stopped.get_loop().close()
    monkeypatch.setattr(Runtime, "_instance", MagicMock())
    assert ending._server() is None, "tests of pages have something in the place of a server"


def test_nothing_is_removed_between_two_steps_that_belong_together(tmp_path: Path) -> None:
    with temporary.temporary_directory(tmp_path) as folder:
        with temporary.nothing_removed():
            remover = threading.Thread(target=temporary.remove_all)
            remover.start()
            remover.join(0.05)
            assert folder.exists()
        remover.join(PATIENCE)
        assert not folder.exists()


APP = """
import sys, threading, time
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0, {root!r})
import streamlit as st
from anoncore.base.temporary import temporary_directory
from anoncore.kernels import compiled_code
from dashboard.process import ending
from dashboard.tasks import jobs, warmup

def deaf(report):
    with temporary_directory({folder!r}) as folder:
        (folder / "rows").write_text("rows as they were")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(time.sleep, 600).result()

ending.start()
warmup.start()
warmup.set_drawn()
jobs.start(deaf)
while not list(__import__("pathlib").Path({folder!r}).glob("*/rows")):
    time.sleep(0.05)
st.title("busy")
"""

GUARDED = """
import sys
sys.path.insert(0, {root!r})
import streamlit as st
from dashboard.process.launch import lifespan

app = st.App("app.py", lifespan=lifespan)
"""


@pytest.mark.browser
@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends programs in another way.")
@pytest.mark.parametrize(
    ("number", "is_guarded"), [(signal.SIGTERM, False), (signal.SIGINT, False), (signal.SIGTERM, True)]
)
def test_a_server_that_computes_and_compiles_ends_at_once(
    number: signal.Signals, is_guarded: bool, tmp_path: Path, chrome
) -> None:
    app, guarded, work = tmp_path / "app.py", tmp_path / "guarded.py", tmp_path / "work"
    work.mkdir()
    app.write_text(APP.format(root=str(browser.ROOT), folder=str(work)))
    guarded.write_text(GUARDED.format(root=str(browser.ROOT)))
    cache = tmp_path / "cache"
    with browser.serving(guarded if is_guarded else app, NUMBA_CACHE_DIR=str(cache)) as (address, pid):
        visitor = browser.visitor(chrome, address)
        visitor.open("")
        server = psutil.Process(pid)
        end = time.monotonic() + PATIENCE
        while not (beside := server.children(recursive=True)):
            assert time.monotonic() < end, "nothing compiles, although nothing was compiled"
            time.sleep(0.02)
        os.kill(pid, number)
        begin = time.monotonic()
        wait_until_gone([server, *beside])
        # No figure of speed: a server that waits for its threads would be here for ten minutes.
        assert time.monotonic() - begin < 20
        visitor.page.context.close()
    assert list(work.iterdir()) == []
    assert [path.name for path in cache.rglob("*.tmp.*")] == []


def wait_until_gone(processes: list[psutil.Process]) -> None:
    """Wait until none of the processes runs; one that has ended and was not looked after yet does not run."""
    end = time.monotonic() + PATIENCE
    for one in processes:
        while time.monotonic() < end and one.is_running() and one.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.02)
        assert time.monotonic() < end, f"{one.pid} still runs"
